"""The report of validity: agreement with people, and detection of assistants with seeded faults.

The two are never one number.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from typing_extensions import override

from ...data.people import UserPart
from ...data.records import Record
from ..labels.reliability import Trusts
from ..tables import Column, Table, TabledReport
from .meetings import Difference, MeetingResult, Meetings, by_satisfaction, by_success
from .pairs import Above, Concordance, Values, above, concordance
from .rated import LABEL, RatedConversations
from .rules import BASELINES, CHANCE, LENGTH

TesterKind: TypeAlias = Literal["baseline", "tester"]
"""A rule; a rater that is called."""

REALISM = "How human a user is: duologue compare. That is another thing, and stands beside this, never added to it."


class TesterRow(Record):
    """The concordance of a scoring function or user with people."""

    tester: str
    kind: TesterKind
    concordance: Concordance
    above_length: Above
    """Less the concordance of the replies' length, over the pairs that both have."""
    failed: int = 0
    """Conversations without its rating."""
    failure: str = ""


class PeopleReport(Record):
    """Scoring functions against people."""

    part: UserPart
    conversations: int
    users: int
    pairs: int
    rows: tuple[TesterRow, ...]
    notes: tuple[str, ...] = ()

    def table(self) -> Table:
        """A row for each scoring function and user."""
        names = ("concordance", "low", "high", "by user", "above length", "above low", "above high")
        columns = [Column(name="tester"), Column(name="kind"), Column(name="pairs", kind="count")]
        columns += [Column(name=name, kind="number") for name in names]
        rows = [
            vars(row)
            | vars(row.concordance)
            | {f"above_{name}": getattr(row.above_length, name) for name in ("low", "high")}
            | {"concordance": row.concordance.value, "above_length": row.above_length.value}
            for row in self.rows
        ]
        notes = [
            "concordance: of the pairs of a person's conversations, the share of which the simulated user prefers the same one; "
            "ties count 0.5. All pairs pooled; by user: mean over people. 95 % intervals over people.",
            *self.notes,
        ]
        return Table.of(
            f"Preferences of simulated users and {self.users} people: {self.pairs} pairs", columns, rows, notes
        )


class ValidityReport(TabledReport):
    """The validity of simulated users, in two parts that are not added up."""

    people: PeopleReport | None = None
    """None without people's conversations."""
    told: tuple[MeetingResult, ...] = ()
    """Empty if no assistants were met."""
    seed: int = 0
    repeats: int = 1
    notes: tuple[str, ...] = ()

    @override
    def tables(self) -> list[Table]:
        people = [] if self.people is None else [self.people.table()]
        return [*people, *([self.table()] if self.told else [])]

    def table(self) -> Table:
        """Two rows for each user and bad assistant: by success, and by the user's satisfaction."""
        columns = [Column(name=name) for name in ("user", "assistant", "by")]
        columns.append(Column(name="n", kind="count"))
        reference = self.told[0].reference if self.told else "reference"
        names = (reference, "it", "difference", "low", "high")
        columns += [Column(name=name, kind="number", places=2) for name in names]
        columns += [Column(name="detects"), Column(name="needs", kind="count")]
        rows = [
            (row.user, row.assistant, by, row.conversations, *_cells(difference))
            for row in self.told
            for by, difference in (("success", row.success), (f"satisfaction: {row.satisfaction_by}", row.satisfaction))
        ]
        rows = list(dict.fromkeys(rows))  # success is the same, however the user says its satisfaction
        about = {row.user: row.scenarios for row in self.told}
        notes = (
            f"{reference}, it: share of successes, or mean satisfaction (1 to 5), "
            f"with {reference!r} and with the assistant of the row. difference: the second less the first, with its 95 % "
            "interval over shared scenarios; detects: whether it lies below 0. n: conversations with each. needs: "
            "conversations with each for a power of 0.8 at 0.05, computed at the observed difference, which is itself "
            "uncertain.",
            *(f"{user}: {scenarios}." for user, scenarios in about.items()),
            *self._unshared(),
            *self.cannot(),
            *self.notes,
            REALISM,
        )
        return Table(
            title="Assistants that each user distinguishes", columns=tuple(columns), rows=tuple(rows), notes=notes
        )

    def _unshared(self) -> list[str]:
        """A line for each comparison with scenarios that only one of the two assistants has."""
        lines = (
            f"{row.user}, {row.assistant!r} and {row.reference!r}, {sign}: {difference.left_out} scenarios that only one of "
            f"both has are left out."
            if difference.scenarios
            else f"{row.user}, {row.assistant!r} and {row.reference!r}, {sign}: {without}, since no scenario is shared."
            for row in self.told
            for sign, difference, without in (
                ("success", row.success, "compared as two samples"),
                ("satisfaction", row.satisfaction, "not compared"),
            )
            if difference.left_out
        )
        return list(dict.fromkeys(lines))

    def cannot(self) -> list[str]:
        """A line for each assistant that a user does not distinguish from the reference, by success or by
        satisfaction."""
        lines = (
            f"{row.user} does not distinguish {row.assistant!r} from {row.reference!r} by {by}, not with {row.conversations} "
            f"conversations with each{': it prefers it' if difference.tells == 'prefers it' else ''}."
            for row in self.told
            for by, difference in (
                ("success", row.success),
                (f"satisfaction ({row.satisfaction_by})", row.satisfaction),
            )
            if difference.tells in ("no", "prefers it")
        )
        return list(dict.fromkeys(lines))


