"""Values in a text by their kind, in forms that can be compared.

`3 pm` is `15:00`, and `May 3rd` is `2026-05-03`.
"""

import re
from collections.abc import Iterable
from functools import cached_property, lru_cache
from typing import Literal, NamedTuple, TypeAlias

from .content_words import in_digits, stem

ValueKind: TypeAlias = Literal["email", "date", "time", "weekday", "day", "money", "measure", "code", "number"]


class TextValue(NamedTuple):
    """A value of a text."""

    kind: ValueKind
    key: tuple[object, ...]
    """Equal for values that are the same in other words."""
    text: str
    """As it stands in the text, with number words in digits."""
    noun: str = ""
    """What a number counts."""


_MONTHS: tuple[str, ...] = tuple("jan feb mar apr may jun jul aug sep oct nov dec".split())
_MONTH = r"(?P<month>(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*)\.?"
_YEAR = r"(?:,? ?(?P<year>(?:19|20)\d\d))?"
_WEEKDAYS: tuple[str, ...] = tuple("mon tue wed thu fri sat sun".split())
_FORMS: tuple[tuple[ValueKind, str], ...] = (
    ("email", r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+"),
    ("date", r"(?P<year>(?:19|20)\d\d) ?[-/.年] ?(?P<m>\d{1,2}) ?[-/.月] ?(?P<d>\d{1,2}) ?[日号]?(?!\d)"),
    ("date", r"(?<![\d.])(?P<d>\d{1,2})[./](?P<m>\d{1,2})[./](?P<year>(?:19|20)\d\d)"),
    ("date", rf"\b(?P<d>\d{{1,2}})(?:st|nd|rd|th|\.)? ?(?:of )?{_MONTH}\b{_YEAR}"),
    ("date", rf"\b{_MONTH} (?:the )?(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:){_YEAR}"),
    ("date", r"(?P<m>\d{1,2}) ?月 ?(?P<d>\d{1,2}) ?[日号]?"),
    ("time", r"(?<![\d:])(?P<h>[012]?\d)[:：](?P<min>[0-5]\d)(?::\d\d)?(?![\d:]) ?(?P<half>[ap]\.?m\b)?"),
    ("time", r"\b(?P<past>quarter to|quarter past|half past) (?P<h>1?\d)(?!\d)(?: ?(?:[ap]\.?m\b|in the \w+))?"),
    ("time", r"(?<![\d.])(?P<h>[012]?\d)\.(?P<min>[0-5]\d) ?(?P<half>[ap]\.?m\b)"),
    ("time", r"\b(?P<h>[01]?\d) ?(?:o'clock\b)? ?(?P<half>[ap]\.? ?m\b|in the (?:morning|afternoon|evening)|at night)"),
    ("time", r"\b(?P<h>[01]?\d) ?o'clock\b|\bat (?P<h2>[1-9]|1[0-2])(?=[.,!]|\s*$)(?! ?\d)"),
    (
        "time",
        r"(?P<half>[上下中]午|早上|晚上|凌晨|傍晚)? ?(?P<h>[012]?\d) ?[点时](?!间)(?:(?P<min>[0-5]?\d)分?|(?P<mid>半))?",
    ),
    ("time", r"(?P<noon>\bnoon\b|\bmidday\b|中午)"),
    (
        "weekday",
        r"\b(?P<w>mon|tues?|wednes|thurs|fri|satur|sun)day\b|\b(?P<w2>(?-i:Mon|Tue|Wed|Thu|Fri)|(?:(?<=on )|(?<=next )|(?<=this ))(?-i:Sat|Sun))\b",
    ),
    ("weekday", r"(?:周|星期|礼拜)(?P<wz>[一二三四五六日天1-7])"),
    (
        "day",
        r"\b(?P<r>\d{1,3}) (?P<span>day|week|month|year)s? ago\b|(?<!\d)(?P<rz>\d{1,3}) ?个?(?P<spanz>[天周月年]|星期)(?:之?前)",
    ),
    ("day", r"\b(?P<word>yesterday|last night|today|this (?:morning|afternoon|evening)|tonight|tomorrow)\b"),
    ("day", r"(?P<wordz>[昨今明][天日晚早]|[今昨明]天)"),
    ("money", r"[€$£¥] ?(?P<n>\d[\d,]*(?:\.\d+)?)(?![\w.]*\d)"),
    (
        "money",
        r"(?<![\w.])(?P<n>\d[\d,]*(?:\.\d+)?) ?(?:€|\$|£|euros?\b|eur\b|dollars?\b|usd\b|pounds?\b|yuan\b|rmb\b|bucks\b|欧元?|美元|英镑|元|块钱?)",
    ),
    (
        "measure",
        r"(?<![\w.])(?P<n>\d+(?:\.\d+)?) ?(?P<unit>kg|kilos?|kilograms?|g|grams?|cm|km|m|l|litres?|min(?:ute)?s?|hours?|分钟|小时|square met(?:re|er)s?|sqm|平方米|平米|平|公斤|千克|克|厘米|公里|米|升)(?![A-Za-z])",
    ),
    (
        "code",
        r"(?<![\w@.-])(?=[\w -]{0,20}\d)(?:[A-Za-z]{1,4}-?\d{3,}[\w-]*|(?-i:(?=[A-Z\d]*[A-Z])(?=[A-Z]*\d)[A-Z\d]{5,}))(?![\w@])",
    ),
    ("code", r"(?<![\w@.-])(?=\w{5})[A-Za-z]{1,3}\d{1,3}[A-Za-z]{1,4}\d{0,3}(?![\w@-])"),
    ("code", r"(?<![\w@.-])\d{2,4}(?:[ -]\d{2,4})+(?![\w@-])|(?<![\d@.])\d{5,}(?![\d@])"),
    (
        "code",
        r"(?:\b(?:code|reference|locator|pnr)|[号码])(?: is|:|是|：|为)? ?(?P<letters>(?-i:[A-Z]{5,7}))(?![\w@])",
    ),
    ("number", r"(?<![\d.])(?P<n>\d[\d.]{0,9}) ?(?P<percent>[%％‰])"),
    ("day", r"\b(?P<mon>\d{1,2}) ?个?月(?!\d)"),
    (
        "number",
        r"(?<![\w.])(?P<n>\d[\d,]*(?:\.\d+)?)(?:(?:st|nd|rd|th)\b)?(?P<noun> ?(?:[A-Za-z][\w'-]*|[\u4e00-\u9fff]{1,4}))?",
    ),
)
_PATTERNS: tuple[tuple[ValueKind, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(form, re.IGNORECASE | re.ASCII)) for kind, form in _FORMS
)
_CODE_OF_ASCII = re.compile(r"[A-Za-z0-9]")
_UNITS = {"kilo": "kg", "kilos": "kg", "kilogram": "kg", "kilograms": "kg", "公斤": "kg", "千克": "kg", "克": "g"} | {
    **dict.fromkeys(
        ("square metre", "square metres", "square meter", "square meters", "sqm", "平方米", "平米", "平"), "m2"
    ),
    **dict.fromkeys(("minute", "minutes", "mins", "分钟"), "min"),
    **dict.fromkeys(("hours", "小时"), "hour"),
}
_SPANS = {"day": 1, "week": 7, "month": 30, "year": 365, "天": 1, "周": 7, "星期": 7, "月": 30, "年": 365}
_PAST = {"quarter to": -15, "quarter past": 15, "half past": 30}
_DAYS = {"yesterday": -1, "last night": -1, "today": 0, "tonight": 0, "tomorrow": 1, "昨": -1, "今": 0, "明": 1}
_COUNTS: tuple[ValueKind, ...] = ("money", "measure", "number")
_PEOPLE = ("of", "peopl", "person", "passenger", "traveller", "travel", "adult")
"""Stems of English nouns for people, beside `of us`."""
_MEASURE_WORDS = "个口件张份间只条本瓶"
_WRITTEN = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]{0,4}\d[A-Za-z0-9]*(?:[-.:/,]\d[A-Za-z0-9]*)*")
_UNIT = re.compile(r"(?<=\d)(?:k|K|kg|km|cm|g|h|am|pm)$")
_ITEM = re.compile(r"^\s*(?:\(?\d{1,2}[.):、]\s|[*#>-]+\s*)+", re.MULTILINE)


