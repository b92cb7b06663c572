"""The rules by which the published script judged answers, in code of our own.

They differ from the paper's ("Let the LLMs Talk", WSDM 2024, section 2.5): every exact copy loses its first
word, because the overlap test drops words before it first looks. Here nothing crashes: where the script
divides a text that has no space left and stops, the test fails.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from ..grounding import NO_ANSWER
from ..records import Span
from ..text.sentences import sentences

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
    included, and so is one that says "the text does not"; an overlap of the whole; an overlap of any
    sentence, the others dropped in silence; the background.
    """
    text = answer.strip().strip(PUNCTUATION).strip()
    if text in NO_ANSWER or "the text does not" in text:
        return Released("refused")
    whole = overlap(text, section)
    if whole is not None:
        return Released("accepted", (whole,))
    parts = [span for part in sentences(text) if (span := overlap(part.strip(PUNCTUATION), section)) is not None]
    if parts:
        return Released("accepted", tuple(parts))
    return Released("rejected", in_background=bool(text) and text in background)


def overlap(text: str, section: str) -> Span | None:
    """The first tail of the text that stands in the section, case ignored: at least its first word is lost.

    Words are dropped one by one at single spaces, up to half of them; so one word alone never passes, and
    of two only the second can.
    """
    there = section.lower()
    for _ in range(len(text.split(" ")) // 2):
        _, space, text = text.partition(" ")
        if not space:
            return None
        at = there.find(text.lower())
        if at >= 0:
            return Span(text=text, start=at)
    return None
