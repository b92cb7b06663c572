"""The rows of a report: the numbers of each measure, before the ranking."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from ..over_users.estimate import FEWEST_USERS as FEWEST_FOR_INTERVAL
from ..over_users.rates import Bounds
from .measures import Measure
from .records import TOO_FEW_DIFFER, RealismRow, ReferenceRow, TaskRow
from .statistics.cells import Floats
from .statistics.dependence import inflation_of
from .statistics.samples import MeasuredUsers, alone, joined, levelled, tasks_of
from .statistics.two_samples import FEWEST_USERS, Draws, TwoSamples, floor_of

_DESCRIPTION = ("name", "family", "unit", "definition", "source", "direction", "keyboard", "survives_translation")
"""Fields of a measure that its row repeats."""


def two_samples(sim: MeasuredUsers, human: MeasuredUsers, measures: Sequence[Measure], draws: Draws) -> TwoSamples:
    """The statistics of two sides; measures against others use equally many others on both sides."""
    return statistics_of(*levelled(sim, human, measures), measures, draws)


def statistics_of(sim: MeasuredUsers, human: MeasuredUsers, measures: Sequence[Measure], draws: Draws) -> TwoSamples:
    """The statistics of two sides that are levelled."""
    inflation = inflation_of(measures, (sim, human), draws.seed)
    return TwoSamples(joined(sim, human), inflation, shares_among(measures), draws)


def number_rows(
    both: TwoSamples,
    sim: MeasuredUsers,
    human: MeasuredUsers,
    measures: Sequence[Measure],
    beside: Mapping[str, MeasuredUsers] = MappingProxyType({}),
    further: Mapping[str, Sequence[Any]] = MappingProxyType({}),
) -> list[RealismRow]:
    """An unranked row for each measure, with its tasks; the samples' columns are the measures in the same order.

    `both`: the statistics of the two sides (`two_samples`). `beside`: further simulated users, `published` or `made`. `further`: fields of a row, each with a value for each measure.
    """
    draws = both.draws
    floor = floor_of(alone(human), both.inflation, draws)
    others = {name: two_samples(side, human, measures, draws) for name, side in beside.items()}
    parts = parts_by_task(both, tasks_of(sim, human))
    chance = both.p_and_chance[1]
    rows = []
    for column, measure in enumerate(measures):
        numbers = part_numbers(both, column)
        enough = _enough(both, column)
        row = description(measure) | side_numbers(both, column, both.effect[column], both.difference_bounds, sim.within)
        row |= numbers | {
            "chance": finite(chance[column]) if enough else None,
            "excess": finite(abs(both.effect[column]) - chance[column]) if enough else None,
            "distance": finite(both.distance[column]),
            "floor": finite(floor.distance[column]),
            "floor_high": finite(floor.distance_high[column]),
            "floor_effect": finite(floor.effect[column]),
            "floor_effect_high": finite(floor.effect_high[column]),
            "tasks": tuple(TaskRow(task=task, **part_numbers(part, column)) for task, part in parts.items()),
        }
        for name, other in others.items():
            row |= {name: finite(other.distance[column]), f"{name}_effect": finite(other.effect[column])}
        # A side's mean is shown whether or not the other side has any.
        for name, side in (("sim", sim), ("human", human)):
            if row[name] is None:
                row[name] = _plain_mean(side, column)
        rows.append(RealismRow(**row, **{name: values[column] for name, values in further.items()}))
    return rows


def with_detectable(rows: Sequence[RealismRow], both: TwoSamples | None, levels: Sequence[float]) -> list[RealismRow]:
    """The rows with the smallest effect that such samples would find; first those of the columns of `both`.

    `levels`: the p at which each row counts (`ranking.levels_of`).
    """
    if both is None:
        return list(rows)
    width = len(both.effect)
    detectable, few_telling = both.detectable(np.array(levels[:width])), both.without_interval[1]
    return [
        row
        if row.p is None or few_telling[column]
        else row.model_copy(update={"detectable": finite(detectable[column])})
        for column, row in enumerate(rows[:width])
    ] + list(rows[width:])


def side_numbers(both: TwoSamples, column: int, effect: float, difference: Bounds, within: str) -> dict[str, Any]:
    """A row's numbers of both groups, and the bounds of their difference; `within`: the name of a stratum."""
    sim_users, human_users = (int(users[column]) for users in both.users)
    sim_conversations, human_conversations = (int(count[column]) for count in both.conversations)
    few_users, few_telling = (bool(few[column]) for few in both.without_interval)
    no_interval = "" if math.isnan(effect) else why_no_interval(few_users, few_telling)
    return {
        "reason": why_missing(sim_users, human_users, effect, within),
        "no_interval": no_interval,
        "sim": finite(both.means[0][column]),
        "human": finite(both.means[1][column]),
        "sim_users": sim_users,
        "human_users": human_users,
        "sim_conversations": sim_conversations,
        "human_conversations": human_conversations,
        "ci_low": None if no_interval else finite(difference.low[column]),
        "ci_high": None if no_interval else finite(difference.high[column]),
    }


