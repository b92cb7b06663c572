"""Shares of successes: pass^k, with intervals for conversations that are alike within a scenario.

`pass^k` is the chance that k conversations about one scenario all succeed ("tau-bench", Yao et al. 2024, section 3):
the mean over scenarios of C(c, k) / C(n, k) for c successes in n conversations.

An interval is Wilson's (1927) with as many independent trials as have the variance over scenarios (Korn and Graubard,
"Confidence Intervals for Proportions with Small Expected Number of Positive Counts", 1998; Dean and Pagano, "Evaluating
Confidence Interval Methods for Binomial Proportions in Clustered Surveys", 2015), and with Student's quantile. Few
successes or failures do not show how alike conversations about one scenario are, least of all where all end alike. So
that variance has a prior: a fraction of a trial, in scenarios whose conversations correlate by .8. Weight, correlation
and degrees of freedom are the least that cover .93 everywhere in the simulations of `tests/intervals` (6 to 60 scenarios
with 1 to 8 conversations each, shares .05 to .95, correlations 0 to .7).
"""

from collections.abc import Iterable, Sequence
from math import comb, fsum, sqrt

from ...data.records import Record
from .resemblance import mean_squares

Z = 1.959963984540054
"""Quantile of the normal distribution for intervals of 95 %."""

PRIOR, ALIKE = 0.25, 0.8
"""Of many scenarios the prior's trials, and the correlation that it takes for them."""
FREEDOM = 3
"""Degrees of freedom for each scenario but one: the score form is wider than Student's at few scenarios."""

PRIOR_OF_USERS, FREEDOM_OF_USERS = 0.1, 4
"""The same of a share over users: the weight of one item of each user, over the number of users, since few items of a
rare value vary by chance alone; and the degrees of freedom for each user but one (both found by simulation)."""


class Rate(Record):
    """A share with its interval of 95 %."""

    value: float
    low: float
    high: float


def pass_hat(counts: Iterable[tuple[int, int]]) -> dict[int, float]:
    """pass^k by k, from successes and conversations of each scenario; k up to the fewest conversations of one."""
    scenario_counts = list(counts)
    most = min((total for _, total in scenario_counts), default=0)
    return {
        k: sum(comb(reached, k) / comb(total, k) for reached, total in scenario_counts) / len(scenario_counts)
        for k in range(1, most + 1)
    }


def pass_hat_intervals(counts: Iterable[tuple[int, int]]) -> dict[int, Rate]:
    """pass^k by k with its interval over scenarios.

    The parameter is as that of `pass_hat`. k stays below the fewest conversations of a scenario: from all of them a
    scenario has 0 or 1, a single draw. Empty with fewer than two scenarios.
    """
    scenario_counts = list(counts)
    number = len(scenario_counts)
    rates: dict[int, Rate] = {}
    if number < 2:
        return rates
    for k, value in [*pass_hat(scenario_counts).items()][:-1]:
        deviations = (comb(reached, k) / comb(total, k) - value for reached, total in scenario_counts)
        variance = fsum(deviation**2 for deviation in deviations) / (number * (number - 1))
        rates[k] = _over_scenarios(value, variance, [total / k for _, total in scenario_counts])
    return rates


def clustered(counts: Sequence[tuple[int, int]]) -> Rate:
    """The share of successes over all scenarios, from successes and conversations of each, with its interval.

    The variance is that of a ratio of sums over scenarios (Cochran, "Sampling Techniques", 1977, section 6.4). The
    interval of a single scenario is about its conversations alone.
    """
    number, total = len(counts), sum(size for _, size in counts)
    share = sum(reached for reached, _ in counts) / total
    if number < 2:
        return wilson(share, total)
    squares = fsum((reached - share * size) ** 2 for reached, size in counts)
    return _over_scenarios(share, number / (number - 1) * squares / total**2, [size for _, size in counts])


def _over_scenarios(share: float, variance: float, sizes: Sequence[float]) -> Rate:
    """A share with this variance over scenarios of these numbers of trials, with its interval."""
    number, total = len(sizes), sum(sizes)
    size = sum(one * one for one in sizes) / total
    scenarios = total / size  # as many of equal size
    others, unequal = max(scenarios - 1, 1), number / scenarios
    prior = PRIOR * max(number - 5, 1) / number / scenarios * unequal**2
    trials = independent(share, variance, prior, (1 + (size - 1) * ALIKE) / size / others)
    return wilson(share, min(trials, total), students(FREEDOM * others / unequal))


def share_of_users(share: float, variance: float, users: float) -> Rate:
    """A share, or a score from 0 to 1, with its interval of the score form.

    `variance`: of the share, over users; `users`: how many that weigh alike they are worth.
    """
    inside = min(max(share, 0.0), 1.0)
    worth = independent(inside, variance, PRIOR_OF_USERS / users, 1 / users)
    bounds = wilson(inside, worth, students(FREEDOM_OF_USERS * max(users - 1, 1)))
    return Rate(value=share, low=min(bounds.low, share), high=max(bounds.high, share))


def independent(share: float, variance: float, prior: float, spread: float) -> float:
    """Number of independent trials whose share has this variance.

    `prior`: weight of a share of a half, whose variance is `spread` times as much as that of one trial.
    """
    return (share * (1 - share) + prior) / (variance + prior * spread)


def students(freedom: float) -> float:
    """Student's quantile for intervals of 95 %, without scipy; .004 too low at 3 degrees of freedom, .0002 at 6.

    Cornish and Fisher's expansion (Abramowitz and Stegun 1964, 26.7.5).
    """
    terms = (
        (Z**3 + Z) / 4,
        (5 * Z**5 + 16 * Z**3 + 3 * Z) / 96,
        (3 * Z**7 + 19 * Z**5 + 17 * Z**3 - 15 * Z) / 384,
        (79 * Z**9 + 776 * Z**7 + 1482 * Z**5 - 1920 * Z**3 - 945 * Z) / 92160,
    )
    return Z + sum(term / freedom**power for power, term in enumerate(terms, start=1))


def intraclass(counts: Sequence[tuple[int, int]]) -> float:
    """The intraclass correlation of successes within scenarios by analysis of variance, from 0 to 1."""
    groups, total = len(counts), sum(size for _, size in counts)
    if groups < 2 or total == groups:
        return 0.0
    share = sum(reached for reached, _ in counts) / total
    between = sum(size * (reached / size - share) ** 2 for reached, size in counts)
    within = sum(reached * (size - reached) / size for reached, size in counts)
    if not between and not within:
        return 0.0
    squares = mean_squares(groups, total, sum(size * size for _, size in counts), between, within)
    return float(min(1.0, max(0.0, squares.correlation())))


def wilson(share: float, total: float, quantile: float = Z) -> Rate:
    """A share of (effectively) `total` trials with Wilson's score interval of 95 %.

    The interval holds for few trials and for shares near 0 and 1. `quantile`: of Student's where few users tell how much
    they vary.
    """
    square = quantile * quantile
    centre = (share + square / (2 * total)) / (1 + square / total)
    half = quantile * sqrt(share * (1 - share) / total + square / (4 * total * total)) / (1 + square / total)
    return Rate(value=share, low=max(0.0, centre - half), high=min(1.0, centre + half))
