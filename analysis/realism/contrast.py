"""How far two sides are apart in each measure, and how much of that is chance: users are drawn, never messages.

The unit is the user (or the profile): their conversations about a task are averaged to one cell, and users with
all their cells are resampled and shuffled. Tasks are strata with the weights m n / (m + n), m and n being the users
of the two sides, so that a side with more gift conversations differs in nothing by that alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

CONFIDENCE = 0.95
_CHUNK = 200
_TINY = 1e-9


@dataclass(frozen=True)
class Cells:
    """A row for each user and task, a column for each measure; NaN where none of the conversations tells."""

    values: Floats
    user: Ints
    """Number of the row's user, from 0; a name that both sides know is two users."""
    task: Ints
    simulated: Bools

    @property
    def sides(self) -> Bools:
        """For each user whether simulated."""
        sides = np.zeros(int(self.user.max(initial=-1)) + 1, dtype=bool)
        sides[self.user] = self.simulated
        return sides

    def only(self, rows: Bools) -> "Cells":
        """Some of the rows, their users and tasks numbered anew."""
        user = np.unique(self.user[rows], return_inverse=True)[1].astype(np.int64)
        task = np.unique(self.task[rows], return_inverse=True)[1].astype(np.int64)
        return Cells(self.values[rows], user, task, self.simulated[rows])


def cells_of(values: Floats, users: Sequence[tuple[bool, str]], tasks: Sequence[str]) -> Cells:
    """The means of each user's conversations about a task; `users` are side (simulated?) and name, a row each."""
    names = {user: number for number, user in enumerate(dict.fromkeys(users))}
    kinds = {task: number for number, task in enumerate(sorted(set(tasks)))}
    keys = [(names[user], kinds[task]) for user, task in zip(users, tasks, strict=True)]
    rows = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    row = np.array([rows[key] for key in keys], dtype=np.int64)
    there = ~np.isnan(values)
    total, count = np.zeros((len(rows), values.shape[1])), np.zeros((len(rows), values.shape[1]))
    np.add.at(total, row, np.where(there, values, 0.0))
    np.add.at(count, row, there)
    mean = np.full(total.shape, np.nan)
    np.divide(total, count, out=mean, where=count > 0)
    simulated = {number: side for (side, _), number in names.items()}
    return Cells(
        mean,
        np.array([user for user, _ in rows], dtype=np.int64),
        np.array([task for _, task in rows], dtype=np.int64),
        np.array([simulated[user] for user, _ in rows], dtype=bool),
    )


@dataclass(frozen=True)
class Sums:
    """What shuffling and resampling need of the cells, added up by user."""

    score: Floats
    """User x measure: sum of scores, each task's centred at its mean over both sides."""
    there: Floats
    """User x task x measure: 1 where there is a value."""

    def shifts(self, sides: Floats) -> Floats:
        """Labelling x measure: mean difference of scores, side 1 less side 0; NaN where a side is empty.

        `sides` has a row for each labelling and a column for each user. Weighted as above, the difference is the
        sum of side 1's centred scores over the sum of the weights.
        """
        shape = self.there.shape
        ones = (sides @ self.there.reshape(shape[0], shape[1] * shape[2])).reshape(len(sides), *shape[1:])
        whole = self.there.sum(axis=0)
        weight = (ones * (whole - ones) / np.maximum(whole, 1)).sum(axis=1)
        shift = np.full(weight.shape, np.nan)
        np.divide(sides @ self.score, weight, out=shift, where=weight > _TINY)
        return np.asarray(np.round(shift, 12) + 0.0, dtype=np.float64)  # ranks leave dust, and a 0 with a sign


def sums(cells: Cells, scores: Floats) -> Sums:
    """The scores (a row for each cell, NaN where none) by user, centred by task."""
    users, tasks, width = len(cells.sides), int(cells.task.max(initial=0)) + 1, scores.shape[1]
    there = ~np.isnan(scores)
    filled = np.where(there, scores, 0.0)
    total, count = np.zeros((tasks, width)), np.zeros((tasks, width))
    np.add.at(total, cells.task, filled)
    np.add.at(count, cells.task, there)
    centred = np.where(there, filled - (total / np.maximum(count, 1))[cells.task], 0.0)
    score, present = np.zeros((users, width)), np.zeros((users, tasks, width))
    np.add.at(score, cells.user, centred)
    np.add.at(present, (cells.user, cells.task), there.astype(float))
    return Sums(score, present)


def rank_scores(cells: Cells) -> Floats:
    """Twice the share of the task's cells that lie below, ties half: their mean difference is Cliff's delta.

    With the weights above it is the statistic of van Elteren's stratified rank test (1960).
    """
    scores = np.full(cells.values.shape, np.nan)
    for task in np.unique(cells.task):
        rows = np.flatnonzero(cells.task == task)
        for column in range(cells.values.shape[1]):
            own = rows[~np.isnan(cells.values[rows, column])]
            if own.size:
                scores[own, column] = 2 * rankdata(cells.values[own, column]) / own.size
    return scores


def shuffled(simulated: Bools, draws: int, rng: np.random.Generator) -> Floats:
    """Labellings of users with as many simulated ones as there are, in random order; a row each."""
    return rng.permuted(np.tile(simulated.astype(float), (draws, 1)), axis=1)


def in_chunks(sums: Sums, labellings: Floats) -> Floats:
    """The shifts of many labellings, some at a time to spare memory."""
    parts = [sums.shifts(labellings[start : start + _CHUNK]) for start in range(0, len(labellings), _CHUNK)]
    return np.concatenate(parts) if parts else np.zeros((0, sums.score.shape[1]))


