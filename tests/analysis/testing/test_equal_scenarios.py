"""Equal scenarios that are given twice are repeats of one, in every figure; their ids and seeds stay as they were."""

import pytest

from duologue import graphs, runs, simulate
from duologue.analysis.outcomes import scenario_key
from duologue.analysis.testing.success import success_over_scenarios, successes
from duologue.data import Conversation
from duologue.errors import SettingError

GOAL = {"goal": "book a table", "success": {"text_contains": "booked"}}


def talk(name: str, value: bool, ordinal: int = 0, repeat: int = 0, title: str = "a") -> Conversation:
    labels = {"scores": {"success": {"value": value, "reason": ""}}}
    return Conversation(id=name, scenario={"title": title}, ordinal=ordinal, repeat=repeat, labels=labels)


def test_an_equal_scenario_is_no_further_scenario() -> None:
    twice = [talk(f"{n}", n > 2, ordinal=n) for n in range(8)] + [talk(f"b{n}", True, n, title="b") for n in range(8)]
    repeats = [talk(f"{n}", n > 2, repeat=n) for n in range(8)] + [
        talk(f"b{n}", True, repeat=n, title="b") for n in range(8)
    ]
    one, other = successes(twice), successes(repeats)
    assert (one.success, one.pass_hat_intervals) == (other.success, other.pass_hat_intervals)
    assert [row.conversations for row in one.scenarios] == [8, 8]
    outcomes = [(conversation, bool(number % 2)) for number, conversation in enumerate(twice)]
    assert success_over_scenarios(outcomes) == success_over_scenarios(
        [(conversation, success) for conversation, (_, success) in zip(repeats, outcomes, strict=True)]
    )


def test_kinds_of_users_have_rows_of_their_own_and_are_alike_in_the_interval() -> None:
    """Four scenarios, each with two kinds of users that fare alike, say no more than four."""

    def with_user(name: str, scenario: int, success: bool, behaviours: list[str]) -> Conversation:
        one = talk(name, success, title=f"s{scenario}")
        return one.model_copy(update={"extra": {"behaviours": behaviours} if behaviours else {}})

    plain = [with_user(f"p{n}", n, n % 2 == 0, []) for n in range(4)]
    terse = [with_user(f"t{n}", n, n % 2 == 0, ["terse"]) for n in range(4)]
    one, both = successes(plain), successes(plain + terse)
    assert [row.conversations for row in both.scenarios] == [1] * 8
    assert one.success is not None
    assert both.success is not None
    assert (both.success.low, both.success.high) == pytest.approx((one.success.low, one.success.high), abs=0.08)
    twice = successes([*plain, *(with_user(f"q{n}", n, n % 2 == 0, []) for n in range(4))])
    assert both.success == twice.success


def test_other_first_messages_are_another_scenario() -> None:
    states = [{"scenario": {"kind": "x"}, "messages": [{"role": "user", "text": text}]} for text in "abb"]
    many = simulate(graphs.agent_test.cast(), states)
    assert [conversation.ordinal for conversation in many] == [0, 0, 1]
    assert len({scenario_key(conversation) for conversation in many}) == 2


@pytest.mark.heavy
def test_repeats_are_asked_for_where_scenarios_are_made_or_simulated() -> None:
    cast, made = graphs.agent_test.cast(), graphs.agent_test.scenarios([GOAL], repeats=3)
    assert [state["repeat"] for state in made] == [0, 1, 2]
    first = simulate(cast, made)
    second = simulate(cast, graphs.agent_test.scenarios([GOAL]), repeats=3)
    third = simulate(cast, runs.repeated(graphs.agent_test.scenarios([GOAL]), 3))
    ids = [[conversation.id for conversation in many] for many in (first, second, third)]
    assert ids[0] == ids[1] == ids[2]
    assert len(set(ids[0])) == 3
    assert len(successes(simulate(cast, made, repeats=2)).scenarios) == 1


@pytest.mark.parametrize("repeats", [0, -1, True, "2"])
def test_a_number_of_repeats_that_is_none_is_refused(repeats: object) -> None:
    with pytest.raises(SettingError, match="repeats: expected a number of at least 1"):
        graphs.agent_test.scenarios([GOAL], repeats=repeats)


def test_ids_of_equal_scenarios_are_those_of_stored_runs() -> None:
    planned = runs.planned(graphs.agent_test.cast(), graphs.agent_test.scenarios([GOAL, GOAL]))
    assert [state["id"] for state in planned] == IDS


IDS = ["21adbfdfe44db012", "c96964cc219824bc"]
