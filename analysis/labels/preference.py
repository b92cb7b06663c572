"""What people preferred in a side-by-side study: wins of each side, agreement, reasons.

As "Let the LLMs Talk" (WSDM 2024), table 4, counts it: a side wins where more than half of the labellers choose it; all
else is a tie.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, ClassVar

from typing_extensions import override

from ...data.labels.answers import WHY, LabelAnswer
from ...data.labels.definition import Vote
from ...data.labels.side_by_side import ASPECTS, STUDY, is_asked
from ...data.labels.votes import aggregate
from ...data.records import Record
from ...errors import DataError
from ..over_users.estimate import UserScore
from ..tables import Sections, Table, TypedRows
from .agreement.coefficients import fleiss_kappa
from .reliability import NOT_CALIBRATED

PREFERENCE = "preference"
SIDES = ("first", "second")
IN_FAVOUR = {"first": "for the first side", "second": "for the second", "tie": "without a preference"}


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
    fleiss: float | None
    """Fleiss' kappa (1971)."""
    fleiss_low: float | None
    fleiss_high: float | None
    """Bounds of its 95 % interval over conversations, each left out in turn."""
    note: str = ""


class Justification(Record):
    """A person's reason beside their preference, for a reader who finds contradictions."""

    answer: str
    """Person and conversation, such as `ann:t1`."""
    preference: str
    """A, B or tie, as the person saw the sides: the reason may name them."""
    why: str


class ReasonRow(Record):
    """One reason for a preference, as a label of people's own words names it."""

    label: str
    reason: str
    first: int
    """Preferences for the first side that give it."""
    second: int
    tie: int
    """Answers without a preference that give it."""
    first_share: float | None
    """Share of the labelled preferences for the first side that give it, 0 to 1; None if there are none."""
    second_share: float | None
    tie_share: float | None
    trust: str = NOT_CALIBRATED
    """How far the label can be trusted, as elsewhere: no label of people's is there to measure it by."""


class PreferenceTable(TypedRows[Wins], title="Side by side"):
    """Which side people find better, aspect by aspect."""

    json_only: ClassVar[tuple[str, ...]] = ("note", "labellers")

    @override
    def table(self) -> Table:
        """Without the column of notes, which stand below: eleven columns of figures have room for no text."""
        row_notes = [f"{row.aspect}: {row.note}." for row in self.rows if row.note]
        people = [f"{row.aspect} {row.labellers:.3g}" for row in self.rows if row.labellers is not None]
        notes = (*self.notes, f"Labellers on average: {', '.join(people)}.", *row_notes)
        return super().table().model_copy(update={"notes": notes})


class JustificationTable(TypedRows[Justification], title="Reasons beside their preference"):
    """What people wrote, for somebody to read: no rule decides what contradicts a preference."""


class ReasonTable(TypedRows[ReasonRow], title="Reasons for a preference"):
    """Why people prefer a side: how often each reason is given."""


class Preferences(Sections):
    """The results of a study."""

    people: int
    conversations: int
    wins: PreferenceTable
    justifications: JustificationTable
    reasons: ReasonTable = ReasonTable(rows=())
    """Empty unless the reasons were labelled (`duologue annotate ANSWERS --labels justification`)."""

    @override
    def shown(self) -> list[TypedRows[Any]]:
        return [self.wins, *(part for part in (self.reasons, self.justifications) if part.rows)]

    @override
    def to_json(self) -> dict[str, Any]:
        return self.model_dump(mode="json")


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
    study_answers = [answer for by in sorted(answers) for answer in answers[by] if answer.label == STUDY]
    by_name = {f"{answer.by}:{answer.conversation}": answer for answer in study_answers}
    if unknown := [name for name in without if name not in by_name]:
        raise DataError(f"{unknown[0]!r} is no answer to the study: give names such as {', '.join(list(by_name)[:2])}")
    rows = [_wins(aspect, _votes(study_answers, aspect)) for aspect in ASPECTS]
    preferred = [answer for name, answer in by_name.items() if name not in without]
    rows.append(_wins(PREFERENCE, _votes(preferred, PREFERENCE)))
    notes = [
        f"first: {names[0]}; second: {names[1]}. A side wins where more than half of the labellers choose it; all else is a tie.",
        "tie: both (most say both, or tie), neither (most say neither) and split (no majority) together.",
        "n: questions, of preference conversations. Fleiss' kappa with its 95 % interval over conversations, each left out in turn.",
    ]
    if without:
        notes.append(f"Preferences left out: {', '.join(sorted(without))}.")
    return Preferences(
        people=len({answer.by for answer in study_answers}),
        conversations=len({answer.conversation for answer in study_answers}),
        wins=PreferenceTable(rows=tuple(rows), notes=tuple(notes)),
        justifications=JustificationTable(
            rows=tuple(_justification(name, answer) for name, answer in by_name.items() if answer.value.get(WHY)),
            notes=(
                "A and B: as the person saw the sides. A reader decides which reasons contradict their preference.",
            ),
        ),
        reasons=_reasons(preferred),
    )


