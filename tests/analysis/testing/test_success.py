"""How often conversations succeed: the share, its interval, and what has no score."""

from collections.abc import Iterator
from typing import Any

import pytest

from duologue.analysis.over_users.rates import clustered, pass_hat_intervals, wilson
from duologue.analysis.over_users.student_quantile import students
from duologue.analysis.testing.failed_conversations import user_fault_lines
from duologue.analysis.testing.result_text import headline
from duologue.analysis.testing.success import successes
from duologue.data import Conversation, DataError, Message
from duologue.data.records import Failure, Role, Timing


def talk(name: str, value: Any, scenario: str = "a", **more: Any) -> Conversation:
    labels = {"scores": {"success": {"value": value, "reason": "", **more}}}
    return Conversation(id=name, scenario={"title": scenario}, stop="max_turns", labels=labels)


def width(counts: list[tuple[int, int]]) -> float:
    rate = clustered(counts)
    return rate.high - rate.low


def test_repeats_that_always_agree_add_little_to_their_scenarios() -> None:
    alike, alone = [(40, 40)] * 6 + [(0, 40)] * 6, [(1, 1)] * 6 + [(0, 1)] * 6
    assert 0.9 * width(alone) < width(alike) < width(alone)
    assert clustered(alike).value == 0.5


def test_repeats_that_do_not_agree_more_than_others_count_nearly_each() -> None:
    counts = [(20, 40), (21, 40), (19, 40), (20, 40), (18, 40), (22, 40)] * 5
    plain = wilson(0.5, 1200)
    assert plain.high - plain.low < width(counts) < 1.5 * (plain.high - plain.low)


def test_where_all_succeed_repeats_are_no_further_trials() -> None:
    low = clustered([(8, 8)] * 12).low
    # Twelve scenarios, and 96 trials.
    assert wilson(1, 11).low < low < wilson(1, 14).low < wilson(1, 96).low
    failed = clustered([(0, 8)] * 12)
    assert (failed.low, failed.high) == (0, pytest.approx(1 - low))


def test_the_interval_of_independent_trials_is_blakers() -> None:
    rate = clustered([(1, 1)] * 15 + [(0, 1)] * 5)
    # By all shares in steps of 1/4000, with the chances of counts that are no likelier.
    assert (rate.low, rate.high) == (pytest.approx(0.526, abs=3e-4), pytest.approx(0.893, abs=3e-4))
    assert clustered([(15, 20)]) == rate  # of one scenario nothing else is known
    assert clustered([(1, 1)] * 2).low == pytest.approx(0.06**0.5)
    for scenarios in range(2, 8):  # more conversations of the same end tell no less
        assert clustered([(4, 4)] * scenarios).low >= clustered([(1, 1)] * scenarios).low
        assert clustered([(0, 4)] * scenarios).high <= clustered([(0, 1)] * scenarios).high
    assert clustered([(0, 3)]).high == pytest.approx(1 - clustered([(3, 3)]).low)


def test_students_quantiles_are_right_in_six_digits() -> None:
    assert students(57) == pytest.approx(2.002465, abs=1e-6)
    assert students(3) == pytest.approx(3.182446, abs=1e-6)
    assert students(2, 1 - 0.025 / 3) == pytest.approx(7.648804, rel=1e-6)
    assert students(1) == pytest.approx(12.706205, rel=1e-6)


def test_scenarios_of_unequal_sizes_count_by_their_conversations() -> None:
    counts = [(8, 8), (1, 8), (1, 1), (0, 1)] * 4
    assert clustered(counts).value == pytest.approx(10 / 18)
    assert clustered(counts) == clustered(counts[::-1])
    assert width(counts) > width([(5, 5), (3, 5), (2, 4), (1, 4)] * 4)


def test_pass_hat_has_an_interval_below_all_repeats_of_a_scenario() -> None:
    rates = pass_hat_intervals([(4, 4)] * 9 + [(2, 5)] * 3)
    assert [*rates] == [1, 2, 3]
    assert rates[2].value == pytest.approx((9 + 3 / 10) / 12)
    assert all(rate.low < rate.value < rate.high for rate in rates.values())
    everywhere = pass_hat_intervals([(8, 8)] * 12)[4]
    assert everywhere.low < 0.8 < 1 == everywhere.high
    equal = [(4, 4)] * 9 + [(1, 4)] * 3
    once, share = pass_hat_intervals(equal)[1], clustered(equal)
    assert (once.value, once.low, once.high) == pytest.approx((share.value, share.low, share.high))
    assert pass_hat_intervals([(3, 4)]) == pass_hat_intervals([(1, 1)] * 9) == {}


