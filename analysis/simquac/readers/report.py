"""Several readers on several data sets in one table, trained on one and tested on another where they can be."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, TypeAlias

from typing_extensions import override

from ....data.records import Record
from ....data.simquac import ReadingQuestion
from ....errors import DataError
from ...over_users.folds import FOLDS
from ...tables import Column, Table, TabledReport
from .folds import folds_of
from .retriever import none
from .scores import ReaderFunction, ReaderScore, as_answer, people, score_reader, scored

Sets: TypeAlias = Mapping[str, Sequence[ReadingQuestion]]
"""Questions of data sets, by the name of each."""


class Trainable(Protocol):
    """A reader that learns from questions with their references."""

    def fit(self, questions: Sequence[ReadingQuestion], /) -> ReaderFunction:
        """Learn, and give the reader."""
        ...


class ReaderAnswer(Record):
    """One answer of one reader, with its score."""

    data: str
    reader: str
    trained_on: str | None = None
    id: str
    question: str
    answer: str
    """`data.grounding.NO_ANSWER` for none."""
    references: tuple[str, ...]
    f1: float
    exact: bool


class ReadersReport(TabledReport):
    """Readers on data sets."""

    rows: tuple[ReaderScore, ...]
    notes: tuple[str, ...] = ()

    def table(self) -> Table:
        """A row for each reader and data set, with 95 % intervals of the F1 over sections."""
        counts, numbers = ("questions", "unanswerable"), ("precision", "recall", "f1", "f1 low", "f1 high")
        return self._wide("Readers", self._notes(), *counts, *numbers, "exact", "heq q", "heq d")

    def refusals(self) -> Table:
        """What each reader does about questions without an answer."""
        counts = ("refused right", "refused wrong", "answered wrong")
        return self._wide("Questions without an answer", (), *counts, "f1 answerable")

    def _wide(self, title: str, notes: Iterable[str], *names: str) -> Table:
        first, *others = _columns(*names)
        columns = [Column(name="data"), first, Column(name="trained on"), *others]
        records = [row.model_dump() | {"trained_on": row.trained_on or ""} for row in self.rows]
        return Table.of(title, columns, records, notes)

    @override
    def tables(self) -> list[Table]:
        return [self.table(), self.refusals()]

    @override
    def narrow(self) -> list[Table]:
        """The same for a terminal: two tables of few columns for each data set.

        The reader's name says what it was trained on.
        """
        tables = []
        for name in dict.fromkeys(row.data for row in self.rows):
            rows = [row for row in self.rows if row.data == name]
            most = max(rows, key=lambda row: row.questions)
            records = [
                row.model_dump() | {"reader": row.reader + (f", trained on {row.trained_on}" if row.trained_on else "")}
                for row in rows
            ]
            fewer = [
                f"{row.reader}: {row.questions} question{'s' if row.questions > 1 else ''}."
                for row in rows
                if row.questions < most.questions
            ]
            title = f"{name}: {most.questions} questions, {most.unanswerable} without an answer"
            tables += [
                Table.of(title, _columns("precision", "recall", "f1", "exact", "heq q", "heq d"), records, fewer),
                Table.of(
                    f"{name}: interval of the F1, and questions without an answer",
                    _columns("f1 low", "f1 high", "refused right", "refused wrong", "answered wrong", "f1 answerable"),
                    records,
                ),
            ]
        if tables:
            tables[-1] = tables[-1].model_copy(update={"notes": tuple(self._notes())})
        return tables

    def _notes(self) -> list[str]:
        lost = [
            f"{row.reader} on {row.data}: {row.failed} question{'s' if row.failed > 1 else ''} could not be asked ({row.reason})."
            for row in self.rows
            if row.failed
        ]
        question_counts = {row.data: row.questions for row in self.rows if row.reader == "no answer"}
        fewer = [
            f"people on {row.data}: only over what has several references ({row.questions})."
            for row in self.rows
            if row.reader == "people" and row.questions < question_counts.get(row.data, row.questions)
        ]
        return [*self.notes, *fewer, *lost]


def _columns(*names: str) -> list[Column]:
    """The reader, and numbers; questions, refusals and wrong answers are counts."""
    counts = ("questions", "unanswerable", "refused", "answered")
    return [
        Column(name="reader"),
        *(Column(name=name, kind="count" if name.startswith(counts) else "number") for name in names),
    ]


class _Answers(NamedTuple):
    """The answers of a reader to the questions of a data set."""

    row: ReaderScore
    questions: Sequence[ReadingQuestion]
    answers: Sequence[str | None]
    failures: Sequence[str | None]


@dataclass
class Results:
    """The rows so far, and every answer behind them."""

    each_line: bool = True
    least_agreement: float = 0.0
    rows: list[ReaderScore] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    """A line for each reader and data set of which not one question could be asked: it has no row."""
    _answers: list[_Answers] = field(default_factory=list, repr=False)

    def add(
        self,
        reader: str,
        data: str,
        questions: Sequence[ReadingQuestion],
        answers: Sequence[str | None],
        *,
        trained_on: str | None = None,
        failures: Sequence[str | None] = (),
    ) -> None:
        """Score a reader's answers to the questions of a data set."""
        if questions and len(failures) == len(questions) and all(failures):
            self.lost.append(f"{reader} on {data}: none of {len(questions)} questions could be asked ({failures[0]}).")
            return
        answers = list(answers)
        row = score_reader(
            reader,
            questions,
            answers,
            data=data,
            trained_on=trained_on,
            each_line=self.each_line,
            least_agreement=self.least_agreement,
            failures=failures,
        )
        self.rows.append(row)
        self._answers.append(_Answers(row, questions, answers, failures))

    @property
    def answered(self) -> Iterator[ReaderAnswer]:
        """Every answer with its score, which is computed as it is read: none is held."""
        for row, questions, answers, failures in self._answers:
            for question, answer, failure in zip(questions, answers, failures or [None] * len(questions), strict=True):
                if failure is None:
                    score = scored(answer, question, each_line=self.each_line)
                    yield ReaderAnswer(
                        data=row.data,
                        reader=row.reader,
                        trained_on=row.trained_on,
                        id=question.id,
                        question=question.text,
                        answer=as_answer(answer),
                        references=question.references,
                        f1=score.f1,
                        exact=score.exact,
                    )

    def baselines(self, sets: Sets) -> None:
        """For each data set the score of no answer at all, and of people's own answers where there are several."""
        for name, questions in sets.items():
            self.add("no answer", name, questions, none(questions))
            row = people(questions, data=name, each_line=self.each_line, least_agreement=self.least_agreement)
            if row is not None:
                self.rows.append(row)

    def read(self, reader: str, answer: ReaderFunction, sets: Sets) -> None:
        """Ask a reader about each data set."""
        for name, questions in sets.items():
            self.add(reader, name, questions, answer(questions))

    def cross(
        self, reader: str, make: Callable[[], Trainable], train: Sets, test: Sets, folds: int = FOLDS, seed: int = 0
    ) -> None:
        """Train on each data set and test on each, fold by fold, so that no topic is on both sides.

        Data sets about the same sections share their folds. A reader that has seen people's questions about a section
        never gets the student's questions about it. A topic that is only tested is in a fold too.
        """
        fold_of = folds_of([*train.values(), *test.values()], folds, seed)
        for trained_on, train_questions in train.items():
            answers: dict[str, dict[str, str | None]] = {name: {} for name in test}
            for fold in range(folds):
                seen = [question for question in train_questions if fold_of[question.section] != fold]
                if not seen:
                    raise DataError(f"{trained_on}: fold {fold + 1} leaves no question to train on: give more topics")
                held_out = {
                    name: [one for one in those if fold_of[one.section] == fold] for name, those in test.items()
                }
                if any(held_out.values()):
                    try:
                        trained = make().fit(seen)
                    except DataError as error:
                        raise DataError(f"{trained_on}, all but fold {fold + 1} of {folds}: {error}") from None
                    for name, those in held_out.items():
                        answers[name] |= zip((one.id for one in those), trained(those) if those else [], strict=True)
            for name, questions in test.items():
                self.add(reader, name, questions, [answers[name][one.id] for one in questions], trained_on=trained_on)

    def report(self, notes: Iterable[str] = ()) -> ReadersReport:
        """The rows as a report, those of a data set together."""
        names = list(dict.fromkeys(row.data for row in self.rows))
        rows = sorted(self.rows, key=lambda row: names.index(row.data))
        return ReadersReport(rows=tuple(rows), notes=(*notes, *self.lost))


def read(
    readers: Mapping[str, ReaderFunction], sets: Sets, *, each_line: bool = True, least_agreement: float = 0.0
) -> ReadersReport:
    """Every reader on every data set, with the rows of no answer and of people.

    Example::

        >>> from duologue.data import load, simquac
        >>> from duologue.analysis.simquac.readers import Retriever, read
        >>> questions = simquac.questions_of(load("quac.json"))  # doctest: +SKIP
        >>> read({"nearest sentence": Retriever()}, {"QuAC": questions}).table()  # doctest: +SKIP
    """
    results = Results(each_line, least_agreement)
    results.baselines(sets)
    for name, reader in readers.items():
        results.read(name, reader, sets)
    return results.report()


def cross(
    make: Callable[[], Trainable],
    train: Sets,
    test: Sets | None = None,
    *,
    reader: str = "trained",
    folds: int = FOLDS,
    seed: int = 0,
    each_line: bool = True,
) -> ReadersReport:
    """A trainable reader trained on each data set and tested on each of `test` (default: the same ones), by topics."""
    results = Results(each_line)
    results.cross(reader, make, train, train if test is None else test, folds, seed)
    return results.report()
