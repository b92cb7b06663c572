"""Statements of a user that contradict what it stated before."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from ...text.content_words import ASKS, EMPTY_HAN, content, in_digits, sentences, stem, tokens
from ...text.languages import HAN
from ...text.text_values import values
from ..findings import Reasons, quoted
from .opposition import excludes
from .turns import UserReading

_CHANGES = re.compile(
    r"\b(?:actually|changed my mind|on second thought|sorry|i mean|i meant|correction|no wait|forgot|my mistake|mixed|wrong|misread|mistyped)\b|不好意思|改主意|其实|更正|应该是|说错|记错|弄错|搞错",
    re.IGNORECASE,
)
"""Words of a message that takes something back."""
_SUPPOSES = re.compile(
    r"\b(?:if|unless|suppose|in case|whether|maybe|perhaps)\b|如果|要是|假如|万一|也许|可能|是不是", re.IGNORECASE
)
"""Words of what is not stated."""
_LATER = re.compile(
    r"\b(?:instead|rather|now|not any ?more|meanwhile|from now on)\b|还是|换成|改成|现在", re.IGNORECASE
)
"""Words of a statement that holds from now on."""
_ALONE = re.compile(
    r"\b(?:alone|by myself|on my own|just me|only me|nobody (?:was|is|came|comes) with me|without company)\b|一个人|1个人|独自|自己一人",
    re.IGNORECASE,
)
_KIN = r"(?:husband|wife|partner|friends?|family|boyfriend|girlfriend|son|daughter|brother|sister|parents|colleagues?|children|kids)"
_TOGETHER = re.compile(
    rf"\b(?:my|our) {_KIN} and (?:i|me)\b|\bwith (?:my {_KIN}|a friend|friends)\b|\bmy {_KIN} (?:(?:is|are) (?:coming|going|travelling|flying|joining)|comes?|goes|flies|fly|travels?|lives?|joins?)\b|\b\d+ of us\b|\btogether\b"
    r"|[2-9]\d*个人|一起|也来|也去|陪我|合租|[2-9]位",
    re.IGNORECASE,
)
_TRAVELS = re.compile(
    r"\b(?:travel|trip|go(?:ing)?|fly|flight|plane|come|coming|journey)\w*\b|出行|旅行|[去来]|飞", re.IGNORECASE
)
_LIVES = re.compile(r"\b(?:liv(?:e|es|ing)|share|flat|house|apartment|home)\b|住|合租", re.IGNORECASE)
_NEVER = re.compile(
    r"\b(?:never|(?:none|nobody|no one) (?:of us )?(?:has|have|had)?(?: ever)?|not ever|haven['’]t ever|first (?:\w+ )?(?:ever|time)|for the first time)\b|从来没|从没|都没\w*过|第[一1]次|没有?[^，。]{1,8}过",
    re.IGNORECASE,
)
_BEFORE = re.compile(
    r"\b(?:as always|always|last (?:time|year|month|week|summer|\w+s)|every (?:time|month|week|year|day)|usual(?:ly)?|again|the last \d+ times|like on my last|each time)\b"
    r"|上次|前几次|每次|每个?[月年周天]|去年|以前|往常|一直|照旧",
    re.IGNORECASE,
)
_HATES = re.compile(
    r"\b(?:hate|can['’]?t stand|cannot stand|dislike|don['’]t like|allergic to|don['’]t eat)\b|讨厌|不喜欢|不吃|受不了",
    re.IGNORECASE,
)
_LOVES = re.compile(
    r"\b(?:loves?|favou?rites?|adore|what we (?:like|love)|like (?:\w+ )?(?:best|most))\b|最爱|最喜欢|爱吃|很喜欢",
    re.IGNORECASE,
)
_NONE = re.compile(
    r"\b(?:no|without(?: an?)?|(?:don['’]t|do not|doesn['’]t) (?:have|own|carry|take)(?: an?| any)?|haven['’]t (?:got )?(?:an?|any))\s+(?P<what>[a-z]+)(?=\W|$)"
    r"|没有(?P<zh>[\u4e00-\u9fff]{2})(?![\u4e00-\u9fff])",
    re.IGNORECASE,
)
_VAGUE = re.compile(
    r"(?:ion|ence|ance|ment|ness|ity|ing|idea|plan|wish|rush|doubt|need|question|matter|problem|interest)(?:e?s)?$"
    r"|^(?:specific|prior|particular|special|much|many|real|further|other|more|such|time|longer)$",
    re.IGNORECASE,
)
"""Words behind `no` that lack nothing which one could have later."""
_NOBODY = re.compile(r"\b(?:nobody|no one)(?: else)?\b|没有(?:别|其他)人", re.IGNORECASE)
_ONLY = re.compile(r"\bonly (?:have |own )?(?:this|the|an?)? ?(?:1|one)\b|只有(?:这)?[一1]", re.IGNORECASE)
_OTHERS = re.compile(r"\b(?:other|another|second|savings|both)\b|另[一1]|另外|其他|第二", re.IGNORECASE)
_OFTEN = re.compile(r"\b(?:every day|daily|all the time)\b|天天|每天", re.IGNORECASE)
_LONG_AGO = re.compile(
    r"\b(?:haven['’]t|have not|hasn['’]t)\b.*\bfor\b.*\b(?:weeks|months|years)\b|\d+ ?个?[年月].{0,2}没", re.IGNORECASE
)
_HAS = re.compile(
    r"\b(?:my|our|the|her|his|their|\d+)(?: \d+)? (?P<en>[a-z]+)\b|(?:我们?的?|她家的?|他家的?|那\d*件?|\d+件)(?P<zh>(?!我|那|\d)[\u4e00-\u9fff]{2})",
    re.IGNORECASE,
)
_BEEN = re.compile(r"\b(?:been|were|was|flown|flew|travell?ed)\b|坐|去", re.IGNORECASE)
_LAST = re.compile(r"\blast (?:time|year|summer|winter|spring|autumn)\b|上次|前几次|去年|每个月都", re.IGNORECASE)
_KNOWS = re.compile(r"\bmy \w+ (?:has|knows|have|know)\b|我\w{1,3}也?(?:知道|有)", re.IGNORECASE)
MOST = 60
"""Maximum statements of a message, and of the messages before it, that are compared."""
LONGEST = 150
"""Most characters of a statement that is compared: a longer one holds too much."""
_SIGN = 4
"""Characters by which a Chinese one is longer."""
_FRAME, _WORDS = 0.7, 3
"""Least share of the words that two statements with another number have in common, and their number without a noun."""
_OBJECT = 3
"""Words behind a dislike that name what is disliked."""
_SIGNS = 2
"""Least Chinese characters with content that two statements about one thing share."""
_PAIRS = (
    (r"\bwindow\b|靠窗", r"\baisle\b|(?:靠)?过道"),
    (r"\bin cash\b|\bcash\b|现金", r"\bby (?:transfer|card|direct debit)\b|转账|刷卡"),
    (
        r"\b(?:online|website|internet|app)\b|网站|网上",
        r"\b(?:counter|phone|branch|desk|in person|agency)\b|柜台|电话|网点",
    ),
    (r"\bone[- ]way\b|单程", r"\b(?:round[- ]trip|return ticket)\b|往返"),
    (r"\bsingle\b|单身|未婚", r"\bmarried\b|已婚|结婚"),
)
_OPPOSITES = tuple((re.compile(one, re.IGNORECASE), re.compile(other, re.IGNORECASE)) for one, other in _PAIRS)
_BREAK = re.compile(
    r"(?<=[a-z€$])(?<!\bthat)(?<!\bwhen)(?<!\bif)(?<!\band)(?<!\bas)(?<!\bbut)(?<!\bso)(?<!\bwhat)(?<!\bwhere)(?<!\bwhich)(?<!\bbecause)(?<!\bsince)(?<!\bbefore)(?<!\bafter)(?<!\bhow)(?<!\bthan)(?<!\bonce)(?<!\bor)(?<!\bdo)(?<!\bcan)(?<!\bcould)(?<!\bmay)(?<!\bshould) (?=I (?:have|am|was|live|own|hold|never|earn|work|got|had|only|always|travel|do)\b)|(?<=\d) (?=I\b|[A-Z][a-z]|[\u4e00-\u9fff])|(?<=[\u4e00-\u9fff]) (?=[\u4e00-\u9fff])"
)
"""A blank between an answer and a statement without a mark."""
_LUGGAGE = frozenset({"luggag", "suitcas", "bag", "baggag", "行李"})


@dataclass(frozen=True)
class Statement:
    """A statement of a user, with numbers in digits, and what the rules ask of it."""

    text: str

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Its words in lower case."""
        return tokens(self.text)

    @cached_property
    def content(self) -> frozenset[str]:
        """The stems of its content words."""
        return content(self.text)

    @cached_property
    def signs(self) -> frozenset[str]:
        """The Chinese characters that carry content."""
        return frozenset(HAN.findall(self.text)) - EMPTY_HAN

    @cached_property
    def numbers(self) -> tuple[str, ...]:
        """Its whole numbers."""
        return tuple(word for word in self.words if word.isdigit())

    @cached_property
    def marks(self) -> frozenset[str]:
        """The names of the patterns that the statement matches."""
        return frozenset(name for name, pattern in _MARKS.items() if pattern.search(self.text))


