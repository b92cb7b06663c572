"""One row of agreement: two labels, or the votes on one, for one side and part."""

from collections import Counter
from collections.abc import Sequence
from statistics import fmean
from typing import Any

from ...data.records import Record
from ...data.votes import entropy_of
from ..annotations import Side
from .coefficients import (
    Weights,
    alpha_disagreement,
    chance_of_all,
    chance_of_margins,
    chance_of_uncertain,
    coincidences,
    crossed,
    distances_of,
    same,
)
from .comparing import Group, Scale, value_of, votes_of
from .intervals import Estimate, estimate
from .pages import VOTES
from .reading import Unit


class AgreementRow(Record):
    """How far two labels, or the votes on one label, agree for one side and part. Intervals are 95 %, over users."""

    side: Side
    label: str
    """The reference, such as what people say; or the label whose votes are compared."""
    against: str
    """The label that is judged by it; `votes` where votes are compared with each other."""
    part: str
    """The part that is compared, by its name in the first label; empty if it has none."""
    n: int
    """Conversations or messages that have both."""
    users: int
    """People, or profiles, whose these are."""
    accuracy: float | None
    """Share on which they agree; of votes the share of pairs of votes."""
    accuracy_low: float | None
    accuracy_high: float | None
    base_rate: float | None
    """Share of the commonest value of the reference: the accuracy of always saying that one."""
    commonest: str
    kappa: float | None
    """Cohen's; of votes Fleiss'."""
    kappa_low: float | None
    kappa_high: float | None
    weighted_kappa: float | None
    """Cohen's with quadratic weights, for values in an order."""
    weighted_kappa_low: float | None
    weighted_kappa_high: float | None
    linear_kappa: float | None
    """With linear weights."""
    ac1: float | None
    """Gwet's, which does not fall where nearly all have one value."""
    ac1_low: float | None
    ac1_high: float | None
    ac2: float | None
    """Gwet's with quadratic weights, for values in an order."""
    alpha: float | None
    """Krippendorff's: interval for numbers, ordinal for words in an order, else nominal."""
    alpha_low: float | None
    alpha_high: float | None
    votes: int
    """Most votes on one thing, of the label that has votes; 0 without."""
    unanimity: float | None
    """Share of the things with votes on which all are the same."""
    entropy: float | None
    """Mean entropy of the votes, in bits."""
    fleiss: float | None
    """Fleiss' kappa of the votes."""
    fleiss_low: float | None
    fleiss_high: float | None
    note: str
    """Why a number is missing or does not mean what it seems to."""


def labels_row(group: Group, scale: Scale) -> AgreementRow:
    """The row of two labels."""
    units = group.both
    one, other = [value_of(unit.first) for unit in units], [value_of(unit.second) for unit in units]
    users = [unit.user for unit in units]
    notes = _remarks(group)
    if scale.is_text:
        notes.append(f"{len(scale.values)} values, which is a text: compared for being equal alone")
        equal = [value == judged for value, judged in zip(one, other, strict=True)]
        agreed = estimate(crossed(["same"] * len(equal), ["same" if yes else "other" for yes in equal],
                                  ["same", "other"], users), same())  # fmt: skip
        return AgreementRow(**_begun(group, units, one, agreed), **_none_but(group, scale), note="; ".join(notes))
    tables = crossed(one, other, scale.values, users)
    constant = _constant(group, one, other)
    kappas = {weights: _kappa(tables, scale, weights, constant) for weights in (None, "linear", "quadratic")}
    notes += [f"kappa {'is undefined' if kappas[None].value is None else 'is 0 whatever the other says'}: {constant}"
              if constant else kappas[None].reason]  # fmt: skip
    plain = distances_of(scale.places, None)
    both = list(zip(one, other, strict=True))
    alpha = estimate(coincidences(both, scale.values, users), alpha_disagreement(scale.level, scale.places))
    squares = estimate(tables, chance_of_uncertain(distances_of(scale.places, "quadratic"))) if scale.ordered else None
    return AgreementRow(
        **_begun(group, units, one, estimate(tables, same())),
        **_bounds("kappa", kappas[None]),
        **_bounds("weighted_kappa", kappas["quadratic"]),
        linear_kappa=kappas["linear"].value,
        **_bounds("ac1", estimate(tables, chance_of_uncertain(plain))),
        ac2=None if squares is None else squares.value,
        **_bounds("alpha", alpha),
        **_voting(group.units, scale),
        note="; ".join(filter(None, notes)),
    )


