"""Facts that a user gives though its scenario has none, or another; and facts that it gives all at once."""

import re

from ...text.content_words import content, in_digits, tokens
from ...text.text_values import TextValue, values
from ..findings import Reasons, quoted
from .brief import Brief
from .named import named_otherwise
from .turns import UserReading, says_unknown
from .unknown import unknown_answer

_QUESTIONS: dict[str, str] = {
    "date": r"\bwhen\b|\bdates?\b|\b(?:what|which) (?:\w+ )?day\b|\bby what\b|\bhow soon\b|哪一?[天日]|什么时候|日期|几[号月]|何时|到期",
    "time": r"\b(?:what|which) time\b|\bwhen\b|\b(?:what|which) hour\b|\bwhich (?:departure|flight|train)\b|几点|什么时候|时间",
    "code": r"\b(?:codes?|reference|locator|pnr|number(?! of)|digits|account|id|(?:which|what) (?:booking|reservation|order|card))\b|编号|单号|号码|账[号户]|卡号|尾号|订单|预订号|[几四]位|会员号|客户号|代码|验证码|证件",
    "secret": r"\b(?:password|pin|passcode|security code|verification)\b|密码|验证码|口令",
    "email": r"\be-?mail\b|邮箱|邮件地址",
    "name": r"\bnames?\b|\bwho am i (?:speaking|talking)\b|姓名|名字|称呼|贵姓|怎么叫",
    "money": r"\bhow much\b|\bbudget\b|\bcost\b|\bspend\b|\bprice\b|\bamount\b|预算|多少钱|花多少|金额|费用|价位",
    "number": r"\bhow (?:many|old|big|long|large)\b|\bnumber of\b|\bsize of\b|\boccasion\b|\b(?:which|what) (?:row|floor|platform|gate)\b|几[个位名口件人间张岁排层号]|多少[个位人]|多大|几岁|年纪|场合|[人数]数",
    "measure": r"\bhow (?:heavy|long|big|tall|far)\b|\bweigh\w*\b|\bsize\b|\barea\b|面积|\bhow (?:much time|many (?:minutes|hours))\b|多[重长高大远]|重量|尺寸|多少(?:分钟|时间|小时)",
    "place": r"\bwhere\b|\bdestination\b|\b(?:which|what) (?:city|country|place|airport|station|town)\b|哪里|哪儿|目的地|去哪|飞哪|什么地方",
}
_KINDS = {kind: re.compile(form, re.IGNORECASE) for kind, form in _QUESTIONS.items()}
_AS_DATE = {"date": ("date",), "weekday": ("date",), "day": ("date",), "time": ("time",)}
_ALTERNATIVE = re.compile(
    r"\b(?:other|another|alternative\w*|different|instead|else|would you (?:like|prefer|rather)|prefer\w*|or would)\b|其他|另外|别的|换|更喜欢|还是",
    re.IGNORECASE,
)
_HOW_MUCH = re.compile(
    r"\b(?:what|how (?:much|many|high|long))\b(?!.*\b(?:other|else|another|different|instead)\b)|多少|几", re.IGNORECASE
)
_CORRECTS = re.compile(
    r"\b(?:sorry|i mean|i meant|correction|misread|mistyped|my mistake|no,? wait|scratch that|rather|mixed)\b|不好意思|记错|弄错|应该是|说错|看错|写错|更正|不对|抱歉",
    re.IGNORECASE,
)
_PER = re.compile(r"\b(?:per|each|a (?:night|day|person|piece|month|week))\b|每|人均", re.IGNORECASE)
_CODE_WORDS = re.compile(
    r"\b(?:number|code|reference|account|card|order|booking|reservation|pin)\b|号|账户|编码", re.IGNORECASE
)
_YEAR = re.compile(r"\b(?:since|in|from|until|of|year|born) (?:19|20)\d\d\b|(?:19|20)\d\d ?年", re.IGNORECASE)
_LONG_CODE = 7
"""Digits from which on a number is a code, wherever it stands."""
ALL_OF, LEAST = 0.75, 2
"""Share of the facts, and their number, that a message must give unasked to give all at once."""
_ALIKE = 0.6


def asked_kinds(question: str) -> frozenset[str]:
    """The kinds of facts that a question asks for."""
    return frozenset(kind for kind, form in _KINDS.items() if form.search(question))


def invented_facts(reading: UserReading) -> Reasons:
    """Values and names in the user's messages that differ from its scenario's, or of which the scenario has none."""
    seen = set[tuple[str, object]]()
    opening = next(iter(number for number, turn in enumerate(reading.turns) if turn.role == "user"), None)
    for number, text in reading.own():
        stated = _standing(text)
        question = reading.question(number)
        reason = _otherwise(reading, number, stated, question, seen, opens=number == opening)
        if reason is None and question and not says_unknown(stated) and not _ALTERNATIVE.search(question):
            reason = named_otherwise(reading.brief, reading.heard(number), question, stated, asked_kinds(question))
        if reason is None and question and not says_unknown(stated):
            reason = unknown_answer(reading.brief, reading.heard(number), question, stated)
        if reason is not None:
            yield number, reason


def _standing(text: str) -> str:
    """The text without what it takes back."""
    last = max((match.end() for match in _CORRECTS.finditer(text)), default=0)
    return text[last:] if tokens(text[last:]) else text


def _otherwise(
    reading: UserReading, number: int, text: str, question: str, seen: set[tuple[str, object]], *, opens: bool
) -> str | None:
    """The reason why a value of a message is not the scenario's; None if none is."""
    brief, kinds = reading.brief, asked_kinds(question)
    for value in values(text):
        if brief.own_values.has(value) or (value.kind, value.key) in seen or reading.heard(number).has(value):
            continue
        same = _same_kind(brief, value, question)
        if not _is_candidate(brief, value, kinds, same, question, text, opens=opens):
            continue
        seen.add((value.kind, value.key))
        if same:
            return f"gives {value.text!r}, its scenario has {same[0]!r}"
        return f"gives {value.text!r}, of which its scenario has nothing"
    return None