def by_chance(observed: Floats, null: Floats, inflation: Floats) -> tuple[Floats, Floats]:
    """For each measure the p of a shift as far from 0, and the shift that chance exceeds in one of 20 shuffles.

    `inflation` widens chance where a value depends on the others of its side (2 for means over pairs: each
    conversation counts as the one that is compared and as one of the others; Hoeffding 1948).
    """
    wide = np.abs(np.where(np.isnan(null), 0.0, null)) * inflation
    exceeding = (wide >= np.abs(observed) - _TINY).sum(axis=0)
    p = (1 + exceeding) / (1 + len(null))
    return np.where(np.isnan(observed), np.nan, p), np.quantile(wide, CONFIDENCE, axis=0)


def means(cells: Cells, labellings: Floats | None = None) -> tuple[Floats, Floats]:
    """Labelling x measure: mean of side 1 and of side 0, with the same weights of tasks; NaN where a side has none.

    Without labellings there is one: simulated and people.
    """
    sides = cells.sides[None, :].astype(float) if labellings is None else labellings
    one, other, _ = _weighted(_by_user(cells, cells.values), sides, 1 - sides)
    return one, other


def bootstrap(cells: Cells, draws: int, inflation: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Bounds of the 95 % intervals, measure by measure: of the difference of means, and of Cliff's delta.

    Users of each side are drawn with replacement. Delta is drawn through its placements (DeLong et al. 1988;
    by cluster: Obuchowski 1997). Each result is lower and upper bound x measure.
    """
    width = cells.values.shape[1]
    table = _by_user(cells, np.concatenate([cells.values, placements(cells)], axis=1))
    users, found = np.flatnonzero(cells.sides), []
    others = np.flatnonzero(~cells.sides)
    for start in range(0, draws, _CHUNK):
        size = min(_CHUNK, draws - start)
        sim, human = np.zeros((size, len(cells.sides))), np.zeros((size, len(cells.sides)))
        for side, own in ((sim, users), (human, others)):
            if own.size:
                side[:, own] = rng.multinomial(own.size, np.full(own.size, 1 / own.size), size=size)
        found.append(_weighted(table, sim, human)[2])
    drawn = np.concatenate(found)
    sides = cells.sides[None, :].astype(float)
    here = _weighted(table, sides, 1 - sides)[2][0]
    wide = here + (drawn - here) * np.concatenate([inflation, 2 * inflation])  # each placement is half of a delta
    edge = (1 - CONFIDENCE) / 2
    bounds = np.stack([quantile(wide, edge), quantile(wide, 1 - edge)])
    return bounds[:, :width], np.clip(bounds[:, width:], -1, 1)


def quantile(values: Floats, share: float) -> Floats:
    """Of each column, without what is not there; NaN where nothing is."""
    columns = (column[~np.isnan(column)] for column in values.T)
    return np.array([np.quantile(column, share) if column.size else np.nan for column in columns], dtype=np.float64)


def placements(cells: Cells) -> Floats:
    """For each cell how much of the other side of its task lies below it less above it, -1 to 1, halved in sign.

    The weighted mean of the simulated side's less that of people's is Cliff's delta; each side carries half.
    """
    result = np.full(cells.values.shape, np.nan)
    for task in np.unique(cells.task):
        sides = [np.flatnonzero((cells.task == task) & (cells.simulated == side)) for side in (True, False)]
        for column in range(cells.values.shape[1]):
            one, two = (rows[~np.isnan(cells.values[rows, column])] for rows in sides)
            if not one.size or not two.size:
                continue
            for own, other in ((one, two), (two, one)):
                sorted_values = np.sort(cells.values[other, column])
                mine = cells.values[own, column]
                below = np.searchsorted(sorted_values, mine, "left")
                above = other.size - np.searchsorted(sorted_values, mine, "right")
                result[own, column] = (below - above) / other.size / 2
    return result


@dataclass(frozen=True)
class _Table:
    total: Floats
    """User x (task x measure)."""
    count: Floats
    shape: tuple[int, int]


def _by_user(cells: Cells, values: Floats) -> _Table:
    users, tasks, width = len(cells.sides), int(cells.task.max(initial=0)) + 1, values.shape[1]
    there = ~np.isnan(values)
    total, count = np.zeros((users, tasks, width)), np.zeros((users, tasks, width))
    np.add.at(total, (cells.user, cells.task), np.where(there, values, 0.0))
    np.add.at(count, (cells.user, cells.task), there.astype(float))
    return _Table(total.reshape(users, tasks * width), count.reshape(users, tasks * width), (tasks, width))


def _weighted(table: _Table, sim: Floats, human: Floats) -> tuple[Floats, Floats, Floats]:
    """Draw x measure: both sides' means over tasks, and their difference; users count as often as drawn."""
    told = []
    for side in (sim, human):
        total = (side @ table.total).reshape(len(side), *table.shape)
        count = (side @ table.count).reshape(len(side), *table.shape)
        told.append((total / np.maximum(count, _TINY), count))
    (sim_mean, sim_count), (human_mean, human_count) = told
    weight = sim_count * human_count / np.maximum(sim_count + human_count, 1)
    whole = weight.sum(axis=1)
    result = []
    for mean in (sim_mean, human_mean):
        value = np.full(whole.shape, np.nan)
        np.divide((mean * weight).sum(axis=1), whole, out=value, where=whole > _TINY)
        result.append(value)
    return result[0], result[1], result[0] - result[1]
