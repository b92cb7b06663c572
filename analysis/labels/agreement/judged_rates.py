"""Calibrated estimates: the rates of a label's values, or its mean, by the judge, by people and by both."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from typing_extensions import override

from ....data.records import Conversation
from ...over_users.estimate import UserScore
from ...over_users.jackknife import TINY
from ...tables import Column, Table
from .calibration import Calibrated, calibrated_mean, sums_of_users, tuned_weights
from .comparing import Group, Scale, groups, scale_of, value_of
from .pages import ComparedRow, ComparedRows, bounds, interval_shown
from .reading import LabelColumn, matched


class WorthRow(ComparedRow):
    """A rate or a mean of one side.

    Intervals are 95 %, over users; of a mean in the label's own points.
    """

    value: str
    """The value whose rate it is; `mean` of numbers."""
    n: int
    """Conversations or messages that both labelled."""
    of: int
    """All that the judge labelled."""
    users: int
    """Users of those that both labelled."""
    naive: float | None
    """The judge's over all; its interval does not cover the judge's errors."""
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
    """How much the judge counts, 0 to 1: 0 where it does not predict people's labels."""
    note: str


class CalibratedRates(ComparedRows[WorthRow], title="Calibrated estimates"):
    """The judge's rate or mean, people's own, and the calibrated one from both."""

    @override
    def page(self, label: str, against: str, rows: Sequence[WorthRow]) -> Table:
        columns = [
            *(Column(name=name) for name in ("side", "part", "value")),
            *(Column(name=name, kind="count") for name in ("of", "n")),
            *(Column(name=name, kind="number", places=2) for name in ("naive", "people", "calibrated")),
            Column(name="95 %"),
        ]
        meaning = f"Of: what {against} labels; n: what people label too; naive: of all, only by {against}; 95 %: of calibrated."
        interval = {"95_%": lambda row: interval_shown(row.low, row.high)}
        return self.page_of(f"{against}, calibrated by {label}", columns, rows, [meaning], **interval)


def worth(
    first: Iterable[Conversation],
    second: Iterable[Conversation] | None = None,
    *,
    between: Iterable[Sequence[str]],
    ordered: Iterable[Sequence[str]] = (),
    scales: Mapping[str, Sequence[str]] | None = None,
    sources: Sequence[str] = (),
) -> CalibratedRates:
    """Rates of each value, and means of numbers, by side and part.

    The first label is people's, the second the judge's. The parameters are as those of `agreement`.
    """
    pairs = matched(first, second, sources)
    orders, rows = [*ordered], list[WorthRow]()
    ties: dict[str, None] = {}
    for group in groups(pairs, [names for names in between if len(names) == 2]):
        rows += _rows(group, scale_of(group, orders, scales))
        ties |= dict.fromkeys(filter(None, [_ties(group)]))
    notes = [*pairs.notes, *ties]
    if rows:
        notes.append("Calibrated: right where those whom people labelled are like the others.")
    return CalibratedRates(rows=tuple(rows), notes=tuple(notes), sources=pairs.sources)


def _rows(group: Group, scale: Scale) -> list[WorthRow]:
    judged = group.judged
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
    weights = (
        tuned_weights([sums_of_users(one, other, users) for one, other in by_value.values()], users)
        if by_value
        else None
    )
    rows = []
    for value, (one, other) in by_value.items():
        rate = value != "mean"
        estimates = calibrated_mean(one, other, users=users, weight=weights, step=step, rate=rate)
        rows.append(_row(group, value, estimates, rate))
    single = all(len(label.values) <= 1 for unit in judged for label in (unit.first, unit.second) if label)
    return _adding_up(rows) if single and scale.level != "interval" else rows


def _adding_up(rows: Sequence[WorthRow]) -> list[WorthRow]:
    """The rows of all values of a label, rescaled where their sum is above 1.

    A rate that was cut off at 0 is taken from the others.
    """
    whole = sum(row.calibrated or 0.0 for row in rows)
    if whole <= 1 + TINY:
        return list(rows)
    return [
        row.model_copy(update={"calibrated": rate, "low": None if row.low is None else min(row.low, rate)})
        for row in rows
        for rate in [(row.calibrated or 0.0) / whole]
    ]


def _row(group: Group, value: str, estimates: Calibrated, rate: bool) -> WorthRow:
    naive, people, calibrated = (
        _within(estimate, rate) for estimate in (estimates.naive, estimates.people, estimates.calibrated)
    )
    return WorthRow(
        **group.of_two(),
        **estimates.model_dump(include={"n", "of", "users", "weight"}),
        value=value,
        **bounds("naive", naive),
        **bounds("people", people),
        calibrated=calibrated.value,
        low=calibrated.low,
        high=calibrated.high,
        note=calibrated.reason,
    )


def _ties(group: Group) -> str:
    """A note on people's ties among the things that the judge labelled; empty without a tie."""
    tied = sum(unit.first is not None and value_of(unit.first) is None for unit in group.judged)
    if not tied:
        return ""
    side = "side not told" if group.side == "not told" else group.side
    return (
        f"{tied} ties of people in {group.titles[0]}, {side}, count as not labelled, that is, as like those on which "
        "people agree; annotators who disagree are seldom so: let one more person settle them."
    )


def _has(label: LabelColumn | None, value: str) -> float | None:
    return None if label is None or not label.values else float(value in label.values)


def _within(estimate: UserScore, rate: bool) -> UserScore:
    """A rate and its interval end at 0 and 1."""
    if not rate or estimate.value is None or estimate.low is None or estimate.high is None:
        return estimate
    return estimate.model_copy(
        update={
            "value": min(max(estimate.value, 0.0), 1.0),
            "low": max(estimate.low, 0.0),
            "high": min(estimate.high, 1.0),
        }
    )