def votes_row(group: Group, scale: Scale) -> AgreementRow:
    """The row of the votes on one label."""
    units = group.voted
    users, votes = [unit.user for unit in units], [votes_of(unit) for unit in units]
    given = [vote for of_one in votes for vote in of_one]
    if scale.is_text:
        note = f"{len(scale.values)} values, which is a text: votes on it have no kappa"
        begun = _begun(group, units, given, Estimate(value=None)) | {"against": VOTES}
        return AgreementRow(**begun, **_none_but(group, scale), note=note)
    tables = coincidences(votes, scale.values, users)
    notes = []
    kappa = _fleiss(units, scale)
    if kappa.reason:
        notes.append(
            f"kappa is undefined: every vote is {group.text_of(votes[0][0])}"
            if kappa.reason == "one value only"
            else kappa.reason
        )
    if all(len({*of_one}) == 1 for of_one in votes) and len(votes) > 1:
        notes.append("the votes are identical throughout: they say nothing of how sure the label is")
    alpha = estimate(tables, alpha_disagreement(scale.level, scale.places))
    begun = _begun(group, units, given, estimate(tables, same()))
    return AgreementRow(
        **begun | {"against": VOTES},
        **_bounds("kappa", kappa),
        **_none("weighted_kappa") | _none("ac1"),
        linear_kappa=None,
        ac2=None,
        **_bounds("alpha", alpha),
        **_voting(units, scale),
        note="; ".join(notes),
    )


def _begun(group: Group, units: Sequence[Unit], of: Sequence[str | None], agreed: Estimate) -> dict[str, Any]:
    counts = Counter(of)
    most = max(counts, key=lambda value: (counts[value], str(value)))
    return {
        "side": group.side,
        "label": group.titles[0],
        "against": group.titles[-1],
        "part": group.part,
        "n": len(units),
        "users": len({unit.user for unit in units}),
        **_bounds("accuracy", agreed),
        "base_rate": counts[most] / len(of),
        "commonest": group.text_of(most),
    }


def _remarks(group: Group) -> list[str]:
    notes = []
    if group.copied:
        notes.append("both sources have the same throughout: where one is a copy of the other this measures nothing")
    for title, labels in zip(
        group.called, ([u.first for u in group.units], [u.second for u in group.units]), strict=True
    ):
        if ties := sum(label is not None and label.value is None for label in labels):
            notes.append(f"{ties} of {title} are ties, left out")
    if several := sum(len(label.values) > 1 for u in group.both for label in (u.first, u.second) if label is not None):
        notes.append(f"{several} labels have several values, which count as one")
    return notes


def _constant(group: Group, one: Sequence[str | None], other: Sequence[str | None]) -> str:
    """Which labels have one value only, in words; empty if none has."""
    alone = [
        f"{title} is always {group.text_of(values[0])}"
        for title, values in zip(group.called, (one, other), strict=True)
        if len({*values}) == 1
    ]
    return " and ".join(alone)


def _kappa(tables: Any, scale: Scale, weights: Weights | None, constant: str) -> Estimate:
    if weights is not None and not scale.ordered:
        return Estimate(value=None)
    found = estimate(tables, chance_of_margins(distances_of(scale.places, weights)))
    # With one value on either side it is 0 by its formula, and no users' resampling moves it.
    return Estimate(value=found.value, reason=constant) if constant else found


def _voting(units: Sequence[Unit], scale: Scale) -> dict[str, Any]:
    voted = [unit for unit in units if votes_of(unit)]
    votes = [votes_of(unit) for unit in voted]
    return {
        "votes": max(map(len, votes), default=0),
        "unanimity": fmean(len({*of_one}) == 1 for of_one in votes) if votes else None,
        "entropy": fmean(map(entropy_of, votes)) if votes else None,
        **_bounds("fleiss", _fleiss(voted, scale) if votes and not scale.is_text else Estimate(value=None)),
    }


def _fleiss(units: Sequence[Unit], scale: Scale) -> Estimate:
    votes = [votes_of(unit) for unit in units]
    if len({len(of_one) for of_one in votes}) > 1:
        return Estimate(value=None, reason="Fleiss' kappa needs equally many votes on all: read alpha")
    tables = coincidences(votes, scale.values, [unit.user for unit in units])
    return estimate(tables, chance_of_all(distances_of(scale.places, None)))


def _none_but(group: Group, scale: Scale) -> dict[str, Any]:
    missing = [_none(name) for name in ("kappa", "weighted_kappa", "ac1", "alpha")]
    return (
        {key: None for of_one in missing for key in of_one}
        | {"linear_kappa": None, "ac2": None}
        | _voting(group.units, scale)
    )


def _bounds(name: str, found: Estimate) -> dict[str, Any]:
    return {name: found.value, f"{name}_low": found.low, f"{name}_high": found.high}


def _none(name: str) -> dict[str, Any]:
    return _bounds(name, Estimate(value=None))
