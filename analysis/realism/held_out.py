"""Scores of conversations by models that saw none of their users, fold by fold, and how they order the sides."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import of_extra
from ..over_users.estimate import items_of
from ..over_users.folds import in_turn, joined
from ..over_users.rates import effective_users, wilson
from ..over_users.student_quantile import students
from .measures.transcripts import UserTranscript
from .statistics.auc import Interval
from .statistics.cells import TINY, Bools, Floats, Ints, quantile
from .statistics.intervals import PRIOR

FEWEST_FOR_INTERVAL = 10
"""Users that each side needs for an interval: two in each fold, as the model learns from the other folds."""
FOLDS_VARIANCE = 2.0
"""How much more the training varies than what other folds of the same data show: found by simulation
(`docs/users/realism_methods.md`), with 10 to 60 users a side."""


@dataclass(frozen=True)
class People:
    """The people in each conversation: its user, the scenario's owner, and the author of a retrieval-based user's words."""

    table: Any
    """Conversation x person, sparse: 1 where the person is in the conversation."""

    @classmethod
    def of(cls, transcripts: Sequence[UserTranscript]) -> "People":
        """A source that is not among the conversations is a person of its own."""
        from scipy.sparse import csr_array

        speaker = {transcript.conversation.id: transcript.cluster for transcript in transcripts}
        pairs = {
            (row, name)
            for row, transcript in enumerate(transcripts)
            for name in (
                transcript.cluster,
                transcript.owner,
                *(speaker.get(source, f"conversation {source}") for source in transcript.sources),
            )
        }
        rows, names = zip(*sorted(pairs), strict=True) if pairs else ((), ())
        return cls(csr_array((np.ones(len(rows)), (rows, numbered(names))), shape=(len(transcripts), len(set(names)))))

    def apart_from(self, test: Bools) -> Bools:
        """For each conversation whether none of its people is in one of those that are tested."""
        in_test = self.table.T @ test.astype(float)
        apart: Bools = self.table @ in_test == 0
        return apart


def mean_of_sides(placed: Floats, side: Ints) -> float:
    """The mean over both sides, each with the same weight, of what `placements` gives; NaN where a side has nothing."""
    sides = [placed[(side == label) & ~np.isnan(placed)] for label in (0, 1)]
    return float(np.mean([one.mean() for one in sides])) if all(one.size for one in sides) else np.nan


def numbered(names: Sequence[object]) -> Ints:
    """The names as numbers from 0, in the order in which they first appear."""
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return np.array([numbers[name] for name in names], dtype=np.int64)


def held_together(user: Ints, side: Ints, dialogues: Sequence[object]) -> Ints:
    """The users as groups that are held out together: those of different sides who share a conversation."""
    first_with: dict[object, int] = {}
    on_sides = [{dialogue for dialogue, label in zip(dialogues, side, strict=True) if label == one} for one in (0, 1)]
    group = joined(
        (first_with.setdefault(dialogue, number), number)
        for number, dialogue in zip(user.tolist(), dialogues, strict=True)
        if dialogue in on_sides[0] and dialogue in on_sides[1]
    )
    return np.array([group.get(number, number) for number in user.tolist()], dtype=np.int64)


def few_users(groups: int = 2, *, linked: bool) -> str:
    """Why an AUC has no interval; `linked`: why it is missing, with so few groups that can be held out."""
    if not linked:
        return "too few users for an interval"
    if groups < 2:
        return "the sides share conversations of all users: none can be held out"
    return "users who share conversations are held out together, and fewer than ten can be"


def dealt_folds(groups: Ints, side: Ints, folds: int, rng: np.random.Generator) -> Ints:
    """The fold of each conversation: groups are dealt out in random order, those of each side in turn."""
    group, number = np.unique(groups, return_inverse=True)
    of_sides = np.zeros(group.size, dtype=np.int64)
    np.bitwise_or.at(of_sides, number, side + 1)
    fold = np.zeros(group.size, dtype=np.int64)
    for kind in (1, 2, 3):
        for member, own in in_turn(rng.permutation(np.flatnonzero(of_sides == kind)).tolist(), folds).items():
            fold[member] = own
    return fold[number]


def standardised(values: Floats, stratum: Ints) -> Floats:
    """Each column with the median for what is missing, centred within strata, at standard deviation 1."""
    centred = values.copy()
    for number in np.unique(stratum):
        rows = stratum == number
        inside = centred[rows]
        median = np.nan_to_num(quantile(inside, 0.5))
        filled = np.where(np.isnan(inside), median, inside)
        centred[rows] = filled - filled.mean(axis=0)
    deviation = centred.std(axis=0)
    scaled: Floats = np.clip(centred / np.where(deviation > 1e-12, deviation, 1.0), -5, 5)
    return scaled


def scores_by_measures(values: Floats, side: Ints, fold: Ints, people: People) -> tuple[Floats, Floats]:
    """Each conversation's score by a model that was trained on none of its people; and the mean coefficients."""
    of_extra("sklearn", "stats")
    from sklearn import config_context
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    score = np.full(len(side), np.nan)
    weights = []
    for number in np.unique(fold):
        test = fold == number
        train = people.apart_from(test)
        if np.unique(side[train]).size < 2:
            continue
        # As class_weight="balanced", which takes longer than the fit.
        balance = train.sum() / (2 * np.bincount(side[train]))
        model = LogisticRegression(C=0.1, solver="newton-cholesky")
        with warnings.catch_warnings(), config_context(assume_finite=True, skip_parameter_validation=True):
            # Where nothing differs, the start is the best there is, and a line search that finds no better one warns.
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(values[train], side[train], sample_weight=balance[side[train]])
        score[test] = model.decision_function(values[test])
        weights.append(model.coef_[0])
    if not weights:
        return score, np.zeros(values.shape[1])
    mean: Floats = np.round(np.array(weights).mean(axis=0), 12) + 0.0
    return score, mean


