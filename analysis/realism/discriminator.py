"""Whether a model that sees only the measures separates simulated users from people.

Needs the extra `stats`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..over_users.folds import FOLDS
from .held_out import (
    FEWEST_FOR_INTERVAL,
    People,
    auc_interval,
    dealt_folds,
    few_users,
    held_together,
    numbered,
    placements,
    scores_by_measures,
    standardised,
)
from .measures import Measure
from .statistics.auc import Coefficient, Discriminator, FamilyAuc, Interval, ReferenceAuc
from .statistics.cells import Floats, Ints, quantile
from .statistics.samples import MeasuredUsers, generator
from .statistics.two_samples import FEWEST_USERS, Draws, halvings

REPEATS = 10
"""Times that the folds are drawn anew."""
FEWER_REPEATS = 2  # the same, where no interval is needed
MOST_SCORED = 10_000
"""Conversations that are scored over all draws of the folds, as long as these are two or more."""
FLOOR_HALVINGS = 20
NONE_DIFFERS = "no measure with a value in both groups differs"
MOST_COEFFICIENTS = 8


@dataclass(frozen=True)
class ScoredUsers:
    """How well the model orders conversations of users that it has not seen."""

    auc: Interval
    weights: Floats
    """Mean coefficient of each column."""


def discriminate(
    sim: MeasuredUsers,
    human: MeasuredUsers,
    measures: Sequence[Measure],
    columns: Sequence[int],
    draws: Draws,
    beside: Mapping[str, MeasuredUsers],
    references: Mapping[str, MeasuredUsers],
) -> Discriminator:
    """How well a logistic regression on the chosen columns orders conversations of users that it has not seen.

    Whole users are held out, in five folds that are drawn ten times. A missing value is replaced by the median, and
    each measure is centred within its stratum (`MeasuredUsers.strata`). Conversations on both sides are held out
    together, and so are source conversations: no model is trained on people of a conversation that it scores
    (`People`). The human-human baseline is the same model on halves of the people.
    """
    names = tuple(measures[column].name for column in columns)
    divided = _Divided(sim, human, draws)
    scored = divided.scored(columns)
    largest_first = sorted(zip(names, scored.weights, strict=False), key=lambda pair: -abs(pair[1]))
    leans_on = [Coefficient(name=name, weight=float(weight)) for name, weight in largest_first[:MOST_COEFFICIENTS]]
    return Discriminator(
        auc=scored.auc,
        floor=human_baseline(human, columns, draws),
        **{name: cross_validated(side, human, columns, draws).auc for name, side in beside.items()},
        measures=names,
        leans_on=tuple(leans_on),
        families=_families(divided, measures, columns) if scored.auc.value is not None else (),
        references=tuple(
            ReferenceAuc(
                name=name,
                auc=cross_validated(sim, reference, columns, draws).auc,
                from_people=cross_validated(reference, human, columns, draws).auc,
            )
            for name, reference in references.items()
        ),
    )


def _families(divided: "_Divided", measures: Sequence[Measure], columns: Sequence[int]) -> tuple[FamilyAuc, ...]:
    """The AUC by the measures of each family alone, and by all others; the most discriminating family first."""
    rows = []
    for family in dict.fromkeys(measures[column].family for column in columns):
        inside = [column for column in columns if measures[column].family == family]
        outside = [column for column in columns if measures[column].family != family]
        alone, without = (
            divided.scored(chosen, FEWER_REPEATS).auc.value if chosen else None for chosen in (inside, outside)
        )
        rows.append(FamilyAuc(family=family, alone=alone, without=without))
    return tuple(sorted(rows, key=lambda row: -(row.alone or 0.0)))


def human_baseline(human: MeasuredUsers, columns: Sequence[int], draws: Draws) -> Interval:
    """Median AUC between halves of the people, with the range of the middle 95 % of the halvings."""
    user = numbered([transcript.cluster for transcript in human.transcripts])
    between_halves = []
    for half in halvings(int(user.max(initial=-1)) + 1, draws)[:FLOOR_HALVINGS]:
        first, second = (human.where(list(rows)) for rows in (half[user] > 0, half[user] <= 0))
        scored = cross_validated(first, second, columns, draws, FEWER_REPEATS)
        between_halves.append(scored.auc)
    if not between_halves:
        return Interval(value=None, reason="too few people for a human-human baseline")
    aucs = [auc.value for auc in between_halves if auc.value is not None]
    if not aucs:
        return Interval(value=None, reason=f"human-human baseline: {between_halves[0].reason}")
    low, median, high = (float(quantile(np.array(aucs)[:, None], share)[0]) for share in (0.025, 0.5, 0.975))
    return Interval(value=median, low=low, high=high)


def cross_validated(
    sim: MeasuredUsers,
    human: MeasuredUsers,
    columns: Sequence[int],
    draws: Draws,
    repeats: int = REPEATS,
) -> ScoredUsers:
    """The AUC with its interval, and the coefficient of each column (`_Divided.scored`)."""
    return _Divided(sim, human, draws).scored(columns, repeats)


class _Divided:
    """Two sides with what no measure changes: strata, users, people and folds."""

    def __init__(self, sim: MeasuredUsers, human: MeasuredUsers, draws: Draws) -> None:
        self._draws = draws
        common = set(sim.strata) & set(human.strata)
        self._within = "" if common or not (sim.transcripts and human.transcripts) else sim.within
        if common:
            sim, human = (side.where([stratum in common for stratum in side.strata]) for side in (sim, human))
        self._sides = sim, human
        self.transcripts = (*sim.transcripts, *human.transcripts)
        self.side = np.array([1] * len(sim.transcripts) + [0] * len(human.transcripts), dtype=np.int64)
        self.user = numbered([(len(sim.transcripts) > row, one.cluster) for row, one in enumerate(self.transcripts)])
        self._folds: dict[int, Ints] = {}  # of each repeat

    @cached_property
    def _group(self) -> Ints:
        return held_together(self.user, self.side, [transcript.dialogue for transcript in self.transcripts])

    @cached_property
    def _values(self) -> Floats:
        stratum = numbered([stratum for side in self._sides for stratum in side.strata])
        return standardised(np.concatenate([side.values for side in self._sides]), stratum)

    @cached_property
    def _people(self) -> People:
        return People.of(self.transcripts)

    def scored(self, columns: Sequence[int], repeats: int = REPEATS) -> ScoredUsers:
        """The AUC with its interval, and the coefficient of each column.

        The AUC is the share of pairs of a simulated and a person's conversation that the model orders rightly.
        """
        if self._within:
            return _unscored(f"no {self._within} in which both groups have a value")
        side, user = self.side, self.user
        fewest = min((np.unique(user[side == label]).size for label in (0, 1)), default=0)
        if fewest < FEWEST_USERS or not len(columns):
            return _unscored("a side has one user or none" if len(columns) else NONE_DIFFERS)
        groups = min(np.unique(self._group[side == label]).size for label in (0, 1))
        if groups < min(FEWEST_FOR_INTERVAL, fewest):
            return _unscored(few_users(groups, linked=True))
        placed, weights = self.placed(columns, repeats, groups)
        return ScoredUsers(auc_interval(placed, side, user), np.mean(weights, axis=0))

    def placed(self, columns: Sequence[int], repeats: int, groups: int) -> tuple[Floats, list[Floats]]:
        """The placements of the conversations, a row for each draw of the folds, and the coefficients of each draw.

        `groups`: how many groups of users can be held out.
        """
        side, values, placed, weights = self.side, self._values[:, list(columns)], [], []
        # The more conversations, the less other folds change.
        for repeat in range(min(repeats, max(FEWER_REPEATS, MOST_SCORED // len(side)))):
            if repeat not in self._folds:
                rng = generator(self._draws.seed, "folds", repeat)
                self._folds[repeat] = dealt_folds(self._group, side, min(FOLDS, groups), rng)
            fold = self._folds[repeat]
            score, coefficients = scores_by_measures(values, side, fold, self._people)
            placed.append(placements(score, side, fold))
            weights.append(coefficients)
        return np.array(placed), weights


def _unscored(reason: str) -> ScoredUsers:
    return ScoredUsers(Interval(value=None, reason=reason), np.zeros(0))
