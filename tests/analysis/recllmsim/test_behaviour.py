"""Behaviour labels: shares, ratings and users, counted by hand."""

import pytest

from duologue.analysis.recllmsim import label_distributions, label_frequency, rating_by_label
from duologue.data import recllmsim


def strategy(value):
    return {"final": {"problem_solving": value}, "1": {"problem_solving": "Other"}}


@pytest.fixture
def conversations(simulated, person):
    intent = {0: {"intent": "Planning", "intent_zh": "规划"}, 2: {"intent": "Search"}}
    return [
        simulated("uaua", messages=intent, solving=strategy("AllInOne"), rating={"Diversity": 2}),
        simulated("ua", messages={0: {"intent": "Planning"}}, solving=strategy("AllInOne"), rating={"Diversity": 1}),
        simulated("ua", preference="1. Gender: Female", solving=strategy("StepByStep"), rating={"Diversity": 0}),
        person("ua", messages={0: {"intent": ["规划", "其它"]}, 1: {"satisfaction": "3"}}),
    ]


def test_distributions_count_results_of_votes_and_never_put_peoples_intents_beside_simulated_ones(conversations):
    rows = {
        (row.label, row.value, row.task, row.side): (row.n, row.share)
        for row in label_distributions(conversations).rows
    }
    assert rows["intent", "planning", "all", "simulated"] == (2, pytest.approx(2 / 3))
    assert rows["intent", "search", "all", "simulated"] == (1, pytest.approx(1 / 3))
    assert ("intent", "others", "all", "simulated") not in rows
    assert rows["intent people", "规划", "preparing gifts", "people"] == (1, 0.5)
    assert not [key for key in rows if key[0] == "intent" and key[3] == "people"]
    counts = {
        (row.label, row.task, row.side): (row.conversations, row.of) for row in label_distributions(conversations).rows
    }
    assert counts["intent", "all", "simulated"] == (2, 3)
    assert counts["solving problem solving", "preparing gifts", "simulated"] == (3, 3)
    assert rows["solving problem solving", "all in one", "all", "simulated"] == (2, pytest.approx(2 / 3))
    assert not [key for key in rows if key[1] == "other" or (key[0].startswith("solving") and key[3] == "people")]


def test_mean_rating_is_over_conversations_that_have_the_value(conversations):
    rows = {
        (row.label, row.value, row.side, row.rating): (row.n, row.mean) for row in rating_by_label(conversations).rows
    }
    assert rows["solving problem solving", "all in one", "simulated", "rating Diversity"] == (2, 1.5)
    assert rows["solving problem solving", "step by step", "simulated", "rating Diversity"] == (1, 0)
    assert rows["intent", "planning", "simulated", "rating Diversity"] == (2, 1.5)
    assert rows["intent people", "others", "people", "satisfaction with replies"] == (1, 3)
    unrated = conversations[1].model_copy(update={"labels": {"solving": strategy("AllInOne")}})
    ratings = rating_by_label([*conversations, unrated]).rows
    assert {(row.n, row.of) for row in ratings if (row.label, row.value) == ("intent", "planning")} == {(2, 3)}


def test_each_user_counts_the_same_whatever_the_number_of_conversations(conversations):
    frequency = label_frequency(conversations)
    rows = {(row.label, row.value, row.side): row for row in frequency.rows}
    step = rows["solving problem solving", "step by step", "simulated"]
    assert (step.users, step.users_with, step.mean, step.sd) == (2, 1, 0.5, 0.5)  # not one of three
    assert (rows["intent", "search", "simulated"].users, rows["intent", "search", "simulated"].of) == (1, 2)
    assert ("intent", "search", "people") not in rows
    asked = rows["intent people", "规划", "people"]
    assert (asked.mean, asked.sd) == (0.5, None)
    assert "intent people, people: one user only, so there is no spread." in frequency.notes


def test_without_labels_or_ratings_the_tables_say_so(simulated):
    for table in (label_distributions, label_frequency, rating_by_label):
        assert table([simulated()]).notes[0].startswith("No behaviour label is there")
    assert (
        rating_by_label([simulated(solving=strategy("AllInOne"))]).notes[-1].startswith("No conversation has a rating")
    )


@pytest.mark.heavy
@pytest.mark.parametrize("folder", ["recllmsim", "recllmsim_human_vs_agent"])
def test_shares_of_each_label_task_and_side_add_up_to_one(open_data, folder):
    sums = {}
    for row in label_distributions(recllmsim.read(open_data / folder)).rows:
        sums[row.label, row.task, row.side] = sums.get((row.label, row.task, row.side), 0) + row.share
    assert len(sums) > 50
    assert list(sums.values()) == pytest.approx([1] * len(sums))
