"""What labels say, part by part: value, votes and whose they are, from any stored shape.

A label is stored as a value, or as an object with a value for each part. It may also be the result of votes with the
votes beside it (`{final, 1, 2, 3}`), or an object that has the label under its own name, with further keys such as a
memo. Scores are stored as an object for each scorer. `Label` is the one form of all of them.
"""

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from .. import domains
from ..recllmsim.published_labels import HUMAN, PEOPLES_INTENTS, by_part
from ..records import Conversation, Message, as_object

FINAL = "final"
"""Key of what the votes come to; the votes stand beside it under their numbers."""
SCORES = "scores"
"""The conversation's label in which scores are."""

_NO_VALUES = frozenset({"", "null", "none", "nan", "n/a", "not judged", "not annotated"})
"""Words, in any case, of a missing judgement: not a value of a label."""

_SAME = {
    "其他": "others", "其它": "others", "否": "no", "是": "yes", "无法判断": "cannot tell", "false": "no", "true": "yes",
}  # fmt: skip
"""Values of the published annotations that mean the same; of intents none, as those of people are another measurement."""

AnnotationSide: TypeAlias = Literal["simulated", "people", "not told"]
SIDES: tuple[AnnotationSide, ...] = ("simulated", "people", "not told")
PEOPLES_INTENT = "intent people"
"""Name of people's intents: another measurement than that of simulated users' intents, so the two are never compared."""

FACTS = frozenset({"chat_model", "topic_id", "quac"})
"""Keys among labels that are facts of the source, such as the assistant's name, which nobody judged."""
NO_JUDGEMENTS = FACTS | {
    *("memo", "reason", "intent_zh"),  # remarks on another label
    *("profile_mapped", "questionnaire", "preference_summary", "preference_summary_old", "conflict"),
}
"""Keys of labels that judge neither behaviour nor quality."""


@dataclass(frozen=True)
class Label:
    """The content of a label, or of one part: its value as it is stored, and the votes on it."""

    key: str
    part: str = ""
    """Empty if the label has no parts."""
    value: Any = None
    """None in a tie."""
    votes: tuple[Any, ...] = ()
    """In their order."""
    by: Literal["people", "scorer", ""] = ""
    """Who gave it, as far as its place shows: people (`mood_human`), or a scorer."""
    beside: bool = False
    """Whether it stands beside the label, such as a memo or the error of a score, and is not a part of it."""

    @property
    def name(self) -> str:
        """Its name, as `agreement --between` takes it."""
        return label_name(self.key, self.part)


def labels_in(holder: Conversation | Message) -> Iterator[Label]:
    """The content of each label of a conversation or message, part by part."""
    for key, stored in label_keys(holder).items():
        yield from read(key, stored)


def label_keys(holder: Conversation | Message, also: Collection[str] = ()) -> Mapping[str, Any]:
    """The stored labels of a conversation or message.

    They include some that the reader of a file leaves aside: people's labels (`mood_human`), the labels that these
    measure (`mood`), and those of the keys `also`.
    """
    aside = kept_aside(holder)
    peoples = {key for key in aside if HUMAN in key}
    own = {*peoples, *(key.replace(HUMAN, "", 1) for key in peoples), *also}
    return {**{key: value for key, value in aside.items() if key in own}, **holder.labels}


def kept_aside(holder: Conversation | Message) -> Mapping[str, Any]:
    """The keys of a published file that its reader leaves aside, of a conversation or of a message."""
    return as_object(as_object(holder.extra.get("file" if isinstance(holder, Conversation) else "turn")).get("values"))


def read(key: str, stored: Any) -> Iterator[Label]:
    """What is stored under a key, part by part; a label without parts has an empty one."""
    by: Literal["people", ""] = "people" if HUMAN in key else ""
    stored = by_part(stored)
    if not isinstance(stored, Mapping):
        yield Label(key, "", stored, (), by)
        return
    if key == SCORES:
        for name, score in stored.items():
            is_score = isinstance(score, Mapping)
            yield Label(SCORES, name, score.get("value") if is_score else score, (), "scorer" if is_score else by)
        return
    beside: dict[str, Any] = {}
    if key in stored:
        beside = {name: value for name, value in stored.items() if name != key}
        stored = stored[key]
    numbers, votes = vote_numbers(stored), []
    if numbers or (isinstance(stored, Mapping) and FINAL in stored):
        beside |= {name: value for name, value in stored.items() if name not in (FINAL, *numbers)}
        votes = [stored[number] for number in numbers]
        stored = stored.get(FINAL)
    stored, *votes = map(by_part, (stored, *votes))
    with_parts = [value for value in (stored, *votes) if isinstance(value, Mapping)]
    if not with_parts:
        yield Label(key, "", stored, tuple(votes), by)
    for part in dict.fromkeys(part for value in with_parts for part in value):
        value = stored.get(part) if isinstance(stored, Mapping) else None
        yield Label(key, part, value, tuple(vote.get(part) for vote in votes if isinstance(vote, Mapping)), by)
    for name, value in beside.items():
        yield Label(key, name, value, (), by, beside=True)


