"""What a reader's answers are worth: precision, recall, F1, exact match, HEQ, and how it treats the unanswerable.

F1 and HEQ as in QuAC (EMNLP 2018, section 5.1), normalisation as in SQuAD (EMNLP 2016, section 6.1).
"""

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from ...data.grounding import NO_ANSWER, is_refusal
from ...data.records import Record
from ...data.simquac import Question
from ...errors import DataError, of_extra
from ..comparison import FEWEST_IN_INTERVAL
from ..simquac.answers import AnswerScore, score_answer, scored_references

Reader: TypeAlias = Callable[[Sequence[Question]], Sequence[str | None]]
"""Answers questions, an answer each; None or a refusal's words: it has no answer."""


class ReaderScore(Record):
    """A reader on the questions of a data set. Means are over questions, each with the same weight."""

    reader: str
    data: str
    trained_on: str | None = None
    """The data set that it was trained on, on other topics than those it is asked about."""
    questions: int
    unanswerable: int
    """Questions of these that have no answer."""
    precision: float
    """Share of the answer's words that the reference has. A refusal of what has no answer is 1, as is its recall;
    a refusal of what has one, and an answer to what has none, are 0."""
    recall: float
    """Share of the reference's words that the answer has."""
    f1: float
    """Mean of the questions' F1, with the best reference (`analysis.simquac.score_answer`)."""
    f1_low: float | None
    """Lower end of its 95 % interval over sections; None with fewer than 10 sections."""
    f1_high: float | None
    exact: float
    """Share of questions whose answer equals a reference after normalisation."""
    heq_q: float
    """Share of questions on which the F1 is at least people's own; with one reference that is an F1 of 1."""
    heq_d: float
    """Share of conversations on all of whose questions it is."""
    f1_answerable: float | None
    """Mean F1 over the questions that have an answer; None without one."""
    several_references: int
    """Questions with more than one reference: people's own F1 is known for these alone."""
    refused_right: int
    refused_wrong: int
    """Refusals of questions that have an answer."""
    answered_wrong: int
    """Answers to questions that have none."""
    failed: int = 0
    """Questions at which the reader could not be asked. They count in no other number."""
    reason: str | None = None
    """Why the first of them failed."""


class Interval(NamedTuple):
    """Ends of a 95 % interval."""

    low: float | None
    high: float | None


def scored(answer: str | None, question: Question, *, each_line: bool = True) -> AnswerScore:
    """The score of one answer."""
    return score_answer(as_answer(answer), question.references, each_line=each_line)


def as_answer(answer: str | None) -> str:
    """The answer as it is scored: `NO_ANSWER` for None, an empty text or the words of a refusal."""
    return NO_ANSWER if answer is None or not answer.strip() or is_refusal(answer) else answer


def score_reader(
    reader: str,
    questions: Sequence[Question],
    answers: Sequence[str | None],
    *,
    data: str = "",
    trained_on: str | None = None,
    each_line: bool = True,
    least_agreement: float = 0.0,
    failures: Sequence[str | None] = (),
) -> ReaderScore:
    """Score answers against references.

    `each_line`: of an answer of several spans the best one counts, as programs read the files; else all together.
    `least_agreement`: questions with several references on which people's own F1 is below it are left out (QuAC's own
    program leaves out those below 0.4). `failures`: why a question could not be asked, or None. DataError if no question
    is left, or numbers differ.
    """
    if len(answers) != len(questions):
        raise DataError(f"{reader}: gave {len(answers)} answers to {len(questions)} questions: it must give one each")
    if odd := [answer for answer in answers if answer is not None and not isinstance(answer, str)]:  # pyright: ignore
        raise DataError(f"{reader}: gave {odd[0]!r} as an answer: an answer is a text, or None for none")
    lost = list(failures) or [None] * len(questions)
    asked = [
        (question, as_answer(answer), scored(answer, question, each_line=each_line))
        for question, answer, failure in zip(questions, answers, lost, strict=True)
        if failure is None
    ]
    asked = [each for each in asked if each[2].references < 2 or each[2].people_f1 >= least_agreement]
    reasons = [failure for failure in lost if failure is not None]
    if not asked:
        raise DataError(f"{reader}: no question to score{f' ({reasons[0]})' if reasons else ''}")
    total = len(asked)
    reached: dict[str, bool] = defaultdict(lambda: True)
    by_section: dict[str, list[float]] = defaultdict(list)
    for question, _, score in asked:
        reached[question.conversation] &= score.f1 >= score.people_f1
        by_section[question.section].append(score.f1)
    interval = ratio_interval([(sum(values), len(values)) for values in by_section.values()])
    answerable = [score.f1 for question, _, score in asked if not question.impossible]
    refusals = [(answer == NO_ANSWER, question.impossible) for question, answer, _ in asked]
    return ReaderScore(
        reader=reader,
        data=data,
        trained_on=trained_on,
        questions=total,
        unanswerable=sum(question.impossible for question, _, _ in asked),
        precision=sum(score.precision for _, _, score in asked) / total,
        recall=sum(score.recall for _, _, score in asked) / total,
        f1=sum(score.f1 for _, _, score in asked) / total,
        f1_low=interval.low,
        f1_high=interval.high,
        exact=sum(score.exact for _, _, score in asked) / total,
        heq_q=sum(score.f1 >= score.people_f1 for _, _, score in asked) / total,
        heq_d=sum(reached.values()) / len(reached),
        f1_answerable=sum(answerable) / len(answerable) if answerable else None,
        several_references=sum(score.references > 1 for _, _, score in asked),
        refused_right=refusals.count((True, True)),
        refused_wrong=refusals.count((True, False)),
        answered_wrong=refusals.count((False, True)),
        failed=len(reasons),
        reason=reasons[0] if reasons else None,
    )


