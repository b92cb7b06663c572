"""The rows of annotations whose values are categories: distributions of both sides."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.spatial.distance import jensenshannon

from .measures import LabelMeasure
from .records import RealismRow
from .rows import finite, side_numbers
from .statistics.cells import Cells, Floats, quantile
from .statistics.intervals import difference_bounds
from .statistics.samples import MeasuredUsers, alone, generator, joined, labelled
from .statistics.shuffling import Differences, permutation_test, permuted, ratio
from .statistics.strata import side_means
from .statistics.two_samples import FEWEST_USERS, Draws, TwoSamples, halvings

KEYBOARD = "No: annotators judged the content, but typing may sway them."


def category_row(
    sim: MeasuredUsers, human: MeasuredUsers, label: LabelMeasure, draws: Draws, published: MeasuredUsers | None = None
) -> RealismRow:
    """The row of a label with categories: shown is the value in which the sides differ most."""
    width = len(label.values)
    both = TwoSamples(_cells(sim, human, label), np.ones(width), np.ones(width), draws)
    differences = Differences(both.cells, both.cells.means)
    observed, error = differences.of(both.cells.labelling)
    effect, effect_error = _total_variation(observed), _total_error(error)
    shuffled = permuted(both.cells.sides, draws.shufflings, generator(draws.seed, "shuffling"))
    null_values, null_error = differences.of(shuffled)
    null = ratio(_total_variation(null_values), _total_error(null_error))[:, None]
    p, chance = permutation_test(effect, effect_error, null, np.ones(1))
    most = int(np.argmax(np.nan_to_num(np.abs(observed[0]), nan=-1.0)))
    floor, floor_high, floor_effect = _floor(human, label, draws)
    # The value is chosen for its difference, so all of them must hold together.
    bounds = difference_bounds(both.cells, both.inflation, both.shares, together=width)
    numbers = side_numbers(both, most, effect[0], bounds, sim.within)
    enough = min(numbers["sim_users"], numbers["human_users"]) >= FEWEST_USERS
    sim_shares, human_shares = both.means
    return RealismRow(
        **_described(label),
        unit=f"share of {label.values[most]}",
        definition="Shares of the annotation's values; shown is the value in which the sides differ most.",
        direction=f"more {label.values[most]}",
        keyboard=KEYBOARD,
        **numbers,
        effect=finite(effect[0]),
        chance=finite(min(chance[0], 1.0)) if enough else None,
        excess=finite(effect[0] - min(chance[0], 1.0)) if enough else None,
        distance=finite(_jensen_shannon(sim_shares, human_shares)),
        floor=floor,
        floor_high=floor_high,
        floor_effect=floor_effect,
        published=None
        if published is None
        else finite(_jensen_shannon(*side_means(_cells(published, human, label)))),
        p=finite(p[0]) if enough else None,
        shares={} if math.isnan(effect[0]) else {
            value: (float(sim_shares[column]), float(human_shares[column]))
            for column, value in enumerate(label.values)
        },
    )  # fmt: skip


def _floor(human: MeasuredUsers, label: LabelMeasure, draws: Draws) -> tuple[float | None, float | None, float | None]:
    """Of halves of the people: median distance, the one that one in 20 exceeds, and median effect."""
    people = alone(labelled(human, label))
    halves = halvings(len(people.sides), draws)
    if not len(halves):
        return None, None, None
    distances = [_jensen_shannon(*side_means(replace(people, sides=half > 0))) for half in halves]
    distance = np.array(distances)[:, None]
    effects = _total_variation(Differences(people, people.means).of(halves)[0])[:, None]
    return (
        finite(quantile(distance, 0.5)[0]), finite(quantile(distance, 0.95)[0]), finite(quantile(effects, 0.5)[0])
    )  # fmt: skip


def refused_row(label: LabelMeasure) -> RealismRow:
    """The row of a label by which the sides cannot be compared: no numbers, and the reason."""
    return RealismRow(
        **_described(label),
        unit="values of the annotation",
        definition="The annotation's values.",
        direction="not compared",
        reason=label.refused,
    )


def _described(label: LabelMeasure) -> dict[str, Any]:
    """What is the same in the row of any label."""
    source = "the data's own annotation"
    return {"name": label.name, "family": "labels", "source": source, "survives_translation": True}


def _cells(sim: MeasuredUsers, human: MeasuredUsers, label: LabelMeasure) -> Cells:
    return joined(labelled(sim, label), labelled(human, label))


def _total_variation(differences: Floats) -> Floats:
    """Half the sum of the sizes of the differences of shares, row by row."""
    distance: Floats = np.abs(differences).sum(axis=1) / 2
    return distance


def _total_error(errors: Floats) -> Floats:
    """The standard error to which all differences of shares in a row add up."""
    error: Floats = np.sqrt(np.square(errors).sum(axis=1))
    return error


def _jensen_shannon(first: Floats, second: Floats) -> float:
    """Jensen and Shannon's distance of two distributions, base 2; NaN where one is missing."""
    if np.isnan(first).any() or np.isnan(second).any() or not first.sum() or not second.sum():
        return math.nan
    return float(jensenshannon(first, second, base=2))
