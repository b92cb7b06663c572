"""Side-by-side studies: wins by majority, ties, agreement, and preferences against one's own answers."""

import pytest

from duologue.analysis.preference import contradiction, preferences
from duologue.data.labelling import Answer
from duologue.data.side_by_side import STUDY


def answer(by, conversation="1", preference="first", **aspects):
    value = {f"1 {name}": said for name, said in aspects.items()}
    return Answer(label=STUDY, conversation=conversation, by=by, value={**value, "preference": preference, "why": "so"})


def by_person(*answers):
    found = {}
    for each in answers:
        found.setdefault(each.by, []).append(each)
    return found


def rows(found):
    return {row.aspect: row for row in found.wins.rows}


def test_a_side_wins_where_more_than_half_of_the_labellers_say_so():
    found = rows(preferences(by_person(answer("a", correctness="first"), answer("b", correctness="first"), answer("c", correctness="both"))))  # fmt: skip
    assert (found["correctness"].n, found["correctness"].first, found["correctness"].tie) == (1, 1.0, 0.0)
    assert found["naturalness"].n == 0
    assert found["naturalness"].first is None


def test_what_nobody_has_a_majority_for_is_a_tie_and_no_win():
    found = rows(preferences(by_person(answer("a", preference="first"), answer("b", preference="second"), answer("c", preference="tie"))))  # fmt: skip
    told = found["preference"]
    assert (told.first, told.second, told.both, told.tie) == (0, 0, 0, 1)
    assert told.neither is None


def test_fleiss_kappa_is_that_of_the_table_of_votes():
    votes = ["first first", "second second", "first second", "first first"]
    told = [
        answer(by, str(number), said)
        for number, of_one in enumerate(votes)
        for by, said in zip("ab", of_one.split(), strict=True)
    ]
    # Fleiss 1971: observed (1 + 1 + 0 + 1) / 4, expected (5/8)² + (3/8)².
    expected = (5 / 8) ** 2 + (3 / 8) ** 2
    assert rows(preferences(by_person(*told)))["preference"].fleiss == pytest.approx((0.75 - expected) / (1 - expected))


def test_one_labeller_agrees_with_nobody_and_the_row_says_so():
    told = rows(preferences(by_person(answer("a"))))["preference"]
    assert (told.fleiss, told.note) == (None, "nothing was answered by two people")


def test_a_preference_for_the_side_that_one_found_worse_is_listed_and_left_out_on_request():
    odd = answer("a", preference="first", correctness="second", completeness="second", naturalness="first")
    found = preferences(by_person(odd, answer("b", preference="second", correctness="second")))
    assert [(each.by, each.first, each.second) for each in found.contradictions.rows] == [("a", 1, 2)]
    assert rows(found)["preference"].tie == 1
    without = preferences(
        by_person(odd, answer("b", preference="second", correctness="second")), without_contradictions=True
    )
    assert rows(without)["preference"].second == 1
    assert rows(without)["correctness"].n == 1
    assert len(found.tables()) == 2


@pytest.mark.parametrize("preference", ["tie", "second"])
def test_a_preference_that_fits_is_no_contradiction(preference):
    assert contradiction(answer("a", preference=preference, correctness="second")) is None


def test_reasons_are_counted_for_each_side_with_their_trust_and_change_no_win():
    told = [
        answer("a", "1", "first", correctness="first"),
        answer("b", "1", "first", correctness="first"),
        answer("c", "1", "second", correctness="second"),
        answer("d", "2", "tie"),
    ]
    reasons = [["correct", "complete"], ["correct"], ["concise"], ["none"]]
    labelled = [one.model_copy(update={"value": {**one.value, "justification": of}}) for one, of in zip(told, reasons, strict=True)]  # fmt: skip
    found = preferences(by_person(*labelled))
    assert found.wins == preferences(by_person(*told)).wins
    assert preferences(by_person(*told)).reasons.rows == ()
    assert [
        (row.reason, row.first, row.second, row.first_share, row.second_share, row.tie_share)
        for row in found.reasons.rows
    ] == [
        ("correct", 2, 0, 1.0, 0.0, 0.0),
        ("complete", 1, 0, 0.5, 0.0, 0.0),
        ("concise", 0, 1, 0.0, 1.0, 0.0),
        ("none", 0, 0, 0.0, 0.0, 1.0),
    ]
    assert {row.trust for row in found.reasons.rows} == {"not calibrated"}
    assert [table.title for table in found.tables()] == ["Side by side", "Reasons for a preference"]


def test_the_table_has_room_on_eighty_columns_and_its_notes_stand_below():
    told = preferences(by_person(answer("a", correctness="first"), answer("b", correctness="second")))
    table = told.wins.table()
    assert sum(max(map(len, column.heading.split())) + 1 for column in table.columns) + len("completeness") < 80
    assert [each for each in table.notes if each.startswith("naturalness: nothing was answered by two people")]
    assert "Labellers on average: correctness 2, preference 2." in table.notes
