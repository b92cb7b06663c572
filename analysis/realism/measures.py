"""The measures of a conversation's user: one table, each with its unit, its definition and its function.

Courtesies and questions are found by small lexicons of our own, in English and Chinese (`data/text/lexicons.json`).
"""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

from ...data.packages import failure, is_shipped
from ...data.rules.guards import leaked_prompt, leaked_role
from ...data.text.lexicons import begins_with, questions_in, says
from ...data.text.words import words_of
from ...errors import SettingError
from .coherence import first_on_task, new_words, own_words_again, reply_taken_up
from .transcripts import UserTranscript

OfConversation: TypeAlias = Callable[[UserTranscript], float | None]
OfText: TypeAlias = Callable[[UserTranscript, int], float | None]


@dataclass(frozen=True, kw_only=True)
class Measure:
    """A number for each conversation. Four fields are enough: name, definition, unit, and one of the two functions.

    SettingError without a function.
    """

    name: str
    definition: str
    """What is counted, in a sentence."""
    unit: str
    of_conversation: OfConversation | None = None
    """The value of one conversation; None or NaN where the measure is not defined for it."""
    of_text: OfText | None = None
    """The value of one of the user's messages, by its number from 0, where the measure is their mean."""
    survives_translation: bool = True
    """Whether a machine translation of a message gives much the same value as the message."""
    wordless: bool = False
    """Whether it needs no words, and so no common language."""
    annotation: bool = False
    """Whether it is a judgement of the data's annotators, which the AUC's model does not read."""

    def __post_init__(self) -> None:
        if self.of_conversation is None and self.of_text is None:
            raise SettingError(
                f"the measure {self.name!r} has no function: give of_conversation=..., a function of a conversation, or "
                "of_text=..., a function of a conversation and the number of a message"
            )

    def value(self, transcript: UserTranscript) -> float | None:
        """The value of a conversation. SettingError if a function that is not Duologue's fails."""
        try:
            if self.of_conversation is not None:
                return _number(self.of_conversation(transcript))
            assert self.of_text is not None
            values = [_number(self.of_text(transcript, number)) for number in range(len(transcript.texts))]
        except Exception as error:
            if is_shipped(self.of_conversation or self.of_text):
                raise
            where = f"the measure {self.name!r} failed in conversation {transcript.conversation.id}"
            hint = ": give a number, or None where it has no value" if isinstance(error, _NotANumberError) else ""
            raise SettingError(f"{where}: {failure(error)}{hint}") from error
        defined = [value for value in values if value is not None]
        return sum(defined) / len(defined) if defined else None


class _NotANumberError(TypeError):
    """A measure gave something else than a finite number or None."""


def _number(value: Any) -> float | None:
    """A value of a measure; None for NaN."""
    if value is None:
        return None
    if isinstance(value, str | bytes) or not hasattr(value, "__float__"):
        raise _NotANumberError(f"gave {type(value).__name__}, not a number")
    number = float(value)
    if math.isinf(number):
        raise _NotANumberError("gave an infinite value")
    return None if math.isnan(number) else number


# Functions of a conversation

MTLD_THRESHOLD = 0.72
MTLD_WORDS = 50
"""Fewest words for an MTLD: its authors advise against shorter texts."""


def mtld(words: Sequence[str]) -> float | None:
    """Measure of textual lexical diversity: mean of both directions; None under 50 words.

    Mean number of words in a row that keep a type-token ratio above 0.72 (McCarthy and Jarvis 2010).
    """
    if len(words) < MTLD_WORDS:
        return None
    return (_factor_length(words) + _factor_length(list(reversed(words)))) / 2


def _factor_length(words: Sequence[str]) -> float:
    factors, seen, count = 0.0, set[str](), 0
    for word in words:
        count += 1
        if word not in seen:
            seen.add(word)  # a new word never lowers the ratio
        elif len(seen) / count <= MTLD_THRESHOLD:
            factors, seen, count = factors + 1, set(), 0
    if count:
        factors += (1 - len(seen) / count) / (1 - MTLD_THRESHOLD)
    return len(words) / factors if factors else float(len(words))


