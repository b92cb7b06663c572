"""What people preferred in a side-by-side study: wins of each side, agreement, reasons.

As "Let the LLMs Talk" (WSDM 2024), table 4, counts it: a side wins where more than half of the labellers choose it; all
else is a tie.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from typing_extensions import override

from ...data.labels.answers import WHY, LabelAnswer
from ...data.labels.definition import Vote
from ...data.labels.side_by_side import ASPECTS, STUDY, is_asked
from ...data.labels.votes import aggregate
from ...data.records import Record
from ...errors import DataError
from ..estimates import Estimate
from ..tables import Column, Table, TabledReport
from .agreement import fleiss_kappa

PREFERENCE = "preference"
SIDES = ("first", "second")


class Wins(Record):
    """One aspect: of the answers to all questions, or of whole conversations."""

    aspect: str
    n: int
    """Questions, of `preference` conversations."""
    first: float | None
    """Share of them that the first side wins, 0 to 1."""
    second: float | None
    tie: float | None
    """Share that neither side wins, as published: the three shares after it together."""
    both: float | None
    """Share that most say of both; of `preference` that there is no difference."""
    neither: float | None
    split: float | None
    """Share of which no answer has more than half of the labellers."""
    labellers: float | None
    """Mean number of people who answered."""
    kappa: Estimate
    """Fleiss' kappa (1971) of what the commonest number of people answered, with its interval over conversations."""


class Reason(Record):
    """One reason for a preference, as a label of people's own words names it: how many answers give it."""

    label: str
    reason: str
    first: int
    """Preferences for the first side that give it."""
    second: int
    tie: int
    of_first: int
    """Preferences for the first side whose words are labelled."""
    of_second: int
    of_tie: int


class Justification(Record):
    """A person's reason beside their preference, for a reader who finds contradictions."""

    answer: str
    """Person and conversation, such as `ann:t1`."""
    preference: str
    """A, B or tie, as the person saw the sides: the reason may name them."""
    why: str


class Preferences(TabledReport):
    """The results of a study."""

    people: int
    conversations: int
    wins: tuple[Wins, ...]
    reasons: tuple[Reason, ...] = ()
    """Empty unless the reasons were labelled (`duologue annotate ANSWERS --labels justification`)."""
    justifications: tuple[Justification, ...] = ()
    notes: tuple[str, ...] = ()

    @override
    def tables(self) -> list[Table]:
        tables = [self.table()]
        if self.reasons:
            columns = [Column(name="label"), Column(name="reason")]
            names = ("first", "second", "tie", "of first", "of second", "of tie")
            columns += [Column(name=name, kind="count") for name in names]
            notes = ["Of how many labelled answers for each side how many give the reason; an answer may give several."]
            tables.append(Table.of("Reasons for a preference", columns, self.reasons, notes))
        if self.justifications:
            columns = [Column(name=name) for name in ("answer", "preference", "why")]
            notes = [
                "A and B: as the person saw the sides. A reader decides which reasons contradict their preference."
            ]
            tables.append(Table.of("Reasons beside their preference", columns, self.justifications, notes))
        return tables

    def table(self) -> Table:
        """Which side people find better, aspect by aspect."""
        columns = [Column(name="aspect"), Column(name="n", kind="count")]
        names = ("first", "second", "tie", "both", "neither", "split", "labellers", "fleiss", "low", "high")
        columns += [Column(name=name, kind="number") for name in names]
        rows = [vars(row) | {"fleiss": row.kappa.value, "low": row.kappa.low, "high": row.kappa.high}
                for row in self.wins]  # fmt: skip
        reasons = [f"{row.aspect}: {row.kappa.reason}." for row in self.wins if row.kappa.reason]
        return Table.of("Side by side", columns, rows, [*self.notes, *reasons])


