"""Agreement beyond chance, beside values that were calculated by hand."""

import pytest

np = pytest.importorskip("numpy")

from duologue.analysis.over_users.chance import (  # noqa: E402
    alpha_disagreement,
    beyond_chance,
    chance_of_all,
    chance_of_margins,
    chance_of_uncertain,
    distances_of,
    same,
)

USERS = np.array([[[20.0, 5.0], [0.0, 0.0]], [[0.0, 0.0], [10.0, 15.0]]])
"""Two users whose tables are, together, the usual example of Cohen's kappa: 20, 5, 10, 15."""
EVERYBODY = np.ones((1, 2))
NOMINAL = distances_of(np.array([0.0, 1.0]), None)


@pytest.mark.parametrize(
    ("disagreement", "value"),
    [
        (same(), 0.7),
        (chance_of_margins(NOMINAL), 0.4),  # 1 - 0.3 / 0.5
        (chance_of_uncertain(NOMINAL), 1 - 0.3 / 0.505),  # shares 0.55 and 0.45: chance is 2 * 0.55 * 0.45
    ],
)
def test_the_coefficients_of_two_raters_are_those_by_hand(disagreement, value):
    assert beyond_chance(USERS, disagreement)(EVERYBODY).tolist() == pytest.approx([value])


def test_a_user_who_is_drawn_twice_counts_twice():
    draws = np.array([[2.0, 0.0], [1.0, 1.0]])
    assert beyond_chance(USERS, same())(draws).tolist() == pytest.approx([0.8, 0.7])


def test_the_coefficients_of_pairs_of_votes_are_those_by_hand():
    pairs = np.array([[[4.0, 1.0], [1.0, 2.0]]])  # both orders of four items with two votes each: 5 of one value, 3
    one = np.ones((1, 1))
    fleiss, alpha = 1 - 0.25 / (2 * 5 * 3 / 64), 1 - 0.25 / (2 * 5 * 3 / (8 * 7))
    assert beyond_chance(pairs, chance_of_all(NOMINAL))(one).tolist() == pytest.approx([fleiss])
    for level in ("nominal", "interval", "ordinal"):  # of two values all distances are the same
        krippendorff = alpha_disagreement(level, np.array([0.0, 1.0]))
        assert beyond_chance(pairs, krippendorff)(one).tolist() == pytest.approx([alpha])


def test_distances_are_by_place_and_the_farthest_is_one():
    places = np.array([0.0, 1.0, 4.0])
    assert distances_of(places, "linear")[0].tolist() == [0.0, 0.25, 1.0]
    assert distances_of(places, "quadratic")[1].tolist() == [1 / 16, 0.0, 9 / 16]
    assert distances_of(places, None)[2].tolist() == [1.0, 1.0, 0.0]
    assert distances_of(np.array([3.0]), "linear").tolist() == [[0.0]]


def test_the_ordinal_distance_is_the_votes_between_two_values():
    # Votes 2, 6, 2 on three values: halfway places 1, 5, 9, so that neighbours are half as far apart as the ends.
    tables = np.array([[[1.0, 1.0, 0.0], [1.0, 4.0, 1.0], [0.0, 1.0, 1.0]]])
    observed = 4 * 0.25 / 10
    expected = 2 * (2 * 6 * 0.25 + 6 * 2 * 0.25 + 2 * 2 * 1.0) / (10 * 9)
    ordinal = beyond_chance(tables, alpha_disagreement("ordinal", np.arange(3.0)))
    assert ordinal(np.ones((1, 1))).tolist() == pytest.approx([1 - observed / expected])


def test_alpha_does_not_depend_on_the_unit_of_the_values():
    tables = np.array([[[4.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 2.0]]])
    one = np.ones((1, 1))
    whole, tenths = (
        beyond_chance(tables, alpha_disagreement("interval", np.array([0.0, 1.0, 3.0]) * unit))(one)
        for unit in (1, 0.1)
    )
    assert whole.tolist() == pytest.approx(tenths.tolist())
