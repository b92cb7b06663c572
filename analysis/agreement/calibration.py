"""What a judged number is worth: a rate or a mean that a model gave everywhere, put right by what people gave somewhere."""

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

import numpy as np
from scipy.stats import t as students_t

from ...data.records import Conversation, Record
from ...errors import SettingError
from ..annotations import Side
from ..tables import Column, Rows, Table
from .comparing import Group, Scale, groups, scale_of, value_of
from .intervals import FEWEST_USERS, TINY, Estimate, Floats, effective_users, jackknife_variance
from .pages import by_pair, interval_shown, part_shown, remarks, titled
from .reading import SOURCES, Label, matched


class Calibrated(Record):
    """A mean by a judge alone, by people alone, and by both."""

    n: int
    """Things that people labelled and the judge, too."""
    of: int
    """Things that the judge labelled."""
    users: int
    """Users of those that people labelled."""
    naive: Estimate
    """The judge's mean over all."""
    people: Estimate
    """People's mean over what they labelled."""
    calibrated: Estimate
    weight: float
    """How much the judge counts, 0 to 1: the power-tuned lambda."""


def calibrated_mean(
    people: Sequence[float | None],
    judged: Sequence[float],
    *,
    users: Sequence[str] | None = None,
    weight: float | None = None,
    step: float = 1.0,
) -> Calibrated:
    """The prediction-powered mean: people's mean, plus `weight` times what the judge's mean is greater where people did
    not label than where they did.

    `judged` has the judge's number of each thing, `people` theirs, None where they gave none; `users` whose each thing
    is; `step` how far apart neighbouring values are. Without `weight` it is the one that makes the variance smallest.
    Angelopoulos, Duchi and Zrnic, "PPI++: Efficient Prediction-Powered Inference" (2023), section 6. The variance is
    that over users, each left out in turn, with half of what one more label a step away would add, and no less than the
    whole: a few labels without an error are no proof that there is none. It holds where those whom people labelled are
    like the others. SettingError for numbers that are not of the same things, or none.
    """
    if len(people) != len(judged) or (users is not None and len(users) != len(judged)):
        raise SettingError("people, judged and users: give one of each for each thing")
    if not judged:
        raise SettingError("judged: is empty: give the judge's number of each thing")
    of_users = list(map(str, range(len(judged)))) if users is None else list(users)
    place = {user: number for number, user in enumerate(dict.fromkeys(of_users))}
    sums = np.zeros((len(place), 6))  # of what people labelled: number, theirs, the judge's; of the rest; of all
    for user, told, value in zip(of_users, people, judged, strict=True):
        there = told is not None
        sums[place[user]] += (there, told or 0, value if there else 0, not there, 0 if there else value, value)
    number, rest = sums[:, 0], sums[:, 3]
    total, left_out = sums.sum(axis=0), sums.sum(axis=0) - sums
    labelled = int((number > 0).sum())
    naive = _mean(left_out[:, 5], left_out[:, 0] + left_out[:, 3], total[5], total[0] + total[3], number + rest, step)
    if not total[0]:
        none = Estimate(value=None, reason="not calibrated: people labelled none")
        return Calibrated(n=0, of=len(judged), users=0, naive=naive, people=none, calibrated=none, weight=0.0)
    own = _mean(left_out[:, 1], left_out[:, 0], total[1], total[0], number, step)
    if not total[3] or labelled < FEWEST_USERS or (left_out[:, 3] < TINY).any():
        reason = own.reason if total[3] else own.reason or "people labelled all: theirs is the mean"
        if total[3] and not own.reason:
            reason = "one user alone has what people did not label: theirs is the mean"
        alone = own.model_copy(update={"reason": reason})
        return Calibrated(n=int(total[0]), of=len(judged), users=labelled, naive=naive, people=own, calibrated=alone,
                          weight=0.0)  # fmt: skip
    means = left_out[:, 1] / left_out[:, 0]
    more = left_out[:, 4] / left_out[:, 3] - left_out[:, 2] / left_out[:, 0]
    if weight is None:
        centred = more - more.mean()
        varies = min(np.square(of - of.mean()).sum() for of in (means, more)) > TINY
        weight = min(max(-float((means * centred).sum() / (centred**2).sum()), 0.0), 1.0) if varies else 0.0
    value = total[1] / total[0] + weight * (total[4] / total[3] - total[2] / total[0])
    calibrated = _interval(value, jackknife_variance(means + weight * more), number, step)
    return Calibrated(n=int(total[0]), of=len(judged), users=labelled, naive=naive, people=own, calibrated=calibrated,
                      weight=weight)  # fmt: skip


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
    orders, rows = [*ordered], []
    for group in groups(pairs, [names for names in between if len(names) == 2]):
        rows += _rows(group, scale_of(group, orders, scales))
    notes = [*pairs.notes]
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
    return [
        _row(group, value, calibrated_mean(one, other, users=users, step=step), value != "mean")
        for value, (one, other) in by_value.items()
    ]


def _row(group: Group, value: str, found: Calibrated, rate: bool) -> WorthRow:
    naive, people, calibrated = (_within(each, rate) for each in (found.naive, found.people, found.calibrated))
    return WorthRow(
        side=group.side, label=group.titles[0], against=group.titles[1], part=group.part, value=value, n=found.n, of=found.of,
        users=found.users, naive=naive.value, naive_low=naive.low, naive_high=naive.high, people=people.value,
        people_low=people.low, people_high=people.high, calibrated=calibrated.value, low=calibrated.low,
        high=calibrated.high, weight=found.weight, note=calibrated.reason,
    )  # fmt: skip


def _has(label: Label | None, value: str) -> float | None:
    return None if label is None or not label.values else float(value in label.values)


def _within(found: Estimate, rate: bool) -> Estimate:
    """A rate and its interval end at 0 and 1."""
    if not rate or found.value is None or found.low is None or found.high is None:
        return found
    return found.model_copy(
        update={"value": min(max(found.value, 0.0), 1.0), "low": max(found.low, 0.0), "high": min(found.high, 1.0)}
    )


def _mean(sums: Floats, numbers: Floats, total: float, number: float, labels: Floats, step: float) -> Estimate:
    """A mean with its interval, from the sums and numbers without each user."""
    value, users = total / max(number, 1), int((labels > 0).sum())
    if users < FEWEST_USERS:
        return Estimate(value=value, reason=f"an interval needs {FEWEST_USERS} users")
    return _interval(value, jackknife_variance(sums / numbers), labels, step)


def _interval(value: float, variance: float, of_users: Floats, step: float) -> Estimate:
    """The interval of a mean, by how many labels each user has."""
    of_users = of_users[of_users > 0]
    users = effective_users(of_users)
    more = step**2 / (users * float(of_users.sum()))  # the variance that one more label a step away would add
    half = float(students_t.ppf(0.975, max(users - 1, 1)) * np.sqrt(max(variance + more / 2, more)))
    return Estimate(value=value, low=value - half, high=value + half)
