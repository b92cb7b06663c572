"""The statistics, against hand counts, scipy, and what chance does."""

import numpy as np
import pytest
from scipy.stats import false_discovery_control, wasserstein_distance

from duologue.analysis.realism.ranking import benjamini_hochberg
from duologue.analysis.realism.statistics.cells import cells_of, placements, rank_scores, standing
from duologue.analysis.realism.statistics.distances import wasserstein, within_task_deviation
from duologue.analysis.realism.statistics.intervals import EffectVariance, difference_bounds, too_few
from duologue.analysis.realism.statistics.shuffling import Differences, permutation_test, permuted, ratio
from duologue.analysis.realism.statistics.strata import side_means, stratified
from duologue.analysis.realism.statistics.two_samples import Draws, TwoSamples


def cells(sim, human, task="t"):
    """A user for each value, of one measure."""
    values = np.array([*sim, *human], dtype=float)[:, None]
    users = [(n < len(sim), str(n)) for n in range(len(values))]
    return cells_of(values, users, [task] * len(values))


def delta(both):
    return Differences(both, rank_scores(both)).of(both.labelling)[0][0, 0]


def test_a_user_counts_once_however_many_conversations_there_are():
    values = np.array([[1.0], [3.0], [10.0], [np.nan]])
    both = cells_of(values, [(True, "a"), (True, "a"), (False, "a"), (False, "b")], ["t"] * 4)
    assert both.means[:, 0].tolist()[:2] == [2.0, 10.0]
    assert np.isnan(both.means[2, 0])
    assert both.weights[:, 0].tolist() == [0.5, 0.5, 1, 0]
    assert both.sides.tolist() == [True, False, False]


def test_the_effect_is_cliffs_delta():
    # Of six pairs the simulated user lies above in three, below in two, and one is a tie.
    assert delta(cells([1, 5], [0, 5, 6])) == pytest.approx(((1 - 2) + (1 - 1)) / 6)
    assert delta(cells([3, 4], [1, 2])) == 1
    assert delta(cells([1, 1], [1, 1])) == 0


def test_the_effect_is_that_of_a_random_conversation_of_a_random_user():
    # User a has 0 and 10, and lies above 4 in one of two; b lies above; people are 4 and 6.
    values = np.array([[0.0], [10], [9], [4], [6]])
    users = [(True, "a"), (True, "a"), (True, "b"), (False, "x"), (False, "y")]
    assert delta(cells_of(values, users, ["t"] * 5)) == pytest.approx((0 + 1) / 2)


