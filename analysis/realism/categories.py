"""The rows of annotations whose values are categories: distributions of both sides."""

import math

import numpy as np
from scipy.spatial.distance import jensenshannon

from .cells import Cells, Floats, quantile, side_means
from .measures import Label
from .report import Row
from .resampling import permutation_test, permuted, user_scores
from .rows import FEWEST_USERS, Draws, TwoSamples, finite, halvings, why_missing
from .samples import Sample, generator, joined, labelled


def category_row(sim: Sample, human: Sample, label: Label, draws: Draws, published: Sample | None = None) -> Row:
    """The row of a label with categories: shown is the value in which the sides differ most."""
    both = TwoSamples(_cells(sim, human, label), np.ones(len(label.values)), draws)
    scores = user_scores(both.cells, both.cells.values)
    differences = scores.differences(both.cells.labelling)
    labellings = permuted(both.cells.sides, draws.shufflings, generator(draws.seed, "shuffling"))
    effect = _total_variation(differences)
    null = _total_variation(scores.differences_in_chunks(labellings))[:, None]
    p, chance = permutation_test(effect, null, np.ones(1))
    most = int(np.argmax(np.nan_to_num(np.abs(differences[0]), nan=-1.0)))
    sim_shares, human_shares = side_means(both.cells)
    people = _cells(human.without_conversations(), human, label)
    halves = halvings(len(people.sides), draws)
    half_distance = half_effect = np.full(1, np.nan)
    if len(halves):
        half_distance = _jensen_shannon(*side_means(people, halves))
        half_effect = _total_variation(user_scores(people, people.values).differences_in_chunks(halves))
    sim_users, human_users = (int(users.max(initial=0)) for users in both.users)
    enough = min(sim_users, human_users) >= FEWEST_USERS
    published_shares = side_means(_cells(published, human, label)) if published is not None else None
    difference_interval = both.intervals[0][:, most]
    return Row(
        name=label.name,
        family="labels",
        unit=f"share of {label.values[most]}",
        definition="Shares of the annotation's values; shown is the value in which the sides differ most.",
        source="the data's own annotation",
        direction=f"more {label.values[most]}",
        survives_translation=True,
        reason=why_missing(sim_users, human_users, effect[0]),
        sim=finite(sim_shares[0, most]),
        human=finite(human_shares[0, most]),
        sim_users=sim_users,
        human_users=human_users,
        ci_low=finite(difference_interval[0]) if enough else None,
        ci_high=finite(difference_interval[1]) if enough else None,
        effect=finite(effect[0]),
        chance=finite(chance[0]) if enough else None,
        excess=finite(effect[0] - chance[0]) if enough else None,
        distance=finite(_jensen_shannon(sim_shares, human_shares)[0]),
        floor=finite(quantile(half_distance[:, None], 0.5)[0]),
        floor_high=finite(quantile(half_distance[:, None], 0.95)[0]),
        floor_effect=finite(quantile(half_effect[:, None], 0.5)[0]),
        published=finite(_jensen_shannon(*published_shares)[0]) if published_shares is not None else None,
        p=finite(p[0]) if enough else None,
        shares={} if math.isnan(effect[0]) else {
            value: (float(sim_shares[0, column]), float(human_shares[0, column]))
            for column, value in enumerate(label.values)
        },
    )  # fmt: skip


def refused_row(label: Label) -> Row:
    """The row of a label by which the sides cannot be compared: no numbers, and the reason."""
    return Row(
        name=label.name,
        family="labels",
        unit="values of the annotation",
        definition="The annotation's values.",
        source="the data's own annotation",
        direction="not compared",
        survives_translation=True,
        reason=label.refused,
    )


def _cells(sim: Sample, human: Sample, label: Label) -> Cells:
    return joined(labelled(sim.transcripts, label), labelled(human.transcripts, label))


def _total_variation(differences: Floats) -> Floats:
    """Half the sum of the sizes of the differences of shares, row by row."""
    distance: Floats = np.abs(differences).sum(axis=1) / 2
    return distance


def _jensen_shannon(first: Floats, second: Floats) -> Floats:
    """Jensen and Shannon's distance of the distributions in the rows, base 2; NaN where one is missing."""
    defined = (first.sum(axis=1) > 0) & (second.sum(axis=1) > 0)
    distance = np.full(len(first), np.nan)
    distance[defined] = jensenshannon(first[defined].T, second[defined].T, base=2)
    return distance
