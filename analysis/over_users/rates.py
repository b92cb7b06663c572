"""Shares of successes: pass^k, with intervals for conversations that are alike within a scenario.

`pass^k` is the chance that k conversations about one scenario all succeed ("tau-bench", Yao et al. 2024, section 3). It
is the mean over scenarios of C(c, k) / C(n, k) for c successes in n conversations.

With one conversation about each scenario, or a single scenario, the trials are independent, and the interval is exact.
It is Blaker's ("Confidence curves and improved exact confidence intervals for discrete distributions", 2000). Counts
are discrete, so at .95 it would cover .984 on average at 8 scenarios. Its level is .95 less a tenth of a scenario, at
least .94: it covers that much or more at every share.

Any other interval is Wilson's (1927), with Student's quantile and with as many independent trials as have the variance
over scenarios. Sources: Korn and Graubard, "Confidence Intervals for Proportions with Small Expected Number of Positive
Counts", 1998. Dean and Pagano, "Evaluating Confidence Interval Methods for Binomial Proportions in Clustered Surveys",
2015.

Few successes or failures do not show how alike conversations about one scenario are, least of all where all end alike.
So that variance has a prior: a fraction of a trial, in scenarios whose conversations correlate by .8. Weight,
correlation and degrees of freedom are the least that cover .93 everywhere in the simulations of `tests/intervals`.
These have 6 to 60 scenarios with 2 to 8 conversations each, shares .05 to .95, and correlations 0 to .7.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from math import comb, exp, fsum, lgamma, log, sqrt
from operator import gt
from typing import Any, NamedTuple

from ...data.records import Record
from .student_quantile import students

Z = 1.959963984540054
"""Quantile of the normal distribution for intervals of 95 %."""

PRIOR, ALIKE = 0.25, 0.8
"""Of many scenarios the prior's trials, and the correlation that it takes for them."""
FREEDOM = 2
"""Degrees of freedom for each scenario but one: the score form is wider than Student's at few scenarios."""

PRIOR_OF_USERS, FREEDOM_OF_USERS = 0.1, 4
"""The same for a share over users: the weight of one item of each user, divided by the number of users, since few items
of a rare value vary only by chance. Then the degrees of freedom for each user except one. They are the least that cover
.93 over 8 to 236 users, some with ten times the items of others (`tests/intervals`)."""
UNEQUAL = 1.5
"""Users for each one with equal weight, from which on the few users with most items may be alike by chance. Without a
stronger prior and fewer degrees of freedom, the interval covers .87 to .90 if all items of a user are alike."""


CONFIDENCE, LESS, FEW = 0.95, 0.1, 10
"""Of an exact interval, less so much over the number of trials, which counts as ten where it is less."""
HALVINGS = 48
"""Of a span from 0 to 1, for a bound that is right in twelve digits."""


class Rate(Record):
    """A share with its interval of 95 %."""

    value: float
    low: float
    high: float


