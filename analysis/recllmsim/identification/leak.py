"""User leakage of a split by conversation: nearest conversations of the same user, and the gain of models."""

from collections.abc import Mapping, Sequence

import numpy as np
from typing_extensions import override

from ....data.records import Record
from ...over_users.estimate import FloatArray, Of, Unsure, interval, items_of, mean_of, mean_over, of_users
from ...over_users.folds import Fold, tested
from ...over_users.rates import effective_users
from ...tables import Table, TypedRows
from .metrics import METRICS, MeasuredOptions, Metric, over_seeds
from .talks import ProfileTalk
from .text_models.texts import UserText, tf_idf

CONVERSATIONS, USERS = "conversations", "users"
"""The two splits that test the same conversations."""
UNEQUAL = 2.0
"""Users for each that would weigh alike, above which a gain has no interval: where some have ten times the
conversations of others, and a user's are alike, Student's covers .62 to .9."""
BRIEF: tuple[Metric, ...] = ("f1_weighted", "hit_1", "hit_3", "recall_3")


class NearestRow(Record):
    """How often the nearest training conversation is of the same user."""

    split: str
    reads: str
    """`talk`: all messages, as models read them; `user`: the user's messages."""
    n: int
    """Conversations that are tested, in any aspect."""
    known: float
    """Share of them whose user is in training too."""
    nearest: float
    """Share of them whose nearest conversation in training (cosine of TF-IDF) is of the same user."""
    low: float | None
    high: float | None
    """Of the 95 % interval over users."""
    chance: float
    """The same share for a random conversation in training."""


class NearestConversations(TypedRows[NearestRow], title="Is the user known again?"):
    """How often the words of a conversation identify training conversations of the same user."""


class GainRow(Record):
    """The gain of a model from user leakage, on the same conversations."""

    model: str
    metric: Metric
    known: float | None
    """In the split by conversation, where most users are in training too."""
    new: float | None
    """With users held out."""
    beyond: float | None = None
    """`known` less `new`, less the same of the label prior, which reads no conversation."""
    beyond_low: float | None = None
    beyond_high: float | None = None


class ModelGains(TypedRows[GainRow], title="What is left when the user is new"):
    """Each model in both splits of the same conversations, the mean of the aspects."""

    @override
    def brief(self) -> Table:
        return ModelGains(rows=tuple(row for row in self.rows if row.metric in BRIEF), notes=self.notes).table()


def nearest_rows(
    talks: Sequence[ProfileTalk], split: str, folds: Sequence[Fold], texts: Mapping[str, Sequence[UserText]]
) -> list[NearestRow]:
    """A row for each of `texts`, by what is read."""
    _, user = of_users([talks[place].user for place in tested(folds)])
    items = items_of(user)
    user_in_train, chance = np.array([
        (own > 0, own / len(train))
        for train, test in folds
        for learnt in [[talks[place].user for place in train]]
        for own in [learnt.count(talks[place].user) for place in test]
    ]).T  # fmt: skip
    rows = []
    for reads, of in texts.items():
        right = np.concatenate([_is_own(talks, fold, of) for fold in folds])
        score = interval(mean_over(right, user), items, "", n=len(user), share=True)
        rows.append(
            NearestRow(
                split=split, reads=reads, n=len(user), known=float(user_in_train.mean()), nearest=float(right.mean()),
                low=score.low, high=score.high, chance=float(chance.mean()),
            )
        )  # fmt: skip
    return rows


def _is_own(talks: Sequence[ProfileTalk], fold: Fold, texts: Sequence[UserText]) -> FloatArray:
    """For each tested conversation the share of the nearest ones that are its user's; 0 where no word is shared."""
    train, test = fold
    train_features, test_features = tf_idf([texts[place] for place in train], [texts[place] for place in test])
    likeness = (test_features @ train_features.T).toarray()
    shares = np.zeros(len(test))
    for number, place in enumerate(test):
        highest = likeness[number].max()
        near = np.flatnonzero(likeness[number] >= highest - 1e-12) if highest > 0 else ()
        if len(near):
            shares[number] = np.mean([talks[train[at]].user == talks[place].user for at in near])
    return shares


def gains(
    of_splits: Mapping[str, Mapping[str, Sequence[Mapping[Metric, Of]]]],
    prior: str,
    items: FloatArray,
    n: int,
) -> tuple[GainRow, ...]:
    """The gains of each model.

    `of_splits`: for each of the two splits and each model its metrics by seed, as functions of the same users.
    `items`: conversations of each.
    """
    rows = []
    gained: dict[tuple[str, Metric], Of] = {
        (model, name): _less(_mean(of_splits[CONVERSATIONS][model], name), _mean(of_splits[USERS][model], name))
        for model in of_splits[CONVERSATIONS]
        if model in of_splits[USERS]
        for name in METRICS
    }

    def measured(of: Of) -> MeasuredOptions:
        unequal = len(items) > UNEQUAL * float(effective_users(items))
        return over_seeds([Unsure(of, 0.0, "few users have most conversations") if unequal else of], items, n)

    for (model, name), of in gained.items():
        by_conversation, by_user = (
            measured(_mean(of_splits[split][model], name)).value for split in (CONVERSATIONS, USERS)
        )
        row = GainRow(model=model, metric=name, known=by_conversation, new=by_user)
        if model != prior:
            more = measured(_less(of, gained[prior, name]))
            row = row.model_copy(update={"beyond": more.value, "beyond_low": more.low, "beyond_high": more.high})
        rows.append(row)
    return tuple(rows)


def _mean(of_seeds: Sequence[Mapping[Metric, Of]], name: Metric) -> Of:
    return mean_of([metrics[name] for metrics in of_seeds])


def _less(one: Of, other: Of) -> Of:
    return lambda drawn: one(drawn) - other(drawn)
