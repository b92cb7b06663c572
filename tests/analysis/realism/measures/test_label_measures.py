"""Measures of labels and tasks: their values, votes and names."""

import pytest

from duologue.analysis.realism.measures import labels_of
from duologue.analysis.realism.measures.transcripts import task_of, transcripts_of


def test_labels_are_those_of_both_sides_and_the_same_in_both_languages(talk):
    one = transcripts_of(
        [
            talk("a", labels={"mark": "no", "score": 3, "mine": "x", "intent": "Planning"}),
            talk("b", labels={"mark": "yes", "score": 5}),
        ],
        "en",
    )
    two = transcripts_of([talk("a", labels={"mark": ["否", "是"], "score": "4", "intent": ["规划", "推荐"]})], "en")
    mark, score = labels_of(one, two)  # people's intents are another measurement
    assert (mark.name, mark.values, mark.numeric) == ("mark", ("no", "yes"), False)
    assert mark.refused == score.refused == ""
    assert mark.shares(two[0]) == {"no": 0.5, "yes": 0.5}
    assert (score.name, score.numeric, score.mean(one[0])) == ("score", True, 3)


def one_label(talk, sim, human):
    """The label of two sides of which each conversation has one of these values."""
    sides = [transcripts_of([talk("a", labels={"mark": value}) for value in values], "en") for values in (sim, human)]
    labels = labels_of(*sides)
    return labels[0] if labels else None


@pytest.mark.parametrize(
    ("sim", "human", "reason"),
    [
        (["a", "b", "b"], ["b", "a"], ""),
        (["a", "search"], ["a", "b"], "the sides have different values: 'search' on the simulated side alone, 'b' on people's side alone"),
        (["a", "x", "y"], ["a"], "the sides have different values: 'x' and 'y' on the simulated side alone"),
        (["a"], [*"abcdefgh"], "the sides have different values: 'b', 'c', 'd', 'e', 'f' and 2 more on people's side alone"),
        (["a", "b" * 50], ["a"], f"the sides have different values: '{'b' * 39}…' on the simulated side alone"),
        (["yes"], ["no", "yes"], ""),
        (["是"], [False], ""),
        (["yes", "no"], ["yes", "no", "无法判断"], "the sides have different values: 'cannot tell' on people's side alone"),
        ([1, 2, 3], [4, 5], ""),
        ([3.5, -1, 2.0], ["4.25", "1e3"], ""),
        ([*range(30)], [*range(30)], ""),
        ([1, 2], ["good", "bad"], "the values are numbers on the simulated side and words on people's side"),
        (["good"], [4], "the values are words on the simulated side and numbers on people's side"),
        ([1], [True], "the values are numbers on the simulated side and words on people's side"),
        (["a"], ["a", "a"], "the label has one value only: 'a'"),
        ([4], [4.0], "the label has one value only: '4'"),
        ([f"text {n}" for n in range(11)], [f"word {n}" for n in range(10)], "the label has 21 different values, more than 20: it is a text, no category"),
        (["²", "3"], ["3"], "the sides have different values: '²' on the simulated side alone"),
    ],
)  # fmt: skip
def test_labels_whose_values_cannot_be_compared_are_refused_with_the_reason(talk, sim, human, reason):
    assert one_label(talk, sim, human).refused == reason


@pytest.mark.parametrize("nothing", [None, "", " ", "None", "null", "N/A", "not judged", "NaN", float("nan"), {}, []])
def test_what_says_that_nobody_has_judged_is_no_value_of_a_label(talk, nothing):
    assert one_label(talk, ["a", "b", nothing], ["b", "a"]).values == ("a", "b")
    assert one_label(talk, [nothing], ["b", "a"]) is None


def test_a_decimal_label_has_a_mean(talk):
    [label] = labels_of(*(transcripts_of([talk("a", labels={"mark": [3.5, value]})], "en") for value in (4, 2.5)))
    assert label.mean(transcripts_of([talk("a", labels={"mark": [3.5, 4]})], "en")[0]) == 3.75


def test_votes_count_by_their_result(talk):
    conversation = talk("a").model_copy(
        update={"labels": {"strategy": {"final": {"order": "Depth"}, "1": {"order": "Breadth"}}}}
    )
    other = talk("a").model_copy(update={"labels": {"strategy": {"final": {"order": "Breadth"}}}})
    [label] = labels_of(transcripts_of([conversation], "en"), transcripts_of([other], "en"))
    assert "'depth' on the simulated side alone" in label.refused
    assert (label.name, label.shares(transcripts_of([conversation], "en")[0])) == ("strategy order", {"depth": 1.0})


def test_tasks_have_one_name_in_readable_words_and_both_travels_are_one(talk):
    names = ("旅行规划", "new_travel planning", "new_travel", "礼物准备", "Brew  tea")
    tasks = [task_of(talk("a", task=name)) for name in names]
    assert tasks == ["travel planning"] * 3 + ["preparing gifts", "brew tea"]
