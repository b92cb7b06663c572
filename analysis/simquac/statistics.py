"""Sources of teacher-student conversations side by side: answers, coverage, flow, and how questions are put.

"Let the LLMs Talk" (WSDM 2024), Table 5 and Figure 2. The paper gives no definition of coverage; the one here
is the plainest, and `docs/research/statistics.md` says how far it agrees with what is printed there.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from statistics import fmean, pstdev
from typing import Any

from typing_extensions import override

from ...data.records import Conversation, Record
from ..attempts import AttemptRow, attempt_rows, attempt_table
from ..over_users.comparison import Comparison, compare_means, comparison_table
from ..tables import Table, TabledReport
from .equal_questions import EqualQuestions, at_equal_questions, equal_questions_tables
from .forms import QuestionForms, question_forms, question_table
from .samples import Sample, SectionConversations, mean_of, measure


class SourceStatistics(Record):
    """A source of teacher-student conversations. A mean of nothing is `None`, and `notes` give the reasons."""

    source: str
    conversations: int
    questions: int
    answered: int
    """Questions whose answer has a span: the answerable ones."""
    refused: int
    """Questions whose answer is a no-answer or empty."""
    ungrounded: int
    """Questions whose answer has no span and is not a refusal."""
    unanswered: int
    """Questions without any answer."""
    words_per_answer: float | None
    """Mean over answered questions of the words of all spans, split on single spaces (Table 5)."""
    spans_per_answer: float | None
    """Mean over answered questions of the number of spans (Table 5)."""
    coverage_n: int
    coverage_mean: float | None
    """Mean over conversations of the share of the section's characters in any span, 0 to 1 (Figure 2a)."""
    coverage_sd: float | None
    """Population standard deviation of it."""
    flow_n: int
    """Conversations with two answers or more that do not all begin at one place."""
    flow_mean: float | None
    """Mean over them of Kendall's tau-b of turn and first span's start, -1 to 1 (Figure 2b)."""
    flow_sd: float | None
    """Population standard deviation of it."""
    flow_few: int
    """Conversations left out of it for having fewer than two answers."""
    flow_tied: int
    """Conversations left out of it since all answers begin at one place."""
    forms: QuestionForms
    """How questions are put."""
    attempts: tuple[AttemptRow, ...]
    """What the validators said of each attempt; empty where no draft is kept."""
    notes: tuple[str, ...] = ()


class SimquacStatistics(TabledReport):
    """Sources side by side."""

    sources: tuple[SourceStatistics, ...]
    comparisons: tuple[Comparison, ...]
    """Each pair of sources by each measure."""
    equal_questions: tuple[EqualQuestions, ...]
    """Coverage of each pair of sources at an equal number of questions."""
    samples: tuple[Sample, ...]
    """The numbers of each conversation, behind the means and the tests."""

    def table(self) -> Table:
        """A row for each number, a column for each source."""
        notes = [
            "Words and spans: per answered question. Coverage: share of the section's characters in any answer. "
            "Flow: Kendall's tau-b of turn and place. sd: of the population."
        ]
        notes += [f"{source.source}: {note}" for source in self.sources for note in source.notes]
        return Table.across("Answers, coverage and flow", self.sources, notes, ("forms", "attempts", "notes"))

    @override
    def tables(self) -> list[Table]:
        forms = {source.source: source.forms for source in self.sources}
        compared = [comparison_table(self.comparisons)] if self.comparisons else []
        compared += equal_questions_tables(self.equal_questions)
        drafted = [attempt_table(source.attempts, source.source) for source in self.sources if source.attempts]
        return [self.table(), question_table(forms), *compared, *drafted]

    @override
    def to_json(self) -> list[dict[str, Any]]:
        """An object for each source in order and, with several, a last one that holds what compares them."""
        values = [source.model_dump(mode="json") for source in self.sources]
        if len(self.sources) > 1:
            compared = {"comparisons": self.comparisons, "equal_questions": self.equal_questions}
            values.append({name: [one.model_dump(mode="json") for one in every] for name, every in compared.items()})
        return values


