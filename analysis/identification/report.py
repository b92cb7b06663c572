"""Profile identification as one report: every model beside the label prior, in the published split and by users."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...data.records import Record
from ...errors import DataError, SettingError
from ..judges.scores import Of
from ..tables import Table
from ..trust import UNTOLD
from .classifiers import PRIOR, Model, one_thread
from .leak import CONVERSATIONS, USERS, Gains, Nearest, NearestRow, gains, nearest_rows
from .metrics import Metric
from .mixture import Mixture, places_tested, told_aspects
from .parts import (
    Options,
    Part,
    learnt_scores,
    metric_rows,
    part_of,
    prior_of_side,
    scores_of_guesses,
    scores_of_rankings,
)
from .ranking import Rank, Ranking
from .rows import GUESSES, PRIOR_OF_GUESSED, PRIOR_OF_SIDE, MetricRow, Metrics, SideBySide, side_by_side
from .settings import AnySplit, Fold, shared_users
from .talks import ProfileTalk
from .texts import Text
from .values import Watch, unwatched

_OF_NEAREST = (
    "Of the conversations that are learnt from, the one that is nearest by its words (cosine of TF-IDF): how often it is of "
    "the same user, and how often one at random. With users held out it never is.",
)
_OF_GAINS = (
    "The same conversations are tested in both, and it is the mean of the aspects. known: in the split by conversation, in "
    "which most users are learnt from too; new: with users held out. gain: what a model has of knowing a user's other "
    "conversations; beyond: how much of it is more than the label prior has, which reads none.",
)


@dataclass(frozen=True)
class Ranker:
    """What ranks options without learning: a language model, rules."""

    name: str
    rank: Rank


class IdentificationReport(Record):
    """Profile identification. See `identify`."""

    setting: str
    splits: tuple[AnySplit, ...]
    vocabulary: Options
    seeds: int
    conversations: int
    """That are tested in any split and aspect."""
    users: int
    table: SideBySide
    nearest: Nearest
    gains: Gains
    """Empty unless both splits of the same conversations were measured."""
    metrics: Metrics

    def tables(self) -> list[Table]:
        """Side by side first; what the split by conversation is worth, where it is measured; then every metric."""
        middle = [each.table() for each in (self.nearest, self.gains) if each.rows]
        return [self.table.table(), *middle, self.metrics.table()]

    def brief(self) -> list[Table]:
        """The same for a terminal: the mean of the aspects, the first hits of each, and what knowing users is worth."""
        middle = [each.table() for each in (self.nearest, self.gains.brief()) if each.rows]
        return [*self.table.brief(), *middle]

    def to_json(self) -> dict[str, Any]:
        """What is counted, the rows of each table, and the notes."""
        head = self.model_dump(mode="json", exclude={"table", "nearest", "gains", "metrics"})
        return head | {
            "side_by_side": self.table.to_json(),
            "nearest": self.nearest.to_json(),
            "gains": self.gains.to_json(),
            "metrics": self.metrics.to_json(),
            "notes": list(self.table.notes),
        }


def identify(
    talks: Sequence[ProfileTalk],
    models: Sequence[Model] = (),
    rankers: Sequence[Ranker] = (),
    *,
    mixture: Mixture | None = None,
    splits: Sequence[AnySplit] = ("users",),
    seeds: int = 1,
    vocabulary: Options = "closed",
    guesses: Sequence[Mapping[tuple[str, str], Ranking]] = (),
    seed: int = 0,
    watch: Watch = unwatched,
    trust: str = UNTOLD,
) -> IdentificationReport:
    """What each model tells of users' profiles, aspect by aspect, and their mean; the label prior is always a row.

    `mixture`: who is learnt from and tested; its split gives way to `splits`. `seeds`: how many seeds a model is taught
    with, from 0. `vocabulary`: `published` leaves out options that no conversation of the setting has, training or test,
    as a binarizer that is fitted on both does. `seed`: of the users that are drawn for intervals, and of a mixture's
    conversations. `watch`: is told what is under way.
    `trust`: how far the options of the profiles can be trusted, as `analysis.trust.Trusts.note` tells.
    DataError without conversations, or too few of a side. Needs the extras `ml`, and `zh` for Chinese.
    """
    if seeds < 1:
        raise SettingError(f"seeds {seeds}: give 1 or more")
    if not talks:
        raise DataError("no conversation has a profile of the vocabulary in this language: give RecLLMSim's")
    mixture = mixture or Mixture()
    names = [
        PRIOR.name,
        PRIOR_OF_SIDE,
        *(each.name for each in models),
        *(each.name for each in rankers),
        *([PRIOR_OF_GUESSED, GUESSES] if guesses else []),
    ]
    if len(set(names)) < len(names):
        raise SettingError(f"two models have one name: {', '.join(names)}")
    splits = _different(talks, mixture, tuple(dict.fromkeys(splits)), seed)
    tested = places_tested(talks, mixture, splits, seed=seed)
    texts = [talk.text for talk in talks] if models else [Text((), "")] * len(talks)
    of_users_words = [talk.users_text for talk in talks] if models else []
    ranked = {ranker.name: {place: ranker.rank(talks[place]) for place in tested} for ranker in rankers}
    rows: list[MetricRow] = []
    near: list[NearestRow] = []
    notes: list[str] = []
    of_splits: dict[str, dict[str, list[dict[Metric, Of]]]] = {}
    for split in splits:
        own = replace(mixture, split=split)
        folds, missing = told_aspects(talks, own, seed=seed)
        parts = [part_of(talks, aspect, folds[aspect], own, vocabulary) for aspect in folds]
        notes += missing
        notes.append(_leak(talks, parts, split, mixture))
        if models and any(
            known for _, known in (shared_users([talk.user for talk in talks], part.folds) for part in parts)
        ):
            widest = max(parts, key=lambda part: len(part.tested)).folds
            near += nearest_rows(talks, split, widest, {"talk": texts, "user": of_users_words}, seed)
        scores: dict[str, list[dict[int, Any]]] = {}
        for model in (PRIOR, *models):
            runs = range(seeds if model.seeded else 1)
            watch(f"{split}: {model.name}")
            with one_thread():
                scores[model.name] = [
                    {at: learnt_scores(model, part, texts, number) for at, part in enumerate(parts)} for number in runs
                ]
        if mixture.two_sides:
            scores[PRIOR_OF_SIDE] = [{at: prior_of_side(talks, part) for at, part in enumerate(parts)}]
        for name, rankings in ranked.items():
            scores[name] = [{at: scores_of_rankings(part, rankings) for at, part in enumerate(parts)}]
        if guesses:
            told_by_people = {at: scores_of_guesses(part, talks, guesses) for at, part in enumerate(parts)}
            prior = scores[PRIOR.name][0]
            scores[PRIOR_OF_GUESSED] = [
                {at: {place: prior[at][place] for place in own} for at, own in told_by_people.items()}
            ]
            scores[GUESSES] = [told_by_people]
        for name, of_seeds in scores.items():
            told, of_mean = metric_rows(name, split, parts, of_seeds, talks, seed)
            rows += told
            of_splits.setdefault(split, {})[name] = of_mean
    users = len({talks[place].user for place in tested})
    return IdentificationReport(
        setting=mixture.setting,
        splits=splits,
        vocabulary=vocabulary,
        seeds=seeds,
        conversations=len(tested),
        users=users,
        table=SideBySide(rows=side_by_side(rows), notes=(*notes, *_told(seeds, vocabulary), trust)),
        nearest=Nearest(rows=tuple(near), notes=_OF_NEAREST if near else ()),
        gains=_gains(of_splits, users, len(tested), seed),
        metrics=Metrics(rows=tuple(rows)),
    )


def _gains(
    of_splits: Mapping[str, Mapping[str, Sequence[Mapping[Metric, Of]]]], users: int, n: int, seed: int
) -> Gains:
    if not {CONVERSATIONS, USERS} <= set(of_splits):
        return Gains()
    told = {split: {model: of for model, of in own.items() if of} for split, own in of_splits.items()}
    return Gains(rows=gains(told, PRIOR.name, users, n, seed=seed), notes=_OF_GAINS)


def _different(
    talks: Sequence[ProfileTalk], mixture: Mixture, splits: tuple[AnySplit, ...], seed: int
) -> tuple[AnySplit, ...]:
    """The splits without those that part all as an earlier one: where one side is learnt from and the other tested."""
    found: dict[AnySplit, dict[str, list[Fold]]] = {}
    for split in splits:
        folds, _ = told_aspects(talks, replace(mixture, split=split), seed=seed)
        if not mixture.across or folds not in found.values():
            found[split] = folds
    return tuple(found)


def _leak(talks: Sequence[ProfileTalk], parts: Sequence[Part], split: AnySplit, mixture: Mixture) -> str:
    users = [talk.user for talk in talks]
    counts = [shared_users(users, part.folds) for part in parts]
    tested, known = (sum(each) for each in zip(*counts, strict=True))
    how = {
        "users": "whole users are held out",
        "conversations": "conversations are held out, in five folds",
        "published": "conversations at random are held out, as published",
    }[split]
    if mixture.across:
        how = "one side is learnt from, and the other tested"
        if any(len(part.folds) > 1 for part in parts):
            how += ", without what was simulated on the scenarios of those who are tested"
    learnt = ""
    if mixture.two_sides:
        trains = [train for part in parts for train, _ in part.folds]
        sides = [
            [sum(talks[place].side == side for place in train) for train in trains] for side in ("people", "simulated")
        ]
        learnt = f" Learnt from: {_from_to(sides[0])} conversations of people, {_from_to(sides[1])} simulated ones."
    return (
        f"{split}: {how}; {known / tested:.1%} of the tests are of a user, or a profile text, that is learnt from too, "
        f"of {_from_to([count for count, _ in counts])} tests of an aspect.{learnt}"
    )


def _from_to(counts: Sequence[int]) -> str:
    return f"{min(counts)}" if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"


def _told(seeds: int, vocabulary: Options) -> list[str]:
    return [
        "F1 and exact match: of options with a score of .5 or more. Hit and recall at k: a true option, and the share of the true "
        "ones, among the first k. The label prior knows no conversation.",
        f"Mean over {seeds} seed{'' if seeds == 1 else 's'}; the vocabulary is "
        + ("closed: no test label makes it." if vocabulary == "closed" else "that of training and test labels, as published."),
    ]  # fmt: skip
