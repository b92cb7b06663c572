"""Answers of a user to a question about it or its things of which its scenario has nothing."""

import re

from ...text.content_words import ASKS, content, sentences, tokens
from ...text.languages import HAN
from ...text.text_values import ValueSet, values
from ...text.things import kinds_named
from ..courtesy import is_courtesy
from .brief import Brief

_OF_FACT = re.compile(
    r"\b(?:what|which|who|whose|where|when|how (?:old|tall|long|many|much|often|far|big|heavy|large))\b"
    r"|\b(?:do|does|did|have|has|are|is|was|were) (?:you|anybody|anyone|any of|there|he|she|they|your|somebody|someone)\b"
    r"|\b(?:tell|give|send) me (?:your|the|his|her)\b|\byour (?:\w+ ){0,3}\w+ ?[?,]|\b(?:have|need) your\b"
    r"|什么|哪|谁|几|多[少大高久重长远]|怎么称呼|有没有|有.{1,8}吗|请(?:提供|告诉|说|告知|报)|是.{0,8}[？?]|呢[？?]",
    re.IGNORECASE,
)
_OF_WISH = re.compile(
    r"\b(?:want|like|prefer\w*|would|wish|rather|choose|choice|shall|should|or|plan|intend|need to|may i|can i|okay|fine|happy|agree|else|anything|confirm|correct|right|mind|help|more|question|interested|looking for|suits?|works? (?:for|best)|convenient)\b"
    r"|想|要|希望|喜欢|偏好|需要|打算|还是|可以吗|好吗|行吗|对吗|是吗|确认|别的|其他|建议|还有|帮|怎么样|方便|合适",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"\b(?:why|please|would|could|want|like|prefer|need|any|whatever|maybe|perhaps|matter|you|your|just|only|same|already|said|told|let['’]?s|sorry|moment|wait|check|look|depends?|guess|think|suppose|should|ok(?:ay)?|thanks?|hello|hi|mix(?:ed)?|wrong|mistake|correct(?:ion)?|mean|meant)\b"
    r"|为什么|请|记错|弄错|搞错|说错|更正|想|要|随便|都行|都可以|可能|也许|您|你|刚才|说过|等|抱歉|帮|谢|好的|希望|干嘛|怎么|看看|吧$",
    re.IGNORECASE,
)
_DENIES = re.compile(r"\b(?:not|no|never|none|nothing|nobody|cannot|[a-z]+n['’]?t)\b|不|没", re.IGNORECASE)
_OF_OTHERS = re.compile(
    r"^\W*(?:yes|my|our|his|her|he|she|one|two|three|some|\d+)\b|^\W*(?:有|我[爸妈哥姐弟妹女儿朋同]|他|她)",
    re.IGNORECASE,
)
_SIZE = re.compile(r"(?<![\w-])(?:X{0,3}[SL]|M|\d{1,2}[A-K])(?![\w-])")
_STATES = re.compile(
    r"^\W*(?:yes|yeah|it['’]?s|it (?:is|was)|that(?:['’]s| is| was)|i(?:['’]m| am| was| have| had| live| work| earn| sat| use| bought| got| study)|we(?:['’]re| are| were| have)|my|our|his|her|he|she|they|there (?:is|are)|one of|at|in|for|from|with|by|since|the|an?)\b"
    r"|^\W*(?:是|叫|在|有|我|他|她|一般|姓|属|用|从)",
    re.IGNORECASE,
)
SHORT = 4
"""Most words of an answer that needs no form of a statement; of Chinese, signs by two."""
LONGEST = 14
"""Most words of a sentence that is an answer."""
_RELATED = 0.5
"""Share of a question's content words, from which on a sentence of the scenario is about it."""
_UNITS = frozenset("euro dollar pound yuan franc month year day week hour minut kg cm".split())
_OF_ASKING = frozenset(
    "ask tell provid number name date code detail answer us giv current usual exact full much mani long old".split()
)


def unknown_answer(brief: Brief, heard: ValueSet, question: str, text: str) -> str | None:
    """The reason why a message answers what its scenario has nothing of; None if that is open."""
    if not brief.declared or not _OF_FACT.search(question) or _OF_WISH.search(question):
        return None
    if any(_is_about(sentence, question) for sentence in (brief.goal, *brief.facts)):
        return None
    if any(map(brief.own_values.has, values(text))) or any(
        content(fact) & content(text) - _UNITS for fact in brief.facts
    ):
        return None
    for sentence in sentences(text):
        if ASKS.search(sentence) or _OPEN.search(sentence) or is_courtesy(sentence) or _words(sentence) > LONGEST:
            continue
        if _DENIES.search(sentence) and not _OF_OTHERS.search(sentence):
            continue
        if words := _new_in(sentence, question, brief, heard):
            return f"gives {words!r}, of which its scenario has nothing"
    return None


def _words(text: str) -> float:
    """Words of a text; a Chinese character is half a word."""
    return sum(0.5 if HAN.match(token) else 1 for token in tokens(text))


def _is_about(sentence: str, question: str) -> bool:
    topic = content(question) - _OF_ASKING
    shared = topic & content(sentence)
    return bool(shared and len(shared) >= _RELATED * len(topic)) or bool(kinds_named(question) & kinds_named(sentence))


def _new_in(sentence: str, question: str, brief: Brief, heard: ValueSet) -> str:
    """What a sentence states that neither the scenario nor the assistant has; empty if it states nothing new."""
    own = brief.own_values
    stated = values(sentence)
    if any(map(heard.has, stated)):
        return ""
    if stated:
        return stated[0].text
    texts = f"{own.folded}\n{heard.folded}"
    if (size := _SIZE.search(sentence)) and size.group().casefold() not in texts:
        return size.group()
    familiar = content(texts) | content(question)
    if kinds_named(sentence) & kinds_named(own.folded):
        return ""
    new = content(sentence) - familiar
    if not new or (content(sentence) & content(own.folded)):
        return ""
    if _words(sentence) <= SHORT or _STATES.search(sentence):
        return sentence.strip(" .。！!")
    return ""
