"""Selects the labels of a judge that are right often enough for held-out users."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from typing_extensions import override

from ....data.labels.votes import entropy_of
from ....data.records import Conversation
from ....errors import DataError, SettingError
from ...over_users.estimate import of_users, sums_of
from ...over_users.jackknife import lower_bound
from ...table_escapes import DASH
from ...tables import Column, Table
from .comparing import Group, groups, number_of, value_of, votes_of
from .pages import ComparedRow, ComparedRows
from .reading import ComparedUnit, LabelPlace, labels_of, matched, named

ERROR = 0.05
"""Chance that labels reported to hold the precision do not."""

STEPS = 10
"""Maximum number of thresholds that are tried."""


class AbstentionRow(ComparedRow):
    """The labels of a judge that are kept, for one side and part."""

    target: float
    """Precision that the kept labels are to have."""
    held: bool
    """Whether they have it for new users, with 95 % confidence."""
    keep: str
    """The rule for what is kept; empty if the precision cannot be held."""
    n: int
    """Kept ones that people labelled, too; of all if it cannot be held."""
    users: int
    precision: float | None
    """Share of these on which both agree."""
    at_least: float | None
    """The lower 95 % bound of the precision over users."""
    kept: float
    """Share of all that the judge labelled that is kept, 0 to 1."""
    of: int
    """All that the judge labelled."""
    note: str


class Abstention(ComparedRows[AbstentionRow], title="Labels that hold a precision"):
    """The labels of a judge that hold a precision, and how many these are."""

    columns: ClassVar = (
        *(Column(name=name) for name in ("side", "part")),
        Column(name="held", kind="flag"),
        Column(name="keep"),
        *(Column(name=name, kind="count") for name in ("n", "users")),
        *(Column(name=name, kind="number", places=2) for name in ("precision", "at least", "kept")),
        Column(name="of", kind="count"),
    )

    @override
    def page(self, label: str, against: str, rows: Sequence[AbstentionRow]) -> Table:
        title = f"Labels of {against} that {label} predicts with a precision of {rows[0].target:g}"
        return self.page_of(title, self.columns, rows, keep=lambda row: row.keep or DASH)


def abstention(
    first: Iterable[Conversation],
    second: Iterable[Conversation] | None = None,
    *,
    between: Iterable[Sequence[str]],
    precision: float,
    confidence: str | None = None,
    sources: Sequence[str] = (),
) -> Abstention:
    """The judge's labels to keep, by role and part.

    The first label is people's, the second the judge's. Thresholds are tried from the strictest on, each looser one
    only where the stricter one held. So no choice needs a correction (fixed sequence testing: Angelopoulos et al.,
    "Learn then Test", 2021, section 2.1). A threshold holds where the lower 95 % bound over users is at least the
    precision.

    Args:
        first: Conversations with labels.
        second: The same conversations with the judge's labels; None: both are in `first`.
        between: Pairs of names of labels, as for `agreement`.
        precision: The share of kept labels that must be right, between 0 and 1.
        confidence: A label that is a number: labels with the highest are kept first. Default: by their votes, labels on
            which all agree first.
        sources: Names of the two sources, as for `agreement`.

    Returns:
        The labels to keep.

    Raises:
        SettingError: The precision is not between 0 and 1.
    """
    if not 0 < precision < 1:
        raise SettingError(f"a precision is between 0 and 1, not {precision}")
    pairs = matched(first, second, sources)
    confidences = None if confidence is None else _confidences(confidence, [other for _, other in pairs.pairs])
    rows = []
    for group in groups(pairs, [names for names in between if len(names) == 2]):
        if judged := group.judged:
            sure = [
                _by_votes(unit) if confidences is None else confidences.get((unit.number, unit.place))
                for unit in judged
            ]
            rows.append(_row(group, judged, sure, precision, confidence))
    return Abstention(rows=tuple(rows), notes=pairs.notes, sources=pairs.sources)


def _row(
    group: Group, judged: Sequence[ComparedUnit], sure: Sequence[float | None], target: float, confidence: str | None
) -> AbstentionRow:
    best: tuple[float, _RetainedAgreement] | None = None
    tried: _RetainedAgreement | None = None
    for level in _levels(sure):
        kept_labels = _retained_agreement(
            [unit for unit, one in zip(judged, sure, strict=True) if one is not None and one >= level]
        )
        if kept_labels is None or kept_labels.possible < target:
            continue  # with so few users it could not hold even if all were right: nothing is tried
        tried = kept_labels
        if kept_labels.at_least < target:
            break
        best = (level, kept_labels)
    keep, note, number, shown = "", "", 0, _retained_agreement(judged)
    if best is not None:
        level, shown = best
        number = sum(one is not None and one >= level for one in sure)
        what = "entropy of the votes at most" if confidence is None else f"{confidence} at least"
        keep = "all" if number == len(judged) else f"{what} {-level if confidence is None else level:.3g}"
    elif tried is not None:
        note = f"cannot be held: the bound of the surest is {tried.at_least:.3f}"
    elif shown is None:
        note = "cannot be held: people labelled nothing that the judge did"
    else:
        note = f"cannot be held: with so few users the bound could be {shown.possible:.3f} at best"
    return AbstentionRow(
        **group.of_two(),
        target=target,
        held=best is not None,
        keep=keep,
        n=shown.n if shown else 0,
        users=shown.users if shown else 0,
        precision=shown.precision if shown else None,
        at_least=shown.at_least if shown else None,
        kept=number / len(judged),
        of=len(judged),
        note=note,
    )


@dataclass(frozen=True)
class _RetainedAgreement:
    """Agreement of people with some of the judge's labels."""

    n: int
    users: int
    precision: float
    at_least: float
    possible: float
    """The bound if all were right, which depends only on how many users labelled how much."""


