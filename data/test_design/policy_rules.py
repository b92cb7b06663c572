"""Rules of a policy or a handbook, in English and Chinese, and the tools that they forbid.

A rule is an item of a list, or a sentence with a word such as must, only, not or unless.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...errors import DataError
from ..documents import Document
from ..text.languages import language_of
from ..text.sentence_splitting import sentences
from .tool_schemas import ToolSchema

_RULE = re.compile(
    r"\b(?:must|only|not|cannot|never|unless|always|shall|need to|needs to|required?|forbidden|prohibited|allowed|permitted"
    r"|have to|has to|no)\b|n['’]t\b|必须|务必|应当?|只|仅|不|禁止|除非|一律|须",
    re.IGNORECASE,
)
_FORBIDS = re.compile(
    r"\b(?:(?:must|may|can|shall|should|do|does|will|are|is) not|cannot|never|no longer|forbidden|prohibited|no)\b"
    r"|\b(?:must|may|ca|should|do|does|wo|is|are)n['’]t\b|不得|不能|不可以?|不许|不予|不允许|禁止|严禁|切勿",
    re.IGNORECASE,
)
_LIMITS = re.compile(r"\bonly\b|只有|只能|只限|仅限?|只可", re.IGNORECASE)
_SPEECH = re.compile(
    r"^\W*(?:be |to )*(?:say|tell|mention|promise|claim|reveal|show|share|state|guess|invent|make up|offer|ask|discuss|disclose)\b"
    r"|^(?:说|告诉|透露|承诺|声称|提及|编造|泄露|猜)",
    re.IGNORECASE,
)
_ITEM = re.compile(r"^\s*(?:[-*+•–]|\(?(?:\d{1,3}|[a-zA-Z])[.)、]|[（(]?[一二三四五六七八九十]{1,3}[)）、.])\s*")
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*", re.ASCII)
_HAN = re.compile(r"[\u4e00-\u9fff]{2,}")
FEWEST = 3
"""Fewest words of an item that is a rule; in Chinese, twice as many characters."""


@dataclass(frozen=True)
class PolicyRule:
    """A rule of a policy."""

    number: int
    """From 1, in the order of the documents."""
    text: str
    place: str
    """The document, for people."""

    @property
    def name(self) -> str:
        """Its name as a level of a design."""
        return f"rule {self.number}"

    @property
    def short(self) -> str:
        """Its number and its first words."""
        return f"{self.name}: {self.text if len(self.text) <= _SHOWN else self.text[: _SHOWN - 1] + '…'}"

    def terms(self, values: Iterable[str]) -> frozenset[str]:
        """Those of the values that the rule names: what it is about."""
        words = {word.casefold() for word in _WORD.findall(self.text)}
        return frozenset(
            value for value in values if value.casefold() in words or (_HAN.fullmatch(value) and value in self.text)
        )

    def forbids(self, tool: ToolSchema, tools: Sequence[ToolSchema]) -> bool:
        """Whether the rule forbids calls of a tool, by the words of its description; a rule about words forbids none."""
        return any(_names(clause, tool, tools) for clause in self._clauses)

    @property
    def limits(self) -> bool:
        """Whether it allows a thing only for the values that it names, and forbids it for others."""
        return bool(_LIMITS.search(self.text)) and not _FORBIDS.search(self.text)

    def names_only(self, tool: ToolSchema) -> bool:
        """Whether its words are those of a tool's description and of a negation, so that it has no condition."""
        described = f"{tool.description} {' '.join(argument.label for argument in tool.arguments)}"
        if language_of(self.text) == "zh":
            return not set("".join(_HAN.findall(_FORBIDS.sub("", self.text)))) - set(described + _PLAIN_ZH)
        own = {_stem(word) for word in _WORD.findall(f"{described} {tool.name.replace('_', ' ')}")}
        words = _WORD.findall(_FORBIDS.sub(" ", self.text))
        return not {_stem(word) for word in words if word.casefold() not in _PLAIN_EN} - own

    @property
    def _clauses(self) -> list[str]:
        """What its sentences forbid, without what they say must not be said."""
        texts: list[str] = []
        for sentence in sentences(self.text):
            match = _FORBIDS.search(sentence) or _LIMITS.search(sentence)
            if match is None or _SPEECH.search(sentence[match.end() :].lstrip()):
                continue
            after = sentence[match.end() :]
            texts.append(after if len(after.split()) > 1 or len(_HAN.findall(after)) else sentence)
            if _LIMITS.search(sentence) or re.match(r"\W*(?:allowed|permitted|possible)\b|允许|可以", after.lstrip()):
                texts[-1] = sentence
        return texts


