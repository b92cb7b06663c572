"""What a measure is, and what it is called."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ..speech import Speech

Family: TypeAlias = Literal[
    "shape", "lexical diversity", "sameness", "self-repetition", "politeness", "surface", "questions", "disclosure",
    "role adherence", "ending", "labels",
]  # fmt: skip

Shows: TypeAlias = Literal["first", "last", "any"]


@dataclass(frozen=True)
class Measure:
    """A number for each conversation of a side, and what a reader must know of it."""

    name: str
    """In plain words."""
    family: Family
    unit: str
    definition: str
    """What is counted, in a sentence."""
    source: str
    """Where the definition comes from; `ours` where nobody published one."""
    direction: str
    """What a higher value means."""
    of: Callable[[Sequence[Speech]], list[float | None]]
    """The values of all conversations of a side; None where a conversation does not tell."""
    survives_translation: bool = True
    """Whether a machine translation of a message gives much the same value as the message."""
    pairwise: bool = False
    """Whether a conversation is measured against the others of its side (what that means for chance: `contrast`)."""
    wordless: bool = False
    """Whether it needs no words, and so no common language."""
    shows: Shows = "any"
    """Which of the user's messages shows it best."""
    of_text: Callable[[Speech, int], float | None] | None = None
    """The value of one of the user's messages, where the measure is their mean."""


def each(function: Callable[[Speech], float | None]) -> Callable[[Sequence[Speech]], list[float | None]]:
    """A measure of one conversation, for all of a side."""

    def of(speeches: Sequence[Speech]) -> list[float | None]:
        return [function(speech) for speech in speeches]

    return of


def mean_of_messages(
    function: Callable[[Speech, int], float | None],
) -> Callable[[Sequence[Speech]], list[float | None]]:
    """The mean of a measure over the user's messages; None if none of them tells."""

    def of(speech: Speech) -> float | None:
        told = [value for number in range(len(speech.user)) if (value := function(speech, number)) is not None]
        return sum(told) / len(told) if told else None

    return each(of)
