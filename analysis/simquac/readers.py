"""Reading comprehension over QuAC and SimQuAC: readers, their scores, and training on one to test on the other.

Table 7 of "Let the LLMs Talk" (WSDM 2024); F1 and HEQ as in QuAC (EMNLP 2018, section 5.1). A reader is any callable from
questions to answers; those that ask a model are made elsewhere (`runs.asks`).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from typing_extensions import override

from ...data.grounding import NO_ANSWER, is_refusal
from ...data.simquac import ReadingQuestion
from ...data.text.sentence_splitting import sentences
from ...errors import DataError, of_extra
from ..estimates import by_group, folds, pooled
from ..tables import Column, Table, TabledReport
from .answers import AnswerScore, QuacScore, ScoredQuestion, normalised, quac_score, score_answer, scored_references

Answers: TypeAlias = Sequence[str | None]
ReaderFunction: TypeAlias = Callable[[Sequence[ReadingQuestion]], Answers]
"""Answers questions, an answer each; None or a refusal's words: it has no answer."""
Sets: TypeAlias = Mapping[str, Sequence[ReadingQuestion]]
"""Questions of data sets, by the name of each."""


class ReaderScore(QuacScore):
    """Scores of a reader on the questions of a data set."""

    reader: str
    data: str
    trained_on: str = ""
    """The data set that it was trained on, on other topics than those it is asked about."""
    unanswerable: int
    """Questions of these that have no answer."""
    precision: float
    """Share of the answer's words that the reference has. A refusal of what has no answer is 1, as is its recall;
    a refusal of what has one, and an answer to what has none, are 0."""
    recall: float
    f1_low: float | None
    """Lower end of the 95 % interval of the F1 over sections."""
    f1_high: float | None
    f1_answerable: float | None
    """Mean F1 over the questions that have an answer; None without one."""
    failed: int = 0
    """Questions at which the reader could not be asked. They count in no other number."""
    reason: str = ""
    """Why the first of them failed, or why there is no interval."""


class ReadersReport(TabledReport):
    """Readers on data sets."""

    rows: tuple[ReaderScore, ...]
    notes: tuple[str, ...] = ()

    def table(self) -> Table:
        """A row for each reader and data set, with 95 % intervals of the F1 over sections."""
        columns = [Column(name=name) for name in ("data", "reader")]
        columns.append(Column(name="trained on", wide=True))
        columns += [Column(name=name, kind="count") for name in ("questions", "unanswerable")]
        names = ("precision", "recall", "f1", "f1 low", "f1 high", "exact", "heq q", "heq d", "f1 answerable")
        columns += [Column(name=name, kind="number") for name in names]
        columns += [
            Column(name=name, kind="count", wide=True) for name in ("refused right", "refused wrong", "answered wrong")
        ]
        lost = [f"{row.reader} on {row.data}: {row.failed} could not be asked ({row.reason})."
                for row in self.rows if row.failed]  # fmt: skip
        return Table.of("Readers", columns, self.rows, [*self.notes, *lost])

    @override
    def tables(self) -> list[Table]:
        return [self.table()]


def read(readers: Mapping[str, ReaderFunction], sets: Sets, *, each_line: bool = True) -> ReadersReport:
    """Every reader on every data set, with the rows of no answer and of people.

    Example::

        >>> from duologue.data import load, simquac
        >>> from duologue.analysis.simquac.readers import nearest, read
        >>> questions = simquac.questions_of(load("quac.json"))  # doctest: +SKIP
        >>> read({"nearest sentence": nearest}, {"QuAC": questions}).table()  # doctest: +SKIP
    """
    rows = []
    for data, questions in sets.items():
        for name, reader in {"no answer": none, **readers}.items():
            rows.append(score_reader(name, questions, reader(questions), data, each_line))
        rows += [row for row in [people(questions, data, each_line)] if row is not None]
    return ReadersReport(rows=tuple(rows))


def cross(
    train: Callable[[Sequence[ReadingQuestion]], ReaderFunction],
    sets: Sets,
    *,
    reader: str = "trained",
    number: int = 5,
    each_line: bool = True,
) -> ReadersReport:
    """A reader trained on each data set and tested on each, by folds of topics.

    `train` learns from questions with their references and gives the reader. A topic, all under one title, is in one
    fold in every data set, so who has seen people's questions about it never gets the student's.
    """
    titles = {name: [" ".join(one.title.casefold().split()) for one in those] for name, those in sets.items()}
    topics = sorted({title for of_set in titles.values() for title in of_set})
    if len(topics) < number:
        raise DataError(f"{len(topics)} topics are too few for {number} folds: give conversations about more topics")
    fold_of = dict(zip(topics, folds(topics, number), strict=True))
    places = {name: [fold_of[title] for title in of_set] for name, of_set in titles.items()}
    rows = []
    for trained_on, seen in sets.items():
        answers: dict[str, dict[str, str | None]] = {name: {} for name in sets}
        for fold in range(number):
            learnt = train([one for one, place in zip(seen, places[trained_on], strict=True) if place != fold])
            for name, questions in sets.items():
                asked = [one for one, place in zip(questions, places[name], strict=True) if place == fold]
                answers[name] |= zip((one.id for one in asked), learnt(asked) if asked else [], strict=True)
        for name, questions in sets.items():
            own = [answers[name][one.id] for one in questions]
            row = score_reader(reader, questions, own, name, each_line)
            rows.append(row.model_copy(update={"trained_on": trained_on}))
    return ReadersReport(rows=tuple(rows))