_SHOWN = 70
_PLAIN_EN = frozenset("a an the any to it is be of for must may can will shall should you we ever".split())
_PLAIN_ZH = "的得为给把将任何您你我们会再可以"


def rules_of(documents: Iterable[Document]) -> tuple[PolicyRule, ...]:
    """The rules of documents, each text once; DataError without any."""
    texts: dict[str, str] = {}
    names: list[str] = []
    for document in documents:
        names.append(document.name)
        for block in document.blocks:
            if block.level is None:
                for text in _texts(block.text):
                    texts.setdefault(text, document.name)
    if not texts:
        where = ", ".join(names) or "the policy"
        raise DataError(f"{where}: has no rule: write list items, or sentences with must, only, not or unless")
    return tuple(PolicyRule(number, text, place) for number, (text, place) in enumerate(texts.items(), start=1))


def _texts(block: str) -> Iterable[str]:
    """The rules of a paragraph or list: whole items, with the lines that go on with them, and single sentences."""
    item = ""
    for line in block.split("\n"):
        if match := _ITEM.match(line):
            yield from _item(item)
            item = line[match.end() :].strip()
        elif item and line[:1].isspace():
            item += ("" if _ends_in_han(item) else " ") + line.strip()
        else:
            yield from _item(item)
            item = ""
            yield from (sentence for sentence in sentences(line.strip()) if _RULE.search(sentence))
    yield from _item(item)


def _item(text: str) -> Iterable[str]:
    if len(text.split()) >= FEWEST or len("".join(_HAN.findall(text))) >= 2 * FEWEST:
        yield text


def _ends_in_han(text: str) -> bool:
    return bool(re.search(r"[\u3000-\u9fff\uff00-\uffef]$", text))


def _names(clause: str, tool: ToolSchema, tools: Sequence[ToolSchema]) -> bool:
    """Whether a clause names what a tool does."""
    if language_of(tool.description or tool.name) == "zh":
        own = _bigrams(tool.description)
        for other in tools:
            own = own if other is tool else own - _bigrams(other.description)
        return any(pair in clause for pair in own)
    return bool(_verbs(tool) & {_stem(word) for word in _WORD.findall(clause)})


def _bigrams(text: str) -> set[str]:
    head = "".join(_HAN.findall(text.split("。")[0].split("，")[0]))[:_HEAD]
    return {head[place : place + 2] for place in range(len(head) - 1)}


_HEAD = 6
"""Characters of a Chinese description that name the deed."""
_NO_VERB = frozenset("get set do make the a an use tool run call is it this to for".split())


def _verbs(tool: ToolSchema) -> set[str]:
    """The stems of the verb that a tool's description begins with, and of its name's words."""
    words = [*_WORD.findall(tool.description)[:1], *_WORD.findall(tool.name.replace("_", " "))[:1]]
    return {_stem(word) for word in words if word.casefold() not in _NO_VERB}


def _stem(word: str) -> str:
    """An English word without its ending.

    >>> [_stem(word) for word in ("moved", "Move", "cancelled", "refunds", "booking")]
    ['mov', 'mov', 'cancel', 'refund', 'book']
    """
    stem = re.sub(r"(?:ations?|ing|ed|es|s|e)$", "", word.casefold()) if len(word) > _SHORTEST else word.casefold()
    return re.sub(r"([b-df-hj-np-tv-z])\1$", r"\1", stem)


_SHORTEST = 3


def leaves(value: Any) -> set[str]:
    """The words among the values of a JSON value: texts without a digit, of at most 20 characters."""
    if isinstance(value, Mapping):
        return {leaf for one in value.values() for leaf in leaves(one)}
    if isinstance(value, list | tuple):
        return {leaf for one in value for leaf in leaves(one)}
    if isinstance(value, str) and 1 < len(value) <= _WORDS and not any(map(str.isdigit, value)):
        return {value}
    return set()


_WORDS = 20
