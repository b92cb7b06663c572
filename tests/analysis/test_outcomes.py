"""The outcome of one conversation by its record alone."""

import pytest

from duologue import graphs
from duologue.analysis.outcomes import answered, outcome
from duologue.analysis.testing.result_text import resuming
from duologue.analysis.testing.success import successes
from duologue.analysis.testing.verdict import with_verdict
from duologue.data import Conversation, Message
from duologue.data.records import Failure
from duologue.studies.testing.advice import advice_on

LABELS = {"scores": {"success": {"value": True, "reason": "as expected"}}}


@pytest.mark.parametrize("stop", ["budget", "cancelled"])
def test_what_a_bound_of_the_run_cut_short_has_no_score(stop):
    result = outcome(Conversation(id="x", scenario={}, stop=stop, labels=LABELS))
    assert (result.success, result.fault) == (None, "infrastructure")
    assert result.reason.startswith("it was cut short: ")


def test_a_conversation_that_reached_its_own_limit_of_tokens_was_cut_short():
    ended = Conversation.model_validate({
        "id": "x", "scenario": {}, "stop": "budget", "labels": LABELS,
        "provenance": {"cast": "c", "limits": {"max_tokens": 0}},
    })  # fmt: skip
    result = outcome(ended)
    assert (result.success, result.fault, answered(ended), ended.cut_by_run) == (None, "infrastructure", None, False)
    assert result.reason == "it was cut short: a bound of tokens, cost or time was reached (its own: --max-tokens)"
    counts = with_verdict(successes([ended]))
    assert (counts.cut_short, counts.at_own_limit, counts.passed) == (1, 1, False)
    assert counts.not_passed_because[0] == "1 conversation was cut short"
    assert resuming(counts, "again").startswith("1 cut short; continue: again and a higher --max-tokens")
    assert any("a higher --max-tokens" in line for line in advice_on(counts, graphs.agent_test.cast(), ()))


def test_what_only_a_scorer_failed_at_did_not_end_by_an_error():
    labels = {"scores": {"success": {"value": None, "error": "KeyError: 'seat'"}}}
    ended = Conversation(id="x", scenario={}, stop="max_turns", labels=labels)
    failed = ended.model_copy(
        update={"id": "y", "failure": Failure(node="assistant", error="E"), "stop": "model_failed"}
    )
    result = successes([ended, failed])
    assert (result.ended_by_error, result.not_scorable) == (2, 1)
    assert resuming(result, "again") == "1 ended by an error, 1 could not be scored; continue: again"


CODE, WISH = "My booking code is QX4821.", "I want to move my flight QX4821 to 2026-05-03."
AGAIN = "Which booking is it?"
AGENT_FIRST = (WISH, AGAIN, CODE, AGAIN, CODE, "For how many people?", CODE)
USER_FIRST = (WISH, AGAIN, CODE, "For how many people?", CODE, "For how many people?")
"""The agent repeats its message, and the user sends one again, in two orders."""


@pytest.mark.parametrize("success", [True, False])
@pytest.mark.parametrize(
    ("texts", "fault", "rule"), [(AGENT_FIRST, "assistant", None), (USER_FIRST, "user", "user-repeats-itself")]
)
def test_who_errs_in_the_earlier_message_is_at_fault(success, texts, fault, rule):
    messages = tuple(Message(role="assistant" if n % 2 else "user", text=text) for n, text in enumerate(texts))
    labels = {"scores": {"success": {"value": success, "reason": ""}}}
    talk = Conversation(id="x", scenario={"goal": "move it"}, stop="user_ended", labels=labels, messages=messages)
    result = outcome(talk)
    assert (result.fault, result.user_fault) == ("none" if success else fault, rule)
    counts = successes([talk], exclude_user_faults=True)
    assert counts.all.conversations - counts.without_user_faults.conversations == (rule is not None)
    for failure in successes([talk]).failures:
        assert failure.cause.expectation == ("user" if rule else "rule")
