"""The published figures of teacher-student conversations, and the tables that are easier to look at."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from ...data.records import Role
from ..figures import bars, histogram, lines
from .equal_questions import EqualQuestions
from .forms import TYPES
from .statistics import SimquacStatistics
from .teacher import TeacherStatistics


def simquac_figures(statistics: SimquacStatistics) -> dict[str, Any]:
    """A figure by name: coverage (2a), flow (2b), question types; of several sources coverage by question.

    Needs the extra `stats`.
    """
    figures = {
        "coverage": histogram(
            {sample.source: sample.coverages for sample in statistics.samples},
            title="Coverage of the section by conversation",
            label="share of the section's characters in any answer",
            limits=(0, 1),
        ),
        "flow": histogram(
            {sample.source: sample.flows for sample in statistics.samples},
            title="Flow by conversation",
            label="Kendall's tau-b of turn and place in the section",
            limits=(-1, 1),
        ),
        "question_types": bars(
            TYPES,
            {source.source: list(map(source.forms.share, TYPES)) for source in statistics.sources},
            title="Types of questions",
            label="share of questions",
        ),
    }
    paired = [one for one in statistics.equal_questions if one.by_question]
    if paired:
        figures["coverage_by_question"] = _coverage_by_question(paired)
    return figures


def _coverage_by_question(paired: Sequence[EqualQuestions]) -> Any:
    """Mean coverage after each question, over the pairs in which both sides ask that many: a line for each side.

    A line ends where fewer than half of the pairs are left: the mean of a few long talks would bend it.
    """
    points: dict[str, list[tuple[float, float]]] = {}
    for one in paired:
        name_a, name_b = (one.a, one.b) if len(paired) == 1 else (f"{one.a} (with {one.b})", f"{one.b} (with {one.a})")
        shown = [after for after in one.by_question if 2 * after.pairs >= one.pairs]
        points[name_a] = [(after.question, after.coverage_a) for after in shown]
        points[name_b] = [(after.question, after.coverage_b) for after in shown]
    title = "Coverage after each question, of pairs in which both ask that many"
    return lines(points, title=title, across="question", label="share of the section's characters", whole=True)


def teacher_figures(statistics: TeacherStatistics) -> dict[str, Any]:
    """A figure by name: answers beside people's (Table 3), and validity by attempt where there are drafts."""
    agreement, kinds = statistics.agreement, ("single", "several", "none")
    relations = ("same", "overlap", "different")
    figures = {
        "agreement": bars(
            kinds,
            {name: [getattr(getattr(agreement, name), kind) for kind in kinds] for name in relations},
            title=f"Answers of {statistics.teacher} beside people's",
            label="questions",
            stacked=True,
        )
    }
    if statistics.attempts:
        figures["validity"] = validity_figure(statistics)
    return figures


def validity_figure(statistics: TeacherStatistics, role: Role = "assistant") -> Any:
    """Share of turns accepted at each attempt or before, a line for each model of a side."""
    points: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
    for row in statistics.attempts:
        if row.role == role:
            points[row.model].append((row.attempt, row.accepted_so_far))
    return lines(points, title="Validity by attempt", across="attempt", label="share of turns accepted", whole=True)
