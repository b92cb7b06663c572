"""Whether the means of two samples differ: the published test, and the one that assumes less."""

import math
import warnings
from collections.abc import Sequence
from statistics import fmean

from ..data.records import Record
from ..errors import of_extra
from .tables import Column, Table


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
    """Two-tailed t-tests between the values of two sources, Student's and Welch's. Needs the extra `stats`."""
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
