"""The rows of a report: what is computed of each measure, before anything is ranked."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from .contrast import Cells, Floats, bootstrap, by_chance, in_chunks, means, quantile, rank_scores, shuffled, sums
from .distances import spread, wasserstein
from .measures import Measure
from .numbers import Side, chance, joined
from .report import Row, TaskRow

FEWEST_USERS = 2
"""Users that each side needs for an interval and a p."""
_ABOUT = ("name", "family", "unit", "definition", "source", "direction", "survives_translation")


@dataclass(frozen=True)
class Draws:
    """How much chance is drawn, and from which seed."""

    seed: int = 0
    shufflings: int = 2000
    resamples: int = 1000
    halvings: int = 100


@dataclass(frozen=True)
class Contrasts:
    """Two sides in every number that a row shows, a column for each measure."""

    cells: Cells
    inflation: Floats
    draws: Draws

    @cached_property
    def users(self) -> tuple[Floats, Floats]:
        """Users of each side that have a value."""
        there = ~np.isnan(self.cells.values)
        told = [np.zeros((len(self.cells.sides), there.shape[1]), dtype=bool) for _ in range(2)]
        for table, side in zip(told, (True, False), strict=True):
            rows = np.flatnonzero(self.cells.simulated == side)
            np.logical_or.at(table, self.cells.user[rows], there[rows])
        return told[0].sum(axis=0).astype(float), told[1].sum(axis=0).astype(float)

    @cached_property
    def scores(self) -> Floats:
        return rank_scores(self.cells)

    @cached_property
    def effect(self) -> Floats:
        """Cliff's delta."""
        shifts = sums(self.cells, self.scores).shifts(self.cells.sides[None, :].astype(float))
        return np.clip(shifts.ravel(), -1, 1)

    @cached_property
    def against_chance(self) -> tuple[Floats, Floats]:
        """The p of the effect, and the effect that chance exceeds in one of 20 shuffles."""
        labellings = shuffled(self.cells.sides, self.draws.shufflings, chance(self.draws.seed, "shuffling"))
        null = in_chunks(sums(self.cells, self.scores), labellings)
        return by_chance(self.effect, null, self.inflation)

    @cached_property
    def bounds(self) -> tuple[Floats, Floats]:
        """Bounds of the intervals of the difference and of the effect."""
        return bootstrap(self.cells, self.draws.resamples, self.inflation, chance(self.draws.seed, "resampling"))

    @cached_property
    def distance(self) -> Floats:
        return wasserstein(self.cells, self.cells.simulated[None, :], spread(self.cells)).ravel()


def floor(human: Side, inflation: Floats, draws: Draws) -> tuple[Floats, Floats, Floats]:
    """Between halves of the people: median distance, the one that one in 20 exceeds, and median effect."""
    nobody = Side((), human.values[:0])
    cells = joined(nobody, human)
    halves = halvings(len(cells.sides), draws)
    if not len(halves):
        nothing = np.full(human.values.shape[1], np.nan)
        return nothing, nothing, nothing
    distances = wasserstein(cells, halves[:, cells.user].astype(bool), spread(cells)) * inflation
    effects = np.abs(in_chunks(sums(cells, rank_scores(cells)), halves)) * inflation
    return quantile(distances, 0.5), quantile(distances, 0.95), quantile(effects, 0.5)


def halvings(users: int, draws: Draws) -> Floats:
    """Labellings that put half of the users on each side; none with fewer than four users."""
    if users < 2 * FEWEST_USERS:
        return np.zeros((0, users))
    half = np.arange(users) < users // 2
    return shuffled(half, draws.halvings, chance(draws.seed, "halving"))


