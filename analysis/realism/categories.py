"""The rows of annotations whose values are categories: distributions of both sides."""

import math

import numpy as np
from scipy.spatial.distance import jensenshannon

from .contrast import Cells, Floats, by_chance, in_chunks, means, quantile, shuffled, sums
from .measures import Label
from .numbers import Side, chance, joined, shares
from .report import Row
from .rows import FEWEST_USERS, Contrasts, Draws, halvings, missing, number


def category_row(sim: Side, human: Side, label: Label, draws: Draws, published: Side | None = None) -> Row:
    """The row of a label with categories: both sides are shown by the value in which they differ most."""
    both = Contrasts(_shares(sim, human, label), np.ones(len(label.values)), draws)
    raw = sums(both.cells, both.cells.values)
    shifts = raw.shifts(both.cells.sides[None, :].astype(float))
    labellings = shuffled(both.cells.sides, draws.shufflings, chance(draws.seed, "shuffling"))
    effect = np.abs(shifts).sum(axis=1) / 2
    null = np.abs(in_chunks(raw, labellings)).sum(axis=1, keepdims=True) / 2
    p, margin = by_chance(effect, null, np.ones(1))
    most = int(np.argmax(np.nan_to_num(np.abs(shifts[0]), nan=-1.0)))
    one, two = means(both.cells)
    nobody = Side((), human.values[:0])
    people = _shares(nobody, human, label)
    halves = halvings(len(people.sides), draws)
    apart = _shannon(*means(people, halves)) if len(halves) else np.full(1, np.nan)
    half_effect = np.abs(in_chunks(sums(people, people.values), halves)).sum(axis=1) / 2 if len(halves) else apart
    users = [int(side.max(initial=0)) for side in both.users]
    enough = min(users) >= FEWEST_USERS
    theirs = means(_shares(published, human, label)) if published is not None else None
    bounds = both.bounds[0][:, most]
    return Row(
        name=label.name,
        family="labels",
        unit=f"share of {label.values[most]}",
        definition="Shares of the annotation's values; shown is the value in which the sides differ most.",
        source="the data's own annotation",
        direction=f"more {label.values[most]}",
        survives_translation=True,
        reason=missing(users[0], users[1], effect[0]),
        sim=number(one[0, most]),
        human=number(two[0, most]),
        sim_users=users[0],
        human_users=users[1],
        ci_low=number(bounds[0]) if enough else None,
        ci_high=number(bounds[1]) if enough else None,
        effect=number(effect[0]),
        chance=number(margin[0]) if enough else None,
        excess=number(effect[0] - margin[0]) if enough else None,
        distance=number(_shannon(one, two)[0]),
        floor=number(quantile(apart[:, None], 0.5)[0]),
        floor_high=number(quantile(apart[:, None], 0.95)[0]),
        floor_effect=number(quantile(half_effect[:, None], 0.5)[0]),
        published=number(_shannon(*theirs)[0]) if theirs is not None else None,
        p=number(p[0]) if enough else None,
        shares={} if math.isnan(effect[0]) else {
            value: (float(one[0, place]), float(two[0, place])) for place, value in enumerate(label.values)
        },
    )  # fmt: skip


def _shares(sim: Side, human: Side, label: Label) -> Cells:
    return joined(*(Side(side.speeches, shares(side.speeches, label)) for side in (sim, human)))


def _shannon(one: Floats, two: Floats) -> Floats:
    """Jensen and Shannon's distance of the distributions in the rows, base 2; NaN where one is missing."""
    there = (one.sum(axis=1) > 0) & (two.sum(axis=1) > 0)
    result = np.full(len(one), np.nan)
    result[there] = jensenshannon(one[there].T, two[there].T, base=2)
    return result
