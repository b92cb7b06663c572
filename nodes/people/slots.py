"""Slots: places, dates, amounts and the like in a turn, which a new scenario may fill with other values.

A value from the source conversation's task or profile is replaced where its task contains exactly this value of its
kind, and the new task exactly one other; else the turn does not fit. A log has neither task nor profile: there all
statements of its user count. A turn with an order number, a phone number, a card or an address that the scenario lacks
does not fit: nobody says another person's.
"""

import re
import warnings
from functools import lru_cache
from typing import NamedTuple

from ...data.text.languages import language_of
from ...data.text.words import segmentation
from ...errors import of_extra

# `data.text.values` reads values to compare them, these are replaced where they stand: in people's messages of the
# open data the two agree on 73 of 764 values.
# Bounded, so that a text of digits takes no time of its square.
_ZH = r"(?:\d[\d,.]{0,15}|[一二两三四五六七八九十百千万半]{1,8})"
_EN = r"(?:\d[\d,.]{0,15}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_MONTHS = "January|February|March|April|May(?! (?:I|we|you|it|he|she|they)\\b)|June|July|August|September|October|November|December"
_OUTSIDE, _BEHIND = r"(?<![A-Za-z\d])", r"(?![A-Za-z\d])"
_KINDS = {
    "amount": rf"(?<!第){_ZH}\s?(?:万元|千元|百元|美元|欧元|元|块钱|块)|[$€£¥]\s?\d[\d,.]{{0,15}}k?"
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
    "card": rf"{_OUTSIDE}(?:\d{{4}}[ -]?){{3}}\d{{1,7}}{_BEHIND}|{_OUTSIDE}[A-Z]{{2}}\d{{2}}(?: ?[A-Z\d]{{4}}){{2,7}}(?: ?[A-Z\d]{{1,3}})?{_BEHIND}",
    "phone": rf"{_OUTSIDE}(?!\d{{1,2}}[./-]\d{{1,2}}[./-])(?:\+\d{{1,3}}[ .-]?\(?|\(?0)\d{{1,4}}\)?(?:[ ./-]?\d){{5,12}}{_BEHIND}"
    rf"|{_OUTSIDE}(?:\(?\d{{3}}\)?[ .-]\d{{3}}[ .-]\d{{4}}|\d{{3}}-\d{{4}}|1[3-9]\d{{9}}|\d{{3,4}}-\d{{7,8}}){_BEHIND}",
    "code": rf"{_OUTSIDE}(?=[A-Z-]{{0,9}}\d)(?=[A-Z\d-]{{4}})[A-Z\d-]{{0,8}}[A-Z][A-Z\d-]{{1,9}}{_BEHIND}|{_OUTSIDE}\d{{6,12}}{_BEHIND}",
    "weekday": r"周[一二三四五六日末]|星期[一二三四五六日天]|\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b",
}
# A number that is short, or in small letters, is one by the word before it.
_INTRODUCED = re.compile(
    r"(?:\b(?:order|booking|reservation|confirmation|reference|customer|account|ticket|invoice|tracking|member(?:ship)?)"
    r"(?:[- ]?(?:number|no\.?|id|code|pin)|(?= #| \d{4}))|\b(?:code|number)|[单编]号|订单号?|[预订确认]码|会员号|账号|护照号|#)"
    r"(?:\s?(?:is|was|是|为|[:：=]))?\s{0,2}#?(?P<value>(?=[a-z-]{0,19}\d)[a-z\d][a-z\d-]{2,19})(?![a-z\d])",
    re.IGNORECASE,
)
_OWN_KINDS = frozenset({"email", "card", "phone", "code"})
"""Kinds of values that are one person's own."""
_CAPITALS = re.compile(r"(?<=[\w,;:] )[A-Z][\w'’-]+(?:\s[A-Z][\w'’-]+)*")
_PLACED = re.compile(r"\b(?:to|in|at|from|near|around|visit|visiting|of)\s$", re.IGNORECASE)
_NO_NAMES = frozenset(
    """I AI OK TV Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March April May June July
    August September October November December""".split()
)
_MOST = 5_000
"""Characters of a text in which names are looked for: `jieba.posseg` is slow on odd ones."""
_CLASSES = {"nr": "person", "nrfg": "person", "nrt": "person", "ns": "place", "nt": "person"}
"""Its classes of names: of persons, places, organisations."""
_VALUE = re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _KINDS.items()))


