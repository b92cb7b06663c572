"""What models put around what they say, taken off in one place and recorded."""

import re
from dataclasses import dataclass
from itertools import pairwise

REASONING = ("think", "thinking", "reasoning", "thought", "analysis", "scratchpad")
"""Tags that models wrap their reasoning in, as `<think> ... </think>`."""

LABELS = (
    "student",
    "teacher",
    "user",
    "assistant",
    "question",
    "answer",
    "q",
    "a",
    "学生",
    "老师",
    "用户",
    "助手",
    "问题",
    "回答",
)
"""Words that models put before what they say, as `Teacher: ...`."""

QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "«": "»", "「": "」", "『": "』", "`": "`"}
"""Opening quotation marks with their closing ones."""

_LABEL = re.compile(rf"\s*(?:\*\*)?(?:{'|'.join(LABELS)})(?:\*\*)?\s*[:：](?:\*\*)?\s*", re.IGNORECASE)
_TAG = re.compile(rf"<(/?)(?:{'|'.join(REASONING)})>", re.IGNORECASE)


@dataclass(frozen=True)
class Cleaned:
    """A text without its wrapping, and what was taken off: `reasoning`, `label`, `quotes`."""

    text: str
    removed: tuple[str, ...] = ()


def clean(text: str) -> Cleaned:
    """The text as it was meant: without reasoning blocks, speaker label and wrapping quotes.

    A text that is nothing but a label or quotes keeps them. Cleaning twice changes nothing more;
    the time grows with the length of the text alone.
    """
    said = _without_reasoning(text)
    removed = ["reasoning"] if said != text else []
    start, end = _stripped(said, 0, len(said))
    while True:  # by offsets: a row of thousands of labels is not copied thousands of times
        label = _LABEL.match(said, start, end)
        if label and label.end() < end:
            start, end = _stripped(said, label.end(), end)
            removed.append("label")
        elif _is_quoted(said, start, end):
            start, end = _stripped(said, start + 1, end - 1)
            removed.append("quotes")
        else:
            return Cleaned(said[start:end], tuple(dict.fromkeys(removed)))


def _without_reasoning(text: str) -> str:
    """Without `<think>` blocks. What stands before a lone closing tag, and behind a lone opening one, is
    reasoning too: some servers swallow the opening tag, and a reply can be cut off inside."""
    kept: list[str] = []
    inside, behind, begins = False, 0, 0
    for tag in _TAG.finditer(text):
        if tag.group(1) and not inside:
            kept.clear()
        elif not tag.group(1) and not inside:
            kept.append(text[behind : tag.start()])
        inside = not tag.group(1)
        begins, behind = tag.span()
    if not inside:
        kept.append(text[behind:])
    elif not _is_wrapping("".join(kept)):  # a tag amid the text is the text's own; one at its beginning was cut off
        kept[-1] += text[begins:]
    # Words are never glued together, so that no tag arises from the halves of two.
    apart = (
        f" {piece}" if before and piece and not (before[-1].isspace() or piece[0].isspace()) else piece
        for before, piece in pairwise(["", *kept])
    )
    return "".join(apart)


def _is_wrapping(text: str) -> bool:
    """Whether there is nothing but labels, opening quotes and white space."""
    at = 0
    while at < len(text):
        label = _LABEL.match(text, at)
        if label:
            at = label.end()
        elif text[at].isspace() or text[at] in QUOTES:
            at += 1
        else:
            return False
    return True


def _stripped(text: str, start: int, end: int) -> tuple[int, int]:
    """The offsets without white space at both ends."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def _is_quoted(text: str, start: int, end: int) -> bool:
    """Whether quotes wrap the whole; quotes that only begin and end two quotations do not."""
    if end - start < 3:
        return False
    opening, closing = text[start], QUOTES.get(text[start], "")
    if closing != text[end - 1]:
        return False
    inner = (start + 1, end - 1)
    within = text.find(opening, *inner) >= 0 or text.find(closing, *inner) >= 0
    return not within and _stripped(text, *inner)[0] < end - 1
