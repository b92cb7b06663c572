"""The rules by which the published script judged answers, in code of our own.

They differ from the paper's ("Let the LLMs Talk", WSDM 2024, section 2.5): every exact copy loses its first
word, because the overlap test drops words before it first looks. Here nothing crashes: where the script
divides a text that has no space left and stops, the test fails.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ..grounding import NO_ANSWER
from ..records import Span

Outcome: TypeAlias = Literal["refused", "accepted", "rejected"]

PUNCTUATION = ",.;:?!\"'"
"""What the script takes off both ends of an answer."""


@dataclass(frozen=True)
class Released:
    """What the script makes of an answer."""

    outcome: Outcome
    spans: tuple[Span, ...] = ()
    """What it stores, in the model's own case, with the place of the first match in any case."""
    in_background: bool = False
    """Of a rejected answer: whether it stands, as a whole and in this case, in the background."""

    @property
    def text(self) -> str:
        """The spans, a line each."""
        return "\n".join(span.text for span in self.spans)


def judge(answer: str, section: str, background: str = "") -> Released:
    """The script's verdict on an answer.

    In this order: any text that stands within the declared words is a refusal, the empty one and "I"
    included, and so is one that holds them or says "the text does not"; an overlap of the whole; an overlap
    of any sentence, the others dropped in silence; the background.
    """
    text = _bare(answer)
    if refuses(text):
        return Released("refused")
    whole = overlap(text, section)
    if whole is not None:
        return Released("accepted", (whole,))
    pieces = joined(sentences(text), section)
    spans = tuple(span for piece in pieces if (span := overlap(_bare(piece), section)) is not None)
    if spans:
        return Released("accepted", spans)
    return Released("rejected", in_background=bool(text) and text in background)


def refuses(text: str) -> bool:
    """Whether the script takes an answer without punctuation at its ends for a refusal."""
    return text in NO_ANSWER or NO_ANSWER in text or "the text does not" in text


def overlap(text: str, section: str) -> Span | None:
    """The first tail of the text that stands in the section, case ignored: at least its first word is lost.

    Words are dropped one by one at single spaces, up to half of them; so one word alone never passes, and
    of two only the second can.
    """
    lower_section = section.lower()
    for _ in range(len(text.split()) // 2):
        _, space, text = text.partition(" ")
        if not space:
            return None
        start = lower_section.find(text.lower())
        if start >= 0:
            return Span(text=text, start=start)
    return None


def _bare(text: str) -> str:
    return text.strip().strip(PUNCTUATION)


def joined(pieces: Iterable[str], section: str) -> list[str]:
    """Neighbouring sentences as one, joined by a space, as long as the section holds them so."""
    whole: list[str] = []
    for piece in pieces:
        if whole and (longer := f"{whole[-1].strip()} {piece.strip()}") in section:
            whole[-1] = longer
        else:
            whole.append(piece)
    return whole


LOOK_BACK = 100
"""Characters before a full stop that are looked at: enough for any abbreviation."""

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
"""Words that the script's English model takes for abbreviations, as far as texts of this kind have them."""
_STARTERS = frozenset(
    "a according after although as at but by for from he however his i if in it its many meanwhile on one our she "
    "since some that the their there these they this those we when while".split()
)
"""Words that begin a sentence behind an abbreviation or an ellipsis if they are written with a capital."""


def sentences(text: str) -> list[str]:
    """The sentences of a text by the rules of Punkt, the tokenizer (of NLTK) that the script splits with.

    Kiss and Strunk, "Unsupervised Multilingual Sentence Boundary Detection" (2006). A sentence ends at a full
    stop, a question mark or an exclamation mark before white space or a bracket or quotation mark, and never
    at a line break alone. The model that the script loads was trained; short lists stand in for what it learnt.
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
    return [piece for each in (*pieces, text[begin:]) if (piece := each.strip())]


def _ends(before: str, mark: re.Match[str]) -> bool:
    """Whether a mark ends a sentence: `before` is the end of what stands before it."""
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
