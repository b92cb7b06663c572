"""Agreement of labels that conversations carry: a flat row for each side and part."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from ...data.records import Conversation, Record
from ..annotations import Side
from ..tables import Cell, Column, Rows, Table
from .comparing import check_orders, groups, scale_of, value_of
from .pages import VOTES, by_pair, interval_shown, part_shown, remarks, titled
from .reading import SOURCES, matched
from .rows import AgreementRow, labels_row, votes_row

NO_VOTES = (
    "one value each and no votes, nothing to compare: name a second label, or label again with votes that are kept"
)
BASE_RATE = "Base rate: the accuracy of always saying the commonest value of the first label."
NO_SIDE = (
    "Side not told: the data does not say whether these users are simulated or people. If there are both, give each in a "
    "source of its own: where the two differ, labels agree by that alone."
)


class Agreement(Rows[AgreementRow]):
    """How far two labels of the same conversations agree, beside what always saying the commonest value would give.

    Sides are never pooled: labels that differ between sides agree by that alone. Intervals are 95 %, over users.
    """

    title: ClassVar[str] = "Agreement of labels"

    sources: tuple[str, ...] = ()
    """What the two sources are called, if there are two."""

    def tables(self) -> list[Table]:
        """A table for each pair of labels, of the columns that fit a page; `table` has all."""
        found = by_pair(self.rows).items()
        return [
            _page(*(pair if pair[1] == VOTES else titled(pair, self.sources)), rows, self.notes) for pair, rows in found
        ]


def _page(label: str, against: str, rows: Sequence[AgreementRow], notes: Sequence[str]) -> Table:
    columns = [
        Column(name="side"),
        Column(name="part"),
        Column(name="n", kind="count"),
        Column(name="users", kind="count"),
    ]
    if against == VOTES:
        names = ["unanimity", "entropy", "kappa", "alpha"]
        numbers = [(row.unanimity, row.entropy, row.kappa, row.alpha) for row in rows]
        meaning = [
            "Unanimity: share on which all votes are the same; entropy in bits; kappa is Fleiss', alpha Krippendorff's."
        ]
    else:
        ordered = any(row.weighted_kappa is not None for row in rows)
        names = ["accuracy", "base rate", "kappa", *(["weighted"] if ordered else []), "AC1"]
        numbers = [
            (row.accuracy, row.base_rate, row.kappa, *((row.weighted_kappa,) if ordered else ()), row.ac1)
            for row in rows
        ]
        meaning = []
    columns += [Column(name=name, kind="number", places=2) for name in names]
    place = [column.name for column in columns].index("kappa") + 1
    columns.insert(place, Column(name="95 %"))
    cells = []
    for row, of_row in zip(rows, numbers, strict=True):
        cell: list[Cell] = [row.side, part_shown(row.part), row.n, row.users, *of_row]
        cell.insert(place, interval_shown(row.kappa_low, row.kappa_high))
        cells.append(tuple(cell))
    title = f"{label}: agreement of its votes" if against == VOTES else f"{label} and {against}"
    fitting = (note for note in notes if against != VOTES or note != BASE_RATE)
    return Table(title=title, columns=tuple(columns), rows=tuple(cells), notes=(*remarks(rows), *meaning, *fitting))


class ConfusionRow(Record):
    """How often two labels have one pair of values, for one side and part."""

    side: Side
    label: str
    against: str
    part: str
    value: str
    """Of the reference."""
    judged: str
    """Of the other label."""
    n: int

    @property
    def note(self) -> str:
        """A count needs no remark."""
        return ""


class Confusion(Rows[ConfusionRow]):
    """How often each value of one label meets each value of the other."""

    title: ClassVar[str] = "Confusion of values"

    sources: tuple[str, ...] = ()
    """What the two sources are called, if there are two."""

    def tables(self) -> list[Table]:
        """A table for each pair of labels; `table` has all in one."""
        return [_crossed(*titled(pair, self.sources), rows, self.notes) for pair, rows in by_pair(self.rows).items()]


def _crossed(label: str, against: str, rows: Sequence[ConfusionRow], notes: Sequence[str]) -> Table:
    columns = [*(Column(name=name) for name in ("side", "part", "first", "second")), Column(name="n", kind="count")]
    cells = tuple((row.side, part_shown(row.part), row.value, row.judged, row.n) for row in rows)
    title = f"How often a value of {label}, first, meets one of {against}, second"
    return Table(title=title, columns=tuple(columns), rows=cells, notes=tuple(notes))


def agreement(
    first: Iterable[Conversation],
    second: Iterable[Conversation] | None = None,
    *,
    between: Iterable[Sequence[str]],
    ordered: Iterable[Sequence[str]] = (),
    scales: Mapping[str, Sequence[str]] | None = None,
    sources: Sequence[str] = (),
) -> Agreement:
    """Agreement of labels that conversations carry, a row for each side and part.

    `between`: pairs of names, the reference first (`[("strategy_human_V1", "strategy_V1")]`); one name alone compares
    its votes. With two sources the reference is of the first, the other of the second, and conversations are matched by
    path or id. `ordered`: values of words from low to high, for every label that has no others; `scales`: the same by
    the name of a label or of its part. DataError for a label that is not there.
    """
    pairs = matched([*first], None if second is None else [*second], sources or SOURCES)
    orders, rows, notes = [*ordered], [], [*pairs.notes]
    found = [*groups(pairs, between)]
    check_orders(found, orders)
    alone: dict[str, None] = {}
    for group in found:
        scale = scale_of(group, orders, scales)
        if len(group.titles) == 1 and group.voted:
            rows.append(votes_row(group, scale))
        elif len(group.titles) == 1:
            alone[group.titles[0].removesuffix(f".{group.part}")] = None
        elif group.both:
            rows.append(labels_row(group, scale))
    told = {row.label.removesuffix(f".{row.part}") for row in rows if row.against == VOTES}
    if lacking := [name for name in alone if name not in told]:
        notes.append(f"{', '.join(lacking)}: {NO_VOTES}.")
    if not rows and not lacking:
        notes.append("Nothing has both labels.")
    if any(row.against != VOTES for row in rows):
        notes.append(BASE_RATE)
    if any(row.side == "not told" for row in rows):
        notes.append(NO_SIDE)
    return Agreement(rows=tuple(rows), notes=tuple(notes), sources=pairs.sources)


def confusion(
    first: Iterable[Conversation],
    second: Iterable[Conversation] | None = None,
    *,
    between: Iterable[Sequence[str]],
    ordered: Iterable[Sequence[str]] = (),
    scales: Mapping[str, Sequence[str]] | None = None,
    sources: Sequence[str] = (),
) -> Confusion:
    """How often two labels have each pair of values. The parameters are as those of `agreement`."""
    pairs = matched([*first], None if second is None else [*second], sources or SOURCES)
    orders, rows = [*ordered], []
    for group in groups(pairs, [names for names in between if len(names) == 2]):
        counts = Counter((value_of(unit.first), value_of(unit.second)) for unit in group.both)
        values = scale_of(group, orders, scales).values
        place = {value: number for number, value in enumerate(values)}
        for one, other in sorted(counts, key=lambda pair: (place[str(pair[0])], place[str(pair[1])])):
            rows.append(
                ConfusionRow(side=group.side, label=group.titles[0], against=group.titles[1], part=group.part,
                             value=group.text_of(one), judged=group.text_of(other), n=counts[one, other])
            )  # fmt: skip
    return Confusion(rows=tuple(rows), notes=pairs.notes, sources=pairs.sources)
