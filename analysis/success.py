"""How often conversations reach their goal: success by scenario, pass^k, and whose fault each failure was.

`pass^k` is the chance that k conversations about one scenario all succeed ("tau-bench", Yao et al. 2024, section 3):
the mean over scenarios of C(c, k) / C(n, k) for c successes in n conversations.

The interval of the share is Wilson's score interval with an effective number of conversations, n / deff, because
conversations about one scenario are alike (Kish, "Survey Sampling", 1965; Dean and Pagano, "Evaluating Confidence
Interval Methods for Binomial Proportions in Clustered Surveys", 2015). deff = 1 + (m - 1) ICC, where m is the mean
number of conversations per scenario, weighted by that number (sum of squares / n), and ICC the intraclass correlation
by analysis of variance (Ridout, Demétrio and Firth, "Estimating Intraclass Correlation for Binary Data", 1999), cut to
0..1. ICC is 0 where nothing tells it: one scenario, one conversation each, or the same outcome everywhere.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
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
    """A share with its interval of 95 %."""

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
    unscored_because: str
    """Why the first of these has no score, in a line; empty if all have one."""
    successes: int
    success: Rate
    """The share of successes; its interval knows that conversations about one scenario are alike."""
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
    """Count the success of scored conversations, which are read once and not kept.

    DataError if none has a score named `success`.
    """
    scenarios: dict[str, _Counted] = {}
    failures: list[FailedConversation] = []
    unscored, because = 0, ""
    for conversation in conversations:
        score = score_of(conversation)
        if isinstance(score, str):
            unscored += 1
            because = because or score
            continue
        key = digest(conversation.scenario, conversation.ordinal)
        counted = scenarios.setdefault(key, _Counted(_title(conversation)))
        counted.conversations += 1
        counted.successes += score[0]
        if not score[0]:
            failures.append(_failure(conversation, score[1]))
    if not scenarios:
        raise DataError(
            f"no conversation has a score named 'success' ({because or 'there is none'}): "
            "give the cast one (closing=nodes.scoring(success=...)) that answers true or false"
        )
    rows = tuple(
        ScenarioSuccess(scenario=each.title, conversations=each.conversations, successes=each.successes)
        for each in scenarios.values()
    )
    counts = [(row.successes, row.conversations) for row in rows]
    return Successes(
        conversations=sum(row.conversations for row in rows),
        unscored=unscored,
        unscored_because=because,
        successes=sum(row.successes for row in rows),
        success=clustered(counts),
        pass_hat=pass_hat(counts),
        scenarios=rows,
        failures=tuple(sorted(failures, key=lambda failure: (failure.messages, failure.id))),
    )


@dataclass
class _Counted:
    """What is kept of the conversations about a scenario."""

    title: str
    conversations: int = 0
    successes: int = 0


def score_of(conversation: Conversation) -> tuple[bool, str] | str:
    """Whether a conversation succeeded, and the score's reason; else a line that says why it has no score."""
    scores: Any = conversation.labels.get(SCORES)
    score = scores.get(SUCCESS) if isinstance(scores, dict) else None
    if isinstance(score, dict) and isinstance(score.get("value"), bool):
        return score["value"], str(score.get("reason", ""))
    if isinstance(score, dict) and score.get("error"):
        return f"the score 'success' failed: {' '.join(str(score['error']).split())}"
    if isinstance(score, dict):
        return f"the score 'success' is {score.get('value')!r}, not true or false"
    if conversation.failure is not None:
        return f"{conversation.failure.node}: {' '.join(conversation.failure.error.split())}"
    return "no scorer gave one"


def pass_hat(counts: Iterable[tuple[int, int]]) -> dict[int, float]:
    """pass^k by k, from successes and conversations of each scenario; k up to the fewest conversations of one."""
    given = list(counts)
    most = min((total for _, total in given), default=0)
    return {
        k: sum(comb(reached, k) / comb(total, k) for reached, total in given) / len(given) for k in range(1, most + 1)
    }


def clustered(counts: Sequence[tuple[int, int]]) -> Rate:
    """The share of successes over all scenarios, from successes and conversations of each, with its interval."""
    reached, total = sum(count for count, _ in counts), sum(size for _, size in counts)
    weighted = sum(size * size for _, size in counts) / total
    return wilson(reached / total, total / (1 + (weighted - 1) * intraclass(counts)))


def intraclass(counts: Sequence[tuple[int, int]]) -> float:
    """The intraclass correlation of successes within scenarios by analysis of variance, from 0 to 1."""
    groups, total = len(counts), sum(size for _, size in counts)
    if groups < 2 or total == groups:
        return 0.0
    share = sum(reached for reached, _ in counts) / total
    between = sum(size * (reached / size - share) ** 2 for reached, size in counts) / (groups - 1)
    within = sum(reached * (size - reached) / size for reached, size in counts) / (total - groups)
    typical = (total - sum(size * size for _, size in counts) / total) / (groups - 1)
    spread = between + (typical - 1) * within
    return min(1.0, max(0.0, (between - within) / spread)) if spread > 0 else 0.0


def wilson(share: float, total: float) -> Rate:
    """A share of (effectively) `total` trials with Wilson's score interval of 95 %, which holds for few trials and
    for shares near 0 and 1."""
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
