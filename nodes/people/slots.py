"""Slots: places, dates, amounts and the like in a turn, which a new scenario may fill otherwise than the donor's did.

A value that comes from the donor's task or profile is replaced where it is certain what stands for it: the donor's task
holds that one value of its kind, and so does ours another. Where it is not certain, the turn does not fit.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from .names import named_in

# Bounded, so that a text of digits takes no time of its square.
_ZH = r"(?:\d[\d,.]{0,15}|[一二两三四五六七八九十百千万半]{1,8})"
_EN = r"(?:\d[\d,.]{0,15}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
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
    "date": rf"\d{{1,2}}月(?:\d{{1,2}}[日号])?|\b(?:{_MONTHS})(?:\s\d{{1,2}})?\b",
    "weekday": r"周[一二三四五六日末]|星期[一二三四五六日天]|\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b",
}
_VALUE = re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _KINDS.items()))


@dataclass(frozen=True)
class Value:
    """A value in a text, with its kind and place."""

    kind: str
    text: str
    start: int


@dataclass(frozen=True)
class Known:
    """What is known where a turn is said."""

    wish: str
    """What the user wants."""
    person: str
    """What the scenario tells about the user."""
    talk: str
    """Everything that was said so far."""
    own: str
    """What the side itself said so far."""


@dataclass(frozen=True)
class Filled:
    """A text with its slots filled, and what was put for what."""

    text: str
    changed: tuple[tuple[str, str], ...] = ()


@lru_cache(maxsize=20_000)
def values_in(text: str) -> tuple[Value, ...]:
    """Amounts, times, numbers of people, ages, dates, places and persons in order; none overlaps another."""
    found = [Value(str(match.lastgroup), match.group(), match.start()) for match in _VALUE.finditer(text)]
    taken = {place for value in found for place in range(value.start, value.start + len(value.text))}
    for name in named_in(text):
        if taken.isdisjoint(range(name.start, name.start + len(name.text))):
            found.append(Value(name.kind, name.text, name.start))
    return tuple(sorted(found, key=lambda value: value.start))


def filled(text: str, known: Known, donor: Known, *, follows: bool) -> Filled | None:
    """The text as it fits what is known; None if one of its values does not, and nothing certain stands for it.

    `donor`: what was known where it was said first. `follows`: whether this side's last turn was of the same
    conversation, so that values which the donor brings in go on with what it said.
    """
    ours = "\n".join((known.wish, known.person, known.talk))
    theirs = "\n".join((donor.wish, donor.person, donor.talk))
    against = "" if known.wish == donor.wish else known.wish  # under the same task its values stood already
    changed: list[tuple[Value, str]] = []
    for value in values_in(text):
        if value.text in ours:
            continue
        if other := _replacement(value, known, donor):
            changed.append((value, other))
        elif value.text in theirs or _of_kind(value.kind, against):
            return None  # it speaks of what was said or given elsewhere, or against the task
        elif not follows and _of_kind(value.kind, known.own):
            return None  # this side has named another one
    for value, other in reversed(changed):
        text = text[: value.start] + other + text[value.start + len(value.text) :]
    return Filled(text, tuple((value.text, other) for value, other in changed))


def _replacement(value: Value, known: Known, donor: Known) -> str:
    """What stands in our task or profile for a value of the donor's; empty if that is not certain."""
    for ours, theirs in ((known.wish, donor.wish), (known.person, donor.person)):
        wanted = _of_kind(value.kind, ours)
        if len(wanted) == 1 and _of_kind(value.kind, theirs) == {value.text}:
            return wanted.pop()
    return ""


def _of_kind(kind: str, text: str) -> set[str]:
    return {value.text for value in values_in(text) if value.kind == kind}
