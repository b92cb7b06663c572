"""What a judged number is worth: the rates of a label's values, or its mean, by the judge, by people and by both."""

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

import numpy as np

from ...data.records import Conversation, Record
from ..annotations import Side
from ..tables import Column, Rows, Table
from .calibration import Calibrated, calibrated_mean, sums_of_users, tuned_weight
from .comparing import Group, Scale, groups, scale_of, value_of
from .intervals import TINY, Estimate
from .pages import by_pair, interval_shown, part_shown, remarks, titled
from .reading import SOURCES, Label, matched


class WorthRow(Record):
    """A rate or a mean of one side. Intervals are 95 %, over users; of a mean in the label's own points."""

    side: Side
    label: str
    """What people say."""
    against: str
    """What the judge says."""
    part: str
    value: str
    """The value whose rate it is; `mean` of numbers."""
    n: int
    """Conversations or messages that both labelled."""
    of: int
    """All that the judge labelled."""
    users: int
    """Users of those that both labelled."""
    naive: float | None
    """The judge's over all; its interval knows nothing of the judge's errors."""
    naive_low: float | None
    naive_high: float | None
    people: float | None
    """People's over what they labelled."""
    people_low: float | None
    people_high: float | None
    calibrated: float | None
    """The prediction-powered one."""
    low: float | None
    high: float | None
    weight: float
    """How much the judge counts, 0 to 1: 0 where it tells nothing of what people say."""
    note: str


class Worth(Rows[WorthRow]):
    """What the judge's rate or mean is worth: beside it people's own, and the one that both together give."""

    title: ClassVar[str] = "What a judged number is worth"

    sources: tuple[str, ...] = ()
    """What the two sources are called, if there are two."""

    def tables(self) -> list[Table]:
        """A table for each pair of labels, of the columns that fit a page; `table` has all."""
        return [_page(*titled(pair, self.sources), rows, self.notes) for pair, rows in by_pair(self.rows).items()]


def worth(
    first: Iterable[Conversation],
    second: Iterable[Conversation] | None = None,
    *,
    between: Iterable[Sequence[str]],
    ordered: Iterable[Sequence[str]] = (),
    scales: Mapping[str, Sequence[str]] | None = None,
    sources: Sequence[str] = (),
) -> Worth:
    """Rates of each value, and means of numbers, by side and part. The first label is people's, the second the judge's.

    The parameters are as those of `agreement`.
    """
    pairs = matched([*first], None if second is None else [*second], sources or SOURCES)
    orders, rows = [*ordered], list[WorthRow]()
    ties: dict[str, None] = {}
    for group in groups(pairs, [names for names in between if len(names) == 2]):
        rows += _rows(group, scale_of(group, orders, scales))
        ties |= dict.fromkeys(filter(None, [_ties(group)]))
    notes = [*pairs.notes, *ties]
    if rows:
        notes.append("Calibrated: right where those whom people labelled are like the others.")
    return Worth(rows=tuple(rows), notes=tuple(notes), sources=pairs.sources)


def _page(label: str, against: str, rows: Sequence[WorthRow], notes: Sequence[str]) -> Table:
    columns = [Column(name=name) for name in ("side", "part", "value")]
    columns += [Column(name=name, kind="count") for name in ("of", "n")]
    columns += [Column(name=name, kind="number", places=2) for name in ("naive", "people", "calibrated")]
    columns += [Column(name="95 %")]
    cells = [
        (row.side, part_shown(row.part), row.value, row.of, row.n, row.naive, row.people, row.calibrated,
         interval_shown(row.low, row.high))
        for row in rows
    ]  # fmt: skip
    meaning = (
        f"Of: what {against} labels; n: what people label too; naive: of all, by {against} alone; 95 %: of calibrated."
    )
    return Table(title=f"What {against} is worth by {label}", columns=tuple(columns), rows=tuple(cells),
                 notes=(*remarks(rows), meaning, *notes))  # fmt: skip


def _rows(group: Group, scale: Scale) -> list[WorthRow]:
    judged = [unit for unit in group.units if value_of(unit.second) is not None]
    if not judged:
        return []
    users = [unit.user for unit in judged]
    step = 1.0
    by_value: dict[str, tuple[list[float | None], list[float]]] = {}
    if scale.level == "interval":
        step = float(np.diff(np.unique(scale.places)).min()) if len(scale.places) > 1 else 1.0
        place = dict(zip(scale.values, map(float, scale.places), strict=True))
        number = [(value_of(unit.first), str(value_of(unit.second))) for unit in judged]
        by_value["mean"] = (
            [None if one is None else place[one] for one, _ in number],
            [place[two] for _, two in number],
        )
    elif not scale.is_text:
        seen = dict.fromkeys(
            value for unit in judged for label in (unit.first, unit.second) if label for value in label.values
        )
        for value in sorted(seen, key=lambda one: scale.values.index(one) if one in scale.values else 0):
            by_value[group.text_of(value)] = (
                [_has(unit.first, value) for unit in judged],
                [float(_has(unit.second, value) or 0) for unit in judged],
            )
    weight = tuned_weight([sums_of_users(one, other, users) for one, other in by_value.values()]) if by_value else 0.0
    found = [
        _row(group, value, calibrated_mean(one, other, users=users, weight=weight, step=step), value != "mean")
        for value, (one, other) in by_value.items()
    ]
    single = all(len(label.values) <= 1 for unit in judged for label in (unit.first, unit.second) if label)
    return _adding_up(found) if single and scale.level != "interval" else found


def _adding_up(rows: Sequence[WorthRow]) -> list[WorthRow]:
    """The rates of all values of a label, whose sum is 1: what was cut off at 0 is taken from the others."""
    whole = sum(row.calibrated or 0.0 for row in rows)
    if whole <= 1 + TINY:
        return list(rows)
    return [
        row.model_copy(update={"calibrated": rate, "low": None if row.low is None else min(row.low, rate)})
        for row in rows
        for rate in [(row.calibrated or 0.0) / whole]
    ]


def _row(group: Group, value: str, found: Calibrated, rate: bool) -> WorthRow:
    naive, people, calibrated = (_within(each, rate) for each in (found.naive, found.people, found.calibrated))
    return WorthRow(
        side=group.side, label=group.titles[0], against=group.titles[1], part=group.part, value=value, n=found.n, of=found.of,
        users=found.users, naive=naive.value, naive_low=naive.low, naive_high=naive.high, people=people.value,
        people_low=people.low, people_high=people.high, calibrated=calibrated.value, low=calibrated.low,
        high=calibrated.high, weight=found.weight, note=calibrated.reason,
    )  # fmt: skip


def _ties(group: Group) -> str:
    """What it means that people came to no value of some of what the judge labelled; nothing where they always did."""
    tied = sum(
        unit.first is not None and value_of(unit.first) is None
        for unit in group.units
        if value_of(unit.second) is not None
    )
    if not tied:
        return ""
    side = "side not told" if group.side == "not told" else group.side
    return (
        f"{tied} ties of people in {group.titles[0]}, {side}, count as not labelled, that is, as like those on which "
        "people agree; what is disputed seldom is: let one more person settle them."
    )


def _has(label: Label | None, value: str) -> float | None:
    return None if label is None or not label.values else float(value in label.values)


def _within(found: Estimate, rate: bool) -> Estimate:
    """A rate and its interval end at 0 and 1."""
    if not rate or found.value is None or found.low is None or found.high is None:
        return found
    return found.model_copy(
        update={"value": min(max(found.value, 0.0), 1.0), "low": max(found.low, 0.0), "high": min(found.high, 1.0)}
    )
