"""The criteria of validity: whether users keep the known order, also at twice the scenarios, and beyond the band."""

from collections.abc import Iterable, Sequence
from statistics import fmean, median
from typing import NamedTuple, TypeAlias

from ...data.records import Record
from .link_outcomes import KnownPair, UserOutcomes

MedianRange: TypeAlias = tuple[float | None, float | None, float | None]
"""Median, minimum and maximum over users."""


class LinkUserRow(Record):
    """One user: what it finds out in one domain."""

    user: str
    domain: str
    conversations: int
    unscored: int
    """Conversations without a success or a satisfaction."""
    agreement: float | None
    """Share of known pairs in their order."""
    size: float | None
    """Mean difference of neighbours."""
    faults: float | None
    """Share of conversations in which the user simulator is at fault."""
    same_at_twice: float | None
    """Share of pairs with the same order at half and at all of the scenarios."""
    beyond_band: float | None
    """Share of neighbours whose difference exceeds that of one assistant between the two sets of scenarios."""
    order_kept: bool | None
    """Whether more than half of the pairs are in their order: agreement above 0.5."""
    kind: str = ""
    """What plays it, such as `rules`."""

    @classmethod
    def of(cls, one: UserOutcomes, pairs: Sequence[KnownPair], kind: str) -> "LinkUserRow":
        """The row of a user in one domain."""
        scores = [value for pair in pairs if (value := one.order_score(pair)) is not None]
        sizes = [value for pair in pairs if pair.neighbours and (value := one.difference(pair)) is not None]
        agreement = fmean(scores) if scores else None
        return cls(
            user=one.user,
            domain=one.domain,
            conversations=len(one.conversations),
            unscored=one.unscored,
            agreement=agreement,
            size=fmean(sizes) if sizes else None,
            faults=one.faults,
            same_at_twice=one.same_at_twice(pairs),
            beyond_band=one.beyond_band(pairs),
            order_kept=None if agreement is None else agreement > 0.5,
            kind=kind,
        )


class KindCriteria(NamedTuple):
    """The criteria of validity of the users of one kind in one domain."""

    kind: str
    domain: str
    users: int
    order_kept: int
    """Number of users that keep more than half of the pairs in their order."""
    agreement: MedianRange
    same_at_twice: MedianRange
    beyond_band: MedianRange


def criteria_of(rows: Iterable[LinkUserRow]) -> list[KindCriteria]:
    """The criteria of each kind in each domain, in the order of the rows."""
    groups: dict[tuple[str, str], list[LinkUserRow]] = {}
    for row in rows:
        groups.setdefault((row.kind, row.domain), []).append(row)
    return [
        KindCriteria(
            kind,
            domain,
            len(group),
            sum(row.order_kept is True for row in group),
            _range(row.agreement for row in group),
            _range(row.same_at_twice for row in group),
            _range(row.beyond_band for row in group),
        )
        for (kind, domain), group in groups.items()
    ]


def _range(values: Iterable[float | None]) -> MedianRange:
    numbers = [value for value in values if value is not None]
    return (median(numbers), min(numbers), max(numbers)) if numbers else (None, None, None)
