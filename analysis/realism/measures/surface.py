"""How the text looks: punctuation, digits, emoji, lines."""

import re
import unicodedata
from functools import partial

from .measure import Measure
from .transcripts import UserTranscript

_SIGN = re.compile(r"[\W_]")
_EMOJI = re.compile("[\u2600-\u27bf\U0001f300-\U0001faff]|[:;=8][-o']?[)(DPp]")
_FINAL_MARK = re.compile(r"[.!?。！？…~～]['\"’”）)\]]*$")


def _punctuation(transcript: UserTranscript, number: int) -> float | None:
    text = "".join(transcript.texts[number].split())
    signs = _SIGN.findall(text)
    return sum(unicodedata.category(sign)[0] == "P" for sign in signs) / len(text) if text else None


def _no_final_mark(transcript: UserTranscript, number: int) -> float | None:
    text = transcript.texts[number].strip()
    return _FINAL_MARK.search(text) is None if text else None


def _small_first_letter(transcript: UserTranscript, number: int) -> float | None:
    letter = next((character for character in transcript.texts[number] if character.isalpha()), "")
    return letter.islower() if letter.isupper() or letter.islower() else None


_surface = partial(Measure, family="surface", unit="share of messages")

MEASURES = (
    Measure(
        name="punctuation",
        family="surface",
        unit="share of characters",
        definition="Share of punctuation among a message's characters, mean over messages.",
        direction="more punctuation",
        keyboard="Yes: on a phone marks need a second keyboard, people leave them out, and input methods and"
        " translators put them in. Nothing is done against it: never ranked where a side is translated.",
        of_text=_punctuation,
        survives_translation=False,
    ),
    _surface(
        name="no final mark",
        definition="Share of messages that end without a full stop or the like.",
        direction="carelessly ended messages",
        keyboard="Yes, wholly: whether a message ends with a mark is a habit of typing, and translators add one.",
        of_text=_no_final_mark,
        survives_translation=False,
    ),
    _surface(
        name="digits",
        definition="Share of messages with a digit.",
        direction="more figures",
        keyboard="Partly: a number may be written in words or digits, as the keyboard makes it easier (3 or three, 三). "
        "Only digits count.",
        of_text=lambda transcript, number: any(map(str.isdigit, transcript.texts[number])),
    ),
    _surface(
        name="emoji",
        definition="Share of messages with an emoji or emoticon.",
        direction="more emoji",
        keyboard="Yes: phones and input methods offer emoji, desktop keyboards hardly do. Emoticons of characters count"
        " too, which any keyboard has.",
        of_text=lambda transcript, number: _EMOJI.search(transcript.texts[number]) is not None,
    ),
    _surface(
        name="line breaks",
        definition="Share of messages of more than one line.",
        direction="more lines",
        keyboard="Yes: in many chats Enter sends the message, so that a new line takes a second key; pasted text has "
        "them.",
        of_text=lambda transcript, number: "\n" in transcript.texts[number].strip(),
        survives_translation=False,
    ),
    _surface(
        name="small first letter",
        definition="Share of messages whose first letter is a small one, among those that begin with a cased letter.",
        direction="carelessly begun messages",
        keyboard="Yes, wholly: phones write a capital by themselves, desktop keyboards do not.",
        of_text=_small_first_letter,
        survives_translation=False,
    ),
)
