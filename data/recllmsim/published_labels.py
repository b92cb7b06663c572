"""Where and in which shape each label is published, in each of the three editions of RecLLMSim's labels.

The editions give the same objects different keys: `strategy_V2` is the broadness of the questions in one and their order
in another. An object is therefore known by its parts, never by its key, and from the moment that a file is read it has the name
of its label page, such as `style`, and people's the same with `_human`. Writing gives it a key of the edition again.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from ...errors import DataError

HUMAN = "_human"
"""What the name of people's label has that the model's has not."""
KEYS = "label_keys"
"""Field of a read conversation's `extra`: by the name of a label the key that its file has."""

EDITIONS: Mapping[str, Mapping[str, str]] = {
    "Human_Vs_Agent": {
        "strategy_V1": "solving", "strategy_V2": "broadness", "strategy_V3": "style", "strategy_V4": "advice",
    },
    "main": {
        "strategy": "first_taxonomy", "strategy_V2": "order_and_feedback", "strategy_V3": "broadness_and_feedback",
        "strategy_1120": "first_taxonomy_1120",
    },
    "satisfaction": {
        "strategy_V1": "solving", "strategy_V2": "order_and_feedback", "strategy_V3": "broadness_and_feedback",
        "strategy_V4": "style", "strategy_V5": "advice", "strategy_V1_deprecated": "first_taxonomy",
        "strategy_V4_deprecated": "style_deprecated", "strategy_1120": "first_taxonomy_1120",
    },
}  # fmt: skip
"""By the branch of the published repository: the label under each key. A new label gets the key of the first that fits."""

_KEY = re.compile(r"strategy(?P<human>_human)?(_V\d+|(?P<judge>_1120))?(?P<first>_deprecated)?")
_PARTS: Mapping[str, tuple[str, str, str]] = {
    "broadness_and_feedback": ("question_broadness", "feedback", "context_dependency"),
    "broadness": ("question_broadness", "", "context_dependency"),
    "order_and_feedback": ("order", "feedback", ""),
    "solving": ("problem_solving", "", "order"),
    "first_taxonomy": ("information_request context question", "", "order"),
    "style": ("explanation promise politeness formality", "", "context_dependency feedback"),
    "advice": ("utility operability", "", ""),
}
"""By label: parts of which its object has one at least, as people's may lack some; a part that it has; further parts."""

BEHAVIOUR = frozenset({*_PARTS, "style_deprecated", "first_taxonomy_1120"})
"""Labels whose key depends on the edition."""

INTENTS = {"Planning": "规划", "Recommendation": "推荐", "Search": "检索", "Search & Recommendation": "检索+推荐",
           "Others": "其他"}  # fmt: skip
"""The intents of simulated users, with the translation that stands beside each as `intent_zh`."""
PEOPLES_INTENTS = frozenset({"推荐", "规划", "评估", "其它"})
"""The intents of people: another measurement, several for each message, in part with the same words."""


def object_of(key: str, stored: Any) -> str | None:
    """The label whose object stands under a key, by its parts; None if it is none of the published ones.

    Of the key only this is used: whether it is people's, another judge's (`strategy_1120`), or the first wording of the
    style (`strategy_V4_deprecated`), which have the parts of the others.

    >>> object_of("strategy_V3", {"final": {"explanation": "Rare", "promise": "NoPromise"}})
    'style'
    >>> object_of("strategy_human_V1", {"final": {"information_request": "Planning"}})
    'first_taxonomy_human'
    """
    named = _KEY.fullmatch(key)
    if named is None or not isinstance(stored, Mapping):
        return None
    values = stored.values() if "final" in stored else (stored,)
    parts = {part for value in values if isinstance(value, Mapping) for part in value}
    for name, texts in _PARTS.items():
        own, needed, further = map(set, map(str.split, texts))
        if parts & own and needed <= parts <= own | needed | further:
            first = "_deprecated" if named["first"] and name == "style" else ""
            return f"{name}{named['judge'] or ''}{first}{named['human'] or ''}"
    return None


def is_behaviour(name: str) -> bool:
    """Whether a label, the model's or people's, is one whose key depends on the edition."""
    return name.replace(HUMAN, "", 1) in BEHAVIOUR


def renamed(values: Mapping[str, Any]) -> dict[str, str]:
    """By the name of each behaviour label that a file has, its key; other labels have the name of their key."""
    keys: dict[str, str] = {}
    for key, stored in values.items():
        name = object_of(key, stored)
        if name is not None and name not in values:
            keys.setdefault(name, key)
    return keys


def keys_for(names: Iterable[str], there: Mapping[str, str], where: str = "") -> dict[str, str]:
    """The key of each label in a file; `there`: by name the keys of the behaviour labels that the file has.

    New ones get the keys of the first edition that has them all, and under whose keys no other label stands. DataError if
    none does.
    """
    names = list(names)
    new = [name for name in names if name not in there and is_behaviour(name)]
    known = {name: there.get(name, name) for name in names if name not in new}
    if not new:
        return known
    for edition in EDITIONS.values():
        every = [(key, name) for key, name in edition.items()]
        every += [(peoples(key), f"{name}{HUMAN}") for key, name in edition.items()]
        keys = {name: next((key for key, of_key in every if of_key == name), "") for name in new}
        fits = all((key, name) in every or key not in dict(every) for name, key in there.items())
        if "" not in keys.values() and fits and len({*keys.values(), *there.values()}) == len(keys) + len(there):
            return known | keys
    beside = f" beside {', '.join(sorted(there))}" if there else ""
    raise DataError(
        f"{f'{where}: ' if where else ''}no edition of the published labels has {', '.join(new)}{beside}: ask for them in another "
        "copy, or convert the data to records first, which hold every label by its name"
    )


