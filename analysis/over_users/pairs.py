"""Two versions of an agent in pairs, a scenario and a repeat with each: two questions, two figures.

*On these scenarios* (`on_these_scenarios`): the scenarios are fixed, as in a suite of regressions, and only repeats are
drawn. The pairs in which one version alone succeeded decide: the exact sign test (McNemar 1947), and the interval by
Agresti and Min ("Simple improved confidence intervals for comparing matched proportions", 2005).

*On scenarios like these* (`paired_difference`): scenarios are drawn too, so each counts once, and the interval is over
them. Of shares two imagined scenarios, one won and one lost by half, keep it honest where few differ.
"""

from collections.abc import Sequence
from itertools import product
from math import comb, erfc, fsum, inf, isfinite, sqrt
from statistics import NormalDist, fmean, stdev
from typing import Literal, TypeAlias

from ...data.records import Record
from .student_quantile import students

ScenarioPairs: TypeAlias = Sequence[tuple[float, float]]
"""Of one scenario the values of each pair: of the old version, and of the new."""
ValueRange: TypeAlias = tuple[float, float]
"""The least and the greatest value that there can be."""
Shown: TypeAlias = Literal["better", "worse", "not shown"]

ALPHA, POWER = 0.05, 0.8
FEWEST_SCENARIOS = 6
"""Scenarios that an interval over scenarios needs, and pairs of one kind that the sign test needs: of five, p cannot be
below 2 / 2**5 = .0625."""
ALL_SIGNS = 12
"""Most differences of which every combination of signs is counted; of more the normal approximation is near enough."""
EVEN = 1e-9
"""Difference up to which numbers are equal but for rounding."""
_Z, _Z_POWER = NormalDist().inv_cdf(1 - ALPHA / 2), NormalDist().inv_cdf(POWER)


class SuiteDifference(Record):
    """Two versions on these scenarios, by the success of each pair."""

    pairs: int = 0
    both: int = 0
    only_old: int = 0
    only_new: int = 0
    neither: int = 0
    difference: float | None = None
    """Share of successes of the new version less that of the old one, over pairs."""
    low: float | None = None
    """Lower end of its 95 % interval."""
    high: float | None = None
    p: float | None = None
    """Two-sided p of the exact sign test over the pairs that differ."""
    detectable: float | None = None
    """The smallest loss or gain that so many pairs, of which as many differ, show with a chance of 80 %."""
    shown: Shown = "not shown"
    """`better` or `worse` where p is below .05."""


class PairedDifference(Record):
    """Two versions by one measure on scenarios like these, each scenario with the mean of its pairs."""

    pairs: int
    scenarios: int
    differing: int
    """Scenarios in which the mean of both differs."""
    old: float | None
    """Mean over scenarios of the scenario's mean over its pairs."""
    new: float | None
    difference: float | None
    """`new` less `old`."""
    low: float | None
    """Lower end of the difference's 95 % interval over scenarios."""
    high: float | None
    p: float | None
    """Two-sided p of the sign-flip test over scenarios (Fisher 1935)."""
    reason: str = ""
    """Why something is missing; empty if nothing is."""


def on_these_scenarios(pairs: Sequence[tuple[bool, bool]]) -> SuiteDifference:
    """The difference of two versions on fixed scenarios, from the success of the old and the new version in each pair."""
    kinds = [(True, True), (True, False), (False, True), (False, False)]
    both, lost, won, neither = (sum((bool(old), bool(new)) == kind for old, new in pairs) for kind in kinds)
    number = len(pairs)
    counts = {"pairs": number, "both": both, "only_old": lost, "only_new": won, "neither": neither}
    if not number:
        return SuiteDifference()
    differ, whole = lost + won, number + 2  # half a pair is added to each of the four kinds
    centre = (won - lost) / whole
    half = _Z * sqrt(max(0.0, (differ + 1) - (won - lost) ** 2 / whole)) / whole
    p = min(1.0, 2 * sum(comb(differ, few) for few in range(min(lost, won) + 1)) / 2**differ)
    return SuiteDifference(
        **counts,
        difference=(won - lost) / number,
        low=max(-1.0, centre - half),
        high=min(1.0, centre + half),
        p=p,
        detectable=_detectable(number, differ),
        shown="not shown" if p >= ALPHA else "better" if won > lost else "worse",
    )