def part_numbers(part: TwoSamples, column: int) -> dict[str, float | None]:
    """The means of a measure, its effect with the interval, and p, which is not adjusted yet."""
    bounded = not any(few[column] for few in part.without_interval)
    return {
        "sim": finite(part.means[0][column]),
        "human": finite(part.means[1][column]),
        "effect": finite(part.effect[column]),
        "effect_low": finite(part.effect_bounds.low[column]) if bounded else None,
        "effect_high": finite(part.effect_bounds.high[column]) if bounded else None,
        "p": finite(part.p_and_chance[0][column]) if _enough(part, column) else None,
    }


def _enough(both: TwoSamples, column: int) -> bool:
    """Whether each side has users enough for a p."""
    return bool(min(users[column] for users in both.users) >= FEWEST_USERS)


def parts_by_task(both: TwoSamples, tasks: Sequence[str]) -> dict[str, TwoSamples]:
    """The two sides of each task; `tasks` names the task of each conversation."""
    named = np.array(tasks)
    draws = replace(both.draws, shufflings=both.draws.shufflings // 2)
    return {
        task: replace(both, cells=both.cells.where(np.flatnonzero(named == task)), draws=draws)
        for task in sorted(set(tasks))
    }


def reference_rows(
    sim: MeasuredUsers,
    human: MeasuredUsers,
    references: Mapping[str, MeasuredUsers],
    measures: Sequence[Measure],
    draws: Draws,
) -> list[tuple[ReferenceRow, ...]]:
    """For each measure a row per further reference: the simulated users against it, and it against the people."""
    pairs = {
        name: (two_samples(sim, reference, measures, draws), two_samples(reference, human, measures, draws))
        for name, reference in references.items()
    }
    return [
        tuple(
            ReferenceRow(
                name=name,
                mean=finite(simulated.means[1][column]),
                effect=finite(simulated.effect[column]),
                distance=finite(simulated.distance[column]),
                effect_from_people=finite(people.effect[column]),
                **_bounds_from_people(part_numbers(people, column)),
                distance_from_people=finite(people.distance[column]),
            )
            for name, (simulated, people) in pairs.items()
        )
        for column in range(len(measures))
    ]


def _bounds_from_people(numbers: Mapping[str, float | None]) -> dict[str, float | None]:
    return {f"effect_from_people_{bound}": numbers[f"effect_{bound}"] for bound in ("low", "high")}


def description(measure: Measure) -> dict[str, Any]:
    """The fields of a row that describe its measure."""
    return {name: getattr(measure, name) for name in _DESCRIPTION}


def finite(value: float) -> float | None:
    """The number as a plain float; None for NaN and infinity."""
    return float(value) if math.isfinite(value) else None


def shares_among(measures: Sequence[Measure]) -> Floats:
    """1 for each measure that is a share, and so lies between 0 and 1."""
    return np.array([float(measure.unit.startswith("share")) for measure in measures])


def _plain_mean(side: MeasuredUsers, column: int) -> float | None:
    """Mean over conversations, without weights of tasks."""
    values = side.values[:, column]
    values = values[~np.isnan(values)]
    return float(values.mean()) if values.size else None


def why_missing(sim_users: int, human_users: int, effect: float, within: str) -> str:
    """Why numbers of a row are missing; empty where none are but perhaps the interval."""
    if not sim_users or not human_users:
        if not sim_users and not human_users:
            side = "neither group"
        else:
            side = "no simulated conversation" if not sim_users else "no person's conversation"
        return f"{side} has a value"
    if math.isnan(effect):
        return f"no {within} in which both groups have a value"
    if min(sim_users, human_users) < FEWEST_USERS:
        return "a side has one user only: no interval and no p"
    return ""


def why_no_interval(few_users: bool, few_telling: bool) -> str:
    """Why a row has no interval; empty where it has one."""
    if few_users:
        return f"too few users for an interval: it needs {FEWEST_FOR_INTERVAL} on each side that weigh alike"
    if few_telling:
        return f"too few users for an interval: {TOO_FEW_DIFFER}"
    return ""
