"""How often each value of each label is given, on each side, beside how far the label can be trusted."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from ..data.records import Conversation, Message, Record
from .annotations import Side, side_of
from .label_values import label_name, parts_of, spellings_of
from .outcomes import SCORES
from .tables import Column, Table
from .trust import FACTS, Trusts

Unit: TypeAlias = Literal["conversation", "message"]
Key: TypeAlias = tuple[str, str, Unit, Side]

TIE = "tie"
"""In place of a value where votes came to none."""
LONGEST, MOST = 60, 60
"""Characters of one value, and different values, beyond which a label is a text."""


class LabelCount(Record):
    """One value of a label, or of a part of it, on one side."""

    label: str
    part: str
    """Empty if the label has no parts."""
    unit: Unit
    side: Side
    value: str
    """As the data writes it first; `tie` where votes came to none."""
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
    """What tells labels from other keys of a source; their trust is not read from it."""
    values: dict[Key, Counter[str]] = field(default_factory=dict)
    of: Counter[Key] = field(default_factory=Counter)
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
        found = []
        for key, counted in self.values.items():
            label, part, unit, side = key
            if label_name(label, part) in self.texts:
                continue
            trust = (
                trusts.of_score(side, part)
                if label == SCORES
                else trusts.of_label(side, label, part, of_messages=unit == "message")
            )
            for value, count in sorted(counted.items(), key=lambda item: (-item[1], item[0])):
                found.append(
                    LabelCount(
                        label=label, part=part, unit=unit, side=side, value=self.spelled.get(value, value), count=count,
                        of=self.of[key], share=count / self.of[key], trust="" if trust is None else trust.mark,
                    )
                )  # fmt: skip
        return found

    def _add(self, holder: Conversation | Message, unit: Unit, side: Side) -> None:
        for label, value in self.trusts.labels_of(holder).items():
            if label in FACTS:
                continue
            inner = value.get(label, value) if isinstance(value, dict) else value  # with a memo beside it
            for part, said in parts_of(inner).items():
                scored = label == SCORES and isinstance(said.value, dict)
                given = said.value.get("value") if scored else said.value
                key = label, part, unit, side
                spelled = spellings_of(given)
                if not spelled and given not in (None, "", [], {}):
                    self.texts[label_name(label, part)] = None
                if any(len(value) > LONGEST for value in spelled):
                    self.texts[label_name(label, part)] = None
                elif spelled or spellings_of([one for one in said.votes if not isinstance(one, list | dict)]):
                    counted = self.values.setdefault(key, Counter())
                    counted.update([*spelled] or [TIE])
                    self.of[key] += 1
                    if len(counted) > MOST:
                        self.texts[label_name(label, part)] = None
                for name, text in spelled.items():
                    if len(self.spelled) < 100_000:
                        self.spelled.setdefault(name, text)


def label_table(rows: Sequence[LabelCount], texts: Iterable[str] = (), source: str = "", short: int = 0) -> Table:
    """The rows under their names. `texts`: names of the labels that are left out. `short`: for a narrow terminal, at most
    so many values of a label, and no column that says the same in all rows, or nothing; 0 for all."""
    notes: list[str] = []
    by_label: dict[Key, list[LabelCount]] = {}
    for row in rows:
        by_label.setdefault((row.label, row.part, row.unit, row.side), []).append(row)
    shown = [row for group in by_label.values() for row in (group[:short] if short else group)]
    columns = [_COLUMNS.get(name) or Column(name=name) for name in _NAMES]
    cells = [
        ((label_name(row.label, row.part), "") if short else (row.label, row.part))
        + (row.unit, row.side, row.value, row.count, row.share, row.trust)
        for row in shown
    ]
    if left := len(rows) - len(shown):
        notes.append(f"Left out: {left} rarer value{'' if left == 1 else 's'}; --json or --format markdown has all.")
    if short:
        alike = {name for number, name in enumerate(_NAMES[:4]) if len({row[number] for row in cells}) == 1}
        if "side" in alike and shown:
            notes.append(f"Side of all: {shown[0].side}.")
        kept = [number for number, name in enumerate(_NAMES) if name == "label" or name not in alike | {"part"}]
        columns = [columns[number] for number in kept]
        lines = [tuple(row[number] for number in kept) for row in cells]
    else:
        lines = [*cells]
    if any(sum(row.count for row in group) > group[0].of for group in by_label.values()):
        notes.append("Several values of one label in one place count each: such shares add up to more than 1.")
    if left_out := sorted(texts):
        notes.append(f"Not counted, as texts or objects: {', '.join(left_out)}.")
    title = f"Labels: {source}" if source else "Labels"
    return Table(title=title, columns=tuple(columns), rows=tuple(lines), notes=tuple(notes))


_NAMES = ("label", "part", "unit", "side", "value", "count", "share", "trust")
_COLUMNS = {"count": Column(name="count", kind="count"), "share": Column(name="share", kind="number", places=2)}