class IntervalEstimate(Record):
    """A number with its 95 % interval; each may be `None`."""

    value: float | None
    low: float | None = None
    high: float | None = None


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

    The parameter is as that of `pass_hat`. k stays below the fewest conversations of a scenario. From all of them a
    scenario has 0 or 1, a single draw. Empty with fewer than two scenarios.
    """
    scenario_counts = list(counts)
    number = len(scenario_counts)
    rates: dict[int, Rate] = {}
    if number < 2:
        return rates
    for k, value in [*pass_hat(scenario_counts).items()][:-1]:
        shares = [comb(reached, k) / comb(total, k) for reached, total in scenario_counts]
        variance = variance_of_ratio(shares, [1] * number)
        rates[k] = _over_scenarios(value, variance, [total / k for _, total in scenario_counts])
    return rates


def clustered(counts: Sequence[tuple[int, int]]) -> Rate:
    """The share of successes over all scenarios, from successes and conversations of each, with its interval.

    The variance is that of a ratio of sums over scenarios. The interval of a single scenario is only about its
    conversations.
    """
    number, total = len(counts), sum(size for _, size in counts)
    reached = sum(one for one, _ in counts)
    if number in (1, total):
        return exact(reached, total)
    share = reached / total
    sizes = [size for _, size in counts]
    rate = _over_scenarios(share, variance_of_ratio([reached for reached, _ in counts], sizes), sizes)
    if reached not in (0, total):
        return rate
    # Of one conversation about each scenario the exact interval would do: more of them tell no less.
    fewer = exact(number * (reached == total), number)
    return Rate(value=share, low=max(rate.low, fewer.low), high=min(rate.high, fewer.high))


@lru_cache(maxsize=1024)
def exact(reached: int, total: int) -> Rate:
    """The share of so many successes of independent trials, with Blaker's interval."""
    share = reached / total
    return Rate(value=share, low=_least(reached, total), high=1 - _least(total - reached, total))


def _least(reached: int, total: int) -> float:
    """The least share at which so many successes are acceptable.

    That is where the chance of as many, and of as few at the other end as are no likelier, exceeds the error. It jumps
    where one count more becomes so unlikely.
    """
    if not reached:
        return 0.0
    error = 1 - CONFIDENCE + LESS / max(total, FEW)
    ways = [lgamma(total + 1) - lgamma(count + 1) - lgamma(total - count + 1) for count in range(total + 1)]

    def tails(share: float, below: int) -> tuple[float, float]:
        """Of fewer than `below`, and of `reached` or more."""
        odds, none = log(share / (1 - share)), total * log(1 - share)
        ranges = range(below), range(reached, total + 1)
        few, many = (fsum(exp(ways[count] + count * odds + none) for count in counts) for counts in ranges)
        return few, many

    def root(short: Callable[[float], bool], low: float, high: float) -> float:
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if short(middle) else (low, middle)
        return low

    start = root(lambda share: tails(share, 0)[1] < error / 2, 0.0, 1.0)
    below = bisect_left(range(reached), True, key=lambda count: tails(start, count)[0] > error / 2)
    jump = root(lambda share: gt(*tails(share, below)), start, 1.0)
    return root(lambda share: sum(tails(share, below - 1)) < error, start, jump)


def bounds(reached: int, total: int, missing: int) -> tuple[float, float]:
    """The share of successes if none or all of the missing trials succeed; the total is without them."""
    return reached / (total + missing), (reached + missing) / (total + missing)


def variance_of_ratio(values: Sequence[float], items: Sequence[float]) -> float:
    """The variance of the mean over all items, by the sum of each user's values and their number of items.

    It is linearised: Cochran, "Sampling Techniques", 1977, section 6.4.
    """
    users, total = len(items), sum(items)
    mean = fsum(values) / total
    squares = fsum((value - mean * own) ** 2 for value, own in zip(values, items, strict=True))
    return users / (users - 1) * squares / total**2


def _over_scenarios(share: float, variance: float, sizes: Sequence[float]) -> Rate:
    """A share with this variance over scenarios of these numbers of trials, with its interval."""
    number, total, scenarios = len(sizes), sum(sizes), effective_users(sizes)
    size = total / scenarios
    others, unequal = max(scenarios - 1, 1), number / scenarios
    prior = PRIOR * max(number - 5, 1.5) / number / scenarios * unequal**2.5
    trials = independent(share, variance, prior, (1 + (size - 1) * ALIKE) / size / others)
    return wilson(share, min(trials, total), students(FREEDOM * others))


