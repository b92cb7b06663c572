"""What votes come to: the published rule, and a tie where it gives nothing."""

import json
from math import log2
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.data.labels.votes import Aggregate, aggregate, entropy_of

SEED = Path(__file__).parents[4] / "shared" / "seed-data"
open_data = pytest.mark.skipif(not SEED.is_dir(), reason="the open published data is not in ../shared/seed-data")


def test_a_word_wins_with_two_of_three_votes():
    assert aggregate(["High", "Low", "High"]).value == "High"


def test_three_different_words_are_a_tie_with_its_votes_and_its_entropy():
    total = aggregate(["Depth", "Breadth", "Both"])
    assert total == Aggregate(None, ("Depth", "Breadth", "Both"), log2(3))
    assert (total.tie, total.unanimous) == (True, False)


def test_numbers_that_are_at_most_two_apart_become_their_mean_rounded():
    assert [aggregate(votes).value for votes in ([3, 4, 5], [4, 2, 4], [1, 1, 2], [1, 2, 2], [5])] == [4, 3, 1, 2, 5]


def test_numbers_further_apart_are_a_tie_even_where_two_agree():
    assert aggregate([1, 5, 5]).value is None


def test_half_of_two_numbers_is_rounded_upwards():
    assert [aggregate(votes).value for votes in ([1, 2], [2, 3], [3, 4])] == [2, 3, 4]


def test_two_votes_of_four_are_no_majority():
    assert aggregate(["yes", "yes", "no", "no"]).tie
    assert aggregate(["yes", "yes", "no", "other"]).tie


def test_yes_and_no_are_words_and_no_numbers():
    assert aggregate([True, False, True]).value is True
    with pytest.raises(ValueError, match="mix numbers and words"):
        aggregate([True, 1, 0])


def test_no_votes_are_an_error():
    with pytest.raises(ValueError, match="no votes"):
        aggregate([])


@given(st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=9))
def test_the_order_of_the_votes_changes_neither_value_nor_entropy(votes):
    first, second = aggregate(votes), aggregate(votes[::-1])
    assert first.value == second.value
    assert first.entropy == pytest.approx(second.entropy)
    assert 0 <= first.entropy <= log2(len(votes)) + 1e-9
    assert first.unanimous == (len(set(votes)) == 1)
    assert entropy_of(votes) == first.entropy


@given(st.lists(st.integers(1, 5), min_size=1, max_size=9))
def test_a_mean_lies_within_its_votes_and_on_the_scale(votes):
    value = aggregate(votes).value
    assert (value is None) == (max(votes) - min(votes) > 2)
    if value is not None:
        assert isinstance(value, int)
        assert min(votes) <= value <= max(votes)


@open_data
def test_every_published_final_is_what_its_votes_come_to():
    checked = 0
    for path in sorted(SEED.glob("recllmsim*/**/*.json")):
        conversation = json.loads(path.read_text(encoding="utf-8"))
        for key, label in conversation.items():
            if key.startswith("strategy") and isinstance(label, dict) and "1" in label:
                total = {name: aggregate([label[vote][name] for vote in "123"]) for name in label["1"]}
                assert {name: aggregated.value for name, aggregated in total.items()} == label["final"], (path, key)
                checked += len(total)
    assert checked > 9000
