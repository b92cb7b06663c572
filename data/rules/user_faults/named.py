"""Facts without a number that a user gives otherwise than its scenario: names, places, and sentences with one word changed."""

import re
from difflib import SequenceMatcher

from ...text.content_words import ASKS, content, sentences, tokens
from ...text.languages import HAN
from ...text.text_values import ValueSet, values
from ..courtesy import is_courtesy
from .brief import Brief

_CAPITAL = re.compile(r"(?<![\w'’-])[A-Z][a-zà-ÿ]+(?:[-'’][A-Za-z]+)*")
_NO_NAMES = frozenset(
    """i i'm i'd i'll i've yes no ok okay sure please thanks thank the a an my me it it's that this to in at on for from hi hello
    hey we our you your mr mrs ms dr monday tuesday wednesday thursday friday saturday sunday january february march april may
    june july august september october november december euros euro eur next about just there there's she he they one two
    three of course well and but so actually maybe light because both not never don't could can would is are was here's as
    what which how when where who let let's good great perfect fine right last yesterday today tomorrow also then goodbye bye never cheers nothing something anything only like put nobody none
    from use take make keep leave send have has get all any some both best up good hmm assistant user correct exactly sorry lets don""".split()
)
_LEAD_ZH = re.compile(
    r"^(?:是的?|我(?:的名字)?(?:叫|是|姓)|(?:姓名|名字|目的地|密码)(?:是|叫|：|:)?|(?:我|我们)?(?:要|想)?(?:飞|去|到)|在|从)+"
)
_TAIL_ZH = re.compile(r"[，。！？、,.!?\s]+|(?:吧|的|啊|呢|哦)$")
_SECRET = re.compile(
    r"^(?:it['’]?s|it is|the password is|my password is|密码是|是)?\s*(?P<word>[A-Za-z0-9]\w{3,})\W*$", re.IGNORECASE
)
_DECLINES = re.compile(
    r"\b(?:not|no|don['’]?t|can['’]?t|won['’]?t|rather|why|later|yes|okay|sure)\b|不|没|为什么", re.IGNORECASE
)
SHORT = 8
"""Most words of an answer in which a name is the answer."""
_FRAME = 0.6
"""Least share of the shorter sentence that two sentences share, at their begins and ends, to differ in one place."""


def named_otherwise(brief: Brief, heard: ValueSet, question: str, text: str, kinds: frozenset[str]) -> str | None:
    """The reason why a name, a place or a word is not the scenario's; None if it is."""
    if kinds & {"secret"} and (reason := _secret(brief, text)):
        return reason
    texts = f"{brief.own_values.folded}\n{heard.folded}".casefold()
    facts = [fact for fact in brief.facts if _is_about(fact, question, text, kinds)]
    answered = any(_is_answer(brief, sentence) for sentence in sentences(text))
    for sentence in sentences(text):
        for fact in facts:
            if (other := other_word(sentence, fact)) and not _stands_in(other, texts):
                return f"states {other!r}, its scenario {fact!r}"
        if (
            answered
            or not brief.declared
            or len(tokens(sentence)) > SHORT
            or _DECLINES.search(sentence)
            or is_courtesy(sentence)
            or ASKS.search(sentence)
        ):
            continue
        names = _names(sentence)
        new = [name for name in names if name.casefold() not in texts]
        named = [fact for fact in facts if _names(fact)]
        if (
            new
            and len(new) == len(names)
            and named
            and (kinds & {"name", "place"} or not kinds or _shares(named, question))
        ):
            return f"names {' '.join(new)!r}, its scenario {named[0]!r}"
        if new and "name" in kinds and not any(_is_name(fact) for fact in brief.texts):
            return f"gives the name {' '.join(new)!r}, of which its scenario has nothing"
        if "name" in kinds and (core := _core(sentence)) and not any(map(_is_name, brief.texts)):
            return f"gives the name {core!r}, of which its scenario has nothing"
        if kinds & {"name", "place"} and facts and (core := _core(sentence)) and not _stands_in(core, texts):
            return f"names {core!r}, its scenario {facts[0]!r}"
    return None


def _is_answer(brief: Brief, sentence: str) -> bool:
    """Whether a sentence names what the scenario has."""
    if any(name.casefold() in brief.own_values.folded for name in _names(sentence)):
        return True
    if any(map(brief.own_values.has, values(sentence))):
        return True
    core = _core(sentence)
    return bool(core) and core in brief.own_values.folded


def _secret(brief: Brief, text: str) -> str | None:
    match = _SECRET.match(text.strip())
    if match is None or _DECLINES.search(text) or match["word"].casefold() in brief.own_values.folded:
        return None
    return f"gives {match['word']!r}, of which its scenario has nothing"


def _is_about(fact: str, question: str, text: str, kinds: frozenset[str]) -> bool:
    """Whether a fact may be what the question is about, or what the answer states."""
    if content(fact) & (content(question) | content(text)):
        return True
    if "name" in kinds:
        return _is_name(fact)
    return "place" in kinds and re.search(r"\b(?:to|from|in|at) [A-Z]|[飞去到在]", fact) is not None


def _is_name(fact: str) -> bool:
    return re.search(r"\bname\b|\bi am [A-Z]|\bcalled\b|叫|姓名|名字", fact, re.IGNORECASE) is not None


def _shares(facts: list[str], question: str) -> bool:
    return any(content(fact) & content(question) for fact in facts)


def _names(sentence: str) -> list[str]:
    """Words with a capital letter that are names by their form."""
    return [name for name in _CAPITAL.findall(sentence) if name.casefold().replace("’", "'") not in _NO_NAMES]


def _core(sentence: str) -> str:
    """A short Chinese answer without the words around it; empty if it is long or English."""
    core = _TAIL_ZH.sub("", _LEAD_ZH.sub("", sentence.strip()))
    return core if 2 <= len(core) <= 6 and all(map(HAN.match, core)) else ""


def _stands_in(words: str, texts: str) -> bool:
    """Whether words, or two neighbouring Chinese characters of them, stand in texts."""
    if not HAN.search(words):
        return all(word in texts for word in words.casefold().split())
    return any(words[place : place + 2] in texts for place in range(max(1, len(words) - 1)))


def other_word(sentence: str, other: str) -> str:
    """The words of a sentence in the one place in which it differs from another; empty if it differs otherwise."""
    one, two = tokens(sentence), tokens(other)
    match = SequenceMatcher(None, one, two, autojunk=False)
    first = next(iter(match.get_matching_blocks()))
    begin = first.size if first.a == first.b == 0 else 0
    end = 0
    while end < min(len(one), len(two)) - begin and one[-1 - end] == two[-1 - end]:
        end += 1
    chunk, chunk_of_other = one[begin : len(one) - end], two[begin : len(two) - end]
    if begin + end < _FRAME * min(len(one), len(two)) or begin + end < 3 or begin + end < end + 2:
        return ""
    gap = "" if all(map(HAN.match, chunk)) else " "
    words = gap.join(chunk)
    if (
        not content(words)
        or not content(gap.join(chunk_of_other))
        or content(words) & content(gap.join(chunk_of_other))
    ):
        return ""
    return words if len(chunk) <= 6 else ""
