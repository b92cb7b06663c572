"""The link between realism and usefulness: a row for each measure of realism, and one for each user."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from types import MappingProxyType

from typing_extensions import override

from ...data.records import Record
from ..over_users.rates import IntervalEstimate
from ..realism import RealismReport
from ..tables import Column, Table, TabledReport
from .link_correlations import USEFULNESS, DomainScores, RankCorrelation, Usefulness, adjusted, correlated
from .link_criteria import LinkUserRow, criteria_of
from .link_outcomes import KnownPair, UserOutcomes

LEVEL = 0.05


class RealismValue(Record):
    """A user's value by one measure of realism; the higher, the more like people."""

    user: str
    measure: str
    family: str
    value: float | None


def realism_values(user: str, report: RealismReport) -> Iterator[RealismValue]:
    """A user's values by the measures of a report of realism, turned so that higher is more like people."""

    def value(measure: str, family: str, number: float | None) -> RealismValue:
        return RealismValue(user=user, measure=measure, family=family, value=None if number is None else -number)

    auc, adversary = report.discriminator.auc.value, report.discriminator.adversary
    yield value("AUC of the measures", "summary", None if auc is None else abs(auc - 0.5))
    seen = None if adversary is None else adversary.auc
    yield value("AUC of the adversary", "summary", None if seen is None else abs(seen - 0.5))
    ranked = [row for row in report.measures if row.is_ranked]
    effects = [abs(row.effect) for row in ranked if row.effect is not None]
    distances = [row.distance for row in ranked if row.distance is not None]
    yield value("median effect", "summary", median(effects) if effects else None)
    yield value("median distance", "summary", median(distances) if distances else None)
    for row in sorted(ranked, key=lambda one: one.name):
        if row.effect is not None:
            yield value(row.name, row.family, abs(row.effect))


class LinkedUsefulness(Record):
    """The rank correlation of a measure with one kind of usefulness."""

    rho: float | None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    p_adjusted: float | None = None
    """For all measures and all kinds of usefulness of the table together."""
    control: float | None = None
    """Mean correlation over shufflings of the users' labels."""
    control_low: float | None = None
    """The middle 95 % of the shufflings."""
    control_high: float | None = None
    all_users: float | None = None
    """The correlation over all users, kinds mixed: the difference between kinds is part of it."""


class LinkRow(Record):
    """One measure of realism against usefulness."""

    measure: str
    family: str
    users: int
    """Users with a value."""
    by: dict[Usefulness, LinkedUsefulness]


class LinkReport(TabledReport):
    """The link between how like people a user is and how well it ranks assistants."""

    rows: tuple[LinkRow, ...] = ()
    """Empty without people: their conversations are what realism is measured against."""
    users: tuple[LinkUserRow, ...] = ()
    realism: tuple[RealismValue, ...] = ()
    seed: int = 0
    draws: int = 0
    notes: tuple[str, ...] = ()

    @override
    def tables(self) -> list[Table]:
        return [*([self.table()] if self.rows else []), self.criteria_table(), self.user_table()]

    def table(self) -> Table:
        """A row for each measure of realism: its correlation with agreement, size of differences, and user faults."""
        columns = [Column(name="measure"), Column(name="users", kind="count")]
        for name in USEFULNESS:
            columns += [Column(name=name, kind="number", places=2)]
            columns += [Column(name=f"{name} {end}", kind="number", places=2) for end in ("low", "high")]
            columns.append(Column(name=f"{name} p adj", kind="p"))
        columns.append(Column(name="all users", kind="number", places=2))
        columns += [Column(name=f"control{end}", kind="number", places=2) for end in ("", " low", " high")]
        rows = [
            (
                row.measure,
                row.users,
                *(cell for name in USEFULNESS for cell in _cells(row.by[name])),
                row.by["agreement"].all_users,
                row.by["agreement"].control,
                row.by["agreement"].control_low,
                row.by["agreement"].control_high,
            )
            for row in self.rows
        ]
        notes = (
            "Spearman's correlation over users within kinds (rule-based, retrieval-based, others) and domains, the mean "
            "weighted by users. Realism is turned so that higher is more like people. agreement: with the share of known pairs of assistants in their order. size: with the mean "
            "difference of neighbours. faults: with the share of conversations without a user fault. 95 % intervals: Fisher's z with "
            "the standard error of a bootstrap over users and assistants.",
            "p adj: by shuffling the realism of each kind's users, adjusted for all measures and columns together. control: "
            "the mean of agreement over the shufflings, and the middle 95 % of them. all users: agreement over all users, kinds mixed.",
            self.verdict,
            *self.notes,
        )
        return Table(title="Realism and usefulness over users", columns=tuple(columns), rows=tuple(rows), notes=notes)

    def intervals(self, usefulness: Usefulness) -> dict[str, IntervalEstimate]:
        """The correlations of each measure with one kind of usefulness, for a figure."""
        return {
            row.measure: IntervalEstimate(value=one.rho, low=one.low, high=one.high)
            for row in self.rows
            if (one := row.by[usefulness]).rho is not None
        }

    @property
    def verdict(self) -> str:
        """The result in one sentence: which correlations chance does not explain."""
        names = [
            f"{row.measure} with {name} ({one.rho:.2f})"
            for row in self.rows
            for name, one in row.by.items()
            if one.rho is not None and one.p_adjusted is not None and one.p_adjusted <= LEVEL
        ]
        tried = sum(one.rho is not None for row in self.rows for one in row.by.values())
        if not names:
            return f"None of {tried} correlations differs from 0 by more than chance: a null result."
        return f"{len(names)} of {tried} correlations differ from 0 by more than chance: {', '.join(names)}."

    def criteria_table(self) -> Table:
        """The criteria of validity, a row for each kind of users in each domain: medians and ranges."""
        columns = [Column(name="kind"), Column(name="domain"), Column(name="users", kind="count")]
        columns.append(Column(name="order kept", kind="count"))
        for name in ("agreement", "same at twice", "beyond band"):
            columns += [Column(name=f"{name}{end}", kind="number", places=2) for end in ("", " min", " max")]
        notes = [
            "Medians over users. order kept: number of users with an agreement above 0.5. same at twice: share of pairs "
            "with the same order by half and by all of the scenarios. beyond band: share of neighbours in their order "
            "whose difference exceeds that of one assistant between the two halves.",
        ]
        rows = [
            (one.kind, one.domain, one.users, one.order_kept, *one.agreement, *one.same_at_twice, *one.beyond_band)
            for one in criteria_of(self.users)
        ]
        return Table(
            title="Criteria of validity, by kind of user", columns=tuple(columns), rows=tuple(rows), notes=tuple(notes)
        )

    def user_table(self) -> Table:
        """A row for each user and domain: the criteria of validity."""
        columns = [Column(name="user"), Column(name="domain"), Column(name="n", kind="count")]
        names = ("agreement", "size", "faults", "same at twice", "beyond band")
        columns += [Column(name=name, kind="number", places=2) for name in names]
        columns.append(Column(name="order kept", kind="flag"))
        rows = [vars(row) | {"n": row.conversations} for row in self.users]
        notes = [
            "agreement: share of known pairs of assistants in their order, 0.5 where the user makes no difference. size: "
            "mean difference of neighbours (success in shares, satisfaction in fourths of a point, cost as a log ratio). "
            "faults: share of conversations in which the user simulator is at fault.",
            *(self.notes if not self.rows else ()),
        ]
        return Table.of("Assistants of known order, by user", columns, rows, notes)


