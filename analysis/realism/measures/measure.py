"""What a measure is: its values, and what a reader must know of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from .transcripts import Keys, UserTranscript

Family: TypeAlias = Literal[
    "shape", "lexical diversity", "sameness", "self-repetition", "politeness", "surface", "questions", "disclosure",
    "coherence", "role adherence", "ending", "labels",
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
    of: Callable[[Sequence[UserTranscript]], list[float | None]]
    """The values of all conversations of a side; None where the measure is not defined for a conversation."""
    keyboard: str
    """Whether a difference may come from how people type and not from what they do, and what is done against it."""
    survives_translation: bool = True
    """Whether a machine translation of a message gives much the same value as the message."""
    pairwise: bool = False
    """Whether a conversation is measured against the others of its side (what that does to chance: `sameness`)."""
    among: Callable[[Sequence[UserTranscript], Mapping[str, int] | None], list[float | None]] | None = None
    """The values as `of` has them, but of a pairwise measure with a number of other users for each task (`values`)."""
    parts: Callable[[UserTranscript], Keys] | None = None
    """Of a pairwise measure: what of a conversation is looked for in others."""
    wordless: bool = False
    """Whether it needs no words, and so no common language."""
    shows: Shows = "any"
    """Which of the user's messages shows it best."""
    of_text: Callable[[UserTranscript, int], float | None] | None = None
    """The value of one of the user's messages, where the measure is their mean."""

    def values(
        self, transcripts: Sequence[UserTranscript], others: Mapping[str, int] | None = None
    ) -> list[float | None]:
        """The values of all conversations of a side.

        `others`: for each task how many other users a conversation is compared with, so that two sides of unequal size
        are measured alike. Left out, or for a measure that is not among others: the values of `of`.
        """
        return self.of(transcripts) if others is None or self.among is None else self.among(transcripts, others)


def per_conversation(
    function: Callable[[UserTranscript], float | None],
) -> Callable[[Sequence[UserTranscript]], list[float | None]]:
    """A measure of one conversation, applied to all conversations of a side."""

    def of(transcripts: Sequence[UserTranscript]) -> list[float | None]:
        return [function(transcript) for transcript in transcripts]

    return of


def mean_of_messages(
    function: Callable[[UserTranscript, int], float | None],
) -> Callable[[Sequence[UserTranscript]], list[float | None]]:
    """The mean of a measure of one message over all of the user's; None where it is defined for none of them."""

    def of(transcript: UserTranscript) -> float | None:
        values = [function(transcript, number) for number in range(len(transcript.texts))]
        defined = [value for value in values if value is not None]
        return sum(defined) / len(defined) if defined else None

    return per_conversation(of)