@pytest.mark.parametrize(
    ("unscored", "reason"),
    [
        (talk("x", 1), "the score 'success' is 1, not true or false"),
        (talk("x", None, error="KeyError: 'seat'"), "the score 'success' failed: KeyError: 'seat'"),
        (Conversation(id="x", scenario={}, labels={"scores": {}}), "no scorer gave one"),
    ],
)
def test_what_has_no_score_is_counted_with_the_first_reason(unscored: Conversation, reason: str) -> None:
    result = successes([unscored, talk("a", True), talk("b", "yes")])
    assert (result.conversations, result.unscored, result.unscored_because) == (1, 2, reason)
    if unscored.labels["scores"].get("success", {}).get("error"):  # there is a scorer, and its error is the result
        assert successes([unscored]).unscored_because == reason
        return
    with pytest.raises(DataError) as error:
        successes([unscored])
    assert reason in str(error.value)


def test_conversations_are_read_one_at_a_time_and_not_kept() -> None:
    alive, most = set(), 0

    class Counted(Conversation):
        def __del__(self) -> None:
            alive.discard(id(self))

    def read() -> Iterator[Conversation]:
        nonlocal most
        for number in range(60):
            conversation = Counted.model_validate(talk(f"{number}", number % 2 == 0, f"{number % 7}").plain())
            alive.add(id(conversation))
            most = max(most, len(alive))
            yield conversation
            del conversation

    result = successes(read())
    assert (result.conversations, len(result.failures)) == (60, 30)
    assert most <= 2


@pytest.mark.parametrize("stop", ["budget", "cancelled"])
def test_a_run_of_which_a_bound_cut_all_short_has_no_share_and_blames_no_scorer(stop: str) -> None:
    cut = talk("a", True).model_copy(update={"stop": stop, "timing": Timing(started="2026-01-01T00:00:00")})
    result = successes([cut])
    assert (result.success, result.unscored, result.cut_short, result.not_begun) == (None, 1, 1, 0)
    assert result.faults == {"user": 0, "assistant": 0, "infrastructure": 1}
    assert result.fault_table().rows[-1] == ("  of these cut short", 1)


def test_a_world_that_cannot_be_torn_down_is_a_warning_and_no_end_by_an_error() -> None:
    line = "the world could not be torn down: OSError: locked"
    failure = Failure(node="world", error=f"WorldError: {line}", frames=("shop/worlds.py:10 in close",))
    over = [talk(name, True, name).model_copy(update={"failure": failure}) for name in "ab"]
    result = successes(over)
    assert (result.scored, result.answered, result.ended_by_error, result.errors) == (2, 2, 0, ())
    assert result.warnings == (f"in 2 conversations {line} (shop/worlds.py:10 in close)",)
    assert result.warnings[0] in headline(result)
    before = over[0].model_copy(update={"labels": {}, "stop": "model_failed"})
    result = successes([before])
    assert (result.answered, result.ended_by_error, result.warnings) == (0, 1, ())
    assert result.errors[0].error == f"world: WorldError: {line}"


def test_a_fault_of_the_user_is_set_apart_with_its_message_and_reason() -> None:
    scenario = {"goal": "move my flight", "facts": "The booking code is QX4821."}
    texts = (
        "Move my flight.",
        "What is your booking code?",
        "It's QX4812.",
        "There is no such booking.",
        "Then goodbye.",
    )
    roles: tuple[Role, ...] = ("user", "assistant")
    messages = tuple(Message(role=roles[number % 2], text=text) for number, text in enumerate(texts))
    failed = talk("a", False).model_copy(update={"scenario": scenario, "messages": messages, "stop": "user_ended"})
    result = successes([failed, talk("b", True)])
    (fault,) = result.user_faults
    assert (fault.rule, fault.message, fault.success) == ("user-invents", 2, False)
    assert (result.faults["user"], result.faults["assistant"]) == (1, 0)
    assert (result.all.conversations, result.without_user_faults.conversations) == (2, 1)
    assert "QX4812" in fault.reason
    (failure,) = result.failures
    assert failure.reason == f"the user simulator is at fault (user-invents, message 2): {fault.reason}"
    assert failure.cause is not None
    assert (failure.cause.message, failure.cause.site) == (2, "message")
    (line,) = user_fault_lines(result.user_faults)
    assert line.endswith(f": 1, first in a, message 2: {fault.reason}")
