"""Every number with an interval: over scenarios, users or other groups, whose items are not independent.

One rule for all: the variance is that over groups, each left out in turn (the jackknife; Efron and Stein 1981), and the
quantile is Student's with one degree of freedom less than there are groups. A share has Wilson's interval, of as many
independent trials as would have its variance. Of fewer than six groups there is no interval, and `reason` says so. How
often the intervals hold the truth: `python -m tests.intervals`.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import lru_cache
from itertools import product
from math import atan, cos, erfc, exp, fsum, inf, isfinite, lgamma, pi, sqrt, tan
from statistics import NormalDist, fmean, stdev
from typing import Any, TypeAlias, TypeVar

from ..data.identity import digest
from ..data.records import Record

Item = TypeVar("Item")
Found = TypeVar("Found", bound="Estimate")

FEWEST = 6
"""Groups that an interval needs. Of five pairs the p of a test of signs cannot be below 2 / 2**5 = .0625."""
FEWEST_RARE = 5
"""Items of the rarer value that a score of labels or of predictions needs for its interval."""
EVEN = 1e-9
"""Difference up to which numbers are equal but for rounding."""

Floats: TypeAlias = Any
"""An array of numpy, which only scores need: success of an agent is counted without the extra `stats`."""
Score: TypeAlias = Callable[[Floats], Floats]
"""From how often each group counts (draw x group) to the score of each draw; NaN where a draw has none."""
Span: TypeAlias = tuple[float, float]
UNBOUNDED: Span = (-inf, inf)


class Estimate(Record):
    """A number with its 95 % interval over groups."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0
    """Items that are counted."""
    groups: int = 0
    """Scenarios, users or sections of these, over which the interval is."""
    reason: str = ""
    """Why there is no value, or no interval; empty if nothing is missing."""

    @property
    def ends(self) -> tuple[float | None, float | None, float | None]:
        """The value and the ends of its interval, as a table has them."""
        return self.value, self.low, self.high


class Difference(Estimate):
    """A paired difference, new less old; `groups` are scenarios or whatever else has pairs, `n` the pairs."""

    old: float | None = None
    """Mean over groups of each group's mean."""
    new: float | None = None
    p: float | None = None
    """Two-sided p of the sign-flip test over groups (Fisher 1935)."""


def share(counts: Sequence[tuple[int, int]], unit: str = "scenarios") -> Estimate:
    """The share of successes over scenarios with repeats, from the successes and the conversations of each scenario.

    Wilson's interval with the design effect of the repeats' correlation (Kish, "Survey Sampling", 1965, section 5.4): that
    of the analysis of variance over the scenarios in which the rarer outcome occurs, and of one imagined scenario.
    """
    counts = [(reached, total) for reached, total in counts if total]
    reached, n, groups = sum(one for one, _ in counts), sum(total for _, total in counts), len(counts)
    if not n:
        return Estimate(reason="nothing is counted")
    found = Estimate(value=reached / n, n=n, groups=groups)
    if groups < FEWEST:
        return _without(found, few(groups, unit))
    size = (n - fsum(total**2 for _, total in counts) / n) / (groups - 1)
    between = fsum(total * (own / total - reached / n) ** 2 for own, total in counts) / (groups - 1)
    inside = fsum(own * (total - own) / total for own, total in counts) / max(n - groups, 1)
    whole = between + (size - 1) * inside
    alike = min(1.0, max(0.0, (between - inside) / whole)) if whole > 0 else 0.0
    either = sum(own > 0 for own, _ in counts), sum(own < total for own, total in counts)
    telling = max(min(either), 1)  # else a first failure would raise the lower end
    alike = (telling * alike + 0.5) / (telling + 1)  # the repeats of the imagined scenario correlate by .5
    low, high = wilson(reached / n, n / (1 + (max(size, 1.0) - 1) * alike), students(groups - 1))
    return _within(found, low, high)


def wilson(value: float, trials: float, quantile: float) -> Span:
    """Wilson's interval of a share of so many independent trials (Wilson 1927)."""
    middle = value + quantile**2 / (2 * trials)
    half = quantile * sqrt(value * (1 - value) / trials + (quantile / (2 * trials)) ** 2)
    whole = 1 + quantile**2 / trials
    return max(0.0, (middle - half) / whole), min(1.0, (middle + half) / whole)


