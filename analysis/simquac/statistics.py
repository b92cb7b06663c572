"""Sources of teacher-student conversations side by side: questions, answers, coverage and flow.

"Let the LLMs Talk" (WSDM 2024), Table 5 and Figure 2. The paper gives no definition of coverage; the one here
is the plainest, and `docs/papers/simquac.md` says how far it agrees with what is printed there.
"""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from math import isfinite
from statistics import fmean, pstdev
from typing import Any, NamedTuple

from ...data.grounding import gives_no_answer
from ...data.people import paired, text_of, topic_key
from ...data.records import Conversation, Message
from ...data.simquac import DOMAIN
from ...data.summaries import covered
from ...errors import of_extra
from ..estimates import by_group
from ..estimates import paired as paired_difference
from ..tables import Cell, Column, Table, TablesReport


class ConversationNumbers(NamedTuple):
    """One conversation. A message that was sent and is not stored (a goodbye) does not count."""

    questions: int
    refused: int
    """Questions whose answer is a no-answer or empty."""
    ungrounded: int
    """Questions whose answer has no span and is not a refusal: not measured below."""
    unanswered: int
    """Questions without an answer, since the conversation ended there."""
    words_asked: int
    """Words of all questions, split at white space."""
    words: Sequence[int]
    """For each answered question the words of its answer, split on single spaces, summed over its spans (Table 5)."""
    spans: Sequence[int]
    coverage_by_question: Sequence[float]
    """Share of the section's characters in the answers' spans after each question and its answer, 0 to 1."""
    coverage: float | None
    """The same at the end (Figure 2a); None without a section."""
    flow: float | None
    """Kendall's tau-b of turn and first span's start, -1 to 1 (Figure 2b); None where `left_out` says why."""
    left_out: str
    """`few`: fewer than two answers; `tied`: all answers begin at one place."""


def simquac_statistics(sources: Mapping[str, Iterable[Conversation]]) -> TablesReport:
    """The statistics of named sources, and each pair of them compared. Needs the extra `stats`."""
    by_name = {name: list(conversations) for name, conversations in sources.items()}
    about = {name: list(filter(DOMAIN.is_about, conversations)) for name, conversations in by_name.items()}
    numbers = {name: [*map(measured, conversations)] for name, conversations in about.items()}
    notes = [
        "Words and spans: per answered question. Coverage: share of the section's characters in any answer. "
        "Flow: Kendall's tau-b of turn and place. sd: of the population."
    ]
    rows = {}
    for name, of_source in numbers.items():
        rows[name] = row = _source(of_source)
        if others := len(by_name[name]) - len(about[name]):
            notes.append(f"{name}: {others} conversations are about no section and left out.")
        if not row["answered"]:
            notes.append(
                f"{name}: no question is answered by a span of the section, so there are no words, spans or flow."
            )
        if row["ungrounded"]:
            notes.append(
                f"{name}: {row['ungrounded']} answers are neither spans of the section nor refusals: not measured."
            )
    tables = {"sources": Table.across("Answers, coverage and flow", rows, notes)}
    if len(numbers) > 1:
        tables["tests"] = _tests(numbers)
        tables["equal_questions"] = _at_equal_questions(about, numbers)
    return TablesReport(by_name=tables)


def figure_2(sources: Mapping[str, Iterable[Conversation]]) -> Any:
    """Figure 2 of matplotlib: how many conversations of each source have which coverage and which flow."""
    figure = of_extra("matplotlib.figure", "stats").Figure(figsize=(9, 3.5), layout="constrained")
    numbers = {name: [*map(measured, filter(DOMAIN.is_about, talks))] for name, talks in sources.items()}
    for axes, name, limits in zip(figure.subplots(1, 2), ("coverage", "flow"), ((0, 1), (-1, 1)), strict=True):
        for source, of_source in numbers.items():
            axes.hist(_known(of_source, name), bins=20, range=limits, histtype="step", label=source)
        axes.set_xlabel(name)
        axes.set_ylabel("conversations")
        axes.legend()
    return figure