def test_the_effect_does_not_depend_on_how_many_conversations_a_user_has():
    """Every conversation once or ten times over: the same users, the same effect."""
    rng = np.random.default_rng(0)
    values, users = rng.normal(size=(12, 1)), [(n < 6, str(n // 2)) for n in range(12)]
    once = cells_of(values, users, ["t"] * 12)
    rows = [*range(6), *np.repeat(range(6, 12), 10)]
    often = cells_of(values[rows], [users[row] for row in rows], ["t"] * len(rows))
    assert delta(often) == pytest.approx(delta(once))
    assert wasserstein(often, often.sides[None, :], np.ones(1)) == pytest.approx(
        wasserstein(once, once.sides[None, :], np.ones(1))
    )


def test_a_rare_event_is_not_commoner_where_users_have_more_conversations():
    """One of five conversations has the event on both sides; the mean over five is above 0 for every user."""
    values = np.array([1.0, 0, 0, 0, 0] * 4 + [1.0, 0, 0, 0, 0] * 4)[:, None]
    users = [(True, str(n // 5)) for n in range(20)] + [(False, str(n)) for n in range(20)]
    assert delta(cells_of(values, users, ["t"] * 40)) == 0


def test_standing_counts_ties_half_and_leaves_out_what_is_missing():
    values = np.array([[2.0], [1], [2], [np.nan], [3]])
    weights = np.array([[1.0], [1], [1], [0], [1]])
    assert standing(values, weights)[:, 0].tolist()[:3] == [0.5, 0.125, 0.5]
    assert np.isnan(standing(values, weights)[3, 0])
    assert np.isnan(standing(values, np.zeros((5, 1)))).all()


def test_a_mix_of_tasks_is_no_difference():
    # Within each task both sides are alike; the simulated users have more of the long task.
    values = np.array([[10.0], [10], [10], [1], [10], [1], [1], [1]])
    users = [(True, "a"), (True, "b"), (True, "c"), (True, "d"), (False, "a"), (False, "b"), (False, "c"), (False, "d")]
    tasks = ["long"] * 3 + ["short"] + ["long"] + ["short"] * 3
    both = cells_of(values, users, tasks)
    sim, human = side_means(both)
    assert sim[0] == human[0]
    assert delta(both) == 0


def test_placements_of_either_side_average_to_the_effect():
    values = np.array([1.0, 5, 2, 4, 0, 5, 6, 1])[:, None]
    users = [(True, "a"), (True, "a"), (True, "b"), (True, "c"), (False, "a"), (False, "b"), (False, "b"), (False, "c")]
    both = cells_of(values, users, ["t"] * 8)
    placed = stratified(both, placements(both))
    assert placed.sim[0] == pytest.approx(delta(both))
    assert placed.human[0] == pytest.approx(delta(both))


def test_p_is_uniform_where_there_is_no_difference_and_small_where_there_is_one():
    rng = np.random.default_rng(1)
    p_values = []
    for _ in range(200):
        both = cells(rng.normal(size=12), rng.normal(size=15))
        differences = Differences(both, rank_scores(both))
        observed, error = differences.of(both.labelling)
        null = ratio(*differences.of(permuted(both.sides, 199, rng)))
        p_values.append(permutation_test(observed[0], error[0], null, np.ones(1))[0][0])
    assert 0.02 <= np.mean(np.array(p_values) <= 0.05) <= 0.1
    assert np.mean(p_values) == pytest.approx(0.5, abs=0.06)
    apart = TwoSamples(cells(rng.normal(3, 1, 12), rng.normal(size=15)), np.ones(1), np.zeros(1), Draws(shufflings=999))
    assert apart.p_and_chance[0][0] == 0.001


def test_p_holds_where_few_users_vary_more_than_many():
    """Ten users with one conversation against sixty with five: undivided, the difference is significant too often."""
    rng = np.random.default_rng(3)
    users = [(True, str(n)) for n in range(10)] + [(False, str(n // 5)) for n in range(300)]
    divided, undivided = [], []
    for _ in range(150):
        of_user = np.repeat(rng.normal(0, 0.3, 70), [1] * 10 + [5] * 60)
        both = cells_of((of_user + rng.normal(size=310))[:, None], users, ["t"] * 310)
        differences = Differences(both, rank_scores(both))
        observed, error = differences.of(both.labelling)
        shuffled, errors = differences.of(permuted(both.sides, 199, rng))
        divided.append(permutation_test(observed[0], error[0], ratio(shuffled, errors), np.ones(1))[0][0])
        undivided.append(permutation_test(observed[0], np.ones(1), shuffled, np.ones(1))[0][0])
    assert 0.01 <= np.mean(np.array(divided) <= 0.05) <= 0.1
    assert np.mean(np.array(undivided) <= 0.05) > 0.2


def test_p_holds_where_the_sides_stand_in_different_tasks():
    rng = np.random.default_rng(4)
    users = [(n < 40, str(n)) for n in range(80)]
    tasks = ["a"] * 36 + ["b"] * 4 + ["a"] * 4 + ["b"] * 36
    p_values = []
    for _ in range(150):
        both = TwoSamples(cells_of(rng.normal(size=(80, 1)), users, tasks), np.ones(1), np.zeros(1), Draws(0, 199))
        p_values.append(both.p_and_chance[0][0])
    assert 0.01 <= np.mean(np.array(p_values) <= 0.05) <= 0.1


def test_the_error_of_a_difference_is_the_spread_that_shuffling_makes():
    rng = np.random.default_rng(5)
    users = [(n < 60, str(n // 3)) for n in range(150)]
    tasks = [("a", "b", "a")[n % 3] for n in range(150)]
    both = cells_of(rng.normal(size=(150, 1)), users, tasks)
    differences, errors = Differences(both, rank_scores(both)).of(permuted(both.sides, 4000, rng))
    assert errors.mean() == pytest.approx(differences.std(), rel=0.05)


def test_users_are_shuffled_not_conversations():
    """Ten conversations of one user say no more than one: four users, whose own conversations are alike, prove nothing."""
    values = np.repeat([[9.0], [8.0], [1.0], [2.0]], 10, axis=0)
    users = [(n < 20, str(n // 10)) for n in range(40)]
    both = TwoSamples(cells_of(values, users, ["t"] * 40), np.ones(1), np.zeros(1), Draws(shufflings=999))
    assert both.effect[0] == 1
    assert both.p_and_chance[0][0] > 0.2


def test_chance_is_the_effect_at_which_p_is_a_twentieth():
    rng = np.random.default_rng(6)
    for _ in range(30):
        both = TwoSamples(cells(rng.normal(0.5, 1, 20), rng.normal(size=25)), np.ones(1), np.zeros(1), Draws(0, 999))
        p, chance = both.p_and_chance
        assert (abs(both.effect[0]) > chance[0]) == (p[0] < 0.05) or abs(p[0] - 0.05) < 0.002


def test_intervals_lie_within_the_scale_and_hold_the_estimate():
    for sim, human in (
        ([1.0] * 12, [0.0] * 12),
        ([1.0] * 12, [0.0] * 9 + [1.0] * 3),
        ([0.1] * 9 + [0.2] * 6, [0.0] * 15),
    ):
        both = cells(sim, human)
        effect = EffectVariance.of(both, np.ones(1)).bounds()
        share = difference_bounds(both, np.ones(1), np.ones(1))
        assert -1 <= effect.low[0] <= delta(both) <= effect.high[0] <= 1
        assert effect.low[0] < effect.high[0]
        assert -1 <= share.low[0] <= np.mean(sim) - np.mean(human) <= share.high[0] <= 1


def test_intervals_do_not_move_with_the_order_of_the_sides():
    rng = np.random.default_rng(8)
    one, another = rng.normal(1, 1, 20), rng.normal(0, 2, 30)
    there, back = (EffectVariance.of(cells(*sides), np.ones(1)).bounds() for sides in ((one, another), (another, one)))
    assert there.low[0] == pytest.approx(-back.high[0])
    assert there.high[0] == pytest.approx(-back.low[0])


def test_few_users_and_few_who_differ_get_no_interval():
    assert too_few(cells(range(7), range(20)))[0][0] == 1
    assert too_few(cells(range(8), range(20)))[0][0] == 0
    assert too_few(cells([0] * 20, [0] * 18 + [1] * 2))[1][0] == 1
    assert too_few(cells([0] * 20, [0] * 17 + [1] * 3))[1][0] == 0
    # Seven users of eight stand in a task in which the other side has hardly anybody.
    values, users = np.arange(24.0)[:, None], [(n < 8, str(n)) for n in range(24)]
    assert too_few(cells_of(values, users, ["a"] * 7 + ["b"] * 2 + ["a"] + ["b"] * 14))[0][0] == 1


def test_a_rare_event_is_not_found_where_users_of_one_side_have_many_conversations():
    """The same rate in 60 users with ten conversations and in ten with one, who mostly have none of it."""
    rng = np.random.default_rng(9)
    users = [(True, str(n // 10)) for n in range(600)] + [(False, str(n)) for n in range(10)]
    covering, below = [], []
    for split in range(60):
        both = cells_of((rng.random(610) < 0.06).astype(float)[:, None], users, ["t"] * 610)
        two = TwoSamples(both, np.ones(1), np.ones(1), Draws(split, 199))
        below.append(two.p_and_chance[0][0] <= 0.05)
        covering.append(two.effect_bounds.low[0] <= 0 <= two.effect_bounds.high[0])
    assert np.mean(below) <= 0.07
    assert np.mean(covering) >= 0.93


def test_pairs_widen_chance():
    null = np.linspace(-1, 1, 99)[:, None]
    observed = np.array([0.8])
    once, twice = (permutation_test(observed, np.ones(1), null, np.array([width])) for width in (1.0, 2.0))
    assert twice[0][0] > once[0][0]
    assert twice[1][0] == 2 * once[1][0]


def test_the_distance_is_scipys_in_peoples_deviations():
    sim, human = [1.0, 2, 2, 8], [0.0, 1, 1]
    both = cells(sim, human)
    scale = within_task_deviation(both)
    assert scale[0] == pytest.approx(np.std(human, ddof=1))
    distance = wasserstein(both, both.sides[None, :], scale)[0, 0]
    assert distance == pytest.approx(wasserstein_distance(sim, human) / np.std(human, ddof=1))


def test_people_without_spread_are_measured_by_both_sides():
    both = cells([1.0, 1.0], [0.0, 0.0])
    assert wasserstein(both, both.sides[None, :], within_task_deviation(both))[0, 0] == pytest.approx(
        1 / np.std([0, 0, 1, 1], ddof=1)
    )
    constant = cells([1.0, 1.0], [1.0, 1.0])
    assert wasserstein(constant, constant.sides[None, :], within_task_deviation(constant))[0, 0] == 0


def test_adjusted_p_leaves_out_what_is_not_there():
    p_values = [0.01, None, 0.04, 0.5]
    adjusted = benjamini_hochberg(p_values)
    assert adjusted[1] is None
    assert [p for p in adjusted if p is not None] == pytest.approx(list(false_discovery_control([0.01, 0.04, 0.5])))
    assert benjamini_hochberg([None]) == [None]