def as_answer(answer: str | None) -> str:
    """The answer as it is scored: `NO_ANSWER` for None, an empty text or the words of a refusal."""
    return NO_ANSWER if answer is None or not answer.strip() or is_refusal(answer) else answer


def scored(answer: str | None, question: ReadingQuestion, *, each_line: bool = True) -> AnswerScore:
    """The score of one answer."""
    return score_answer(as_answer(answer), question.references, each_line=each_line)


def score_reader(
    reader: str,
    questions: Sequence[ReadingQuestion],
    answers: Answers,
    data: str = "",
    each_line: bool = True,
    failures: Answers = (),
) -> ReaderScore:
    """Score answers against references.

    `each_line`: of an answer of several spans the best one counts, as programs read the files; else all together.
    `failures`: why a question could not be asked, or None. DataError if no question is left, or numbers differ.
    """
    if len(answers) != len(questions):
        raise DataError(f"{reader}: gave {len(answers)} answers to {len(questions)} questions: it must give one each")
    if odd := [answer for answer in answers if answer is not None and not isinstance(answer, str)]:
        raise DataError(f"{reader}: gave {odd[0]!r} as an answer: an answer is a text, or None for none")
    rows = []
    for question, answer, failure in zip(questions, answers, failures or [None] * len(questions), strict=True):
        found = scored(answer, question, each_line=each_line)
        if failure is None:
            refused = as_answer(answer) == NO_ANSWER
            rows.append((question, ScoredQuestion(question.conversation, found, refused, question.impossible)))
    reasons = [failure for failure in failures if failure is not None]
    if not rows:
        raise DataError(f"{reader}: no question to score{f' ({reasons[0]})' if reasons else ''}")
    return _reader_score(reader, data, rows, reasons)


def people(questions: Sequence[ReadingQuestion], data: str = "", each_line: bool = True) -> ReaderScore | None:
    """The ceiling: every reference of a question against the others; None if no question has several references.

    Each reference is a reader of its own that is scored against the rest, the best of which counts. A question's value
    is the mean over its references. HEQ is 1 by definition. Questions with one reference are left out.
    """
    rows = []
    for question in questions:
        found = _among_people(scored_references(question.references), each_line)
        if len(question.references) > 1:
            impossible = question.impossible
            rows.append((question, ScoredQuestion(question.conversation, found, impossible, impossible)))
    return _reader_score("people", data, rows, []) if rows else None


def _among_people(expected: Sequence[str], each_line: bool) -> AnswerScore:
    """Each reference against the others, the mean; 1 where only one counts."""
    if len(expected) < 2:
        return AnswerScore(1.0, 1.0, 1.0, 1.0, 0.0, 2)
    bests = []
    for place, one in enumerate(expected):
        rest = (other for number, other in enumerate(expected) if number != place)
        scores = [score_answer(one, [other], each_line=each_line) for other in rest]
        best = max(scores, key=lambda score: score.f1)
        bests.append((best.f1, best.precision, best.recall, max(score.exact for score in scores)))
    f1, precision, recall, exact = (sum(column) / len(bests) for column in zip(*bests, strict=True))
    return AnswerScore(f1, precision, recall, exact, 0.0, 2)


def _reader_score(
    reader: str, data: str, rows: Sequence[tuple[ReadingQuestion, ScoredQuestion]], reasons: Sequence[str]
) -> ReaderScore:
    answerable = [one.score.f1 for question, one in rows if not question.impossible]
    by_section = by_group((question.section, one.score.f1) for question, one in rows)
    interval = pooled(by_section, (0.0, 1.0), "sections")  # questions about one section are not independent draws
    return ReaderScore(
        **dict(quac_score([one for _, one in rows])),
        reader=reader,
        data=data,
        unanswerable=sum(question.impossible for question, _ in rows),
        precision=sum(one.score.precision for _, one in rows) / len(rows),
        recall=sum(one.score.recall for _, one in rows) / len(rows),
        f1_low=interval.low,
        f1_high=interval.high,
        f1_answerable=sum(answerable) / len(answerable) if answerable else None,
        failed=len(reasons),
        reason=reasons[0] if reasons else interval.reason,
    )


def nearest(questions: Sequence[ReadingQuestion]) -> Answers:
    """A reader that gives the sentence of the section nearest to the question by idf; it never refuses.

    Weights are over the sentences of all sections that it is asked about at once. Earlier questions that a reader sees
    count as words of this one.
    """
    vectorizer = of_extra("sklearn.feature_extraction.text", "stats").TfidfVectorizer(analyzer=normalised, binary=True)
    by_section = {one.section: sentences(one.section) for one in questions}
    every = [sentence for of_section in by_section.values() for sentence in of_section]
    if not any(map(normalised, every)):
        return first(questions)
    vectorizer.fit(every)
    vectors = {section: vectorizer.transform(those) for section, those in by_section.items() if those}
    answers: list[str | None] = []
    for one in questions:
        asked = " ".join([*(earlier for earlier, _ in one.earlier), one.text])
        sought = (vectorizer.transform([asked]) > 0).astype(float)
        near = (vectors[one.section] @ sought.T).toarray() if one.section in vectors else None
        answers.append(None if near is None else by_section[one.section][int(near.argmax())])
    return answers


def first(questions: Sequence[ReadingQuestion]) -> Answers:
    """A reader that gives the first sentence of the section."""
    return [next(iter(sentences(question.section)), None) for question in questions]


def none(questions: Iterable[ReadingQuestion]) -> Answers:
    """A reader without answers: the score of refusing everything."""
    return [None for _ in questions]
