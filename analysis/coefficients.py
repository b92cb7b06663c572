"""Agreement beyond chance: what labels disagree in, what they would by chance, and the coefficient with its interval."""

from collections.abc import Callable, Hashable, Sequence
from itertools import combinations
from math import isclose
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .estimates import Estimate, Score, by_group, pooled, score

FloatArray: TypeAlias = NDArray[np.float64]
AgreementWeights: TypeAlias = Literal["linear", "quadratic"]
MeasurementLevel: TypeAlias = Literal["nominal", "ordinal", "interval"]

Disagreement: TypeAlias = Callable[[FloatArray], tuple[FloatArray, FloatArray]]
"""Of tables (... x value x value): the disagreement that is observed and the one that chance would give, 0 to 1 each.
A coefficient is 1 less the first over the second."""


def beyond_chance(tables: FloatArray, disagreement: Disagreement) -> Score:
    """A coefficient of tables, user x value x value."""

    def of(drawn: FloatArray) -> FloatArray:
        observed, expected = disagreement(np.tensordot(drawn, tables, axes=1))
        there = expected > 1e-12
        of_chance: FloatArray = np.divide(observed, expected, out=np.full(np.shape(observed), np.nan), where=there)
        return 1 - of_chance

    return of


IMAGINED = 4
"""Items of one imagined user whose labels are each pair of values equally often, in the interval only.

Without them the interval misses the truth where few labels differ or few have the rarer value (as few as .66 of such draws
hold it), as that of a share does without Agresti and Coull's four trials ("Approximate is better than exact", 1998).
"""


def coefficient(tables: FloatArray, disagreement: Disagreement, *, each: float = 1.0) -> Estimate:
    """A coefficient of tables (user x value x value) with its interval over users; `each`: what one item adds to a table."""
    items = tables.sum(axis=(1, 2)) / each
    values = tables.sum(axis=(0, 1)) + tables.sum(axis=(0, 2))
    rarer = float(values.sum() - values.max(initial=0.0)) / (2 * each)
    found = score(beyond_chance(tables, disagreement), items.tolist(), scale=(-1.0, 1.0), rarer=rarer)
    if found.low is None:
        return found
    imagined = np.full((1, *tables.shape[1:]), IMAGINED * each / tables.shape[1] ** 2)
    held = score(
        beyond_chance(np.concatenate([tables, imagined]), disagreement), [*items, float(IMAGINED)], scale=(-1.0, 1.0)
    )
    return found.model_copy(update={"low": held.low, "high": held.high})


def same() -> Disagreement:
    """Accuracy: nothing is taken for chance."""

    def disagreement(tables: FloatArray) -> tuple[FloatArray, FloatArray]:
        observed = 1 - np.trace(tables, axis1=-2, axis2=-1) / _number(tables)
        return observed, np.ones_like(observed)

    return disagreement


def chance_of_margins(distances: FloatArray) -> Disagreement:
    """Cohen's: by chance each label keeps how often it has each value."""

    def disagreement(tables: FloatArray) -> tuple[FloatArray, FloatArray]:
        number = _number(tables)
        rows, columns = tables.sum(axis=-1), tables.sum(axis=-2)
        expected = np.einsum("...k,kl,...l->...", rows, distances, columns) / number**2
        return (tables * distances).sum(axis=(-2, -1)) / number, expected

    return disagreement


def chance_of_all(distances: FloatArray) -> Disagreement:
    """Fleiss': by chance every vote is drawn from all votes."""

    def disagreement(tables: FloatArray) -> tuple[FloatArray, FloatArray]:
        number, of_all = _number(tables), tables.sum(axis=-1)
        expected = np.einsum("...k,kl,...l->...", of_all, distances, of_all) / number**2
        return (tables * distances).sum(axis=(-2, -1)) / number, expected

    return disagreement


