"""How often conversations reach their goal: success by scenario, pass^k, and whose fault each failure was.

`pass^k` is the chance that k conversations about one scenario all succeed ("tau-bench", Yao et al. 2024, section 3):
the mean over scenarios of C(c, k) / C(n, k) for c successes in n conversations.
"""

from collections.abc import Iterable
from math import comb, sqrt
from typing import Any

from ..data import domains
from ..data.identity import digest
from ..data.records import Conversation, Fault, Record
from ..errors import DataError
from .tables import Column, Table

SCORES = "scores"
"""The conversation's label in which scores are."""
SUCCESS = "success"
Z = 1.959963984540054
"""Quantile of the normal distribution for intervals of 95 %."""


class Rate(Record):
    """A share with its interval of 95 % (Wilson's score interval)."""

    value: float
    low: float
    high: float


class ScenarioSuccess(Record):
    """What became of the conversations about one scenario."""

    scenario: str
    """What it is about, in a few words."""
    conversations: int
    successes: int


class FailedConversation(Record):
    """A conversation that did not reach its goal."""

    id: str
    scenario: str
    messages: int
    stop: str
    fault: Fault
    """Of the user simulator, of the assistant, or of the infrastructure, as the record tells."""
    reason: str
    """What the score says of it."""


class Successes(Record):
    """How often conversations reached their goal."""

    conversations: int
    """Those that are over and scored."""
    unscored: int
    """Those without a score, such as those that a failing endpoint cut short: they count nowhere else."""
    successes: int
    success: Rate
    pass_hat: dict[int, float]
    """pass^k by k, as far as each scenario has k conversations."""
    scenarios: tuple[ScenarioSuccess, ...]
    failures: tuple[FailedConversation, ...]
    """The shortest first."""

    def table(self) -> Table:
        """A row for each scenario."""
        return Table(
            title="Success by scenario",
            columns=(
                Column(name="scenario"),
                Column(name="conversations", kind="count"),
                Column(name="successes", kind="count"),
            ),
            rows=tuple((row.scenario, row.conversations, row.successes) for row in self.scenarios),
        )


def successes(conversations: Iterable[Conversation]) -> Successes:
    """Count the success of scored conversations; DataError if none has a score named `success`."""
    groups: dict[str, list[tuple[Conversation, bool, str]]] = {}
    unscored = 0
    for conversation in conversations:
        score = score_of(conversation)
        if score is None:
            unscored += 1
            continue
        key = digest(conversation.scenario, conversation.ordinal)
        groups.setdefault(key, []).append((conversation, *score))
    if not groups:
        raise DataError(
            "no conversation has a score named 'success': give the cast one (closing=nodes.scoring(success=...))"
        )
    rows = tuple(
        ScenarioSuccess(
            scenario=_title(group[0][0]),
            conversations=len(group),
            successes=sum(success for _, success, _ in group),
        )
        for group in groups.values()
    )
    failures = [
        _failure(conversation, reason)
        for group in groups.values()
        for conversation, success, reason in group
        if not success
    ]
    total, reached = sum(row.conversations for row in rows), sum(row.successes for row in rows)
    return Successes(
        conversations=total,
        unscored=unscored,
        successes=reached,
        success=wilson(reached, total),
        pass_hat=pass_hat([(row.successes, row.conversations) for row in rows]),
        scenarios=rows,
        failures=tuple(sorted(failures, key=lambda failure: (failure.messages, failure.id))),
    )


def score_of(conversation: Conversation) -> tuple[bool, str] | None:
    """Whether a conversation succeeded, and why; None without a score."""
    scores: Any = conversation.labels.get(SCORES)
    score = scores.get(SUCCESS) if isinstance(scores, dict) else None
    if not isinstance(score, dict) or not isinstance(score.get("value"), bool):
        return None
    return score["value"], str(score.get("reason", ""))


def pass_hat(counts: Iterable[tuple[int, int]]) -> dict[int, float]:
    """pass^k by k, from successes and conversations of each scenario; k up to the fewest conversations of one."""
    given = list(counts)
    most = min((total for _, total in given), default=0)
    return {
        k: sum(comb(reached, k) / comb(total, k) for reached, total in given) / len(given) for k in range(1, most + 1)
    }


def wilson(reached: int, total: int) -> Rate:
    """A share with Wilson's score interval of 95 %, which holds for few conversations and for shares near 0 and 1."""
    share = reached / total
    centre = (share + Z * Z / (2 * total)) / (1 + Z * Z / total)
    half = Z * sqrt(share * (1 - share) / total + Z * Z / (4 * total * total)) / (1 + Z * Z / total)
    return Rate(value=share, low=max(0.0, centre - half), high=min(1.0, centre + half))


def _title(conversation: Conversation) -> str:
    return domains.of(conversation).title(conversation.scenario) or conversation.id


def _failure(conversation: Conversation, reason: str) -> FailedConversation:
    # A user that gives up, or goes without what it came for, leaves with what the assistant made of the talk.
    fault = conversation.fault if conversation.fault not in (None, "none") else "assistant"
    return FailedConversation(
        id=conversation.id,
        scenario=_title(conversation),
        messages=len(conversation.messages),
        stop=conversation.stop or "not told",
        fault=fault,
        reason=reason,
    )
