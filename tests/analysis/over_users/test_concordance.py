"""Pairs within groups: what is ordered rightly, what is level, and what is no pair."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.analysis.over_users.concordance import Pair, Pairs, concordance_within, pairs_within

HALVES = st.integers(2, 10).map(lambda value: value / 2)


def test_a_pair_counts_by_its_order_a_level_one_half_and_equal_truth_not_at_all():
    pairs = concordance_within([1, 2, 3, 3], [1, 2, 2, 9], ["a"] * 4)
    # 1-2 right, 1-3 right, 1-3 right, 2-3 level, 2-3 right, 3-3 no pair.
    assert pairs == {"a": Pairs(4.5, 5)}


def test_no_pair_is_across_groups():
    pairs = concordance_within([1, 5, 5, 1], [2, 1, 1, 2], ["a", "b", "a", "c"])
    assert pairs == {"a": Pairs(0, 1), "b": Pairs(), "c": Pairs()}
    assert list(pairs_within([1, 5, 5, 1], ["a", "b", "a", "c"])) == [Pair("a", 2, 0)]


def test_what_differs_in_the_last_digits_of_a_float_alone_is_level():
    assert concordance_within([0.1 + 0.2, 0.3], [1, 2], ["a", "a"]) == {"a": Pairs()}
    assert concordance_within([1, 2], [0.1 + 0.2, 0.3], ["a", "a"]) == {"a": Pairs(0.5, 1)}


def test_sequences_of_other_lengths_are_refused():
    with pytest.raises(ValueError, match=r"zip\(\) argument"):
        concordance_within([1, 2], [1], ["a", "a"])
    with pytest.raises(ValueError, match=r"zip\(\) argument"):
        pairs_within([1, 2], ["a"]).__next__()


@given(st.lists(st.tuples(HALVES, HALVES, st.sampled_from("abc")), max_size=20))
def test_the_truth_orders_every_pair_and_a_reversed_score_what_the_score_does_not(items):
    truth, score, group = zip(*items, strict=True) if items else ((), (), ())
    for pairs in concordance_within(truth, truth, group).values():
        assert pairs.right == pairs.count
    back = concordance_within(truth, [-value for value in score], group)
    for name, pairs in concordance_within(truth, score, group).items():
        assert pairs.right + back[name].right == pairs.count == back[name].count
