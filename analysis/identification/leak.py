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
BRIEF: tuple[Metric, ...] = ("f1_weighted", "hit_1", "hit_3", "recall_3")


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
    known: float | None
    """In the split by conversation, where most users are learnt from too."""
    new: float | None
    """With users held out."""
    gain: float | None
    low: float | None
    high: float | None
    """Of the 95 % interval over users, of the gain."""
    beyond: float | None = None
    """The gain less that of the label prior, which knows no conversation."""
    beyond_low: float | None = None
    beyond_high: float | None = None


class Gains(Rows[GainRow]):
    """Each model in both splits of the same conversations, the mean of the aspects."""

    title: ClassVar[str] = "What is left when the user is new"

    def brief(self) -> "Gains":
        """Of the metrics some that tell most."""
        return Gains(rows=tuple(row for row in self.rows if row.metric in BRIEF), notes=self.notes)


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
    gained: dict[tuple[str, Metric], Of] = {
        (model, name): _less(_mean(of_splits[CONVERSATIONS][model], name), _mean(of_splits[USERS][model], name))
        for model in of_splits[CONVERSATIONS]
        for name in METRICS
    }

    def measured(of: Of) -> Measured:
        return over_seeds([of], users, n, seed=seed)

    for (model, name), of in gained.items():
        known, new = (measured(_mean(of_splits[split][model], name)).value for split in (CONVERSATIONS, USERS))
        gain = measured(of)
        row = GainRow(model=model, metric=name, known=known, new=new, gain=gain.value, low=gain.low, high=gain.high)
        if model != prior:
            more = measured(_less(of, gained[prior, name]))
            row = row.model_copy(update={"beyond": more.value, "beyond_low": more.low, "beyond_high": more.high})
        rows.append(row)
    return tuple(rows)


def _mean(of_seeds: Sequence[Mapping[Metric, Of]], name: Metric) -> Of:
    def function(drawn: Floats) -> Floats:
        mean: Floats = np.mean([each[name](drawn) for each in of_seeds], axis=0)
        return mean

    return function


def _less(one: Of, other: Of) -> Of:
    return lambda drawn: one(drawn) - other(drawn)
