"""Two versions of an agent in pairs: the mean difference by scenario, its interval, a sign-flip test, and verdicts.

A pair is one scenario and one repeat, held with both versions. Pairs of a scenario belong together, so scenarios are the
independent units.

The interval of shares is Tango's score interval for paired proportions ("Equivalence test and confidence interval for
the difference in proportions for the paired-sample design", 1998). Newcombe compares it with others ("Improved
confidence intervals for the difference between binomial proportions based on paired data", 1998). It has as many
independent pairs as have the variance over scenarios, as in `rates`; the test is that of `sign_flips`.
"""

from collections.abc import Sequence
from itertools import chain
from math import fsum, inf, isfinite, lcm, sqrt
from statistics import StatisticsError, correlation, fmean
from typing import Literal, NamedTuple, TypeAlias

from ...data.records import Record
from .pair_power import ALPHA, FEWEST_SCENARIOS, PairVariance, detectable_mean, detectable_share
from .rates import pass_hat, variance_of_ratio
from .resemblance import mean_squares
from .sign_flips import sign_flip_p
from .student_quantile import students
from .tango import PairSpread

ScenarioPairs: TypeAlias = Sequence[tuple[float, float]]
"""Of one scenario the values of each pair: of the old version, and of the new."""
ValueRange: TypeAlias = tuple[float, float]
"""The least and the greatest value that there can be."""

ALIKE = 0.8
"""Intraclass correlation where nothing tells it, as of the prior in `rates`: no scenario varies."""
EVEN = 1e-9
"""Difference up to which numbers are equal but for rounding."""


class PairedDifference(Record):
    """Two versions by one measure, in pairs of conversations about the same scenarios."""

    pairs: int
    scenarios: int
    old: float | None
    """Mean over scenarios of the scenario's mean over its pairs."""
    new: float | None
    """The same of the new version."""
    differing: int
    """Scenarios in which the mean of both differs."""
    difference: float | None
    """`new` less `old`."""
    low: float | None
    """Lower end of the difference's 95 % interval over scenarios."""
    high: float | None
    """Its upper end."""
    p: float | None
    """Two-sided p of the sign-flip test over scenarios; it decides whether the versions differ."""
    detectable: float | None
    """The smallest true difference that as many scenarios and pairs show with a chance of 80 %."""
    correlation: float | None
    """Pearson's, between old and new over pairs; None where one of them is constant."""
    between: float | None
    """Variance of a pair's difference between scenarios, for `plan_pairs`; None if scenarios have one pair each."""
    within: float | None
    """Variance of a pair's difference within scenarios; of one pair each the whole variance."""
    alike: float | None
    """Intraclass correlation of the values of a scenario, by either version, for `plan_pairs`."""
    reason: str
    """Why something is missing; empty if nothing is."""


class McNemarCounts(NamedTuple):
    """Pairs by the success of both versions.

    McNemar, "Note on the Sampling Error of the Difference between Correlated Proportions or Percentages", 1947.
    """

    both: int
    only_old: int
    only_new: int
    neither: int


PairedVerdict: TypeAlias = Literal["better", "as good within the margin", "not shown to be as good", "worse"]


def paired_difference(scenarios: Sequence[ScenarioPairs], *, scale: ValueRange | None) -> PairedDifference:
    """The mean difference of two versions, with its interval over scenarios and the sign-flip test.

    p decides whether the versions differ (`differs`), since it holds at any number of scenarios. The interval agrees
    with it: where p is .05 or more it holds 0, and where p is less it ends at 0 at the latest. Where all differences are
    0, the interval holds each difference that so many scenarios could have hidden.

    Args:
        scenarios: Of each scenario its pairs; scenarios without a pair are left out.
        scale: (0, 1) for successes and shares; None for values without bounds, such as tokens, which have Student's
            interval.

    Raises:
        ValueError: A value is not finite, or lies outside the scale.
    """
    by_scenario = [[*pairs] for pairs in scenarios if pairs]
    least, most = scale or (-inf, inf)
    values = [value for pairs in by_scenario for pair in pairs for value in pair]
    if wrong := [one for one in values if not (isfinite(one) and least <= one <= most)]:
        raise ValueError(f"{wrong[0]!r} is not a finite value" + (f" from {least:g} to {most:g}" if scale else ""))
    either_or = all(one in (least, most) for one in values)
    return _of(by_scenario, scale, _independent([len(pairs) for pairs in by_scenario]) if either_or else inf)


