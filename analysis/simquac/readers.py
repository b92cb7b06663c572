"""Reading comprehension over QuAC and SimQuAC: readers, their scores, and training on one to test on the other.

Table 7 of "Let the LLMs Talk" (WSDM 2024); F1 and HEQ as in QuAC (EMNLP 2018, section 5.1). A reader is any callable from
questions to answers; those that ask a model are made elsewhere (`runs.asks`).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from ...data.grounding import NO_ANSWER, is_refusal
from ...data.simquac import ReadingQuestion
from ...data.text.sentence_splitting import sentences
from ...errors import DataError, of_extra
from ..estimates import by_group, folds, pooled
from ..tables import Column, Table
from .answers import AnswerScore, ScoredQuestion, normalised, quac_score, score_answer

Answers: TypeAlias = Sequence[str | None]
ReaderFunction: TypeAlias = Callable[[Sequence[ReadingQuestion]], Answers]
"""Answers questions, an answer each; None or a refusal's words: it has no answer."""
Sets: TypeAlias = Mapping[str, Sequence[ReadingQuestion]]
"""Questions of data sets, by the name of each."""


COLUMNS = (
    Column(name="data"),
    Column(name="reader"),
    Column(name="trained on", wide=True),
    *(Column(name=name, kind="count") for name in ("questions", "unanswerable")),
    *(Column(name=name, kind="number") for name in ("precision", "recall", "f1", "f1 low", "f1 high", "exact")),
    *(Column(name=name, kind="number") for name in ("heq q", "heq d", "f1 answerable")),
    *(
        Column(name=name, kind="count", wide=True)
        for name in ("refused right", "refused wrong", "answered wrong", "failed")
    ),
)


def readers_table(rows: Sequence[Mapping[str, Any]], notes: Iterable[str] = ()) -> Table:
    """Rows of `score_reader` as a table."""
    lost = [f"{row['reader']} on {row['data']}: {row['failed']} could not be asked ({row['reason']})."
            for row in rows if row["failed"]]  # fmt: skip
    ceiling = (
        ["people: each reference against the others, by F1 alone."] if any(row["exact"] is None for row in rows) else []
    )
    return Table.of("Readers", COLUMNS, rows, [*notes, *ceiling, *lost])


def read(readers: Mapping[str, ReaderFunction], sets: Sets, *, each_line: bool = True) -> list[dict[str, Any]]:
    """Every reader on every data set, with the rows of no answer and of people, as `score_reader` gives them.

    Example::

        >>> from duologue.data import load, simquac
        >>> from duologue.analysis.simquac.readers import nearest, read, readers_table
        >>> questions = simquac.questions_of(load("quac.json"))  # doctest: +SKIP
        >>> readers_table(read({"nearest sentence": nearest}, {"QuAC": questions}))  # doctest: +SKIP
    """
    rows = []
    for data, questions in sets.items():
        for name, reader in {"no answer": none, **readers}.items():
            rows.append(score_reader(name, questions, reader(questions), data, each_line))
        rows += [row for row in [people(questions, data, each_line)] if row is not None]
    return rows


def cross(
    train: Callable[[Sequence[ReadingQuestion]], ReaderFunction],
    sets: Sets,
    *,
    reader: str = "trained",
    number: int = 5,
    each_line: bool = True,
) -> list[dict[str, Any]]:
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
            rows.append({**score_reader(reader, questions, own, name, each_line), "trained_on": trained_on})
    return rows


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
) -> dict[str, Any]:
    """Score answers against references: the `quac_score`, and what is below.

    - `precision`, `recall`: shares of the answer's words that the reference has, and the reverse. Of a refusal of what has no
      answer they are 1; of a refusal of what has one, and of an answer to what has none, 0;
    - `f1_low`, `f1_high`: the 95 % interval of the F1 over sections; `f1_answerable`: over questions with an answer;
    - `failed`: questions at which the reader could not be asked, which count in no other number; `reason`: why the first of
      them failed, or why there is no interval.

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


def people(questions: Sequence[ReadingQuestion], data: str = "", each_line: bool = True) -> dict[str, Any] | None:
    """The ceiling: people's own F1, each reference of a question against the others; None if no question has several.

    Questions with one reference are left out. HEQ is 1 by definition; only the F1 is compared.
    """
    rows = []
    for question in (one for one in questions if len(one.references) > 1):
        own = scored(None, question, each_line=each_line).people_f1
        impossible = question.impossible
        score = AnswerScore(own, own, own, own, own, len(question.references))
        rows.append((question, ScoredQuestion(question.conversation, score, impossible, impossible)))
    if not rows:
        return None
    return _reader_score("people", data, rows, []) | dict.fromkeys(("precision", "recall", "exact"))


def _reader_score(
    reader: str, data: str, rows: Sequence[tuple[ReadingQuestion, ScoredQuestion]], reasons: Sequence[str]
) -> dict[str, Any]:
    answerable = [one.score.f1 for question, one in rows if not question.impossible]
    by_section = by_group((question.section, one.score.f1) for question, one in rows)
    interval = pooled(by_section, (0.0, 1.0), "sections")  # questions about one section are not independent draws
    return {
        **quac_score([one for _, one in rows]),
        "reader": reader,
        "data": data,
        "trained_on": "",
        "unanswerable": sum(question.impossible for question, _ in rows),
        "precision": sum(one.score.precision for _, one in rows) / len(rows),
        "recall": sum(one.score.recall for _, one in rows) / len(rows),
        "f1_low": interval.low,
        "f1_high": interval.high,
        "f1_answerable": sum(answerable) / len(answerable) if answerable else None,
        "failed": len(reasons),
        "reason": reasons[0] if reasons else interval.reason,
    }


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
