"""How the text looks: marks, figures, emoji, lines."""

import re
import unicodedata

from ..speech import Speech
from .measure import Measure, mean_of_messages

_EMOJI = re.compile("[\u2600-\u27bf\U0001f300-\U0001faff]|[:;=8][-o']?[)(DPp]")
_END = re.compile(r"[.!?。！？…~～]['\"’”）)\]]*$")


def _punctuation(speech: Speech, number: int) -> float | None:
    text = "".join(speech.user[number].split())
    return sum(unicodedata.category(character)[0] == "P" for character in text) / len(text) if text else None


def _unended(speech: Speech, number: int) -> float | None:
    text = speech.user[number].strip()
    return _END.search(text) is None if text else None


def _digits(speech: Speech, number: int) -> float:
    return any(character.isdigit() for character in speech.user[number])


def _emoji(speech: Speech, number: int) -> float:
    return _EMOJI.search(speech.user[number]) is not None


def _lines(speech: Speech, number: int) -> float:
    return "\n" in speech.user[number].strip()


def _small_start(speech: Speech, number: int) -> float | None:
    letter = next((character for character in speech.user[number] if character.isalpha()), "")
    return letter.islower() if letter.isupper() or letter.islower() else None


MEASURES = (
    Measure(
        name="punctuation",
        family="surface",
        unit="share of characters",
        definition="Share of punctuation among a message's characters, mean over messages.",
        source="ours",
        direction="more punctuation",
        of=mean_of_messages(_punctuation),
        of_text=_punctuation,
        survives_translation=False,
    ),
    Measure(
        name="no final mark",
        family="surface",
        unit="share of messages",
        definition="Share of messages that end without a full stop or the like.",
        source="ours",
        direction="carelessly ended messages",
        of=mean_of_messages(_unended),
        of_text=_unended,
        survives_translation=False,
    ),
    Measure(
        name="digits",
        family="surface",
        unit="share of messages",
        definition="Share of messages with a digit.",
        source="ours",
        direction="more figures",
        of=mean_of_messages(_digits),
        of_text=_digits,
    ),
    Measure(
        name="emoji",
        family="surface",
        unit="share of messages",
        definition="Share of messages with an emoji or emoticon.",
        source="ours",
        direction="more emoji",
        of=mean_of_messages(_emoji),
        of_text=_emoji,
    ),
    Measure(
        name="line breaks",
        family="surface",
        unit="share of messages",
        definition="Share of messages of more than one line.",
        source="ours",
        direction="more lines",
        of=mean_of_messages(_lines),
        of_text=_lines,
        survives_translation=False,
    ),
    Measure(
        name="small first letter",
        family="surface",
        unit="share of messages",
        definition="Share of messages whose first letter is a small one, among those that begin with a cased letter.",
        source="ours",
        direction="carelessly begun messages",
        of=mean_of_messages(_small_start),
        of_text=_small_start,
        survives_translation=False,
    ),
)
