"""How often conversations succeed: counts, shares, the verdict, whose fault, and what may be wrong."""

from collections.abc import Iterator
from typing import Any

import pytest

import duologue
from duologue import graphs, runs
from duologue.analysis.estimates import share
from duologue.analysis.outcomes import ending_of, outcome, scenario_key
from duologue.analysis.testing.pairs import compare_pairs
from duologue.analysis.testing.report import few, headline, resuming
from duologue.analysis.testing.success import (
    PlannedConversation,
    Successes,
    share_over_scenarios,
    successes,
    with_verdict,
)
from duologue.data import Conversation, DataError, Message
from duologue.data.formats.messages import NO_RESULT
from duologue.data.records import WAITING, Attempt, Failure, Timing, ToolCall, labels_from
from tests.analysis.testing.talks import talk

BEGUN = Timing(started="2026-01-01T00:00:00")
AWAY = Failure(node="user_simulator", error="ConnectionError: away")
CRASH = Failure(node="assistant", error="KeyError: 'date'", fault="assistant", frames=("shop/tools.py:12 in book",))


def many(*marks: str) -> list[Conversation]:
    """A scenario for each text of 1 and 0, a conversation for each of these."""
    return [
        talk(f"{n}-{k}", mark == "1", "Hello.", scenario=f"s{n}", repeat=k)
        for n, text in enumerate(marks)
        for k, mark in enumerate(text)
    ]


def test_the_share_is_over_scenarios_and_has_no_interval_below_six() -> None:
    result = successes(many("1111", "1100", "1111", "0000", "1111", "1111"))
    assert (result.planned, result.scored, result.successes, result.success.n) == (24, 24, 18, 24)
    assert result.success == share([(4, 4), (2, 4), (4, 4), (0, 4), (4, 4), (4, 4)])
    assert result.success.low is not None
    assert [row.share for row in result.scenarios] == [1, 0.5, 1, 0, 1, 1]
    assert result.pass_hat[2].value == pytest.approx((4 + 1 / 6) / 6)
    assert [*result.pass_hat] == [1, 2, 3, 4]
    small = successes(many("11", "10"))
    assert (small.success.low, small.success.reason) == (None, "no interval: 2 scenarios, 6 are needed")
    assert any(small.success.reason in line for line in headline(small))


def test_of_many_repeats_few_k_are_printed() -> None:
    assert few(dict.fromkeys(range(1, 16))) == [1, 2, 4, 8, 15]


def test_equal_scenarios_are_repeats_of_one_and_kinds_of_users_are_alike_in_the_interval() -> None:
    twice = [one.model_copy(update={"repeat": 0, "ordinal": one.repeat}) for one in many("1100", "1111")]
    assert successes(twice).success == successes(many("1100", "1111")).success
    assert scenario_key(twice[0]) == scenario_key(twice[1])
    terse = [one.model_copy(update={"id": f"t{one.id}", "extra": {"behaviours": ["terse"]}}) for one in many("1", "0")]
    both = successes([*many("1", "0"), *terse])
    assert (len(both.scenarios), both.success.groups) == (4, 2)
    outcomes = [(one, bool(number % 2)) for number, one in enumerate(twice)]
    assert share_over_scenarios(outcomes).groups == 2


def test_other_first_messages_are_another_scenario() -> None:
    states = [{"scenario": {"kind": "x"}, "messages": [{"role": "user", "text": text}]} for text in "abb"]
    held = duologue.simulate(graphs.agent_test.cast(), states)
    assert len({scenario_key(conversation) for conversation in held}) == 2


def test_ids_of_equal_scenarios_are_the_same_in_every_run() -> None:
    goal = {"goal": "book a table", "success": {"text_contains": "booked"}}
    planned = runs.planned(graphs.agent_test.cast(), graphs.agent_test.scenarios([goal, goal]))
    assert [state["id"] for state in planned] == ["21adbfdfe44db012", "c96964cc219824bc"]


def test_what_is_planned_is_scored_unscored_cut_short_or_not_begun() -> None:
    held = [
        talk("a", True),
        talk("b", None, stop="model_failed", failure=AWAY),
        talk("c", True, stop="budget", timing=BEGUN),
    ]
    plan = [PlannedConversation.of(one) for one in (*held, talk("d", None))]
    result = with_verdict(successes(held, plan=plan))
    assert (result.planned, result.scored, result.unscored, result.cut_short, result.not_begun) == (4, 1, 1, 1, 1)
    assert result.faults == {"user": 0, "assistant": 0, "infrastructure": 3, "undecided": 0}
    assert result.bounds == (0.25, 1)
    assert not result.passed
    assert resuming(result, "again").startswith("1 not begun, 1 cut short, 1 ended by an error")