def _detectable(pairs: int, differ: int) -> float | None:
    """The smallest difference that is shown with a chance of 80 %; None where not even one of 1 is.

    It is limited by the pairs that differ anyhow, and by the fewest of one kind that the sign test needs.
    """
    by_noise = (_Z + _Z_POWER) * sqrt(max(differ, 1) / pairs) / sqrt(pairs)
    by_count = next(
        (rate / 100 for rate in range(1, 101) if _at_least(FEWEST_SCENARIOS, pairs, rate / 100) >= POWER), inf
    )
    smallest = max(by_noise, by_count)
    return smallest if smallest <= 1 else None


def _at_least(count: int, of: int, chance: float) -> float:
    return 1 - fsum(comb(of, few) * chance**few * (1 - chance) ** (of - few) for few in range(min(count, of + 1)))


def paired_difference(scenarios: Sequence[ScenarioPairs], *, scale: ValueRange | None) -> PairedDifference:
    """The mean difference of two versions over scenarios, with its interval and the p of the sign-flip test.

    Args:
        scenarios: Of each scenario its pairs; scenarios without a pair are left out.
        scale: (0, 1) for successes and shares; None for values without bounds, such as tokens.

    Raises:
        ValueError: A value is not finite, or lies outside the scale.
    """
    by_scenario = [[*pairs] for pairs in scenarios if pairs]
    least, most = scale or (-inf, inf)
    values = [value for pairs in by_scenario for pair in pairs for value in pair]
    if wrong := [one for one in values if not (isfinite(one) and least <= one <= most)]:
        raise ValueError(f"{wrong[0]!r} is not a finite value" + (f" from {least:g} to {most:g}" if scale else ""))
    changes = [fmean(new - old for old, new in pairs) for pairs in by_scenario]
    differing = sum(abs(one) > EVEN for one in changes)
    means = [fmean(fmean(pair[side] for pair in pairs) for pairs in by_scenario) for side in (0, 1)] if changes else []
    low = high = None
    if len(changes) >= FEWEST_SCENARIOS and (scale or differing >= FEWEST_SCENARIOS):
        span = most - least
        held = [*changes, span / 2, -span / 2] if scale else changes
        half = students(len(changes) - 1) * stdev(held) / sqrt(len(held))
        low, high = (max(-span, fmean(held) - half), min(span, fmean(held) + half))
    reason = "" if low is not None else "there is no pair"
    if changes and low is None:
        reason = f"no interval over scenarios: {FEWEST_SCENARIOS} are needed" + ("" if scale else " that differ")
    return PairedDifference(
        pairs=sum(map(len, by_scenario)),
        scenarios=len(changes),
        differing=differing,
        old=means[0] if means else None,
        new=means[1] if means else None,
        difference=fmean(changes) if changes else None,
        low=low,
        high=high,
        p=sign_flip_p(changes) if changes else None,
        reason=reason,
    )


def sign_flip_p(changes: Sequence[float]) -> float:
    """The two-sided p of differences: how often their sum would be as far from 0 if each had either sign."""
    sizes = [abs(one) for one in changes if abs(one) > EVEN]
    observed = abs(fsum(changes))
    if not sizes:
        return 1.0
    if len(sizes) > ALL_SIGNS:
        return erfc(observed / sqrt(2 * fsum(size * size for size in sizes)))
    sums = [
        abs(fsum(sign * size for sign, size in zip(signs, sizes, strict=True)))
        for signs in product((1, -1), repeat=len(sizes))
    ]
    return sum(one >= observed - EVEN * fsum(sizes) for one in sums) / len(sums)


def pass_hat_differences(scenarios: Sequence[Sequence[tuple[bool, bool]]]) -> dict[int, PairedDifference]:
    """pass^k of both versions and its difference by k, up to the fewest pairs of a scenario (tau-bench, section 3)."""
    by_scenario = [pairs for pairs in scenarios if pairs]

    def chance(pairs: Sequence[tuple[bool, bool]], side: int, k: int) -> float:
        return comb(sum(bool(pair[side]) for pair in pairs), k) / comb(len(pairs), k)

    return {
        k: paired_difference([[(chance(pairs, 0, k), chance(pairs, 1, k))] for pairs in by_scenario], scale=(0, 1))
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