def preferences(
    answers: Mapping[str, Iterable[LabelAnswer]],
    names: tuple[str, str] = SIDES,
    *,
    without: Collection[str] = (),
) -> Preferences:
    """The wins of each side in people's answers to a study, by person.

    `without`: preferences to leave out, such as `ann:t1`, as a reader found that their reason contradicts them. DataError
    for one that is not there.
    """
    every = [answer for by in sorted(answers) for answer in answers[by] if answer.label == STUDY]
    by_name = {f"{answer.by}:{answer.conversation}": answer for answer in every}
    if unknown := [name for name in without if name not in by_name]:
        raise DataError(f"{unknown[0]!r} is no answer to the study: give names such as {', '.join(list(by_name)[:2])}")
    preferred = [answer for name, answer in by_name.items() if name not in without]
    notes = [
        f"first: {names[0]}; second: {names[1]}. A side wins where more than half of the labellers choose it; all else is a tie.",
        "tie: both (most say both, or tie), neither (most say neither) and split (no majority) together.",
        "n: questions, of preference conversations. Fleiss' kappa with its 95 % interval over conversations.",
    ]
    if without:
        notes.append(f"Preferences left out: {', '.join(sorted(without))}.")
    return Preferences(
        people=len({answer.by for answer in every}),
        conversations=len({answer.conversation for answer in every}),
        wins=(*(_wins(aspect, every) for aspect in ASPECTS), _wins(PREFERENCE, preferred)),
        reasons=tuple(_reasons(preferred)),
        justifications=tuple(_justification(name, one) for name, one in by_name.items() if one.value.get(WHY)),
        notes=tuple(notes),
    )


def _justification(name: str, answer: LabelAnswer) -> Justification:
    sides = ("B", "A") if answer.value.get("switched") else ("A", "B")
    preference = str(answer.value.get(PREFERENCE))
    seen = dict(zip(SIDES, sides, strict=True)).get(preference, preference)
    return Justification(answer=name, preference=seen, why=str(answer.value[WHY]))


def _reasons(answers: Sequence[LabelAnswer]) -> list[Reason]:
    """How often each value of each label of the reasons is given, the commonest first; several are counted each."""
    given: dict[tuple[str, str], Counter[str]] = {}
    labelled: dict[str, Counter[str]] = {}
    for answer in answers:
        side = str(answer.value.get(PREFERENCE))
        for label, value in answer.value.items():
            if not is_asked(label):
                labelled.setdefault(label, Counter())[side] += 1
                for reason in dict.fromkeys(map(str, value if isinstance(value, list) else [value])):
                    given.setdefault((label, reason), Counter())[side] += 1
    sides = (*SIDES, "tie")
    return [
        Reason.model_validate(
            {"label": label, "reason": reason}
            | {side: counts[side] for side in sides}
            | {f"of_{side}": labelled[label][side] for side in sides}
        )
        for (label, reason), counts in sorted(
            given.items(), key=lambda item: (item[0][0], -item[1].total(), item[0][1])
        )
    ]


def _wins(aspect: str, answers: Sequence[LabelAnswer]) -> Wins:
    votes: dict[tuple[str, str], list[Vote]] = {}
    for answer in answers:
        for name, choice in answer.value.items():
            if isinstance(choice, str) and name.rpartition(" ")[2] == aspect:
                votes.setdefault((answer.conversation, name), []).append(choice)
    won = Counter(aggregate(of_item).value for of_item in votes.values())
    both = "tie" if aspect == PREFERENCE else "both"
    sizes = Counter(len(of_item) for of_item in votes.values() if len(of_item) > 1)
    size = max(sizes, key=lambda size: (sizes[size], size), default=0)
    whole = {key: of_item for key, of_item in votes.items() if len(of_item) == size}
    kappa = Estimate(reason="nothing was answered by two people")
    if whole:
        kappa = fleiss_kappa(list(whole.values()), users=[name for name, _ in whole])

    def share(*values: Vote | None) -> float | None:
        return sum(won[value] for value in values) / len(votes) if votes else None

    return Wins(
        aspect=aspect,
        n=len(votes),
        first=share("first"),
        second=share("second"),
        tie=share(None, both, "neither"),
        both=share(both),
        neither=None if aspect == PREFERENCE else share("neither"),
        split=share(None),
        labellers=sum(map(len, votes.values())) / len(votes) if votes else None,
        kappa=kappa,
    )