def measured(conversation: Conversation) -> ConversationNumbers:
    """The numbers of a teacher-student conversation. Needs the extra `stats`."""
    section = conversation.scenario.get("section")
    length = len(section) if isinstance(section, str) else 0
    counts = {"questions": 0, "refused": 0, "ungrounded": 0, "unanswered": 0, "words_asked": 0}
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
        counts["words_asked"] += len(text_of(question).split())
        shares += [len(places) / length] if length else []
        answer_spans = [span for message in answer for span in message.spans]
        if answer_spans:
            words.append(sum(len(span.text.split(" ")) for span in answer_spans))
            spans.append(len(answer_spans))
            starts.append((turn, answer_spans[0].start))
        else:
            refused = all(map(gives_no_answer, answer))
            counts["unanswered" if not answer else "refused" if refused else "ungrounded"] += 1
    flow, left_out = None, "few" if len(starts) < 2 else "tied" if len({start for _, start in starts}) == 1 else ""
    if not left_out:
        turns, begins = zip(*starts, strict=True)
        flow = float(of_extra("scipy.stats", "stats").kendalltau(turns, begins, variant="b").statistic)
    coverage = len(places) / length if length else None
    return ConversationNumbers(
        **counts, words=words, spans=spans, coverage_by_question=shares, coverage=coverage, flow=flow, left_out=left_out
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


def _known(numbers: Sequence[ConversationNumbers], measure: str) -> list[float]:
    return [value for talk in numbers if (value := getattr(talk, measure)) is not None]


def _source(numbers: Sequence[ConversationNumbers]) -> dict[str, Any]:
    words = [number for talk in numbers for number in talk.words]
    summed = ("questions", "refused", "ungrounded", "unanswered", "words_asked")
    totals = {field: sum(getattr(talk, field) for talk in numbers) for field in summed}
    questions, asked = totals.pop("questions"), totals.pop("words_asked")
    row: dict[str, Any] = {
        "conversations": len(numbers),
        "questions": questions,
        "answered": len(words),
        **totals,
        "words_per_question": asked / questions if questions else None,
        "words_per_answer": mean_of(words),
        "spans_per_answer": mean_of([number for talk in numbers for number in talk.spans]),
    }
    for measure in ("coverage", "flow"):
        values = _known(numbers, measure)
        row |= {f"{measure}_n": len(values), f"{measure}_mean": mean_of(values)}
        row[f"{measure}_sd"] = pstdev(values) if values else None
    left_out = [talk.left_out for talk in numbers]
    return row | {"flow_few": left_out.count("few"), "flow_tied": left_out.count("tied")}


def _tests(numbers: Mapping[str, Sequence[ConversationNumbers]]) -> Table:
    """Both of each pair by every measure; questions of one conversation are no independent draws: each gives one value."""
    columns = [Column(name=name) for name in ("measure", "a", "b")]
    columns += [Column(name=name, kind="count") for name in ("n a", "n b")]
    columns += [Column(name=name, kind="number") for name in ("mean a", "mean b", "statistic")]
    columns += [Column(name=name, kind="p") for name in ("p", "welch p")]
    notes = ("One value a conversation. Two-tailed t-tests: Student's, and the p of Welch's beside it.",)
    samples = {name: _values(of_source) for name, of_source in numbers.items()}
    rows = tuple(_test(measure, a, b, samples) for a, b in combinations(samples, 2) for measure in samples[a])
    return Table(title="Comparisons", columns=tuple(columns), rows=rows, notes=notes)


def _test(measure: str, a: str, b: str, samples: Mapping[str, Mapping[str, list[float]]]) -> tuple[Cell, ...]:
    of_a, of_b = samples[a][measure], samples[b][measure]
    ttest = of_extra("scipy.stats", "stats").ttest_ind
    with warnings.catch_warnings():  # scipy warns where a test has too few values, or all are equal
        warnings.simplefilter("ignore", RuntimeWarning)
        student, welch = (ttest(of_a, of_b, equal_var=equal) for equal in (True, False))
    found = map(float, (student.statistic, student.pvalue, welch.pvalue))
    statistics = (number if isfinite(number) else None for number in found)
    return (measure, a, b, len(of_a), len(of_b), mean_of(of_a), mean_of(of_b), *statistics)


def _values(numbers: Sequence[ConversationNumbers]) -> dict[str, list[float]]:
    return {
        "coverage": _known(numbers, "coverage"),
        "flow": _known(numbers, "flow"),
        "words_per_answer": [fmean(talk.words) for talk in numbers if talk.words],
        "spans_per_answer": [fmean(talk.spans) for talk in numbers if talk.spans],
        "answered": [len(talk.words) / talk.questions for talk in numbers if talk.questions],
    }


def _at_equal_questions(
    about: Mapping[str, Sequence[Conversation]], numbers: Mapping[str, Sequence[ConversationNumbers]]
) -> Table:
    """Coverage of two sources whose conversations are paired by section, and are as long or not.

    Who asks more gets more answers. So it is compared over all questions, and over the first k, the smaller number of
    questions of the pair; a question that is refused is spent.
    """
    columns = [Column(name=name) for name in ("questions", "a", "b")]
    columns += [Column(name=name, kind="count") for name in ("pairs", "sections")]
    columns += [Column(name=name, kind="number") for name in ("mean a", "mean b", "b less a", "low", "high")]
    columns.append(Column(name="p", kind="p"))
    notes = [
        "Conversations are paired by section; first k: the smaller number of questions of the pair, answered or not. "
        "The 95 % interval and p (sign flips) are over sections."
    ]
    rows: list[tuple[Cell, ...]] = []
    for a, b in combinations(about, 2):
        sections = _coverages(a, b, about, numbers)
        asked = [min(map(len, pair)) for pairs in sections for pair in pairs]
        notes += [f"{a} and {b}: k is {fmean(asked):.3f} on the mean."] if asked else []
        whole = [[(one[-1], other[-1]) for one, other in pairs] for pairs in sections]
        first = [
            [(one[k - 1], other[k - 1]) for one, other in pairs for k in (min(len(one), len(other)),)]
            for pairs in sections
        ]
        for name, coverages in (("all", whole), ("first k", first)):
            found = paired_difference(coverages, (0, 1), "sections")
            rows.append((name, a, b, found.n, found.groups, found.old, found.new, *found.ends, found.p))
            notes += [f"{a} and {b}, {name}: {found.reason}."] if found.reason else []
    title = "Coverage at equal number of questions"
    return Table(title=title, columns=tuple(columns), rows=tuple(rows), notes=tuple(notes))


def _coverages(
    a: str, b: str, about: Mapping[str, Sequence[Conversation]], numbers: Mapping[str, Sequence[ConversationNumbers]]
) -> list[list[tuple[Sequence[float], Sequence[float]]]]:
    """Of each section its pairs of conversations, each with its coverage after each question."""
    of_conversation = {
        id(talk): of_talk for name in (a, b) for talk, of_talk in zip(about[name], numbers[name], strict=True)
    }
    pairs = (
        (topic_key(one), tuple(of_conversation[id(talk)].coverage_by_question for talk in (one, other)))
        for one, other in paired(about[a], about[b]).pairs
    )
    # Where nothing is asked k is 0, and at no question everybody is equal.
    return by_group((section, (first, second)) for section, (first, second) in pairs if first and second)