def share_of_users(
    share: float,
    variance: float,
    items: Iterable[float],
    prior: float = PRIOR_OF_USERS,
    freedom: float = FREEDOM_OF_USERS,
    *,
    counts: bool = True,
) -> Rate:
    """A share, or a score from 0 to 1, with its interval of the score form.

    `variance`: of the share, over users; `items`: how many each user has. Few users with most items tell less of how
    much users vary: the prior is the greater, the more unequal they are. `counts`: whether it counts items, each in or
    out, so that few of them may be in by chance.
    """
    weights = [one for one in items if one > 0]
    users = effective_users(weights)
    inside = min(max(share, 0.0), 1.0)
    unequal = len(weights) / users
    few = max(1.0, unequal / UNEQUAL) ** 2
    worth = independent(inside, variance, prior / users * unequal**1.5 * few, 1 / users)
    bounds = wilson(inside, worth, students(freedom / few * max(users - 1, 1)))
    if counts:
        bounds = of_few(bounds, worth)
    return Rate(value=share, low=min(bounds.low, share), high=max(bounds.high, share))


def of_few(rate: Rate, trials: float) -> Rate:
    """Wilson's interval of so many effective trials, wider where fewer than two of them succeeded, or failed.

    Two, or a quarter of them if that is less: near an end Wilson's covers .89. The bound there is the share at which so
    many or more have a chance of a twentieth, by the first term of the gamma distribution. (Brown, Cai and DasGupta,
    "Interval Estimation for a Binomial Proportion", 2001)
    """
    reached, failed, most = trials * rate.value, trials * (1 - rate.value), min(2.0, trials / 4)
    low = min(rate.low, _bound_of(reached) / trials) if 0 < reached < most else rate.low
    high = max(rate.high, 1 - _bound_of(failed) / trials) if 0 < failed < most else rate.high
    return Rate(value=rate.value, low=low, high=high)


def _bound_of(number: float) -> float:
    return exp((log(0.05) + lgamma(number + 1)) / number)


def effective_users(weights: Any) -> Any:
    """Number of users with equal weights that would weigh like these; 0 without any.

    Of squared contributions to a variance it is the number of users on which that stands. `weights` is a number for
    each user, or an array for each, of one number for each measure.
    """
    total, squares = sum(weights), sum(weight * weight for weight in weights)
    return total * total / (squares + (squares == 0))


def independent(share: float, variance: float, prior: float, spread: float) -> float:
    """Number of independent trials whose share has this variance.

    `prior`: weight of a share of a half, whose variance is `spread` times as much as that of one trial.
    """
    return (share * (1 - share) + prior) / (variance + prior * spread)


def wilson(share: float, total: float, quantile: float = Z) -> Rate:
    """A share of (effectively) `total` trials with Wilson's score interval of 95 %.

    The interval holds for few trials and for shares near 0 and 1. `quantile`: of Student's where few users tell how
    much they vary.
    """
    low, high = ((1 + bound) / 2 for bound in score_bounds(2 * share - 1, 1 / total, quantile))
    return Rate(value=share, low=max(0.0, low), high=min(1.0, high))


def difference(one: Rate, other: Rate) -> tuple[float, float]:
    """The interval of the first share less the other, of two samples.

    Newcombe's method 10 ("Interval estimation for the difference between independent proportions", 1998), from the
    interval of each.
    """
    apart = one.value - other.value
    low = apart - sqrt((one.value - one.low) ** 2 + (other.high - other.value) ** 2)
    return low, apart + sqrt((one.high - one.value) ** 2 + (other.value - other.low) ** 2)


class Bounds(NamedTuple):
    """Lower and upper bound: numbers, or arrays with one for each measure, NaN where there is no interval."""

    low: Any
    high: Any


def score_bounds(difference: Any, at_none: Any, quantile: Any) -> Bounds:
    """Bounds of a difference by the score method, -1 to 1.

    They enclose the t with (difference - t)^2 <= q^2 V (1 - t^2), V being the variance at no difference.
    """
    k = quantile**2 * at_none
    half = abs(k * (k + (1 - difference**2))) ** 0.5
    return Bounds((difference - half) / (1 + k), (difference + half) / (1 + k))
