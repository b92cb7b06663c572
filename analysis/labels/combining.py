"""Several labels of the same things as one result: many models' rectified by some people's, and votes weighed by Dawid
and Skene."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from ...errors import SettingError
from ..estimates import FEWEST, UNBOUNDED, Estimate, Floats, Score, Span, score
from ..tables import Column, Table
from .reading import Group, Scale

Value = TypeVar("Value", bound=Hashable)
Thing = TypeVar("Thing", bound=Hashable)
Rater = TypeVar("Rater", bound=Hashable)


def rectified_mean(
    people: Sequence[float | None],
    judged: Sequence[float],
    *,
    users: Sequence[str] | None = None,
    scale: Span = UNBOUNDED,
) -> Estimate:
    """The prediction-powered mean of a judge's values of all things and of people's values of some of them.

    The judge's mean over all, less the mean by which the judge is above people where both labelled (Angelopoulos et al.,
    "Prediction-Powered Inference", Science 2023). Right where those whom people labelled are like the others. The
    interval is over users, of whom each is left out in turn. On a scale two imagined ones, on whom the judge is half of it
    too high and too low, keep it honest where judge and people seldom differ (as in `estimates.paired`).

    Args:
        people: People's number of each thing, None where they gave none.
        judged: The judge's number of each thing.
        users: The user of each thing; by default each is of a user of its own.
        scale: The least and the greatest value that there can be; (0, 1) for a rate.
    """
    if len(people) != len(judged) or (users is not None and len(users) != len(judged)):
        raise SettingError("people, judged and users: give one of each for each thing")
    names = list(map(str, range(len(judged)))) if users is None else users
    place = {name: number for number, name in enumerate(dict.fromkeys(names))}
    sums = np.zeros((len(place), 4))
    for user, own, value in zip(names, people, judged, strict=True):
        sums[place[user]] += (1, value, own is not None, 0 if own is None else value - own)
    labelled = int((sums[:, 2] > 0).sum())
    if not labelled:
        return Estimate(reason="people labelled none of these")
    low, high = scale
    value = min(max(float(_rectified(sums)(np.ones((1, len(sums))))[0]), low), high)
    found = Estimate(value=value, n=int(sums[:, 2].sum()), groups=labelled)
    if labelled < FEWEST:
        return found.model_copy(
            update={"reason": f"no interval: people labelled {labelled} users, {FEWEST} are needed"}
        )
    if scale != UNBOUNDED:
        half = (high - low) / 2
        sums = np.concatenate([sums, [[0, 0, 1, half], [0, 0, 1, -half]]])
    held = score(_rectified(sums), sums[:, 2].tolist())
    if held.low is None or held.high is None:
        return found.model_copy(update={"reason": held.reason})
    return found.model_copy(update={"low": max(held.low, low), "high": min(held.high, high)})


def _rectified(sums: Floats) -> Score:
    """By user: things, the judge's values; the things that people labelled, and there the judge's less people's."""

    def of(drawn: Floats) -> Floats:
        things, values, labelled, above = (drawn @ sums).T
        with np.errstate(divide="ignore", invalid="ignore"):
            return values / things - above / labelled

    return of


def rectified_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """The rows of `rectified_rows`, with the interval of the rectified rate."""
    columns = [Column(name=name) for name in ("label", "against", "side", "part", "value")]
    columns += [Column(name=name, kind="count") for name in ("of", "n")]
    names = ("judge", "people", "rectified", "low", "high")
    columns += [Column(name=name, kind="number", places=2) for name in names]
    notes = [
        "Of: what the judge labels; n: what people label too. Rectified: the judge's over all, less its error where "
        "both are; right where those whom people labelled are like the others. 95 % interval over users.",
        *(f"{reason}." for reason in dict.fromkeys(row["reason"] for row in rows if row["reason"])),
    ]
    return Table.of("Rates and means, rectified", columns, rows, notes)


