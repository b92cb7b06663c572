"""Metrics of predicted profile options, from each user's own sums, so that users can be left out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import stdev
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from ...over_users.estimate import FloatArray, Of, Unsure, interval, mean_of, ratio
from ...over_users.option_f1 import f1, mean_f1, one_more_f1, why_none
from ...over_users.rates import IntervalEstimate

Metric: TypeAlias = Literal[
    "f1_micro", "f1_macro", "f1_weighted", "exact", "hit_1", "hit_3", "recall_1", "recall_3"
]  # fmt: skip
METRICS: tuple[Metric, ...] = get_args(Metric)
SHARES = frozenset({*METRICS, "accuracy", "auc", "macro_f1"})
"""Metrics from 0 to 1, which have intervals of the form of shares: Student's covers .66 to .91 where F1 is near 1 or 0."""
THRESHOLD = 0.5
"""An option with this score or more is predicted, for F1 and exact match, as published."""


class MeasuredOptions(IntervalEstimate):
    """A metric: its mean over seeds with a 95 % interval over users, and how much seeds differ."""

    sd: float | None = None
    """Over seeds; None with one seed, or where seeds change nothing."""
    n: int = 0
    """Items that are tested."""
    users: int = 0
    reason: str = ""
    """Why there is no value, or no interval."""


@dataclass(frozen=True)
class Sums:
    """The sums of each user: `predicted` and `true` are counts of user x option."""

    both: FloatArray
    """Options predicted and true, user x option."""
    predicted: FloatArray
    true: FloatArray
    exact: FloatArray
    """Conversations whose options are predicted exactly, by user."""
    hit: Mapping[int, FloatArray]
    """Conversations with a true option among the first k, by user."""
    recalled: Mapping[int, FloatArray]
    """True options among the first k, by user."""
    n: FloatArray
    """Conversations, by user."""


def sums(truth: NDArray[np.bool_], scores: FloatArray, user: NDArray[np.int64], users: int) -> Sums:
    """The sums of conversations x options: which are true, and the score of each; `user`: whose, by place from 0.

    The first k options are those with the highest scores, of equal ones the first of the vocabulary. One with a score
    of 0 is not among them. ValueError if shapes differ.
    """
    if truth.shape != scores.shape or len(user) != len(truth):
        raise ValueError(f"{truth.shape} truths, {scores.shape} scores, {len(user)} users")
    predicted = scores >= THRESHOLD

    def by_user(values: NDArray[Any]) -> FloatArray:
        total = np.zeros((users, *values.shape[1:]))
        np.add.at(total, user, values)
        return total

    order = np.argsort(-scores, axis=1, kind="stable")
    ranked = np.take_along_axis(truth & (scores > 0), order, axis=1)
    among = {k: ranked[:, :k].sum(axis=1) for k in (1, 3)}
    return Sums(
        both=by_user(predicted & truth),
        predicted=by_user(predicted),
        true=by_user(truth),
        exact=by_user((predicted == truth).all(axis=1)),
        hit={k: by_user(count > 0) for k, count in among.items()},
        recalled={k: by_user(count) for k, count in among.items()},
        n=by_user(np.ones(len(user))),
    )


def functions(of: Sums) -> dict[Metric, Of]:
    """Each metric as a function of how often each user is drawn.

    F1 of an option neither predicted nor true is 0.
    """
    true = of.true.sum(axis=1)
    return {
        "f1_micro": _micro(of),
        "f1_macro": _per_option(of, weighted=False),
        "f1_weighted": _per_option(of, weighted=True),
        "exact": ratio(of.exact, of.n),
        "hit_1": ratio(of.hit[1], of.n),
        "hit_3": ratio(of.hit[3], of.n),
        "recall_1": ratio(of.recalled[1], true),
        "recall_3": ratio(of.recalled[3], true),
    }


def _micro(of: Sums) -> Of:
    both, predicted, true = (counts.sum(axis=1) for counts in (of.both, of.predicted, of.true))
    return lambda drawn: f1(drawn @ both, drawn @ predicted, drawn @ true)


def _per_option(of: Sums, *, weighted: bool) -> Of:
    def function(drawn: FloatArray) -> FloatArray:
        return mean_f1(drawn @ of.both, drawn @ of.predicted, drawn @ of.true, weighted=weighted)

    counts = of.both, of.predicted, of.true
    return Unsure(function, one_more_f1(*counts, weighted=weighted), "" if weighted else why_none(*counts))


def measured(
    of_seeds: Sequence[Mapping[Any, Of]],
    items: FloatArray,
    n: int,
    scale: tuple[float, float] = (0.0, 1.0),
    items_of_score: Mapping[str, FloatArray] = MappingProxyType({}),
) -> dict[Any, MeasuredOptions]:
    """Each metric over seeds: the mean, its interval over users, cut to the scale, and the deviation.

    `items_of_score`: what counts of each user, for metrics that do not count `items`.
    """
    return {
        name: over_seeds(
            [one[name] for one in of_seeds], items_of_score.get(name, items), n, scale, share=name in SHARES
        )
        for name in of_seeds[0]
    }


def over_seeds(
    functions: Sequence[Of],
    items: FloatArray,
    n: int,
    scale: tuple[float, float] = (-np.inf, np.inf),
    *,
    share: bool = False,
) -> MeasuredOptions:
    """One metric over seeds; `items`: how many of each user are counted."""
    whole = np.ones((1, len(items)))
    values = [float(function(whole)[0]) for function in functions]
    score = interval(mean_of(functions), items, "undefined: nothing to count", n=n, scale=scale, share=share)
    spread = stdev(values) if len(values) > 1 and np.isfinite(values).all() else None
    return MeasuredOptions(**score.model_dump(), sd=spread)


def averaged(parts: Sequence[Mapping[Metric, Of]]) -> dict[Metric, Of]:
    """The mean of each metric over aspects, whose functions take the same users."""
    return {name: mean_of([part[name] for part in parts], apart=True) for name in METRICS}
