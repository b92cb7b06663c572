"""Whose conversations are learnt from and whose are tested, in each setting and split."""

from collections import Counter
from typing import Any

import pytest

pytest.importorskip("sklearn")

from duologue.analysis.over_users.folds import shared
from duologue.analysis.recllmsim.identification import Mixture, identify, places_tested
from duologue.analysis.recllmsim.identification.mixture import folds_of, frequent
from duologue.analysis.recllmsim.identification.settings import parts
from duologue.errors import DataError, SettingError


def test_no_user_is_in_two_folds_and_each_conversation_is_tested_once(crowd):
    talks = crowd("sign")
    folds = folds_of(talks, "personality", Mixture())
    assert shared([talk.user for talk in talks], folds) == (len(talks), 0)
    assert sorted(place for _, test in folds for place in test) == list(range(len(talks)))
    (train, test), = folds_of(talks, "personality", Mixture(split="published"))  # fmt: skip
    assert (len(test), len(train)) == (20, 76)


def test_each_setting_learns_from_and_tests_whom_it_says(crowd):
    people, simulated = crowd("sign"), crowd("sign", "simulated", "s")
    talks = [*people, *simulated]
    half = len(people)

    def sides(setting: Any, **more: Any) -> list[tuple[set[bool], set[bool], int]]:
        folds = folds_of(talks, "personality", Mixture(setting=setting, **more))
        return [
            ({place < half for place in train}, {place < half for place in test}, len(train)) for train, test in folds
        ]

    assert {(True in train, False in train, True in test, False in test) for train, test, _ in sides("sim")} == {
        (False, True, False, True)
    }
    assert sides("sim2human") == [({False}, {True}, half)]
    assert sides("human2sim") == [({True}, {False}, half)]
    assert all((train, test) == ({True, False}, {True}) for train, test, _ in sides("sim4human"))
    human = [count for _, _, count in sides("human")]
    assert [count for _, _, count in sides("sim4human", ratio=0.5)] == [count + count // 2 for count in human]
    assert [count for _, _, count in sides("sim4human", ratio=0)] == human
    with pytest.raises(SettingError, match="only for sim4human"):
        Mixture(setting="sim", ratio=1)


def test_hot_and_cold_labels_restrict_the_simulated_conversations(talk, crowd):
    people = [*crowd("sign"), talk("u30", 0, True, "x", personality=("Patient",))]
    simulated = [
        talk(f"s{n}", n, True, "x", "simulated", personality=(name,))
        for n, name in enumerate(["Calm", "Patient", "Confident"])
    ]
    talks = [*people, *simulated]

    def added(labels: Any, top: int) -> set[str]:
        folds = folds_of(talks, "personality", Mixture(setting="sim4human", labels=labels, top=top))
        return {talks[place].labels["personality"][0] for train, _ in folds for place in train if place >= len(people)}

    assert added("hot", 2) <= {"Calm", "Patient"}
    assert "Calm" in added("hot", 2)
    # An option that nobody has is less frequent than one that somebody has.
    assert added("cold", 1) == set()
    assert "Confident" not in added("hot", 3)
    assert added("cold", 14) == {"Calm", "Patient", "Confident"}

    assert frequent(Counter(a=3, b=2, c=1), "hot", 1) == {"a"}
    assert frequent(Counter(a=3, b=2, c=1), "cold", 1) == {"c"}
    assert frequent(Counter(a=3, b=2, c=1), "both", 1) == {"a", "c"}


def test_others_are_taken_away_with_who_has_nothing_else(talk, crowd):
    talks = [*crowd("sign"), talk("u30", 0, True, "x", personality=("Others",))]
    folds = folds_of(talks, "personality", Mixture(others=False))
    assert len(talks) - 1 not in {place for fold in folds for places in fold for place in places}
    assert len(talks) - 1 in {place for fold in folds_of(talks, "personality", Mixture()) for place in fold[1]}


def test_what_cannot_be_parted_is_refused(crowd):
    with pytest.raises(DataError, match="no conversation has a profile"):
        identify([])
    with pytest.raises(DataError, match="no conversation of simulated users"):
        identify(crowd("sign"), mixture=Mixture(setting="sim2human"))
    with pytest.raises(DataError, match="1 user: users are held out from each other"):
        parts(["a", "a"], "users")


def test_what_was_simulated_on_the_profile_of_a_tested_person_is_not_learnt_from(crowd):
    people, simulated, same = crowd("sign"), crowd("sign", "simulated", "s"), crowd("sign", "simulated")
    talks = [*people, *simulated, *same]
    users = [talk.user for talk in talks]
    for setting in ("sim4human", "sim2human", "human2sim"):
        folds = folds_of(talks, "personality", Mixture(setting=setting))
        assert shared(users, folds)[1] == 0, setting
        assert len(folds) == 5
        assert {place for _, test in folds for place in test} == (
            set(range(len(people), len(talks))) if setting == "human2sim" else set(range(len(people)))
        )
        assert shared(users, folds_of(talks, "personality", Mixture(setting=setting, split="published")))[1] > 0
    with pytest.raises(DataError, match="is of the tested users"):
        folds_of(
            [*crowd("sign", users=1), *crowd("sign", "simulated", users=1)], "personality", Mixture(setting="sim2human")
        )


def test_each_conversation_is_tested_once_whoever_its_user_is(crowd):
    talks = crowd("sign")
    folds = folds_of(talks, "personality", Mixture(split="conversations"))
    assert sorted(place for _, test in folds for place in test) == list(range(len(talks)))
    tested, learnt_too = shared([talk.user for talk in talks], folds)
    assert learnt_too > 0.9 * tested
    turned = folds_of(talks[::-1], "personality", Mixture(split="conversations"))
    assert [{talks[at].id for at in test} for _, test in folds] == [
        {talks[::-1][at].id for at in test} for _, test in turned
    ]


def test_the_fifth_of_people_is_the_one_that_other_settings_test(crowd):
    talks = [*crowd("sign"), *crowd("sign", "simulated", "s")]

    def tested(setting: Any, **more: Any) -> set[int]:
        return set(places_tested(talks, Mixture(setting=setting, **more), ["published"]))

    assert tested("sim2human", fifth=True) == tested("human") == tested("sim4human")
    assert tested("human2sim", fifth=True) == tested("sim")
    assert len(tested("sim2human")) == 24 * 4
    with pytest.raises(SettingError, match="only sim2human and human2sim"):
        Mixture(fifth=True)


def test_a_pair_tells_an_aspect_from_the_talks_about_its_task(talk):
    tasks = ("travel", "new_travel", "recipe", "gifts", "skills", "other")
    talks = [
        talk(f"u{user}", number, user % 2 == 0, "x", task=task)
        for user in range(6)
        for number, task in enumerate(tasks)
    ]
    mixture = Mixture(pairs=True)
    assert "personality" not in mixture.aspects
    about = {
        aspect: {talks[place].task for fold in folds_of(talks, aspect, mixture) for places in fold for place in places}
        for aspect in mixture.aspects
    }
    assert about == {
        "daily_interests": {"skills"},
        "travel_habits": {"travel", "new_travel"},
        "dining_preferences": {"recipe"},
        "spending_habits": {"gifts"},
    }
    report = identify(talks, mixture=mixture)
    assert {row.aspect for row in report.table.rows} == {"mean", *mixture.aspects}
    report = identify([talk for talk in talks if talk.task != "gifts"], mixture=mixture)
    assert report.table.notes[0] == (
        "spending_habits is not predicted: setting human: no conversation about gifts of people has a profile with "
        "spending_habits: add them"
    )
    assert {row.aspect for row in report.table.rows} == {
        "mean",
        "daily_interests",
        "travel_habits",
        "dining_preferences",
    }


def test_an_aspect_that_one_user_alone_has_is_left_out_with_a_note(talk):
    talks = [talk(f"u{user}", 0, user % 2 == 0, "x", daily_interests=()) for user in range(5)]
    talks.append(talk("u5", 0, True, "x"))
    report = identify(talks)
    assert report.table.notes[0].startswith("daily_interests is not predicted: 1 user: users are held out")
    assert "daily_interests" not in {row.aspect for row in report.table.rows}


def test_where_the_other_side_is_learnt_from_the_prior_of_the_tested_side_is_a_row_too(talk, values):
    people = [talk(f"u{user}", 0, user < 9, "x") for user in range(10)]
    simulated = [talk(f"s{user}", 0, user < 2, "x", "simulated") for user in range(10)]
    report = identify([*people, *simulated], mixture=Mixture(setting="sim2human"), splits=("published", "users"))
    rows = values(report)
    assert set(rows) == {("published", "label prior"), ("published", "label prior, own side")}  # both splits are one
    assert (rows["published", "label prior"].hit_1, rows["published", "label prior, own side"].hit_1) == (0.1, 0.9)
    assert report.table.notes[0] == (
        "published: one side is trained on, and the other tested; 0.0% of the tests are of a user, or a profile text, that "
        "is trained on too, of 10 tests of an aspect. Trained on: 0 conversations of people, 10 simulated ones."
    )
    report = identify([*people, *simulated], mixture=Mixture(setting="sim4human", ratio=1))
    assert values(report)["users", "label prior, own side"].hit_1 == 0.9
    assert report.table.notes[0].endswith("Trained on: 8 conversations of people, 8 simulated ones.")
