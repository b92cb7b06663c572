"""Courtesies by small lexicons of our own, in English and Chinese (`data/text/lexicons.json`)."""

from ....data.text.lexicons import begins_with, says
from .measure import Measure, OfText

_WORDS = (
    "Hardly: words have to be typed, and no keyboard adds them or leaves them out. But shorter messages have room "
    "for fewer."
)


def _says(entry: str) -> OfText:
    return lambda transcript, number: says(transcript.texts[number], entry, transcript.language)


def _share(
    name: str,
    of_text: OfText,
    what: str,
    direction: str,
    keyboard: str = _WORDS,
    survives: bool = True,
    source: str = "",
) -> Measure:
    return Measure(
        name=name,
        family="politeness",
        unit="share of messages",
        definition=f"Share of the user's messages {what}.",
        source=source or "ours, after the strategies of Danescu-Niculescu-Mizil et al. 2013",
        direction=direction,
        keyboard=keyboard,
        of_text=of_text,
        survives_translation=survives,
    )


MEASURES = (
    _share("thanks", _says("thanks"), "that thank", "users thank more"),
    _share("please", _says("please"), "with please or a polite can you", "users ask more politely", survives=False),
    _share("apology", _says("apology"), "that apologize", "users apologize more"),
    _share("hedges", _says("hedges"), "with a hedge such as maybe or I think", "users commit less", survives=False),
    _share(
        "exclamation",
        lambda transcript, number: any(mark in transcript.texts[number] for mark in "!！"),
        "with an exclamation mark",
        "users are more excited",
        keyboard="Yes: a mark of one key that people leave out with all others when they type in haste. Nothing is done"
        " against it; see punctuation beside it.",
        source="ours",
    ),
    _share("praise", _says("praise"), "with a word of praise", "users praise more", survives=False, source="ours"),
    Measure(
        name="greeting",
        family="politeness",
        unit="share of conversations",
        definition="Whether the user's first message begins with a greeting.",
        source="ours, after the strategies of Danescu-Niculescu-Mizil et al. 2013",
        direction="users greet more",
        of_conversation=lambda transcript: begins_with(transcript.texts[0], "greeting", transcript.language),
        keyboard=_WORDS,
        shows="first",
    ),
)
