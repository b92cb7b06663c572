"""What people are asked to label, in which order, and what they answered."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from pydantic import Field

from .attempts import Json, Record
from .identity import digest
from .label_units import WHOLE, held, text_of, units_of
from .labels import LabelDefinition
from .records import Conversation
from .votes import Vote, entropy_of

Key: TypeAlias = tuple[str, str, int | None]
"""What an answer is about: label, conversation, message."""
VOTES = "final"
"""Key of what votes come to."""


class Answer(Record):
    """What one person answered about one thing."""

    label: str
    """Name of the label, or of the study."""
    conversation: str
    """Id of the conversation."""
    message: int | None = None
    """Number of the labelled message, from 0; None for the conversation as a whole."""
    path: str = ""
    """Path of its file, where the source has one."""
    value: Json = Field(default_factory=dict)
    """The value of each part; of an answer that was taken back, empty."""
    by: str
    """Who answered."""
    model_shown: bool = False
    """Whether the model's label was shown before the answer."""
    seen: str = ""
    """Digest of the text that it is about: an answer is not one about a text that has changed since. Empty: not known."""
    undone: bool = False
    """Whether it takes back the answer before it about the same thing."""

    @property
    def key(self) -> Key:
        """What it is about."""
        return self.label, self.conversation, self.message


class Item(Record):
    """One thing to label."""

    label: str
    conversation: str
    message: int | None = None
    path: str = ""
    seen: str = ""
    """Digest of the text that is labelled."""

    @property
    def key(self) -> Key:
        """What answers about it have as their key."""
        return self.label, self.conversation, self.message

    def answered(self, value: Mapping[str, Any], by: str, *, model_shown: bool = False) -> Answer:
        """The answer of a person about it."""
        return Answer(**self.model_dump(), value=dict(value), by=by, model_shown=model_shown)

    def is_of(self, answer: Answer) -> bool:
        """Whether an answer is about this thing as it is now."""
        return answer.key == self.key and answer.seen in ("", self.seen)

    def undone(self, by: str) -> Answer:
        """The line that takes an answer about it back."""
        return Answer(**self.model_dump(), by=by, undone=True)


def items_of(conversations: Iterable[Conversation], labels: Sequence[LabelDefinition]) -> list[Item]:
    """What there is to label: each conversation once for each label of the whole, and each message of the label's side;
    what has no text is left out, as are messages that are no part of the history."""
    items = []
    for conversation in conversations:
        path = conversation.extra.get("path")
        where: dict[str, Any] = {"conversation": conversation.id, "path": path if isinstance(path, str) else ""}
        for label in labels:
            for unit in units_of(conversation, label):
                if unit == WHOLE or conversation.messages[unit].text.strip():
                    message = None if unit == WHOLE else unit
                    seen = seen_of(conversation, label, unit)
                    items.append(Item(label=label.name, message=message, seen=seen, **where))
    return items


def seen_of(conversation: Conversation, label: LabelDefinition, unit: int) -> str:
    """Digest of the text that a label of a unit is about: of a message, of all messages, of the context or profile."""
    if unit != WHOLE or label.unit != "conversation":
        return digest("seen", text_of(conversation, label, unit))[:16]
    return digest("seen", [(each.role, each.text) for each in conversation.messages if each.stored])[:16]


def standing(answers: Iterable[Answer]) -> dict[Key, Answer]:
    """Of answers in their order those that stand: the last about each thing, unless it was taken back."""
    kept: dict[Key, Answer] = {}
    for answer in answers:
        if answer.undone:
            kept.pop(answer.key, None)
        else:
            kept[answer.key] = answer
    return kept


def in_order(
    items: Iterable[Item],
    labels: Mapping[str, LabelDefinition],
    conversations: Mapping[str, Conversation],
    others: Iterable[Answer] = (),
    seed: int = 0,
) -> list[Item]:
    """The items, what is disputed first: by the stored votes, and between the people who have answered so far.

    What is disputed alike stands conversation by conversation in an order by digest, which is the same for everybody, and
    within one as it was said.
    """
    said: dict[Key, list[Answer]] = {}
    for answer in others:
        said.setdefault(answer.key, []).append(answer)

    def place(item: Item) -> tuple[float, str, int]:
        label, conversation = labels[item.label], conversations[item.conversation]
        disputes = (*_stored_votes(label, conversation, item), *_answers(said.get(item.key, ())))
        most = max(map(entropy_of, disputes), default=0.0)
        return -most, digest("label", seed, item.conversation), WHOLE if item.message is None else item.message

    return sorted(items, key=place)


def model_value(label: LabelDefinition, conversation: Conversation, item: Item) -> dict[str, Any] | None:
    """What the data says itself; None if it has no such label."""
    return label.value_in(_held(label, conversation, item))


def _held(label: LabelDefinition, conversation: Conversation, item: Item) -> Mapping[str, Any]:
    return held(conversation, label, WHOLE if item.message is None else item.message)


def _stored_votes(label: LabelDefinition, conversation: Conversation, item: Item) -> list[list[Vote]]:
    """The votes of the data on each part."""
    labels, found = _held(label, conversation, item), list[list[Vote]]()
    for name, part in label.parts.items():
        voted = labels.get(part.within or name)
        if isinstance(voted, Mapping) and VOTES in voted:
            votes = (vote for number, vote in voted.items() if number != VOTES)
            found.append(_plain(vote.get(name) for vote in votes if isinstance(vote, Mapping)))
    return found


def _answers(answers: Sequence[Answer]) -> list[list[Vote]]:
    names = dict.fromkeys(name for answer in answers for name in answer.value)
    return [_plain(answer.value.get(name) for answer in answers) for name in names]


def _plain(values: Iterable[Any]) -> list[Vote]:
    """Values as votes; a list of values is one vote."""
    return [
        value if isinstance(value, (str, int, float, bool)) else repr(value) for value in values if value is not None
    ]
