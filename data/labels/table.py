"""What is labelled, where a record holds it, people's answers, and the table of labels beside the data.

A file of answers is JSON lines, an answer a line: conversation, message, label, value, by. The table is a folder with labels
of conversations that stand elsewhere and are never changed: `labels.jsonl` has a line for each labelled thing (what its
votes come to, each vote, and by whom), `manifest.json` names the conversations and the definitions. `load` reads such a
folder as the conversations with these labels.
"""

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from pydantic import Field, ValidationError

from ...errors import DataError, at, first_invalid
from .. import domains
from ..files.json import dumps, read_json, read_lines, write_lines, write_text
from ..files.paths import make_folder
from ..formats.source import MANIFEST, Contents, Format
from ..identity import digest
from ..recllmsim.tasks import task_name
from ..records import HUMAN, Conversation, Json, Label, Message, Record
from .definition import Ballot, LabelDefinition, final_value

LABELS = "labels.jsonl"
"""File of a table of labels in its folder."""

WHOLE = -1
"""The unit that is not a message: the conversation, its context or its profile. Messages are counted from 0."""

WHY = "why"
"""Key of a scenario, and of an answer to a side-by-side study, that has a person's reason in their own words."""


def units_of(conversation: Conversation, label: LabelDefinition) -> list[int]:
    """The units that the label is about: indices of messages, or `WHOLE`; empty if the conversation has none.

    Messages that are recorded but are not part of the history, such as a goodbye, are none.
    """
    if label.tasks and task_name(str(conversation.scenario.get("task"))) not in label.tasks:
        return []
    if label.of_messages:
        role = label.role
        return [n for n, message in enumerate(conversation.messages) if message.stored and role in (None, message.role)]
    if label.unit == "conversation":
        return [WHOLE] if any(message.stored for message in conversation.messages) else []
    return [WHOLE] if text_of(conversation, label, WHOLE).strip() else []


def text_of(conversation: Conversation, label: LabelDefinition, unit: int) -> str:
    """The text of a message, a context, a profile or a person's reason; empty without one."""
    if unit != WHOLE:
        return conversation.messages[unit].text
    scenario = conversation.scenario
    if label.unit == "profile":
        return domains.profile_of(scenario)
    text = scenario.get({"context": "task_context", "reason": WHY}.get(label.unit, label.unit))
    return text if isinstance(text, str) else ""


def holder_of(conversation: Conversation, unit: int) -> Conversation | Message:
    """The conversation itself, or the message, that a unit is."""
    return conversation if unit == WHOLE else conversation.messages[unit]


def missing(conversation: Conversation, label: LabelDefinition) -> list[int]:
    """The units that lack the label; DataError if another label is stored in its place."""
    units = units_of(conversation, label)
    for unit in units:
        there = label.value_in(holder_of(conversation, unit)) or {}
        if wrong := [name for name, value in there.items() if label.parts[name].problem(value)]:
            where = f"message {unit}" if unit != WHOLE else "the conversation"
            raise DataError(
                f"conversation {conversation.extra.get('path') or conversation.id}: {where} has {wrong[0]!r} in another "
                f"form than the label {label.name!r}: choose the label that fits, or label all anew (--redo)"
            )
    return [unit for unit in units if not label.held_by(holder_of(conversation, unit))]


def _labelled(conversation: Conversation, label: LabelDefinition, row: "LabelRow", *, by_people: bool) -> Conversation:
    """The conversation with the labels of a row in the place of those that it has."""
    holder = holder_of(conversation, row.message)
    said = Label(value=row.value, votes=row.votes, by=("people",) if by_people else row.by)
    new = {f"{key}{HUMAN * by_people}": one for key, one in label.as_labels(said).items()}
    gone = {f"{key}{HUMAN * by_people}" for key in label.keys} - new.keys()
    update: dict[str, Any] = {"labels": {key: one for key, one in {**holder.labels, **new}.items() if key not in gone}}
    if label.translates and not by_people:
        update = {"extra": {**holder.extra, **{key: one.value for key, one in new.items()}}}
    if row.message == WHOLE:
        return conversation.model_copy(update=update)
    messages = list(conversation.messages)
    messages[row.message] = messages[row.message].model_copy(update=update)
    return conversation.model_copy(update={"messages": tuple(messages)})


LabelKey: TypeAlias = tuple[str, str, int]
"""What an answer is about: label, conversation, message."""


class Item(Record):
    """One thing to label."""

    label: str
    """Name of the label, or of the study."""
    conversation: str
    """Id of the conversation."""
    message: int = WHOLE
    """Number of the labelled message, from 0; -1 for the conversation as a whole."""
    seen: str = ""
    """Digest of the text that it is about: it is about no text that has changed since. Empty: not known."""

    @classmethod
    def of(cls, conversation: Conversation, label: LabelDefinition, unit: int) -> "Item":
        """A unit of a conversation as a thing to label."""
        seen = seen_of(conversation, label, unit)
        return Item(label=label.name, conversation=conversation.id, message=unit, seen=seen)

    @property
    def key(self) -> LabelKey:
        """What it is about."""
        return self.label, self.conversation, self.message

    def answered(self, value: Mapping[str, Any], by: str, *, model_shown: bool = False) -> "LabelAnswer":
        """The answer of a person about it."""
        return LabelAnswer(**self.model_dump(), value=dict(value), by=by, model_shown=model_shown)

    def is_of(self, answer: "LabelAnswer") -> bool:
        """Whether an answer is about this thing as it is now."""
        return answer.key == self.key and answer.seen in ("", self.seen)

    def is_in(self, conversation: Conversation, label: LabelDefinition) -> bool:
        """Whether the conversation has this thing, with the text that it had."""
        there = self.message in units_of(conversation, label)
        return there and self.seen in ("", seen_of(conversation, label, self.message))


