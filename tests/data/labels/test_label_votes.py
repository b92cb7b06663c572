"""What votes on a whole label come to, by majority and weighed by how each annotator errs."""

import json
from collections import Counter
from math import exp, log
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.data.labels.definition import LabelDefinition
from duologue.data.labels.votes import SMOOTHING, dawid_skene, finals
from duologue.data.recllmsim.published_labels import renamed
from duologue.prompts.label_pages import shipped_labels

SEED = Path(__file__).parents[4] / "shared" / "seed-data"
open_data = pytest.mark.skipif(not SEED.is_dir(), reason="the open published data is not in ../shared/seed-data")
MOOD = LabelDefinition.of(
    "mood", {"unit": "conversation", "parts": {"mood": {"values": ["good", "bad"]}, "why": {"text": True}}}, "x", "x.md"
)


def mood(value, why="because"):
    return {"mood": value, "why": why}


def final(label, *ballot):
    return finals(label, [ballot])[0]


def test_a_text_is_that_of_the_first_annotator_who_agrees_with_the_majority():
    assert final(MOOD, mood("bad", "a"), mood("good", "b"), mood("good", "c")) == mood("good", "b")


def test_a_refused_vote_counts_against_a_majority_and_no_vote_is_no_value():
    assert final(MOOD, mood("good"), mood("good"), None) == mood("good")
    assert final(MOOD, mood("good"), mood("bad"), None) == {"mood": None, "why": None}
    assert final(MOOD, mood("good"), None, None) == {"mood": None, "why": None}
    assert final(MOOD, None, None) is None


def test_a_part_that_does_not_apply_to_the_winner_is_null_whoever_gave_one():
    label = shipped_labels()["satisfaction"]
    low = {"satisfaction": 3, "reason": "不可用"}
    high = {"satisfaction": 4, "reason": None}
    assert final(label, low, high, high) == {"satisfaction": 4, "reason": None}
    assert final(label, low, low, high) == low
    assert final(label, low, {**low, "reason": "其它"}, low | {"satisfaction": 2}) == low
    assert final(label, low, {**low, "reason": "其它"}, high) == {"satisfaction": 3, "reason": None}


def test_of_several_values_those_win_that_more_than_half_named():
    label = shipped_labels()["intent_people"]
    votes = [{"intent": ["推荐", "规划"]}, {"intent": ["规划"]}, {"intent": ["评估", "推荐"]}]
    assert final(label, *votes) == {"intent": ["推荐", "规划"]}
    assert final(label, {"intent": ["推荐"]}, {"intent": ["规划"]}, {"intent": ["评估"]}) == {"intent": None}


@open_data
def test_the_published_finals_of_both_taxonomies_are_those_of_the_labels():
    checked = Counter()
    for path in SEED.glob("recllmsim*/*/**/*.json"):
        labels = json.loads(path.read_text(encoding="utf-8"))
        for name, key in renamed(labels).items():
            if (label := shipped_labels().get(name)) is not None:
                stored = {name: labels[key]}
                votes = [label.value_in(stored, number) for number in "123"]
                assert final(label, *votes) == label.value_in(stored), path
                checked[name] += 1
    assert checked == {"order_and_feedback": 268} | dict.fromkeys(
        ("solving", "broadness", "style", "advice", "first_taxonomy", "broadness_and_feedback"), 487
    )


def test_an_annotator_who_always_errs_alike_is_seen_through():
    truth = ["a", "b"] * 20
    other = {"a": "b", "b": "a"}
    votes = [[true, true if number % 5 else other[true], other[true]] for number, true in enumerate(truth)]
    weighed = dawid_skene(votes)
    assert list(weighed.values) == truth  # by majority, every fifth would be wrong
    assert weighed.confusions[2]["a"]["b"] > 0.99
    assert weighed.confusions[1]["a"]["a"] == pytest.approx(0.8, abs=0.01)


def test_a_round_by_hand_of_two_items_and_two_annotators():
    # Shares: item 1 is a; item 2 is even. With s = smoothing: prior a = 3/4, b = 1/4.
    s = SMOOTHING
    weighed = dawid_skene([["a", "a"], ["a", "b"]], rounds=1)
    first = {"a": (1.5 + s) / (1.5 + 2 * s), "b": (0.5 + s) / (0.5 + 2 * s)}  # votes a, given the truth
    second = {"a": (1 + s) / (1.5 + 2 * s), "b": s / (0.5 + 2 * s)}
    of_a = exp(log(0.75) + log(first["a"]) + log(1 - second["a"]))
    of_b = exp(log(0.25) + log(first["b"]) + log(1 - second["b"]))
    assert weighed.probabilities[1]["a"] == pytest.approx(of_a / (of_a + of_b))


def test_three_rounds_give_the_probabilities_of_crowd_kit():
    # crowd-kit 1.4.2, DawidSkene(n_iter=3, tol=0).fit_predict_proba of the same votes: P(a) and P(b) of each item.
    votes = "ccb acb aaa cbb caa baa bba abb cba ccc bba baa".split()
    of_crowd_kit = [
        (0.0, 0.0324), (0.0, 0.0593), (0.9286, 0.0714), (0.0057, 0.6773), (0.9268, 0.0731), (0.9756, 0.0244),
        (0.6105, 0.3895), (0.0069, 0.7956), (0.3305, 0.6634), (0.0, 0.0), (0.6105, 0.3895), (0.9756, 0.0244),
    ]  # fmt: skip
    weighed = dawid_skene([list(item) for item in votes], rounds=3, tolerance=0, smoothing=0)
    ours = [(shares["a"], shares["b"]) for shares in weighed.probabilities]
    assert [of_a for of_a, _ in ours] == pytest.approx([of_a for of_a, _ in of_crowd_kit], abs=5e-5)
    assert [of_b for _, of_b in ours] == pytest.approx([of_b for _, of_b in of_crowd_kit], abs=5e-5)


BALLOTS = st.integers(1, 4).flatmap(
    lambda width: st.lists(
        st.lists(st.sampled_from(["a", "b", "c", None]), min_size=width, max_size=width), min_size=1, max_size=12
    )
)


@given(BALLOTS)
def test_probabilities_add_up_and_where_all_agree_that_is_the_value(votes):
    weighed = dawid_skene(votes)
    for probable in weighed.probabilities:
        assert not probable or sum(probable.values()) == pytest.approx(1)
    if len(given_values := {vote for item in votes for vote in item if vote is not None}) == 1:
        expected = [None if all(vote is None for vote in item) else next(iter(given_values)) for item in votes]
        assert list(weighed.values) == expected


@given(BALLOTS, st.randoms(use_true_random=False))
def test_the_order_of_the_items_changes_nothing(votes, random):
    order = list(range(len(votes)))
    random.shuffle(order)
    straight, mixed = dawid_skene(votes), dawid_skene([votes[n] for n in order])
    for place, number in enumerate(order):
        for value, share in straight.probabilities[number].items():
            assert mixed.probabilities[place][value] == pytest.approx(share, abs=1e-4)


def test_dawid_skene_is_a_rule_for_whole_labels():
    label = shipped_labels()["rating"]
    value = dict.fromkeys(label.parts, 1) | {"Detail Level": 2}
    assert finals(label, [[value, value, None]] * 3, "dawid-skene") == [value] * 3
    with pytest.raises(ValueError, match="different numbers of annotators"):
        dawid_skene([["a"], ["a", "b"]])
