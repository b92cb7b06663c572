"""A measure: its values, and the notes that a reader needs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ....data.packages import is_shipped
from ....errors import SettingError
from ...measure_values import as_number, measure_failed
from .others import Parts, shared_with_others
from .transcripts import UserTranscript

Family: TypeAlias = Literal[
    "shape", "lexical diversity", "sameness", "self-repetition", "politeness", "surface", "questions", "disclosure",
    "coherence", "role adherence", "ending", "labels", "own", "communication style", "information pattern",
    "clarification", "error reaction",
]  # fmt: skip

Shows: TypeAlias = Literal["first", "last", "any"]

OfConversation: TypeAlias = Callable[[UserTranscript], float | None]
OfText: TypeAlias = Callable[[UserTranscript, int], float | None]


@dataclass(frozen=True)
class DerivedValues:
    """The values of a side, from a function of one conversation or message, or from what conversations share."""

    measure: str
    of_conversation: OfConversation | None = None
    of_text: OfText | None = None
    parts: Parts | None = None

    def __call__(
        self, transcripts: Sequence[UserTranscript], others: Mapping[str, int] | None = None
    ) -> list[float | None]:
        """SettingError if a function that is not Duologue's fails, or gives anything but a number or None."""
        if self.parts is not None:
            return shared_with_others(transcripts, [self.parts], others)[0]
        return [self._value(transcript) for transcript in transcripts]

    def _value(self, transcript: UserTranscript) -> float | None:
        try:
            if self.of_conversation is not None:
                return as_number(self.of_conversation(transcript))
            assert self.of_text is not None
            values = [as_number(self.of_text(transcript, number)) for number in range(len(transcript.texts))]
        except Exception as error:
            if is_shipped(self.of_conversation or self.of_text):
                raise
            raise measure_failed(self.measure, error, transcript.conversation.id) from error
        defined = [value for value in values if value is not None]
        return sum(defined) / len(defined) if defined else None


@dataclass(frozen=True, kw_only=True)
class Measure:
    """A number for each conversation of a side, and the notes that a reader needs.

    Four fields are enough: name, definition, unit, and the function of a conversation or of a message.
    """

    name: str
    """In plain words."""
    definition: str
    """What is counted, in a sentence."""
    unit: str
    of_conversation: OfConversation | None = None
    """The value of one conversation; None or NaN where the measure is not defined for it."""
    of_text: OfText | None = None
    """The value of one of the user's messages, by its number from 0, where the measure is their mean. Beside
    `of_conversation` it only finds the messages that are shown as examples."""
    of: Callable[[Sequence[UserTranscript]], list[float | None]] = DerivedValues("")
    """The values of all conversations of a side; None where the measure is not defined for a conversation. By default
    they are derived from `of_conversation`, `of_text` or `parts`."""
    family: Family = "own"
    source: str = "ours"
    """The source of the definition; `ours` if it is not published elsewhere."""
    direction: str = "higher values"
    """What a higher value means."""
    keyboard: str = ""
    """Whether a difference may come from how people type and not from what they do, and how this is countered. Empty if
    unknown."""
    survives_translation: bool = True
    """Whether a machine translation of a message gives much the same value as the message."""
    parts: Parts | None = None
    """What of a conversation is looked for in the others of its side, where that is the measure (`others`)."""
    wordless: bool = False
    """Whether it needs no words, and so no common language."""
    shows: Shows = "any"
    """Which of the user's messages shows it best."""

    def __post_init__(self) -> None:
        if not isinstance(self.of, DerivedValues):
            return
        if self.of_conversation is None and self.of_text is None and self.parts is None:
            raise SettingError(
                f"the measure {self.name!r} has no function: give of_conversation=..., a function of a conversation, or "
                "of_text=..., a function of a conversation and the number of a message"
            )
        object.__setattr__(self, "of", DerivedValues(self.name, self.of_conversation, self.of_text, self.parts))

    @property
    def pairwise(self) -> bool:
        """Whether a conversation is measured against the others of its side (what that does to chance:
        `dependence`)."""
        return self.parts is not None

    def values(
        self, transcripts: Sequence[UserTranscript], others: Mapping[str, int] | None = None
    ) -> list[float | None]:
        """The values of all conversations of a side.

        `others`: for each task how many other users a conversation is compared with, so that two sides of unequal size
        are measured alike. Left out all are compared; any other measure has the values of `of`. SettingError if a
        function that is not Duologue's fails.
        """
        if isinstance(self.of, DerivedValues):
            return self.of(transcripts, others)
        try:
            values = [as_number(value) for value in self.of(transcripts)]
        except Exception as error:
            raise measure_failed(self.name, error) from error
        if len(values) != len(transcripts):
            raise SettingError(
                f"the measure {self.name!r} gave {len(values)} values of {len(transcripts)} conversations: give one of each"
            )
        return values