def _first_message_share(transcript: UserTranscript) -> float | None:
    total = sum(map(len, transcript.texts))
    return len(transcript.texts[0]) / total if total and len(transcript.texts) > 1 else None


def _shared_with_others(transcript: UserTranscript) -> float | None:
    own, others = transcript.trigrams, transcript.others
    if not own or not others:
        return None
    return sum(len(own & other.trigrams) for other in others) / len(own) / len(others)


def _self_repetition(transcript: UserTranscript) -> float | None:
    """The share of a message's word pairs that an earlier one has: mean over messages after the first with a pair."""
    earlier: set[tuple[str, str]] = set()
    shares = []
    for number, words in enumerate(transcript.words):
        pairs = set(pairwise(words))
        if number and pairs:
            shares.append(len(pairs & earlier) / len(pairs))
        earlier |= pairs
    return sum(shares) / len(shares) if shares else None


# Functions of a message

_SIGN = re.compile(r"[\W_]")
_EMOJI = re.compile("[\u2600-\u27bf\U0001f300-\U0001faff]|[:;=8][-o']?[)(DPp]")
_FINAL_MARK = re.compile(r"[.!?。！？…~～]['\"’”）)\]]*$")


def _says(entry: str) -> OfText:
    return lambda transcript, number: says(transcript.texts[number], entry, transcript.language)


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


def _slips(transcript: UserTranscript, number: int) -> float:
    # A translator may drop the label of a speaker.
    texts = {transcript.texts[number], transcript.originals[number]}
    return any(leaked_role(text) or leaked_prompt(text) for text in texts)


# Facts of profile and task, by words

_SENTENCE = re.compile(r"([^.!?。！？\n]*)([.!?。！？\n]|\Z)")


def _task_words_told(transcript: UserTranscript) -> list[int]:
    """The number of the first message with each content word of the task's context that the user writes."""
    first = transcript.first_said
    return [first[word] for word in transcript.task_words if word in first]


def _profile_told(transcript: UserTranscript) -> float | None:
    return len(transcript.facts_told) / len(transcript.facts) if transcript.facts else None


def _task_told(transcript: UserTranscript) -> float | None:
    words = transcript.task_words
    return len(_task_words_told(transcript)) / len(words) if words else None


def _at_once(transcript: UserTranscript) -> float | None:
    numbers = [*transcript.facts_told.values(), *_task_words_told(transcript)]
    return numbers.count(0) / len(numbers) if numbers and len(transcript.texts) > 1 else None


def _volunteered(transcript: UserTranscript) -> float | None:
    told = transcript.facts_told
    if not told:
        return None
    asked = {number: _question_words(transcript, number) for number in set(told.values())}
    unasked = [index for index, number in told.items() if not transcript.facts[index].asking_words & asked[number]]
    return len(unasked) / len(told)


def _question_words(transcript: UserTranscript, number: int) -> set[str]:
    """The words of the questions in the reply before a message."""
    questions = (text for text, end in _SENTENCE.findall(transcript.replies_before[number]) if end in ("?", "？"))
    return {word for question in questions for word in words_of(question, transcript.language)}


