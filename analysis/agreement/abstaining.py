"""Which of a judge's labels to keep so that those kept are right often enough for people who are not among the labelled."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...data.records import Conversation, Record
from ...data.votes import entropy_of
from ...errors import DataError, SettingError
from ..annotations import Side
from ..tables import DASH, Column, Rows, Table
from .comparing import Group, groups, number_of, value_of, votes_of
from .intervals import Floats, lower_bound
from .pages import by_pair, part_shown, remarks, titled
from .reading import SOURCES, Place, Unit, labels_of, matched, named

ERROR = 0.05
"""Chance that what is said to hold the precision does not."""

STEPS = 10
"""Most thresholds that are tried."""


class AbstentionRow(Record):
    """Which labels of a judge are kept, for one side and part."""

    side: Side
    label: str
    against: str
    part: str
    target: float
    """Precision that the kept labels are to have."""
    held: bool
    """Whether they have it for new users, with 95 % confidence."""
    keep: str
    """What is kept; empty if the precision cannot be held."""
    n: int
    """Kept ones that people labelled, too; of all if it cannot be held."""
    users: int
    precision: float | None
    """Share of these on which both agree."""
    at_least: float | None
    """The lower 95 % bound of the precision over users."""
    kept: float
    """Share of all that the judge labelled that is kept, 0 to 1."""
    of: int
    """All that the judge labelled."""
    note: str


class Abstention(Rows[AbstentionRow]):
    """Which labels of a judge to keep so that those kept hold a precision, and how many these are."""

    title: ClassVar[str] = "Labels that hold a precision"

    sources: tuple[str, ...] = ()
    """What the two sources are called, if there are two."""

    def tables(self) -> list[Table]:
        """A table for each pair of labels, of the columns that fit a page; `table` has all."""
        return [_page(*titled(pair, self.sources), rows, self.notes) for pair, rows in by_pair(self.rows).items()]


def abstention(
    first: Iterable[Conversation],
    second: Iterable[Conversation] | None = None,
    *,
    between: Iterable[Sequence[str]],
    precision: float,
    confidence: str | None = None,
    sources: Sequence[str] = (),
) -> Abstention:
    """The judge's labels to keep, by side and part. The first label is people's, the second the judge's.

    Labels are kept by their votes, those on which all agree first; by `confidence`, a label that is a number, the highest
    first. Thresholds are tried from the strictest on, each looser one only where the stricter one held, so that no choice
    needs a correction (fixed sequence testing: Angelopoulos et al., "Learn then Test", 2021, section 2.1); a threshold
    holds where the lower 95 % bound over users is at least the precision. The parameters are as those of `agreement`;
    SettingError for a precision that is not between 0 and 1.
    """
    if not 0 < precision < 1:
        raise SettingError(f"a precision is between 0 and 1, not {precision}")
    pairs = matched([*first], None if second is None else [*second], sources or SOURCES)
    told = None if confidence is None else _told(confidence, [other for _, other in pairs.pairs])
    rows = []
    for group in groups(pairs, [names for names in between if len(names) == 2]):
        judged = [unit for unit in group.units if value_of(unit.second) is not None]
        if judged:
            sure = [_by_votes(unit) if told is None else told.get((unit.number, unit.place)) for unit in judged]
            rows.append(_row(group, judged, sure, precision, confidence))
    return Abstention(rows=tuple(rows), notes=pairs.notes, sources=pairs.sources)


def _page(label: str, against: str, rows: Sequence[AbstentionRow], notes: Sequence[str]) -> Table:
    columns = [Column(name="side"), Column(name="part"), Column(name="held", kind="flag"), Column(name="keep")]
    columns += [Column(name=name, kind="count") for name in ("n", "users")]
    columns += [Column(name=name, kind="number", places=2) for name in ("precision", "at least", "kept")]
    columns += [Column(name="of", kind="count")]
    cells = [
        (row.side, part_shown(row.part), row.held, row.keep or DASH, row.n, row.users, row.precision, row.at_least, row.kept, row.of)
        for row in rows
    ]  # fmt: skip
    title = f"Labels of {against} that are what {label} says with a precision of {rows[0].target:g}"
    return Table(title=title, columns=tuple(columns), rows=tuple(cells), notes=(*remarks(rows), *notes))


def _row(
    group: Group, judged: Sequence[Unit], sure: Sequence[float | None], target: float, confidence: str | None
) -> AbstentionRow:
    levels = _levels(sure)
    best: tuple[float, _Kept] | None = None
    tried: _Kept | None = None
    for level in levels:
        found = _kept([unit for unit, one in zip(judged, sure, strict=True) if one is not None and one >= level])
        if found is None or found.possible < target:
            continue  # with so few users it could not hold even if all were right: nothing is tried
        tried = found
        if found.at_least < target:
            break
        best = (level, found)
    if best is None:
        of_all = _kept(judged)
        why = "cannot be held: " + (
            f"the bound of the surest is {tried.at_least:.3f}" if tried is not None
            else "nobody labelled what the judge did" if of_all is None
            else f"with so few users the bound could be {of_all.possible:.3f} at best"
        )  # fmt: skip
        return AbstentionRow(
            side=group.side, label=group.titles[0], against=group.titles[1], part=group.part, target=target, held=False, keep="",
            n=of_all.n if of_all else 0, users=of_all.users if of_all else 0,
            precision=of_all.precision if of_all else None, at_least=of_all.at_least if of_all else None, kept=0.0,
            of=len(judged), note=why,
        )  # fmt: skip
    level, found = best
    number = sum(one is not None and one >= level for one in sure)
    what = "entropy of the votes at most" if confidence is None else f"{confidence} at least"
    keep = "all" if number == len(judged) else f"{what} {-level if confidence is None else level:.3g}"
    return AbstentionRow(
        side=group.side, label=group.titles[0], against=group.titles[1], part=group.part, target=target, held=True, keep=keep, n=found.n,
        users=found.users, precision=found.precision, at_least=found.at_least, kept=number / len(judged),
        of=len(judged), note="",
    )  # fmt: skip


@dataclass(frozen=True)
class _Kept:
    """What people say of some of the judge's labels."""

    n: int
    users: int
    precision: float
    at_least: float
    possible: float
    """The bound if all were right, which depends on how many users labelled how much alone."""