@pytest.mark.parametrize(
    ("unscored", "reason"),
    [
        (talk("x", 1), "the score 'success' is 1, not true or false"),
        (talk("x", False).model_copy(update={"labels": labels_from({"scores": {}})}), "no scorer gave one"),
    ],
)
def test_conversations_that_nothing_scores_are_an_error_with_the_reason(unscored: Conversation, reason: str) -> None:
    assert successes([unscored, talk("a", True)]).failures[0].reason.startswith(reason)
    with pytest.raises(DataError, match=reason):
        successes([unscored])


def test_a_scorer_that_failed_took_the_score_and_is_run_again() -> None:
    result = successes([talk("x", None, error="KeyError: 'seat'", frames=["shop/scorers.py:3 in seats"])])
    assert (result.unscored, result.counts["error"], result.groups[0].name) == (
        1,
        1,
        "the scorer raised KeyError in `seats`",
    )
    assert result.groups[0].first.details == ("at shop/scorers.py:3 in seats",)


@pytest.mark.parametrize(
    ("marks", "bounds", "passes"),
    [
        (["1"] * 6, {}, True),
        (["1"] * 5 + ["0"], {}, False),
        (["0"] * 6, {}, False),
        (["1"] * 5 + ["0"], {"threshold": 0.8}, True),
        (["1"] * 5 + ["0"], {"threshold": 0.9}, False),
        (["0"] * 6, {"threshold": 0}, False),
        (["1"] * 40, {"at_least": 0.8}, True),
        (["1"] * 6, {"at_least": 0.8}, False),
        (["1"] * 5, {"at_least": 0.1}, False),  # no interval
    ],
)
def test_a_test_passes_if_every_scored_conversation_succeeds_or_by_its_bounds(
    marks: list[str], bounds: dict[str, float], passes: bool
) -> None:
    result = with_verdict(successes(many(*marks)), **bounds)
    assert (result.passed, not result.not_passed_because) == (passes, passes)
    assert headline(result)[0].startswith("passed" if passes else "not passed (")


def test_a_margin_decides_alone_but_not_for_an_agent_that_never_succeeds() -> None:
    def verdict(old: list[str], new: list[str], margin: Any) -> bool | None:
        paired = compare_pairs(many(*old), many(*new), margin=margin)
        return with_verdict(successes(many(*new)), against=paired).passed

    assert verdict(["0"] * 8, ["1"] * 4 + ["0"] * 4, "shown")
    assert not verdict(["0"] * 8, ["1"] * 4 + ["0"] * 4, None)
    assert not verdict(["0"] * 8, ["0"] * 8, "shown")


@pytest.mark.parametrize(
    ("conversation", "ending", "fault"),
    [
        (talk("x", True), "answered", "none"),
        (talk("x", None, stop="model_failed", failure=CRASH), "crashed", "assistant"),
        (
            talk("x", None, stop="model_failed", failure=CRASH.model_copy(update={"silent": True})),
            "silent",
            "assistant",
        ),
        (talk("x", False, stop="agent_timeout"), "timed out", "assistant"),
        (talk("x", False, stop="agent_interrupted"), "interrupted", "assistant"),
        (talk("x", None, stop="model_failed", failure=AWAY), None, "infrastructure"),
        (talk("x", True, stop="budget"), None, "infrastructure"),
        (talk("x", False, stop="user_rejected"), "answered", "user"),
        (talk("x", False, stop="user_gave_up"), "answered", "undecided"),
    ],
)
def test_how_the_agent_ended_and_whose_fault_it_is(conversation: Conversation, ending: str, fault: str) -> None:
    assert (ending_of(conversation), outcome(conversation).fault) == (ending, fault)


def test_conversations_are_read_one_at_a_time_and_not_kept() -> None:
    alive, most = set(), 0

    class Counted(Conversation):
        def __del__(self) -> None:
            alive.discard(id(self))

    def read() -> Iterator[Conversation]:
        nonlocal most
        for number in range(60):
            conversation = Counted.model_validate(talk(f"{number}", number % 2 == 0, scenario=f"{number % 7}").plain())
            alive.add(id(conversation))
            most = max(most, len(alive))
            yield conversation
            del conversation

    assert len(successes(read()).failures) == 30
    assert most <= 2


