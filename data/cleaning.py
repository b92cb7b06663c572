"""What models put around what they say, taken off in one place and recorded."""

import re
from dataclasses import dataclass

REASONING = ("think", "thinking", "reasoning", "thought", "analysis", "scratchpad")
"""Tags that models wrap their reasoning in, as `<think> ... </think>`."""

LABELS = ("student", "teacher", "user", "assistant", "question", "answer", "q", "a", "学生", "老师", "问题", "回答")
"""Words that models put before what they say, as `Teacher: ...`."""

QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "«": "»", "「": "」", "『": "』", "`": "`"}
"""Opening quotation marks with their closing ones."""

_LABEL = re.compile(rf"\s*(?:\*\*)?(?:{'|'.join(LABELS)})(?:\*\*)?\s*[:：](?:\*\*)?\s*", re.IGNORECASE)


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
    removed: list[str] = []
    current = text.strip()
    while True:
        for name, step in (("reasoning", _without_reasoning), ("label", _without_label), ("quotes", _unquoted)):
            shorter = step(current).strip()
            if shorter != current:
                current = shorter
                if name not in removed:
                    removed.append(name)
                break
        else:
            return Cleaned(current, tuple(removed))


def _without_reasoning(text: str) -> str:
    """Without `<think>` blocks; what stands before a lone closing tag is reasoning too."""
    lowered = text.lower()
    if len(lowered) != len(text):  # a few letters change their length: offsets would not fit
        lowered = text
    for tag in REASONING:
        opening, closing = f"<{tag}>", f"</{tag}>"
        end = lowered.rfind(closing)
        if end >= 0:
            start = lowered.find(opening)
            if not 0 <= start < end:  # some servers swallow the opening tag
                start = 0
            return _blocks_removed(text, lowered, start, opening, closing)
        if lowered.startswith(opening):  # cut off inside its reasoning: nothing was said
            return ""
    return text


def _blocks_removed(text: str, lowered: str, start: int, opening: str, closing: str) -> str:
    """The text without each stretch from an opening to the next closing tag, from `start` on."""
    kept = [text[:start]]
    while True:
        end = lowered.find(closing, start)
        if end < 0:  # an opening tag without an end: the rest is reasoning
            return "".join(kept)
        behind = end + len(closing)
        start = lowered.find(opening, behind)
        if start < 0:
            # a further lone closing tag ends a block that began here
            last = lowered.rfind(closing)
            return "".join(kept) + text[max(behind, last + len(closing) if last >= behind else 0) :]
        kept.append(text[behind:start])


def _without_label(text: str) -> str:
    match = _LABEL.match(text)
    return text[match.end() :] if match and match.end() < len(text) else text


def _unquoted(text: str) -> str:
    """Without quotes that wrap the whole; quotes that only begin and end two quotations stay."""
    closing = QUOTES.get(text[:1])
    if closing is None or len(text) < 3 or not text.endswith(closing):
        return text
    inner = text[1:-1]
    return text if text[0] in inner or closing in inner or not inner.strip() else inner
