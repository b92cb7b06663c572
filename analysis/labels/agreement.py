"""Agreement of two labels, or of the votes on one, beyond chance: coefficients, and a report by side and part."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from math import log2
from statistics import fmean
from typing import Any, TypeVar

import numpy as np
from typing_extensions import override

from ...data.labels.reading import AnnotationSide
from ...data.records import Conversation, Record
from ...errors import SettingError
from ..coefficients import (
    AgreementWeights,
    Disagreement,
    FloatArray,
    alpha_disagreement,
    chance_of_all,
    chance_of_margins,
    chance_of_uncertain,
    coefficient,
    distances_of,
    same,
)
from ..estimates import Estimate
from ..tables import Column, Table, TabledReport
from .combining import rectified_rows, rectified_table
from .reading import Group, Scale, groups, matched

Value = TypeVar("Value", bound=Hashable)

VOTES = "votes"
"""The second name of a label whose own votes are compared with each other."""


# Coefficients


def cohen_kappa(
    first: Sequence[Value | None],
    second: Sequence[Value | None],
    *,
    weights: AgreementWeights | None = None,
    values: Sequence[Value] | None = None,
    users: Sequence[str] | None = None,
) -> Estimate:
    """Cohen's kappa (1960); with weights (1968) for values in an order.

    `first` and `second` have a value for each thing, or `None`. `values`: all values in their order, which weights of
    words need; numbers are as far apart as they are. `users`: whose each thing is; by default each is of a user of its
    own. Undefined where both labels have one value only, and always the same.
    """
    order = _order([*first, *second], values)
    if weights is not None and values is None and not all(isinstance(value, int | float) for value in order):
        raise SettingError("weights are for values in an order: give `values`, all values from low to high")
    tables = crossed(first, second, order, users)
    return coefficient(tables, chance_of_margins(distances_of(_places(order), weights)))


def fleiss_kappa(votes: Sequence[Sequence[Value]], *, users: Sequence[str] | None = None) -> Estimate:
    """Fleiss' kappa (1971): `votes` has the votes on each thing, equally many for all."""
    if len({len(of_one) for of_one in votes}) > 1:
        return Estimate(reason="Fleiss' kappa needs equally many votes on all: read alpha")
    order = _order([vote for of_one in votes for vote in of_one], None)
    return _of_votes(votes, order, users, chance_of_all(1 - np.eye(len(order))))


def crossed(
    first: Sequence[Value | None], second: Sequence[Value | None], order: Sequence[Value], users: Sequence[str] | None
) -> FloatArray:
    """How often both labels have each pair of values, user x first x second, of things that have both."""
    if len(first) != len(second):
        raise SettingError(f"two labels of the same things: {len(first)} and {len(second)} values: give equally many")
    tables, of, place = _tables(users, len(first), order)
    for user, a, b in zip(of, first, second, strict=True):
        if a is not None and b is not None:
            tables[user, place[a], place[b]] += 1
    there: FloatArray = tables[tables.sum(axis=(1, 2)) > 0]
    return there


def _of_votes(
    votes: Sequence[Sequence[Value]], order: Sequence[Value], users: Sequence[str] | None, by_chance: Disagreement
) -> Estimate:
    """A coefficient of how often two votes on one thing have each pair of values, user x value x value.

    Each vote of m counts once, by 1 / (m - 1) for each other one. Things with fewer than two votes are left out.
    """
    tables, of, place = _tables(users, len(votes), order)
    sizes = [len(of_one) for of_one in votes if len(of_one) > 1]
    for user, of_one in zip(of, votes, strict=True):
        if len(of_one) > 1:
            counts = np.zeros(len(order))
            for vote in of_one:
                counts[place[vote]] += 1
            tables[user] += (np.outer(counts, counts) - np.diag(counts)) / (len(of_one) - 1)
    return coefficient(tables[tables.sum(axis=(1, 2)) > 0], by_chance, each=fmean(sizes) if sizes else 1.0)


def _tables(
    users: Sequence[str] | None, number: int, order: Sequence[Value]
) -> tuple[FloatArray, Sequence[int], dict[Value, int]]:
    """A table of zeros for each user, the user of each thing, and the place of each value."""
    if users is not None and len(users) != number:
        raise SettingError(f"users: there are {len(users)} for {number} things: give one for each")
    place_of = {name: place for place, name in enumerate(dict.fromkeys(users or ()))}
    of = range(number) if users is None else [place_of[user] for user in users]
    return np.zeros((len(set(of)), len(order), len(order))), of, {value: n for n, value in enumerate(order)}