def test_a_fault_of_the_user_is_set_apart_with_its_message_and_reason() -> None:
    scenario = {"goal": "move my flight", "facts": "The booking code is QX4821."}
    said = ("Move my flight.", "What is your booking code?", "It's QX4812.", "There is no such booking.", "Bye then.")
    talks = [talk("a", False, *said, scenario=scenario), talk("b", True)]
    result = successes(talks)
    (failure,) = result.failures
    by_repairs = successes(talks, named={"a": ("assistant", "its question fits no fact")})
    assert [group.name for group in by_repairs.groups] == [group.name for group in result.groups]
    assert by_repairs.failures[0].cause.whose == "fault: assistant (its question fits no fact)"
    assert (failure.fault, failure.cause.message, failure.cause.site) == ("user", 2, "message")
    assert "gives 'QX4812'" in failure.cause.because
    assert (result.success.n, result.success.value, result.left_out) == (1, 1, ("a",))
    assert any(line.endswith("at fault: a") for line in headline(result))


@pytest.mark.parametrize(("others", "passes"), [(10, True), (9, True), (8, False)])
def test_more_than_one_in_ten_left_out_is_not_passed(others: int, passes: bool) -> None:
    broken = talk("user", False, "Hello.", stop="user_rejected")
    held = [*many(*["1"] * others), broken]
    result = with_verdict(successes(held))
    assert (result.passed, result.success.value) == (passes, 1)
    if not passes:
        assert result.not_passed_because == ("1 failed by another fault than the agent's: more than one in ten of 9",)


def test_an_undecided_failure_counts_as_one() -> None:
    result = with_verdict(successes(many("1", "0")))
    assert (result.faults["undecided"], result.success.value, result.not_passed_because) == (1, 0.5, ("1 of 2 failed",))


def test_kinds_of_users_stand_beside_the_plain_one_with_p_for_their_number() -> None:
    reached = {"plain": 8, "terse": 1, "vague": 0, "wordy": 8}
    held = [
        talk(
            f"{name} {n}",
            n < most,
            scenario={"goal": f"book {n}"} | ({} if name == "plain" else {"behaviours": [name]}),
        )
        for name, most in reached.items()
        for n in range(8)
    ]
    plain, terse, vague, wordy = successes(held).users
    assert plain.against_plain is None
    assert vague.against_plain is not None
    assert terse.against_plain is not None
    assert vague.adjusted_p == pytest.approx(3 * vague.against_plain.p)
    assert terse.adjusted_p == pytest.approx(2 * terse.against_plain.p)
    assert wordy.adjusted_p == 1
    assert successes(held[:8]).users == ()


def noted(**about: Any) -> str:
    """The notes on a result of one conversation."""
    return " | ".join(successes([talk("a", True, **about)]).notes)


CALLS = (ToolCall(name="change"), ToolCall(name="look_up"))


def called(*calls: ToolCall) -> Message:
    draft = Attempt(number=1, text="x", verdict="accepted", tool_calls=calls)
    return Message(role="assistant", text="x", attempts=(draft,))


@pytest.mark.parametrize(
    ("success", "named"),
    [
        ({"tool_called": "chnage"}, "chnage"),
        ({"tool_called": [{"name": "refund"}, "change"]}, "refund"),
        ({"any_of": [{"tool_not_called": "chang"}, {"refused": True}]}, "chang"),
        ({"tool_called": "change", "tool_not_called": "refund"}, ""),
        ({"not": {"tool_called": "refund"}}, ""),
    ],
)
def test_a_tool_of_success_that_no_conversation_called_is_named(success: dict[str, Any], named: str) -> None:
    (conversation,) = [talk("a", True, "Hi.", called(*CALLS), scenario={"success": success})]
    line = f"`success` names the tool {named}, which no conversation called; tools called: change, look_up"
    assert successes([conversation]).notes == ((line,) if named else ())


def test_calls_that_ended_in_an_error_are_a_note_but_not_those_that_wait() -> None:
    failed = ToolCall(name="change", error="no seat\nmore")
    others = (ToolCall(name="pay", error=WAITING), ToolCall(name="look_up", error=NO_RESULT))
    result = successes([talk("a", False, "Hi.", called(failed, *others))])
    assert result.notes == (
        "calls of change ended in an error in 1 of 1 conversation that called it, first in a: no seat",
    )
    assert result.failures[0].details == ("a call of change ended in an error: no seat",)


def test_what_may_be_wrong_with_a_success_is_a_note() -> None:
    torn = Failure(node="world", error="WorldError: the world could not be torn down: OSError: locked")
    assert "the user gave up: read one" in noted(stop="user_gave_up")
    assert "gave up" not in noted(stop="user_gave_up", scenario={"success": {"refused": True}})
    assert "did not answer to the end" in noted(stop="agent_timeout")
    assert "in 1 conversation the world could not be torn down: OSError: locked" in noted(failure=torn)
    by_goodbye: Successes = duologue.test(lambda messages: "It is booked.", [{"goal": "book a table"}])
    assert any("the user's goodbye counts as success" in line for line in by_goodbye.notes)