def _independent(sizes: Sequence[float]) -> float:
    """Pairs of successes that can be independent: those of scenarios with few weigh more, as each scenario counts once."""
    return len(sizes) ** 2 / fsum(1 / size for size in sizes) if sizes else 0.0


def _of(by_scenario: Sequence[ScenarioPairs], scale: ValueRange | None, independent: float) -> PairedDifference:
    """The difference of scenarios with pairs, of which at most so many are independent."""
    changes = [[new - old for old, new in pairs] for pairs in by_scenario]
    means = [fmean(own) for own in changes]
    differing = sum(abs(one) > EVEN for one in means)
    between, within = _variances(changes)
    alike = _alike(by_scenario)
    low = high = detectable = None
    if scale and len(by_scenario) > 1:
        span = scale[1] - scale[0]
        spread = PairSpread.of([[one / span for one in own] for own in changes], independent)
        low, high = (span * bound for bound in spread.interval())
        spreads = PairVariance((between or 0.0) / span**2, (within or 0.0) / span**2, ALIKE if alike is None else alike)
        smallest = detectable_share(len(changes), _independent([len(own) for own in changes]) / len(changes), spreads)
        detectable = smallest and span * smallest
    elif not scale and differing >= FEWEST_SCENARIOS:
        variance = variance_of_ratio(means, [1] * len(means))
        half = students(len(means) - 1) * sqrt(variance)
        low, high = fmean(means) - half, fmean(means) + half
        detectable = detectable_mean(len(means), variance)
    p = sign_flip_p(_in_steps(changes)) if by_scenario else None
    if low is not None and high is not None and p is not None:
        low, high = _agreeing(low, high, fmean(means), p)
    old, new = (
        fmean(fmean(pair[side] for pair in pairs) for pairs in by_scenario) if by_scenario else None for side in (0, 1)
    )
    return PairedDifference(
        pairs=sum(map(len, by_scenario)),
        scenarios=len(by_scenario),
        differing=differing,
        old=old,
        new=new,
        difference=fmean(means) if by_scenario else None,
        low=low,
        high=high,
        p=p,
        detectable=detectable,
        correlation=_correlation([pair for pairs in by_scenario for pair in pairs]),
        between=between,
        within=within,
        alike=alike,
        reason=_reason(len(by_scenario), differing, low, detectable),
    )


def _reason(scenarios: int, differing: int, low: float | None, detectable: float | None) -> str:
    """Why the interval or the detectable difference is missing."""
    if not scenarios:
        return "there is no pair"
    if scenarios < FEWEST_SCENARIOS:
        return f"{_scenarios(scenarios)} cannot show a difference, as the test needs {FEWEST_SCENARIOS}"
    if low is None:
        return f"{_scenarios(differing)} differ: the interval of a measure without bounds needs {FEWEST_SCENARIOS}"
    return "" if detectable is not None else "so few scenarios find no difference, however large, with a chance of 80 %"


def _scenarios(scenarios: int) -> str:
    return f"{scenarios} scenario" + "s" * (scenarios != 1)


def differs(result: PairedDifference) -> bool:
    """Whether the versions differ: p is below .05. The interval says the same, see `paired_difference`."""
    return result.p is not None and result.p < ALPHA


def verdict(result: PairedDifference, margin: float = 0.0) -> PairedVerdict | None:
    """The difference in words, for a measure of which more is better; None without an interval.

    "better": the versions differ, and the new one has more. "as good within the margin": the interval's lower end is at
    least -margin. "worse": the versions differ, the new one has less, and the lower end is below -margin. Else "not shown
    to be as good". (Non-inferiority: Piaggio et al., "Reporting of noninferiority and equivalence randomized trials", 2012.)

    Raises:
        ValueError: The margin is negative or not finite.
    """
    if not (isfinite(margin) and margin >= 0):
        raise ValueError(f"a margin is 0 or more, not {margin!r}")
    if result.low is None or result.difference is None:
        return None
    if differs(result) and result.difference > 0:
        return "better"
    if result.low >= -margin - EVEN:
        return "as good within the margin"
    return "worse" if differs(result) else "not shown to be as good"


