"""The pace that is learned from an endpoint's refusals, call by call."""

from typing import Any

import pytest

from duologue.nodes.calls.call_queue import QueueTurn
from duologue.nodes.calls.learned_pace import LearnedPace, RecentRate

NEVER: Any = None
"""Nobody waits for the permission of a turn here."""


def learned(refused_tokens: int) -> LearnedPace:
    """The pace after two refusals: in each second five calls of 10 tokens go through, and a sixth does not."""
    pace = LearnedPace()
    for second in range(12):
        turns = [QueueTurn(10, NEVER, sent=second + number / 10) for number in range(5)]
        if second in (5, 11):
            turns.append(QueueTurn(refused_tokens, NEVER, sent=second + 0.5))
        for turn in turns:
            pace.take(turn, turn.sent, waited=True)
        if second in (5, 11):
            pace.not_through(turns[-1])
            pace.refused(second + 0.5, None)
    pace.take(QueueTurn(1000, NEVER), 12.0, waited=True)
    return pace


def test_a_pace_is_learned_from_the_requests_and_tokens_that_went_through():
    pace = learned(10)
    assert pace.per_second == pytest.approx(5 * 0.98)
    # Tokens, which do not seem to be limited, may go a fifth faster, and those of sixteen calls at once.
    assert pace.ready(10) == pytest.approx(12 + (1000 - 15 * 10) / (50 * 0.98 * 1.2))
    assert learned(500).ready(10) == pytest.approx(pace.ready(10))


def test_a_call_that_was_never_sent_counts_as_none():
    pace = LearnedPace()
    turn = QueueTurn(10, NEVER, sent=1.0)
    pace.take(turn, 1.0, waited=False)
    pace.never_sent(turn)
    assert not pace.calls


def test_before_a_reply_no_call_has_gone_through():
    recent = RecentRate()
    assert recent.per_second(5.0) == 0.0
    recent.add(4.0, 5.0)
    assert recent.per_second(5.0) > 0.0
