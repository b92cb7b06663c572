"""The statistics, against hand counts, scipy, and what chance does."""

import numpy as np
import pytest
from scipy.stats import false_discovery_control, wasserstein_distance

from duologue.analysis.realism.cells import cells_of, placements, rank_scores, side_means
from duologue.analysis.realism.distances import wasserstein, within_task_deviation
from duologue.analysis.realism.persona import icc_and_f
from duologue.analysis.realism.ranking import benjamini_hochberg
from duologue.analysis.realism.resampling import bootstrap, permutation_test, permuted, user_scores
from duologue.analysis.realism.rows import Draws, TwoSamples


def cells(sim, human, task="t"):
    """A user for each value, of one measure."""
    values = np.array([*sim, *human], dtype=float)[:, None]
    users = [(n < len(sim), str(n)) for n in range(len(values))]
    return cells_of(values, users, [task] * len(values))


def delta(both):
    return user_scores(both, rank_scores(both)).differences(both.labelling)[0, 0]


def test_a_user_counts_once_however_many_conversations_there_are():
    values = np.array([[1.0], [3.0], [10.0], [np.nan]])
    both = cells_of(values, [(True, "a"), (True, "a"), (False, "a"), (False, "b")], ["t"] * 4)
    assert both.values[:, 0].tolist()[:2] == [2.0, 10.0]
    assert np.isnan(both.values[2, 0])
    assert both.sides.tolist() == [True, False, False]


def test_the_effect_is_cliffs_delta():
    # Of six pairs the simulated user lies above in three, below in two, and one is a tie.
    assert delta(cells([1, 5], [0, 5, 6])) == pytest.approx(((1 - 2) + (1 - 1)) / 6)
    assert delta(cells([3, 4], [1, 2])) == 1
    assert delta(cells([1, 1], [1, 1])) == 0


def test_a_mix_of_tasks_is_no_difference():
    # Within each task both sides are alike; the simulated users have more of the long task.
    values = np.array([[10.0], [10], [10], [1], [10], [1], [1], [1]])
    users = [(True, "a"), (True, "b"), (True, "c"), (True, "d"), (False, "a"), (False, "b"), (False, "c"), (False, "d")]
    tasks = ["long"] * 3 + ["short"] + ["long"] + ["short"] * 3
    both = cells_of(values, users, tasks)
    sim, human = side_means(both)
    assert sim[0, 0] == human[0, 0]
    assert delta(both) == 0


def test_placements_average_to_the_effect():
    both = cells([1, 5, 2], [0, 5, 6, 1])
    placed = placements(both)[:, 0]
    assert placed[both.simulated].mean() - placed[~both.simulated].mean() == pytest.approx(delta(both))


def test_p_is_uniform_where_there_is_no_difference_and_small_where_there_is_one():
    rng = np.random.default_rng(1)
    told = []
    for _ in range(200):
        both = cells(rng.normal(size=12), rng.normal(size=15))
        null = user_scores(both, rank_scores(both)).differences_in_chunks(permuted(both.sides, 199, rng))
        told.append(permutation_test(np.array([delta(both)]), null, np.ones(1))[0][0])
    assert 0.02 <= np.mean(np.array(told) <= 0.05) <= 0.1
    assert np.mean(told) == pytest.approx(0.5, abs=0.06)
    apart = TwoSamples(cells(rng.normal(3, 1, 12), rng.normal(size=15)), np.ones(1), Draws(shufflings=999))
    assert apart.p_and_chance[0][0] == 0.001


def test_users_are_shuffled_not_conversations():
    """Ten conversations of one user say no more than one: four users, whose own conversations are alike, prove nothing."""
    values = np.repeat([[9.0], [8.0], [1.0], [2.0]], 10, axis=0)
    users = [(n < 20, str(n // 10)) for n in range(40)]
    both = TwoSamples(cells_of(values, users, ["t"] * 40), np.ones(1), Draws(shufflings=999))
    assert both.effect[0] == 1
    assert both.p_and_chance[0][0] > 0.2


def test_the_interval_covers_the_difference_about_as_often_as_it_says():
    rng = np.random.default_rng(2)
    held = []
    for _ in range(150):
        both = cells(rng.normal(1, 1, 30), rng.normal(0, 1, 30))
        (low, high), (effect_low, effect_high) = bootstrap(both, 200, np.ones(1), rng)
        held.append((low[0] <= 1 <= high[0], effect_low[0] <= 0.5205 <= effect_high[0]))
    difference, effect = np.mean(held, axis=0)
    assert 0.88 <= difference <= 0.99
    assert 0.87 <= effect <= 0.99  # delta of two normals one deviation apart is 0.5205


def test_pairs_widen_chance():
    null = np.linspace(-1, 1, 99)[:, None]
    once, twice = (permutation_test(np.array([0.8]), null, np.array([width])) for width in (1.0, 2.0))
    assert twice[0][0] > once[0][0]
    assert twice[1][0] == 2 * once[1][0]


def test_the_distance_is_scipys_in_peoples_deviations():
    sim, human = [1.0, 2, 2, 8], [0.0, 1, 1]
    both = cells(sim, human)
    scale = within_task_deviation(both)
    assert scale[0] == pytest.approx(np.std(human, ddof=1))
    found = wasserstein(both, both.simulated[None, :], scale)[0, 0]
    assert found == pytest.approx(wasserstein_distance(sim, human) / np.std(human, ddof=1))


def test_people_without_spread_are_measured_by_both_sides():
    both = cells([1.0, 1.0], [0.0, 0.0])
    assert wasserstein(both, both.simulated[None, :], within_task_deviation(both))[0, 0] == pytest.approx(
        1 / np.std([0, 0, 1, 1], ddof=1)
    )
    constant = cells([1.0, 1.0], [1.0, 1.0])
    assert wasserstein(constant, constant.simulated[None, :], within_task_deviation(constant))[0, 0] == 0


def test_adjusted_p_leaves_out_what_is_not_there():
    told = [0.01, None, 0.04, 0.5]
    found = benjamini_hochberg(told)
    assert found[1] is None
    assert [p for p in found if p is not None] == pytest.approx(list(false_discovery_control([0.01, 0.04, 0.5])))
    assert benjamini_hochberg([None]) == [None]


def test_icc_is_that_of_shrout_and_fleiss():
    # Two users with two conversations: mean square between 8, within 1, so ICC (8 - 1) / (8 + 1).
    values = np.array([0.0, np.sqrt(2), 0, np.sqrt(2)]) + np.array([0, 0, np.sqrt(8), np.sqrt(8)])
    assert icc_and_f(values, np.array([0, 0, 1, 1]), np.zeros(4, dtype=int)) == (pytest.approx(7 / 9), pytest.approx(8))
    assert icc_and_f(values, np.array([0, 1, 2, 3]), np.zeros(4, dtype=int)) is None
    assert icc_and_f(np.ones(4), np.array([0, 0, 1, 1]), np.zeros(4, dtype=int)) is None