def ratio_interval(clusters: Sequence[tuple[float, int]]) -> Interval:
    """The 95 % interval of a mean over questions, from the sum and the number of each section.

    The ratio of two totals, linearised, with Student's t (Cochran, "Sampling Techniques", 1977, section 6.4); questions
    about one section are no independent draws. Cut to 0..1; None with fewer than 10 sections. Needs the extra `stats`.
    """
    count, total = len(clusters), sum(size for _, size in clusters)
    if count < FEWEST_IN_INTERVAL:
        return Interval(None, None)
    ratio = sum(value for value, _ in clusters) / total
    squares = sum((value - ratio * size) ** 2 for value, size in clusters)
    error = math.sqrt(count / (count - 1) * squares) / total
    half = float(of_extra("scipy.stats", "stats").t.ppf(0.975, count - 1)) * error
    return Interval(max(0.0, ratio - half), min(1.0, ratio + half))


def people(
    questions: Sequence[Question], *, data: str = "", each_line: bool = True, least_agreement: float = 0.0
) -> ReaderScore | None:
    """The ceiling: every reference of a question against the others; None if no question has several references.

    Each reference is a reader of its own that is scored against the rest, the best of which counts; a question's value
    is the mean over its references. HEQ is 1 by definition. Questions with one reference are left out, and those on
    which its F1 is below `least_agreement`.
    """
    asked = [question for question in questions if len(question.references) > 1]
    held_out = [(each, _held_out(scored_references(each.references), each_line)) for each in asked]
    held_out = [(question, value) for question, value in held_out if value[0] >= least_agreement]
    if not held_out:
        return None
    several, values = [question for question, _ in held_out], [value for _, value in held_out]
    by_section: dict[str, list[float]] = defaultdict(list)
    for question, value in zip(several, values, strict=True):
        by_section[question.section].append(value[0])
    interval = ratio_interval([(sum(those), len(those)) for those in by_section.values()])
    f1, precision, recall, exact = (sum(column) / len(values) for column in zip(*values, strict=True))
    answerable = [value[0] for question, value in zip(several, values, strict=True) if not question.impossible]
    impossible = sum(question.impossible for question in several)
    return ReaderScore(
        reader="people",
        data=data,
        questions=len(several),
        unanswerable=impossible,
        precision=precision,
        recall=recall,
        f1=f1,
        f1_low=interval.low,
        f1_high=interval.high,
        exact=exact,
        heq_q=1.0,
        heq_d=1.0,
        f1_answerable=sum(answerable) / len(answerable) if answerable else None,
        several_references=len(several),
        refused_right=impossible,
        refused_wrong=0,
        answered_wrong=0,
    )


def _held_out(expected: Sequence[str], each_line: bool) -> tuple[float, float, float, float]:
    """F1, precision, recall and exact match of each reference against the others, the mean; 1 where only one counts."""
    if len(expected) < 2:
        return 1.0, 1.0, 1.0, 1.0
    rows = []
    for number, one in enumerate(expected):
        rest = [other for place, other in enumerate(expected) if place != number]
        best = max((score_answer(one, [other], each_line=each_line) for other in rest), key=lambda score: score.f1)
        exact = any(score_answer(one, [other], each_line=each_line).exact for other in rest)
        rows.append((best.f1, best.precision, best.recall, float(exact)))
    f1, precision, recall, exact_match = (sum(column) / len(rows) for column in zip(*rows, strict=True))
    return f1, precision, recall, exact_match
