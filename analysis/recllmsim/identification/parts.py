"""One aspect in one split: training and test conversations, scores of each model, and metrics as rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...over_users.estimate import FloatArray, Of, items_of, of_users
from ...over_users.folds import Fold, tested
from .metrics import METRICS, MeasuredOptions, Metric, averaged, functions, measured, sums
from .mixture import Mixture, true_options
from .ranking import OptionRanking, guessed, ranked_scores
from .rows import MetricRow
from .settings import AnySplit, held_out
from .talks import ProfileTalk
from .text_models.classifiers import Model
from .text_models.texts import UserText
from .vocabulary import VOCABULARY

Options: TypeAlias = Literal["closed", "published"]
MEAN = "mean"
"""The name of the mean of the aspects."""


@dataclass(eq=False)
class AspectSplit:
    """One aspect in one split."""

    aspect: str
    options: tuple[str, ...]
    folds: list[Fold]
    truth: NDArray[np.bool_]
    """Conversations x options."""

    @property
    def tested(self) -> list[int]:
        """Places of the conversations that are tested."""
        return tested(self.folds)


def part_of(
    talks: Sequence[ProfileTalk], aspect: str, folds: list[Fold], mixture: Mixture, vocabulary: Options
) -> AspectSplit:
    """The options of an aspect that count, and who has which."""
    true = [true_options(talk, aspect, mixture) for talk in talks]
    used = {place for fold in folds for places in fold for place in places}
    seen = {name for place in used for name in true[place]}
    options = tuple(name for name in VOCABULARY[aspect] if vocabulary == "closed" or name in seen)
    if not mixture.others:
        options = tuple(name for name in options if name != "Others")
    return AspectSplit(
        aspect, options, folds, np.array([[name in own_options for name in options] for own_options in true])
    )


def learnt_scores(model: Model, part: AspectSplit, texts: Sequence[UserText], seed: int) -> dict[int, FloatArray]:
    """The scores of each tested conversation."""
    scores: dict[int, FloatArray] = {}
    for train, test in part.folds:
        fold_scores = model.classify(
            [texts[place] for place in train], part.truth[train], [texts[place] for place in test], seed
        )
        scores.update(zip(test, fold_scores, strict=True))
    return scores


def prior_of_side(talks: Sequence[ProfileTalk], part: AspectSplit) -> dict[int, FloatArray]:
    """For each tested conversation the share of each option among the training conversations of its group.

    Where none of its side are, among those of other users of its side that are tested.
    """
    scores: dict[int, FloatArray] = {}
    for train, test in part.folds:
        sides = {talks[place].side for place in test}
        own = [place for place in train if talks[place].side in sides]
        folds = [(own, test)]
        if not own and len({talks[place].user for place in test}) > 1:
            dealt = held_out([talks[place].user for place in test])
            folds = [([test[at] for at in learnt], [test[at] for at in others]) for learnt, others in dealt]
        for learnt, others in folds:
            if learnt:
                share: FloatArray = part.truth[learnt].mean(axis=0)
                scores.update(dict.fromkeys(others, share))
    return scores


def scores_of_rankings(part: AspectSplit, rankings: Mapping[int, OptionRanking]) -> dict[int, FloatArray]:
    """Of all tested: who names nothing has scores of 0."""
    return {
        place: _among(part, ranked_scores(rankings[place].get(part.aspect, ()), part.aspect)) for place in part.tested
    }


def scores_of_guesses(
    part: AspectSplit, talks: Sequence[ProfileTalk], guesses: Sequence[Mapping[tuple[str, str], OptionRanking]]
) -> dict[int, FloatArray]:
    """Of the tested conversations with guesses of people."""
    guessed_scores = {place: guessed(guesses, talks[place], part.aspect) for place in part.tested}
    return {place: _among(part, scores) for place, scores in guessed_scores.items() if scores is not None}


def _among(part: AspectSplit, scores: FloatArray) -> FloatArray:
    """Of the scores of the whole vocabulary those of the options that count."""
    return scores[[VOCABULARY[part.aspect].index(name) for name in part.options]]


def metric_rows(
    model: str,
    split: AnySplit,
    parts: Sequence[AspectSplit],
    of_seeds: Sequence[Mapping[int, Mapping[int, FloatArray]]],
    talks: Sequence[ProfileTalk],
) -> tuple[list[MetricRow], list[dict[Metric, Of]]]:
    """The rows of a model: each aspect's, and those of their mean; and the latter's metrics by seed.

    Users are those of the tests that are counted: of the aspect, of all aspects for the mean.
    """
    rows: list[MetricRow] = []
    silent = dict.fromkeys(METRICS, MeasuredOptions(value=None, reason="undefined: says nothing"))
    used = [part for at, part in enumerate(parts) if of_seeds[0][at]]
    places = {part.aspect: sorted(of_seeds[0][at]) for at, part in enumerate(parts)}

    def by_seed(at: int, users: Sequence[str]) -> list[dict[Metric, Of]]:
        part = parts[at]
        number = {name: place for place, name in enumerate(users)}
        user = np.array([number[talks[place].user] for place in places[part.aspect]])
        truth = part.truth[places[part.aspect]]
        return [
            functions(sums(truth, np.array([of_seed[at][place] for place in places[part.aspect]]), user, len(users)))
            for of_seed in of_seeds
        ]

    def rows_of(aspect: str, metrics: Mapping[Metric, MeasuredOptions]) -> list[MetricRow]:
        about: dict[str, Any] = {"split": split, "model": model, "aspect": aspect}
        return [MetricRow(**about, metric=name, **metrics[name].model_dump()) for name in METRICS]

    for at, part in enumerate(parts):
        if part not in used:
            rows += rows_of(part.aspect, silent)
            continue
        own, user = of_users([talks[place].user for place in places[part.aspect]])
        rows += rows_of(part.aspect, measured(by_seed(at, own), items_of(user), len(user)))
    if not used:
        return rows, []
    in_any = sorted({place for part in used for place in places[part.aspect]})
    everyone, user = of_users([talks[place].user for place in in_any])
    of_parts = [by_seed(at, everyone) for at, part in enumerate(parts) if part in used]
    of_mean = [averaged([of[number] for of in of_parts]) for number in range(len(of_seeds))]
    rows += rows_of(MEAN, measured(of_mean, items_of(user), max(len(places[part.aspect]) for part in used)))
    return rows, of_mean
