"""Whether a reader would tell two sides apart: one model of the measures, the words and the characters.

Users are held out in five folds, and no model learns from people of a conversation that it scores. AUC is the share of
pairs of a simulated and a person's conversation, of one task and fold, that the scores order rightly.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack

from ..estimates import Estimate, folds
from .effects import Comparison, Floats, Ints, Side, numbered
from .matching import people_in
from .transcripts import UserTranscript

FOLDS = 5
HALVINGS = 10
"""Times that the people are halved."""
MOST_TERMS = 10_000
"""Words, and as many runs of characters, that the model reads: the most frequent ones."""
READ = 1_000
"""Characters of a conversation, from its beginning, whose runs the model reads."""


@dataclass(frozen=True)
class Reader:
    """What the model reads of each conversation, of all sides together."""

    values: Floats
    """Conversation x measure, NaN where there is none."""
    texts: Any
    """Conversation x term, sparse; None where texts are not read."""
    user: Ints
    task: Ints
    people: list[frozenset[str]]
    """The people in each conversation."""
    owner: list[str]
    """Whose scenario it is: a person and who is simulated on its scenario are held out together."""

    @classmethod
    def of(cls, transcripts: Sequence[UserTranscript], values: Floats, user: Ints, *, words: bool) -> "Reader":
        """The features of conversations; how rare a term is in them tells nothing of the sides."""
        texts = None
        if words:
            texts = hstack([_of_words(transcripts), _of_characters(transcripts)]).tocsr()
        task, owner = numbered([one.task for one in transcripts]), [one.owner for one in transcripts]
        return cls(values, texts, user, task, people_in(transcripts), owner)

    def auc(self, first: NDArray[Any], second: NDArray[Any]) -> Estimate:
        """The AUC of two sides, given by the places of their conversations."""
        common = np.intersect1d(self.task[first], self.task[second])
        first, second = (side[np.isin(self.task[side], common)] for side in (first, second))
        rows = np.concatenate([first, second])
        label = np.arange(rows.size) < first.size
        if not common.size or not rows.size:
            return Estimate(n=rows.size, reason="no task has conversations of both sides")
        fold = self._folds(rows, label)
        scores = self._scores(rows, label, fold)
        stratum = numbered(list(zip(self.task[rows].tolist(), fold.tolist(), strict=True)))
        sides = [Side(scores[own, None], self.user[rows[own]], stratum[own]) for own in (label, ~label)]
        found = Comparison(sides[0], sides[1], 0).superiority()
        return found if found.value is not None else Estimate(n=rows.size, reason="too few users to hold some out")

    def halves(self, people: NDArray[Any], rng: np.random.Generator) -> Estimate:
        """The AUC of two halves of the people: the median of some halvings, with the lowest and the highest."""
        users = np.unique(self.user[people])
        values = []
        for _ in range(HALVINGS if users.size >= FOLDS else 0):
            chosen = np.isin(self.user[people], rng.permutation(users)[: users.size // 2])
            found = self.auc(people[chosen], people[~chosen])
            values += [] if found.value is None else [found.value]
        if not values:
            return Estimate(n=people.size, groups=users.size, reason="too few people to halve them")
        low, middle, high = (float(one) for one in np.quantile(values, [0, 0.5, 1]))
        return Estimate(value=middle, low=low, high=high, n=people.size, groups=users.size)

    def _folds(self, rows: NDArray[Any], label: NDArray[Any]) -> Ints:
        """The fold of each conversation by its owner: those of the second side are dealt out first, then the others."""
        owners = [self.owner[row] for row in rows]
        of_second = [owner for owner, is_first in zip(owners, label, strict=True) if not is_first]
        others = [owner for owner in owners if owner not in set(of_second)]
        fold = dict(zip(of_second, folds(of_second, FOLDS), strict=True))
        fold |= dict(zip(others, folds(others, FOLDS), strict=True))
        return np.array([fold[owner] for owner in owners], dtype=np.int64)

    def _scores(self, rows: NDArray[Any], label: NDArray[Any], fold: Ints) -> Floats:
        """Each conversation's score by a model that learnt from none of its people; NaN without one."""
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.linear_model import LogisticRegression

        features = csr_array(_standardised(self.values[rows], self.task[rows]))
        if self.texts is not None:
            features = hstack([features, self.texts[rows]]).tocsr()
        score = np.full(rows.size, np.nan)
        for number in range(FOLDS):
            test = fold == number
            tested = frozenset().union(*(self.people[row] for row in rows[test]))
            apart = np.array([self.people[row].isdisjoint(tested) for row in rows])
            if not test.any() or np.unique(label[apart]).size < 2:
                continue
            # The dual takes a tenth of the time of any other solver on so many terms, and orders conversations alike.
            model = LogisticRegression(
                C=1.0, class_weight="balanced", solver="liblinear", dual=True, tol=0.01, random_state=0
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                model.fit(features[apart], label[apart])
            score[test] = model.decision_function(features[test])
        return score


def _of_words(transcripts: Sequence[UserTranscript]) -> Any:
    return _terms([one.all_words for one in transcripts], analyzer=lambda words: words)


def _of_characters(transcripts: Sequence[UserTranscript]) -> Any:
    texts = ["\n".join(one.texts)[:READ] for one in transcripts]
    return _terms(texts, analyzer="char", ngram_range=(1, 3), lowercase=False)


def _terms(texts: Sequence[Any], **settings: Any) -> Any:
    """The weights of the most frequent terms; nothing where no term is in two texts."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    try:
        return TfidfVectorizer(min_df=2, max_features=MOST_TERMS, sublinear_tf=True, **settings).fit_transform(texts)
    except ValueError:  # there is no term
        return csr_array((len(texts), 0))


def _standardised(values: Floats, task: Ints) -> Floats:
    """Each measure with the median for what is missing, centred within tasks, at standard deviation 1."""
    centred = np.zeros(values.shape)
    for number in np.unique(task):
        inside = values[task == number]
        missing = np.isnan(inside)
        median = np.array([np.median(one[~np.isnan(one)]) if (~np.isnan(one)).any() else 0.0 for one in inside.T])
        filled = np.where(missing, median, inside)
        centred[task == number] = filled - filled.mean(axis=0)
    deviation = centred.std(axis=0)
    return np.clip(centred / np.where(deviation > 1e-12, deviation, 1.0), -5, 5)