def _order(labels: Sequence[Value | None], values: Sequence[Value] | None) -> list[Value]:
    """All values in their order: the given one, that of numbers, else that of their names."""
    there = {value for value in labels if value is not None}
    if values is None:
        if all(isinstance(value, int | float) for value in there):
            return sorted(there, key=float)  # type: ignore[arg-type]  # all are numbers
        return sorted(there, key=str)
    if unknown := there - {*values}:
        raise SettingError(f"the values {sorted(map(str, unknown))} are not among {list(map(str, values))}")
    return list(values)


def _places(order: Sequence[Value]) -> FloatArray:
    """Where each value stands: numbers where they are, words one apart."""
    numbers = [float(value) for value in order if isinstance(value, int | float)]
    return np.array(numbers if len(numbers) == len(order) else range(len(order)), dtype=float)


# The report


class AgreementRow(Record):
    """Agreement of two labels, or of the votes on one label, for one side and part; intervals are over users."""

    side: AnnotationSide
    part: str
    label: str
    """The reference, such as people's label; or the label whose votes are compared."""
    against: str
    """The label that is judged by it; `votes` where votes are compared with each other."""
    n: int
    """Conversations or messages that have both."""
    users: int
    accuracy: Estimate = Estimate()
    """Share on which they agree; of votes the share of pairs of votes."""
    base_rate: float
    """Share of the commonest value of the reference: the accuracy of always saying that one."""
    commonest: str
    values: int
    """Different values of both."""
    kappa: Estimate = Estimate()
    """Cohen's; of votes Fleiss'."""
    weighted_kappa: Estimate = Estimate()
    """Cohen's with quadratic weights, for values in an order."""
    ac1: Estimate = Estimate()
    """Gwet's, which does not fall where nearly all have one value."""
    ac2: float | None = None
    """Gwet's with quadratic weights, for values in an order."""
    alpha: Estimate = Estimate()
    """Krippendorff's: interval for numbers, ordinal for words in an order, else nominal."""
    votes: int = 0
    """Maximum number of votes on one thing, of the label that has votes; 0 without."""
    unanimity: float | None = None
    """Share of the things with votes on which all are the same."""
    entropy: float | None = None
    """Mean entropy of the votes, in bits."""
    note: str = ""
    """Why a number is missing or does not mean what it seems to."""


class Agreement(TabledReport):
    """Agreement of labels beside the accuracy of always giving the commonest value.

    Sides are never pooled: labels that differ between sides agree merely by that difference.
    """

    rows: tuple[AgreementRow, ...] = ()
    confusion: tuple[dict[str, Any], ...] = ()
    """Empty unless asked for."""
    rectified: tuple[dict[str, Any], ...] = ()
    """The second label's rates or mean, rectified by the first; empty unless asked for."""
    notes: tuple[str, ...] = ()

    @override
    def tables(self) -> list[Table]:
        tables = [self.table()] if self.rows or not (self.confusion or self.rectified) else []
        labels = [Column(name=name) for name in ("label", "against", "side", "part")]
        if self.confusion:
            columns = [*labels, Column(name="value"), Column(name="judged"), Column(name="n", kind="count")]
            tables.append(Table.of("How often a value of the label meets one of the other", columns, self.confusion))
        return tables + ([rectified_table(self.rectified)] if self.rectified else [])

    def table(self) -> Table:
        """A row for each pair of labels, side and part."""
        columns = [Column(name=name) for name in ("label", "against", "side", "part")]
        columns += [Column(name=name, kind="count") for name in ("n", "users")]
        names = ("accuracy", "base rate", "kappa", "low", "high", "weighted", "AC1", "alpha", "unanimity", "entropy")
        columns += [Column(name=name, kind="number", places=2, wide=name in ("alpha", "entropy")) for name in names]
        rows = [
            row.model_dump(include={"label", "against", "side", "n", "users", "base_rate", "unanimity", "entropy"})
            | {"part": row.part.replace("_", " "), "accuracy": row.accuracy.value, "kappa": row.kappa.value}
            | {"low": row.kappa.low, "high": row.kappa.high, "weighted": row.weighted_kappa.value}
            | {"AC1": row.ac1.value, "alpha": row.alpha.value}
            for row in self.rows
        ]
        about: dict[str, list[str]] = {}
        for row in self.rows:
            about.setdefault(row.note, []).append(f"{row.label} {row.side}")
        notes = [f"{', '.join(dict.fromkeys(names))}: {note}." for note, names in about.items() if note]
        meaning = "Base rate: the accuracy of always saying the commonest value of the first label. Low, high: of kappa, over users."
        if any(row.against == VOTES for row in self.rows):
            meaning += " Of votes kappa is Fleiss', entropy in bits."
        used = [column for column in columns if column.kind != "number" or any(r.get(column.name.replace(" ", "_")) is not None for r in rows)]  # fmt: skip
        return Table.of("Agreement of labels", used, rows, [meaning, *notes, *self.notes])


