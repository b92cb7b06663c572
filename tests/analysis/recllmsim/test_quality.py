"""Quality by turns, by questionnaire and by rating: small conversations, counted by hand, and the open data."""

import pytest

from duologue.analysis.recllmsim import quality_by_questionnaire, quality_by_rating, quality_by_turns
from duologue.data import recllmsim
from duologue.data.records import NodeInfo, Provenance


def rating(alignment, completeness, **others):
    return {"Preference Alignment": alignment, "Role-Playing Completeness": completeness, **others}


def questionnaire(**options):
    return [{"query": "?", "summary": name, "option": option} for name, option in options.items()]


def test_turns_are_half_of_the_messages_and_ratings_are_means_over_conversations(simulated):
    conversations = [
        simulated("uaua", rating=rating(2, 1)),
        simulated("uauau", rating=rating(1, 2)),  # five messages are two turns
        simulated("ua", rating=rating(0, 0)),
        simulated("uaua"),  # not rated
    ]
    table = quality_by_turns(conversations)
    assert [tuple(row.model_dump().values()) for row in table.rows] == [(1, 1, 1, 0, 0), (2, 2, 3, 1.5, 1.5)]
    assert "n 3, means 1.0000, 1.0000" in table.notes[0]
    assert table.notes[1] == "1 of 4 conversations of simulated users have no such rating."


def test_a_goodbye_that_is_not_stored_makes_no_turn(simulated):
    one = simulated("uaua", rating=rating(1, 1))
    last = one.messages[-1].model_copy(update={"stored": False})
    assert quality_by_turns([one.model_copy(update={"messages": (*one.messages[:-1], last)})]).rows[0].turns == 1


def test_an_item_that_is_missing_or_out_of_range_is_none_and_no_zero(simulated):
    [row] = quality_by_turns([simulated(rating={"Preference Alignment": 2, "Role-Playing Completeness": 7})]).rows
    assert (row.preference_alignment, row.role_playing_completeness) == (2, None)


def test_questionnaires_are_scored_by_assistant_and_memory_is_good_when_nothing_was_forgotten(person):
    conversations = [
        person(chat_model="m", questionnaire=questionnaire(Memorization="否", Detail="详细", Availability="不可用")),
        person(chat_model="m", questionnaire=questionnaire(Memorization="是", Detail="一般", Diversity="结果单一")),
        person(questionnaire=questionnaire(Detail="简略", Diversity="maybe")),
        person(chat_model="n", questionnaire=questionnaire(Memorization="否")),
        person(chat_model="m"),
    ]
    table = quality_by_questionnaire(conversations)
    rows = {(row.assistant, row.item): (row.n, row.mean, row.share_0, row.share_1, row.share_2) for row in table.rows}
    assert rows["m", "Memorization"] == (2, 0.5, 0.5, 0.5, 0)
    assert rows["n", "Memorization"] == (1, 1, 0, 1, 0)
    assert rows["m", "Detail"] == (2, 1.5, 0, 0.5, 0.5)
    assert rows["m", "Availability"] == (1, 0, 1, 0, 0)
    assert rows["all", "Detail"] == (3, 1, pytest.approx(1 / 3), pytest.approx(1 / 3), pytest.approx(1 / 3))
    assert rows["not told", "Detail"] == (1, 0, 1, 0, 0)
    assert ("not told", "Diversity") not in rows
    assert {(row.assistant, row.item): row.of for row in table.rows}["m", "Memorization"] == 3
    assert "1 of 5 conversations of people have no questionnaire." in table.notes
    assert "1 answers are none of the published options: not counted." in table.notes


def test_ratings_name_whom_they_judge_and_a_runs_model_is_its_assistant(simulated):
    ran = Provenance(cast="recllmsim", nodes={"assistant": NodeInfo.of("assistant", {"model": {"spec": "openai:gpt"}})})
    one = simulated(rating=rating(2, 2, Diversity=1), satisfaction={"detail": 2}).model_copy(update={"provenance": ran})
    rows = {(row.assistant, row.about, row.item): row.mean for row in quality_by_rating([one]).rows}
    assert rows == {
        ("openai:gpt", "user", "Preference Alignment"): 2,
        ("openai:gpt", "user", "Role-Playing Completeness"): 2,
        ("openai:gpt", "assistant", "Diversity"): 1,
        ("openai:gpt", "assistant", "satisfaction detail"): 2,
    }


def test_what_is_missing_is_said(simulated, person):
    assert quality_by_turns([person()]).notes[-1].startswith("No conversation has a rating of preference alignment")
    assert quality_by_questionnaire([simulated()]).notes == (
        "No conversation has a questionnaire; simulated users fill none in.",
    )
    assert quality_by_rating([person()]).notes == ("No conversation has a rating; people's files have none.",)


PUBLISHED = {
    1: (1, 1.0, 1.0),
    2: (316, 1.2089, 1.2911),
    3: (575, 1.3496, 1.6417),
    4: (452, 1.6018, 1.6416),
    5: (279, 1.7097, 1.6093),
    6: (138, 1.8043, 1.7246),
    7: (69, 1.7536, 1.7101),
    8: (15, 1.8667, 1.7333),
    9: (6, 1.6667, 1.3333),
    10: (5, 1.6, 1.2),
}
"""The published README table, of all 1,856 simulated conversations: n and the two means by turns."""


def test_the_open_eighth_agrees_with_the_published_table_as_a_sample_of_it_does(open_data):
    """No more conversations of a length than there are, each mean one that the rest can make up for.

    Points lie between 0 and 2, so the sum over the conversations that are not open has bounds.
    """
    simulated = [one for one in recllmsim.read(open_data / "recllmsim") if recllmsim.variant(one) == "simulated"]
    rows = quality_by_turns(simulated).rows
    assert sum(row.n for row in rows) == 233
    for row in rows:
        n, *means = PUBLISHED[row.turns]
        assert row.n <= n
        for mean, own in zip(means, (row.preference_alignment, row.role_playing_completeness), strict=True):
            rest = round(mean * n) - own * row.n
            assert abs(mean * n - round(mean * n)) <= n * 0.00005 + 1e-9  # a sum of whole points
            assert -1e-9 <= rest <= 2 * (n - row.n) + 1e-9
    assert rows[0].n == PUBLISHED[1][0]
    assert (rows[0].preference_alignment, rows[0].role_playing_completeness) == PUBLISHED[1][1:]
    for column, name in enumerate(("preference_alignment", "role_playing_completeness"), start=1):
        whole = sum(one[0] * one[column] for one in PUBLISHED.values()) / 1856
        own = sum(row.n * getattr(row, name) for row in rows) / 233
        assert abs(whole - own) < 3 * 0.75 / 233**0.5  # three standard errors of points with a deviation below 0.75
