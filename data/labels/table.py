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
from ..recllmsim.published_labels import HUMAN
from ..recllmsim.tasks import task_name
from ..records import Conversation, Json, Record, as_object
from .definition import Ballot, LabelDefinition, final_value
from .reading import kept_aside

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
    if label.unit == "reason":
        return str(conversation.scenario.get(WHY) or "")
    scenario = conversation.scenario
    if label.unit == "profile":
        return domains.profile_of(scenario)
    text = scenario.get({"context": "task_context"}.get(label.unit, label.unit))
    return text if isinstance(text, str) else ""


def labels_at(conversation: Conversation, label: LabelDefinition, unit: int) -> Mapping[str, Any]:
    """The labels of a unit, or the field that holds the label.

    Keys of a published file that its reader leaves aside are included, such as a label of another project.
    """
    holder = conversation if unit == WHOLE else conversation.messages[unit]
    return {**kept_aside(holder), **(holder.labels if label.shape.place == "labels" else holder.extra)}


def is_labelled(conversation: Conversation, label: LabelDefinition, unit: int) -> bool:
    """Whether the unit has the label; DataError if another label is stored in its place."""
    there = labels_at(conversation, label, unit)
    wrong = [name for name, value in (label.value_in(there) or {}).items() if label.parts[name].problem(value)]
    if wrong:
        where = f"message {unit}" if unit != WHOLE else "the conversation"
        raise DataError(
            f"conversation {conversation.extra.get('path') or conversation.id}: {where} has {wrong[0]!r} in another "
            f"form than the label {label.name!r}: choose the label that fits, or label all anew (--redo)"
        )
    return any(there.get(key) is not None for key in label.keys)


def missing(conversation: Conversation, label: LabelDefinition) -> list[int]:
    """The units that lack the label; DataError as `is_labelled`."""
    return [unit for unit in units_of(conversation, label) if not is_labelled(conversation, label, unit)]


def stored_keys(
    label: LabelDefinition, final: Mapping[str, Any] | None, votes: Sequence[Mapping[str, Any] | None]
) -> Json:
    """The stored form of a unit's votes: every key of the label, None for an absent one.

    The final value of a tie is null, and its votes stand beside it, also of a label that otherwise stores only the
    value. A tied text is left out.
    """
    voted = label.voted(final or dict.fromkeys(label.parts), votes)
    if label.votes:
        return voted if any(vote is not None for vote in votes) else {}
    if final is None:
        return {}
    whole = label.stored(final)
    alone = label.shape.within is None and label.unit != "reason"  # an answer to a study has no place for votes
    tied = [
        name
        for name, part in label.parts.items()
        if alone and not part.text and final.get(name) is None and label.applies(name, final)
    ]
    return {key: whole.get(key) for key in label.keys} | {name: voted[name] for name in tied}


def _with_keys(conversation: Conversation, unit: int, keys: Mapping[str, Any], place: str) -> Conversation:
    """The conversation with these keys at a unit; None removes one."""
    holder = conversation if unit == WHOLE else conversation.messages[unit]
    merged = {**getattr(holder, place), **keys}
    update = {place: {key: value for key, value in merged.items() if key not in keys or value is not None}}
    if unit == WHOLE:
        return conversation.model_copy(update=update)
    messages = list(conversation.messages)
    messages[unit] = messages[unit].model_copy(update=update)
    return conversation.model_copy(update={"messages": tuple(messages)})


LabelKey: TypeAlias = tuple[str, str, int | None]
"""What an answer is about: label, conversation, message."""


class Item(Record):
    """One thing to label."""

    label: str
    """Name of the label, or of the study."""
    conversation: str
    """Id of the conversation."""
    message: int | None = None
    """Number of the labelled message, from 0; None for the conversation as a whole."""
    path: str = ""
    """Path of its file, where the source has one."""
    seen: str = ""
    """Digest of the text that it is about: an answer is not one about a text that has changed since. Empty: not
    known."""

    @classmethod
    def of(cls, conversation: Conversation, label: LabelDefinition, unit: int) -> "Item":
        """A unit of a conversation as a thing to label."""
        path = conversation.extra.get("path")
        return Item(
            label=label.name,
            conversation=conversation.id,
            message=None if unit == WHOLE else unit,
            path=path if isinstance(path, str) else "",
            seen=seen_of(conversation, label, unit),
        )

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


def items_of(conversations: Iterable[Conversation], labels: Sequence[LabelDefinition]) -> list[Item]:
    """The items to label: conversations and messages, once for each label about them.

    A message counts for labels of its side. Units without text and messages outside the history are left out.
    """
    items = []
    for conversation in conversations:
        for label in labels:
            for unit in units_of(conversation, label):
                if unit == WHOLE or conversation.messages[unit].text.strip():
                    items.append(Item.of(conversation, label, unit))
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


