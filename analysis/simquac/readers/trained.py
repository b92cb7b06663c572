"""A small trainable reader: gradient boosting over features of candidates, and a threshold for no answer.

It does not compete with a language model. It shows without weights which training on one data set is of use on another.
Table 7 of "Let the LLMs Talk" (WSDM 2024) does so with pre-trained ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Self

from ....data.simquac import ReadingQuestion
from ....errors import DataError, of_extra
from ...threads import one_thread
from ..answers import score_answer
from .answer_pieces import Candidate, candidates
from .candidate_features import features
from .folds import folds_of

TREES = 60
LEAVES = 6
FEWEST_ROWS = 300
"""Most candidates that a leaf needs: what one F1 of a candidate tells is little."""
INNER_FOLDS = 2
"""Folds of the training topics, over which the threshold is found."""


@dataclass(frozen=True)
class _Choice:
    """The best candidate for a question, and the F1 that is expected of it."""

    candidate: Candidate | None
    expected: float


@dataclass
class FeatureReader:
    """Predicts the F1 of every candidate and answers with the best, unless it is below a threshold.

    By the threshold it would refuse as many training questions as have no answer, each predicted by a model that has
    not seen its topic. (The bound with the best mean F1 says little here: a reader this weak gains most by refusing
    nearly everything.) Everything follows from the questions: training twice gives the same reader. Needs the extra `stats`.
    """

    each_line: bool = True
    """Of a reference of several lines the best one counts."""
    threshold: float = field(default=0.0, init=False)
    _model: Any = field(default=None, init=False, repr=False)

    def fit(self, questions: Sequence[ReadingQuestion]) -> Self:
        """Train on questions; DataError without an answerable one, or with fewer than 2 topics."""
        if all(question.impossible for question in questions):
            raise DataError("no question has an answer: a reader cannot be trained on these")
        try:
            fold_of = folds_of([questions], INNER_FOLDS)
        except DataError:
            raise DataError("the questions are about one topic: a reader is trained on two or more") from None
        tables = [features(question) for question in questions]
        goals = [_goals(question, self.each_line) for question in questions]
        folds = [fold_of[question.section] for question in questions]
        choices: dict[int, _Choice] = {}
        for fold in range(INNER_FOLDS):
            rest = [number for number, other in enumerate(folds) if other != fold]
            model = _trained([tables[number][1] for number in rest], [goals[number] for number in rest])
            test_numbers = [number for number, other in enumerate(folds) if other == fold]
            choices |= zip(test_numbers, _choices(model, [tables[number] for number in test_numbers]), strict=True)
        self._model = _trained([table for _, table in tables], goals)
        expected = [choice.expected for choice in choices.values()]
        self.threshold = _threshold(expected, sum(question.impossible for question in questions))
        return self

    def __call__(self, questions: Sequence[ReadingQuestion]) -> list[str | None]:
        """An answer each, None where the threshold is not reached; DataError before `fit`."""
        if self._model is None:
            raise DataError("the reader is not trained: call fit with questions first")
        answers: list[str | None] = []
        tables = [features(question) for question in questions]
        for choice in _choices(self._model, tables):
            refused = choice.candidate is None or choice.expected < self.threshold
            answers.append(None if refused or choice.candidate is None else choice.candidate.text)
        return answers


@lru_cache(maxsize=4096)
def _goals(question: ReadingQuestion, each_line: bool) -> tuple[float, ...]:
    """The F1 of every candidate, which is 0 where the question has no answer."""
    return tuple(
        score_answer(candidate.text, question.references, each_line=each_line).f1
        for candidate in candidates(question.section)
    )


def _trained(tables: Sequence[Any], goals: Sequence[Sequence[float]]) -> Any:
    numpy = of_extra("numpy", "stats")
    ensemble = of_extra("sklearn.ensemble", "stats")
    model = ensemble.HistGradientBoostingRegressor(
        max_iter=TREES,
        max_leaf_nodes=LEAVES,
        learning_rate=0.06,
        min_samples_leaf=min(FEWEST_ROWS, max(1, sum(map(len, tables)) // 20)),
        early_stopping=False,
        random_state=0,
    )
    with one_thread():
        return model.fit(
            numpy.concatenate(tables), numpy.concatenate([numpy.asarray(scores, dtype=float) for scores in goals])
        )


def _choices(model: Any, tables: Sequence[tuple[Sequence[Candidate], Any]]) -> list[_Choice]:
    """The best candidate of each question, the first of equals."""
    if not any(of_section for of_section, _ in tables):
        return [_Choice(None, 0.0) for _ in tables]
    with one_thread():
        every = model.predict(of_extra("numpy", "stats").concatenate([table for _, table in tables]))
    choices, first = [], 0
    for of_section, _ in tables:
        expected = every[first : first + len(of_section)]
        first += len(of_section)
        best = int(expected.argmax()) if of_section else 0
        choices.append(_Choice(of_section[best], float(expected[best])) if of_section else _Choice(None, 0.0))
    return choices


def _threshold(expected: Sequence[float], refused: int) -> float:
    """The bound below which this many of the expected values lie, halfway to the next one.

    It lies below all of them for 0.
    """
    order = sorted(expected)
    if not refused:
        return float("-inf")
    return (order[refused - 1] + order[min(refused, len(order) - 1)]) / 2
