"""Sources of teacher-student conversations side by side: answers, coverage, flow, and how questions are put.

"Let the LLMs Talk" (WSDM 2024), Table 5 and Figure 2. The paper gives no definition of coverage; the one here
is the plainest, and `docs/research/statistics.md` says how far it agrees with what is printed there.
"""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from math import isfinite
from statistics import fmean, pstdev
from typing import Any, Literal

from typing_extensions import override

from ...data.grounding import gives_no_answer
from ...data.people import paired, topic_key
from ...data.records import Conversation, Message, Record
from ...data.simquac import DOMAIN
from ...data.summaries import covered
from ...errors import of_extra
from ..attempts import AttemptRow, attempt_rows, attempt_table
from ..estimates import Difference
from ..estimates import paired as paired_difference
from ..tables import Cell, Column, Table, TabledReport
from .questions import QuestionForms, question_forms, question_table


class ConversationNumbers(Record):
    """One conversation. A message that was sent and is not stored (a goodbye) does not count."""

    conversation: str
    questions: int = 0
    refused: int = 0
    """Questions whose answer is a no-answer or empty."""
    ungrounded: int = 0
    """Questions whose answer has no span and is not a refusal: not measured below."""
    unanswered: int = 0
    """Questions without an answer, since the conversation ended there."""
    words: tuple[int, ...] = ()
    """For each answered question the words of its answer, split on single spaces, summed over its spans."""
    spans: tuple[int, ...] = ()
    coverage_by_question: tuple[float, ...] = ()
    """Share of the section's characters in the answers' spans after each question and its answer, 0 to 1."""
    coverage: float | None = None
    """The same at the end; None without a section."""
    flow: float | None = None
    """Kendall's tau-b of turn and first span's start, -1 to 1; None where `flow_left_out` says why."""
    flow_left_out: Literal["few", "tied"] | None = None
    """`few`: fewer than two answers; `tied`: all answers begin at one place."""


class SourceStatistics(Record):
    """A source of teacher-student conversations. A mean of nothing is `None`."""

    source: str
    conversations: int
    questions: int
    answered: int
    """Questions whose answer has a span: the answerable ones."""
    refused: int
    ungrounded: int
    unanswered: int
    words_per_answer: float | None
    """Mean over answered questions of the words of all spans (Table 5)."""
    spans_per_answer: float | None
    coverage_n: int
    coverage_mean: float | None
    """Mean over conversations (Figure 2a)."""
    coverage_sd: float | None
    """Population standard deviation of it."""
    flow_n: int
    flow_mean: float | None
    """Mean over the conversations with two answers or more that do not all begin at one place (Figure 2b)."""
    flow_sd: float | None
    flow_few: int
    flow_tied: int
    forms: QuestionForms
    attempts: tuple[AttemptRow, ...]
    """What the validators said of each attempt; empty where no draft is kept."""
    notes: tuple[str, ...] = ()


class SampleTest(Record):
    """Two sources by one measure with a value for each conversation: Student's t-test, as published, and Welch's."""

    measure: str
    a: str
    b: str
    n_a: int
    n_b: int
    mean_a: float | None
    mean_b: float | None
    statistic: float | None
    p: float | None
    welch_p: float | None


class EqualQuestions(Record):
    """Coverage of two sources whose conversations are paired by section, and are as long or not.

    Who asks more gets more answers. So it is compared over all questions, and over the first k, the smaller number of
    questions of the pair; a question that is refused is spent.
    """

    a: str
    b: str
    pairs: int
    k: float | None
    """Mean over pairs of the smaller number of questions."""
    all_questions: Difference
    """b less a; the interval and p are over sections."""
    first_k: Difference