def people_report(
    rated: RatedConversations,
    values_by_tester: Mapping[str, Values],
    part: UserPart = "test",
    failures: Mapping[str, Sequence[str]] | None = None,
    annotated: Collection[str] = (),
) -> PeopleReport:
    """Scoring functions against people of one split.

    `values_by_tester`: by name a value for each conversation of `rated`. `failures`: the reasons of missing values.
    `annotated`: keys of labels that annotators wrote into the source.
    """
    pairs = rated.pairs(part)
    places = rated.places(part)
    conversations = rated.conversations
    groups: dict[TesterKind, Mapping[str, Values]] = {
        "baseline": {name: tester(conversations) for name, tester in BASELINES.items()},
        "tester": values_by_tester,
    }
    notes: list[str] = []
    length = groups["baseline"][LENGTH]
    rows: list[TesterRow] = []
    columns: list[tuple[TesterKind, str, Values]] = [
        (kind, name, values) for kind, group in groups.items() for name, values in group.items()
    ]
    for kind, name, values in columns:
        missing = [place for place in places if values[place] is None]
        reasons = (failures or {}).get(name, ())
        rows.append(
            TesterRow(
                tester=name,
                kind=kind,
                concordance=concordance(pairs, values),
                above_length=Above(value=None) if name in (LENGTH, CHANCE) else above(pairs, values, length),
                failed=len(missing),
                failure=reasons[0] if reasons else "",
            )
        )
        if missing:
            why = f": {reasons[0]}" if reasons else ""
            notes.append(f"{name}: gives nothing for {len(missing)} of {len(places)} conversations{why}")
    notes.append(Trusts.of(conversations, annotated).note(LABEL))
    return PeopleReport(
        part=part,
        conversations=len(places),
        users=len({pair.group for pair in pairs}),
        pairs=len(pairs),
        rows=tuple(rows),
        notes=tuple(notes),
    )


def told_apart(user: str, says_by: str, scenarios: str, met: Mapping[str, Meetings]) -> tuple[MeetingResult, ...]:
    """The difference of each assistant from the first, the reference, in success and satisfaction."""
    first = next(iter(met))
    return tuple(
        MeetingResult(
            user=user,
            satisfaction_by=says_by,
            scenarios=scenarios,
            assistant=name,
            reference=first,
            conversations=len(other.conversations),
            failed=other.failed + met[first].failed,
            success=by_success(met[first], other),
            satisfaction=by_satisfaction(met[first], other),
        )
        for name, other in met.items()
        if name != first
    )


def _cells(difference: Difference) -> tuple[Any, ...]:
    means = difference.reference, difference.value
    return (*means, difference.difference, difference.low, difference.high, difference.tells, difference.needed)
