"""The sources of a study: conversations, or a path that `load` reads; and the lines that a study reports."""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from ..data import Conversation, Loaded, load
from ..data.loading import with_id
from ..data.people import drawn_users
from ..errors import DataError, at

StudySource: TypeAlias = str | Path | Iterable[Conversation]


def logged(line: str) -> None:
    """Log a line as a warning: what a command prints on stderr."""
    logging.getLogger(__name__).warning("%s", line)


def conversations_of(source: StudySource) -> Sequence[Conversation]:
    """The conversations of a source, read where it is a path; what was loaded stays so (`Loaded.annotated`).

    A file that could not be read is logged.
    """
    if not isinstance(source, str | Path):
        return source if isinstance(source, Loaded) else list(source)
    loaded = load(source)
    for line in loaded.broken:
        logged(f"{at(loaded.path)}: {line}")
    return loaded


def of_drawn_users(conversations: Sequence[Conversation], most: int, seed: int) -> tuple[Sequence[Conversation], str]:
    """The conversations of users drawn by the seed, at most so many; and a remark, empty where all are taken.

    Of a streamed source only these are held. Users are in the order of a digest, so those of one name are drawn from every
    source. Without names of users these are equal scenarios, such as sections.
    """
    if len(conversations) <= most:
        drawn, remark = tuple(conversations), ""
    else:
        logged(f"drawing users of {len(conversations):,} conversations")
        drawn, users, of_users = drawn_users(conversations, most, seed)
        remark = (
            f"{len(drawn):,} of {len(conversations):,} conversations are taken, those of {users:,} of "
            f"{of_users:,} users, drawn with seed {seed}: at most {most:,} of a source are."
        )
    source = replace(conversations, conversations=drawn) if isinstance(conversations, Loaded) else drawn
    return source, remark


def path_of(source: object) -> Path | None:
    """The path of a source; None for conversations that were not loaded from one."""
    return source.path if isinstance(source, Loaded) else Path(source) if isinstance(source, str | Path) else None


def one_conversation(conversations: Iterable[Conversation], name: str | None, source: Path) -> Conversation:
    """The conversation of a source with this id, or whose id begins so; None: the only one.

    DataError if no conversation has it, or several have.
    """
    matching = with_id(conversations, name or "")
    if not matching:
        lacking = f" {name!r}: the page of `duologue show {source}` has the ids" if name else ""
        raise DataError(f"{source}: has no conversation{lacking}")
    if len(ids := sorted({conversation.id for conversation in matching})) > 1:
        which = f"{len(ids)} conversations begin with {name!r}" if name else f"has {len(ids)} conversations"
        raise DataError(f"{source}: {which}: give the id of one of them: {', '.join(ids[:6])}, ...")
    return matching[0]


def file_name(source: object, otherwise: str) -> str:
    """The name of a source's file or folder; `otherwise` where it is conversations."""
    path = path_of(source)
    return otherwise if path is None else path.name
