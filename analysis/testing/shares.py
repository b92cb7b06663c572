"""Shares of conversations that reached their goal: of all of them, and by scenario."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from ...data.records import Record
from ..over_users.rates import Rate, clustered, pass_hat, pass_hat_intervals


class ScenarioSuccess(Record):
    """What became of the conversations about one scenario."""

    scenario: str
    """What it is about, in a few words."""
    first: str = ""
    """Id of its first conversation: two scenarios may have one title."""
    conversations: int
    successes: int
    unscored: int
    """Conversations that began and have no score; they are not among `conversations`."""
    cut_short: int = 0
    """Those of them that a limit of the run, their own limit of tokens or a cancellation ended."""
    not_begun: int = 0
    """Planned conversations that were not begun."""
    success: Rate | None
    """The share of successes, with Blaker's interval for these conversations. None if no conversation counts."""
    rejected_drafts: int
    """Drafts of the assistant that its validator rejected, in all conversations, those without a score too."""
    first_draft: Rate | None
    """The share of successes without such a draft, with an interval as above."""
    pass_hat: float | None
    """pass^k with the greatest k that each scenario of the run has conversations for; None as above."""

    def pass_hat_of(self, k: int) -> float | None:
        """pass^k of only this scenario; None with fewer than k conversations."""
        return pass_hat([(self.successes, self.conversations)]).get(k)


class Share(Record):
    """How many of these conversations reached their goal."""

    conversations: int
    successes: int
    success: Rate | None
    """None if there is no conversation."""
    first_draft: Rate | None
    """The share of successes in which no draft of the assistant was rejected: the agent's own, without its
    validator."""
    pass_hat: dict[int, float]
    pass_hat_intervals: dict[int, Rate]
    """pass^k with its interval over scenarios, by each k below the fewest conversations of a scenario."""


@dataclass
class ScenarioCounts:
    """The counts of the conversations about a scenario."""

    title: str
    row: int
    """Its place among the scenarios, from 0."""
    first: str
    """Id of its first conversation."""
    content: str = ""
    """Equal for scenarios that differ only in their kind of user."""
    scored: list[tuple[bool, int, bool]] = field(default_factory=list)
    """Of each conversation with a score: success, rejected drafts of the assistant, a fault of the user simulator."""
    unscored: int = 0
    cut_short: int = 0
    not_begun: int = 0
    rejected_drafts: int = 0

    def pair(self, *, fault: bool, rejected: bool = True) -> tuple[int, int]:
        """Successes and conversations; `fault`: those with a fault of the user simulator count too.

        Without `rejected` only successes without a rejected draft of the assistant count.
        """
        counted = [(success, drafts) for success, drafts, at_fault in self.scored if fault or not at_fault]
        return sum(success and (rejected or not drafts) for success, drafts in counted), len(counted)


def share_of(scenarios: Collection[ScenarioCounts], *, fault: bool) -> Share:
    """The share over these scenarios; `fault`: conversations with a fault of the user simulator count too."""
    pairs = [pair for scenario in scenarios if (pair := scenario.pair(fault=fault))[1]]
    return Share(
        conversations=sum(total for _, total in pairs),
        successes=sum(reached for reached, _ in pairs),
        success=clustered(_by_content(scenarios, fault=fault)) if pairs else None,
        first_draft=clustered(_by_content(scenarios, fault=fault, rejected=False)) if pairs else None,
        pass_hat=pass_hat(pairs),
        pass_hat_intervals=pass_hat_intervals(pairs),
    )


def _by_content(scenarios: Collection[ScenarioCounts], *, fault: bool, rejected: bool = True) -> list[tuple[int, int]]:
    """Successes and conversations by scenario, of all kinds of users together, since they are alike."""
    sums: dict[str, tuple[int, int]] = {}
    for scenario in scenarios:
        reached, total = scenario.pair(fault=fault, rejected=rejected)
        if total:
            key = scenario.content or scenario.first
            before = sums.get(key, (0, 0))
            sums[key] = before[0] + reached, before[1] + total
    return list(sums.values())


def few(numbers: Iterable[int]) -> list[int]:
    """The powers of two among the numbers, and the greatest: 1, 2, 4, 8 and 15 of 1 to 15."""
    ordered = sorted(numbers)
    return [number for number in ordered if number & (number - 1) == 0 or number == ordered[-1]]