def simquac_statistics(sources: Mapping[str, Iterable[Conversation]]) -> SimquacStatistics:
    """The statistics of named sources, and each pair of them compared. Needs the extra `stats`.

    A source that is a sequence, such as a streamed run, is iterated several times, and its messages are not held.
    """
    by_name = {
        name: conversations if isinstance(conversations, Sequence) else list(conversations)
        for name, conversations in sources.items()
    }
    samples = [measure(name, conversations) for name, conversations in by_name.items()]
    about_sections = {name: SectionConversations(conversations) for name, conversations in by_name.items()}
    outlines = {name: about.outlines() for name, about in about_sections.items()} if len(by_name) > 1 else {}
    return SimquacStatistics(
        sources=tuple(_source(sample, about_sections[sample.source]) for sample in samples),
        comparisons=tuple(comparison for a, b in combinations(samples, 2) for comparison in _compared(a, b)),
        equal_questions=tuple(
            at_equal_questions(a, b, outlines[a.source], outlines[b.source]) for a, b in combinations(samples, 2)
        ),
        samples=tuple(samples),
    )


def _source(sample: Sample, conversations: SectionConversations) -> SourceStatistics:
    measured = sample.conversations
    words = [number for talk in measured for number in talk.words]
    spans = [number for talk in measured for number in talk.spans]
    left_out = [talk.flow_left_out for talk in measured]
    return SourceStatistics(
        source=sample.source,
        conversations=len(measured),
        answered=len(words),
        **{
            name: sum(getattr(talk, name) for talk in measured)
            for name in ("questions", "refused", "ungrounded", "unanswered")
        },
        words_per_answer=mean_of(words),
        spans_per_answer=mean_of(spans),
        **_spread("coverage", sample.coverages),
        **_spread("flow", sample.flows),
        flow_few=left_out.count("few"),
        flow_tied=left_out.count("tied"),
        forms=question_forms(conversations),
        attempts=tuple(attempt_rows(conversations)),
        notes=tuple(_notes(sample, bool(words))),
    )


def _notes(sample: Sample, answered: bool) -> Iterable[str]:
    if sample.other:
        yield f"{sample.other} conversations are about no section and left out."
    if not sample.conversations:
        yield "there is no teacher-student conversation to measure."
        return
    if len(sample.conversations) == 1:
        yield "one conversation has no spread: its standard deviations are 0, and no test compares it."
    if not sum(talk.questions for talk in sample.conversations):
        yield "no question is asked."
    elif not answered:
        yield "no question is answered by a span of the section, so there are no words, spans or flow."
    elif not sample.flows:
        yield "no conversation has two answers that begin at different places, so there is no flow."
    bare = len(sample.conversations) - len(sample.coverages)
    if bare:
        yield f"{bare} conversations have no section and so no coverage."
    ungrounded = sum(talk.ungrounded for talk in sample.conversations)
    if ungrounded:
        yield f"{ungrounded} answers are neither spans of the section nor refusals; their words are not counted."


def _compared(a: Sample, b: Sample) -> list[Comparison]:
    """Two samples by every measure, with one value for each conversation.

    Questions of one conversation are not independent draws.
    """
    both = (a, b)
    values: dict[str, list[list[float]]] = {
        "coverage": [sample.coverages for sample in both],
        "flow": [sample.flows for sample in both],
        "words_per_answer": [[fmean(talk.words) for talk in sample.conversations if talk.words] for sample in both],
        "spans_per_answer": [[fmean(talk.spans) for talk in sample.conversations if talk.spans] for sample in both],
        "answered": [
            [len(talk.words) / talk.questions for talk in sample.conversations if talk.questions] for sample in both
        ],
    }
    return [compare_means(name, a.source, b.source, of_a, of_b) for name, (of_a, of_b) in values.items()]


def _spread(name: str, values: Sequence[float]) -> dict[str, Any]:
    deviation = pstdev(values) if values else None
    return {f"{name}_n": len(values), f"{name}_mean": mean_of(values), f"{name}_sd": deviation}