_MARKS = {
    "alone": _ALONE,
    "together": _TOGETHER,
    "travels": _TRAVELS,
    "lives": _LIVES,
    "never": _NEVER,
    "before": _BEFORE,
    "last": _LAST,
    "hates": _HATES,
    "loves": _LOVES,
    "none": _NONE,
    "nobody": _NOBODY,
    "only": _ONLY,
    "others": _OTHERS,
    "often": _OFTEN,
    "long ago": _LONG_AGO,
    "has": _HAS,
    "been": _BEEN,
    **{
        f"{number} {side}": pattern
        for number, pair in enumerate(_OPPOSITES)
        for side, pattern in zip("ab", pair, strict=True)
    },
}


def contradictions(reading: UserReading) -> Reasons:
    """Messages with a statement that contradicts one in an earlier message of the user."""
    own_texts = dict(reading.own())
    stated: list[Statement] = []
    for number, turn in enumerate(reading.turns):
        if turn.role != "user":
            continue
        own = [*islice(_statements(turn.text), MOST)]
        if number in own_texts and not _CHANGES.search(turn.text):
            heard = tokens((reading.replies(number)[-1:] or [""])[0])
            pairs = (
                (one, other)
                for other in own
                for one in stated
                if not _LATER.search(other.text) and contradicts(one, other, heard)
            )
            if (pair := next(pairs, None)) is not None:
                yield number, f"{quoted(pair[1].text)} contradicts {quoted(pair[0].text)}"
        stated = [*stated, *own][-MOST:]