def _retained_agreement(units: Sequence[ComparedUnit]) -> _RetainedAgreement | None:
    both = [unit for unit in units if value_of(unit.first) is not None]
    if not both:
        return None
    names, user = of_users([unit.user for unit in both])
    number = sums_of(np.ones(len(both)), user)
    of_right = sums_of(np.array([value_of(unit.first) == value_of(unit.second) for unit in both]), user)
    return _RetainedAgreement(
        n=len(both),
        users=len(names),
        precision=float(of_right.sum() / number.sum()),
        at_least=lower_bound(of_right, number, ERROR),
        possible=lower_bound(number, number, ERROR),
    )


def _levels(sure: Sequence[float | None]) -> list[float]:
    """Thresholds from the strictest on: every level that there is, or those that divide the labels evenly."""
    there = sorted((one for one in sure if one is not None), reverse=True)
    levels = sorted(set(there), reverse=True)
    if len(levels) > STEPS:
        levels = sorted({there[round(len(there) * step / STEPS) - 1] for step in range(1, STEPS + 1)}, reverse=True)
    return levels


def _by_votes(unit: ComparedUnit) -> float:
    """Less the entropy of the votes; 0 without votes, so that all are alike."""
    return -entropy_of(votes_of(unit)) if unit.second is not None and len(unit.second.votes) > 1 else 0.0


def _confidences(name: str, conversations: Sequence[Conversation]) -> dict[tuple[int, LabelPlace], float]:
    """The confidence of each conversation or message, by the conversation's number and the message's."""
    label_name = named(name, conversations, "--confidence")
    confidences: dict[tuple[int, LabelPlace], float] = {}
    for number, talk in enumerate(conversations):
        for (place, part), label in labels_of(talk, label_name.key).items():
            if part == (label_name.part or "") and label.value is not None:
                if (value := number_of(label.value)) is None:
                    raise DataError(f"{name}: a confidence is a number, not {label.value!r}: name another label")
                confidences[number, place] = value
    return confidences