def _kept(units: Sequence[Unit]) -> _Kept | None:
    """What people say of these; None if they labelled none of them."""
    labels: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for unit in units:
        if value_of(unit.first) is not None:
            labels[unit.user] += 1
            right[unit.user] += value_of(unit.first) == value_of(unit.second)
    if not labels:
        return None
    number: Floats = np.array([labels[user] for user in labels], dtype=float)
    of_right: Floats = np.array([right[user] for user in labels], dtype=float)
    return _Kept(
        n=labels.total(),
        users=len(labels),
        precision=float(of_right.sum() / number.sum()),
        at_least=lower_bound(of_right, number, ERROR),
        possible=lower_bound(number, number, ERROR),
    )


def _levels(sure: Sequence[float | None]) -> list[float]:
    """Thresholds from the strictest on: every level that there is, or those that divide the labels evenly."""
    there = sorted((one for one in sure if one is not None), reverse=True)
    levels = sorted(set(there), reverse=True)
    if len(levels) > STEPS:
        levels = sorted({there[round(len(there) * step / STEPS) - 1] for step in range(1, STEPS + 1)}, reverse=True)
    return levels


def _by_votes(unit: Unit) -> float:
    """Less the entropy of the votes; 0 without votes, so that all are alike."""
    return -entropy_of(votes_of(unit)) if unit.second is not None and len(unit.second.votes) > 1 else 0.0


def _told(name: str, conversations: Sequence[Conversation]) -> dict[tuple[int, Place], float]:
    """The confidence of each conversation or message, by the conversation's number and the message's."""
    found = named(name, conversations, "--confidence")
    told: dict[tuple[int, Place], float] = {}
    for number, talk in enumerate(conversations):
        for (place, part), label in labels_of(talk, found.key).items():
            if part == (found.part or "") and label.value is not None:
                if (value := number_of(label.value)) is None:
                    raise DataError(f"{name}: a confidence is a number, not {label.value!r}: name another label")
                told[number, place] = value
    return told