def mean(values: Sequence[Sequence[float]], scale: Span = UNBOUNDED, unit: str = "users") -> Estimate:
    """The mean over groups of the mean of each group's values, each group with the same weight.

    With Student's interval; where it is a share of 0 to 1, with Wilson's.
    """
    means, groups = [fmean(own) for own in values], len(values)
    if not groups:
        return Estimate(reason="nothing is counted")
    found = Estimate(value=fmean(means), n=sum(map(len, values)), groups=groups)
    if groups < FEWEST:
        return _without(found, few(groups, unit))
    return _with_ends(found, fmean(means), stdev(means) ** 2 / groups, groups, scale, groups)


def score(
    of: Score, items: Sequence[float], *, scale: Span = UNBOUNDED, rarer: float | None = None, unit: str = "users"
) -> Estimate:
    """A score of all groups with its interval.

    Args:
        of: The score as a function of how often each group counts.
        items: How many items of each group are counted.
        scale: The least and the greatest value that there can be. Of 0 to 1 the interval is Wilson's.
        rarer: Items of the rarer value, where labels or predictions are scored: of fewer than five there is no interval,
            and an AUC tells no more than four trials of each.
        unit: What the groups are.
    """
    import numpy as np

    groups, n = len(items), int(sum(items))
    value = float(of(np.ones((1, groups)))[0]) if n else float("nan")
    if not isfinite(value):
        return Estimate(n=n, groups=groups, reason="nothing is counted")
    found = Estimate(value=value + 0.0, n=n, groups=groups)
    if groups < FEWEST:
        return _without(found, few(groups, unit))
    if rarer is not None and rarer < FEWEST_RARE:
        return _without(found, f"the rarer value has {rarer:g}, {FEWEST_RARE} needed")
    left_out = of(1 - np.eye(groups))
    if not np.isfinite(left_out).all():
        return _without(found, f"without one of the {unit} there is no score")
    variance = (groups - 1) / groups * float(np.square(left_out - left_out.mean()).sum())
    weights, most = np.asarray(items, dtype=float), inf if rarer is None else 4.0 * rarer
    effective = float(weights.sum() ** 2 / np.square(weights).sum())
    return _with_ends(found, value, variance, effective, scale, min(most, max(n, effective)))


def ratio(above: Floats, below: Floats) -> Score:
    """A ratio of each group's sums, such as a mean over items, an error or a recall."""
    import numpy as np

    def of(drawn: Floats) -> Floats:
        whole = drawn @ below
        return np.divide(drawn @ above, whole, out=np.full(len(drawn), np.nan), where=abs(whole) > EVEN)

    return of


def _with_ends(found: Found, value: float, variance: float, effective: float, scale: Span, most: float) -> Found:
    """The estimate with its interval; `effective`: groups of equal size that would tell as much; `most`: trials."""
    quantile = students(max(effective - 1, 1.0))
    if scale == (0.0, 1.0):
        spread = value * (1 - value)
        trials = spread / variance if variance > EVEN**2 and spread > 0 else effective
        return _within(found, *wilson(value, min(max(trials, effective / 2), most), quantile))
    if variance < EVEN**2:
        return _without(found, "it is the same whichever group is left out")
    half = quantile * sqrt(variance)
    return _within(found, max(scale[0], value - half), min(scale[1], value + half))


def _within(found: Found, low: float, high: float) -> Found:
    return found.model_copy(update={"low": low, "high": high})


def _without(found: Found, reason: str) -> Found:
    return found.model_copy(update={"reason": f"no interval: {reason}"})


def few(groups: int, unit: str) -> str:
    """Why so few groups have no interval."""
    return f"{groups} {unit.removesuffix('s') if groups == 1 else unit}, {FEWEST} are needed"


def pooled(groups: Sequence[Sequence[float]], scale: Span = UNBOUNDED, unit: str = "users") -> Estimate:
    """The mean over all items of the groups, each item with the same weight."""
    import numpy as np

    counts = [float(len(group)) for group in groups]
    return score(ratio(np.array([sum(group) for group in groups]), np.array(counts)), counts, scale=scale, unit=unit)


