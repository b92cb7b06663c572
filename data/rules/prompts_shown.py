"""Words of an instruction that a message repeats, and why a model stopped writing, as the log has them."""

import re
from collections.abc import Iterator

from ..formats.dialogues import asides
from ..records import Conversation, Message
from ..text.languages import HAN
from .quotations import without_pasted

SHARED = 80
"""Least length in characters of a stretch of the instruction that a user's message repeats; Chinese counts threefold."""

SHARED_BY_ASSISTANT = 160
"""The same for the assistant, whose instruction may hold phrases that it is meant to say."""

_MARK = re.compile(
    r"<\|(?:im_start|im_end|im_sep|eot_id|start_header_id|end_header_id|endoftext|eos|system|user|assistant)\|>|\[/?INST\]|<</?SYS>>"
)
_UNFINISHED = re.compile(
    r"(?:[,，、;；:：(（\-–—]|\b(?:and|or|but|the|a|an|of|to|in|for|with|is|are|that|which|because|if|such as))\s*\Z",
    re.I,
)
_ENDS = re.compile(r"[.!?。！？…:;)\]}\"”’』」》*_`~|>\U0001f300-\U0001faff\u2600-\u27bf]\W*\Z")
_LENGTH = ("length", "max_tokens", "max_output_tokens", "max_token", "model_length")
LONG_TEXT = 200
"""Characters from which on a text that ends in the middle of a sentence seems cut off."""


def instructions(conversation: Conversation) -> list[str]:
    """The system messages of the log."""
    return [text for aside in asides(conversation) if isinstance(text := aside.get("system"), str) and text.strip()]


def repeated_instruction(text: str, given: list[str], least: int) -> str | None:
    """A stretch of an instruction that the text repeats, if it is long enough; None if it is not."""
    said = " ".join(text.split())
    for instruction in given:
        told = " ".join(instruction.split())
        enough = max(SHARED, min(least, len(told) * 9 // 10))  # of a short instruction nearly all
        if stretch := _shared(said.casefold(), told.casefold(), enough):
            start, length = stretch
            return said[start : start + length]
    return None


def _shared(a: str, b: str, least: int) -> tuple[int, int] | None:
    """Place in `a` and length of a stretch that both have, if it weighs enough."""
    piece = least // 6 if HAN.search(b) else least // 2  # a stretch of this weight holds such a piece whole
    at = 0
    while at + piece <= len(b):
        place = a.find(b[at : at + piece])
        if place < 0:
            at += piece // 2
            continue
        first, last = 0, piece
        while min(place, at) > first and a[place - first - 1] == b[at - first - 1]:
            first += 1
        while place + last < len(a) and at + last < len(b) and a[place + last] == b[at + last]:
            last += 1
        stretch = a[place - first : place + last]
        if len(stretch) + 2 * len(HAN.findall(stretch)) >= least:
            return place - first, len(stretch)
        at += last
    return None


def template_mark(text: str) -> str | None:
    """A mark of a chat template outside code; None if there is none."""
    match = _MARK.search(without_pasted(text))
    return match.group() if match else None


def told_reasons(message: Message) -> Iterator[str]:
    """Why the model stopped writing, as the record or the log has it."""
    for attempt in message.attempts[-1:]:
        if attempt.finish_reason:
            yield attempt.finish_reason
    for patch in message.extra.values():
        values = patch.get("values") if isinstance(patch, dict) else None
        reason = values.get("finish_reason") if isinstance(values, dict) else None
        if isinstance(reason, str):
            yield reason


def stopped_by_length(message: Message) -> str | None:
    """The reason in the log that says that the message was cut off at a limit; None if there is none."""
    return next((reason for reason in told_reasons(message) if reason.lower() in _LENGTH), None)


def seems_cut_off(text: str) -> str | None:
    """Why the text seems to end too soon: an open code block, or the middle of a sentence; None if it does not."""
    end = text.rstrip()
    if len(re.findall(r"^\s*(?:```|~~~)", end, re.MULTILINE)) % 2:
        return "a code block is not closed"
    last = end.rsplit("\n", 1)[-1]
    if re.match(r"\s*(?:[-*•|#>]|\d{1,2}[.)]|https?:)", last) and not _UNFINISHED.search(last):
        return None
    if _UNFINISHED.search(end) and len(end) >= LONG_TEXT // 2 and not end.endswith((":", "：")):
        return f"ends with {end[-30:]!r}"
    sentences = len(re.findall(r"[.!?。！？](?:\s|$|[\u4e00-\u9fff])", end))
    return f"ends with {end[-30:]!r}" if len(end) >= LONG_TEXT and sentences > 1 and not _ENDS.search(end) else None
