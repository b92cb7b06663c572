"""Slots: places, dates, amounts and the like in a turn, which a new scenario may fill with other values.

A value from the source conversation's task or profile is replaced where the replacement is certain: that task contains
exactly this value of its kind, and the new task exactly one other. Where it is not certain, the turn does not fit. A log
has neither task nor profile: there all statements of its user count.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from .names import named_in

# Bounded, so that a text of digits takes no time of its square.
_ZH = r"(?:\d[\d,.]{0,15}|[一二两三四五六七八九十百千万半]{1,8})"
_EN = r"(?:\d[\d,.]{0,15}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_MONTHS = "January|February|March|April|May(?! (?:I|we|you|it|he|she|they)\\b)|June|July|August|September|October|November|December"
_KINDS = {
    "amount": rf"(?<!第){_ZH}\s?(?:万元|千元|百元|美元|欧元|元|块钱|块)|[$€£¥]\s?\d[\d,.]{0, 15}k?"
    rf"|\b{_EN}\s(?:dollars|euros|pounds|yuan|USD|EUR|RMB)\b",
    "hours": rf"(?<![第每\d]){_ZH}\s?(?:个小时|小时|个钟头)|\b{_EN}[ -]hours?\b",
    "days": rf"(?<![第每\d]){_ZH}\s?天|\b{_EN}[ -](?:days?|nights?)\b(?![ -]old)",
    "weeks": rf"(?<![第每\d]){_ZH}\s?(?:周|个星期)|\b{_EN}[ -]weeks?\b(?![ -]old)",
    "months": rf"(?<![第每\d]){_ZH}\s?个月|\b{_EN}[ -]months?\b(?![ -]old)",
    "people": rf"{_ZH}\s?(?:个人|口人|位客人|人)|\b{_EN} (?:people|persons|guests|friends)\b",
    "age": rf"{_ZH}\s?岁|\b\d+[ -]years?[ -]old\b",
    "festival": r"春节|元旦|国庆节?|五一|中秋节?|清明节?|端午节?|圣诞节?|情人节|母亲节|父亲节|儿童节|教师节|妇女节|寒假|暑假"
    r"|\b(?:Christmas|Easter|Thanksgiving|New Year|Halloween|Valentine's Day)\b",
    "season": r"[春夏秋冬][天季]",
    "date": rf"(?:\d{{4}}年)?\d{{1,2}}月(?:\d{{1,2}}[日号])?|[一二三四五六七八九十]{{1,2}}月[一二三四五六七八九十]{{1,3}}[日号]|\b\d{{4}}-\d\d-\d\d\b"
    rf"|\b\d{{1,2}}(?:st|nd|rd|th)?(?: of)? (?:{_MONTHS})\b|\b(?:{_MONTHS})(?:\s\d{{1,2}}(?:st|nd|rd|th)?)?\b",
    "email": r"\b[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,4}",
    "clock": r"\b\d{1,2}:\d\d\b(?:\s?[ap]m\b)?|\b\d{1,2}\s?[ap]m\b",
    "code": r"\b(?=[A-Z-]{0,9}\d)(?=[A-Z\d-]{4})[A-Z\d-]{0,8}[A-Z][A-Z\d-]{1,9}\b|\b\d{6,12}\b",
    "weekday": r"周[一二三四五六日末]|星期[一二三四五六日天]|\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b",
}
_VALUE = re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _KINDS.items()))


@dataclass(frozen=True)
class SlotValue:
    """A value in a text, with its kind and place."""

    kind: str
    text: str
    start: int


@dataclass(frozen=True)
class TurnContext:
    """The context in which a turn is used."""

    wish: str
    """What the user wants."""
    person: str
    """The scenario's facts about the user."""
    talk: str
    """All messages so far."""
    own: str
    """The role's own messages so far."""
    stated: str = ""
    """All that the user of a log states, later messages included."""


@dataclass(frozen=True)
class FilledText:
    """A text with its slots filled, and the pairs of replaced and new values."""

    text: str
    changed: tuple[tuple[str, str], ...] = ()


@lru_cache(maxsize=20_000)
def values_in(text: str) -> tuple[SlotValue, ...]:
    """Amounts, times, numbers of people, ages, dates, places and persons in order; none overlaps another."""
    values = [SlotValue(str(match.lastgroup), match.group(), match.start()) for match in _VALUE.finditer(text)]
    taken = {place for value in values for place in range(value.start, value.start + len(value.text))}
    for name in named_in(text):
        if taken.isdisjoint(range(name.start, name.start + len(name.text))):
            values.append(SlotValue(name.kind, name.text, name.start))
    return tuple(sorted(values, key=lambda value: value.start))


def filled(text: str, context: TurnContext, donor: TurnContext, *, follows: bool) -> FilledText | None:
    """The text with its slots filled for a context; None if an unfitting value has no certain replacement.

    `donor`: the context in its source conversation. `follows`: whether this role's last turn is from the same source
    conversation, so that new values continue that turn.
    """
    own_text = "\n".join((context.wish, context.person, context.talk))
    donor_text = "\n".join((donor.wish, donor.person, donor.talk))
    against = "" if context.wish == donor.wish else context.wish  # under the same task its values stood already
    if donor.stated:
        against = "\n".join((against, context.person))  # what a scenario holds, a log's user does not contradict
    changed: list[tuple[SlotValue, str]] = []
    for value in values_in(text):
        if value.text in own_text:
            continue
        if other := _replacement(value, context, donor):
            changed.append((value, other))
        elif value.text in donor_text or _of_kind(value.kind, against):
            return None  # it refers to a message or fact of another conversation, or contradicts the task
        elif not follows and _of_kind(value.kind, context.own):
            return None  # this role has named another one
    for value, other in reversed(changed):
        text = text[: value.start] + other + text[value.start + len(value.text) :]
    return FilledText(text, tuple((value.text, other) for value, other in changed))


def _replacement(value: SlotValue, context: TurnContext, donor: TurnContext) -> str:
    """The value in the new task or profile that replaces the source's; empty if it is not certain."""
    pairs = [(context.wish, donor.wish), (context.person, donor.person)]
    if donor.stated:
        pairs.append(("\n".join((context.wish, context.person)), donor.stated))
    for own_text, donor_text in pairs:
        candidates = _of_kind(value.kind, own_text)
        if len(candidates) == 1 and _of_kind(value.kind, donor_text) == {value.text}:
            return candidates.pop()
    return ""


def _of_kind(kind: str, text: str) -> set[str]:
    return {value.text for value in values_in(text) if value.kind == kind}
