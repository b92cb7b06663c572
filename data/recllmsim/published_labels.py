"""Where and in which shape each label is published, in each of the three editions of RecLLMSim's labels.

The editions give the same objects different keys: `strategy_V2` is the broadness of the questions in one and their order
in another. An object is therefore known by its parts, never by its key, and from the moment that a file is read it has the name
of its label page, such as `style`, and people's the same with `_human`. Writing gives it a key of the edition again.
"""

import json
import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from ...errors import DataError
from ..records import HUMAN, Label, as_object, is_object

FINAL = "final"
"""Key of what votes come to; they stand beside it under their numbers."""
KEYS = "label_keys"
"""Field of a read conversation's `extra`: by the name of a label the key that its file has."""

EDITIONS: Mapping[str, Mapping[str, str]] = {
    "Human_Vs_Agent": {
        "solving": "strategy_V1", "broadness": "strategy_V2", "style": "strategy_V3", "advice": "strategy_V4",
    },
    "main": {
        "first_taxonomy": "strategy", "order_and_feedback": "strategy_V2", "broadness_and_feedback": "strategy_V3",
        "first_taxonomy_1120": "strategy_1120",
    },
    "satisfaction": {
        "solving": "strategy_V1", "order_and_feedback": "strategy_V2", "broadness_and_feedback": "strategy_V3",
        "style": "strategy_V4", "advice": "strategy_V5", "first_taxonomy": "strategy_V1_deprecated",
        "style_deprecated": "strategy_V4_deprecated", "first_taxonomy_1120": "strategy_1120",
    },
}  # fmt: skip
"""By the branch of the published repository: the key of each label. A new label gets that of the first that fits."""

LABELS = ("chat_model", "questionnaire", "conflict", "preference_summary_old", "preference_summary", "rating",
          "satisfaction", "profile_mapped", "post_questions")  # fmt: skip
"""Annotations of a conversation in file order, without votes. Those that begin with `strategy` follow them, sorted."""
OF_MESSAGE = ("content_zh", "intent", "intent_zh", "hallucination", "content_zh_old", "satisfaction", "reason")
"""Annotations of a message in file order; what else stands beside its text is a label of somebody's own."""
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
    values = stored.values() if FINAL in stored else (stored,)
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
    for edition in EDITIONS.values():
        every = {**edition, **{f"{name}{HUMAN}": peoples(key) for name, key in edition.items()}}
        keys = {**there, **{name: every.get(name, "") for name in new}}
        label_under = {key: name for name, key in every.items()}
        fits = all(label_under.get(key, name) == name for name, key in there.items())
        if not new or (fits and "" not in keys.values() and len({*keys.values()}) == len(keys)):
            return {name: keys.get(name, name) for name in names}
    beside = f" beside {', '.join(sorted(there))}" if there else ""
    raise DataError(
        f"{f'{where}: ' if where else ''}no edition of the published labels has {', '.join(new)}{beside}: ask for them in another "
        "copy, or convert the data to records first, which hold every label by its name"
    )


def peoples(key: str) -> str:
    """The key of people's labels beside a model's.

    >>> peoples("strategy_V2"), peoples("strategy_V1_deprecated")
    ('strategy_human_V2', 'strategy_human_V1')
    """
    return key.replace("strategy", f"strategy{HUMAN}", 1).removesuffix("_deprecated")


# --- The shape in which a value is published

_QUESTIONNAIRE = {
    "Memorization": "在对话过程中，对方是否有发生对前文出现遗忘的情况",
    "Detail": "总体来说，对方给出的回答结果和描述有多详细，此处的详细指单个选项（如某个菜/旅游目的地）的介绍详细程度",
    "Availability": "总体来说，对方给出的回答对你现实中真实遇到类似的问题有多少参考和使用价值",
    "Diversity": "请从对话整体为对方回答的多样性打分",
}
"""By part what people were asked: published is a list of `{query, summary, option}`."""
_NUMBER = re.compile(r"-?[0-9]{1,9}")


def label_of(name: str, stored: Any) -> Label:
    """The label that a file holds so; votes with their result are `{final: ..., "1": ..., "2": ...}`.

    >>> label_of("satisfaction", "4").value, label_of("mood", {"final": None, "1": "good", "2": "bad"}).votes
    (4, ('good', 'bad'))
    """
    by = ("people",) if HUMAN in name else ()
    numbers = sorted((key for key in as_object(stored) if key.isascii() and key.isdecimal()), key=int)
    if not is_object(stored) or not stored or stored.keys() - {*numbers} - {FINAL}:
        return Label(value=_value(name, stored), by=by)
    votes = tuple(_value(name, stored[number]) for number in numbers)
    return Label(value=_value(name, stored.get(FINAL)), votes=votes, by=by)


def published(name: str, label: Label) -> Any:
    """The label as a file holds it: behaviour, a tie, and what is no published label, with the votes."""
    values = {FINAL: label.value, **{str(number): vote for number, vote in enumerate(label.votes, start=1)}}
    shaped = {key: _published(name, value) for key, value in values.items()}
    with_votes = label.votes and (label.value is None or name not in (*LABELS, *OF_MESSAGE))
    return shaped if is_behaviour(name) or with_votes else shaped[FINAL]


def _value(name: str, stored: Any) -> Any:
    match name.removesuffix(HUMAN), stored:
        case "questionnaire", [{"summary": str(), "option": _}, *_]:
            return {str(row.get("summary")): row.get("option") for row in map(as_object, stored)}
        case "satisfaction", str() if _NUMBER.fullmatch(stored):
            return int(stored)
        case "profile_mapped", {**parts}:
            return {part: _english(value) for part, value in parts.items()}
    return stored


def _published(name: str, value: Any) -> Any:
    match name.removesuffix(HUMAN), value:
        case "questionnaire", {**options}:
            asked = {part: _QUESTIONNAIRE.get(str(part), "") for part in options}
            return [{"query": asked[part], "summary": part, "option": option} for part, option in options.items()]
        case "satisfaction", int():
            return str(value)
        case "profile_mapped", {**parts}:
            return {part: _in_both(one) if str(part)[:1].isupper() else one for part, one in parts.items()}
    return value


def _english(value: Any) -> Any:
    if isinstance(value, list):
        return [_english(one) for one in value]
    word = value.get("en") if is_object(value) else value
    return int(word) if isinstance(word, str) and _NUMBER.fullmatch(word) else word


def _in_both(value: Any) -> Any:
    """Published profiles of simulated users, whose parts begin with a capital, are in both languages."""
    if isinstance(value, list):
        return [_in_both(one) for one in value]
    return value if value is None else {"en": str(value), "zh": chinese(str(value))}


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


def chinese(word: str) -> str:
    """The Chinese word for an English one of the closed lists; the word itself where there is none."""
    return _translations().get(word, word)


@cache
def _translations() -> dict[str, str]:
    pairs = [pair for words in _vocabulary().values() for pair in words.items()]
    return {"Female": "女", "Male": "男"} | {english: chinese for chinese, english in pairs}
