"""The rows of a report: what is computed of each measure, before anything is ranked."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from .cells import Cells, Floats, quantile, rank_scores, side_means
from .distances import wasserstein, within_task_deviation
from .measures import Measure
from .report import Row, TaskRow
from .resampling import bootstrap, permutation_test, permuted, user_scores
from .samples import Sample, generator, joined

FEWEST_USERS = 2
"""Users that each side needs for an interval and a p."""
_DESCRIPTION = ("name", "family", "unit", "definition", "source", "direction", "survives_translation")
"""Fields of a measure that its row repeats."""


@dataclass(frozen=True)
class Draws:
    """How many random draws are made for what, and from which seed."""

    seed: int = 0
    shufflings: int = 2000
    resamples: int = 1000
    halvings: int = 100


@dataclass(frozen=True)
class TwoSamples:
    """Every statistic that a row shows of two sides; each is an array with a column for each measure."""

    cells: Cells
    inflation: Floats
    """By how much chance is widened (`resampling.permutation_test`)."""
    draws: Draws

    @cached_property
    def users(self) -> tuple[Floats, Floats]:
        """Users of the simulated side, and of people's, that have a value."""
        defined = ~np.isnan(self.cells.values)
        counts = []
        for simulated in (True, False):
            has_value = np.zeros((len(self.cells.sides), defined.shape[1]), dtype=bool)
            rows = np.flatnonzero(self.cells.simulated == simulated)
            np.logical_or.at(has_value, self.cells.user[rows], defined[rows])
            counts.append(has_value.sum(axis=0).astype(float))
        return counts[0], counts[1]

    @cached_property
    def scores(self) -> Floats:
        """Scores of ranks: of each conversation among those that it is compared with."""
        return rank_scores(self.cells)

    @cached_property
    def effect(self) -> Floats:
        """Cliff's delta."""
        differences = user_scores(self.cells, self.scores).differences(self.cells.labelling)
        return np.clip(differences.ravel(), -1, 1)

    @cached_property
    def p_and_chance(self) -> tuple[Floats, Floats]:
        """The p of the effect, and the effect that one of 20 permutations exceeds."""
        labellings = permuted(self.cells.sides, self.draws.shufflings, generator(self.draws.seed, "shuffling"))
        null = user_scores(self.cells, self.scores).differences_in_chunks(labellings)
        return permutation_test(self.effect, null, self.inflation)

    @cached_property
    def intervals(self) -> tuple[Floats, Floats]:
        """Bounds of the intervals of the difference and of the effect."""
        return bootstrap(self.cells, self.draws.resamples, self.inflation, generator(self.draws.seed, "resampling"))

    @cached_property
    def distance(self) -> Floats:
        """Wasserstein's distance in people's standard deviations."""
        return wasserstein(self.cells, self.cells.simulated[None, :], within_task_deviation(self.cells)).ravel()


@dataclass(frozen=True)
class Floor:
    """What halves of the people differ in by themselves; a column for each measure."""

    distance: Floats
    """Median over halvings."""
    distance_high: Floats
    """What one in 20 halvings exceeds."""
    effect: Floats
    """Median size over halvings."""


def floor_of(human: Sample, inflation: Floats, draws: Draws) -> Floor:
    """The floor of people's conversations; all NaN with too few users for halves."""
    cells = joined(human.without_conversations(), human)
    halves = halvings(len(cells.sides), draws)
    if not len(halves):
        nothing = np.full(human.values.shape[1], np.nan)
        return Floor(nothing, nothing, nothing)
    distances = wasserstein(cells, halves[:, cells.user].astype(bool), within_task_deviation(cells)) * inflation
    effects = np.abs(user_scores(cells, rank_scores(cells)).differences_in_chunks(halves)) * inflation
    return Floor(quantile(distances, 0.5), quantile(distances, 0.95), quantile(effects, 0.5))


def halvings(users: int, draws: Draws) -> Floats:
    """Labellings that put half of the users on each side; none with fewer than four users."""
    if users < 2 * FEWEST_USERS:
        return np.zeros((0, users))
    first_half = np.arange(users) < users // 2
    return permuted(first_half, draws.halvings, generator(draws.seed, "halving"))


