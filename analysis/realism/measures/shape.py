"""How long a conversation is, and how its words are spread over it."""

from .measure import Measure
from .transcripts import UserTranscript


def _first_message_share(transcript: UserTranscript) -> float | None:
    total = sum(map(len, transcript.texts))
    return len(transcript.texts[0]) / total if total and len(transcript.texts) > 1 else None


LENGTH = Measure(
    name="message length",
    family="shape",
    unit="characters",
    definition="Mean length of the user's messages, as they are stored.",
    source="ours",
    direction="longer messages",
    keyboard="Partly: typing is work, most of all on a phone, while a model's words cost it nothing; pasted text"
    " and dictation lengthen messages. Nothing is done against it.",
    of_text=lambda transcript, number: len(transcript.texts[number]),
)

MEASURES = (
    Measure(
        name="turns",
        family="shape",
        unit="messages",
        definition="Messages of the user in a conversation.",
        source="turn counts as in PARADISE (Walker et al. 1997)",
        direction="longer conversations",
        of_conversation=lambda transcript: len(transcript.texts),
        keyboard="Partly: typing is work, and people may split a thought into several messages by pressing Enter. "
        "Nothing is done against it; see message length and first-message share beside it.",
        wordless=True,
    ),
    LENGTH,
    Measure(
        name="first-message share",
        family="shape",
        unit="share of characters",
        definition="Share of the user's characters that stand in the first message, where there are two or more.",
        direction="all is said at once",
        of_conversation=_first_message_share,
        keyboard="Partly: a first message may be prepared or pasted, and later ones typed in haste. As a share it does "
        "not change where all messages are equally shorter.",
        shows="first",
    ),
)
