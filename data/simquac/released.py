"""The published script's rules for judging answers, reimplemented.

They differ from the paper's rules ("Let the LLMs Talk", WSDM 2024, section 2.5). Every exact copy loses its first word,
because the overlap test drops a word before its first search. If no space is left in a text, the script crashes; here
the test fails instead.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ..grounding import NO_ANSWER
from ..records import Span

ReleasedOutcome: TypeAlias = Literal["refused", "accepted", "rejected"]

PUNCTUATION = ",.;:?!\"'"
"""What the script strips from both ends of an answer."""


@dataclass(frozen=True)
class ScriptVerdict:
    """The script's verdict on an answer."""

    outcome: ReleasedOutcome
    spans: tuple[Span, ...] = ()
    """The stored spans: the model's text with its own case, at the first match in any case."""
    in_background: bool = False
    """For a rejected answer: whether the background contains the whole answer, case included."""

    @property
    def text(self) -> str:
        """The spans, one a line."""
        return "\n".join(span.text for span in self.spans)


def judge(answer: str, section: str, background: str = "") -> ScriptVerdict:
    """The script's verdict on an answer.

    The tests, in this order:

    - a refusal is any text that is part of `NO_ANSWER` (even "" and "I"), contains it, or contains "the text does not";
    - the overlap of the whole answer;
    - the overlap of each sentence, where sentences without overlap are dropped silently;
    - the background.
    """
    text = _bare(answer)
    if refuses(text):
        return ScriptVerdict("refused")
    span_of_answer = overlap(text, section)
    if span_of_answer is not None:
        return ScriptVerdict("accepted", (span_of_answer,))
    pieces = joined(sentences(text), section)
    spans = tuple(span for piece in pieces if (span := overlap(_bare(piece), section)) is not None)
    if spans:
        return ScriptVerdict("accepted", spans)
    return ScriptVerdict("rejected", in_background=bool(text) and text in background)


def refuses(text: str) -> bool:
    """Whether the script treats an answer, stripped of punctuation at its ends, as a refusal."""
    return text in NO_ANSWER or NO_ANSWER in text or "the text does not" in text


def overlap(text: str, section: str) -> Span | None:
    """The first tail of the text that the section contains, case ignored.

    The first word is always lost. Words are dropped one by one at single spaces, up to half of them. A single word
    therefore never passes, and of two words only the second can.
    """
    lower_section = section.lower()
    starts = [match.end() for match in re.finditer(" ", text)][: len(text.split()) // 2]
    # What holds a tail holds all shorter ones, so the longest is searched for by halves.
    first = bisect_left(starts, True, key=lambda start: text[start:].lower() in lower_section)
    if first == len(starts):
        return None
    tail = text[starts[first] :]
    return Span(text=tail, start=lower_section.find(tail.lower()))


def _bare(text: str) -> str:
    return text.strip().strip(PUNCTUATION)


def joined(pieces: Iterable[str], section: str) -> list[str]:
    """Neighbouring sentences joined by a space, as long as the section contains the joined text."""
    joined_pieces: list[str] = []
    for piece in pieces:
        if joined_pieces and (longer := f"{joined_pieces[-1].strip()} {piece.strip()}") in section:
            joined_pieces[-1] = longer
        else:
            joined_pieces.append(piece)
    return joined_pieces


LOOK_BACK = 100
"""Characters before a full stop that are examined: enough for any abbreviation."""

_END = re.compile(r"""[.?!](?=[)"'\]};:*@({\[]|\s+(\S+))""")
_CLOSING = re.compile(r"""["')\]}]+(?=\s|--|$)""")
_BETWEEN_WORDS = re.compile(r"""[\s()\[\]{}"';:*@!?]|--|\.{2,}""")
_LETTERS = re.compile(r"[a-z](?:\.[a-z])+|ph\.d|w\.va")
_NUMBER = re.compile(r"-?[.,]?\d[\d,.-]*")
_ABBREVIATIONS = frozenset(
    "adm ave bros capt chg cie co col corp cos ct dist dr ft gen gov inc jr lt ltd maj messrs mg mr mrs ms prof rep "
    "reps rev sen sgt sr st vs yr jan feb mar apr aug sep sept oct nov dec mon tues wed thurs fri sat "
    "ala ariz ark calif colo conn del fla ga ill ind kan ky mass md mich minn miss neb nev okla ore pa tenn tex va "
    "vt wash wis".split()
)
"""Words that the script's English model treats as abbreviations, limited to those in texts of this kind."""
_STARTERS = frozenset(
    "a according after although as at but by for from he however his i if in it its many meanwhile on one our she "
    "since some that the their there these they this those we when while".split()
)
"""Words that begin a sentence after an abbreviation or an ellipsis if they are capitalised."""


def sentences(text: str) -> list[str]:
    """The sentences of a text by the rules of Punkt, the NLTK tokenizer that the script uses.

    Kiss and Strunk, "Unsupervised Multilingual Sentence Boundary Detection" (2006). A sentence ends at a full stop,
    question mark or exclamation mark before white space, a bracket or a quotation mark. A mere line break does not end
    it. The script loads a trained model; here short lists replace it.
    """
    pieces: list[str] = []
    begin = 0
    for mark in _END.finditer(text):
        if mark.start() < begin or not _ends(text[max(begin, mark.start() - LOOK_BACK) : mark.start()], mark):
            continue
        closing = _CLOSING.match(text, mark.end())
        end = closing.end() if closing else mark.end()
        pieces.append(text[begin:end])
        begin = end
    return [sentence for piece in (*pieces, text[begin:]) if (sentence := piece.strip())]


def _ends(before: str, mark: re.Match[str]) -> bool:
    """Whether a punctuation mark ends a sentence; `before` is the text before it, at most `LOOK_BACK` characters."""
    if mark[0] != ".":
        return True
    following = mark[1] or ""
    starts = following[:1].isupper() and _bare(following).lower() in _STARTERS
    if before.endswith("."):
        return starts
    word = _BETWEEN_WORDS.split(before)[-1].rpartition("-")[2].lower()
    if len(word) == 1 and word.isalpha():
        return starts or not following[:1].isalpha()
    if word in _ABBREVIATIONS or _LETTERS.fullmatch(word):
        return starts
    return not (_NUMBER.fullmatch(word) and following[:1].islower())
