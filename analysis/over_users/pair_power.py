"""What a comparison in pairs can show: the smallest difference that it finds, and plans for one.

Both are for a chance of 80 % that the sign-flip test has p below .05. Two things limit it, and the greater limit counts. One
is the noncentral t of scenarios' means, approximated by the sum of two of Student's quantiles (Cohen, "Statistical
Power Analysis for the Behavioral Sciences", 1988). The other, for few pairs that differ, is the power of McNemar's
test with mid-p (Connor, "Sample Size for Testing Differences in Proportions for the Paired-Sample Design", 1987).
"""

from collections.abc import Sequence
from functools import lru_cache
from math import comb, exp, inf, lgamma, log, log1p, sqrt
from typing import NamedTuple

from ...data.records import Record
from .sign_flips import WHOLE_UP_TO
from .student_quantile import students
from .tango import variance_at

POWER, ALPHA = 0.8, 0.05
FEWEST_SCENARIOS = 6
"""Scenarios that differ which a test at .05 needs: of five, p cannot be below 2 / 2**5 = 0.0625."""
FEWEST_FOR_POWER = 8
"""Scenarios from which on a difference can be stated: with fewer, all of them must change the same way, of which the
variance tells too little."""
WIDER = 10
"""Over the square of the number of scenarios: what combinations of signs, and scenarios that are not normal, add to the
difference that the t-test would find (`tests/intervals`)."""
FEW_THAT_DIFFER = 60
"""Expected number of pairs that differ, from which on McNemar's test is as good as its normal approximation."""
HALVINGS = 20
NEGLIGIBLE = 1e-6
MANY = 1.25
"""Independent pairs of each scenario, from which on its difference has so many values that counts of them do not limit p."""

ALIKE = 0.3
"""Without an earlier run: the intraclass correlation of outcomes, and the share of the variance of pairs' differences that
lies between scenarios."""


class PairPlan(Record):
    """A comparison that finds the wanted difference with a chance of 80 %."""

    scenarios: int
    repeats: int
    conversations: int
    """Of both versions together."""
    fewest: bool
    """Whether no other row has fewer conversations."""


class PairVariance(NamedTuple):
    """How much the differences of pairs vary, without a true difference."""

    between: float
    """Between scenarios."""
    within: float
    """Within scenarios."""
    alike: float
    """Intraclass correlation of the values of a scenario, by which a true difference adds to both."""

    def at(self, difference: float) -> tuple[float, float]:
        """The variances between and within scenarios, if shares differ by as much.

        As many more pairs differ as is likeliest (`tango.variance_at`): the change is of all scenarios, not of a few. In
        beta-binomial scenarios that adds about as much between them as the square of `alike` says.
        """
        single = self.between + self.within
        more = max(variance_at(difference, single / 2, single / 2) - single, 0.0)
        return self.between + self.alike**2 * more, self.within + (1 - self.alike**2) * more


def detectable_share(scenarios: int, repeats: float, variance: PairVariance) -> float | None:
    """The smallest difference of shares that is found with a chance of 80 %.

    None if not even one of 1 is.
    """
    low, high = 0.0, 1.0
    if not finds_share(high, scenarios, repeats, variance):
        return None
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if finds_share(middle, scenarios, repeats, variance) else (middle, high)
    return high


def finds_share(difference: float, scenarios: int, repeats: float, variance: PairVariance) -> bool:
    """Whether a difference of shares is found with a chance of 80 %."""
    between, within = variance.at(difference)
    of_scenario = between + within / repeats
    if scenarios < FEWEST_FOR_POWER or difference < _standard_errors(scenarios) * sqrt(of_scenario / scenarios):
        return False
    single = between + within
    differing = min(single + difference * difference, 1.0)
    same = _all_even(differing, between / single if single else 1.0, repeats)
    if sum(_binomial(scenarios, number, 1 - same) for number in range(FEWEST_SCENARIOS)) > 1 - POWER:
        return False
    pairs = scenarios * (single / of_scenario if of_scenario else 1.0)
    if pairs > MANY * scenarios or differing * pairs > FEW_THAT_DIFFER:
        return True
    return _mcnemar_power(round(pairs), differing, difference) >= POWER


def _all_even(differing: float, alike: float, repeats: float) -> float:
    """The chance that no pair of a scenario differs, whose pairs are beta-binomial."""
    chance = 1 - differing
    for number in range(1, round(repeats)):
        chance *= ((1 - differing) * (1 - alike) + number * alike) / (1 - alike + number * alike)
    return chance


def detectable_mean(scenarios: int, variance: float) -> float | None:
    """The smallest mean difference that is found with a chance of 80 %, by the variance of the mean difference."""
    return _standard_errors(scenarios) * sqrt(variance) if scenarios >= FEWEST_FOR_POWER else None


def plan_pairs(
    detect: float,
    share: float | None = None,
    *,
    correlation: float = 0.5,
    alike: float = ALIKE,
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
        alike: Intraclass correlation of the outcomes of a scenario, by which the difference itself varies.
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
        least = _fewest_scenarios(detect, number, PairVariance(between, within, alike), bounded=share is not None)
        rows.append((least, number, 2 * least * number))
    fewest = min(conversations for *_, conversations in rows)
    return [PairPlan(scenarios=n, repeats=r, conversations=both, fewest=both == fewest) for n, r, both in rows]


def _fewest_scenarios(detect: float, repeats: int, variance: PairVariance, *, bounded: bool) -> int:
    """The fewest scenarios with so many repeats that find the difference."""

    def enough(scenarios: int) -> bool:
        if bounded:
            return finds_share(detect, scenarios, repeats, variance)
        of_mean = (variance.between + variance.within / repeats) / scenarios
        return detect >= _standard_errors(scenarios) * sqrt(of_mean)

    low, high = FEWEST_FOR_POWER - 1, FEWEST_FOR_POWER
    while not enough(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _standard_errors(scenarios: int) -> float:
    """How many standard errors a difference must measure."""
    freedom = scenarios - 1
    return (1 + WIDER / scenarios**2) * (students(freedom) + students(freedom, POWER))


def _mcnemar_power(pairs: int, differing: float, difference: float) -> float:
    """The chance that McNemar's exact test finds a difference, of pairs of which a share differs."""
    odds = (differing - difference) / (differing + difference)
    power = 0.0
    for number in range(FEWEST_SCENARIOS, pairs + 1):
        chance = _binomial(pairs, number, differing)
        if chance < NEGLIGIBLE:
            continue
        # All are won, then all but one, and so on.
        term = chance / (1 + odds) ** number
        for lost in range(number - _critical(number) + 1):
            power += term
            term *= odds * (number - lost) / (lost + 1)
    return power


def _binomial(total: int, count: int, share: float) -> float:
    if share <= 0 or share >= 1:
        return float(count == total * round(share))
    ways = lgamma(total + 1) - lgamma(count + 1) - lgamma(total - count + 1)
    return exp(ways + count * log(share) + (total - count) * log1p(-share))


@lru_cache(maxsize=1024)
def _critical(number: int) -> int:
    """The fewest wins of so many pairs that differ with which p is below a twentieth, as of `sign_flip_p`."""
    share = 1.0 if number <= WHOLE_UP_TO else 0.5
    beyond, count = 0, number + 1
    while 2 * (beyond + share * comb(number, count - 1)) < ALPHA * 2**number:
        count -= 1
        beyond += comb(number, count)
    return count
