"""What votes come to: the published rule, of one part and of whole labels, and a tie where it gives nothing."""

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.data.labels.definition import LabelDefinition, aggregate, final_value
from duologue.data.recllmsim.published_labels import label_of, published, renamed
from duologue.prompts.label_pages import shipped_labels

SEED = Path(__file__).parents[4] / "shared" / "seed-data"
open_data = pytest.mark.skipif(not SEED.is_dir(), reason="the open published data is not in ../shared/seed-data")
MOOD = LabelDefinition.of(
    "mood", {"unit": "conversation", "parts": {"mood": {"values": ["good", "bad"]}, "why": {"text": True}}}, "x", "x.md"
)


@pytest.mark.parametrize(
    ("votes", "value"),
    [
        (["High", "Low", "High"], "High"),
        (["Depth", "Breadth", "Both"], None),
        (["yes", "yes", "no", "no"], None),
        ([True, False, True], True),
        ([3, 4, 5], 4),
        ([4, 2, 4], 3),
        ([1, 2], 2),
        ([3, 4], 4),
        ([1, 5, 5], None),
        ([5], 5),
    ],
)
def test_words_win_by_majority_and_numbers_that_are_near_become_their_mean(votes, value):
    assert aggregate(votes) == value


@given(st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=9) | st.lists(st.integers(1, 5), min_size=1))
def test_the_order_of_the_votes_changes_nothing_and_a_mean_lies_within_them(votes):
    first, second = aggregate(votes), aggregate(votes[::-1])
    assert first == second
    if isinstance(first, int):
        assert min(votes) <= first <= max(votes)


def mood(value, why="because"):
    return {"mood": value, "why": why}


def final(label, *ballot):
    return final_value(label, ballot)


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
    assert final(label, low, {**low, "reason": "其它"}, high) == {"satisfaction": 3, "reason": None}


def test_of_several_values_those_win_that_more_than_half_named():
    label = shipped_labels()["intent_people"]
    votes = [{"intent": ["推荐", "规划"]}, {"intent": ["规划"]}, {"intent": ["评估", "推荐"]}]
    assert final(label, *votes) == {"intent": ["推荐", "规划"]}
    assert final(label, {"intent": ["推荐"]}, {"intent": ["规划"]}, {"intent": ["评估"]}) == {"intent": None}


@open_data
def test_published_votes_are_values_come_to_their_finals_and_are_published_as_they_were():
    checked = Counter()
    for path in SEED.glob("recllmsim*/*/**/*.json"):
        labels = json.loads(path.read_text(encoding="utf-8"))
        for name, key in renamed(labels).items():
            if (label := shipped_labels().get(name)) is not None:
                read = label_of(name, labels[key])
                assert final(label, *read.votes) == read.value, path
                assert [label.problems(value) for value in (read.value, *read.votes)] == [[]] * 4
                assert json.dumps(published(name, label.as_labels(read)[name])) == json.dumps(labels[key])
                checked[name] += 1
    assert checked == {"order_and_feedback": 268} | dict.fromkeys(
        ("solving", "broadness", "style", "advice", "first_taxonomy", "broadness_and_feedback"), 487
    )
