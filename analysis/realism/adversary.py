"""Discriminability of simulated users by words, characters and sequence, beyond the measures.

Needs the extra `stats`.
"""

import contextlib
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ...errors import of_extra
from ..threads import one_thread
from .held_out import People
from .measures.transcripts import UserTranscript
from .statistics.auc import AdversaryFeature
from .statistics.cells import TINY, Floats, Ints

MODELS = 3
FEWEST_WITH_WORD = 5
"""Conversations with a word that is named: one person's own words are not."""
FEWEST = 2
"""Conversations of each side to learn from; a fold with fewer is left out."""


def sequence_features(transcript: UserTranscript) -> list[float]:
    """How the user's messages follow each other: number, lengths, their change, ends, breaks, and words in common."""
    lengths = np.array([len(text) for text in transcript.texts], dtype=float)
    steps = np.diff(np.log1p(lengths)) if len(lengths) > 1 else np.zeros(1)
    words = [frozenset(of_message) for of_message in transcript.words]
    shared = [len(one & other) / max(len(one | other), 1) for one, other in pairwise(words)]
    ends = [text.rstrip()[-1:] for text in transcript.texts]
    count = len(lengths)
    return [
        float(count), float(lengths[0]), float(lengths[-1]), float(lengths.mean()), float(lengths.std()),
        float(steps.mean()), float(np.abs(steps).mean()), float(np.mean(shared)) if shared else 0.0,
        sum(end in "?？" for end in ends) / count, sum(end in ".。!！" for end in ends) / count,
        sum("\n" in text for text in transcript.texts) / count, sum(" " in text for text in transcript.texts) / count,
    ]  # fmt: skip


SEQUENCE = (
    "messages", "length of the first", "length of the last", "mean length", "spread of lengths", "change of length",
    "size of changes of length", "words in common with the message before", "ends in a question mark",
    "ends in a full stop or exclamation mark", "has a line break", "has a space",
)  # fmt: skip
"""The names of the sequence features."""
STRONGEST = 8
"""Features of each model that are named."""


def strongest_features(
    transcripts: Sequence[UserTranscript], measures: Floats, names: Sequence[str], side: Ints, count: int = STRONGEST
) -> tuple[AdversaryFeature, ...]:
    """What the adversary's two logistic regressions use most, the largest coefficients first; `count`: of a model.

    They are trained on all conversations, on standardised columns: a description, and no test. Above 0: higher values
    look simulated. `measures`: as for `held_out_scores`; `names`: those of its columns. Of characters only pairs count.
    """
    of_extra("sklearn", "stats")
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    sequence = np.array([sequence_features(transcript) for transcript in transcripts])
    scaled = StandardScaler().fit_transform(np.hstack([measures, sequence]))
    by_word: Any = list
    words = TfidfVectorizer(analyzer=by_word, sublinear_tf=True, min_df=FEWEST_WITH_WORD)
    models = [("measures and sequence", 0.1, scaled, [*names, *SEQUENCE])]
    documents = [transcript.all_words for transcript in transcripts]
    with contextlib.suppress(ValueError):  # no word is in so many conversations
        models.append(("words", 10, words.fit_transform(documents), list(words.get_feature_names_out())))
    strongest: list[AdversaryFeature] = []
    for model, strength, features, of_columns in models:
        with one_thread():
            fitted = LogisticRegression(C=strength, class_weight="balanced", max_iter=300).fit(features, side)
        order = np.argsort(-np.abs(fitted.coef_[0]), kind="stable")[:count]
        strongest += [
            AdversaryFeature(model=model, name=str(of_columns[place]), weight=float(fitted.coef_[0][place]))
            for place in order
        ]
    return tuple(strongest)


def held_out_scores(
    transcripts: Sequence[UserTranscript], measures: Floats, side: Ints, fold: Ints, people: People
) -> Floats:
    """Conversation x model: log odds by models that were trained on none of the people in its fold.

    `measures`: conversation x measure, standardised, without a missing value. The models: logistic regressions on tf-idf
    of words and characters, and on the measures and the sequence of messages, and boosted trees on the latter. Log odds
    are in their standard deviations within the fold; NaN where a fold leaves too few to learn from.
    """
    of_extra("sklearn", "stats")
    from scipy.sparse import hstack
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    documents: tuple[Sequence[Any], ...] = (
        [transcript.all_words for transcript in transcripts],
        ["\n".join(one.texts) for one in transcripts],
    )
    dense = np.hstack([measures, np.array([sequence_features(transcript) for transcript in transcripts])])
    options: tuple[dict[str, Any], ...] = ({"analyzer": list}, {"analyzer": "char", "ngram_range": (1, 2)})
    counts: list[Any] = [
        CountVectorizer(**more).fit_transform(texts) for texts, more in zip(documents, options, strict=True)
    ]
    counts = [matrix.tocsc() for matrix in counts]
    score = np.full((len(side), MODELS), np.nan)
    for number in np.unique(fold):
        test = fold == number
        train = people.apart_from(test)
        if min(np.bincount(side[train], minlength=2)) < FEWEST:
            continue
        scaler, weights = StandardScaler().fit(dense[train]), []
        for count in counts:
            # Words that none of those has that are learnt from have no weight.
            used = count[:, count[train].getnnz(axis=0) > 0].tocsr()
            transformer = TfidfTransformer(sublinear_tf=True).fit(used[train])
            weights.append(tuple(transformer.transform(used[rows]) for rows in (train, test)))
        of_words = [hstack(parts).tocsr() for parts in zip(*weights, strict=True)]
        of_sequence = [scaler.transform(dense[rows]) for rows in (train, test)]
        never: Any = False  # its stubs know only "auto"
        models = (
            (LogisticRegression(C=10, class_weight="balanced", max_iter=300), *of_words),
            (LogisticRegression(C=0.1, class_weight="balanced", max_iter=300), *of_sequence),
            (
                HistGradientBoostingClassifier(
                    max_iter=40, max_leaf_nodes=4, min_samples_leaf=5, learning_rate=0.08, max_features=0.3,
                    early_stopping=never, class_weight="balanced", random_state=0,
                ),
                *of_sequence,
            ),
        )  # fmt: skip
        with one_thread():
            odds = [model.fit(features, side[train]).decision_function(new) for model, features, new in models]
        score[test] = np.array([row / max(float(np.std(row)), TINY) for row in odds]).T
    return score