def mcnemar(pairs: Sequence[tuple[bool, bool]]) -> McNemarCounts:
    """McNemar's table of pairs, each the success of the old version and of the new."""
    return McNemarCounts(*(sum((old, new) == kind for old, new in map(_truths, pairs)) for kind in _KINDS))


_KINDS = ((True, True), (True, False), (False, True), (False, False))


def _truths(pair: tuple[bool, bool]) -> tuple[bool, bool]:
    return bool(pair[0]), bool(pair[1])


def pass_hat_differences(scenarios: Sequence[Sequence[tuple[bool, bool]]]) -> dict[int, PairedDifference]:
    """pass^k of both versions and its difference by k, up to the fewest pairs of a scenario (see `rates.pass_hat`)."""
    by_scenario = [pairs for pairs in scenarios if pairs]
    counts = [[(sum(bool(pair[side]) for pair in pairs), len(pairs)) for side in (0, 1)] for pairs in by_scenario]
    by_k = [[pass_hat([count]) for count in both] for both in counts]
    return {
        k: _of(
            [[(old[k], new[k])] for old, new in by_k], (0, 1), _independent([len(pairs) / k for pairs in by_scenario])
        )
        for k in range(1, min(map(len, by_scenario), default=0) + 1)
    }


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Values of p adjusted for their number (Holm, "A simple sequentially rejective multiple test procedure", 1979).

    The adjusted p of the i-th smallest of m is the greatest of (m - j + 1) p_j over j up to i, at most 1. None stays None
    and does not count.
    """
    order = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    least = 0.0
    for rank, (p, place) in enumerate(order):
        adjusted[place] = least = max(least, min(1.0, (len(order) - rank) * p))
    return adjusted


def _variances(changes: Sequence[Sequence[float]]) -> tuple[float | None, float | None]:
    """The variance of a pair's difference between and within scenarios, by one-way analysis of variance."""
    number, pairs = len(changes), sum(map(len, changes))
    if number < 2:
        return None, None
    means = [fmean(own) for own in changes]
    if pairs == number:
        return None, variance_of_ratio(means, [1] * number) * number
    mean = fmean(chain.from_iterable(changes))
    between = fsum(len(own) * (one - mean) ** 2 for own, one in zip(changes, means, strict=True))
    within = fsum((value - one) ** 2 for own, one in zip(changes, means, strict=True) for value in own)
    squares = mean_squares(number, pairs, sum(len(own) ** 2 for own in changes), between, within)
    return max(0.0, (squares.between - squares.within) / squares.size), float(squares.within)


def _alike(by_scenario: Sequence[ScenarioPairs]) -> float | None:
    """The intraclass correlation of values, by the variances of both versions together."""
    both = [_variances([[pair[side] for pair in pairs] for pairs in by_scenario]) for side in (0, 1)]
    parts = [(between, within) for between, within in both if between is not None and within is not None]
    total = sum(between + within for between, within in parts)
    return sum(between for between, _ in parts) / total if total else None


def _in_steps(changes: Sequence[Sequence[float]]) -> list[float]:
    """The mean differences of scenarios, in whole steps where all differences are whole numbers."""
    if not all(float(one).is_integer() for own in changes for one in own):
        return [fmean(own) for own in changes]
    common = lcm(*map(len, changes))
    return [int(sum(own)) * (common // len(own)) for own in changes]


def _agreeing(low: float, high: float, difference: float, p: float) -> tuple[float, float]:
    """The interval that says of 0 what p says: that it can be, or that it cannot."""
    if p >= ALPHA:
        return min(low, 0.0), max(high, 0.0)
    return (max(low, 0.0), high) if difference > 0 else (low, min(high, 0.0))


def _correlation(values: Sequence[tuple[float, float]]) -> float | None:
    try:
        return correlation([old for old, _ in values], [new for _, new in values])
    except StatisticsError:
        return None