def _statements(text: str) -> Iterator[Statement]:
    """The short statements of a message about the user and what belongs to it."""
    for line in _BREAK.split(text):
        for part in sentences(line):
            if (
                len(part) + _SIGN * len(HAN.findall(part)) <= LONGEST
                and not ASKS.search(part)
                and not _SUPPOSES.search(part)
            ):
                yield Statement(in_digits(part))


def contradicts(one: Statement, other: Statement, heard: Sequence[str] = ()) -> bool:
    """Whether two statements of a user cannot both be true.

    `heard`: the words of the assistant's message between them, whose numbers the user may take over.
    """
    if any(rule(one, other) or rule(other, one) for rule in _RULES) or _other_number(one, other, heard):
        return True
    return not (set(other.numbers) - set(one.numbers)) & set(heard) and excludes(one.text, other.text)


def _other_number(one: Statement, other: Statement, heard: Sequence[str]) -> bool:
    """Whether two statements differ only in a number."""
    if len(one.numbers) != 1 or len(other.numbers) != 1 or one.numbers == other.numbers or other.numbers[0] in heard:
        return False
    rest, other_rest = ({stem(word) for word in words if not word.isdigit()} for words in (one.words, other.words))
    counted, other_counted = values(one.text), values(other.text)
    if any(value.kind not in ("number", "money") for value in (*counted, *other_counted)):
        return False
    nouns = {value.noun for value in counted} & {value.noun for value in other_counted}
    shared = len(rest & other_rest)
    return shared >= _FRAME * max(len(rest), len(other_rest)) and (bool(nouns - {""}) or shared >= _WORDS)


def _alone(one: Statement, other: Statement) -> bool:
    same = ({"travels", "lives"} & one.marks) & other.marks
    return "alone" in one.marks and "together" in other.marks and "alone" not in other.marks and bool(same)


def _never(one: Statement, other: Statement) -> bool:
    if "never" not in one.marks or "before" not in other.marks or "never" in other.marks:
        return False
    if one.content & other.content or len(one.signs & other.signs) >= _SIGNS:
        return True
    return "last" in other.marks and "been" in one.marks and "been" in other.marks


def _taste(one: Statement, other: Statement) -> bool:
    if "hates" not in one.marks or "loves" not in other.marks:
        return False
    disliked = " ".join(tokens(_HATES.split(one.text, maxsplit=1)[1])[:_OBJECT])
    return bool(content(_compact(disliked)) & other.content)


def _compact(text: str) -> str:
    """The text without the blanks between Chinese characters."""
    return re.sub(r"(?<=[\u3400-\u9fff]) (?=[\u3400-\u9fff])", "", text)


def _has(one: Statement, other: Statement) -> bool:
    """Whether one statement lacks a thing, and the other has this very thing."""
    none = _NONE.search(one.text) if "none" in one.marks and "none" not in other.marks else None
    if none is None or _VAGUE.search(none["what"] or ""):
        return False
    lacking = {stem((none["what"] or none["zh"]).casefold())}
    if lacking & _LUGGAGE:
        lacking |= _LUGGAGE
    owned = (stem((match["en"] or match["zh"]).casefold()) for match in _HAS.finditer(other.text))
    return any(noun in lacking for noun in owned)


def _nobody(one: Statement, other: Statement) -> bool:
    nouns = {word for word in one.words if len(word) > 2} & {word for word in other.words if len(word) > 2}
    shared = bool(nouns) or bool(one.content & other.content) or len(one.signs & other.signs) >= _SIGNS
    return "nobody" in one.marks and "nobody" not in other.marks and shared and _KNOWS.search(other.text) is not None


def _only(one: Statement, other: Statement) -> bool:
    return "only" in one.marks and "others" in other.marks and bool(one.content & other.content)


def _often(one: Statement, other: Statement) -> bool:
    return "often" in one.marks and "long ago" in other.marks


def _opposite(one: Statement, other: Statement) -> bool:
    for number, (first, second) in enumerate(_OPPOSITES):
        a, b = f"{number} a", f"{number} b"
        if a in one.marks and b in other.marks and a not in other.marks and b not in one.marks:
            rest = content(first.sub("", one.text)) & content(second.sub("", other.text))
            return bool(rest) or one.words[:3] == other.words[:3]
    return False


_RULES: tuple[Callable[[Statement, Statement], bool], ...] = (
    *(_alone, _never, _taste, _has, _nobody, _only, _often, _opposite),
)
