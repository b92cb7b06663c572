"""What labels say, part by part: value, votes and whose they are."""

import math
from collections.abc import Iterator
from typing import Any, Literal, TypeAlias

from .. import domains
from ..recllmsim.published_labels import PEOPLES_INTENTS
from ..records import HUMAN, SCORES, Conversation, Label, Message, as_object, is_object

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
REMARKS = frozenset({"memo", "reason"})
"""Parts, and keys, that are remarks on a value beside them."""
NO_JUDGEMENTS = {*FACTS, *REMARKS, SCORES, "intent_zh", "profile_mapped", "questionnaire", "preference_summary",
                 "preference_summary_old", "conflict"}  # fmt: skip
"""Keys of labels that judge neither behaviour nor quality."""


def parts_of(name: str, label: Label) -> dict[str, Label]:
    """A label by part, of the scores each with its value; a part that is called like the label is the label, and empty."""
    said = [one for one in (label.value, *label.votes) if is_object(one)]
    parts = dict.fromkeys(part for one in said for part in one)
    found = {} if said else {"": label}
    for part in parts:
        value = as_object(label.value).get(part)
        value = as_object(value).get("value") if name == SCORES else value
        votes = tuple(vote.get(part) for vote in label.votes if is_object(vote))
        own = part in (name, name.removesuffix(HUMAN))
        found["" if own else part] = Label(value=value, votes=votes, by=label.by)
    return found


def labels_in(holder: Conversation | Message) -> Iterator[tuple[str, str, Label]]:
    """Each label of a conversation or message part by part: its name, the part, and what it says."""
    for name, label in holder.labels.items():
        for part, of_part in parts_of(name, label).items():
            yield name, part, of_part


def label_name(name: str, part: str) -> str:
    """The name of a part of a label, as `agreement --between` takes it: `mood`, `rating.Detail Level`."""
    return f"{name}.{part}" if part else name


def whole_value(holder: Conversation | Message, name: str) -> Any:
    """The value of a label without parts, or of the part called like it; else None, as without one and for a tie."""
    return parts_of(name, holder.labels.get(name, Label())).get("", Label()).value


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
    for found in (annotations_in(conversation), *map(annotations_in, conversation.messages)):
        for name, values in found.items():
            merged.setdefault(name, []).extend(value.lower() for value in values)
    return merged


def annotations_in(holder: Conversation | Message) -> dict[str, list[str]]:
    """Values of each label that says something of behaviour or quality, by name; of votes the result counts.

    Each part of a conversation's label is a label; labels of messages that have parts are left out.
    """
    found: dict[str, list[str]] = {}
    for name, part, label in labels_in(holder):
        values = plain_values(label.value)
        is_aside = name in NO_JUDGEMENTS or part in REMARKS or (part and isinstance(holder, Message))
        if values and not is_aside:
            of_people = isinstance(label.value, list) and PEOPLES_INTENTS.issuperset(map(str, label.value))
            full = " ".join(filter(None, (name, part))).replace("_", " ")
            found[PEOPLES_INTENT if name == "intent" and of_people else full] = values
    return found


def side_of(conversation: Conversation) -> AnnotationSide:
    """Whether the user is simulated or one of people, by the kind of conversation."""
    sides: dict[bool | None, AnnotationSide] = {True: "simulated", False: "people", None: "not told"}
    return sides[domains.of(conversation).simulated(conversation)]