class SimquacStatistics(TabledReport):
    """Sources side by side."""

    sources: tuple[SourceStatistics, ...]
    tests: tuple[SampleTest, ...]
    equal_questions: tuple[EqualQuestions, ...]
    numbers: dict[str, tuple[ConversationNumbers, ...]]
    """Of each source the numbers of its conversations, behind the means and the tests."""

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
        tables = [self.table(), question_table({source.source: source.forms for source in self.sources})]
        if self.tests:
            columns = [Column(name=name) for name in ("measure", "a", "b")]
            columns += [Column(name=name, kind="count") for name in ("n a", "n b")]
            columns += [Column(name=name, kind="number") for name in ("mean a", "mean b", "statistic")]
            columns += [Column(name=name, kind="p") for name in ("p", "welch p")]
            notes = ["One value a conversation. Two-tailed t-tests: Student's, and the p of Welch's beside it."]
            tables.append(Table.of("Comparisons", columns, self.tests, notes))
            tables.append(self._equal_questions())
        return tables + [attempt_table(one.attempts, one.source) for one in self.sources if one.attempts]

    def _equal_questions(self) -> Table:
        columns = [Column(name=name) for name in ("questions", "a", "b")]
        columns += [Column(name=name, kind="count") for name in ("pairs", "sections")]
        columns += [Column(name=name, kind="number") for name in ("mean a", "mean b", "b less a", "low", "high")]
        rows: list[tuple[Cell, ...]] = []
        reasons = []
        for one in self.equal_questions:
            for name, found in (("all", one.all_questions), ("first k", one.first_k)):
                means = (found.old, found.new, found.value, found.low, found.high)
                rows.append((name, one.a, one.b, found.n, found.groups, *means, found.p))
                reasons += [f"{one.a} and {one.b}, {name}: {found.reason}."] if found.reason else []
        notes = (
            "Conversations are paired by section; first k: the smaller number of questions of the pair, answered or not. "
            "The 95 % interval and p (sign flips) are over sections.",
            *reasons,
        )
        columns.append(Column(name="p", kind="p"))
        return Table(
            title="Coverage at equal number of questions", columns=tuple(columns), rows=tuple(rows), notes=notes
        )

    def figure(self) -> Any:
        """Figure 2: how many conversations of each source have which coverage and which flow. Needs `stats`."""
        figure = of_extra("matplotlib.figure", "stats").Figure(figsize=(9, 3.5), layout="constrained")
        for axes, name, limits in zip(figure.subplots(1, 2), ("coverage", "flow"), ((0, 1), (-1, 1)), strict=True):
            for source, numbers in self.numbers.items():
                values = [value for one in numbers if (value := getattr(one, name)) is not None]
                axes.hist(values, bins=20, range=limits, histtype="step", label=source)
            axes.set_xlabel(name)
            axes.set_ylabel("conversations")
            axes.legend()
        return figure


def simquac_statistics(sources: Mapping[str, Iterable[Conversation]]) -> SimquacStatistics:
    """The statistics of named sources, and each pair of them compared. Needs the extra `stats`."""
    by_name = {name: list(conversations) for name, conversations in sources.items()}
    about = {name: list(filter(DOMAIN.is_about, conversations)) for name, conversations in by_name.items()}
    numbers = {name: tuple(map(measured, conversations)) for name, conversations in about.items()}
    return SimquacStatistics(
        sources=tuple(
            _source(name, numbers[name], about[name], len(by_name[name]) - len(about[name])) for name in by_name
        ),
        tests=tuple(test for a, b in combinations(numbers.items(), 2) for test in _tests(a, b)),
        equal_questions=tuple(_at_equal_questions(a, b, about, numbers) for a, b in combinations(by_name, 2)),
        numbers=numbers,
    )


def measured(conversation: Conversation) -> ConversationNumbers:
    """The numbers of a teacher-student conversation. Needs the extra `stats`."""
    section = conversation.scenario.get("section")
    length = len(section) if isinstance(section, str) else 0
    counts = {"questions": 0, "refused": 0, "ungrounded": 0, "unanswered": 0}
    words: list[int] = []
    spans: list[int] = []
    starts: list[tuple[int, int]] = []
    places: set[int] = set()
    shares: list[float] = []
    for turn, (question, answer) in enumerate(exchanges(conversation)):
        places |= covered(answer, length)
        if not question:
            continue
        counts["questions"] += 1
        shares += [len(places) / length] if length else []
        answer_spans = [span for message in answer for span in message.spans]
        if answer_spans:
            words.append(sum(len(span.text.split(" ")) for span in answer_spans))
            spans.append(len(answer_spans))
            starts.append((turn, answer_spans[0].start))
        else:
            refused = all(map(gives_no_answer, answer))
            counts["unanswered" if not answer else "refused" if refused else "ungrounded"] += 1
    flow, left_out = _flow(starts)
    return ConversationNumbers(
        conversation=conversation.id,
        **counts,
        words=tuple(words),
        spans=tuple(spans),
        coverage_by_question=tuple(shares),
        coverage=len(places) / length if length else None,
        flow=flow,
        flow_left_out=left_out,
    )


def exchanges(conversation: Conversation) -> list[tuple[list[Message], list[Message]]]:
    """Question and answer of each turn, as far as they belong to the published history."""
    return [
        ([m for m in exchange.user if m.stored], [m for m in exchange.assistant if m.stored])
        for exchange in conversation.exchanges
    ]


def mean_of(values: Sequence[float]) -> float | None:
    """The mean; None of nothing."""
    return fmean(values) if values else None


def _flow(starts: Sequence[tuple[int, int]]) -> tuple[float | None, Literal["few", "tied"] | None]:
    """Kendall's tau-b between the turns of answers and the starts of their first spans, or why it is missing."""
    if len(starts) < 2:
        return None, "few"
    if len({start for _, start in starts}) == 1:
        return None, "tied"
    turns, begins = zip(*starts, strict=True)
    return float(of_extra("scipy.stats", "stats").kendalltau(turns, begins, variant="b").statistic), None


