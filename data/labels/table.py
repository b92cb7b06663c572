"""Labels beside a data set: a folder with labels of conversations that stand elsewhere and are never changed.

`labels.jsonl` has a line for each labelled thing: what its votes come to, each vote, and by whom. `manifest.json` names the
conversations and the definitions. `load` reads such a folder as the conversations with these labels.
"""

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ...errors import DataError, at, first_invalid
from ..files.json import dumps, read_json, read_lines, write_lines, write_text
from ..files.paths import make_folder
from ..formats.source import MANIFEST, Contents, Format
from ..recllmsim.published_labels import HUMAN
from ..records import Conversation, Json, as_object
from .answers import WHOLE, Item, seen_of, stored_keys, units_of, with_labels
from .definition import Ballot, LabelDefinition, final_value

LABELS = "labels.jsonl"


class LabelRow(Item):
    """One labelled thing."""

    value: Json | None = None
    """What the votes come to, by the published rule: null in a tied part, None without any readable vote."""
    votes: tuple[Json | None, ...] = ()
    """Each vote; None where a reply could not be used."""
    by: tuple[str, ...] = ()
    """Who gave each vote: a person's name, a model or a function."""

    @classmethod
    def of(cls, item: Item, label: LabelDefinition, votes: Ballot, by: Iterable[str]) -> "LabelRow":
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
                conversation = with_labels(conversation, {row.unit: keys}, place=place)
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