class Span(NamedTuple):
    """A name, or another value, in a text."""

    kind: str
    """Of a name `place`, or `person` for any other."""
    text: str
    start: int


class Context(NamedTuple):
    """What is known where a turn is used, or where it was said first: texts, `talk` of all messages, `own` of the user's."""

    wish: str
    person: str
    talk: str
    own: str = ""
    stated: str = ""
    """All that the user of a log states, later messages included."""


class FilledText(NamedTuple):
    """A text with its slots filled, and the pairs of replaced and new values."""

    text: str
    changed: tuple[tuple[str, str], ...] = ()


def names_in(text: str) -> tuple[Span, ...]:
    """Names of places, persons and organisations at the beginning of a text, in order; some are missed, some false.

    In English these are words with a capital inside a sentence, in Chinese those that `jieba.posseg` tags (extra `zh`).
    """
    text = text[:_MOST]
    names: list[Span] = []
    if language_of(text) != "zh":
        for match in _CAPITALS.finditer(text):
            if match.group() not in _NO_NAMES:
                kind = "place" if _PLACED.search(text[: match.start()]) else "person"
                names.append(Span(kind, match.group(), match.start()))
        return tuple(names)
    segmentation()  # which loads jieba without its log
    with warnings.catch_warnings(action="ignore"):
        tagger = of_extra("jieba.posseg", "zh").dt
    start = 0
    for pair in tagger.cut(text):
        if pair.flag in _CLASSES and len(pair.word) > 1:
            names.append(Span(_CLASSES[pair.flag], pair.word, start))
        start += len(pair.word)
    return tuple(names)


@lru_cache(maxsize=20_000)
def values_in(text: str) -> tuple[Span, ...]:
    """Amounts, times, numbers of people, ages, dates, places and persons in order; none overlaps another."""
    values: list[Span] = []
    taken: set[int] = set()
    found = [Span(str(match.lastgroup), match.group(), match.start()) for match in _VALUE.finditer(text)]
    codes = (Span("code", match["value"], match.start("value")) for match in _INTRODUCED.finditer(text))
    for value in (*found, *codes, *names_in(text)):
        place = range(value.start, value.start + len(value.text))
        if taken.isdisjoint(place):
            values.append(value)
            taken.update(place)
    return tuple(sorted(values, key=lambda value: value.start))


def filled(text: str, here: Context, there: Context, *, follows: bool) -> FilledText | None:
    """The text with its slots filled for a context; None if an unfitting value has no certain replacement.

    `there`: the context in its source conversation. `follows`: whether this role's last turn is from the same one.
    """
    known, source = ("\n".join((context.wish, context.person, context.talk)) for context in (here, there))
    against = "" if here.wish == there.wish else here.wish  # under the same task its values stood already
    if there.stated:
        against = "\n".join((against, here.person))  # what a scenario holds, a log's user does not contradict
    changed: list[tuple[Span, str]] = []
    for value in values_in(text):
        if value.text in known:
            continue
        if other := _replacement(value, here, there):
            changed.append((value, other))
        elif value.text in source or _of_kind(value.kind, against):
            return None  # it refers to a message or fact of another conversation, or contradicts the task
        elif not follows and _of_kind(value.kind, here.own):
            return None  # this role has named another one
        elif value.kind in _OWN_KINDS and (value.kind == "email" or sum(map(str.isdigit, value.text)) > 2):
            return None
    for value, other in reversed(changed):
        text = text[: value.start] + other + text[value.start + len(value.text) :]
    return FilledText(text, tuple((value.text, other) for value, other in changed))


def _replacement(value: Span, here: Context, there: Context) -> str:
    """The value in the new task or profile that replaces the source's; empty if it is not certain."""
    pairs = [(here.wish, there.wish), (here.person, there.person)]
    if there.stated:
        pairs.append(("\n".join((here.wish, here.person)), there.stated))
    for new, old in pairs:
        candidates = _of_kind(value.kind, new)
        if len(candidates) == 1 and _of_kind(value.kind, old) == {value.text}:
            return candidates.pop()
    return ""


def _of_kind(kind: str, text: str) -> set[str]:
    return {value.text for value in values_in(text) if value.kind == kind}
