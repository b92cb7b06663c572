"""What a domain hands over: pieces of background, and how long its conversations are."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from .records import Role


@dataclass(frozen=True)
class Material:
    """A piece of background beside a conversation on a page: a text, or rows of name and text."""

    label: str
    text: str = ""
    rows: tuple[tuple[str, str], ...] = ()
    source: bool = False
    """Whether the messages' spans are slices of this text; they are then marked in it."""
    folded: bool = False
    """Whether the page shows it only on request."""


class TypicalConversation(NamedTuple):
    """How conversations about such scenarios go, by which a run's tokens are estimated before any call."""

    exchanges: int | None
    """Exchanges after which one ends, about; None: it goes on to the limit."""
    lengths: Mapping[Role, tuple[int, int, int]]
    """Tokens of a message of each side: of a short one (95 of 100 are longer), the mean, a long one (5 are longer)."""
    known_by: str
    """Where these figures are from, in words."""


TYPICAL = TypicalConversation(
    5, {"user": (10, 60, 275), "assistant": (20, 250, 707)}, "a guess, as nothing is known of such scenarios"
)
"""What is assumed where nobody measured."""
