"""Profiles: labels, diversity and top values, counted by hand."""

import math
import sys

import pytest

from duologue.analysis.recllmsim import profile_statistics, profile_values
from duologue.errors import MissingExtraError

TEXT = "1. Gender: Male\n2. Age: 30\n3. Personality: Calm, kind, and curious"


def mapped(*personality):
    return {"Gender": {"en": "Male", "zh": "男"}, "Age": {"en": "30", "zh": "30"},
            "Personality": [{"en": en, "zh": zh} for en, zh in personality]}  # fmt: skip


def rows_of(conversations):
    return {(row.attribute, row.side): row for row in profile_statistics(conversations).rows}


def tops(conversations):
    values = {}
    for row in profile_values(conversations).rows:
        values.setdefault((row.attribute, row.side), []).append((row.value, row.n, row.share))
    return values


def test_each_profile_counts_once_and_others_is_no_label(simulated):
    calm, kind, others = ("Calm", "冷静"), ("Kind", "善良"), ("Others", "其他")
    conversations = [
        simulated(preference="a", profile_mapped=mapped(calm, others)),
        simulated(preference="a", profile_mapped=mapped(calm, others)),
        simulated(preference="b", profile_mapped=mapped(calm, kind)),
        simulated(preference="c", profile_mapped=mapped(calm)),
    ]
    row = rows_of(conversations)["Personality", "simulated"]
    assert (row.profiles, row.distinct, row.others) == (3, 2, 1)
    assert row.labels_per_profile == pytest.approx(5 / 3)
    assert row.simpson == pytest.approx(1 - (9 / 16 + 1 / 16))
    assert row.shannon == pytest.approx(-(0.75 * math.log(0.75) + 0.25 * math.log(0.25)))
    assert tops(conversations)["Personality", "simulated"] == [("calm", 3, 1), ("kind", 1, pytest.approx(1 / 3))]
    assert tops(conversations)["Age", "simulated"] == [("25-34", 3, 1)]
    assert len([row for row in profile_values(conversations, top=1).rows if row.attribute == "Personality"]) == 1


def test_how_many_profiles_lack_an_attribute_is_told(simulated):
    without = mapped(("Calm", "冷静"))
    del without["Personality"]
    conversations = [
        simulated(preference="a", profile_mapped=mapped(("Calm", "冷静"))),
        simulated(preference="b", profile_mapped=without),
    ]
    row = rows_of(conversations)["Personality", "simulated"]
    assert (row.profiles, row.of) == (1, 2)
    assert [value.of for value in profile_values(conversations).rows if value.attribute == "Personality"] == [1]


def test_a_person_counts_once_and_a_changed_profile_is_said(person, simulated):
    def of(**fields):
        return {"gender": "Female", "age": 20, "spending_habits": [], "complete_tid": {}, **fields}

    conversations = [
        person(user=1, profile=of(personality=["冷静", "善良"])),
        person(user=1, profile=of(personality=["随性"])),
        person(user=2, profile=of(personality=["冷静"])),
        simulated(preference="a", profile_mapped=mapped(("Calm", "冷静"))),
    ]
    table = profile_statistics(conversations)
    rows = {(row.attribute, row.side): row for row in table.rows}
    assert rows["Personality", "people"].labels_per_profile == 1.5
    assert tops(conversations)["Personality", "people"] == [("calm", 2, 1), ("善良", 1, 0.5)]
    empty = rows["Spending Habits", "people"]
    assert (empty.profiles, empty.labels_per_profile, empty.simpson, empty.shannon) == (2, 0, None, None)
    assert ("Spending Habits", "people") not in tops(conversations)
    assert "People: users whose profile changed: 1; their first one is counted." in table.notes


def test_one_label_alone_has_no_diversity_and_equal_ones_have_the_most(person):
    one = rows_of([person()])["Personality", "people"]
    assert (one.simpson, one.shannon) == (0, 0)
    even = rows_of([person(user=n, profile={"personality": [str(n)]}) for n in range(4)])["Personality", "people"]
    assert (even.simpson, even.shannon) == (0.75, pytest.approx(math.log(4)))


def test_profiles_that_are_texts_are_counted_by_the_parts_of_their_lines(simulated):
    table = profile_statistics([simulated(preference=TEXT)])
    assert [value for value, *_ in tops([simulated(preference=TEXT)])["Personality", "simulated"]] == [
        "calm",
        "curious",
        "kind",
    ]
    assert "Simulated: profiles are texts without labels: the parts of their lines are counted." in table.notes
    both = profile_statistics(
        [simulated(preference=TEXT), simulated(preference="a", profile_mapped=mapped(("A", "甲")))]
    )
    assert "Simulated: 1 profiles are texts without labels: left out." in both.notes


def test_profiles_without_any_label_are_said(person, simulated):
    for table in (profile_statistics, profile_values):
        empty = table([person(profile={}), simulated(preference="nothing")])
        assert (empty.rows, empty.notes[-1]) == ((), "No conversation has a profile with labels.")


def test_without_scipy_the_extra_is_named(person, monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.stats", None)
    with pytest.raises(MissingExtraError, match=r"duologue\[stats\]"):
        profile_statistics([person()])
