"""Contradictions of users with their earlier messages, by rule.

A contradiction is another value for the same thing without a word of a change. Things are those that people state of a
plan in numbers and names. Numbers: budget, days, weeks, months, people, dishes, an age. Names: a month of the year,
where to, for whom, and what they like or not. The rules are our own, for English and Chinese.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from ....data.text.languages import Language
from ....data.text.lexicons import says
from ....data.text.words import words_of
from .transcripts import UserTranscript
from .words import content_words

Value = tuple[float, float] | str
"""A number as a range from low to high, or a name."""

_EN_NUMBERS = {
    word: float(number)
    for number, word in enumerate("one two three four five six seven eight nine ten eleven twelve".split(), start=1)
} | {"fifteen": 15.0, "twenty": 20.0, "thirty": 30.0}
_ZH_DIGITS = {digit: number for number, digit in enumerate("一二三四五六七八九", start=1)} | {"两": 2, "俩": 2}
_ZH_UNITS = {"十": 10, "百": 100, "千": 1000, "万": 10_000}
_SCALE = {"k": 1000, "千": 1000, "w": 10_000, "万": 10_000}

_NO_ORDINAL = "(?<![第每哪前后这那])"
_ZH = r"(?:\d{1,9}(?:\.\d{1,4})?|[一二两三四五六七八九十百千万]{1,9})"
_ZH_RANGE = rf"(?P<low>{_ZH})(?:\s?[-~～—到至]\s?(?P<high>{_ZH}))?"
_EN = rf"(?:\d[\d,]{{0,12}}(?:\.\d{{1,4}})?|{'|'.join(_EN_NUMBERS)})"
_EN_RANGE = rf"(?P<low>{_EN})(?:\s?(?:-|–|to)\s?(?P<high>{_EN}))?"
_MONTHS = "january february march april june july august september october november december"

_ZH_PEOPLE = (
    "妈妈|母亲", "爸爸|父亲", "女朋友|女友", "男朋友|男友", "老师|导师|班主任", "同学", "同事", "闺蜜", "室友", "奶奶", "爷爷",
    "外婆|外祖母|姥姥", "外公|外祖父|姥爷", "老婆|妻子", "老公|丈夫", "儿子", "女儿", "侄子", "侄女", "弟弟", "妹妹", "哥哥", "姐姐",
    "领导|老板", "客户",
)  # fmt: skip
_EN_PEOPLE = (
    "mother|mom|mum", "father|dad", "girlfriend", "boyfriend", "wife", "husband", "teacher|professor|mentor", "classmate",
    "colleague|coworker", "roommate", "grandmother|grandma", "grandfather|grandpa", "son", "daughter", "nephew", "niece",
    "brother", "sister", "boss|manager", "client", "cousin", "aunt", "uncle",
)  # fmt: skip

_NUMBERS: Mapping[Language, Mapping[str, tuple[str, ...]]] = {
    "zh": {
        "budget": (
            rf"预算[^\d一二两三四五六七八九十，。；！？\n]{{0,6}}{_ZH_RANGE}(?P<scale>[千万kw])?",
            rf"{_ZH_RANGE}(?P<scale>[千万kw])?\s?(?:元|块钱?|人民币|rmb)?(?:左右|以内|以下|上下)?的?预算",
        ),
        "days": (
            rf"{_NO_ORDINAL}(?:共|为期|玩|待|计划|大概|打算|安排)(?:了|个)?{_ZH_RANGE}\s?天",
            rf"{_NO_ORDINAL}{_ZH_RANGE}\s?天(?:左右)?的?(?:旅|行程|时间|假期|自驾|游|计划)",
        ),
        "weeks": (rf"{_NO_ORDINAL}{_ZH_RANGE}\s?(?:周(?![年末日一二三四五六])|个(?:星期|礼拜))",),
        "months": (rf"{_NO_ORDINAL}{_ZH_RANGE}\s?个月",),
        "people": (rf"{_NO_ORDINAL}{_ZH_RANGE}\s?(?:个|位|口)?人(?![民均气家工物生类])",),
        "dishes": (rf"{_NO_ORDINAL}{_ZH_RANGE}\s?(?:个|道)菜",),
        "age": (rf"{_ZH_RANGE}\s?岁",),
        "month": (r"(?<![\d个])(?P<low>\d{1,2}|[一二三四五六七八九十]{1,2})月",),
    },
    "en": {
        "budget": (
            rf"\bbudget\b[^\d.!?\n]{{0,25}}?{_EN_RANGE}(?P<scale>k)?\b",
            rf"{_EN_RANGE}(?P<scale>k)?[^\d.!?\n]{{0,12}}\bbudget\b",
        ),
        "days": (rf"\b{_EN_RANGE}[ -]days?\b(?! (?:one|two|\d))",),
        "weeks": (rf"\b{_EN_RANGE}[ -]weeks?\b",),
        "months": (rf"\b{_EN_RANGE}[ -]months?\b",),
        "people": (rf"\b{_EN_RANGE} (?:people|persons|guests|adults|of us)\b",),
        "dishes": (rf"\b{_EN_RANGE} (?:dishes|courses)\b",),
        "age": (rf"\b{_EN_RANGE} years? old\b",),
    },
}  # fmt: skip
_OF_NUMBERS: Mapping[Language, Mapping[str, str]] = {
    "zh": {
        "budget": "预算", "days": "天", "weeks": "周|星期|礼拜", "months": "月", "people": "人", "dishes": "菜", "age": "岁",
        "month": "月",
    },
    "en": {
        "budget": "budget", "days": "day", "weeks": "week", "months": "month",
        "people": "people|persons|guests|adults|of us", "dishes": "dishes|courses", "age": "old",
    },
}  # fmt: skip
"""Words without which no pattern of a thing fits: looking for them first takes a tenth of the time."""
_NAMES: Mapping[Language, Mapping[str, tuple[str, ...]]] = {
    "zh": {
        "where to": (
            r"(?:去|到|前往)(?P<name>(?!哪|那|这|国|周|一|几|什么)[\u4e00-\u9fff]{2,3}?)(?:旅游|旅行|游玩|玩|自驾|度假|出差)",
        ),
    },
    "en": {
        "where to": (
            r"\b(?:trip|travel(?:l?ing)?|fly(?:ing)?|flight|holiday|vacation) (?:to|in) (?P<name>[A-Z][\w-]+)",
        ),
        "month": (rf"\b(?i:(?P<name>{'|'.join(_MONTHS.split())}))\b",),
    },
}
_FOR_WHOM: Mapping[Language, re.Pattern[str]] = {
    "zh": re.compile(rf"(?:送|给)(?:给)?(?:我|他|她)?的?(?P<name>{'|'.join(_ZH_PEOPLE)})"),
    "en": re.compile(
        rf"\b(?:gifts?|presents?|something)(?: ideas?)? for (?:my|our|the|an?) (?P<name>{'|'.join(_EN_PEOPLE)})\b", re.I
    ),
}
_SAME_PERSON = {word: group.split("|")[0] for group in (*_ZH_PEOPLE, *_EN_PEOPLE) for word in group.split("|")}
_LIKES: Mapping[Language, tuple[str, str]] = {
    "zh": (
        r"不(?:(?:太|怎么)?(?:喜欢|爱)(?:吃|喝|去|看|坐|爬|住)?|(?:能|想|要)(?:吃|喝|去|看|坐|爬|住))(?=[\u4e00-\u9fff])",
        r"(?<![不太么])(?:喜欢|爱|想|想要)(?:吃|喝|去|看|坐|爬|住)(?=[\u4e00-\u9fff])",
    ),
    "en": (
        r"\b(?:do not|don['’]t|cannot|can['’]t) (?:really )?(?:like|enjoy|eat|drink|want)(?= )",
        r"\b(?:i|we)(?: really| also)? (?:like|love|enjoy|eat|drink)(?= )",
    ),
}
_LIKED_WITHIN = 24
"""Characters after a verb in which the thing is looked for that is liked or not."""


@lru_cache(maxsize=4096)
def stated_values(text: str, language: Language) -> Mapping[str, tuple[Value, ...]]:
    """The values that a text states of each thing; of likes and dislikes, `yes` or `no`."""
    values_by_topic: dict[str, list[Value]] = {}
    for thing, value in (*_numbers_in(text, language), *_names_in(text, language), *_likes_in(text, language)):
        values = values_by_topic.setdefault(thing, [])
        if value not in values:
            values.append(value)
    return {thing: tuple(values) for thing, values in values_by_topic.items()}


def _numbers_in(text: str, language: Language) -> Iterator[tuple[str, Value]]:
    for thing, (word, *patterns) in _compiled(language).items():
        for pattern in patterns if word.search(text) else ():
            for match in pattern.finditer(text):
                groups = match.groupdict()
                scale = _SCALE.get((groups.get("scale") or "").lower(), 1)
                low = _number(groups["low"], language) * scale
                high = _number(groups["high"], language) * scale if groups.get("high") else low
                if low:
                    yield thing, (min(low, high), max(low, high))


def _names_in(text: str, language: Language) -> Iterator[tuple[str, Value]]:
    for thing, patterns in _NAMES[language].items():
        for pattern in patterns:
            for match in re.finditer(pattern, text):
                yield thing, match["name"].lower()
    for match in _FOR_WHOM[language].finditer(text):
        yield "for whom", _SAME_PERSON[match["name"].lower()]


def _likes_in(text: str, language: Language) -> Iterator[tuple[str, Value]]:
    for pattern, value in zip(_LIKES[language], ("no", "yes"), strict=True):
        for match in re.finditer(pattern, text, re.IGNORECASE):
            words = words_of(text[match.end() : match.end() + _LIKED_WITHIN], language)[:2]
            content = content_words(words, language)
            if word := next((word for word in words if word in content), None):
                yield f"likes {word}", value


@lru_cache(maxsize=2)
def _compiled(language: Language) -> Mapping[str, tuple[re.Pattern[str], ...]]:
    return {
        thing: tuple(re.compile(pattern, re.IGNORECASE) for pattern in (_OF_NUMBERS[language][thing], *patterns))
        for thing, patterns in _NUMBERS[language].items()
    }


def _number(text: str, language: Language) -> float:
    """The number that is written in digits or words."""
    if text[0].isdigit():
        return float(text.replace(",", ""))
    if language == "en":
        return _EN_NUMBERS[text.lower()]
    total, digit = 0, 0
    for character in text:
        if character in _ZH_DIGITS:
            digit = _ZH_DIGITS[character]
        elif character == "万":
            total, digit = (total + digit or 1) * _ZH_UNITS["万"], 0
        else:
            total, digit = total + (digit or 1) * _ZH_UNITS[character], 0
    return float(total + digit)


def _agree(one: Value, other: Value) -> bool:
    """Whether two values can both be true: ranges that meet, or a name within the other."""
    if isinstance(one, str) or isinstance(other, str):
        return isinstance(one, str) and isinstance(other, str) and (one in other or other in one)
    return one[0] <= other[1] and other[0] <= one[1]


def contradicted(transcript: UserTranscript) -> float | None:
    """Share of the repeated statements that contradict every earlier one of the same thing; None without repetition.

    Messages with a word of a change (`changed` in `data/text/lexicons.json`) or several values of a thing are left out,
    and so are values in the reply before.
    """
    again = contradictions = 0
    earlier: dict[str, list[Value]] = {}
    for number, text in enumerate(transcript.texts):
        now = stated_values(text, transcript.language)
        for thing, values in now.items():
            before = earlier.get(thing)
            if before and len(values) == 1:
                again += 1
                contradictions += not any(_agree(values[0], value) for value in before) and not _explained(
                    transcript, number, thing, values[0]
                )
            earlier.setdefault(thing, []).extend(values)
    return contradictions / again if again else None


def _explained(transcript: UserTranscript, number: int, thing: str, value: Value) -> bool:
    """Whether a message announces a change, or has the value from the reply before."""
    if says(transcript.texts[number], "changed", transcript.language):
        return True
    named = stated_values(transcript.replies_before[number], transcript.language).get(thing, ())
    return any(_agree(value, other) for other in named)