def _is_candidate(
    brief: Brief, value: TextValue, kinds: frozenset[str], same: list[str], question: str, text: str, *, opens: bool
) -> bool:
    """Whether a foreign value is a fact that the user states, and not a wish or a remark."""
    if not same and not brief.facts:  # a scenario without facts leaves them open
        return False
    if value.kind == "email":
        return True
    if value.kind == "code":
        digits = str(value.key[0])
        if any(map(str.isalpha, digits)) and not re.fullmatch(r"\d+[A-Z]+", digits):
            return True
        if _YEAR.search(text) and re.fullmatch(r"(?:19|20)\d\d", digits):
            return False
        is_range = re.fullmatch(r"\d{1,4}-\d{1,4}", value.text) is not None and len(digits) < _LONG_CODE
        in_words = bool(kinds & {"code", "secret"}) or (_CODE_WORDS.search(text) is not None and not is_range)
        return in_words or (len(digits) >= _LONG_CODE and not is_range)
    if _ALTERNATIVE.search(question) and not (same and _HOW_MUCH.search(question) and _overlaps(brief, question, same)):
        return False
    if opens:
        return value.kind == "date" and bool(same) and brief.declared
    if value.kind in _AS_DATE:
        return bool(kinds & {*_AS_DATE[value.kind]}) and (
            bool(same) or (brief.declared and _is_own_kind(value, question))
        )
    if kinds & {"code", "secret"} and value.kind == "number" and len(re.findall(r"\d", value.text)) >= 4:
        return not (_YEAR.search(text) and value.text[:2] in ("19", "20"))
    if (_PER.search(text) or _PER.search(question)) and not any(map(_PER.search, brief.facts)):
        return False
    return (
        bool(same)
        and not _answered(brief, text, value)
        and (bool(kinds & {"money", "number", "measure"}) or _overlaps(brief, question, same))
    )


def _answered(brief: Brief, text: str, value: TextValue) -> bool:
    """Whether a message gives a fact of the scenario too, so that a further number is a remark."""
    others = [other for other in values(text) if other != value]
    if any(brief.own_values.has(other) for other in others):
        return True
    return (
        any(
            len(content(fact) & content(text)) >= 1 and value.noun not in {other.noun for other in values(fact)}
            for fact in brief.facts
        )
        and len(tokens(text)) > 8
    )


def _is_own_kind(value: TextValue, question: str) -> bool:
    """Whether a question without a fact behind it asks for the value's very kind, such as a date of birth."""
    kinds = asked_kinds(question)
    return value.kind in kinds and not (value.kind == "time" and "date" in kinds)


def _same_kind(brief: Brief, value: TextValue, question: str) -> list[str]:
    """The scenario's values of the same kind, as they stand there."""
    kinds = {"weekday": ("weekday", "date", "day"), "date": ("date",), "day": ("day", "weekday")}.get(
        value.kind, (value.kind,)
    )
    of_kind = [other for other in brief.own_values.values if other.kind in kinds]
    if value.kind in ("number", "money", "measure"):
        topic, facts = content(question), [brief.goal, *brief.facts]
        return [
            other.text
            for fact in facts
            for other in values(fact)
            if (other.kind == value.kind and (value.kind != "number" or other.noun == value.noun))
            or (other.kind in ("number", "money", "measure") and topic & content(fact))
        ]
    if value.kind == "code":
        return [other.text for other in of_kind if len(str(other.key[0])) >= len(str(value.key[0])) - 2]
    return [other.text for other in of_kind]


def _overlaps(brief: Brief, question: str, same: list[str]) -> bool:
    """Whether the question is about a fact with one of the values."""
    topic = content(question)
    facts = [fact for fact in brief.facts if any(text in in_digits(fact) for text in same)]
    return any(topic & content(fact) for fact in facts) or re.search(r"\bhave\b|有什么", question) is not None


def all_at_once(reading: UserReading) -> Reasons:
    """A message that gives nearly all facts without being topic, by a user that was told not to."""
    brief = reading.brief
    facts = [fact for fact in brief.facts if values(fact) or len(content(fact)) > 1]
    if not brief.one_by_one or len(facts) < LEAST:
        return
    earlier = set[str]()
    for number, text in reading.own():
        question = reading.question(number)
        stated = [fact for fact in facts if fact not in earlier and _gives(text, fact)]
        earlier |= {*stated}
        unasked = [fact for fact in stated if not (content(question) & content(fact))] if question else stated
        if len(stated) >= LEAST and len(stated) >= ALL_OF * len(facts) and len(unasked) >= LEAST:
            yield number, f"gives {len(stated)} of {len(facts)} facts at once, against its instructions: {quoted(text)}"


def _value_of(fact: str) -> str:
    """What follows a short name, such as `nights`, and a colon; else the whole fact."""
    name, colon, value = fact.partition(":")
    return value.strip() if colon and value.strip() and len(name.split()) <= 3 and len(name) <= 24 else fact


def _gives(text: str, fact: str) -> bool:
    """Whether a text gives a fact: all its values, or most of its words.

    Of `name: value` only the value counts.
    """
    fact = _value_of(fact)
    own = {(value.kind, value.key) for value in values(text)}
    keys = {(value.kind, value.key) for value in values(fact)}
    words = content(fact)
    if keys:
        alike = not words or bool(words & content(text)) or any(kind != "number" for kind, _ in keys)
        return alike and keys <= own
    return bool(words) and len(words & content(text)) >= _ALIKE * len(words)