MEASURES: tuple[Measure, ...] = (
    Measure(
        name="turns",
        unit="messages",
        definition="Messages of the user in a conversation.",
        of_conversation=lambda user: len(user.texts),
        wordless=True,
    ),
    Measure(
        name="message length",
        unit="characters",
        definition="Mean length of the user's messages, as they are stored.",
        of_text=lambda user, number: len(user.texts[number]),
    ),
    Measure(
        name="first-message share",
        unit="share of characters",
        definition="Share of the user's characters that stand in the first message, where there are two or more.",
        of_conversation=_first_message_share,
    ),
    Measure(
        name="lexical diversity (MTLD)",
        unit="words",
        definition="Words in a row whose type-token ratio stays above 0.72 (McCarthy and Jarvis 2010); from 50 words on.",
        of_conversation=lambda user: mtld(user.all_words),
        survives_translation=False,
    ),
    Measure(
        name="n-gram overlap",
        unit="share",
        definition="Share of a conversation's different word trigrams that one of another user of the side about the "
        "same task has too: mean over five others (after self-BLEU; Zhu et al. 2018).",
        of_conversation=_shared_with_others,
    ),
    Measure(
        name="self-repetition",
        unit="share",
        definition="Share of a message's different word pairs that an earlier message of the user has; mean over messages.",
        of_conversation=_self_repetition,
    ),
    Measure(
        name="thanks",
        unit="share of messages",
        definition="Messages that thank.",
        of_text=_says("thanks"),
    ),
    Measure(
        name="please",
        unit="share of messages",
        definition="Messages with please or a polite can you.",
        of_text=_says("please"),
        survives_translation=False,
    ),
    Measure(
        name="hedges",
        unit="share of messages",
        definition="Messages with a hedge such as maybe or I think.",
        of_text=_says("hedges"),
        survives_translation=False,
    ),
    Measure(
        name="praise",
        unit="share of messages",
        definition="Messages with a word of praise.",
        of_text=_says("praise"),
        survives_translation=False,
    ),
    Measure(
        name="greeting",
        unit="share of conversations",
        definition="Whether the user's first message begins with a greeting.",
        of_conversation=lambda user: begins_with(user.texts[0], "greeting", user.language),
    ),
    Measure(
        name="closing phrase",
        unit="share of conversations",
        definition="Whether the user's last message says goodbye or that nothing is open (Schegloff and Sacks 1973).",
        of_conversation=lambda user: says(user.texts[-1], "closing", user.language),
    ),
    Measure(
        name="exclamation",
        unit="share of messages",
        definition="Messages with an exclamation mark.",
        of_text=lambda user, number: any(mark in user.texts[number] for mark in "!！"),
    ),
    Measure(
        name="punctuation",
        unit="share of characters",
        definition="Share of punctuation among a message's characters, mean over messages.",
        of_text=_punctuation,
        survives_translation=False,
    ),
    Measure(
        name="no final mark",
        unit="share of messages",
        definition="Messages that end without a full stop or the like.",
        of_text=_no_final_mark,
        survives_translation=False,
    ),
    Measure(
        name="small first letter",
        unit="share of messages",
        definition="Messages whose first letter is a small one, among those that begin with a cased letter.",
        of_text=_small_first_letter,
        survives_translation=False,
    ),
    Measure(
        name="line breaks",
        unit="share of messages",
        definition="Messages of more than one line.",
        of_text=lambda user, number: "\n" in user.texts[number].strip(),
        survives_translation=False,
    ),
    Measure(
        name="digits",
        unit="share of messages",
        definition="Messages with a digit.",
        of_text=lambda user, number: any(map(str.isdigit, user.texts[number])),
    ),
    Measure(
        name="emoji",
        unit="share of messages",
        definition="Messages with an emoji or emoticon.",
        of_text=lambda user, number: _EMOJI.search(user.texts[number]) is not None,
    ),
    Measure(
        name="questions",
        unit="share of messages",
        definition="Messages with a question mark, or with a word or form of a question, such as what, can you, 吗.",
        of_text=lambda user, number: questions_in(user.texts[number], user.language) > 0,
    ),
    Measure(
        name="profile facts told",
        unit="share of facts",
        definition="Share of the profile's values of which a message has at least half of the content words.",
        of_conversation=_profile_told,
    ),
    Measure(
        name="task facts told",
        unit="share of words",
        definition="Share of the content words of the task's context that the user says.",
        of_conversation=_task_told,
    ),
    Measure(
        name="facts told at once",
        unit="share of facts told",
        definition="Share of the facts told, of profile and task, that the first message tells, where there are two or "
        "more messages.",
        of_conversation=_at_once,
        survives_translation=False,
    ),
    Measure(
        name="facts volunteered",
        unit="share of facts told",
        definition="Share of the profile's told values for which no question of the reply before asks: none has a "
        "content word of value or attribute.",
        of_conversation=_volunteered,
        survives_translation=False,
    ),
    Measure(
        name="first message on the task",
        unit="share of words",
        definition="Share of the first message's content words that the task's context has.",
        of_conversation=first_on_task,
    ),
    Measure(
        name="reply taken up",
        unit="difference of shares",
        definition="How much more of a message's content words the reply before it has than the last eight earlier "
        "replies, both cut to the length of the shorter; without words of the task's context.",
        of_conversation=reply_taken_up,
    ),
    Measure(
        name="new words",
        unit="share of words",
        definition="Share of the content words after a reply that neither this reply (its first 400 characters in "
        "Chinese, 1,600 in English) nor the user's last 100 or 400 characters have; without words of the task's context.",
        of_conversation=new_words,
    ),
    Measure(
        name="own words again",
        unit="share of pairs of words",
        definition="Chance that a content word of one of the user's messages is one of another (Simpson 1949).",
        of_conversation=own_words_again,
    ),
    Measure(
        name="role slips",
        unit="share of messages",
        definition="Messages that speak for another side, show instructions or reasoning, or own to be a model; the "
        "original and its translation are both read.",
        of_text=_slips,
    ),
)