def _justification(name: str, answer: LabelAnswer) -> Justification:
    sides = ("B", "A") if answer.value.get("switched") else ("A", "B")
    preference = str(answer.value.get(PREFERENCE))
    seen = dict(zip(SIDES, sides, strict=True)).get(preference, preference)
    return Justification(answer=name, preference=seen, why=str(answer.value[WHY]))


def _votes(answers: Sequence[LabelAnswer], aspect: str) -> dict[tuple[str, str], list[Vote]]:
    """People's votes on each thing: by conversation, and by the name of the question's part."""
    votes: dict[tuple[str, str], list[Vote]] = {}
    for answer in answers:
        for name, choice in answer.value.items():
            if isinstance(choice, str) and name.rpartition(" ")[2] == aspect:
                votes.setdefault((answer.conversation, name), []).append(choice)
    return votes


def _reasons(answers: Sequence[LabelAnswer]) -> ReasonTable:
    """How often each value of each label of the reasons is given, the commonest first; several are counted each."""
    reason_counts: dict[str, dict[str, Counter[str]]] = {}
    labelled: dict[str, Counter[str]] = {}
    for answer in answers:
        side = str(answer.value.get(PREFERENCE))
        for label, value in answer.value.items():
            if not is_asked(label):
                labelled.setdefault(label, Counter())[side] += 1
                for reason in dict.fromkeys(map(str, value if isinstance(value, list) else [value])):
                    reason_counts.setdefault(label, {}).setdefault(reason, Counter())[side] += 1
    rows = [
        _reason(label, reason, count, labelled[label])
        for label, reasons in reason_counts.items()
        for reason, count in sorted(reasons.items(), key=lambda item: (-item[1].total(), item[0]))
    ]
    notes = [
        f"{label}: of {', '.join(f'{count[side]} {IN_FAVOUR[side]}' for side in IN_FAVOUR if count[side])}; an answer may give several."
        for label, count in labelled.items()
    ]
    return ReasonTable(rows=tuple(rows), notes=tuple(notes))


def _reason(label: str, reason: str, count: Counter[str], labelled: Counter[str]) -> ReasonRow:
    counts = {side: count[side] for side in IN_FAVOUR}
    shares = {f"{side}_share": count[side] / labelled[side] if labelled[side] else None for side in IN_FAVOUR}
    return ReasonRow.model_validate({"label": label, "reason": reason, **counts, **shares})


def _wins(aspect: str, votes: Mapping[tuple[str, str], list[Vote]]) -> Wins:
    won = Counter(aggregate(item_votes).value for item_votes in votes.values())
    both = "tie" if aspect == PREFERENCE else "both"
    sizes = Counter(map(len, votes.values()))
    size = max((size for size in sizes if size > 1), key=lambda size: (sizes[size], size), default=0)
    whole = {key: item_votes for key, item_votes in votes.items() if len(item_votes) == size}
    kappa = UserScore(value=None, reason="nothing was answered by two people")
    if whole:
        kappa = fleiss_kappa(list(whole.values()), users=[name for name, _ in whole])
    over = f"kappa over the {len(whole)} that {size} people answered" if 0 < len(whole) < len(votes) else ""

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
        fleiss=kappa.value,
        fleiss_low=kappa.low,
        fleiss_high=kappa.high,
        note="; ".join(filter(None, (over, kappa.reason))),
    )
