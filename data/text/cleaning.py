"""Cleaning of models' replies: reasoning, labels and quotes around a text are removed, and the removal recorded."""

import re
from dataclasses import dataclass
from itertools import pairwise

REASONING = ("think", "thinking", "reasoning", "thought", "analysis", "scratchpad")
"""Tags around a model's reasoning, as in `<think> ... </think>`."""

LABELS = (*"student teacher user assistant question answer q a 学生 老师 用户 助手 问题 回答".split(),)
"""Labels that models put before a text, as in `Teacher: ...`."""

QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "«": "»", "「": "」", "『": "』", "`": "`"}
"""Opening quotation marks with their closing ones."""

_LABEL = re.compile(rf"\s*(?:\*\*)?(?:{'|'.join(LABELS)})(?:\*\*)?\s*[:：](?:\*\*)?\s*", re.IGNORECASE)
_TAG = re.compile(rf"<(/?)(?:{'|'.join(REASONING)})>", re.IGNORECASE)


@dataclass(frozen=True)
class Cleaned:
    """A cleaned text, and what was removed: `reasoning`, `label`, `quotes`."""

    text: str
    removed: tuple[str, ...] = ()


def clean(text: str) -> Cleaned:
    """The text without reasoning blocks, speaker label and surrounding quotes.

    A text that consists only of a label or quotes keeps them. Cleaning a cleaned text changes nothing.
    """
    remaining = _without_reasoning(text)
    removed = ["reasoning"] if remaining != text else []
    remaining = remaining.strip()
    while True:
        label = _LABEL.match(remaining)
        if label and label.end() < len(remaining):
            remaining = remaining[label.end() :].strip()
            removed.append("label")
        elif _is_quoted(remaining):
            remaining = remaining[1:-1].strip()
            removed.append("quotes")
        else:
            return Cleaned(remaining, tuple(dict.fromkeys(removed)))


def _without_reasoning(text: str) -> str:
    """The text without `<think>` blocks.

    Text before an unmatched closing tag or after an unmatched opening tag is reasoning too: some servers drop the
    opening tag, and a reply can be cut off inside.
    """
    if "<" not in text:
        return text
    pieces: list[str] = []
    inside, after_tag, before_tag = False, 0, 0
    for tag in _TAG.finditer(text):
        if tag.group(1) and not inside:
            pieces.clear()
        elif not tag.group(1) and not inside:
            pieces.append(text[after_tag : tag.start()])
        inside = not tag.group(1)
        before_tag, after_tag = tag.span()
    if not inside:
        pieces.append(text[after_tag:])
    elif not _is_wrapping(
        "".join(pieces)
    ):  # a tag within the text belongs to it; only after one at its start is the rest reasoning
        pieces[-1] += text[before_tag:]
    # A space keeps pieces apart, so that two halves cannot form a new tag.
    separated = (
        f" {piece}" if previous and piece and not (previous[-1].isspace() or piece[0].isspace()) else piece
        for previous, piece in pairwise(["", *pieces])
    )
    return "".join(separated)


def _is_wrapping(text: str) -> bool:
    """Whether the text has nothing but labels, quotation marks and white space."""
    return all(character in QUOTES or character.isspace() for character in _LABEL.sub("", text))


def _is_quoted(text: str) -> bool:
    """Whether one pair of quotes surrounds the whole text; those of two separate quotations do not."""
    inner = text[1:-1]
    if not inner.strip() or text[-1] != QUOTES.get(text[0]):
        return False
    return text[0] not in inner and text[-1] not in inner
