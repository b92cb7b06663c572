"""The report: whether testers prefer what people prefer, and which planted assistants each user tells apart. Never one number."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from ...data.records import Record
from ...data.users import UserPart
from ..tables import Column, Table
from ..trust import Trusts
from .learnt import LEARNERS
from .meetings import Difference, Meetings, Told, by_satisfaction, by_success
from .pairs import Above, Concordance, Values, above, concordance
from .plain import BASELINES, CHANCE, LENGTH, SIGNS, judges_in
from .rated import LABEL, Rated

Kind: TypeAlias = Literal["baseline", "sign", "published judge", "learnt", "tester"]
"""A rule that knows nothing; what a user notices, and its parts; a label of the published data; what learnt from other
people's satisfaction; what was asked."""

REALISM = "How human a user is: duologue compare. That is another thing, and stands beside this, never added to it."


class TesterRow(Record):
    """How often a tester prefers what the person preferred."""

    tester: str
    kind: Kind
    concordance: Concordance
    above_length: Above
    """Less the concordance of the replies' length, over the pairs that both have."""
    failed: int = 0
    """Conversations of which it said nothing."""
    failure: str = ""


class PeopleReport(Record):
    """Testers against people."""

    part: UserPart
    conversations: int
    users: int
    pairs: int
    rows: tuple[TesterRow, ...]
    notes: tuple[str, ...] = ()

    def table(self) -> Table:
        """A row for each tester."""
        names = ("concordance", "low", "high", "by user", "above length", "above low", "above high")
        columns = [Column(name="tester"), Column(name="kind"), Column(name="pairs", kind="count")]
        columns += [Column(name=name, kind="number") for name in names]
        rows = [
            {
                "tester": row.tester,
                "kind": row.kind,
                "pairs": row.concordance.pairs,
                "concordance": row.concordance.value,
                "low": row.concordance.low,
                "high": row.concordance.high,
                "by_user": row.concordance.by_user,
                "above_length": row.above_length.value,
                "above_low": row.above_length.low,
                "above_high": row.above_length.high,
            }
            for row in self.rows
        ]
        notes = [
            "concordance: of the pairs of a person's conversations, the share of which the tester prefers the same one; "
            "ties count 0.5. All pairs pooled; by user: mean over people. 95 % intervals over people.",
            *self.notes,
        ]
        return Table.of(f"Do testers prefer what {self.users} people prefer? {self.pairs} pairs", columns, rows, notes)


class Report(Record):
    """Whether users are good for testing, in two parts that are not added up."""

    people: PeopleReport | None = None
    """None without people's conversations."""
    told: tuple[Told, ...] = ()
    """Empty if no assistants were met."""
    seed: int = 0
    repeats: int = 1
    notes: tuple[str, ...] = ()

    def table(self) -> Table:
        """Two rows for each user and bad assistant: by success, and by the user's satisfaction."""
        columns = [Column(name=name) for name in ("user", "assistant", "by")]
        columns.append(Column(name="n", kind="count"))
        reference = self.told[0].reference if self.told else "reference"
        names = (reference, "it", "difference", "low", "high")
        columns += [Column(name=name, kind="number", places=2) for name in names]
        columns += [Column(name="tells"), Column(name="needs", kind="count")]
        rows = [
            (row.user, row.assistant, by, row.conversations, *_cells(difference))
            for row in self.told
            for by, difference in (("success", row.success), (f"satisfaction: {row.satisfaction_by}", row.satisfaction))
        ]
        rows = list(dict.fromkeys(rows))  # success is the same, however the user says its satisfaction
        about = {row.user: row.scenarios for row in self.told}
        notes = (
            f"{reference}, it: share of successes, or mean satisfaction (1 to 5; by nearest replies less the person's mean), "
            f"with {reference!r} and with the assistant of the row. difference: the second less the first, with its 95 % "
            "interval; tells: whether that lies below 0. n: conversations with each. needs: conversations with each that it "
            "takes (power 0.8 at 0.05, by the observed difference).",
            *(f"{user}: {scenarios}." for user, scenarios in about.items()),
            *self.cannot(),
            *self.notes,
            REALISM,
        )
        return Table(
            title="Which assistants each user tells apart", columns=tuple(columns), rows=tuple(rows), notes=notes
        )

    def cannot(self) -> list[str]:
        """A line for each assistant that a user does not tell from the reference, by success or by its satisfaction."""
        lines = (
            f"{row.user} does not tell {row.assistant!r} from {row.reference!r} by {by}, not with {row.conversations} "
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
    rated: Rated,
    asked: Mapping[str, Values],
    part: UserPart = "test",
    failures: Mapping[str, Sequence[str]] | None = None,
    models: Collection[str] = (),
) -> PeopleReport:
    """Testers against people of one part; what learns does so from the tuning people, and is not judged on them.

    `asked`: what was asked, by name: a value for each conversation of `rated`. `failures`: why, where it said nothing.
    `models`: keys of labels that models are known to have written.
    """
    pairs = rated.pairs(part)
    places = rated.places(part)
    conversations = rated.conversations
    groups: dict[Kind, Mapping[str, Values]] = {
        "baseline": {name: tester(conversations) for name, tester in BASELINES.items()},
        "sign": {name: tester(conversations) for name, tester in SIGNS.items()},
        "published judge": {name: tester(conversations) for name, tester in judges_in(conversations).items()},
    }
    notes: list[str] = []
    learnt_from = rated.places("tune")
    if part == "test" and learnt_from:
        groups["learnt"] = {name: learn(rated, learnt_from)(conversations) for name, learn in LEARNERS.items()}
        notes.append(
            f"learnt: from the satisfaction of the tuning people, {len(learnt_from)} conversations, less each one's mean."
        )
    else:
        notes.append(
            "What learns from people is left out: it learns from the tuning people and is judged on --part test."
        )
    groups["tester"] = asked
    length = groups["baseline"][LENGTH]
    rows: list[TesterRow] = []
    all_said: list[tuple[Kind, str, Values]] = []
    for kind, group in groups.items():
        all_said.extend((kind, name, said) for name, said in group.items())
    for kind, name, said in all_said:
        missing = [place for place in places if said[place] is None]
        reasons = (failures or {}).get(name, ())
        rows.append(
            TesterRow(
                tester=name,
                kind=kind,
                concordance=concordance(pairs, said),
                above_length=Above(value=None) if name in (LENGTH, CHANCE) else above(pairs, said, length),
                failed=len(missing),
                failure=reasons[0] if reasons else "",
            )
        )
        if missing:
            why = f": {reasons[0]}" if reasons else ""
            notes.append(f"{name}: says nothing of {len(missing)} of {len(places)} conversations{why}")
    notes.append(Trusts.of(conversations, models).note(LABEL))
    return PeopleReport(
        part=part,
        conversations=len(places),
        users=len({pair.group for pair in pairs}),
        pairs=len(pairs),
        rows=tuple(rows),
        notes=tuple(notes),
    )


def told_apart(
    user: str, says_by: str, scenarios: str, met: Mapping[str, Meetings], reference: str | None = None
) -> tuple[Told, ...]:
    """How the user tells each assistant from the reference, by default the first."""
    first = reference or next(iter(met))
    return tuple(
        Told(
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
