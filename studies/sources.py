"""The sources of a study: conversations, or a path that `load` reads; and the lines that a study reports."""

import logging
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeAlias

from ..data import Conversation, Loaded, load
from ..errors import at

StudySource: TypeAlias = str | Path | Iterable[Conversation]
Notify: TypeAlias = Callable[[str], object]
"""Called with each line about a study that is not in its result."""


def logged(line: str) -> None:
    """Log a line as a warning: what a command prints on stderr."""
    logging.getLogger(__name__).warning("%s", line)


def conversations_of(source: StudySource, notify: Notify = logged) -> Sequence[Conversation]:
    """The conversations of a source, read where it is a path; what was loaded stays so (`Loaded.annotated`).

    `notify` is called with a line for each file that could not be read.
    """
    if not isinstance(source, str | Path):
        return source if isinstance(source, Loaded) else list(source)
    loaded = load(source)
    for line in loaded.broken:
        notify(f"{at(loaded.path)}: {line}")
    return loaded


def path_of(source: object) -> Path | None:
    """The path of a source; None for conversations that were not loaded from one."""
    return source.path if isinstance(source, Loaded) else Path(source) if isinstance(source, str | Path) else None


def file_name(source: object, otherwise: str) -> str:
    """The name of a source's file or folder; `otherwise` where it is conversations."""
    path = path_of(source)
    return otherwise if path is None else path.name
