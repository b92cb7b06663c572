"""How the text looks: punctuation, digits, emoji, lines, question marks."""

import re
import unicodedata

from .measure import Measure, mean_of_messages
from .transcripts import UserTranscript

_EMOJI = re.compile("[\u2600-\u27bf\U0001f300-\U0001faff]|[:;=8][-o']?[)(DPp]")
_FINAL_MARK = re.compile(r"[.!?。！？…~～]['\"’”）)\]]*$")
_QUESTION_MARKS = re.compile(r"[?？]+")


def _punctuation(transcript: UserTranscript, number: int) -> float | None:
    text = "".join(transcript.texts[number].split())
    return sum(unicodedata.category(character)[0] == "P" for character in text) / len(text) if text else None


def _no_final_mark(transcript: UserTranscript, number: int) -> float | None:
    text = transcript.texts[number].strip()
    return _FINAL_MARK.search(text) is None if text else None


def _has_digit(transcript: UserTranscript, number: int) -> float:
    return any(character.isdigit() for character in transcript.texts[number])


def _has_emoji(transcript: UserTranscript, number: int) -> float:
    return _EMOJI.search(transcript.texts[number]) is not None


def _several_lines(transcript: UserTranscript, number: int) -> float:
    return "\n" in transcript.texts[number].strip()


def _small_first_letter(transcript: UserTranscript, number: int) -> float | None:
    letter = next((character for character in transcript.texts[number] if character.isalpha()), "")
    return letter.islower() if letter.isupper() or letter.islower() else None


def _has_question(transcript: UserTranscript, number: int) -> float:
    return _QUESTION_MARKS.search(transcript.texts[number]) is not None


def _several_questions(transcript: UserTranscript, number: int) -> float:
    return len(_QUESTION_MARKS.findall(transcript.texts[number])) > 1


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
        of=mean_of_messages(_no_final_mark),
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
        of_text=_small_first_letter,
        survives_translation=False,
    ),
    Measure(
        name="questions",
        family="questions",
        unit="share of messages",
        definition="Share of messages with a question mark.",
        source="ours",
        direction="users ask more",
        of=mean_of_messages(_has_question),
        of_text=_has_question,
    ),
    Measure(
        name="several questions",
        family="questions",
        unit="share of messages",
        definition="Share of messages with question marks at two or more places.",
        source="ours",
        direction="users ask several things at once",
        of=mean_of_messages(_several_questions),
        of_text=_several_questions,
    ),
)
