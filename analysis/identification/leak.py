"""What a split by conversation is worth: how often a talk is told by others of its user, and what models gain by it."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

from ...data.records import Record
from ..judges.scores import Floats, Of, interval, of_users, ratio
from ..tables import Rows
from .metrics import METRICS, Measured, Metric, over_seeds
from .settings import Fold
from .talks import ProfileTalk
from .texts import Text, tf_idf

CONVERSATIONS, USERS = "conversations", "users"
"""The two splits that test the same conversations."""


class NearestRow(Record):
    """How often the conversation that is nearest of those learnt from is of the same user."""

    split: str
    reads: str
    """`talk`: all that was said, as models read it; `user`: what the user said."""
    n: int
    """Conversations that are tested, in any aspect."""
    known: float
    """Share of them whose user is learnt from too."""
    nearest: float
    """Share of them whose nearest learnt conversation (cosine of TF-IDF) is of the same user."""
    low: float | None
    high: float | None
    """Of the 95 % interval over users."""
    chance: float
    """The same share for a learnt conversation at random."""


class Nearest(Rows[NearestRow]):
    """How far the words of a conversation tell which of the learnt conversations are of the same user."""

    title: ClassVar[str] = "Is the user known again?"


class GainRow(Record):
    """What a model has of testing users whom it has learnt from, on the same conversations."""

    model: str
    metric: Metric
    conversations: float | None
    """In the split by conversation."""
    users: float | None
    """With users held out."""
    difference: float | None
    low: float | None
    high: float | None
    """Of the 95 % interval over users, of the difference."""
    more_than_prior: float | None
    """The difference less that of the label prior, which says nothing of a conversation."""
    prior_low: float | None
    prior_high: float | None


class Gains(Rows[GainRow]):
    """Each model in both splits of the same conversations, the mean of the aspects."""

    title: ClassVar[str] = "What is left when the user is new"


def nearest_rows(
    talks: Sequence[ProfileTalk], split: str, folds: Sequence[Fold], texts: Mapping[str, Sequence[Text]], seed: int
) -> list[NearestRow]:
    """A row for each of `texts`, by what is read."""
    tested = [place for _, test in folds for place in test]
    users, user = of_users([talks[place].user for place in tested])
    count = np.bincount(user).astype(float)
    known, chance = np.array([
        (own > 0, own / len(train))
        for train, test in folds
        for learnt in [[talks[place].user for place in train]]
        for own in [learnt.count(talks[place].user) for place in test]
    ]).T  # fmt: skip
    rows = []
    for reads, of in texts.items():
        right = np.concatenate([_is_own(talks, fold, of) for fold in folds])
        score = interval(
            ratio(np.bincount(user, weights=right).astype(float), count), len(users), "", n=len(tested), seed=seed
        )
        rows.append(
            NearestRow(
                split=split, reads=reads, n=len(tested), known=float(known.mean()), nearest=float(right.mean()),
                low=score.low, high=score.high, chance=float(chance.mean()),
            )
        )  # fmt: skip
    return rows


def _is_own(talks: Sequence[ProfileTalk], fold: Fold, texts: Sequence[Text]) -> Floats:
    """For each tested conversation the share of the nearest ones that are its user's; 0 where no word is shared."""
    train, test = fold
    known, asked = tf_idf([texts[place] for place in train], [texts[place] for place in test])
    likeness = (asked @ known.T).toarray()
    found = np.zeros(len(test))
    for number, place in enumerate(test):
        highest = likeness[number].max()
        near = np.flatnonzero(likeness[number] >= highest - 1e-12) if highest > 0 else ()
        if len(near):
            found[number] = np.mean([talks[train[at]].user == talks[place].user for at in near])
    return found


def gains(
    of_splits: Mapping[str, Mapping[str, Sequence[Mapping[Metric, Of]]]],
    prior: str,
    users: int,
    n: int,
    *,
    seed: int = 0,
) -> tuple[GainRow, ...]:
    """The gains of each model.

    `of_splits`: for each of the two splits and each model its metrics by seed, as functions of the same users.
    """
    rows = []
    for model, of_seeds in of_splits[CONVERSATIONS].items():
        other = of_splits[USERS][model]
        for name in METRICS:
            both = [_mean(each, name) for each in (of_seeds, other)]
            first, second = (over_seeds([each], users, n, seed=seed) for each in both)
            more = _measured(_less(*both), users, n, seed)
            prior_more = _less(*(_mean(of_splits[split][prior], name) for split in (CONVERSATIONS, USERS)))
            beyond = _measured(_less(_less(*both), prior_more), users, n, seed) if model != prior else None
            rows.append(
                GainRow(
                    model=model, metric=name, conversations=first.value, users=second.value,
                    difference=more.value, low=more.low, high=more.high,
                    more_than_prior=beyond.value if beyond else None,
                    prior_low=beyond.low if beyond else None, prior_high=beyond.high if beyond else None,
                )
            )  # fmt: skip
    return tuple(rows)


def _measured(of: Of, users: int, n: int, seed: int) -> Measured:
    return over_seeds([of], users, n, seed=seed)


def _mean(of_seeds: Sequence[Mapping[Metric, Of]], name: Metric) -> Of:
    def function(drawn: Floats) -> Floats:
        mean: Floats = np.mean([each[name](drawn) for each in of_seeds], axis=0)
        return mean

    return function


def _less(one: Of, other: Of) -> Of:
    return lambda drawn: one(drawn) - other(drawn)
