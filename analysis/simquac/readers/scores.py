"""Scores of a reader's answers: precision, recall, F1, exact match, HEQ, and its treatment of unanswerable questions.

F1 and HEQ as in QuAC (EMNLP 2018, section 5.1), normalisation as in SQuAD (EMNLP 2016, section 6.1).
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

from ....data.grounding import NO_ANSWER, is_refusal
from ....data.records import Record
from ....data.simquac import ReadingQuestion
from ....errors import DataError
from ...over_users.means import UserSums
from ..answers import AnswerScore, ScoredQuestion, counted, score_answer, scored_references

ReaderFunction: TypeAlias = Callable[[Sequence[ReadingQuestion]], Sequence[str | None]]
"""Answers questions, an answer each; None or a refusal's words: it has no answer."""


class ReaderScore(Record):
    """Scores of a reader on the questions of a data set. Means are over questions, each with the same weight."""

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
    """Questions with more than one reference: people's own F1 is known only for these."""
    refused_right: int
    refused_wrong: int
    """Refusals of questions that have an answer."""
    answered_wrong: int
    """Answers to questions that have none."""
    failed: int = 0
    """Questions at which the reader could not be asked. They count in no other number."""
    reason: str | None = None
    """Why the first of them failed."""


def scored(answer: str | None, question: ReadingQuestion, *, each_line: bool = True) -> AnswerScore:
    """The score of one answer."""
    return score_answer(as_answer(answer), question.references, each_line=each_line)


def as_answer(answer: str | None) -> str:
    """The answer as it is scored: `NO_ANSWER` for None, an empty text or the words of a refusal."""
    return NO_ANSWER if answer is None or not answer.strip() or is_refusal(answer) else answer


def score_reader(
    reader: str,
    questions: Sequence[ReadingQuestion],
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
    program leaves out those below 0.4). `failures`: why a question could not be asked, or None. DataError if no
    question is left, or numbers differ.
    """
    if len(answers) != len(questions):
        raise DataError(f"{reader}: gave {len(answers)} answers to {len(questions)} questions: it must give one each")
    if odd := [answer for answer in answers if answer is not None and not isinstance(answer, str)]:
        raise DataError(f"{reader}: gave {odd[0]!r} as an answer: an answer is a text, or None for none")
    lost = list(failures) or [None] * len(questions)
    rows = [
        (question, as_answer(answer), scored(answer, question, each_line=each_line))
        for question, answer, failure in zip(questions, answers, lost, strict=True)
        if failure is None
    ]
    rows = [row for row in rows if row[2].references < 2 or row[2].people_f1 >= least_agreement]
    reasons = [failure for failure in lost if failure is not None]
    if not rows:
        raise DataError(f"{reader}: no question to score{f' ({reasons[0]})' if reasons else ''}")
    return _reader_score(
        [
            _Row(
                question,
                ScoredQuestion.of(
                    question.conversation, score, refused=answer == NO_ANSWER, impossible=question.impossible
                ),
                score.precision,
                score.recall,
            )
            for question, answer, score in rows
        ],
        reader=reader,
        data=data,
        trained_on=trained_on,
        failed=len(reasons),
        reason=reasons[0] if reasons else None,
    )


class _Row(NamedTuple):
    question: ReadingQuestion
    scored: ScoredQuestion
    precision: float
    recall: float


def _reader_score(rows: Sequence[_Row], **more: Any) -> ReaderScore:
    by_section: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        by_section[row.question.section].append(row.scored.f1)
    # Questions about one section are not independent draws.
    sums = UserSums([sum(values) for values in by_section.values()], [len(values) for values in by_section.values()])
    low, high = sums.scale_interval()
    answerable = [row.scored.f1 for row in rows if not row.question.impossible]
    return ReaderScore(
        **more,
        **counted([row.scored for row in rows], [row.question.conversation for row in rows]),
        unanswerable=sum(row.question.impossible for row in rows),
        precision=sum(row.precision for row in rows) / len(rows),
        recall=sum(row.recall for row in rows) / len(rows),
        f1_low=low,
        f1_high=high,
        f1_answerable=sum(answerable) / len(answerable) if answerable else None,
    )


def people(
    questions: Sequence[ReadingQuestion], *, data: str = "", each_line: bool = True, least_agreement: float = 0.0
) -> ReaderScore | None:
    """The ceiling: every reference of a question against the others; None if no question has several references.

    Each reference is a reader of its own that is scored against the rest, the best of which counts. A question's value
    is the mean over its references. HEQ is 1 by definition. Questions with one reference are left out, and those on
    which its F1 is below `least_agreement`.
    """
    several_references = [question for question in questions if len(question.references) > 1]
    held_out = [
        (question, _held_out(scored_references(question.references), each_line)) for question in several_references
    ]
    held_out = [(question, value) for question, value in held_out if value[0] >= least_agreement]
    if not held_out:
        return None
    return _reader_score(
        [
            _Row(
                question,
                ScoredQuestion(question.conversation, f1, exact, True, True, *2 * [question.impossible]),
                *more,
            )
            for question, (f1, exact, *more) in held_out
        ],
        reader="people",
        data=data,
    )


def _held_out(expected: Sequence[str], each_line: bool) -> tuple[float, float, float, float]:
    """F1, exact match, precision and recall of each reference against the others, the mean; 1 where only one counts."""
    if len(expected) < 2:
        return 1.0, 1.0, 1.0, 1.0
    rows = []
    for number, one in enumerate(expected):
        rest = [other for place, other in enumerate(expected) if place != number]
        scores = [score_answer(one, [other], each_line=each_line) for other in rest]
        best = max(scores, key=lambda score: score.f1)
        rows.append((best.f1, float(any(score.exact for score in scores)), best.precision, best.recall))
    f1, exact_match, precision, recall = (sum(column) / len(rows) for column in zip(*rows, strict=True))
    return f1, exact_match, precision, recall
