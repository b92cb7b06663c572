"""Whether the means of two samples differ: the published test, the one that assumes less, and tests of pairs."""

import math
import warnings
from collections.abc import Hashable, Sequence
from statistics import fmean

from ...data.records import Record
from ...errors import of_extra
from ..tables import Column, Table
from .means import FEWEST_IN_INTERVAL, UserSums


class Comparison(Record):
    """Two sources by one measure, a value for each conversation."""

    measure: str
    a: str
    b: str
    n_a: int
    n_b: int
    mean_a: float | None
    mean_b: float | None
    difference: float | None
    """Mean of a minus mean of b."""
    statistic: float | None
    """Student's t, two samples, equal variances assumed, as in the published comparison."""
    p: float | None
    """Its two-tailed p."""
    welch_statistic: float | None
    """Welch's t, which does not assume equal variances."""
    welch_p: float | None
    """Its two-tailed p."""
    reason: str | None = None
    """Why there is no test."""


def compare_means(measure: str, a: str, b: str, of_a: Sequence[float], of_b: Sequence[float]) -> Comparison:
    """Two-tailed t-tests between the values of two sources, Student's and Welch's.

    Needs the extra `stats`.

    Args:
        measure: Name of the measure.
        a: Name of the first source.
        b: Name of the second source.
        of_a: Values of the first source.
        of_b: Values of the second source.

    Returns:
        The comparison. It has a reason in place of tests for fewer than two values, or a measure that is constant.
    """
    means = [fmean(values) if values else None for values in (of_a, of_b)]
    tests: list[float | None] = [None] * 4
    reason = None
    if min(len(of_a), len(of_b)) < 2:
        reason = "a test needs two values on either side"
    elif _constant(of_a) and _constant(of_b):
        reason = "the measure is constant on both sides"
    else:
        ttest = of_extra("scipy.stats", "stats").ttest_ind
        with warnings.catch_warnings():
            # scipy warns of lost precision where one side is constant; there is none to lose.
            warnings.filterwarnings("ignore", message="Precision loss", category=RuntimeWarning)
            results = [ttest(of_a, of_b, equal_var=equal) for equal in (True, False)]
        tests = [float(number) for result in results for number in (result.statistic, result.pvalue)]
    return Comparison(
        measure=measure,
        a=a,
        b=b,
        n_a=len(of_a),
        n_b=len(of_b),
        mean_a=means[0],
        mean_b=means[1],
        difference=None if means[0] is None or means[1] is None else means[0] - means[1],
        statistic=tests[0],
        p=tests[1],
        welch_statistic=tests[2],
        welch_p=tests[3],
        reason=reason,
    )


FEWEST_TESTED = 6
"""Pairs that differ, for a test: with five, Wilcoxon's two-sided p cannot be below 2 / 2**5 = 0.0625, and where 3 % of 77
differ the interval covers .86."""


class PairedComparison(Record):
    """Two sources by one measure, a value on each side for each pair of conversations."""

    n: int
    """Pairs."""
    mean_a: float | None
    mean_b: float | None
    difference: float | None
    """Mean over pairs of a minus b."""
    low: float | None
    """Lower end of the difference's 95 % interval, by Student's t over groups; None with fewer than 10."""
    high: float | None
    """Its upper end."""
    statistic: float | None
    """Student's t of the pairs' differences, over groups; None with fewer than 6."""
    p: float | None
    """Its two-tailed p."""
    wilcoxon_statistic: float | None
    """Wilcoxon's signed-rank statistic of the groups' means, the smaller sum of ranks; those of 0 are left out."""
    wilcoxon_p: float | None
    """Its two-tailed p."""
    reason: str | None = None
    """Why a test or the interval is missing."""


def compare_pairs(
    of_a: Sequence[float], of_b: Sequence[float], groups: Sequence[Hashable] | None = None
) -> PairedComparison:
    """Student's paired t-test and Wilcoxon's signed-rank test, both two-tailed.

    Needs the extra `stats`.

    Args:
        of_a: Values of the first source.
        of_b: Values of the second source, in the order of the pairs.
        groups: The subject of each pair; default: each pair has its own. Pairs of one group are not independent draws:
            all tests are over groups, of means by the number of pairs.

    Returns:
        The comparison.

    Raises:
        ValueError: The sources, or `groups`, have different numbers of values.
    """
    of_group: dict[Hashable, list[float]] = {}
    differences = [a - b for a, b in zip(of_a, of_b, strict=True)]
    for group, difference in zip(range(len(differences)) if groups is None else groups, differences, strict=True):
        of_group.setdefault(group, []).append(difference)
    sums = UserSums([math.fsum(own) for own in of_group.values()], [len(own) for own in of_group.values()])
    means = [fmean(own) for own in of_group.values()]
    about = "pair" if len(means) == len(differences) else "group"
    tests: list[float | None] = [None] * 4
    interval: list[float | None] = [None] * 2
    reasons = []
    if len(means) < FEWEST_TESTED:
        reasons.append(f"too few {about}s: a test needs {FEWEST_TESTED}, the interval {FEWEST_IN_INTERVAL}")
    elif _constant(means):
        reasons.append(f"every {about} has the same difference, so there is no test and no interval")
    elif sum(difference != 0 for difference in means) < FEWEST_TESTED:
        reasons.append(f"fewer than {FEWEST_TESTED} {about}s differ, too few for a test and an interval")
    else:
        stats = of_extra("scipy.stats", "stats")
        t, ranks = sums.mean / math.sqrt(sums.variance()), stats.wilcoxon(means)
        tests = [t, float(2 * stats.t.sf(abs(t), max(sums.worth - 1, 1))), float(ranks.statistic), float(ranks.pvalue)]
        interval = list(sums.interval())
        if interval[0] is None:
            reasons.append(f"too few {about}s for an interval, which needs {FEWEST_IN_INTERVAL}")
    return PairedComparison(
        n=len(differences),
        mean_a=fmean(of_a) if of_a else None,
        mean_b=fmean(of_b) if of_b else None,
        difference=fmean(differences) if differences else None,
        low=interval[0],
        high=interval[1],
        statistic=tests[0],
        p=tests[1],
        wilcoxon_statistic=tests[2],
        wilcoxon_p=tests[3],
        reason="; ".join(reasons) or None,
    )


def _constant(values: Sequence[float]) -> bool:
    """Whether all values are equal, but for the last digits of a float, in which a test would find anything."""
    return all(math.isclose(value, values[0], rel_tol=1e-12, abs_tol=1e-12) for value in values)


def comparison_table(comparisons: Sequence[Comparison]) -> Table:
    """The comparisons, a row each; one pair of sources stands in a note, several in columns."""
    pairs = {(comparison.a, comparison.b) for comparison in comparisons}
    columns = [
        Column(name="measure"),
        *(Column(name=name) for name in ("a", "b") if len(pairs) > 1),
        *(Column(name=name, kind="count") for name in ("n a", "n b")),
        *(Column(name=name, kind="number") for name in ("mean a", "mean b", "statistic")),
        *(Column(name=name, kind="p") for name in ("p", "welch p")),
    ]
    notes = [f"a: {a}, b: {b}." for a, b in pairs] if len(pairs) == 1 else []
    notes += [
        "One value a conversation. Two-tailed t-tests: Student's (equal variances), and the p of Welch's beside it."
    ]
    notes += [
        f"{comparison.measure}, {comparison.a} and {comparison.b}: {comparison.reason}."
        for comparison in comparisons
        if comparison.reason
    ]
    return Table.of("Comparisons", columns, comparisons, notes)
