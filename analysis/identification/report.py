"""Profile identification as one report: every model beside the label prior, in the published split and by users."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...data.records import Record
from ...errors import DataError, SettingError
from ..judges.scores import Floats, Of, of_users
from ..tables import Table
from ..trust import UNTOLD
from .classifiers import PRIOR, Model
from .metrics import METRICS, Metric, averaged, functions, measured, sums
from .ranking import Rank, Ranking, guessed, ranked_scores
from .rows import MetricRow, Metrics, SideBySide, side_by_side
from .settings import Fold, Mixture, SplitName, folds_of, shared_users, true_options
from .talks import ProfileTalk
from .texts import Text
from .vocabulary import ASPECTS, VOCABULARY

Options: TypeAlias = Literal["closed", "published"]
MEAN = "mean"
"""What stands for the mean of the aspects."""
GUESSES = "people's guesses"


@dataclass(frozen=True)
class Ranker:
    """What ranks options without learning: a language model, rules."""

    name: str
    rank: Rank


class IdentificationReport(Record):
    """Profile identification. See `identify`."""

    setting: str
    splits: tuple[SplitName, ...]
    vocabulary: Options
    seeds: int
    conversations: int
    """That are tested in the first split in any aspect."""
    users: int
    table: SideBySide
    metrics: Metrics

    def tables(self) -> list[Table]:
        """Side by side first, then every metric."""
        return [self.table.table(), self.metrics.table()]

    def to_json(self) -> dict[str, Any]:
        """What is counted, the rows of each table, and the notes."""
        head = self.model_dump(mode="json", exclude={"table", "metrics"})
        return head | {
            "side_by_side": self.table.to_json(),
            "metrics": self.metrics.to_json(),
            "notes": list(self.table.notes),
        }


@dataclass
class _Part:
    """One aspect in one split."""

    aspect: str
    options: tuple[str, ...]
    folds: list[Fold]
    truth: NDArray[np.bool_]
    """Conversations x options."""

    @property
    def tested(self) -> list[int]:
        return [place for _, test in self.folds for place in test]


def identify(
    talks: Sequence[ProfileTalk],
    models: Sequence[Model] = (),
    rankers: Sequence[Ranker] = (),
    *,
    mixture: Mixture | None = None,
    splits: Sequence[SplitName] = ("users",),
    seeds: int = 1,
    vocabulary: Options = "closed",
    guesses: Sequence[Mapping[tuple[str, str], Ranking]] = (),
    seed: int = 0,
    trust: str = UNTOLD,
) -> IdentificationReport:
    """What each model tells of users' profiles, aspect by aspect, and their mean; the label prior is always a row.

    `mixture`: who is learnt from and tested; its split gives way to `splits`. `seeds`: how many seeds a model is taught
    with, from 0. `vocabulary`: `published` leaves out options that no conversation of the setting has, training or test,
    as a binarizer that is fitted on both does. `seed`: of the users that are drawn for intervals.
    `trust`: how far the options of the profiles can be trusted, as `analysis.trust.Trusts.note` tells. DataError without conversations, or too few of a side. Needs the extras `ml`, and `zh` for Chinese.
    """
    if seeds < 1:
        raise SettingError(f"seeds {seeds}: give 1 or more")
    if not talks:
        raise DataError("no conversation has a profile of the vocabulary in this language: give RecLLMSim's")
    mixture = mixture or Mixture()
    names = [
        PRIOR.name,
        *(each.name for each in models),
        *(each.name for each in rankers),
        *([GUESSES] if guesses else []),
    ]
    if len(set(names)) < len(names):
        raise SettingError(f"two models have one name: {', '.join(names)}")
    texts = [talk.text for talk in talks] if models else [Text((), "")] * len(talks)
    ranked = {ranker.name: [ranker.rank(talk) for talk in talks] for ranker in rankers}
    rows: list[MetricRow] = []
    notes: list[str] = []
    tested: set[int] = set()
    for split in dict.fromkeys(splits):
        parts = [_part(talks, aspect, replace(mixture, split=split), vocabulary, seed) for aspect in ASPECTS]
        in_split = sorted({place for part in parts for place in part.tested})
        tested = tested or set(in_split)
        users, _ = of_users([talks[place].user for place in in_split])
        user = {name: place for place, name in enumerate(users)}
        notes.append(_leak(talks, parts, split))
        scores: dict[str, list[dict[int, Any]]] = {}
        for model in (PRIOR, *models):
            runs = range(seeds if model.seeded else 1)
            scores[model.name] = [
                {at: _learnt(model, part, texts, number) for at, part in enumerate(parts)} for number in runs
            ]
        for name, rankings in ranked.items():
            scores[name] = [{at: _ranked(part, rankings) for at, part in enumerate(parts)}]
        if guesses:
            scores[GUESSES] = [{at: _guessed(part, talks, guesses) for at, part in enumerate(parts)}]
        for name, of_seeds in scores.items():
            rows += _rows(name, split, parts, of_seeds, talks, user, seed)
    return IdentificationReport(
        setting=mixture.setting,
        splits=tuple(dict.fromkeys(splits)),
        vocabulary=vocabulary,
        seeds=seeds,
        conversations=len(tested),
        users=len({talks[place].user for place in tested}),
        table=SideBySide(rows=side_by_side(rows), notes=(*notes, *_told(seeds, vocabulary), trust)),
        metrics=Metrics(rows=tuple(rows)),
    )


def _part(talks: Sequence[ProfileTalk], aspect: str, mixture: Mixture, vocabulary: Options, seed: int) -> _Part:
    folds = folds_of(talks, aspect, mixture, seed=seed)
    true = [true_options(talk, aspect, mixture) for talk in talks]
    used = {place for fold in folds for places in fold for place in places}
    seen = {name for place in used for name in true[place]}
    options = tuple(name for name in VOCABULARY[aspect] if vocabulary == "closed" or name in seen)
    if not mixture.others:
        options = tuple(name for name in options if name != "Others")
    return _Part(aspect, options, folds, np.array([[name in each for name in options] for each in true]))


def _learnt(model: Model, part: _Part, texts: Sequence[Text], seed: int) -> dict[int, Floats]:
    """The scores of each tested conversation."""
    found: dict[int, Floats] = {}
    for train, test in part.folds:
        told = model.classify(
            [texts[place] for place in train], part.truth[train], [texts[place] for place in test], seed
        )
        found.update(zip(test, told, strict=True))
    return found


def _ranked(part: _Part, rankings: Sequence[Ranking]) -> dict[int, Floats]:
    """Of all tested: who names nothing has scores of 0."""
    return {
        place: _among(part, ranked_scores(rankings[place].get(part.aspect, ()), part.aspect)) for place in part.tested
    }


def _guessed(
    part: _Part, talks: Sequence[ProfileTalk], guesses: Sequence[Mapping[tuple[str, str], Ranking]]
) -> dict[int, Floats]:
    """Of those tested that somebody guessed."""
    told = {place: guessed(guesses, talks[place], part.aspect) for place in part.tested}
    return {place: _among(part, scores) for place, scores in told.items() if scores is not None}


def _among(part: _Part, scores: Floats) -> Floats:
    """Of the scores of the whole vocabulary those of the options that count."""
    return scores[[VOCABULARY[part.aspect].index(name) for name in part.options]]


def _rows(
    model: str,
    split: SplitName,
    parts: Sequence[_Part],
    of_seeds: Sequence[Mapping[int, Mapping[int, Floats]]],
    talks: Sequence[ProfileTalk],
    user: Mapping[str, int],
    seed: int,
) -> list[MetricRow]:
    """The rows of a model: each aspect's, and those of their mean."""
    by_part: list[list[dict[Metric, Of]]] = []
    rows: list[MetricRow] = []
    count = 0
    for at, part in enumerate(parts):
        places = sorted(of_seeds[0][at])
        count = max(count, len(places))
        if not places:
            rows += [MetricRow.none(split, model, part.aspect, name) for name in METRICS]
            continue
        own = np.array([user[talks[place].user] for place in places])
        by_seed = [functions(sums(part.truth[places], np.array([told[at][place] for place in places]), own, len(user))) for told in of_seeds]  # fmt: skip
        by_part.append(by_seed)
        found = measured(by_seed, len(user), len(places), seed=seed)
        rows += [MetricRow.of(split, model, part.aspect, name, found[name]) for name in METRICS]
    if by_part:
        of_mean = [averaged([by_seed[number] for by_seed in by_part]) for number in range(len(of_seeds))]
        found = measured(of_mean, len(user), count, seed=seed)
        rows += [MetricRow.of(split, model, MEAN, name, found[name]) for name in METRICS]
    return rows


def _leak(talks: Sequence[ProfileTalk], parts: Sequence[_Part], split: SplitName) -> str:
    users = [talk.user for talk in talks]
    counts = [shared_users(users, part.folds) for part in parts]
    tested, known = (sum(each) for each in zip(*counts, strict=True))
    how = "whole users are held out" if split == "users" else "conversations at random are held out, as published"
    return (
        f"{split}: {how}; {known / tested:.1%} of the tests are of a user, or a profile text, that is learnt from too."
    )


def _told(seeds: int, vocabulary: Options) -> list[str]:
    return [
        "F1 and exact match: of options with a score above .5. Hit and recall at k: a true option, and the share of the true "
        "ones, among the first k. The label prior knows no conversation.",
        f"Mean over {seeds} seed{'' if seeds == 1 else 's'}; the vocabulary is "
        + ("closed: no test label makes it." if vocabulary == "closed" else "that of training and test labels, as published."),
    ]  # fmt: skip
