"""Side-by-side studies: wins by majority, ties, agreement, and reasons beside their preference."""

import pytest

from duologue.analysis.labels.preference import preferences
from duologue.data.labels.side_by_side import STUDY
from duologue.data.labels.table import LabelAnswer
from duologue.errors import DataError
from tests.analysis import printed


def answer(by, conversation="1", preference="first", **aspects):
    value = {f"1 {name}": choice for name, choice in aspects.items()}
    return LabelAnswer(
        label=STUDY, conversation=conversation, by=by, value={**value, "preference": preference, "why": "so"}
    )


def by_person(*answers):
    grouped = {}
    for one in answers:
        grouped.setdefault(one.by, []).append(one)
    return grouped


def rows(result):
    return {row.aspect: row for row in printed.rows(result.by_name["wins"])}


def test_a_side_wins_where_more_than_half_of_the_labellers_say_so():
    by_aspect = rows(preferences(by_person(answer("a", correctness="first"), answer("b", correctness="first"), answer("c", correctness="both"))))  # fmt: skip
    assert (by_aspect["correctness"].n, by_aspect["correctness"].first, by_aspect["correctness"].tie) == (1, 1.0, 0.0)
    assert by_aspect["naturalness"].n == 0
    assert by_aspect["naturalness"].first is None


def test_what_nobody_has_a_majority_for_is_a_tie_and_no_win():
    by_aspect = rows(preferences(by_person(answer("a", preference="first"), answer("b", preference="second"), answer("c", preference="tie"))))  # fmt: skip
    preference = by_aspect["preference"]
    assert (preference.first, preference.second, preference.tie, preference.split) == (0, 0, 1, 1)
    assert preference.neither is None


def test_both_and_neither_are_ties_as_well_as_no_majority():
    said = {"1": ("both", "both"), "2": ("neither", "neither"), "3": ("first", "both"), "4": ("second", "second")}
    answers = [
        answer(by, number, correctness=choice)
        for number, of_one in said.items()
        for by, choice in zip("ab", of_one, strict=True)
    ]
    row = rows(preferences(by_person(*answers)))["correctness"]
    assert (row.first, row.second, row.tie) == (0, 0.25, 0.75)
    assert (row.both, row.neither, row.split) == (0.25, 0.25, 0.25)


def test_reasons_stand_beside_the_preference_as_it_was_seen_and_are_left_out_by_name():
    odd = answer("a", preference="first", correctness="second")
    odd = odd.model_copy(update={"value": {**odd.value, "switched": True, "why": "A is right."}})
    answers = by_person(odd, answer("b", preference="second", correctness="second"))
    result = preferences(answers)
    assert result.by_name["justifications"].rows == (("a:1", "B", "A is right."), ("b:1", "B", "so"))
    assert rows(result)["preference"].tie == 1
    without = rows(preferences(answers, without=["a:1"]))
    assert (without["preference"].second, without["correctness"].second) == (1, 1)
    with pytest.raises(DataError, match="'c:1' is no answer to the study: give names such as a:1, b:1"):
        preferences(answers, without=["c:1"])


def test_reasons_are_counted_for_each_side_and_change_no_win():
    answers = [
        answer("a", "1", "first", correctness="first"),
        answer("b", "1", "first", correctness="first"),
        answer("c", "1", "second", correctness="second"),
        answer("d", "2", "tie"),
    ]
    reasons = [["correct", "complete"], ["correct"], ["concise"], ["none"]]
    labelled = [one.model_copy(update={"value": {**one.value, "justification": of}}) for one, of in zip(answers, reasons, strict=True)]  # fmt: skip
    result = preferences(by_person(*labelled))
    plain = preferences(by_person(*answers))
    assert (plain.by_name["wins"], "reasons" in plain.by_name) == (result.by_name["wins"], False)
    reasons_rows = printed.rows(result.by_name["reasons"])
    assert [(row.reason, row.first, row.second, row.tie) for row in reasons_rows] == [
        ("correct", 2, 0, 0),
        ("complete", 1, 0, 0),
        ("concise", 0, 1, 0),
        ("none", 0, 0, 1),
    ]
    assert {(row.of_first, row.of_second, row.of_tie) for row in reasons_rows} == {(2, 1, 1)}
    assert [table.title for table in result.tables()] == [
        "Side by side",
        "Reasons for a preference",
        "Reasons beside their preference",
    ]