def rectified_rows(group: Group, scale: Scale) -> list[dict[str, Any]]:
    """The second label's mean if its values are numbers, else the rate of each value, by the first where there is one."""
    units = [unit for unit in group.units if unit.second is not None and unit.second.values]
    if not units or scale.is_text:
        return []
    if scale.level == "interval":
        columns = {"mean": [_numbers(unit.values) for unit in units]}
    else:
        columns = {
            value: [
                tuple(None if one is None or not one.values else float(value in one.values)
                      for one in (unit.first, unit.second))
                for unit in units
            ]
            for value in scale.values
            if " + " not in value
        }  # fmt: skip
    users = [unit.user for unit in units]
    places = (float(scale.places.min()), float(scale.places.max()))
    span = places if scale.level == "interval" else (0.0, 1.0)
    rows = []
    for name, pairs in columns.items():
        people, judged = [one for one, _ in pairs], [float(other or 0) for _, other in pairs]
        own = [one for one in people if one is not None]
        found = rectified_mean(people, judged, users=users, scale=span)
        about = {"side": group.side, "part": group.part, "label": group.titles[0], "against": group.titles[1]}
        means = {"judge": sum(judged) / len(judged), "people": sum(own) / len(own) if own else None}
        ends = {"rectified": found.value, "low": found.low, "high": found.high, "reason": found.reason}
        rows.append({**about, "value": name, "n": len(own), "of": len(units), **means, **ends})
    return rows


def _numbers(values: Iterable[str | None]) -> tuple[float | None, ...]:
    return tuple(None if value is None else float(value) for value in values)


ROUNDS = 100
"""Most rounds of the estimate of raters' errors."""


class WeighedVotes(NamedTuple, Generic[Thing, Rater, Value]):
    """What votes come to where raters err unequally often."""

    values: Mapping[Thing, Mapping[Value, float]]
    """How probable each value of each thing is."""
    errors: Mapping[Rater, Mapping[Value, Mapping[Value, float]]]
    """Of each rater, by the true value, how often each value is said."""


def weighed_votes(votes: Mapping[Thing, Mapping[Rater, Value]]) -> WeighedVotes[Thing, Rater, Value]:
    """Weigh the votes on each thing by how often each rater errs, which is estimated from the votes alone.

    Dawid and Skene, "Maximum likelihood estimation of observer error-rates using the EM algorithm" (1979), from the
    majority on. A hundredth of a vote is added to each kind of error, so that a rater with few votes has none for certain.
    SettingError without a vote.
    """
    values = sorted({value for ballot in votes.values() for value in ballot.values()}, key=str)
    raters = list(dict.fromkeys(rater for ballot in votes.values() for rater in ballot))
    if not values:
        raise SettingError("votes: there is none: give by thing and by rater a value")
    said = np.zeros((len(votes), len(raters), len(values)))
    for thing, ballot in enumerate(votes.values()):
        for rater, value in ballot.items():
            said[thing, raters.index(rater), values.index(value)] = 1
    likely = said.sum(axis=1)
    likely /= np.maximum(likely.sum(axis=1, keepdims=True), 1)
    for _ in range(ROUNDS):
        errors = np.einsum("tv,trs->rvs", likely, said) + 0.01
        errors /= errors.sum(axis=2, keepdims=True)
        logs = np.log(likely.mean(axis=0) + 1e-12) + np.einsum("trs,rvs->tv", said, np.log(errors))
        before, likely = likely, np.exp(logs - logs.max(axis=1, keepdims=True))
        likely /= likely.sum(axis=1, keepdims=True)
        if np.abs(likely - before).max() < 1e-9:
            break
    return WeighedVotes(
        {thing: dict(zip(values, map(float, row), strict=True)) for thing, row in zip(votes, likely, strict=True)},
        {
            rater: {value: dict(zip(values, map(float, row), strict=True))
                    for value, row in zip(values, table, strict=True)}
            for rater, table in zip(raters, errors, strict=True)
        },
    )  # fmt: skip