def peoples(key: str) -> str:
    """The key of people's labels beside a model's: as in the published files, `strategy_human_V2`, else `KEY_human`.

    >>> peoples("strategy_V2"), peoples("strategy_V1_deprecated"), peoples("intent")
    ('strategy_human_V2', 'strategy_human_V1', 'intent_human')
    """
    if _KEY.fullmatch(key) is None:
        return f"{key}{HUMAN}"
    return key.replace("strategy", f"strategy{HUMAN}", 1).removesuffix("_deprecated")


@dataclass(frozen=True)
class Shape:
    """How the parts of a label are stored."""

    within: str | None = None
    """Key of the object that holds them; None: each stands by its own name."""
    place: Literal["labels", "extra"] = "labels"
    """Which field of a record holds them; translations are in `extra`."""
    as_text: frozenset[str] = frozenset()
    """Parts whose numbers are stored as texts."""
    pairs: bool = False
    """Whether each part is stored as `{en, zh}`."""
    also: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Further keys with a translation of the value."""
    queries: Mapping[str, str] = field(default_factory=dict)
    """By part what was asked, of an object that is stored as a list of `{query, summary, option}`."""

    def whole(self, parts: dict[str, Any]) -> Any:
        """The stored parts as what stands under `within`."""
        if not self.queries:
            return parts
        return [{"query": self.queries[part], "summary": part, "option": option} for part, option in parts.items()]

    def stored(self, part: str, value: Any) -> Any:
        """A value as it is stored; None stays None."""
        if isinstance(value, list):
            return [self.stored(part, item) for item in value]
        if value is None:
            return None
        if self.pairs:
            return {"en": str(value), "zh": _translations().get(str(value), str(value))}
        return str(value) if part in self.as_text else value

    def read(self, part: str, stored: Any) -> Any:
        """The value of what is stored; what is not a stored value is given as it is."""
        if isinstance(stored, list):
            return [self.read(part, item) for item in stored]
        if self.pairs and isinstance(stored, Mapping):
            stored = stored.get("en")
        is_number = part in self.as_text and isinstance(stored, str) and re.fullmatch(r"-?[0-9]{1,9}", stored)
        return int(stored) if is_number else stored


_QUESTIONNAIRE = {
    "Memorization": "在对话过程中，对方是否有发生对前文出现遗忘的情况",
    "Detail": "总体来说，对方给出的回答结果和描述有多详细，此处的详细指单个选项（如某个菜/旅游目的地）的介绍详细程度",
    "Availability": "总体来说，对方给出的回答对你现实中真实遇到类似的问题有多少参考和使用价值",
    "Diversity": "请从对话整体为对方回答的多样性打分",
}
_SHAPES: Mapping[str, Shape] = {
    "questionnaire": Shape("questionnaire", queries=_QUESTIONNAIRE),
    "rating": Shape("rating"),
    "satisfaction_conversation": Shape("satisfaction"),
    "hallucination": Shape("hallucination"),
    "profile_mapped": Shape("profile_mapped", as_text=frozenset({"Age"}), pairs=True),
    "profile_mapped_people": Shape("profile_mapped"),
    "satisfaction": Shape(as_text=frozenset({"satisfaction"})),
    "conflict": Shape(),
    "intent": Shape(also={"intent_zh": INTENTS}),
    **dict.fromkeys(
        ("translation", "translation_en", "translation_context", "translation_preference"), Shape(place="extra")
    ),
}
"""By label: the shape in which it is published. Behaviour labels have votes: `{final: {part: value}, 1: ..., 2: ...}`."""


def shape_of(name: str, *, votes: bool) -> Shape:
    """The shape of a label: the published one, else with votes an object under its name, without them no object."""
    return _SHAPES.get(name) or Shape(name if votes else None)


def by_part(stored: Any) -> Any:
    """A stored questionnaire, a list of `{query, summary, option}`, as its options by part; anything else as it is."""
    if not isinstance(stored, list) or not all(isinstance(row, Mapping) and "option" in row for row in stored):
        return stored
    return {str(row.get("summary")): row["option"] for row in stored} or stored


def closed_list(name: str) -> tuple[str, ...] | None:
    """The words of a published closed list, such as `personality en`; None if there is none of this name."""
    attribute, _, language = name.partition(" ")
    words = _vocabulary().get(attribute, {})
    return tuple(words.values() if language == "en" else words) if words and language in ("en", "zh") else None


@cache
def _vocabulary() -> dict[str, dict[str, str]]:
    """By attribute the Chinese words of its closed list, with the English ones: `desc_translated.json` of the data."""
    words: dict[str, dict[str, str]] = json.loads((files(__package__) / "vocabulary.json").read_text(encoding="utf-8"))
    return words


@cache
def _translations() -> dict[str, str]:
    pairs = [pair for words in _vocabulary().values() for pair in words.items()]
    return {"Female": "女", "Male": "男"} | {english: chinese for chinese, english in pairs}
