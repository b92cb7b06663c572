"""How often each value of each label is given, on each side, beside how far the label can be trusted."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from ...data import domains
from ...data.labels.annotations import AnnotationSide, side_of
from ...data.labels.reading import SCORES, label_name, labels_in, spellings_of
from ...data.records import Conversation, Message, Record
from ..tables import Column, Table
from .reliability import Trusts

CountedUnit: TypeAlias = Literal["conversation", "message"]
CountKey: TypeAlias = tuple[str, str, CountedUnit, AnnotationSide]

TIE = "tie"
"""In place of a value where votes came to none."""
LONGEST, MOST = 60, 60
"""Characters of one value, and different values, beyond which a label is a text."""


class LabelCount(Record):
    """One value of a label, or of a part of it, on one side."""

    label: str
    part: str
    """Empty if the label has no parts."""
    unit: CountedUnit
    side: AnnotationSide
    value: str
    """As the data writes it, of several spellings the first by alphabet; `tie` where votes came to none."""
    count: int
    """Conversations, or messages, with this value."""
    of: int
    """Those that have the label; one with several values counts once."""
    share: float
    """`count` of `of`, 0 to 1."""
    trust: str
    """How far the label can be trusted on this side."""


@dataclass
class LabelCounts:
    """The labels of conversations that pass by; of each only numbers are held, so there may be any."""

    trusts: Trusts = field(default_factory=Trusts)
    """It separates labels from other keys of a source; their trust is not read from it."""
    values: dict[CountKey, Counter[str]] = field(default_factory=dict)
    of: Counter[CountKey] = field(default_factory=Counter)
    spelled: dict[str, str] = field(default_factory=dict)
    texts: dict[str, None] = field(default_factory=dict)
    """Names of the labels that are texts or objects, which are not counted."""

    def passing(self, conversations: Iterable[Conversation]) -> Iterator[Conversation]:
        """The same conversations, each counted as it passes."""
        for conversation in conversations:
            self.add(conversation)
            yield conversation

    def add(self, conversation: Conversation) -> None:
        """Count the labels of one conversation and of its messages."""
        side = side_of(conversation)
        self._add(conversation, "conversation", side)
        for message in conversation.messages:
            self._add(message, "message", side)

    def rows(self, trusts: Trusts) -> list[LabelCount]:
        """A row for each value, the commonest of each label first; `trusts`: of the same conversations."""
        rows = []
        for key, counted in sorted(self.values.items(), key=lambda item: tuple(map(str, item[0]))):
            label, part, unit, side = key
            if label_name(label, part) in self.texts:
                continue
            trust = (
                trusts.of_score(side, part)
                if label == SCORES
                else trusts.of_label(side, label, part, of_messages=unit == "message")
            )
            for value, count in sorted(counted.items(), key=lambda item: (-item[1], item[0])):
                rows.append(
                    LabelCount(
                        label=label, part=part, unit=unit, side=side, value=self.spelled.get(value, value), count=count,
                        of=self.of[key], share=count / self.of[key], trust="" if trust is None else trust.mark,
                    )
                )  # fmt: skip
        return rows

    def _add(self, holder: Conversation | Message, unit: CountedUnit, side: AnnotationSide) -> None:
        facts = domains.label_notes().facts
        for label in labels_in(holder, self.trusts.annotated):
            if label.key in facts or label.beside:
                continue
            key = label.key, label.part, unit, side
            spelled = spellings_of(label.value)
            if not spelled and label.value not in (None, "", [], {}):
                self.texts[label.name] = None
            if any(len(value) > LONGEST for value in spelled):
                self.texts[label.name] = None
            elif spelled or spellings_of([vote for vote in label.votes if not isinstance(vote, list | dict)]):
                counted = self.values.setdefault(key, Counter())
                counted.update([*spelled] or [TIE])
                self.of[key] += 1
                if len(counted) > MOST:
                    self.texts[label.name] = None
            for name, text in spelled.items():
                if name in self.spelled or len(self.spelled) < 100_000:
                    self.spelled[name] = min(text, self.spelled.get(name, text))


def label_table(rows: Sequence[LabelCount], texts: Iterable[str] = (), source: str = "", short: int = 0) -> Table:
    """The rows under their names.

    `texts`: names of the labels that are left out. `short`: for a narrow terminal, the maximum number of values of a
    label, without columns that are the same in all rows or empty; 0 for all.
    """
    notes: list[str] = []
    by_label: dict[CountKey, list[LabelCount]] = {}
    for row in rows:
        by_label.setdefault((row.label, row.part, row.unit, row.side), []).append(row)
    shown = [row for group in by_label.values() for row in (group[:short] if short else group)]
    records = [row.model_dump() | ({"label": label_name(row.label, row.part)} if short else {}) for row in shown]
    names = list(_NAMES)
    if left := len(rows) - len(shown):
        notes.append(f"Left out: {left} rarer value{'' if left == 1 else 's'}; --json or --format md has all.")
    if short:
        alike = {name for name in ("unit", "side") if len({record[name] for record in records}) == 1}
        if "side" in alike:
            notes.append(_WRITERS[shown[0].side])
        names = [name for name in _NAMES if name not in alike | {"part"}]
    if any(sum(row.count for row in group) > group[0].of for group in by_label.values()):
        notes.append("Several values of one label in one place count each: such shares add up to more than 1.")
    if left_out := sorted(texts):
        notes.append(f"Not counted, as texts or objects: {', '.join(left_out)}.")
    title = f"Labels: {source}" if source else "Labels"
    return Table.of(title, [_COLUMNS.get(name) or Column(name=name) for name in names], records, notes)


_WRITERS: dict[AnnotationSide, str] = {
    "simulated": "All are labels of simulated conversations.",
    "people": "All are labels of people's conversations.",
    "not told": "The data does not record who wrote these: people or simulated users.",
}
_NAMES = ("label", "part", "unit", "side", "value", "count", "share", "trust")
_COLUMNS = {"count": Column(name="count", kind="count"), "share": Column(name="share", kind="number", places=2)}
