"""Repeated thanks and goodbyes at the end of a conversation."""

import re
from collections.abc import Iterator, Sequence

from ..records import Message

LOOP = 4
"""Messages of thanks and goodbyes in a row, of both sides, that are a loop."""

WORDS = 45
"""Most words of a message of thanks; each Chinese character counts as one."""

_COURTESY = re.compile(
    r"\b(?:thanks?|thank you|thx|cheers|appreciated?|you(?:['’]re| are) (?:very |most |so )?welcome|my pleasure|no problem|anytime"
    r"|good ?bye|bye(?:-bye)?|see you|take care|have a (?:great|good|nice|lovely|wonderful|fantastic|safe|pleasant)|enjoy your"
    r"|all the best|best of luck|good luck|same to you|you too|until next time|farewell)\b"
    r"|谢谢|感谢|多谢|不客气|不用谢|再见|拜拜|祝您|祝你|很高兴(?:能)?帮|回头见",
    re.IGNORECASE,
)
_CONTENT = re.compile(r"[?？]|```|\d{2,}|^\s*(?:[-*•]|\d{1,2}[.)])\s", re.MULTILINE)
BESIDES = 15
"""Most words of a user's sentences that have no thanks or goodbye in them: more are news."""

_SENTENCE = re.compile(r"[^.!?。！？\n]+")
_HAN = re.compile(r"[\u4e00-\u9fff]")


def is_courtesy(text: str) -> bool:
    """Whether a text is thanks, a goodbye or an answer to one, and nothing else of weight."""
    return 0 < _words(text) <= WORDS and _COURTESY.search(text) is not None and _CONTENT.search(text) is None


def _closes(message: Message) -> bool:
    """Whether a message is courtesy; a user's with news besides is not."""
    if not is_courtesy(message.text):
        return False
    besides = (part for part in _SENTENCE.findall(message.text) if not _COURTESY.search(part))
    return message.role == "assistant" or sum(map(_words, besides)) <= BESIDES


def _words(text: str) -> int:
    return len(_HAN.sub(" x ", text).split())


def loops(messages: Sequence[Message]) -> Iterator[tuple[int, int]]:
    """First message and length of each run of thanks and goodbyes that both sides take part in."""
    first = 0
    while first < len(messages):
        last = first
        while last < len(messages) and _closes(messages[last]):
            last += 1
        if last - first >= LOOP and len({message.role for message in messages[first:last]}) == 2:
            yield first, last - first
        first = max(last, first + 1)