def agreement(
    first: Iterable[Conversation],
    second: Iterable[Conversation] | None = None,
    *,
    between: Iterable[Sequence[str]],
    ordered: Iterable[Sequence[str]] = (),
    scales: Mapping[str, Sequence[str]] | None = None,
    confusion: bool = False,
    rectify: bool = False,
) -> Agreement:
    """Agreement of labels that conversations carry, a row for each side and part.

    Args:
        first: Conversations with the reference.
        second: The same conversations with the other label, matched by path or id; None: `first` has both.
        between: Pairs of names, the reference first; a single name compares its votes.
        ordered: Values of words from low to high, for every label without an order of its own.
        scales: The same by the name of a label or of its part.
        confusion: Count how often a value of the one meets each value of the other.
        rectify: Estimate the second label's rates or mean over all, rectified by the first where both are.

    DataError for a label that is not there, SettingError for an order of no label.
    """
    first, orders = list(first), [*ordered]
    pairs = matched(first, second)
    rows: list[AgreementRow] = []
    crossings: list[dict[str, Any]] = []
    rectified: list[dict[str, Any]] = []
    notes = []
    if second is not None and len(pairs) < len(first):
        notes.append(f"Left out: {len(first) - len(pairs)} conversations of the first source, not in the second.")
    compared = [(names, group) for names in between for group in groups(pairs, names)]
    _check_orders([group for _, group in compared], orders)
    for names, group in compared:
        scale = Scale.of(group, orders, scales)
        if len(names) == 1 and second is not None:
            raise SettingError(
                f"between {names[0]!r}: votes are of one source: give one source, or {names[0]},{names[0]}"
            )
        if len(names) == 1:
            rows += [_votes_row(group, scale)] if any(unit.votes for unit in group.units) else []
        else:
            rows += [_labels_row(group, scale)] if group.both else []
            crossings += _crossings(group, scale) if confusion else ()
            rectified += rectified_rows(group, scale) if rectify else ()
    if not rows:
        notes.append("Nothing has both labels, or a vote beside another: one value each tells nothing.")
    if any(row.side == "not told" for row in rows):
        notes.append(
            "Side not told: the data does not state whether these users are simulated. If there are both, give each in a "
            "source of its own: where the two differ, labels agree because of that."
        )
    return Agreement(rows=tuple(rows), confusion=tuple(crossings), rectified=tuple(rectified), notes=tuple(notes))


def _labels_row(group: Group, scale: Scale) -> AgreementRow:
    units = group.both
    one, other = ([str(unit.values[side]) for unit in units] for side in (0, 1))
    users = [unit.user for unit in units]
    notes = []
    ties = [sum(label is not None and label.value is None for label in labels)
            for labels in ([u.first for u in group.units], [u.second for u in group.units])]  # fmt: skip
    notes += [f"{n} of {title} are ties, left out" for title, n in zip(group.titles, ties, strict=True) if n]
    if group.titles[0] == group.titles[1] and all(unit.first == unit.second for unit in units):
        notes.append("both are the same throughout: where one is a copy of the other this measures nothing")
    if scale.is_text:
        notes.append(f"{len(scale.values)} values, which is a text: compared only for equality")
        equal = ["same" if a == b else "other" for a, b in zip(one, other, strict=True)]
        tables = crossed(["same"] * len(equal), equal, ["same", "other"], users)
        return _row(group, one, len(units), notes, users, accuracy=coefficient(tables, same()))
    tables = crossed(one, other, scale.values, users)
    kappa = coefficient(tables, chance_of_margins(distances_of(scale.places, None)))
    constant = [f"{title} is always {values[0]}"
                for title, values in zip(group.titles, (one, other), strict=True) if len({*values}) == 1]  # fmt: skip
    if constant:  # 0 by its formula, and leaving out users does not move it
        undefined = "is undefined" if kappa.value is None else "is 0 for any other label"
        kappa = Estimate(value=kappa.value, n=kappa.n, reason=f"kappa {undefined}: {' and '.join(constant)}")
    quadratic = distances_of(scale.places, "quadratic")
    by_margins, uncertain = chance_of_margins(quadratic), chance_of_uncertain(quadratic)
    return _row(
        group,
        one,
        len(units),
        [*notes, kappa.reason],
        users,
        accuracy=coefficient(tables, same()),
        kappa=kappa,
        weighted_kappa=Estimate() if scale.level == "nominal" or constant else coefficient(tables, by_margins),
        ac1=coefficient(tables, chance_of_uncertain(distances_of(scale.places, None))),
        ac2=None if scale.level == "nominal" else coefficient(tables, uncertain).value,
        alpha=_alpha(list(zip(one, other, strict=True)), scale, users),
    )


