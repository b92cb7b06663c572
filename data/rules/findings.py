"""Rules of the linter and their findings."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ..records import Conversation, Record

FindingLevel: TypeAlias = Literal["error", "warning", "notice"]
"""`error`: the data is wrong, or should not be in the data set. `warning`: worth a look. `notice`: may well be meant."""

Reasons: TypeAlias = Iterator[tuple[int, str]]
"""For each finding of a rule: the number of the message and the reason."""


class Finding(Record):
    """A finding of a rule in a message."""

    rule: str
    level: FindingLevel
    conversation: str
    """Id of the conversation."""
    path: str = ""
    """Path of the conversation's file in the folder that was read; empty if the source is one file."""
    message: int
    """Number of the message in the conversation, from 0."""
    role: str
    reason: str
    """What is wrong and where in the message, in one line."""


@dataclass(frozen=True)
class Rule:
    """A rule of the linter: its level, a description in one line, and its function."""

    level: FindingLevel
    description: str
    find: Callable[[Conversation], Reasons]
    """Gives the number of the message and the reason of each finding."""


def quoted(text: str) -> str:
    """The text in quotes, on one line, cut at 60 characters."""
    text = " ".join(text.split())
    return f'"{text if len(text) <= 60 else text[:57] + "..."}"'