class LabelAnswer(Item):
    """What one person, or one vote of a model, says about one thing."""

    value: Json = Field(default_factory=dict)
    """The value of each part; of an answer that was taken back, empty."""
    by: str
    """Who answered."""
    model_shown: bool = False
    """Whether the model's label was shown before the answer."""
    undone: bool = False
    """Whether it takes back the answer before it about the same thing."""


def items_of(conversations: Iterable[Conversation], labels: Sequence[LabelDefinition], seed: int = 0) -> list[Item]:
    """The items to label: conversations and messages, once for each label about them, without those that have no text.

    Conversations are in an order by digest that is the same for every annotator; messages are in theirs.
    """
    items = [
        Item.of(conversation, label, unit)
        for conversation in conversations
        for label in labels
        for unit in units_of(conversation, label)
        if unit == WHOLE or conversation.messages[unit].text.strip()
    ]
    return sorted(items, key=lambda item: (digest("label", seed, item.conversation), item.message))


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


# --- The table beside the data


class LabelRow(Label, Item):
    """One labelled thing: its value by part, by the published rule; each vote, and who gave it."""

    @classmethod
    def voted(cls, item: Item, label: LabelDefinition, votes: Ballot, by: Iterable[str]) -> "LabelRow":
        """The row of these votes on an item."""
        fields = {name: getattr(item, name) for name in Item.model_fields}
        ballot = tuple(None if vote is None else dict(vote) for vote in votes)
        return cls(**fields, value=final_value(label, ballot), votes=ballot, by=tuple(by))


@dataclass(frozen=True)
class LabelTable:
    """Labels, and what they are about."""

    source: Path
    """The labelled conversations, or the answers to a study."""
    labels: Mapping[str, LabelDefinition]
    rows: Sequence[LabelRow]
    people: bool = False
    """Whether people gave them: they stand beside a model's then, under their own keys (`style_human`)."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """What else decides them, such as the annotators."""

    def write(self, folder: Path) -> None:
        """Write it into a folder; DataError if it cannot be written."""
        make_folder(folder)
        write_lines(folder / LABELS, (row.plain() for row in self.rows))
        write_text(folder / MANIFEST, dumps(self.manifest(folder), indent=1) + "\n")

    def manifest(self, folder: Path) -> dict[str, Any]:
        """What its manifest in the folder says."""
        definitions = {name: label.model_dump(mode="json") for name, label in self.labels.items()}
        source = os.path.relpath(self.source.resolve(), folder.resolve())
        return {"source": source, "people": self.people, "labels": definitions, **self.settings}

    @classmethod
    def read(cls, folder: Path) -> "LabelTable":
        """The table of a folder; DataError names what is wrong in it."""
        manifest = read_json(folder / MANIFEST)
        try:
            labels = {name: LabelDefinition.model_validate(label) for name, label in manifest["labels"].items()}
            source, people = folder / manifest["source"], bool(manifest["people"])
        except (AttributeError, KeyError, TypeError, ValueError):
            raise DataError(f"{at(folder / MANIFEST)}: is no manifest of labels: label anew") from None
        rows = []
        for number, line in read_lines(folder / LABELS):
            try:
                row = LabelRow.model_validate(line)
                label = labels[row.label]
                problems = [one for vote in row.votes if vote for one in label.problems(vote)]
            except (ValidationError, KeyError) as error:
                problems = [first_invalid(error).message if isinstance(error, ValidationError) else f"no label {error}"]
            if problems:
                raise DataError(f"{at(folder / LABELS, f'line {number}')}: {problems[0]}: mend or remove it")
            rows.append(row)
        return cls(source, labels, rows, people)

    def put_into(self, conversations: Iterable[Conversation]) -> Iterator[Conversation]:
        """The conversations with these labels; rows about a text that has changed are left out."""
        rows: dict[str, list[LabelRow]] = defaultdict(list)
        for row in self.rows:
            rows[row.conversation].append(row)
        for conversation in conversations:
            for row in rows.get(conversation.id, ()):
                label = self.labels[row.label]
                if row.is_in(conversation, label):
                    conversation = _labelled(conversation, label, row, by_people=self.people)
            yield conversation


def is_table(folder: Path) -> bool:
    """Whether a folder holds labels beside a data set."""
    return (folder / LABELS).is_file() and (folder / MANIFEST).is_file()


def _read(folder: Path) -> Contents:
    from ..loading import load  # which reads these folders too

    table = LabelTable.read(folder)
    if not table.source.exists():
        raise DataError(f"{at(folder)}: the labelled conversations are gone from {table.source}: put them there")
    loaded = load(table.source)
    notes = list(loaded.notes)
    if elsewhere := len({row.conversation for row in table.rows} - {one.id for one in loaded}):
        notes.append(f"conversations with labels that are not in {loaded.path}: {elsewhere}")
    return Contents(tuple(table.put_into(loaded)), tuple(notes), loaded.broken)


FORMAT = Format(
    "labels", "labels beside conversations", lambda source: source.is_folder and is_table(source.path), _read
)
