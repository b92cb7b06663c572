"""How long a conversation is, and how its words are spread over it."""

from .measure import Measure, mean_of_messages, per_conversation
from .transcripts import UserTranscript


def _characters(transcript: UserTranscript, number: int) -> float:
    return len(transcript.texts[number])


def _first_message_share(transcript: UserTranscript) -> float | None:
    total = sum(map(len, transcript.texts))
    return len(transcript.texts[0]) / total if total and len(transcript.texts) > 1 else None


MEASURES = (
    Measure(
        name="turns",
        family="shape",
        unit="messages",
        definition="Messages of the user in a conversation.",
        source="turn counts as in PARADISE (Walker et al. 1997)",
        direction="longer conversations",
        of=per_conversation(lambda transcript: len(transcript.texts)),
        wordless=True,
    ),
    Measure(
        name="message length",
        family="shape",
        unit="characters",
        definition="Mean length of the user's messages, as they are stored.",
        source="ours",
        direction="longer messages",
        of=mean_of_messages(_characters),
        of_text=_characters,
    ),
    Measure(
        name="first-message share",
        family="shape",
        unit="share of characters",
        definition="Share of the user's characters that stand in the first message, where there are two or more.",
        source="ours",
        direction="all is said at once",
        of=per_conversation(_first_message_share),
        shows="first",
    ),
)
