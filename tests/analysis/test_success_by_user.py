"""Success by kind of user: differences from the plain user, with p adjusted for the number of users compared."""

import pytest

from duologue.analysis.behaviours.success_by_user import SuccessByUser, UserCounts
from duologue.data import Conversation

SCENARIOS = 8


def by_user(**successes: int) -> SuccessByUser:
    """In each scenario the plain user succeeds once, and each behaviour in the first `successes` scenarios."""
    counts = UserCounts()
    for number in range(SCENARIOS):
        for name, reached in {"plain": SCENARIOS, **successes}.items():
            scenario = {"goal": f"book {number}", **({} if name == "plain" else {"behaviours": [name]})}
            counts.add(Conversation(id=f"{name} {number}", scenario=scenario), number < reached, user_fault=False)
    return counts.result()


def test_p_is_adjusted_for_the_number_of_users_compared() -> None:
    plain, *others = by_user(terse=1, vague=0, wordy=8).users
    (terse, vague, wordy) = others
    assert plain.adjusted_p is None
    assert [one.user for one in others] == ["terse", "vague", "wordy"]
    p = [one.against_plain.p for one in others if one.against_plain]
    assert vague.adjusted_p == pytest.approx(3 * p[1])
    assert terse.adjusted_p == pytest.approx(2 * p[0])
    assert wordy.adjusted_p == p[2] == 1
    assert by_user(vague=0).users[1].adjusted_p == p[1]


def test_the_table_has_the_adjusted_p_and_says_for_how_many_it_is() -> None:
    result = by_user(terse=1, vague=0, wordy=8)
    table = result.table()
    assert [column.name for column in table.columns][-1] == "adjusted p"
    assert [row[-1] for row in table.rows] == [one.adjusted_p for one in result.users]
    assert any("Holm" in note for note in table.notes)
