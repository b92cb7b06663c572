"""Values in a text, in forms that can be compared: `3 pm` is `15:00`, and `May 3rd` is `2026-05-03`.

By them, and by the words that both share, a user's words name its goal: rough, and so only used for none at all.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import pairwise
from typing import Any

from ..records import inside
from .languages import ENGLISH, HAN, Language, language_of

_WORDS = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
eighteen nineteen""".split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_NUMBERS = {word: number for number, word in enumerate(_WORDS)} | {
    word: 10 * number for number, word in enumerate(_TENS, start=2)
}
_NUMBER = re.compile(
    rf"\b(?P<tens>{'|'.join(_TENS)})[ -](?P<unit>{'|'.join(_WORDS[1:10])})\b|\b(?P<word>{'|'.join(_NUMBERS)})\b",
    re.IGNORECASE,
)
_NUMBER_ZH = re.compile(
    r"(?P<tens>[一二两三四五六七八九]?)十(?P<unit>[一二三四五六七八九]?)|[一二两三四五六七八九](?=[点时月日号天晚个位人元年岁])"
)
_DIGITS_ZH = {sign: number for number, sign in enumerate("零一二三四五六七八九")} | {"两": 2}
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_MONTH = rf"(?P<month>{'|'.join(_MONTHS)})[a-z]*\.?"
_FORMS = tuple(
    (kind, re.compile(form, re.IGNORECASE | re.ASCII))
    for kind, form in (
        ("text", r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+"),
        ("date", r"(?<!\d)(?:19|20)\d\d ?[-/.年] ?(?P<m>\d{1,2}) ?[-/.月] ?(?P<d>\d{1,2})(?!\d)"),
        ("date", rf"\b(?P<d>\d{{1,2}})(?:st|nd|rd|th|\.)? ?(?:of )?{_MONTH}\b"),
        ("date", rf"\b{_MONTH} (?:the )?(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)"),
        ("date", r"(?<!\d)(?P<m>\d{1,2}) ?月 ?(?P<d>\d{1,2})"),
        ("time", r"(?<![\d:])(?P<h>[012]?\d)[:：](?P<min>[0-5]\d)(?![\d:])"),
        ("time", r"(?<![\d.:])(?P<h>[012]?\d) ?(?:o'clock|[ap]\.?m\b)|(?<!\d)(?P<h2>[012]?\d) ?[点时](?!间)"),
        ("code", r"(?-i:(?<![\w@.-])(?=[A-Z-]*\d)(?=\d*[A-Z])[A-Z\d]+(?:-[A-Z\d]+)*(?![\w@])(?<=[\w-]{4}))"),
        ("code", r"(?<![\w@.-])\d{2,}(?:[ -]\d{2,})+(?![\w@-])"),
        ("number", r"(?<![\w.])\d[\d,]*(?:\.\d+)?"),
    )
)
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
    plain = _NUMBER.sub(lambda one: str(_named(one["word"] or one["tens"]) + _named(one["unit"])), _ITEM.sub("", text))
    plain, taken = _NUMBER_ZH.sub(_chinese, plain), set[int]()
    found = set[str]()
    for kind, form in _FORMS:
        for match in form.finditer(plain):
            places = range(*match.span())
            if taken.isdisjoint(places) and (name := _NAMES[kind](match)):
                taken.update(places)
                found.add(name)
    return frozenset(found)


def written_values(text: str) -> frozenset[str]:
    """What holds a digit, as it is written, without numbers of list items and common units; a range is one.

    >>> sorted(written_values("Move QX4821 to 2026-05-03, for 2-3 people and 1,200 euros."))
    ['1200', '2-3', '2026-05-03', 'qx4821']
    """
    words = (match.replace(",", "") for match in _WRITTEN.findall(_ITEM.sub("", text)))
    return frozenset(_UNIT.sub("", word).casefold() for word in words)


def _named(word: str | None) -> int:
    return _NUMBERS.get((word or "zero").casefold(), 0)


def _chinese(match: re.Match[str]) -> str:
    if "十" not in match.group():
        return str(_DIGITS_ZH[match.group()])
    return str(_DIGITS_ZH.get(match["tens"], 1) * 10 + _DIGITS_ZH.get(match["unit"], 0))


def _date(match: re.Match[str]) -> str:
    groups = match.groupdict()
    month = _MONTHS.index(groups["month"].lower()) + 1 if groups.get("month") else int(groups["m"])
    return f"{month:02}-{int(groups['d']):02}" if 1 <= month <= 12 and 1 <= int(groups["d"]) <= 31 else ""


def _time(match: re.Match[str]) -> str:
    groups = match.groupdict()
    hour = int(groups.get("h") or groups.get("h2") or 99)
    return f"{hour % 12}:{groups.get('min') or '00'}" if hour <= 24 else ""  # of the two halves of a day one is meant


_NAMES: Mapping[str, Callable[[re.Match[str]], str]] = {
    "text": lambda match: match.group().casefold(),
    "date": _date,
    "time": _time,
    "code": lambda match: re.sub(r"[^A-Za-z0-9]", "", match.group()).upper(),
    "number": lambda match: f"{float(match.group().replace(',', '')):.12g}",
}


# --- A user's goal in its words

_LETTERS = re.compile(r"[^\W\d_]{3,}")
_ENDING = re.compile(r"(?:ies|ing|ation|ment|ed|es|s|e|y)$")
_EMPTY = frozenset(
    "help please hello like get make something someone today anything question issue problem thing".split()
)
_EMPTY_ZH = frozenset("我你您的了吗呢请想要一下个有是在和把这那帮助问题您好谢")


def brief_of(scenario: Mapping[str, Any]) -> str:
    """The user's goal and facts as one text; empty without a goal."""
    goal = str(scenario.get("goal") or scenario.get("task_context") or "")
    return "\n".join([goal, *(str(value) for value in scalars(scenario.get("facts")))]) if goal else ""


def names_goal(goal: str, said: Iterable[str]) -> bool | None:
    """Whether one of a user's messages shares a word or a value with its goal; None if that cannot be told.

    That is so of a goal without words of content, and of one in another language than the messages.
    """
    texts = "\n".join(said)
    language = language_of(goal)
    wanted = _content(goal, language) if language else set[str]()
    if not wanted or language != language_of(texts):
        return None if wanted or not texts else True
    return bool(wanted & _content(texts, language))


def asks_only_for(question: str, fact: str) -> bool:
    """Whether a question has words of content, and only those of a fact."""
    language = language_of(question)
    asked = _content(question, language)
    return bool(asked) and asked <= _content(fact, language)


def deed_of(tool: str) -> str:
    """The first word of a tool's name, which says what it does.

    >>> deed_of("cancelOrder"), deed_of("look_up_plant")
    ('cancel', 'look')
    """
    return re.split(r"[\W_]+|(?<=[a-z])(?=[A-Z])", tool)[0]


def _content(text: str, language: Language | None) -> set[str]:
    """Stems of a text's words without empty ones, and its values; of Chinese its pairs of characters."""
    values = set(values_in(text))
    if language == "zh":
        signs = [one.group() for one in HAN.finditer(text)]
        return values | {a + b for a, b in pairwise(signs) if not {a, b} & _EMPTY_ZH}
    words = (word.casefold() for word in _LETTERS.findall(text))
    return values | {_ENDING.sub("", word) for word in words if word not in ENGLISH | _EMPTY}


def holds(text: str, value: Any) -> bool:
    """Whether a text has a value, in any of the forms that are one value (`3 pm` and `15:00`)."""
    words = str(value)
    values = values_in(words)
    folded = re.sub(r"[\W_]+", "", words).casefold()
    if any(map(str.isdigit, folded)):  # VT220 is not in VT2201, and 3 is not in 23
        spaced = r"[\W_]*".join(folded)
        within = not folded.isdigit() and bool(re.search(rf"(?<![a-z\d]){spaced}(?![a-z\d])", text.casefold()))
    else:
        within = folded in re.sub(r"[\W_]+", "", text).casefold()
    return (bool(values) and values <= values_in(text)) or within


def scalars(value: Any) -> Iterator[Any]:
    """The values inside objects and lists, without null."""
    return (one for one in inside(value) if one is not None and not isinstance(one, Mapping | list))


def in_words(value: Any, language: Language = "en") -> str:
    """A JSON value as a person writes it, with the keys of objects; empty if it holds nothing.

    >>> in_words({"name": "book", "arguments": {"room": 12}, "paid": False, "why": None})
    'name: book, arguments: (room: 12), paid: no'
    """
    if isinstance(value, bool):
        return {"en": ("no", "yes"), "zh": ("否", "是")}[language][value]
    if not isinstance(value, Mapping | list | tuple):
        return "" if value is None else str(value)
    pairs = value.items() if isinstance(value, Mapping) else [("", one) for one in value]
    texts: list[str] = []
    for name, one in pairs:
        if text := in_words(one, language):
            text = f"({text})" if isinstance(one, Mapping) else text
            texts.append(f"{str(name).replace('_', ' ')}: {text}" if name else text)
    return {"en": ", ", "zh": "、"}[language].join(texts)