@lru_cache(maxsize=20_000)
def values_in(text: str) -> frozenset[str]:
    """The values of a text in one form each, without numbers of list items.

    >>> sorted(values_in("Move QX4821 to 2026-05-03 at 3 pm, for two people and 1,200 euros."))
    ['05-03', '1200', '2', '3:00', 'QX4821']
    >>> values_in("5月3号下午三点") == values_in("May 3rd, 15:00")
    True
    """
    return frozenset(map(_name, values(_ITEM.sub("", text))))


def written_values(text: str) -> frozenset[str]:
    """What holds a digit, as it is written, without numbers of list items and common units; a range is one.

    >>> sorted(written_values("Move QX4821 to 2026-05-03, for 2-3 people and 1,200 euros."))
    ['1200', '2-3', '2026-05-03', 'qx4821']
    """
    words = (match.replace(",", "") for match in _WRITTEN.findall(_ITEM.sub("", text)))
    return frozenset(_UNIT.sub("", word).casefold() for word in words)


def _name(value: TextValue) -> str:
    """A value's key in words: what counts or measures is its number."""
    if value.kind == "date":
        return "-".join(f"{part:02}" for part in value.key)
    if value.kind == "time":
        minutes = int(str(value.key[0]))
        return f"{minutes // 60}:{minutes % 60:02}"
    if value.kind == "weekday":
        return _WEEKDAYS[int(str(value.key[0]))]
    if value.kind == "day":
        return f"{value.key[0]:+} days"
    return f"{value.key[0]:.12g}" if isinstance(value.key[0], float) else str(value.key[0])


