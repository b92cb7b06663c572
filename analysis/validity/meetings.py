"""Whether a simulated user detects a bad assistant: by success, and by its own satisfaction.

Both are compared within the scenarios that both assistants met: success as paired shares (`shared_scenarios`), satisfaction
by the mean difference over scenarios, with Student's interval. If no scenario is shared, the interval of success is
Newcombe's of two samples (1998, method 10). Each sample has Wilson's interval for conversations that are alike within a
scenario (`analysis.over_users.rates`).
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from statistics import fmean, variance
from typing import Literal, TypeAlias

from ...data.records import Conversation, Record
from ..outcomes import scenario_key, score_of
from ..over_users.means import FEWEST_IN_INTERVAL, over_users
from ..over_users.rates import Rate, clustered, difference, wilson
from .sample_sizes import for_pairs, for_shares
from .shared_scenarios import PairCounts, paired_shares

Tells: TypeAlias = Literal["yes", "no", "prefers it", "too few", "not tried"]
"""Whether the interval of the difference lies below 0, holds it, or lies above it; or there are too few scenarios for one."""

SATISFACTION = "satisfaction"


class Difference(Record):
    """A bad assistant against the reference, by success or by satisfaction."""

    reference: float | None
    """Share of successes, or mean satisfaction, with the reference; None if no conversation has one."""
    value: float | None
    """The same with the other assistant."""
    difference: float | None = None
    """The other's less the reference's: below 0 where the user tells it from the good one."""
    low: float | None = None
    """Lower end of the 95 % interval; None with too few scenarios (10 for satisfaction), or if all differ equally."""
    high: float | None = None
    tells: Tells = "not tried"
    needed: int | None = None
    """Conversations with each of the two for a power of 0.8 at 0.05, computed at the observed difference, which is itself
    uncertain; None without an interval below 0."""
    scenarios: int = 0
    """Scenarios that both assistants have, which the comparison is of; 0 if it is unpaired or not tried."""
    left_out: int = 0
    """Scenarios that only one of the two has."""


class MeetingResult(Record):
    """The difference that a user makes between one assistant and the reference."""

    user: str
    satisfaction_by: str
    """How the user says its satisfaction: `model`, `rule`, or how else."""
    scenarios: str
    """Which scenarios: `errands`, `contexts of people`, or the name of a file."""
    assistant: str
    reference: str
    conversations: int
    """With this assistant; with the reference there are as many, but for those that failed."""
    failed: int
    """Of both, conversations without a score, as after a failing endpoint: they count in no difference."""
    success: Difference
    satisfaction: Difference


@dataclass
class Meetings:
    """A user's conversations with one assistant."""

    conversations: Sequence[Conversation]
    by_scenario: dict[str, list[tuple[bool | None, float | None]]] = field(init=False)
    failed: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self.by_scenario = defaultdict(list)
        for conversation in self.conversations:
            success = _success(conversation)
            self.failed += success is None
            if success is not None:
                self.by_scenario[scenario_key(conversation)].append((success, satisfaction_in(conversation)))

    def counts(self) -> dict[str, PairCounts]:
        """Successes and conversations of each scenario."""
        return {
            key: (sum(success is True for success, _ in outcomes), len(outcomes))
            for key, outcomes in self.by_scenario.items()
        }

    def rate(self) -> Rate | None:
        """The share of successes."""
        counts = list(self.counts().values())
        reached, total = sum(one for one, _ in counts), sum(size for _, size in counts)
        if not total:
            return None
        # Where all end alike nothing tells how alike those about one scenario are: each scenario counts once.
        return wilson(reached / total, len(counts)) if reached in (0, total) else clustered(counts)

    def satisfactions(self) -> dict[str, float]:
        """The mean satisfaction of each scenario that has one."""
        return {
            key: fmean(values)
            for key, outcomes in self.by_scenario.items()
            if (values := [satisfaction for _, satisfaction in outcomes if satisfaction is not None])
        }


def by_success(reference: Meetings, other: Meetings) -> Difference:
    """The difference of the shares of successes over shared scenarios; of all conversations if none is shared."""
    one, two = reference.counts(), other.counts()
    common, left_out = _shared(one, two)
    if not common:
        return _unpaired(reference, other, left_out)
    shares = paired_shares([(one[key], two[key]) for key in common])
    return _difference(
        shares.reference,
        shares.value,
        (shares.low, shares.high),
        shares.variance,
        left_out,
        [one[key][1] for key in common],
    )


def _unpaired(reference: Meetings, other: Meetings, left_out: int) -> Difference:
    one, two = reference.rate(), other.rate()
    if one is None or two is None:
        return Difference(reference=None if one is None else one.value, value=None if two is None else two.value)
    low, high = difference(two, one)
    tells = _tells(low, high)
    needed = for_shares(one.value, two.value) if tells == "yes" else None
    return Difference(
        reference=one.value,
        value=two.value,
        difference=two.value - one.value,
        low=low,
        high=high,
        tells=tells,
        needed=needed,
        left_out=left_out,
    )


def by_satisfaction(reference: Meetings, other: Meetings) -> Difference:
    """The mean difference of satisfaction over the scenarios that both have."""
    one, two = reference.satisfactions(), other.satisfactions()
    common, left_out = _shared(one, two)
    if not common:
        means = [fmean(values.values()) if values else None for values in (one, two)]
        return Difference(reference=means[0], value=means[1], left_out=left_out if one and two else 0)
    differences = [two[key] - one[key] for key in common]
    sizes = [len(reference.by_scenario[key]) for key in common]
    spread = variance(differences) if len(common) > 1 else 0.0
    return _difference(
        fmean(one[key] for key in common),
        fmean(two[key] for key in common),
        over_users(differences).interval(),
        spread,
        left_out,
        sizes,
    )


def _shared(one: Mapping[str, object], two: Mapping[str, object]) -> tuple[list[str], int]:
    """The scenarios that both have, and how many only one has."""
    common = [key for key in one if key in two]
    return common, len(one.keys() | two.keys()) - len(common)


def _difference(
    reference: float,
    value: float,
    interval: tuple[float, float] | tuple[None, None],
    spread: float,
    left_out: int,
    sizes: Sequence[int],
) -> Difference:
    """A paired difference; `spread`: variance over scenarios; `sizes`: conversations of each scenario."""
    low, high = interval
    tells: Tells
    if low is not None and high is not None:
        tells = _tells(low, high)
    elif len(sizes) >= FEWEST_IN_INTERVAL:  # all scenarios differ equally
        sign = round(value - reference, 9)
        tells = _tells(sign, sign)
    else:
        tells = "too few"
    return Difference(
        reference=reference,
        value=value,
        difference=value - reference,
        low=low,
        high=high,
        tells=tells,
        needed=ceil(for_pairs(value - reference, spread) * fmean(sizes))
        if tells == "yes" and low is not None
        else None,
        scenarios=len(sizes),
        left_out=left_out,
    )


def _tells(low: float, high: float) -> Tells:
    return "yes" if high < 0 else "prefers it" if low > 0 else "no"


def _success(conversation: Conversation) -> bool | None:
    score = score_of(conversation)
    return None if isinstance(score, str) else score[0]


def satisfaction_in(conversation: Conversation) -> float | None:
    """The recorded satisfaction of a conversation; None without one."""
    scores = conversation.labels.get("scores")
    score = scores.get(SATISFACTION) if isinstance(scores, dict) else None
    value = score.get("value") if isinstance(score, dict) else None
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except ValueError:
        return None
