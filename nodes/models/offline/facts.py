"""The facts of a profile as their owner would tell them, in the order in which they matter to a task."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ....data.text.languages import Language
from .voices import READ, Words, begin_small, mine, phrases

MOST = 60
"""Facts that are kept of a profile."""

_LINE = re.compile(r"^[ \t]*\d+[ \t]*[.、．][ \t]*([^:：\n]{1,60})[:：][ \t]*(.*)$", re.MULTILINE)
_BETWEEN = re.compile(r"[,，、;；]\s*(?:and\s+|以及)?")
_ADVERB = re.compile(r"(?:\w+ly|often|always|never|rarely|sometimes|seldom|also|only|still) ", re.IGNORECASE)
_IRREGULAR = {"is": "am", "has": "have", "does": "do", "goes": "go"}
_HIS = re.compile(r"\b(?:his|her|their)\b")
_HE = re.compile(r"\b(?:he|she|they)\b")
_OBJECT = "a an the every each all his her their my it often little much only up out after"
"""Words behind a verb: what ends in s before them is one, known or not."""
_OWN = {"his or her": "my", "himself": "myself", "herself": "myself", "themselves": "myself", "oneself": "myself"}


@dataclass(frozen=True)
class Fact:
    """One value of a profile."""

    attribute: str
    value: str
    told: str
    """A clause in the first person: "I prefer local travel"."""


def facts_of(profile: str, kind: str, language: Language) -> list[Fact]:
    """Every value of a profile as a fact, the attributes that matter to a kind of task first."""
    words = phrases(language)
    order: list[str] = [*words["kinds"][kind]["attributes"], "background", "gender"]
    found: dict[str, list[str]] = {}
    for label, values in _LINE.findall(profile[:READ]):
        attribute = _attribute(label, language)
        single = attribute in ("gender", "age", "occupation")
        for value in [values] if single else _BETWEEN.split(values):
            if value := value.strip().rstrip(".。"):
                found.setdefault(attribute, []).append(value[:120])
    # Attribute by attribute, one value of each in turn, so that two facts of a turn are not of one kind.
    depth = max((len(values) for values in found.values()), default=0)
    ranked = [name for name in order if name in found]
    return [
        Fact(name, found[name][place], telling(name, found[name][place], language))
        for place in range(depth)
        for name in ranked
        if place < len(found[name])
    ][:MOST]


def _attribute(label: str, language: Language) -> str:
    for name, attribute in phrases(language)["attributes"].items():
        if re.search(attribute["label"], label, re.IGNORECASE):
            return str(name)
    return "other_aspects"


def telling(attribute: str, value: str, language: Language) -> str:
    """A value of an attribute as a clause in the first person.

    >>> telling("travel_habits", "Prefers local travel", "en")
    'I prefer local travel'
    """
    words = phrases(language)
    frame = str(words["attributes"][attribute]["frame"])
    if language == "zh":
        value = mine(value.replace("他", "我").replace("她", "我"), "zh")
        if attribute == "gender":
            return frame.replace("{x}", value) if value in ("男", "女") else f"我是{value}"
        if attribute == "age":
            return frame.replace("{x}", value.removesuffix("岁"))
        if value.startswith("我"):
            return value
        if value.endswith(("者", "人", "族", "迷", "党")) and attribute != "daily_interests":
            return f"我是{value}"
        framed = attribute in ("occupation", "personality", "background")
        return frame.replace("{x}", value) if framed or not _begins_with_verb(value) else f"我{value}"
    for other, own in _OWN.items():
        value = value.replace(other, own)
    return _in_english(attribute, _HE.sub("I", _HIS.sub("my", begin_small(value))), words)


def _begins_with_verb(value: str) -> bool:
    return re.match(phrases("zh")["verbs"], value) is not None


def _in_english(attribute: str, value: str, words: Words) -> str:
    frame = str(words["attributes"][attribute]["frame"])
    if value.startswith(("I ", "I'", "I’", "my ")):
        return value
    if attribute == "personality" and value.startswith(("a ", "very ", "quite ", "easily ")):
        return f"I am {value}"
    if attribute in ("age", "gender", "personality", "background"):
        return frame.replace("{x}", value)
    verb = _verb(value, str(words["verbs"]))
    if verb:
        return f"I {verb}"
    adverb = _ADVERB.match(value)
    first, *rest = value.split()[:9] or [""]
    adjective = str(words["adjectives"])
    says = re.fullmatch(adjective, first, re.IGNORECASE) or (len(rest) == 1 and re.fullmatch(adjective, rest[0]))
    if attribute == "occupation":
        value = " ".join(word.lower() if word[1:] == word[1:].lower() else word for word in value.split())
        if re.match(r"(?:retired|self-employed|unemployed|freelance)$", value) or value.startswith(("a ", "an ")):
            return f"I am {value}"
        return frame.replace("{a}", article(value)).replace("{x}", value)
    if attribute != "daily_interests" and (adverb or says):
        return f"I am {value}"
    if re.search(rf"\b(?:{words['persons']})$", value):
        return f"I am {value}" if value.startswith(("a ", "an ")) else f"I am {article(value)} {value}"
    return frame.replace("{x}", value)


def _verb(value: str, known: str) -> str:
    """The value with its verb in the first person, or nothing if it does not begin with a verb.

    >>> _verb("frequently travels for business", "travels")
    'frequently travel for business'
    """
    adverb = _ADVERB.match(value)
    before, rest = (adverb.group(), value[adverb.end() :]) if adverb else ("", value)
    first, _, behind = rest.partition(" ")
    likely = first.endswith("s") and not first.endswith("ss") and behind.split(" ", 1)[0] in _OBJECT.split()
    if first.casefold() not in known.split() and not likely:
        return ""
    # A second verb of the same value agrees with the first: "enjoys hiking and loves tents".
    behind = " ".join(
        _base(word) if before_it in ("and", "but", "or") and word in known.split() else word
        for before_it, word in _pairs(behind)
    )
    return f"{before}{_base(first.casefold())}{' ' + behind if behind else ''}"


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    before = ""
    for word in text.split():
        yield before, word
        before = word


def _base(verb: str) -> str:
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    if verb.endswith("ies") and len(verb) > 4:
        return verb[:-3] + "y"
    if verb.endswith(("sses", "shes", "ches", "xes", "zzes")):
        return verb[:-2]
    return verb[:-1]


def article(noun: str) -> str:
    """`a` or `an`, by the first letters alone."""
    return "an" if re.match(r"(?!uni|eu|one|us[ei])[aeiou]", noun, re.IGNORECASE) else "a"