@lru_cache(maxsize=20_000)
def values(text: str) -> tuple[TextValue, ...]:
    """The values of a text in their order; each place belongs to one value only."""
    plain = in_digits(text)
    taken: list[tuple[int, int, TextValue]] = []
    for kind, pattern in _PATTERNS:
        for match in pattern.finditer(plain):
            if any(match.start() < end and start < match.end() for start, end, _ in taken):
                continue
            noun = _noun(match) if kind == "number" else ""
            taken.append((*match.span(), TextValue(kind, _key(kind, match), match.group().strip(), noun)))
    return tuple(value for _, _, value in sorted(taken, key=lambda entry: entry[0]) if value.key)


def _key(kind: ValueKind, match: re.Match[str]) -> tuple[object, ...]:
    groups = match.groupdict()
    if kind == "date":
        month = _MONTHS.index(groups["month"][:3].lower()) + 1 if groups.get("month") else int(groups["m"])
        day = int(groups["d"])
        return (month, day) if 1 <= month <= 12 and 1 <= day <= 31 else ()
    if kind == "time":
        if groups.get("noon"):
            return (0,)
        hour = int(groups.get("h") or groups.get("h2") or 99)
        minutes = _PAST.get(
            (groups.get("past") or "").lower(), 30 if groups.get("mid") else int(groups.get("min") or 0)
        )
        return ((hour * 60 + minutes) % 720,) if hour <= 24 else ()
    if kind == "weekday":
        if sign := groups.get("wz"):
            return (6 if sign in "日天7" else "一二三四五六".find(sign) if sign in "一二三四五六" else int(sign) - 1,)
        return (_WEEKDAYS.index((groups.get("w") or groups["w2"])[:3].lower()),)
    if kind == "day":
        if groups.get("mon"):  # a month alone is no value
            return ()
        if amount := groups.get("r") or groups.get("rz"):
            return (-int(amount) * _SPANS[(groups.get("span") or groups["spanz"]).lower()],)
        word = (groups.get("word") or groups["wordz"][0]).lower()
        return (_DAYS.get(word, 0),)
    if kind in _COUNTS:
        if groups.get("percent"):
            return ()
        number = _number(groups["n"])
        unit = (groups.get("unit") or "").lower()
        return (number, _UNITS.get(unit, unit)) if kind == "measure" else (number,)
    if kind == "code":
        return ("".join(_CODE_OF_ASCII.findall(groups.get("letters") or match.group())).upper(),)
    return (match.group().casefold(),)


def _number(text: str) -> float:
    return float(text.replace(",", "") or 0)


def _noun(match: re.Match[str]) -> str:
    noun = (match.groupdict().get("noun") or "").strip().casefold()
    if noun and noun[0] > "\u4e00":
        return "人" if re.match("个?人|位|名", noun) else noun.lstrip(_MEASURE_WORDS)[:2] or noun[:1]
    return "人" if stem(noun) in _PEOPLE else stem(noun)


class ValueSet:
    """The values that texts hold, to be compared with others."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.texts = [*texts]

    @cached_property
    def values(self) -> list[TextValue]:
        """All values, in the order of the texts."""
        return [value for text in self.texts for value in values(text)]

    @cached_property
    def keys(self) -> frozenset[tuple[str, tuple[object, ...]]]:
        """Kind and key of each value."""
        return frozenset((value.kind, value.key) for value in self.values)

    @cached_property
    def numbers(self) -> frozenset[object]:
        """Numbers that count or measure something."""
        return frozenset(value.key[0] for value in self.values if value.kind in _COUNTS)

    @cached_property
    def days(self) -> frozenset[object]:
        """Days of the dates."""
        return frozenset(value.key[-1] for value in self.values if value.kind == "date")

    @cached_property
    def codes(self) -> str:
        """Letters and digits of all runs of them, in capitals."""
        runs = (run for text in self.texts for run in re.findall(r"[A-Za-z0-9][A-Za-z0-9 -]*", in_digits(text)))
        return "\n".join("".join(_CODE_OF_ASCII.findall(run)).upper() for run in runs)

    @cached_property
    def folded(self) -> str:
        """The texts in small letters, with number words in digits."""
        return "\n".join(in_digits(text).casefold() for text in self.texts)

    def has(self, value: TextValue) -> bool:
        """Whether a value is among them, in any form."""
        if (value.kind, value.key) in self.keys:
            return True
        if value.kind == "code":
            return str(value.key[0]) in self.codes
        if value.kind in _COUNTS:
            return value.key[0] in self.numbers or (not value.noun and value.key[0] in self.days)
        if value.kind == "email":
            return str(value.key[0]) in self.folded
        if value.kind == "time":  # an hour may stand alone
            hour = int(str(value.key[0])) // 60
            return not int(str(value.key[0])) % 60 and bool({hour, hour + 12, hour or 12} & self._bare())
        if value.kind == "date":
            return any(other.kind == "code" and other.text.startswith("20") for other in self.values)
        return False

    def _bare(self) -> set[float]:
        return {float(str(value.key[0])) for value in self.values if value.kind == "number"}
