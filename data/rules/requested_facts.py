"""Facts that a text asks for or gives, by their kind: codes, dates, times, e-mail addresses, phone numbers.

The form of a value tells its kind, so two questions in different words are known to ask for the same.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple


class AskedFact(NamedTuple):
    """A fact that a text asks for."""

    kind: str
    which: frozenset[str]
    """Which fact of its kind, such as the return date; empty if the text does not say."""


_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
    r"|januar|februar|märz|mai|juni|juli|oktober|dezember)\b"
)
_KINDS = {
    "code": (
        r"\b(?:codes?|numbers?(?! of)|references?|ids?|pnr|locator|\w*nummer|\w*code)\b|\bwhich (?:\w+ )?(?:booking|reservation|order|ticket)\b|编号|代码|[单码票]号",
        r"(?<![\w@-])(?:(?=[a-z]*\d)[a-z]{1,6}-?\d{3,}\w*|(?=\w*[a-z])(?=\w*\d)\w{5,}|\d{5,})(?![\w@-])",
    ),
    "date": (
        r"\bdates?\b|\b(?:which|what) day\b|\b(?:reise|flug)?datum\b|\bwelche[nmr]? tag\b|日期|哪一?天|几号",
        rf"\b\d{{4}}-\d{{1,2}}-\d{{1,2}}\b|\b\d{{1,2}}[./]\d{{1,2}}\b|\b{_MONTH}\.? \d{{1,2}}\b|\b\d{{1,2}}(?:st|nd|rd|th|\.)?(?: of)? {_MONTH}"
        r"|\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow|today|(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch|morgen|heute)\b"
        r"|\d{1,2}月\d{1,2}|[明今后]天|(?:周|星期)[一二三四五六日天]",
    ),
    "time": (
        r"\b(?:what|which) time\b|\bwhat hour\b|\buhrzeit\b|\bwie viel uhr\b|几点",
        r"\b\d{1,2}[:.]\d{2}\b|\b\d{1,2} ?(?:am|pm|o['’]clock|uhr)\b|\bnoon\b|\d ?点",
    ),
    "e-mail": (r"\be-?mail\b|邮箱", r"\S@\S+\.\w"),
    "phone": (r"\b(?:tele)?phone\b|\bmobile\b|\btelefon\w*|电话|手机", r"\+?\d(?:[ ()/-]?\d){6,}"),
}
"""By kind: how it is asked for, and the form of its value."""
_PATTERNS = {
    kind: (re.compile(question, re.IGNORECASE), re.compile(value, re.IGNORECASE))
    for kind, (question, value) in _KINDS.items()
}
_CODES = {
    "booking": r"\b(?:bookings?|reservations?|confirmation|pnr|locator|itinerary|trip|tickets?)\b|\b(?:buchung|reservierung)|[预订][订定约票]",
    "order": r"\b(?:order|purchase)\b|\bbestell|订单",
    "customer": r"\b(?:customer|account|member(?:ship)?|loyalty|client|user)\b|\bkunden|会员|客户",
    "parcel": r"\b(?:tracking|parcel|shipment|package)\b|\bsendung|快递|运单",
    "phone": r"\b(?:tele)?phone\b|\bmobile\b|\btelefon|电话|手机",
    "flight": r"\bflight (?:number|code)\b|\bflugnummer|航班号",
    "card": r"\bcard\b|\bkarte|卡号",
    "post": r"\b(?:zip|postal|post) ?code\b|\bpostleitzahl|邮编",
    "security": r"\b(?:security|verification|pin|access|password)\b|验证",
    "product": r"\b(?:product|item|article|model|serial)\b|\bartikel|产品|型号",
    "invoice": r"\b(?:invoice|bill)\b|\brechnung|发票",
}
"""What a code belongs to."""
_CODE_OF = {name: re.compile(words, re.IGNORECASE) for name, words in _CODES.items()}
_QUALIFIER = re.compile(
    r"\b(?:return|back|birth|outbound|inbound|departure|arrival|check-?in|check-?out|start|end|expir\w+|delivery|pick-?up|current|old|original|previous"
    r"|other|another|alternative|different|second|geburts\w*|rück\w*|ander\w*)\b|生日|出生|返程|其他|另",
    re.IGNORECASE,
)
"""Which of several dates, times or addresses is meant."""
_WHETHER = re.compile(
    r"\A\W*(?:\w+[,!] )*(?:(?:is|are|was|were|does|did|has|shall|should|will|would (?:that|this|it|the)|do you (?:want|wish|need|agree|confirm|still))\b|ist|sind|soll|passt)"
    r"|\b(?:this|that|these|those|dies\w+) (?:dates?|times?|codes?|numbers?|datum)\b|[吗么][?？]",
    re.IGNORECASE,
)
"""A question for yes or no about a value."""


def asked_facts(sentences: Iterable[str]) -> list[AskedFact]:
    """The facts that requests ask for; a question whether a value is right asks for none."""
    return [
        AskedFact(
            kind, _code_of(sentence) if kind == "code" else frozenset(map(str.casefold, _QUALIFIER.findall(sentence)))
        )
        for sentence in sentences
        for kind, (question, value) in _PATTERNS.items()
        if question.search(sentence) and not value.search(sentence) and not _WHETHER.search(sentence)
    ]


def is_same_fact(one: AskedFact, other: AskedFact) -> bool:
    """Whether two requests are for one fact; a code without a noun is any code."""
    if one.kind != other.kind:
        return False
    return one.which == other.which or (
        one.kind == "code" and (not one.which or not other.which or bool(one.which & other.which))
    )


def is_given(fact: AskedFact, texts: Iterable[str]) -> bool:
    """Whether a text has a value of the fact's kind."""
    return any(_PATTERNS[fact.kind][1].search(text) for text in texts)


def _code_of(sentence: str) -> frozenset[str]:
    return frozenset(name for name, words in _CODE_OF.items() if words.search(sentence))
