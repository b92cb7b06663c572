"""Coefficients of agreement: accuracy, Cohen's and Fleiss' kappa, Krippendorff's alpha, Gwet's AC1 and AC2."""

from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

import numpy as np

from ....errors import SettingError
from ...over_users.chance import (
    AgreementWeights,
    Disagreement,
    MeasurementLevel,
    alpha_disagreement,
    chance_of_all,
    chance_of_margins,
    chance_of_uncertain,
    distances_of,
    same,
)
from ...over_users.estimate import FloatArray, Places, UserScore, of_users
from ...over_users.jackknife import coefficient_interval

Value = TypeVar("Value", bound=Hashable)


def accuracy(
    first: Sequence[Value | None], second: Sequence[Value | None], *, users: Sequence[str] | None = None
) -> UserScore:
    """Share of the things on which two labels agree.

    The parameters are as those of `cohen_kappa`.
    """
    return coefficient_interval(crossed(first, second, _values([*first, *second], None), users), same(), margins=False)


def cohen_kappa(
    first: Sequence[Value | None],
    second: Sequence[Value | None],
    *,
    weights: AgreementWeights | None = None,
    values: Sequence[Value] | None = None,
    users: Sequence[str] | None = None,
) -> UserScore:
    """Cohen's kappa (1960); with weights (1968) for values in an order.

    `first` and `second` have a value for each thing, or `None`. `values`: all values in their order, which weights of
    words need; numbers are as far apart as they are. `users`: whose each thing is; by default each is of a user of its
    own. Undefined where both labels have one value only, and always the same.
    """
    return _weighted(chance_of_margins, first, second, weights, values, users)


def gwet_ac(
    first: Sequence[Value | None],
    second: Sequence[Value | None],
    *,
    weights: AgreementWeights | None = None,
    values: Sequence[Value] | None = None,
    users: Sequence[str] | None = None,
) -> UserScore:
    """Gwet's AC1, which does not fall where nearly all have one value; with weights his AC2.

    "Computing inter-rater reliability and its variance in the presence of high agreement", 2008. The parameters are as
    those of `cohen_kappa`.
    """
    return _weighted(chance_of_uncertain, first, second, weights, values, users)


def fleiss_kappa(votes: Sequence[Sequence[Value]], *, users: Sequence[str] | None = None) -> UserScore:
    """Fleiss' kappa (1971): `votes` has the votes on each thing, equally many for all."""
    if len({len(of_one) for of_one in votes}) > 1:
        return UserScore(value=None, reason="not equally many votes on all")
    order = _values([vote for of_one in votes for vote in of_one], None)
    return coefficient_interval(
        coincidences(votes, order, users), chance_of_all(1 - np.eye(len(order))), votes=votes_each(votes)
    )


def krippendorff_alpha(
    ratings: Sequence[Sequence[Value | None]],
    *,
    level: MeasurementLevel = "nominal",
    values: Sequence[Value] | None = None,
    users: Sequence[str] | None = None,
) -> UserScore:
    """Krippendorff's alpha ("Content Analysis", 4th edition, 12.3).

    `ratings`: each rater's value of each thing, or `None`, thing x rater. `values`: all values in their order, which
    `ordinal` needs of words.
    """
    votes = [[value for value in of_one if value is not None] for of_one in ratings]
    order = _values([value for of_one in votes for value in of_one], values)
    return coefficient_interval(
        coincidences(votes, order, users), alpha_disagreement(level, _places(order)), votes=votes_each(votes)
    )


def crossed(
    first: Sequence[Value | None], second: Sequence[Value | None], order: Sequence[Value], users: Sequence[str] | None
) -> FloatArray:
    """How often both labels have each pair of values, user x first x second.

    Things that lack one of the two labels are left out.
    """
    if len(first) != len(second):
        raise SettingError(
            f"two labels of the same things have equally many values, not {len(first)} and {len(second)}"
        )
    of, number = _user_places(users, len(first))
    place = {value: number for number, value in enumerate(order)}
    tables = np.zeros((number, len(order), len(order)))
    for user, a, b in zip(of, first, second, strict=True):
        if a is not None and b is not None:
            tables[user, place[a], place[b]] += 1
    there: FloatArray = tables[tables.sum(axis=(1, 2)) > 0]
    return there


def coincidences(
    votes: Sequence[Sequence[Value]], order: Sequence[Value], users: Sequence[str] | None = None
) -> FloatArray:
    """How often two votes on one thing have each pair of values, user x value x value.

    Each vote of m counts once, by 1 / (m - 1) for each other one. Things with fewer than two votes are left out.
    """
    of, number = _user_places(users, len(votes))
    place = {value: number for number, value in enumerate(order)}
    tables = np.zeros((number, len(order), len(order)))
    for user, of_one in zip(of, votes, strict=True):
        if len(of_one) > 1:
            counts = np.zeros(len(order))
            for vote in of_one:
                counts[place[vote]] += 1
            tables[user] += (np.outer(counts, counts) - np.diag(counts)) / (len(of_one) - 1)
    there: FloatArray = tables[tables.sum(axis=(1, 2)) > 0]
    return there


def votes_each(votes: Sequence[Sequence[Value]]) -> float:
    """Mean number of votes on a thing that has two or more: what one such thing adds to `coincidences`."""
    several = [len(of_one) for of_one in votes if len(of_one) > 1]
    return sum(several) / len(several) if several else 1.0


def _weighted(
    by_chance: Callable[[FloatArray], Disagreement],
    first: Sequence[Value | None],
    second: Sequence[Value | None],
    weights: AgreementWeights | None,
    values: Sequence[Value] | None,
    users: Sequence[str] | None,
) -> UserScore:
    order = _values([*first, *second], values)
    tables = crossed(first, second, order, users)
    if weights is not None and values is None and not all(isinstance(value, int | float) for value in order):
        raise SettingError("weights are for values in an order: give `values`, all values from low to high")
    margins = by_chance is not chance_of_uncertain
    disagreement = by_chance(distances_of(_places(order), weights))
    return coefficient_interval(tables, disagreement, margins=margins, weighted=weights is not None)


def _values(labels: Sequence[Value | None], values: Sequence[Value] | None) -> list[Value]:
    """All values in their order: the given one, that of numbers, else that of their names."""
    there = {value for value in labels if value is not None}
    if values is not None:
        if unknown := there - {*values}:
            raise SettingError(f"the values {sorted(map(str, unknown))} are not among {list(map(str, values))}")
        return list(values)
    key: Callable[[Value], tuple[bool, float, str]] = lambda value: (  # noqa: E731
        not isinstance(value, int | float),
        float(value) if isinstance(value, int | float) else 0.0,
        str(value),
    )
    return sorted(there, key=key)


def _places(order: Sequence[Value]) -> FloatArray:
    """Where each value stands: numbers where they are, words one apart."""
    numbers = [float(value) for value in order if isinstance(value, int | float)]
    return np.array(numbers if len(numbers) == len(order) else range(len(order)), dtype=float)


def _user_places(users: Sequence[str] | None, number: int) -> tuple[Places, int]:
    if users is None:
        return np.arange(number), number
    if len(users) != number:
        raise SettingError(f"users: there are {len(users)} for {number} things: give one for each")
    names, places = of_users(users)
    return places, len(names)