def number_rows(
    sim: Side, human: Side, measures: Sequence[Measure], draws: Draws, published: Side | None = None
) -> list[Row]:
    """A row for each measure of the two sides, whose values are given in the measures' order; no rank as yet."""
    inflation = np.array([2.0 if measure.pairwise else 1.0 for measure in measures])
    both = Contrasts(joined(sim, human), inflation, draws)
    low, middle, high = both.users[0], both.effect, both.users[1]
    p, margin = both.against_chance
    margin = np.minimum(margin, 1)  # widened for pairs it may lie beyond what any effect can be
    (ci, effect_ci), (sim_mean, human_mean) = both.bounds, means(both.cells)
    halves = floor(human, inflation, draws)
    other = Contrasts(joined(published, human), inflation, draws) if published is not None else None
    rows = []
    for column, measure in enumerate(measures):
        enough = min(low[column], high[column]) >= FEWEST_USERS
        rows.append(
            Row(
                **about(measure),
                reason=missing(int(low[column]), int(high[column]), middle[column]),
                # Each side's mean is shown whether or not the other side has any.
                sim=number(sim_mean[0, column]) if not math.isnan(sim_mean[0, column]) else _plain(sim, column),
                human=number(human_mean[0, column]) if not math.isnan(human_mean[0, column]) else _plain(human, column),
                sim_users=int(low[column]),
                human_users=int(high[column]),
                ci_low=number(ci[0, column]) if enough else None,
                ci_high=number(ci[1, column]) if enough else None,
                effect=number(middle[column]),
                effect_low=number(effect_ci[0, column]) if enough else None,
                effect_high=number(effect_ci[1, column]) if enough else None,
                chance=number(margin[column]) if enough else None,
                excess=number(abs(middle[column]) - margin[column]) if enough else None,
                distance=number(both.distance[column]),
                floor=number(halves[0][column]),
                floor_high=number(halves[1][column]),
                floor_effect=number(halves[2][column]),
                published=number(other.distance[column]) if other is not None else None,
                published_effect=number(other.effect[column]) if other is not None else None,
                p=number(p[column]) if enough else None,
            )
        )
    return rows


def about(measure: Measure) -> dict[str, Any]:
    """What a row says of the measure itself."""
    return {name: getattr(measure, name) for name in _ABOUT}


def task_rows(sim: Side, human: Side, measures: Sequence[Measure], draws: Draws) -> dict[str, list[TaskRow]]:
    """For each measure a row per task, by name; p not yet controlled."""
    inflation = np.array([2.0 if measure.pairwise else 1.0 for measure in measures])
    found: dict[str, list[TaskRow]] = {measure.name: [] for measure in measures}
    for task in sorted({speech.task for speech in (*sim.speeches, *human.speeches)}):
        one, two = (side.where([speech.task == task for speech in side.speeches]) for side in (sim, human))
        part = Contrasts(joined(one, two), inflation, replace(draws, shufflings=draws.shufflings // 2))
        (p, _), (sim_mean, human_mean) = part.against_chance, means(part.cells)
        for column, measure in enumerate(measures):
            enough = min(users[column] for users in part.users) >= FEWEST_USERS
            row = TaskRow(
                task=task,
                sim=number(sim_mean[0, column]),
                human=number(human_mean[0, column]),
                effect=number(part.effect[column]),
                p=number(p[column]) if enough else None,
                p_adjusted=None,
            )
            found[measure.name].append(row)
    return found


def number(value: float) -> float | None:
    """A plain number, None for one that is not there."""
    return float(value) if math.isfinite(value) else None


def _plain(side: Side, column: int) -> float | None:
    told = side.values[:, column]
    told = told[~np.isnan(told)]
    return float(told.mean()) if told.size else None


def missing(sim: int, human: int, effect: float) -> str:
    if not sim or not human:
        which = (
            "neither side"
            if not sim and not human
            else "no simulated conversation"
            if not sim
            else "no person's conversation"
        )
        return f"{which} tells it"
    if math.isnan(effect):
        return "no task in which both sides tell it"
    if min(sim, human) < FEWEST_USERS:
        return "a side has one user only: no interval and no p"
    return ""
