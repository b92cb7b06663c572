"""The sources of a study: conversations, or a path that `load` reads."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeAlias

from ..data import Conversation, Loaded, load

StudySource: TypeAlias = str | Path | Iterable[Conversation]


def conversations_of(source: StudySource) -> Sequence[Conversation]:
    """The conversations of a source, read where it is a path; what was loaded stays so (`Loaded.annotated`)."""
    loaded = load(source) if isinstance(source, str | Path) else source
    return loaded if isinstance(loaded, Loaded) else list(loaded)


def file_name(source: object, otherwise: str) -> str:
    """The name of a source's file or folder; `otherwise` where it is conversations."""
    return Path(source).name if isinstance(source, str | Path) else otherwise