def number_rows(
    sim: Sample, human: Sample, measures: Sequence[Measure], draws: Draws, published: Sample | None = None
) -> list[Row]:
    """An unranked row for each measure; the samples' columns are the measures in the same order."""
    inflation = _inflation(measures)
    both = TwoSamples(joined(sim, human), inflation, draws)
    sim_users, human_users = both.users
    p, chance = both.p_and_chance
    chance = np.minimum(chance, 1)  # widened for pairs it may lie beyond what any effect can be
    difference_interval, effect_interval = both.intervals
    sim_mean, human_mean = side_means(both.cells)
    floor = floor_of(human, inflation, draws)
    earlier = TwoSamples(joined(published, human), inflation, draws) if published is not None else None
    rows = []
    for column, measure in enumerate(measures):
        effect = both.effect[column]
        enough = min(sim_users[column], human_users[column]) >= FEWEST_USERS
        rows.append(
            Row(
                **description(measure),
                reason=why_missing(int(sim_users[column]), int(human_users[column]), effect),
                # Each side's mean is shown whether or not the other side has any.
                sim=finite(sim_mean[0, column]) if not math.isnan(sim_mean[0, column]) else _plain_mean(sim, column),
                human=finite(human_mean[0, column])
                if not math.isnan(human_mean[0, column])
                else _plain_mean(human, column),
                sim_users=int(sim_users[column]),
                human_users=int(human_users[column]),
                ci_low=finite(difference_interval[0, column]) if enough else None,
                ci_high=finite(difference_interval[1, column]) if enough else None,
                effect=finite(effect),
                effect_low=finite(effect_interval[0, column]) if enough else None,
                effect_high=finite(effect_interval[1, column]) if enough else None,
                chance=finite(chance[column]) if enough else None,
                excess=finite(abs(effect) - chance[column]) if enough else None,
                distance=finite(both.distance[column]),
                floor=finite(floor.distance[column]),
                floor_high=finite(floor.distance_high[column]),
                floor_effect=finite(floor.effect[column]),
                published=finite(earlier.distance[column]) if earlier is not None else None,
                published_effect=finite(earlier.effect[column]) if earlier is not None else None,
                p=finite(p[column]) if enough else None,
            )
        )
    return rows


def task_rows(sim: Sample, human: Sample, measures: Sequence[Measure], draws: Draws) -> dict[str, list[TaskRow]]:
    """For each measure, by name, a row per task; p is not adjusted yet."""
    inflation = _inflation(measures)
    rows: dict[str, list[TaskRow]] = {measure.name: [] for measure in measures}
    for task in sorted({transcript.task for transcript in (*sim.transcripts, *human.transcripts)}):
        parts = [side.where([transcript.task == task for transcript in side.transcripts]) for side in (sim, human)]
        both = TwoSamples(joined(*parts), inflation, replace(draws, shufflings=draws.shufflings // 2))
        (p, _), (sim_mean, human_mean) = both.p_and_chance, side_means(both.cells)
        for column, measure in enumerate(measures):
            enough = min(users[column] for users in both.users) >= FEWEST_USERS
            row = TaskRow(
                task=task,
                sim=finite(sim_mean[0, column]),
                human=finite(human_mean[0, column]),
                effect=finite(both.effect[column]),
                p=finite(p[column]) if enough else None,
                p_adjusted=None,
            )
            rows[measure.name].append(row)
    return rows


def description(measure: Measure) -> dict[str, Any]:
    """The fields of a row that describe its measure."""
    return {name: getattr(measure, name) for name in _DESCRIPTION}


def finite(value: float) -> float | None:
    """The number as a plain float; None for NaN and infinity."""
    return float(value) if math.isfinite(value) else None


def _inflation(measures: Sequence[Measure]) -> Floats:
    return np.array([2.0 if measure.pairwise else 1.0 for measure in measures])


def _plain_mean(side: Sample, column: int) -> float | None:
    """Mean over conversations, without weights of tasks."""
    values = side.values[:, column]
    values = values[~np.isnan(values)]
    return float(values.mean()) if values.size else None


def why_missing(sim_users: int, human_users: int, effect: float) -> str:
    """Why numbers of a row are missing; empty where none are."""
    if not sim_users or not human_users:
        if not sim_users and not human_users:
            side = "neither side"
        else:
            side = "no simulated conversation" if not sim_users else "no person's conversation"
        return f"{side} tells it"
    if math.isnan(effect):
        return "no task in which both sides tell it"
    if min(sim_users, human_users) < FEWEST_USERS:
        return "a side has one user only: no interval and no p"
    return ""
