"""How the text looks: punctuation, digits, emoji, lines."""

import re
import unicodedata

from .measure import Measure, mean_of_messages
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


def _has_digit(transcript: UserTranscript, number: int) -> float:
    return any(map(str.isdigit, transcript.texts[number]))


def _has_emoji(transcript: UserTranscript, number: int) -> float:
    return _EMOJI.search(transcript.texts[number]) is not None


def _several_lines(transcript: UserTranscript, number: int) -> float:
    return "\n" in transcript.texts[number].strip()


def _small_first_letter(transcript: UserTranscript, number: int) -> float | None:
    letter = next((character for character in transcript.texts[number] if character.isalpha()), "")
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
        keyboard="Yes: on a phone marks need a second keyboard, people leave them out, and input methods and"
        " translators put them in. Nothing is done against it: never ranked where a side is translated.",
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
        of=mean_of_messages(_no_final_mark),
        keyboard="Yes, wholly: whether a message ends with a mark is a habit of typing, and translators add one.",
        of_text=_no_final_mark,
        survives_translation=False,
    ),
    Measure(
        name="digits",
        family="surface",
        unit="share of messages",
        definition="Share of messages with a digit.",
        source="ours",
        direction="more figures",
        of=mean_of_messages(_has_digit),
        keyboard="Partly: a number may be written in words or digits, as the keyboard makes it easier (3 or three, 三). "
        "Only digits count.",
        of_text=_has_digit,
    ),
    Measure(
        name="emoji",
        family="surface",
        unit="share of messages",
        definition="Share of messages with an emoji or emoticon.",
        source="ours",
        direction="more emoji",
        of=mean_of_messages(_has_emoji),
        keyboard="Yes: phones and input methods offer emoji, desktop keyboards hardly do. Emoticons of characters count"
        " too, which any keyboard has.",
        of_text=_has_emoji,
    ),
    Measure(
        name="line breaks",
        family="surface",
        unit="share of messages",
        definition="Share of messages of more than one line.",
        source="ours",
        direction="more lines",
        of=mean_of_messages(_several_lines),
        keyboard="Yes: in many chats Enter sends the message, so that a new line takes a second key; pasted text has "
        "them.",
        of_text=_several_lines,
        survives_translation=False,
    ),
    Measure(
        name="small first letter",
        family="surface",
        unit="share of messages",
        definition="Share of messages whose first letter is a small one, among those that begin with a cased letter.",
        source="ours",
        direction="carelessly begun messages",
        of=mean_of_messages(_small_first_letter),
        keyboard="Yes, wholly: phones write a capital by themselves, desktop keyboards do not.",
        of_text=_small_first_letter,
        survives_translation=False,
    ),
)
