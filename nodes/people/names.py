"""Names, numbers and addresses in a text, by rule: details that may identify its author.

No rule detects all of them.
"""

import re
import warnings
from functools import lru_cache
from typing import Any, NamedTuple

from ...data.text.languages import language_of
from ...data.text.word_segmentation import segmentation
from ...errors import of_extra

_SURNAMES = (
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘于蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭陆"
    "汪范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤"
)
_EMAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64})+")
_LINK = re.compile(r"(?:https?://|www\.)[^\s，。；）)\"”]*[^\s，。；）)\"”,.;:!?]", re.IGNORECASE)
_HANDLE = re.compile(r"(?<!\w)@\w{2,}")
_STREET = re.compile(
    r"[\u4e00-\u9fff]{1,8}(?:路|街|大道|巷|弄)\s?\d+\s?[号弄]"
    r"|\b\d{1,5}\s(?:[A-Z]\w+\s){1,3}(?:Street|St|Road|Rd|Avenue|Ave|Lane|Ln|Drive|Boulevard|Blvd)\b"
)
_LONG_NUMBER = re.compile(r"\+?\d(?:[\s().-]?\d){6,}")
_NUMBER = re.compile(
    r"\d|[一二两三四五六七八九十百千万]{2,}|[一二两三四五六七八九十](?:个|元|块|岁|天|人|位|月|日|号|周|年|点)"
)
_INTRODUCED = re.compile(
    r"(?i:\b(?:my name is|my name's|i am called|call me|i'm|i am|this is|mr\.?|mrs\.?|ms\.?|miss|dr\.?|prof\.?)\s+)"
    r"(?P<en>[A-Z][a-z]+(?:\s[A-Z][a-z]+)?)"
    rf"|(?:我叫|名叫|名字叫|名字是|我是|我姓)(?P<zh>[{_SURNAMES}][\u4e00-\u9fff]{{0,2}})"
    rf"|(?P<titled>[{_SURNAMES}])(?=先生|女士|小姐|老师|医生|教授|经理|阿姨|叔叔)"
    r"|(?i:\b(?:dear|hi|hello|hey)\s+)(?P<addressed>[A-Z][a-z]+(?:\s[A-Z][a-z]+)?)(?=\s*(?:[,!.:;]|$))"
)
_CAPITALS = re.compile(r"(?<=[\w,;:] )[A-Z][\w'’-]+(?:\s[A-Z][\w'’-]+)*")
_PLACED = re.compile(r"\b(?:to|in|at|from|near|around|visit|visiting|of)\s$", re.IGNORECASE)
_NO_NAMES = frozenset(
    """I AI OK TV Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March April May June July
    August September October November December""".split()
)
MOST = 5_000
"""Characters of a text in which names are looked for by their words: `jieba.posseg` is slow on odd ones."""

_CLASSES = {"nr": "person", "nrfg": "person", "nrt": "person", "ns": "place", "nt": "person"}
"""Classes of words of `jieba.posseg` that are names: of persons, places, organisations."""


class PersonalName(NamedTuple):
    """A name in a text."""

    kind: str
    """`place`, or `person` for any other."""
    text: str
    start: int


def masked(text: str) -> str:
    """The text with `[email]`, `[link]`, `[address]`, `[number]` and `[name]` in place of the rules' matches."""
    for pattern, placeholder in (
        (_EMAIL, "[email]"),
        (_LINK, "[link]"),
        (_STREET, "[address]"),
        (_HANDLE, "[name]"),
        (_LONG_NUMBER, "[number]"),
    ):
        text = pattern.sub(placeholder, text)
    return _INTRODUCED.sub(_without_name, text)


def _without_name(match: re.Match[str]) -> str:
    name = match["en"] or match["zh"] or match["titled"] or match["addressed"]
    return match.group().removesuffix(name) + "[name]"


def is_personal(text: str) -> bool:
    """Whether the text contains a name, a number or an address by rule, or is too long to check."""
    if len(text) > MOST:
        return True
    rules = (_EMAIL, _LINK, _STREET, _HANDLE, _NUMBER, _INTRODUCED)
    return any(rule.search(text) for rule in rules) or bool(named_in(text))


@lru_cache(maxsize=20_000)
def named_in(text: str) -> tuple[PersonalName, ...]:
    """Names of places, persons and organisations in the first `MOST` characters, in order.

    In English these are words with a capital inside a sentence, in Chinese those that `jieba.posseg` tags as names
    (extra `zh`). Both have false positives and miss some names.
    """
    text = text[:MOST]
    if language_of(text) != "zh":
        capitals = ((match.group(), match.start()) for match in _CAPITALS.finditer(text))
        return tuple(
            PersonalName("place" if _PLACED.search(text[:start]) else "person", name, start)
            for name, start in capitals
            if name not in _NO_NAMES
        )
    names: list[PersonalName] = []
    start = 0
    for pair in _tagger().cut(text):
        if pair.flag in _CLASSES and len(pair.word) > 1:
            names.append(PersonalName(_CLASSES[pair.flag], pair.word, start))
        start += len(pair.word)
    return tuple(names)


@lru_cache(maxsize=1)
def _tagger() -> Any:
    segmentation()  # which loads jieba without its log
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return of_extra("jieba.posseg", "zh").dt
