"""How long a conversation is, and how its words are spread over it."""

from ..speech import Speech
from .measure import Measure, each, mean_of_messages


def _length(speech: Speech, number: int) -> float:
    return len(speech.user[number])


def _first_share(speech: Speech) -> float | None:
    whole = sum(map(len, speech.user))
    return len(speech.user[0]) / whole if whole and len(speech.user) > 1 else None


MEASURES = (
    Measure(
        name="turns",
        family="shape",
        unit="messages",
        definition="Messages of the user in a conversation.",
        source="turn counts as in PARADISE (Walker et al. 1997)",
        direction="longer conversations",
        of=each(lambda speech: len(speech.user)),
        wordless=True,
    ),
    Measure(
        name="message length",
        family="shape",
        unit="characters",
        definition="Mean length of the user's messages, as they are stored.",
        source="ours",
        direction="longer messages",
        of=mean_of_messages(_length),
        of_text=_length,
    ),
    Measure(
        name="first-message share",
        family="shape",
        unit="share of characters",
        definition="Share of the user's characters that stand in the first message, where there are two or more.",
        source="ours",
        direction="all is said at once",
        of=each(_first_share),
        shows="first",
    ),
)
