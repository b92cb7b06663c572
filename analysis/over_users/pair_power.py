"""What a comparison in pairs can show: the smallest difference that it finds, and plans for one.

Both are for a chance of 80 % that the sign-flip test has p below .05. Two things limit it, and the greater limit counts. One
is the noncentral t of scenarios' means, approximated by the sum of two of Student's quantiles (Cohen, "Statistical
Power Analysis for the Behavioral Sciences", 1988). The other, for few pairs that differ, is the power of McNemar's
exact test (Connor, "Sample Size for Testing Differences in Proportions for the Paired-Sample Design", 1987).
"""

from collections.abc import Sequence
from functools import lru_cache
from math import comb, exp, inf, lgamma, log, sqrt

from ...data.records import Record
from .student_quantile import students
from .tango import variance_at

POWER, ALPHA = 0.8, 0.05
FEWEST_SCENARIOS = 6
"""Scenarios that differ which a test at .05 needs: of five, p cannot be below 2 / 2**5 = 0.0625."""
WIDER = {6: 1.24, 7: 1.05}
"""What the few combinations of signs of so few scenarios add to the difference that the t-test would find."""
WIDER_OF_MORE = 1.02
FEW_THAT_DIFFER = 60
"""Expected number of pairs that differ, from which on McNemar's test is as good as its normal approximation."""
HALVINGS = 20

ALIKE = 0.3
"""Share of the variance of pairs' differences that lies between scenarios, without an earlier run."""


class PairPlan(Record):
    """A comparison that finds the wanted difference with a chance of 80 %."""

    scenarios: int
    repeats: int
    conversations: int
    """Of both versions together."""
    fewest: bool
    """Whether no other row has fewer conversations."""


def detectable_share(scenarios: int, pairs: float, discordant: float) -> float | None:
    """The smallest difference of shares that is found with a chance of 80 %.

    None if not even one of 1 is. `pairs`: independent pairs that vary as much as those of all scenarios; `discordant`: the
    share of pairs that differ without a true difference. With one, as many more differ as is likeliest (`tango`).
    """
    low, high = 0.0, 1.0
    if not finds_share(high, scenarios, pairs, discordant):
        return None
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if finds_share(middle, scenarios, pairs, discordant) else (middle, high)
    return high


def finds_share(difference: float, scenarios: int, pairs: float, discordant: float) -> bool:
    """Whether a difference of shares is found with a chance of 80 %."""
    variance = variance_at(difference, discordant / 2, discordant / 2)
    if scenarios < FEWEST_SCENARIOS or difference < _standard_errors(scenarios) * sqrt(variance / pairs):
        return False
    differing = min(variance + difference * difference, 1.0)
    if differing * pairs > FEW_THAT_DIFFER:
        return True
    return _mcnemar_power(round(pairs), differing, difference) >= POWER


def detectable_mean(scenarios: int, variance: float) -> float | None:
    """The smallest mean difference that is found with a chance of 80 %, by the variance of the mean difference."""
    return _standard_errors(scenarios) * sqrt(variance) if scenarios >= FEWEST_SCENARIOS else None


def plan_pairs(
    detect: float,
    share: float | None = None,
    *,
    correlation: float = 0.5,
    between: float | None = None,
    within: float | None = None,
    repeats: Sequence[int] = (1, 2, 4, 8),
) -> list[PairPlan]:
    """Scenarios that find a difference with a chance of 80 %, a row for each number of repeats.

    Args:
        detect: The difference to be found, in the measure's unit.
        share: The share of successes of the old version; None for a measure without bounds.
        correlation: Between old and new over pairs, of a share without an earlier run.
        between: Variance of a pair's difference between scenarios, of an earlier run (`PairedDifference.between`).
            Default: three tenths of the whole.
        within: The same within scenarios, or the whole without `between`. Default: by a whole of 2 share (1 - share)
            (1 - correlation).
        repeats: Numbers of repeats to plan for.

    Raises:
        ValueError: Nothing tells how much pairs vary, or a number is out of range.
    """
    if not 0 < detect <= (inf if share is None else 1) or not 0 <= (share or 0) <= 1 or not -1 <= correlation <= 1:
        raise ValueError("a plan needs a difference above 0, a share from 0 to 1, and a correlation from -1 to 1")
    if share is None and within is None:
        raise ValueError("a plan without a share of successes needs the variances of an earlier run")
    variance = 0.0 if share is None else 2 * share * (1 - share) * (1 - correlation)
    if between is None:
        variance = variance if within is None else within
        between, within = ALIKE * variance, (1 - ALIKE) * variance
    within = (1 - ALIKE) * variance if within is None else within
    rows = []
    for number in sorted({*repeats}):
        least = _fewest_scenarios(detect, number, between, within, bounded=share is not None)
        rows.append((least, number, 2 * least * number))
    fewest = min(conversations for *_, conversations in rows)
    return [PairPlan(scenarios=n, repeats=r, conversations=both, fewest=both == fewest) for n, r, both in rows]


def _fewest_scenarios(detect: float, repeats: int, between: float, within: float, *, bounded: bool) -> int:
    """The fewest scenarios with so many repeats that find the difference."""
    single, variance = between + within, between + within / repeats

    def enough(scenarios: int) -> bool:
        if bounded:
            pairs = scenarios * single / variance if variance else scenarios
            return finds_share(detect, scenarios, pairs, min(single, 1.0))
        return detect >= _standard_errors(scenarios) * sqrt(variance / scenarios)

    low, high = FEWEST_SCENARIOS - 1, FEWEST_SCENARIOS
    while not enough(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _standard_errors(scenarios: int) -> float:
    """How many standard errors a difference must measure."""
    freedom = scenarios - 1
    return WIDER.get(scenarios, WIDER_OF_MORE) * (students(freedom) + students(freedom, POWER))


def _mcnemar_power(pairs: int, differing: float, difference: float) -> float:
    """The chance that McNemar's exact test finds a difference, of pairs of which a share differs."""
    won = (1 + difference / differing) / 2
    total = 0.0
    for number in range(FEWEST_SCENARIOS, pairs + 1):
        chance = _binomial(pairs, number, differing)
        if chance > 1e-5:
            total += chance * sum(_binomial(number, count, won) for count in range(_critical(number), number + 1))
    return total


def _binomial(total: int, count: int, share: float) -> float:
    if share in (0, 1):
        return float(count == total * share)
    ways = lgamma(total + 1) - lgamma(count + 1) - lgamma(total - count + 1)
    return exp(ways + count * log(share) + (total - count) * log(1 - share))


@lru_cache(maxsize=1024)
def _critical(number: int) -> int:
    """The fewest wins of so many pairs that differ with which p is below a twentieth."""
    tail, count = 0, number + 1
    while 2 * (tail + comb(number, count - 1)) < ALPHA * 2**number:
        count -= 1
        tail += comb(number, count)
    return count