def placements(score: Floats, side: Ints, fold: Ints) -> Floats:
    """For each conversation the share of the other side's in its fold that are ordered rightly with it, ties half.

    Only within a fold, as models of different folds have different scales. NaN where the fold has no other side, or
    no score.
    """
    placed = np.full(len(side), np.nan)
    for number in np.unique(fold):
        for label, sign in ((1, 1), (0, -1)):
            rows = np.flatnonzero((fold == number) & (side == label))
            others = np.sort(sign * score[(fold == number) & (side != label)])
            if others.size and not np.isnan(others).any():
                own = sign * score[rows]
                below = np.searchsorted(others, own, "left") + np.searchsorted(others, own, "right")
                placed[rows] = below / 2 / others.size
    return placed


def auc_interval(placed: Floats, side: Ints, user: Ints) -> Interval:
    """The AUC with its interval; `placed` has a row for each repeat.

    Its variance is that of the users (DeLong et al. 1988; Obuchowski 1997) and that of the training, which other folds
    show. As the interval of an effect it is drawn towards the variance without a difference where few users vary, and
    shrinks towards the ends of the scale (`intervals`). Its degrees of freedom are Welch's, over both sides.
    """
    of_repeats = np.array([mean_of_sides(row, side) for row in placed])
    of_repeats = of_repeats[np.isfinite(of_repeats)]
    if not of_repeats.size:
        return Interval(value=None, reason="too few users to hold some out")
    auc = float(of_repeats.mean())
    # Where a fold shares people with nearly all others, nothing is left to learn from, and it has no score.
    scored = ~np.isnan(placed).all(axis=0)
    placed, side, user = placed[:, scored], side[scored], user[scored]
    if min(np.unique(user[side == label]).size for label in (0, 1)) < FEWEST_FOR_INTERVAL:
        return Interval(value=auc if scored.all() else None, reason=few_users(linked=not scored.all()))
    mean = np.nanmean(placed, axis=0)
    contributions, sizes, of_sides, freedom = [], [], [], []
    for label in (0, 1):
        rows = side == label
        parts = np.bincount(numbered(user[rows].tolist()), mean[rows] - mean[rows].mean()) / rows.sum()
        of_sides.append(float((parts**2).sum()) * parts.size / (parts.size - 1))
        contributions.append(parts)
        sizes.append(parts.size)
        freedom.append(max(float(effective_users(items_of(numbered(user[rows].tolist())))) - 1, 1))
    # The distance from chance, 2 AUC - 1, has four times the variance.
    of_training = float(of_repeats.var(ddof=1)) if of_repeats.size > 1 else 0.0
    of_users = sum(of_sides)
    variance = 4 * (of_users + FOLDS_VARIANCE * of_training)
    # Welch's (1947): those of the side with fewer users where nearly all the variance is its own.
    welch = (
        of_users**2 / sum(own**2 / free for own, free in zip(of_sides, freedom, strict=True))
        if of_users
        else sum(freedom)
    )
    prior = PRIOR / (PRIOR + effective_users(np.concatenate(contributions) ** 2))
    distance = 2 * auc - 1
    room = 1 - distance**2
    without = sum(1 / size for size in sizes) / 3
    at_none = (1 - prior) * (variance / room if room > TINY else 0.0) + prior * without
    bounds = wilson(auc, 1 / at_none, students(float(welch)))
    return Interval(value=auc, low=float(bounds.low), high=float(bounds.high))