def _cells(one: LinkedUsefulness) -> tuple[float | None, ...]:
    return one.rho, one.low, one.high, one.p_adjusted


def linked(
    outcomes: Sequence[UserOutcomes],
    pairs: Mapping[str, Sequence[KnownPair]],
    realism: Sequence[RealismValue],
    *,
    kinds: Mapping[str, str] = MappingProxyType({}),
    draws: int = 2000,
    seed: int = 0,
    notes: Sequence[str] = (),
) -> LinkReport:
    """The report of users who met assistants of known order.

    Args:
        outcomes: Each user in each domain.
        pairs: The known pairs by domain.
        realism: Values of the users; empty without people.
        kinds: The kind of each user, such as rule-based: correlations are within kinds.
        draws: Number of shufflings and of bootstrap draws.
        seed: Seed of both.
        notes: Further notes.

    Returns:
        The report.
    """
    by_domain: dict[str, list[UserOutcomes]] = {}
    for one in outcomes:
        by_domain.setdefault(one.domain, []).append(one)
    domains = [DomainScores.of(of_domain, pairs[name]) for name, of_domain in by_domain.items()]
    by_measure: dict[str, list[RealismValue]] = {}
    for value in realism:
        by_measure.setdefault(value.measure, []).append(value)
    estimates: dict[tuple[str, Usefulness], RankCorrelation] = {}
    mixed: dict[tuple[str, Usefulness], float | None] = {}
    for measure, values in by_measure.items():
        of_users = {value.user: value.value for value in values}
        for name in USEFULNESS:
            estimates[measure, name] = correlated(of_users, domains, name, kinds=kinds, draws=draws, seed=seed)
            mixed[measure, name] = correlated(of_users, domains, name, draws=0).rho
    p_values = dict(zip(estimates, adjusted(list(estimates.values())), strict=True))
    rows = [
        LinkRow(
            measure=measure,
            family=values[0].family,
            users=sum(value.value is not None for value in values),
            by={
                name: _linked(estimates[measure, name], p_values[measure, name], mixed[measure, name])
                for name in USEFULNESS
            },
        )
        for measure, values in by_measure.items()
    ]
    return LinkReport(
        rows=tuple(rows),
        users=tuple(LinkUserRow.of(one, pairs[one.domain], kinds.get(one.user, "")) for one in outcomes),
        realism=tuple(realism),
        seed=seed,
        draws=draws,
        notes=tuple(notes),
    )


def _linked(one: RankCorrelation, p_adjusted: float | None, all_users: float | None) -> LinkedUsefulness:
    return LinkedUsefulness(
        rho=one.rho,
        low=one.low,
        high=one.high,
        p=one.p,
        p_adjusted=p_adjusted,
        control=one.control,
        control_low=one.control_low,
        control_high=one.control_high,
        all_users=all_users,
    )