# Annotations that both sides carry

_MOST_VALUES = 20
"""A label in words with more different values than that is a text."""
_NAMED = 5
"""Most values that a reason names."""


def labels_of(first: Sequence[UserTranscript], second: Sequence[UserTranscript]) -> tuple[list[Measure], list[str]]:
    """The annotations that both sides carry as measures, and a line for each that cannot be compared.

    Numbers are compared by their mean, words by the share of each value.
    """
    measures: list[Measure] = []
    reasons = []
    of_first, of_second = _counts(first), _counts(second)
    for name in sorted(of_first.keys() & of_second.keys()):
        values = sorted(of_first[name] | of_second[name])
        if reason := _incomparable(of_first[name], of_second[name]):
            reasons.append(f"{name}: {reason}")
        elif all(map(_is_number, values)):
            measures.append(_label(name, "mean value", name, None))
        else:
            # Of two values one tells all of the other.
            shown = ["yes"] if set(values) <= {"yes", "no"} else values[: 1 if len(values) == 2 else None]
            measures += [_label(f"{name}: {value}", f"share of {value}", name, value) for value in shown]
    return measures, reasons


def _label(name: str, unit: str, label: str, value: str | None) -> Measure:
    def of_conversation(transcript: UserTranscript) -> float | None:
        values = transcript.labels.get(label)
        if not values:
            return None
        numbers = [float(one) if value is None else float(one == value) for one in values]
        return sum(numbers) / len(numbers)

    definition = f"The annotation {label!r} of a conversation: its {'mean' if value is None else unit}."
    return Measure(
        name=name, unit=unit, definition=definition, of_conversation=of_conversation, wordless=True, annotation=True
    )


def _counts(transcripts: Iterable[UserTranscript]) -> dict[str, Counter[str]]:
    counts: dict[str, Counter[str]] = {}
    for transcript in transcripts:
        for name, values in transcript.labels.items():
            counts.setdefault(name, Counter()).update(values)
    return counts


def _incomparable(first: Iterable[str], second: Iterable[str]) -> str:
    """Why two sides with these values of a label cannot be compared; empty if they can.

    Numbers are a scale, of which a side need not use every point, and yes and no are one set. Any other value that one
    side alone has may be one that the other side's annotators could not choose.
    """
    of_first, of_second = set(first), set(second)
    every = of_first | of_second
    numeric = [all(map(_is_number, values)) for values in (of_first, of_second)]
    if len(every) == 1:
        return f"it has one value only, {every.pop()!r}"
    if all(numeric) or every <= {"yes", "no"}:
        return ""
    if any(numeric) and not of_first & of_second:
        return "one side has numbers, the other words"
    if len(every) > _MOST_VALUES:
        return f"it has {len(every)} different values, more than {_MOST_VALUES}: a text, no category"
    if alone := sorted(of_first ^ of_second):
        more = f" and {len(alone) - _NAMED} more" if len(alone) > _NAMED else ""
        return f"only one side has the values {', '.join(map(repr, alone[:_NAMED]))}{more}"
    return ""


def _is_number(value: str) -> bool:
    return re.fullmatch(r"[-+]?[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?", value) is not None and math.isfinite(float(value))
