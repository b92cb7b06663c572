"""What people are asked to label, in which order, and what they answered."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from pydantic import Field

from ..identity import digest
from ..records import Conversation, Json, Record
from .definition import LabelDefinition
from .reading import vote_numbers
from .units import WHOLE, labels_at, text_of, units_of
from .votes import Vote, entropy_of

LabelKey: TypeAlias = tuple[str, str, int | None]
"""What an answer is about: label, conversation, message."""


ChosenBy: TypeAlias = Literal["disputed", "random"]
"""How items are chosen for labelling: those with annotator disagreement first, or at random with the seed."""


class LabelAnswer(Record):
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
    chosen_by: ChosenBy | Literal[""] = ""
    """The order in which the item was reached; `random` too without any annotator disagreement. Empty: not known."""
    seen: str = ""
    """Digest of the text that it is about: an answer is not one about a text that has changed since. Empty: not
    known."""
    undone: bool = False
    """Whether it takes back the answer before it about the same thing."""

    @property
    def key(self) -> LabelKey:
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
    def key(self) -> LabelKey:
        """What answers about it have as their key."""
        return self.label, self.conversation, self.message

    def answered(
        self, value: Mapping[str, Any], by: str, *, model_shown: bool = False, chosen_by: ChosenBy | Literal[""] = ""
    ) -> LabelAnswer:
        """The answer of a person about it."""
        how: dict[str, Any] = {"model_shown": model_shown, "chosen_by": chosen_by}
        return LabelAnswer(**self.model_dump(), value=dict(value), by=by, **how)

    def is_of(self, answer: LabelAnswer) -> bool:
        """Whether an answer is about this thing as it is now."""
        return answer.key == self.key and answer.seen in ("", self.seen)

    def undone(self, by: str) -> LabelAnswer:
        """The line that takes an answer about it back."""
        return LabelAnswer(**self.model_dump(), by=by, undone=True)


def items_of(conversations: Iterable[Conversation], labels: Sequence[LabelDefinition]) -> list[Item]:
    """The items to label: conversations and messages, once for each label about them.

    A message counts for labels of its side. Units without text and messages outside the history are left out.
    """
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
    """Digest of the labelled text of a unit: a message, all messages, the context or the profile."""
    if unit != WHOLE or label.unit != "conversation":
        return digest("seen", text_of(conversation, label, unit))[:16]
    return digest("seen", [(message.role, message.text) for message in conversation.messages if message.stored])[:16]


def standing(answers: Iterable[LabelAnswer]) -> dict[LabelKey, LabelAnswer]:
    """Of answers in their order those that stand: the last about each thing, unless it was taken back."""
    latest: dict[LabelKey, LabelAnswer] = {}
    for answer in answers:
        if answer.undone:
            latest.pop(answer.key, None)
        else:
            latest[answer.key] = answer
    return latest


def in_order(
    items: Iterable[Item],
    labels: Mapping[str, LabelDefinition],
    conversations: Mapping[str, Conversation],
    others: Iterable[LabelAnswer] = (),
    seed: int = 0,
    order: ChosenBy = "disputed",
) -> list[Item]:
    """The items, those with annotator disagreement first: by the stored votes, and between the people so far.

    Items with the same annotator disagreement, and with `random` all items, stand conversation by conversation.
    Conversations are in an order by digest, the same for every annotator; items of one are in the order of its
    messages.
    """
    items = list(items)
    bits = disputes_in(items, labels, conversations, others) if order == "disputed" else {}

    def place(item: Item) -> tuple[float, str, int]:
        first = -bits.get(item.key, 0.0)
        return first, digest("label", seed, item.conversation), WHOLE if item.message is None else item.message

    return sorted(items, key=place)


def disputes_in(
    items: Iterable[Item],
    labels: Mapping[str, LabelDefinition],
    conversations: Mapping[str, Conversation],
    others: Iterable[LabelAnswer] = (),
) -> dict[LabelKey, float]:
    """Annotator disagreement of each item without unanimity, in bits."""
    by_key: dict[LabelKey, list[Json]] = {}
    for answer in others:
        by_key.setdefault(answer.key, []).append(answer.value)
    bits = {}
    for item in items:
        stored = _stored_votes(labels[item.label], conversations[item.conversation], item)
        bits[item.key] = max(map(entropy_of, (*stored, *_by_part(by_key.get(item.key, [])))), default=0.0)
    return {key: value for key, value in bits.items() if value > 0}


def model_value(label: LabelDefinition, conversation: Conversation, item: Item) -> dict[str, Any] | None:
    """The value in the data; None if it has no such label."""
    return label.value_in(_labels_at(label, conversation, item))


def _labels_at(label: LabelDefinition, conversation: Conversation, item: Item) -> Mapping[str, Any]:
    return labels_at(conversation, label, WHOLE if item.message is None else item.message)


def _stored_votes(label: LabelDefinition, conversation: Conversation, item: Item) -> list[list[Vote]]:
    stored = _labels_at(label, conversation, item)
    numbers = dict.fromkeys(number for key in label.keys for number in vote_numbers(stored.get(key)))
    return _by_part([value for number in numbers if (value := label.value_in(stored, number))])


def _by_part(values: Sequence[Mapping[str, Any]]) -> list[list[Vote]]:
    """Of values of a label those of each part, as votes."""
    names = dict.fromkeys(name for value in values for name in value)
    return [_plain(value.get(name) for value in values) for name in names]


def _plain(values: Iterable[Any]) -> list[Vote]:
    """Values as votes; a list of values is one vote."""
    return [
        value if isinstance(value, (str, int, float, bool)) else repr(value) for value in values if value is not None
    ]
