"""One row of agreement: two labels, or the votes on one, for one side and part."""

from collections import Counter
from collections.abc import Sequence
from statistics import fmean
from typing import Any

from ....data.labels.votes import entropy_of
from ...over_users.chance import (
    AgreementWeights,
    alpha_disagreement,
    chance_of_all,
    chance_of_margins,
    chance_of_uncertain,
    distances_of,
    same,
)
from ...over_users.estimate import FloatArray, UserScore
from ...over_users.jackknife import coefficient_interval
from .coefficients import coincidences, crossed, votes_each
from .comparing import Group, Scale, value_of, votes_of
from .pages import VOTES, ComparedRow, bounds
from .reading import ComparedUnit


class AgreementRow(ComparedRow):
    """Agreement of two labels, or of the votes on one label, for one side and part.

    Intervals are 95 %, over users.
    """

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
    kappa: float | None = None
    """Cohen's; of votes Fleiss'."""
    kappa_low: float | None = None
    kappa_high: float | None = None
    weighted_kappa: float | None = None
    """Cohen's with quadratic weights, for values in an order."""
    weighted_kappa_low: float | None = None
    weighted_kappa_high: float | None = None
    linear_kappa: float | None = None
    """With linear weights."""
    ac1: float | None = None
    """Gwet's, which does not fall where nearly all have one value."""
    ac1_low: float | None = None
    ac1_high: float | None = None
    ac2: float | None = None
    """Gwet's with quadratic weights, for values in an order."""
    alpha: float | None = None
    """Krippendorff's: interval for numbers, ordinal for words in an order, else nominal."""
    alpha_low: float | None = None
    alpha_high: float | None = None
    votes: int = 0
    """Maximum number of votes on one thing, of the label that has votes; 0 without."""
    unanimity: float | None = None
    """Share of the things with votes on which all are the same."""
    entropy: float | None = None
    """Mean entropy of the votes, in bits."""
    fleiss: float | None = None
    """Fleiss' kappa of the votes."""
    fleiss_low: float | None = None
    fleiss_high: float | None = None
    note: str = ""
    """Why a number is missing or does not mean what it seems to."""


def labels_row(group: Group, scale: Scale) -> AgreementRow:
    """The row of two labels."""
    units = group.both
    one, other = [value_of(unit.first) for unit in units], [value_of(unit.second) for unit in units]
    users = [unit.user for unit in units]
    notes = _remarks(group)
    if scale.is_text:
        notes.append(f"{len(scale.values)} values, which is a text: compared only for equality")
        equal = ["same" if value == judged else "other" for value, judged in zip(one, other, strict=True)]
        tables = crossed(["same"] * len(equal), equal, ["same", "other"], users)
        return _row(group, scale, units, one, tables, notes)
    tables = crossed(one, other, scale.values, users)
    constant = _constant(group, one, other)
    kappas = {weights: _kappa(tables, scale, weights, constant) for weights in (None, "linear", "quadratic")}
    notes += [f"kappa {'is undefined' if kappas[None].value is None else 'is 0 for any other label'}: {constant}"
              if constant else kappas[None].reason]  # fmt: skip
    squares = chance_of_uncertain(distances_of(scale.places, "quadratic"))
    return _row(
        group,
        scale,
        units,
        one,
        tables,
        notes,
        **bounds("kappa", kappas[None]),
        **bounds("weighted_kappa", kappas["quadratic"]),
        linear_kappa=kappas["linear"].value,
        **bounds(
            "ac1", coefficient_interval(tables, chance_of_uncertain(distances_of(scale.places, None)), margins=False)
        ),
        ac2=coefficient_interval(tables, squares).value if scale.ordered else None,
        **_alpha(list(zip(one, other, strict=True)), scale, users),
    )


def votes_row(group: Group, scale: Scale) -> AgreementRow:
    """The row of the votes on one label."""
    units = group.voted
    users, votes = [unit.user for unit in units], [votes_of(unit) for unit in units]
    all_votes = [vote for of_one in votes for vote in of_one]
    if scale.is_text:
        note = f"{len(scale.values)} values, which is a text: votes on it have no kappa"
        return _row(group, scale, units, all_votes, None, [note])
    tables = coincidences(votes, scale.values, users)
    kappa = _fleiss(units, scale)
    notes = [f"kappa is undefined: every vote is {group.text_of(votes[0][0])}"
             if kappa.reason == "one value only" else kappa.reason]  # fmt: skip
    if all(len({*of_one}) == 1 for of_one in votes) and len(votes) > 1:
        notes.append("the votes are identical throughout: they do not show how sure the label is")
    return _row(group, scale, units, all_votes, tables, notes, **bounds("kappa", kappa), **_alpha(votes, scale, users))


def _row(
    group: Group,
    scale: Scale,
    units: Sequence[ComparedUnit],
    of: Sequence[str | None],
    tables: FloatArray | None,
    notes: Sequence[str],
    **coefficients: Any,
) -> AgreementRow:
    """A row about these values, with the accuracy of the tables."""
    counts = Counter(of)
    most = max(counts, key=lambda value: (counts[value], str(value)))
    agreed = UserScore(value=None) if tables is None else coefficient_interval(tables, same(), margins=False)
    voted = [unit for unit in group.units if votes_of(unit)]
    votes = [votes_of(unit) for unit in voted]
    return AgreementRow(
        **group.of_two(VOTES),
        n=len(units),
        users=len({unit.user for unit in units}),
        **bounds("accuracy", agreed),
        base_rate=counts[most] / len(of),
        commonest=group.text_of(most),
        **coefficients,
        votes=max(map(len, votes), default=0),
        unanimity=fmean(len({*of_one}) == 1 for of_one in votes) if votes else None,
        entropy=fmean(map(entropy_of, votes)) if votes else None,
        **(bounds("fleiss", _fleiss(voted, scale)) if votes and not scale.is_text else {}),
        note="; ".join(filter(None, notes)),
    )


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


def _kappa(tables: FloatArray, scale: Scale, weights: AgreementWeights | None, constant: str) -> UserScore:
    if weights is not None and not scale.ordered:
        return UserScore(value=None)
    kappa = coefficient_interval(tables, chance_of_margins(distances_of(scale.places, weights)))
    # With one value on either side it is 0 by its formula, and no users' resampling moves it.
    return UserScore(value=kappa.value, reason=constant) if constant else kappa


def _alpha(votes: Sequence[Sequence[Any]], scale: Scale, users: Sequence[str]) -> dict[str, Any]:
    tables, level = coincidences(votes, scale.values, users), alpha_disagreement(scale.level, scale.places)
    return bounds("alpha", coefficient_interval(tables, level, votes=votes_each(votes)))


def _fleiss(units: Sequence[ComparedUnit], scale: Scale) -> UserScore:
    votes = [votes_of(unit) for unit in units]
    if len({len(of_one) for of_one in votes}) > 1:
        return UserScore(value=None, reason="Fleiss' kappa needs equally many votes on all: read alpha")
    tables = coincidences(votes, scale.values, [unit.user for unit in units])
    return coefficient_interval(tables, chance_of_all(distances_of(scale.places, None)), votes=votes_each(votes))