def chance_of_uncertain(distances: FloatArray) -> Disagreement:
    """Gwet's: only uncertain raters agree by chance, and no more than the values are spread."""
    size = len(distances)
    weights = float((1 - distances).sum())

    def disagreement(tables: FloatArray) -> tuple[FloatArray, FloatArray]:
        number = _number(tables)
        shares = (tables.sum(axis=-1) + tables.sum(axis=-2)) / (2 * number[..., None])
        spread = (shares * (1 - shares)).sum(axis=-1)
        chance = weights * spread / max(size * (size - 1), 1)
        return (tables * distances).sum(axis=(-2, -1)) / number, 1 - chance

    return disagreement


def alpha_disagreement(level: MeasurementLevel, places: FloatArray) -> Disagreement:
    """Krippendorff's disagreement: by chance every vote is drawn from all others.

    An ordinal distance is the votes between two values.
    """
    apart = (places[:, None] - places) ** 2
    fixed = {"nominal": 1 - np.eye(len(places)), "interval": apart / max(apart.max(initial=0), 1e-300)}

    def disagreement(tables: FloatArray) -> tuple[FloatArray, FloatArray]:
        number, counts = _number(tables), tables.sum(axis=-1)
        if level == "ordinal":
            before = np.cumsum(counts, axis=-1) - counts / 2
            distances = (before[..., :, None] - before[..., None, :]) ** 2
            distances /= np.maximum(distances.max(axis=(-2, -1), keepdims=True), 1e-300)
        else:
            distances = fixed[level]
        expected = (counts[..., :, None] * counts[..., None, :] * distances).sum(axis=(-2, -1))
        return (tables * distances).sum(axis=(-2, -1)) / number, expected / (number * np.maximum(number - 1, 1e-300))

    return disagreement


def concordance(
    users: Sequence[Hashable],
    truth: Sequence[float],
    values: Sequence[float | None],
    above: Sequence[float | None] | None = None,
) -> Estimate:
    """The share of pairs of one user's items with different truth in whose order their values are; a tie counts one half.

    Pairs with a missing value are left out. `above`: less the share of these other values, over the pairs that both have.
    The interval is over users; where every pair is a tie there is none.
    """
    shares: dict[Hashable, list[float]] = {}
    for one, other in peoples_pairs(users, truth):
        order = _order(values[one], values[other])
        less = 0.0 if above is None else _order(above[one], above[other])
        if order is not None and less is not None:
            shares.setdefault(users[one], []).append(order - less)
    found = pooled([*shares.values()], (0.0 if above is None else -1.0, 1.0))
    tie = 0.5 if above is None else 0.0
    if shares and all(share == tie for own in shares.values() for share in own):
        return Estimate(value=tie, n=found.n, groups=found.groups, reason="no interval: every pair is a tie")
    return found


def peoples_pairs(users: Sequence[Hashable], truth: Sequence[float]) -> list[tuple[int, int]]:
    """The places of the better and the worse of two items of one user."""
    by_user = by_group((user, place) for place, user in enumerate(users))
    pairs = (pair for places in by_user for pair in combinations(places, 2))
    orders = ((one, other, _order(truth[one], truth[other])) for one, other in pairs)
    return [(one, other) if order else (other, one) for one, other, order in orders if order != 0.5]


def _order(one: float | None, other: float | None) -> float | None:
    """1 if the first value is greater, 0 if the other is, a half if they are equal but for a float's last digits."""
    if one is None or other is None:
        return None
    return 0.5 if isclose(one, other, rel_tol=1e-9, abs_tol=1e-12) else float(one > other)


def distances_of(places: NDArray[Any], weights: AgreementWeights | None) -> FloatArray:
    """How far apart two values are, value x value, 0 to 1: by their places, or all the same."""
    if weights is None:
        return np.asarray(1 - np.eye(len(places)))
    power = {"linear": 1, "quadratic": 2}[weights]
    apart: FloatArray = np.abs(places[:, None] - places) ** power
    return apart / max(float(apart.max(initial=0)), 1e-300)


def _number(tables: FloatArray) -> FloatArray:
    number: FloatArray = np.maximum(tables.sum(axis=(-2, -1)), 1e-300)
    return number
