"""Shares of conversations that reached their goal: of all of them, and by scenario."""

from collections.abc import Collection
from dataclasses import dataclass, field

from ...data.records import Record
from ..over_users.rates import Rate, clustered, pass_hat, pass_hat_intervals


class ScenarioSuccess(Record):
    """What became of the conversations about one scenario."""

    scenario: str
    """What it is about, in a few words."""
    conversations: int
    successes: int
    unscored: int
    """Conversations without a score; they are not among `conversations`."""
    success: Rate | None
    """The share of successes; Wilson's interval for these conversations alone. None if no conversation counts."""
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
    """The share of successes in which no draft of the assistant was rejected: the agent's own, without its validator."""
    pass_hat: dict[int, float]
    pass_hat_intervals: dict[int, Rate]
    """pass^k with its interval over scenarios, by each k below the fewest conversations of a scenario."""


@dataclass
class ScenarioCounts:
    """The counts of the conversations about a scenario."""

    title: str
    row: int
    """Its place among the scenarios, from 0."""
    reached: list[bool] = field(default_factory=list)
    """Of the conversations in which the user simulator is not at fault."""
    with_fault: list[bool] = field(default_factory=list)
    """Of the others."""
    unscored: int = 0
    rejected_drafts: int = 0
    at_first_draft: int = 0
    """Successes without a rejected draft of the assistant, in which the user simulator is not at fault."""
    at_first_draft_with_fault: int = 0

    def add(self, success: bool, *, rejected: int, fault: bool) -> None:
        """Count a conversation with a score, so many drafts of whose assistant were rejected."""
        (self.with_fault if fault else self.reached).append(success)
        if success and not rejected:
            self.at_first_draft += not fault
            self.at_first_draft_with_fault += fault

    def first_drafts(self, *, fault: bool) -> tuple[int, int]:
        """Successes at first draft, and conversations; `fault` as for `pair`."""
        return self.at_first_draft + fault * self.at_first_draft_with_fault, self.pair(fault=fault)[1]

    def pair(self, *, fault: bool) -> tuple[int, int]:
        """Successes and conversations; `fault`: those with a fault of the user simulator count too."""
        counted = self.reached + (self.with_fault if fault else [])
        return sum(counted), len(counted)


def share_of(scenarios: Collection[ScenarioCounts], *, fault: bool) -> Share:
    """The share over these scenarios; `fault`: conversations with a fault of the user simulator count too."""
    pairs = [pair for scenario in scenarios if (pair := scenario.pair(fault=fault))[1]]
    return Share(
        conversations=sum(total for _, total in pairs),
        successes=sum(reached for reached, _ in pairs),
        success=clustered(pairs) if pairs else None,
        first_draft=clustered([first for scenario in scenarios if (first := scenario.first_drafts(fault=fault))[1]])
        if pairs
        else None,
        pass_hat=pass_hat(pairs),
        pass_hat_intervals=pass_hat_intervals(pairs),
    )
