"""The outcome of one conversation by its record alone."""

import pytest

from duologue.analysis.outcomes import outcome
from duologue.data import Conversation

LABELS = {"scores": {"success": {"value": True, "reason": "as expected"}}}


@pytest.mark.parametrize("stop", ["budget", "cancelled"])
def test_what_a_bound_of_the_run_cut_short_has_no_score(stop):
    result = outcome(Conversation(id="x", scenario={}, stop=stop, labels=LABELS))
    assert (result.success, result.fault) == (None, "none")
    assert result.reason.startswith("it was cut short: ")


def test_a_conversation_that_reached_its_own_limit_of_tokens_is_judged():
    ended = Conversation.model_validate({
        "id": "x", "scenario": {}, "stop": "budget", "labels": LABELS,
        "provenance": {"cast": "c", "limits": {"max_tokens": 0}},
    })  # fmt: skip
    assert outcome(ended).success is True
