"""A report as one number to search by, and in words: what tuning of a simulator makes smaller."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log1p
from statistics import fmean

from ...data.people.splits import UserPart
from ...data.records import Conversation
from ...data.text.languages import Language
from ...data.tuning import JudgedTrial, Judgement, MeasureGap, TuningResult, halved, worse
from ..tables import Column, Table
from .comparing import compare
from .measures import MEASURES, Measure
from .report import RealismReport

SHUFFLINGS = 100
"""Draws for p, which is not read here."""

MISSING = 1.0
"""By how many standard deviations a measure that the start has and a trial lacks counts as further away."""


@dataclass(frozen=True)
class Against:
    """Judges simulated conversations against a part of these people."""

    people: Sequence[Conversation]
    language: Language | None = None
    penalty: float = 1.0
    """The weight of a measure that is worse than at the start, and beyond its human-human baseline."""
    seed: int = 0
    measures: Sequence[Measure] = MEASURES

    def __call__(self, simulated: Sequence[Conversation], part: UserPart, start: Judgement | None = None) -> Judgement:
        """The judgement of the conversations; `start`: that of the settings as they were.

        Needs the extras `stats` and `ml`, and `zh` for Chinese.
        """
        report = compare(
            simulated,
            self.people,
            language=self.language,
            part=part,
            seed=self.seed,
            measures=self.measures,
            examples_each=0,
            shufflings=SHUFFLINGS,
            auc=False,  # no part of the value
        )
        return judged(report, start, penalty=self.penalty)


def judged(report: RealismReport, start: Judgement | None = None, *, penalty: float = 1.0) -> Judgement:
    """A report as a judgement.

    Its value is the mean over the families of measures. A family's value is the mean of log(1 + e). Here e is the
    excess of a measure's distance over its human-human baseline, in people's standard deviations. With the logarithm
    one distant measure does not outweigh all others.

    `penalty` times the sum of log(1 + w) is added, over the family's measures that are worse by w. They are worse than
    at the start, and than what one in 20 halvings of the people exceeds. A measure that the start has and the report
    lacks counts as one standard deviation worse. What is set apart is left out.
    """
    gaps = gaps_of(report)
    if start is not None:
        gaps = _with_missing(gaps, start)
    families: dict[str, list[float]] = {}
    for gap in gaps:
        families.setdefault(gap.family, []).append(log1p(max(0.0, gap.distance - gap.floor)))
    beyond = fmean(fmean(excesses) for excesses in families.values()) if families else 0.0
    lost = 0.0
    if start is not None:
        before = start.distances()
        bounds = ((gap, max(before.get(gap.name, 0.0), gap.floor_high)) for gap in gaps)
        lost = penalty * sum(log1p(max(0.0, gap.distance - bound)) for gap, bound in bounds) / max(1, len(families))
    return Judgement(value=beyond + lost, penalty=lost, gaps=tuple(gaps), words=tuple(words(gaps)))


def gaps_of(report: RealismReport) -> list[MeasureGap]:
    """The ranked measures of a report with a distance and a baseline, the furthest from people first."""
    gaps = [
        MeasureGap(**{name: getattr(row, name) for name in MeasureGap.model_fields})
        for row in report.measures
        if not row.apart and row.distance is not None and row.floor is not None and row.floor_high is not None
    ]
    return sorted(gaps, key=lambda gap: (-gap.distance, gap.name))


def _with_missing(gaps: Sequence[MeasureGap], start: Judgement) -> list[MeasureGap]:
    there = {gap.name for gap in gaps}
    missing = [
        gap.model_copy(update={"sim": None, "distance": max(gap.distance, gap.floor_high) + MISSING})
        for gap in start.gaps
        if gap.name not in there
    ]
    return sorted([*gaps, *missing], key=lambda gap: (-gap.distance, gap.name))


def words(gaps: Iterable[MeasureGap]) -> list[str]:
    """The measures beyond their human-human baseline, a sentence each."""
    return [_sentence(gap) for gap in gaps if gap.distance > gap.floor_high]


def _sentence(gap: MeasureGap) -> str:
    human, simulated = (_number(value) for value in (gap.human, gap.sim))
    return (
        f"{gap.name} ({gap.unit}): people have {human}, this user {simulated}; higher means {gap.direction}. "
        f"Distance {gap.distance:.2f}, between people {gap.floor:.2f}."
    )


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"


def table(tuned: TuningResult) -> Table:
    """The measures that were furthest from people at the start: before and after.

    The figures are those on the people of the selection and, where judged, on the test half.
    """
    start, end, judged = tuned.start, tuned.chosen, tuned.judged
    sides = [("select", start, end), *([("test", judged.start, judged.best)] if judged is not None else [])]
    columns = [Column(name="measure")]
    for part, _, _ in sides:
        columns += [Column(name=f"{part} {name}", kind="number", places=2) for name in ("start", "best", "floor")]
    rows = []
    first = judged.start if judged is not None else start
    for gap in first.gaps if first is not None else ():
        cells: list[str | float | None] = [gap.name]
        for _, before, after in sides:
            floors = {gap.name: gap.floor for gap in (after.gaps if after is not None else ())}
            cells += [one.distances().get(gap.name) if one is not None else None for one in (before, after)]
            cells.append(floors.get(gap.name))
        rows.append(tuple(cells))
    title = "Distance from people, furthest at the start first"
    return Table(title=title, columns=tuple(columns), rows=tuple(rows))


def summary(tuned: TuningResult) -> list[str]:
    """The results of the tuning, a line each."""
    lines = []
    for where, start, end in _sides(tuned):
        fewer, lost = halved(start, end), worse(start, end)
        lost_words = (
            f"worse than the human-human baseline: {', '.join(lost)}"
            if lost
            else "none worse than the human-human baseline"
        )
        lines.append(
            f"{where}: value {start.value:.3f} before, {end.value:.3f} after; distance halved on {len(fewer)} of the "
            f"{min(10, len(start.gaps))} furthest; {lost_words}."
        )
    if tuned.judged is not None:
        lines.append(opening_words(tuned.judged))
    return [*lines, *tuned.notes]


def opening_words(judged: JudgedTrial) -> str:
    """How often the test split was used, and what that means."""
    number = judged.opening.number
    if judged.untouched:
        return f"First access to the test split ({judged.opening.users} users)."
    return f"Access {number} to the test split: its figures are not independent any more."


def _sides(tuned: TuningResult) -> Iterable[tuple[str, Judgement, Judgement]]:
    if tuned.start is not None and tuned.chosen is not None:
        yield f"people selected by ({tuned.users.get('select', 0)} users)", tuned.start, tuned.chosen
    if tuned.judged is not None:
        yield f"test split ({tuned.judged.opening.users} users)", tuned.judged.start, tuned.judged.best
