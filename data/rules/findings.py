"""What a rule of the linter is, and what it finds."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ..records import Conversation, Record

Level: TypeAlias = Literal["error", "warning"]
"""`error`: the data set says what is not so, or was never meant to be in it. `warning`: worth a look."""

Reasons: TypeAlias = Iterator[tuple[int, str]]
"""Number of the message and the reason, for each thing that a rule finds."""


class Finding(Record):
    """One thing that a rule found."""

    rule: str
    level: Level
    conversation: str
    """Id of the conversation."""
    path: str = ""
    """Path of its file in the folder that was read, where each conversation has a file."""
    message: int
    """Number of the message in the conversation, from 0."""
    role: str
    reason: str
    """One line: what, and where in the message."""


@dataclass(frozen=True)
class Rule:
    """A rule: its level, what it is about in a line, and the function that finds it."""

    level: Level
    about: str
    find: Callable[[Conversation], Reasons]
    """Gives the number of the message and the reason for each finding."""


def quoted(text: str) -> str:
    """The text in quotes, on one line, cut at 60 characters."""
    text = " ".join(text.split())
    return f'"{text if len(text) <= 60 else text[:57] + "..."}"'