def by_group(items: Iterable[tuple[Hashable, Item]]) -> list[list[Item]]:
    """The items of each group, from groups and their items; groups in the order in which they come first."""
    groups: dict[Hashable, list[Item]] = {}
    for group, item in items:
        groups.setdefault(group, []).append(item)
    return list(groups.values())


def paired(
    groups: Sequence[Sequence[tuple[float, float]]], scale: Span | None = None, unit: str = "scenarios"
) -> Difference:
    """The mean difference of pairs of an old and a new value over groups, with its interval and the p of sign flips.

    Of values on a `scale` two imagined groups, one won and one lost by half, keep the interval honest where few differ
    (Agresti and Min, "Simple improved confidence intervals for comparing matched proportions", 2005).

    Args:
        groups: Of each scenario or user its pairs; those without a pair are left out.
        scale: (0, 1) for successes and shares; None for values without bounds, such as tokens.
        unit: What the groups are.
    """
    there = [[*pairs] for pairs in groups if pairs]
    if not there:
        return Difference(reason="there is no pair")
    old, new = ([fmean(pair[side] for pair in pairs) for pairs in there] for side in (0, 1))
    changes = [late - early for early, late in zip(old, new, strict=True)]
    pairs, number, p = sum(map(len, there)), len(changes), sign_flip_p(changes)
    found = Difference(value=fmean(changes), n=pairs, groups=number, old=fmean(old), new=fmean(new), p=p)
    differing = sum(abs(one) > EVEN for one in changes)
    if number < FEWEST:
        return _without(found, few(number, unit))
    if scale is None and differing < FEWEST:
        return _without(found, few(differing, f"differing {unit}"))
    span = inf if scale is None else scale[1] - scale[0]
    held = changes if scale is None else [*changes, span / 2, -span / 2]
    half = students(number - 1) * stdev(held) / sqrt(len(held))
    return _within(found, max(-span, fmean(held) - half), min(span, fmean(held) + half))


def sign_flip_p(changes: Sequence[float]) -> float:
    """The two-sided p of differences: how often their sum would be as far from 0 if each had either sign."""
    changes = [one for one in changes if abs(one) > EVEN]
    sizes, observed = [*map(abs, changes)], abs(fsum(changes))
    if len(sizes) > 12:  # of more than 12 the normal approximation is near enough
        return erfc(observed / sqrt(2 * fsum(size * size for size in sizes)))
    signed = product(*((size, -size) for size in sizes))
    return fmean(abs(fsum(one)) >= observed - EVEN * fsum(sizes) for one in signed)


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Values of p adjusted for their number (Holm, "A simple sequentially rejective multiple test procedure", 1979).

    That of the i-th smallest of m is the greatest of (m - j + 1) p_j over j up to i, at most 1. None does not count.
    """
    order = sorted(p for p in p_values if p is not None)
    adjusted = {p: max((len(order) - rank) * one for rank, one in enumerate(order) if one <= p) for p in order}
    return [None if p is None else min(1.0, adjusted[p]) for p in p_values]


def folds(names: Sequence[Hashable], number: int = 5) -> list[int]:
    """The fold of each item, from 0, by the name of its user, who is in one fold whatever the order of the items."""
    places = {name: place for place, name in enumerate(sorted(set(names), key=lambda name: digest("fold", name)))}
    return [places[name] % number for name in names]


@lru_cache(maxsize=1024)
def students(freedom: float) -> float:
    """Student's quantile for intervals of 95 %, in six digits; it needs no scipy.

    Newton's method, from the normal quantile on, of the density's integral by Simpson's rule, both over the angle whose
    tangent is t over the root of `freedom`: of it the density is a power of the cosine.
    """
    steps, strips = 8, 100
    peak = exp(lgamma((freedom + 1) / 2) - lgamma(freedom / 2)) / sqrt(pi)
    angle = atan(NormalDist().inv_cdf(0.975) / sqrt(freedom))
    for _ in range(steps):
        powers = [cos(angle * place / strips) ** (freedom - 1) for place in range(strips + 1)]
        area = (powers[0] + 4 * fsum(powers[1:-1:2]) + 2 * fsum(powers[2:-1:2]) + powers[-1]) * angle / strips / 3
        angle = min(angle + (0.475 / peak - area) / powers[-1], pi / 2 - 1e-9)
    return sqrt(freedom) * tan(angle)