def value_of(key: str, stored: Any) -> Any:
    """The value of a label without parts; None for a label with parts, and for a tie."""
    return next((label.value for label in read(key, stored) if not label.part), None)


def vote_in(stored: Any, vote: str = FINAL) -> Any:
    """What stands under a vote's number, or what the votes come to; without votes it is the value itself."""
    return stored.get(vote) if isinstance(stored, Mapping) and FINAL in stored else stored


def vote_numbers(stored: Any) -> list[str]:
    """The numbers of the votes that are stored, in order; none if it has no votes."""
    if not isinstance(stored, Mapping):
        return []
    numbers = [key for key in stored if key.isascii() and key.isdigit()]
    has_votes = FINAL in stored or len(numbers) == len(stored)
    return sorted(numbers, key=lambda name: (len(name), name)) if has_votes else []


def label_name(key: str, part: str = "") -> str:
    """The name of a label or of a part of it, as `agreement --between` takes it.

    Examples are `mood` and `rating.Detail Level`. A part that is called like its label is the label.
    """
    return key if part in ("", key, key.replace(HUMAN, "", 1)) else f"{key}.{part}"


def plain_values(value: Any) -> list[str]:
    """The values of one label as texts, equivalent ones alike; empty without votes."""
    texts = [_text(item).strip() for item in (value if isinstance(value, list) else [value])]
    return [_SAME.get(text.lower(), text) for text in texts if text.lower() not in _NO_VALUES]


def values_of(value: Any) -> list[str]:
    """The values as texts in lower case, equivalent ones alike; empty without votes."""
    return [text.lower() for text in plain_values(value)]


def is_other(value: Any) -> bool:
    """Whether a value is `other` in any spelling: published studies leave it out, as it has no meaning."""
    return values_of(value) in (["other"], ["others"])


def _text(value: Any) -> str:
    """A text, a number or yes and no as text; empty for anything else, which is not a value."""
    if isinstance(value, float):
        if not math.isfinite(value):
            return ""
        return str(int(value) if value.is_integer() else value)  # pandas writes 4.0 for 4 beside missing ones
    return str(value) if isinstance(value, str | int) else ""


def annotations_of(conversation: Conversation) -> dict[str, list[str]]:
    """Values of each label by name, of the conversation and of all its messages together, in lower case."""
    merged: dict[str, list[str]] = {}
    for labels in (of_conversation(conversation), *map(of_message, conversation.messages)):
        for name, values in labels.items():
            merged.setdefault(name, []).extend(value.lower() for value in values)
    return merged


def of_message(message: Message) -> dict[str, list[str]]:
    """Values of each label of a message by name; labels with parts are left out."""
    return {_name(label): values for label, values in _annotations(message) if not label.part}


def of_conversation(conversation: Conversation) -> dict[str, list[str]]:
    """Values of each label of the conversation as a whole, by name; each part is a label."""
    return {_name(label): values for label, values in _annotations(conversation)}


def _annotations(holder: Conversation | Message) -> Iterator[tuple[Label, list[str]]]:
    """Each label that says something of behaviour or quality, with its values; of votes the result counts."""
    for key, stored in holder.labels.items():
        if key not in NO_JUDGEMENTS:
            for label in read(key, stored):
                if not (label.beside or label.by == "scorer") and (values := plain_values(label.value)):
                    yield label, values


def _name(label: Label) -> str:
    if label.key == "intent" and isinstance(label.value, list) and PEOPLES_INTENTS.issuperset(label.value):
        return PEOPLES_INTENT
    return " ".join(filter(None, (label.key, label.part))).replace("_", " ")


def side_of(conversation: Conversation) -> AnnotationSide:
    """Whether the user is simulated or one of people, by the kind of conversation."""
    sides: dict[bool | None, AnnotationSide] = {True: "simulated", False: "people", None: "not told"}
    return sides[domains.of(conversation).simulated(conversation)]
