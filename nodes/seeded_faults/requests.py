"""Tasks of the assistants with seeded faults, in English and Chinese: their slots, and the values in messages."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ...data.text.languages import Language, language_of

_ZH = r"(?:\d+|[一二两三四五六七八九十]+)"
_SLOTS = (
    ("code", "the code", "编号", r"(?<![A-Za-z0-9])[A-Za-z]{2}\d{4}(?!\d)"),
    ("date", "the date", "日期", r"(?<!\d)\d{4}-\d{2}-\d{2}(?!\d)"),
    ("time", "the time", "时间", r"(?<!\d)\d{1,2}:\d{2}(?!\d)"),
    (
        "people",
        "the number of people",
        "人数",
        rf"(?<!\w)\d+ (?:people|persons|guests)\b|(?<![第每\d]){_ZH}\s?(?:个人|位|人)",
    ),
    ("days", "the number of days", "天数", rf"(?<!\w)\d+ days?\b|(?<![第每\d]){_ZH}\s?天"),
    ("budget", "the budget", "预算", rf"(?<!\w)\d+ (?:euros?|dollars?|pounds?)\b|{_ZH}\s?(?:元|块)"),
    ("age", "the age", "年龄", rf"(?<!\w)\d+ years? old\b|{_ZH}\s?岁"),
)
SLOTS: Mapping[str, re.Pattern[str]] = {slot: re.compile(pattern, re.IGNORECASE) for slot, *_, pattern in _SLOTS}
"""Patterns of the values that a message may contain."""

SLOT_NAMES: Mapping[Language, Mapping[str, str]] = {
    "en": {slot: name for slot, name, *_ in _SLOTS},
    "zh": {slot: name for slot, _, name, _ in _SLOTS},
}
"""The name of each value in a question."""


@dataclass(frozen=True)
class FaultyTask:
    """A task that the assistants with seeded faults can do."""

    words: Mapping[Language, str]
    """A pattern of the words that identify it."""
    needs: tuple[str, ...]
    """Names of `SLOTS`, in the order of the reply."""
    done: Mapping[Language, str]
    """The report once it is done, before the values."""


_ERRANDS = (
    (r"\b(?:gift|present)s?\b", "礼物|送给", "age budget date", "the gift has been ordered", "礼物已经订好"),
    (
        r"\b(?:trip|travel|holiday)\b",
        "旅游|旅行|行程|游玩|出游",
        "days people budget",
        "the trip has been planned",
        "行程已经安排好",
    ),
    (
        r"\b(?:table|restaurant|dinner)\b",
        "餐厅|餐馆|饭店|订位|吃饭",
        "date time people",
        "the table has been booked",
        "座位已经订好",
    ),
    (
        r"\b(?:parcel|package|delivery)\b",
        "包裹|快递",
        "code date time",
        "the parcel has been rescheduled",
        "包裹已经改期",
    ),
    (r"\b(?:meeting|room)\b", "会议", "date time people", "the room has been booked", "会议室已经订好"),
    (
        r"\b(?:booking|flight|ticket|train)\b",
        "航班|机票|车票|预订",
        "code date time",
        "the booking has been changed",
        "预订已经改好",
    ),
)
ERRANDS = tuple(
    FaultyTask({"en": english, "zh": chinese}, tuple(slots.split()), {"en": done, "zh": done_zh})
    for english, chinese, slots, done, done_zh in _ERRANDS
)


@dataclass(frozen=True)
class Request:
    """The request in a user's messages, as an assistant with seeded faults reads it."""

    messages: tuple[str, ...]
    language: Language
    errand: FaultyTask | None
    values: Mapping[str, str]
    """The last value of each slot that the user has named."""
    news: bool
    """Whether the last message has a new value, or is the first one."""

    @property
    def missing(self) -> list[str]:
        """Names of the needed slots without a value."""
        return [] if self.errand is None else [slot for slot in self.errand.needs if slot not in self.values]


def understood(messages: Iterable[str]) -> Request:
    """The request in these messages of the user."""
    texts = list(messages)
    whole = "\n".join(texts)
    language: Language = language_of(whole) or "en"
    errand = next((task for task in ERRANDS if re.search(task.words[language], whole, re.IGNORECASE)), None)
    values: dict[str, str] = {}
    news = len(texts) < 2
    for number, text in enumerate(texts):
        for slot, pattern in SLOTS.items():
            for value in pattern.findall(text):
                news |= number == len(texts) - 1 and values.get(slot) != value
                values[slot] = value
    # If a later message has no value, it is not an errand: then each message is a wish.
    if any(not any(pattern.search(text) for pattern in SLOTS.values()) for text in texts[1:]):
        errand = None
    return Request(tuple(texts), language, errand, values, news)