def in_order(items: Iterable[Item], seed: int = 0) -> list[Item]:
    """The items conversation by conversation, in an order by digest that is the same for every annotator.

    Those of one conversation stand in the order of its messages.
    """

    def place(item: Item) -> tuple[str, int]:
        return digest("label", seed, item.conversation), WHOLE if item.message is None else item.message

    return sorted(items, key=place)


def model_value(label: LabelDefinition, conversation: Conversation, item: Item) -> dict[str, Any] | None:
    """The value in the data; None if it has no such label."""
    return label.value_in(labels_at(conversation, label, WHOLE if item.message is None else item.message))


# --- The table beside the data


class LabelRow(Item):
    """One labelled thing."""

    value: Json | None = None
    """What the votes come to, by the published rule: null in a tied part, None without any readable vote."""
    votes: tuple[Json | None, ...] = ()
    """Each vote; None where a reply could not be used."""
    by: tuple[str, ...] = ()
    """Who gave each vote: a person's name, a model or a function."""

    @classmethod
    def voted(cls, item: Item, label: LabelDefinition, votes: Ballot, by: Iterable[str]) -> "LabelRow":
        """The row of these votes on an item."""
        fields = {name: getattr(item, name) for name in Item.model_fields}
        ballot = tuple(None if vote is None else dict(vote) for vote in votes)
        return cls(**fields, value=final_value(label, ballot), votes=ballot, by=tuple(by))

    @property
    def unit(self) -> int:
        """The number of the message, or `WHOLE`."""
        return WHOLE if self.message is None else self.message


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

    @property
    def keys(self) -> frozenset[str]:
        """The keys of a conversation's labels under which they stand."""
        return frozenset(f"{key}{HUMAN * self.people}" for label in self.labels.values() for key in label.keys)

    def write(self, folder: Path) -> None:
        """Write it into a folder; DataError if it cannot be written."""
        make_folder(folder)
        write_lines(folder / LABELS, (row.plain() for row in self.rows))
        write_text(folder / MANIFEST, dumps(self.manifest(folder), indent=1) + "\n")

    def manifest(self, folder: Path) -> dict[str, Any]:
        """What its manifest in the folder says."""
        definitions = {name: label.model_dump(mode="json", by_alias=True) for name, label in self.labels.items()}
        source = os.path.relpath(self.source.resolve(), folder.resolve())
        return {"source": source, "people": self.people, "labels": definitions, **self.settings}

    @classmethod
    def read(cls, folder: Path) -> "LabelTable":
        """The table of a folder; DataError names what is wrong in it."""
        manifest = as_object(read_json(folder / MANIFEST))
        try:
            labels = {name: LabelDefinition.model_validate(label) for name, label in dict(manifest["labels"]).items()}
            source, people = folder / str(manifest["source"]), bool(manifest["people"])
        except (KeyError, TypeError, ValueError):
            raise DataError(
                f"{at(folder / MANIFEST)}: is no manifest of labels: label the conversations again"
            ) from None
        rows = []
        for number, line in read_lines(folder / LABELS):
            try:
                rows.append(LabelRow.model_validate(line))
                label = labels[rows[-1].label]
                problems = [one for vote in rows[-1].votes if vote for one in label.problems(vote)]
            except (ValidationError, KeyError) as error:
                problems = [first_invalid(error).message if isinstance(error, ValidationError) else f"no label {error}"]
            if problems:
                raise DataError(f"{at(folder / LABELS, f'line {number}')}: {problems[0]}: mend or remove it")
        return cls(source, labels, rows, people)

    def put_into(self, conversations: Iterable[Conversation]) -> Iterator[Conversation]:
        """The conversations with these labels, in the published shape; rows about a text that has changed are left out."""
        rows: dict[str, list[LabelRow]] = defaultdict(list)
        for row in self.rows:
            rows[row.conversation].append(row)
        for conversation in conversations:
            for row in rows.get(conversation.id, ()):
                label = self.labels[row.label]
                if row.unit not in units_of(conversation, label):
                    continue
                if row.seen not in ("", seen_of(conversation, label, row.unit)):
                    continue
                if self.people:
                    voted = label.voted(row.value or dict.fromkeys(label.parts), row.votes)
                    keys: Json = {f"{key}{HUMAN}": value for key, value in voted.items()}
                    place = "labels"
                else:
                    keys, place = stored_keys(label, row.value, row.votes), label.shape.place
                conversation = _with_keys(conversation, row.unit, keys, place)
            yield conversation


def is_table(folder: Path) -> bool:
    """Whether a folder holds labels beside a data set."""
    return (folder / LABELS).is_file() and (folder / MANIFEST).is_file()


def tables_of(path: Path) -> Iterator[LabelTable]:
    """The tables of a path: its own, and those of the labelled data that it is about; none of other data."""
    while is_table(path):
        table = LabelTable.read(path)
        yield table
        path = table.source


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
