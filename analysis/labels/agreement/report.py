"""Agreement of labels that conversations carry: a flat row for each side and part."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from typing_extensions import override

from ....data.records import Conversation
from ...tables import Column, Table
from .comparing import check_orders, groups, scale_of, value_of
from .pages import VOTES, ComparedRow, ComparedRows, interval_shown
from .reading import matched
from .rows import AgreementRow, labels_row, votes_row

NO_VOTES = (
    "one value each and no votes, nothing to compare: name a second label, or label again with votes that are kept"
)
ALL_TIES = "no value is left to compare: compare the votes of one label, or decide the ties"
BASE_RATE = "Base rate: the accuracy of always saying the commonest value of the first label."
VOTES_MEANING = (
    "Unanimity: share on which all votes are the same; entropy in bits; kappa is Fleiss', alpha Krippendorff's."
)
NO_SIDE = (
    "Side unknown: the data does not state whether these users are simulated or people. If there are both, give each in a "
    "source of its own: where the two differ, labels agree because of that."
)


class Agreement(ComparedRows[AgreementRow], title="Agreement of labels"):
    """Agreement of two labels of the same conversations, beside the accuracy of always giving the commonest value.

    Sides are never pooled: labels that differ between sides agree merely by that difference. Intervals are 95 %, over
    users.
    """

    @override
    def page(self, label: str, against: str, rows: Sequence[AgreementRow]) -> Table:
        voted = against == VOTES
        ordered = any(row.weighted_kappa is not None for row in rows)
        names = (
            ["unanimity", "entropy", "kappa", "95 %", "alpha"]
            if voted
            else ["accuracy", "base rate", "kappa", "95 %", *(["weighted"] if ordered else []), "AC1"]
        )
        columns = [
            *(Column(name=name) for name in ("side", "part")),
            *(Column(name=name, kind="count") for name in ("n", "users")),
            *(Column(name=name, kind="text" if name == "95 %" else "number", places=2) for name in names),
        ]
        table = self.page_of(
            f"{label}: agreement of its votes" if voted else f"{label} and {against}",
            columns,
            rows,
            [VOTES_MEANING] if voted else [],
            **{
                "95_%": lambda row: interval_shown(row.kappa_low, row.kappa_high),
                "weighted": lambda row: row.weighted_kappa,
                "AC1": lambda row: row.ac1,
            },
        )
        return table.model_copy(update={"notes": tuple(note for note in table.notes if not voted or note != BASE_RATE)})


class ConfusionRow(ComparedRow):
    """How often two labels have one pair of values, for one side and part."""

    value: str
    """Of the reference."""
    judged: str
    """Of the other label."""
    n: int


class Confusion(ComparedRows[ConfusionRow], title="Confusion of values"):
    """How often each value of one label meets each value of the other."""

    @override
    def page(self, label: str, against: str, rows: Sequence[ConfusionRow]) -> Table:
        columns = [*(Column(name=name) for name in ("side", "part", "first", "second")), Column(name="n", kind="count")]
        title = f"How often a value of {label}, first, meets one of {against}, second"
        return self.page_of(title, columns, rows, first=lambda row: row.value, second=lambda row: row.judged)


def agreement(
    first: Iterable[Conversation],
    second: Iterable[Conversation] | None = None,
    *,
    between: Iterable[Sequence[str]],
    ordered: Iterable[Sequence[str]] = (),
    scales: Mapping[str, Sequence[str]] | None = None,
    sources: Sequence[str] = (),
) -> Agreement:
    """Agreement of labels that conversations carry, a row for each side and part.

    `between`: pairs of names, the reference first (`[("style_human", "style")]`); a single name compares
    its votes. With two sources the reference is of the first, the other of the second, and conversations are matched by
    path or id. `ordered`: values of words from low to high, for every label without an order of its own. `scales`: the
    same by the name of a label or of its part. DataError for a label that is not there.
    """
    pairs = matched(first, second, sources)
    orders, rows, notes = [*ordered], [], [*pairs.notes]
    compared_groups = [*groups(pairs, between)]
    check_orders(compared_groups, orders)
    alone: dict[str, None] = {}
    for group in compared_groups:
        scale = scale_of(group, orders, scales)
        if len(group.titles) == 1 and group.voted:
            rows.append(votes_row(group, scale))
        elif len(group.titles) == 1:
            alone[group.titles[0].removesuffix(f".{group.part}")] = None
        elif group.both:
            rows.append(labels_row(group, scale))
        elif tied := group.tied:
            side = "" if group.side == "not told" else f" ({group.side})"
            notes.append(
                f"{' and '.join(group.called)}{side}: one or both are a tie in all {tied} cases, so {ALL_TIES}."
            )
    voted_labels = {row.label.removesuffix(f".{row.part}") for row in rows if row.against == VOTES}
    if lacking := [name for name in alone if name not in voted_labels]:
        notes.append(f"{', '.join(lacking)}: {NO_VOTES}.")
    if not rows and not lacking and not any(ALL_TIES in note for note in notes):
        notes.append("Nothing has both labels.")
    if any(row.against != VOTES for row in rows):
        notes.append(BASE_RATE)
    if any(row.side == "not told" for row in rows):
        notes.append(NO_SIDE)
    return Agreement(rows=tuple(rows), notes=tuple(notes), sources=pairs.sources)


def confusion(
    first: Iterable[Conversation],
    second: Iterable[Conversation] | None = None,
    *,
    between: Iterable[Sequence[str]],
    ordered: Iterable[Sequence[str]] = (),
    scales: Mapping[str, Sequence[str]] | None = None,
    sources: Sequence[str] = (),
) -> Confusion:
    """How often two labels have each pair of values.

    The parameters are as those of `agreement`.
    """
    pairs = matched(first, second, sources)
    orders, rows = [*ordered], []
    for group in groups(pairs, [names for names in between if len(names) == 2]):
        counts = Counter((value_of(unit.first), value_of(unit.second)) for unit in group.both)
        values = scale_of(group, orders, scales).values
        place = {value: number for number, value in enumerate(values)}
        for one, other in sorted(counts, key=lambda pair: (place[str(pair[0])], place[str(pair[1])])):
            rows.append(
                ConfusionRow(
                    **group.of_two(), value=group.text_of(one), judged=group.text_of(other), n=counts[one, other]
                )
            )
    return Confusion(rows=tuple(rows), notes=pairs.notes, sources=pairs.sources)
