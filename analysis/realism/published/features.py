"""The 19 features of "Mind the Sim2Real Gap" (2603.11245), in four dimensions, with word lists of our own.

The dimensions are those of the paper. The features are defined as in appendix D of 2605.12894, which takes them from
it. The paper's own expressions were not read, so the lists in `data/text/lexicons.json` are ours, in English and
Chinese.
"""

import re
from collections import Counter
from collections.abc import Callable
from statistics import fmean, pstdev

from ....data.text.word_lists import says, whole
from ..measures.measure import Family, Measure
from ..measures.transcripts import UserTranscript

SOURCE = "2603.11245, as defined in appendix D of 2605.12894; word lists ours"
SHORT = 3
"""Maximum number of words of a short message."""
OFTEN = 3
"""A sequence of three words that occurs more often than this is a repetition."""
OPENING = 2
"""First messages whose words count as told at the front."""

_IDENTIFIER = re.compile(
    r"[\w.+-]+@[\w-]+\.[\w.-]+|#\w{4,}|(?<![A-Za-z0-9])(?=[A-Z0-9-]*\d)[A-Z0-9][A-Z0-9-]{4,}(?![A-Za-z0-9])|\d{4}-\d{2}-\d{2}"
)


def _listed(*entries: str) -> Callable[[UserTranscript, int], float]:
    return lambda transcript, number: float(
        any(says(transcript.texts[number], entry, transcript.language) for entry in entries)
    )


def _lengths(transcript: UserTranscript) -> list[int]:
    return [len(words) for words in transcript.words]


def _variation(transcript: UserTranscript) -> float | None:
    lengths = _lengths(transcript)
    return pstdev(lengths) / fmean(lengths) if len(lengths) > 1 and any(lengths) else None


def _repeats(transcript: UserTranscript) -> float:
    grams = [set(zip(words, words[1:], words[2:], strict=False)) for words in transcript.words]
    counts = Counter(gram for words in transcript.words for gram in zip(words, words[1:], words[2:], strict=False))
    frequent = {gram for gram, count in counts.items() if count > OFTEN}
    return sum(bool(of_message & frequent) for of_message in grams) / len(grams)


def _front(transcript: UserTranscript) -> float | None:
    lengths = _lengths(transcript)
    return sum(lengths[:OPENING]) / sum(lengths) if any(lengths) else None


def _opening(transcript: UserTranscript) -> float:
    return float(len(transcript.words[0]))


def _asks(transcript: UserTranscript, number: int) -> float:
    return float(any(mark in transcript.texts[number] for mark in "?？"))


def _feature(
    name: str,
    family: Family,
    definition: str,
    direction: str,
    of_text: Callable[[UserTranscript, int], float] | None = None,
    of_conversation: Callable[[UserTranscript], float | None] | None = None,
    unit: str = "share of messages",
) -> Measure:
    return Measure(
        name=name,
        family=family,
        definition=definition,
        unit=unit,
        of_text=of_text,
        of_conversation=of_conversation,
        source=SOURCE,
        direction=direction,
        survives_translation=False,
    )


FEATURES: tuple[Measure, ...] = (
    _feature("words per message", "communication style", "Mean number of words of the user's messages.", "longer messages",
             lambda transcript, number: float(len(transcript.words[number])), unit="words"),
    _feature("short messages", "communication style", f"Share of the messages with at most {SHORT} words.", "more short ones",
             lambda transcript, number: float(len(transcript.words[number]) <= SHORT)),
    _feature("polite messages", "communication style", "Share of the messages with thanks, please or an apology.",
             "users are more polite", _listed("thanks", "please", "apology")),
    _feature("formal messages", "communication style", "Share of the messages with a formal connective.",
             "users are more formal", _listed("formal")),
    _feature("bare acknowledgements", "communication style", "Share of the messages that only acknowledge.",
             "users more often only acknowledge",
             lambda transcript, number: float(whole(transcript.texts[number], "acknowledgement", transcript.language))),
    _feature("variation of length", "communication style", "Coefficient of variation of the messages' numbers of words.",
             "lengths vary more", of_conversation=_variation, unit="ratio"),
    _feature("repetition", "communication style",
             f"Share of the messages with three words in a row that the user wrote more than {OFTEN} times.",
             "users repeat themselves more", of_conversation=_repeats),
    _feature("assistant's phrases", "communication style", "Share of the messages with a phrase of an assistant.",
             "users write more like an assistant", _listed("assistant phrase")),
    _feature("front loading", "information pattern", f"Share of the user's words in its first {OPENING} messages.",
             "more is stated at the front", of_conversation=_front, unit="share of words"),
    _feature("identifiers per message", "information pattern",
             "Mean number of codes, dates and addresses in the user's messages.", "more identifiers",
             lambda transcript, number: float(len(_IDENTIFIER.findall(transcript.texts[number]))), unit="identifiers"),
    _feature("opening length", "information pattern", "Number of words of the first message.", "a longer opening",
             of_conversation=_opening, unit="words"),
    _feature("uncertainty", "clarification", "Share of the messages with a hedge.", "users are less certain",
             _listed("hedges")),
    _feature("certainty", "clarification", "Share of the messages with a word of certainty.", "users are more certain",
             _listed("certain")),
    _feature("pushback", "clarification", "Share of the messages that reject what the assistant wrote.",
             "users push back more", _listed("pushback")),
    _feature("questions of clarification", "clarification", "Share of the messages that ask for an explanation.",
             "users ask for more explanation", _listed("clarify")),
    _feature("information seeking", "clarification", "Share of the messages with a question mark.",
             "users ask more", _asks),
    _feature("emotion", "error reaction", "Share of the messages with a word of annoyance or worry.",
             "users show more emotion", _listed("emotion")),
    _feature("accusation", "error reaction", "Share of the messages with a word of blame.", "users accuse more",
             _listed("accuse")),
    _feature("change of plan", "error reaction", "Share of the messages that leave a plan for another.",
             "users change their plan more", _listed("pivot")),
)  # fmt: skip
"""In the order of their dimensions: 8, 3, 5 and 3."""
DIMENSIONS: tuple[Family, ...] = ("communication style", "information pattern", "clarification", "error reaction")