def _votes_row(group: Group, scale: Scale) -> AgreementRow:
    units = [unit for unit in group.units if unit.votes]
    users, votes = [unit.user for unit in units], [unit.votes for unit in units]
    every = [vote for of_one in votes for vote in of_one]
    if scale.is_text:
        return _row(group, every, len(units), ["its values are texts: votes on them have no kappa"], users)
    kappa = fleiss_kappa(votes, users=users)
    notes = [kappa.reason if len(set(every)) > 1 else f"kappa is undefined: every vote is {every[0]}"]
    if all(len({*of_one}) == 1 for of_one in votes) and len(votes) > 1:
        notes.append("the votes are identical throughout: they do not show how sure the label is")
    agreed = _of_votes(votes, scale.values, users, same())
    return _row(group, every, len(units), notes, users, accuracy=agreed, kappa=kappa, alpha=_alpha(votes, scale, users))


def _alpha(votes: Sequence[Sequence[str]], scale: Scale, users: Sequence[str]) -> Estimate:
    return _of_votes(votes, scale.values, users, alpha_disagreement(scale.level, scale.places))


def _row(
    group: Group, values: Sequence[str], n: int, notes: Sequence[str], users: Sequence[str], **found: Any
) -> AgreementRow:
    counts = Counter(values)
    most = max(counts, key=lambda value: (counts[value], str(value)))
    votes = [unit.votes for unit in group.units if unit.votes]
    return AgreementRow(
        side=group.side,
        part=group.part,
        label=group.titles[0],
        against=group.titles[1] if len(group.titles) == 2 else VOTES,
        n=n,
        users=len({*users}),
        base_rate=counts[most] / len(values),
        commonest=most,
        values=len(group.values),
        votes=max(map(len, votes), default=0),
        unanimity=fmean(len({*of_one}) == 1 for of_one in votes) if votes else None,
        entropy=fmean(map(_entropy, votes)) if votes else None,
        note="; ".join(filter(None, notes)),
        **found,
    )


def _entropy(votes: Sequence[str]) -> float:
    """Of votes, in bits (Shannon 1948)."""
    shares = [number / len(votes) for number in Counter(votes).values()]
    return -sum(share * log2(share) for share in shares) if len(shares) > 1 else 0.0


def _crossings(group: Group, scale: Scale) -> list[dict[str, Any]]:
    place = {value: number for number, value in enumerate(scale.values)}
    counts = Counter(unit.values for unit in group.both)
    about = {"side": group.side, "part": group.part, "label": group.titles[0], "against": group.titles[1]}
    return [
        {**about, "value": str(one), "judged": str(other), "n": counts[one, other]}
        for one, other in sorted(counts, key=lambda pair: (place[str(pair[0])], place[str(pair[1])]))
    ]


def _check_orders(compared: Sequence[Group], ordered: Iterable[Sequence[str]]) -> None:
    """SettingError for an order in which no label has all of its values."""
    for words in ordered:
        order = {str(word).lower() for word in words}
        if compared and not any(group.values <= order for group in compared):
            group = max(compared, key=lambda group: len(group.values & order))
            missing = sorted(group.values - order)
            raise SettingError(
                f"ordered {','.join(map(str, words))}: is not an order of any label: {group.titles[-1]} also has "
                f"{', '.join(missing[:5])}: give all its values from low to high"
            )