def _source(
    name: str, numbers: Sequence[ConversationNumbers], conversations: Sequence[Conversation], others: int
) -> SourceStatistics:
    words = [number for talk in numbers for number in talk.words]
    left_out = [talk.flow_left_out for talk in numbers]
    spread: dict[str, Any] = {}
    for measure in ("coverage", "flow"):
        values = [value for talk in numbers if (value := getattr(talk, measure)) is not None]
        spread |= {f"{measure}_n": len(values), f"{measure}_mean": mean_of(values)}
        spread[f"{measure}_sd"] = pstdev(values) if values else None
    totals = {
        field: sum(getattr(talk, field) for talk in numbers)
        for field in ("questions", "refused", "ungrounded", "unanswered")
    }
    notes = []
    if others:
        notes.append(f"{others} conversations are about no section and left out.")
    if not words:
        notes.append("no question is answered by a span of the section, so there are no words, spans or flow.")
    if totals["ungrounded"]:
        notes.append(f"{totals['ungrounded']} answers are neither spans of the section nor refusals: not measured.")
    return SourceStatistics(
        source=name,
        conversations=len(numbers),
        answered=len(words),
        **totals,
        words_per_answer=mean_of(words),
        spans_per_answer=mean_of([number for talk in numbers for number in talk.spans]),
        **spread,
        flow_few=left_out.count("few"),
        flow_tied=left_out.count("tied"),
        forms=question_forms(conversations),
        attempts=tuple(attempt_rows(conversations)),
        notes=tuple(notes),
    )


def _tests(
    a: tuple[str, Sequence[ConversationNumbers]], b: tuple[str, Sequence[ConversationNumbers]]
) -> Iterable[SampleTest]:
    """Both by every measure; questions of one conversation are not independent draws, so each gives one value."""
    samples = [_values(numbers) for _, numbers in (a, b)]
    ttest = of_extra("scipy.stats", "stats").ttest_ind
    for measure in samples[0]:
        of_a, of_b = (sample[measure] for sample in samples)
        with warnings.catch_warnings():  # scipy warns where a test has too few values, or all are equal
            warnings.simplefilter("ignore", RuntimeWarning)
            tests = [ttest(of_a, of_b, equal_var=equal) for equal in (True, False)]
        found = [float(number) for test in tests for number in (test.statistic, test.pvalue)]
        statistic, p, _, welch_p = (number if isfinite(number) else None for number in found)
        yield SampleTest(
            measure=measure,
            a=a[0],
            b=b[0],
            n_a=len(of_a),
            n_b=len(of_b),
            mean_a=mean_of(of_a),
            mean_b=mean_of(of_b),
            statistic=statistic,
            p=p,
            welch_p=welch_p,
        )


def _values(numbers: Sequence[ConversationNumbers]) -> dict[str, list[float]]:
    return {
        "coverage": [talk.coverage for talk in numbers if talk.coverage is not None],
        "flow": [talk.flow for talk in numbers if talk.flow is not None],
        "words_per_answer": [fmean(talk.words) for talk in numbers if talk.words],
        "spans_per_answer": [fmean(talk.spans) for talk in numbers if talk.spans],
        "answered": [len(talk.words) / talk.questions for talk in numbers if talk.questions],
    }


def _at_equal_questions(
    a: str,
    b: str,
    about: Mapping[str, Sequence[Conversation]],
    numbers: Mapping[str, Sequence[ConversationNumbers]],
) -> EqualQuestions:
    of_conversation = {
        id(talk): of_talk for name in (a, b) for talk, of_talk in zip(about[name], numbers[name], strict=True)
    }
    by_section: dict[str | None, list[tuple[tuple[float, ...], tuple[float, ...]]]] = {}
    for one, other in paired(about[a], about[b]).pairs:
        shares = of_conversation[id(one)].coverage_by_question, of_conversation[id(other)].coverage_by_question
        if all(shares):  # where nothing is asked k is 0, and at no question everybody is equal
            by_section.setdefault(topic_key(one), []).append(shares)
    least = [min(map(len, pair)) for pairs in by_section.values() for pair in pairs]
    return EqualQuestions(
        a=a,
        b=b,
        pairs=len(least),
        k=mean_of(least),
        all_questions=paired_difference(
            [[(one[-1], other[-1]) for one, other in pairs] for pairs in by_section.values()], (0, 1), "sections"
        ),
        first_k=paired_difference(
            [
                [(one[k - 1], other[k - 1]) for one, other in pairs for k in (min(len(one), len(other)),)]
                for pairs in by_section.values()
            ],
            (0, 1),
            "sections",
        ),
    )
