"""How users ask."""

import re

from ..speech import Speech
from .measure import Measure, mean_of_messages

_MARKS = re.compile(r"[?？]+")


def _asks(speech: Speech, number: int) -> float:
    return _MARKS.search(speech.user[number]) is not None


def _asks_twice(speech: Speech, number: int) -> float:
    return len(_MARKS.findall(speech.user[number])) > 1


MEASURES = (
    Measure(
        name="questions",
        family="questions",
        unit="share of messages",
        definition="Share of messages with a question mark.",
        source="ours",
        direction="users ask more",
        of=mean_of_messages(_asks),
        of_text=_asks,
    ),
    Measure(
        name="several questions",
        family="questions",
        unit="share of messages",
        definition="Share of messages with question marks at two or more places.",
        source="ours",
        direction="users ask several things at once",
        of=mean_of_messages(_asks_twice),
        of_text=_asks_twice,
    ),
)
