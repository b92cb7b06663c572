"""Profile identification as one report: every model beside the label prior, in the published split and by users."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from typing_extensions import override

from ....errors import DataError, SettingError
from ...labels.reliability import UNTOLD
from ...over_users.estimate import Of, items_of, of_users
from ...over_users.folds import Fold, shared
from ...tables import Sections, Table, TypedRows
from ...threads import one_thread
from .leak import CONVERSATIONS, USERS, ModelGains, NearestConversations, NearestRow, gains, nearest_rows
from .metrics import Metric
from .mixture import Mixture, places_tested, told_aspects
from .parts import (
    AspectSplit,
    Options,
    learnt_scores,
    metric_rows,
    part_of,
    prior_of_side,
    scores_of_guesses,
    scores_of_rankings,
)
from .ranking import OptionRanking, Rank
from .rows import GUESSES, PRIOR_OF_GUESSED, PRIOR_OF_SIDE, MetricRow, Metrics, SideBySide, side_by_side
from .settings import AnySplit
from .talks import ProfileTalk
from .text_models.classifiers import PRIOR, Model
from .text_models.texts import UserText
from .values import ModelWatch, unwatched

_OF_NEAREST = (
    "Of the conversations that are trained on, the one that is nearest by its words (cosine of TF-IDF): how often it is of "
    "the same user, and how often one at random. With users held out it never is.",
)
_OF_GAINS = (
    "The same conversations are tested in both, and it is the mean of the aspects. known: in the split by conversation, in "
    "which most users are trained on too; new: with users held out. beyond: how much more a model has from a user's "
    "other conversations than the label prior, which reads none. No interval where few users have most conversations.",
)


@dataclass(frozen=True)
class Ranker:
    """A ranking of options without training: a language model, rules."""

    name: str
    rank: Rank


class IdentificationReport(Sections):
    """Profile identification; see `identify`."""

    setting: str
    splits: tuple[AnySplit, ...]
    vocabulary: Options
    seeds: int
    conversations: int
    """That are tested in any split and aspect."""
    users: int
    table: SideBySide
    nearest: NearestConversations
    gains: ModelGains
    """Empty unless both splits of the same conversations were measured."""
    metrics: Metrics

    @override
    def shown(self) -> list[TypedRows[Any]]:
        return [section for section in super().shown() if section.rows or section in (self.table, self.metrics)]

    @override
    def narrow(self) -> list[Table]:
        middle = [section.narrow() for section in (self.nearest, self.gains) if section.rows]
        return [self.table.narrow(), self.table.hits(), *middle]

    @override
    def to_json(self) -> dict[str, Any]:
        """The counts, the rows of each table, and the notes of the first."""
        value = super().to_json() | {"notes": list(self.table.notes)}
        return {"side_by_side" if name == "table" else name: part for name, part in value.items()}


def identify(
    talks: Sequence[ProfileTalk],
    models: Sequence[Model] = (),
    rankers: Sequence[Ranker] = (),
    *,
    mixture: Mixture | None = None,
    splits: Sequence[AnySplit] = ("users",),
    seeds: int = 1,
    vocabulary: Options = "closed",
    guesses: Sequence[Mapping[tuple[str, str], OptionRanking]] = (),
    seed: int = 0,
    watch: ModelWatch = unwatched,
    trust: str = UNTOLD,
) -> IdentificationReport:
    """Prediction of users' profiles by each model, aspect by aspect, and their mean.

    The label prior is always a row. `mixture`: whose conversations are trained on and tested; its split gives way to
    `splits`. `seeds`: how many seeds a model is taught with, from 0. `vocabulary`: `published` leaves out options that
    no conversation of the setting has, training or test, as a binarizer that is fitted on both does.

    `seed`: of a mixture's conversations. `watch`: called with a line on progress. `trust`: the reliability of the
    options of the profiles, as from `analysis.labels.reliability.Trusts.note`. DataError without conversations, or too
    few of a side. Needs the extra `stats`, and `zh` for Chinese.
    """
    if seeds < 1:
        raise SettingError(f"seeds {seeds}: give 1 or more")
    if not talks:
        raise DataError("no conversation has a profile of the vocabulary in this language: give RecLLMSim's")
    mixture = mixture or Mixture()
    names = [
        PRIOR.name,
        PRIOR_OF_SIDE,
        *(model.name for model in models),
        *(ranker.name for ranker in rankers),
        *([PRIOR_OF_GUESSED, GUESSES] if guesses else []),
    ]
    if len(set(names)) < len(names):
        raise SettingError(f"two models have one name: {', '.join(names)}")
    splits = _different(talks, mixture, tuple(dict.fromkeys(splits)), seed)
    tested = places_tested(talks, mixture, splits, seed=seed)
    users = [talk.user for talk in talks]
    texts = [talk.text for talk in talks] if models else [UserText(())] * len(talks)
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
        if models and any(shared(users, part.folds)[1] for part in parts):
            widest = max(parts, key=lambda part: len(part.tested)).folds
            near += nearest_rows(talks, split, widest, {"talk": texts, "user": of_users_words})
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
            model_rows, of_mean = metric_rows(name, split, parts, of_seeds, talks)
            rows += model_rows
            # Splits are compared by what all users were tested on: people may have guessed about some of them only.
            if {place for own in of_seeds[0].values() for place in own} == set(tested):
                of_splits.setdefault(split, {})[name] = of_mean
    names, user = of_users([users[place] for place in tested])
    return IdentificationReport(
        setting=mixture.setting,
        splits=splits,
        vocabulary=vocabulary,
        seeds=seeds,
        conversations=len(tested),
        users=len(names),
        table=SideBySide(rows=side_by_side(rows), notes=(*notes, *_explanations(seeds, vocabulary), trust)),
        nearest=NearestConversations(rows=tuple(near), notes=_OF_NEAREST if near else ()),
        gains=ModelGains(rows=gains(of_splits, PRIOR.name, items_of(user), len(user)), notes=_OF_GAINS)
        if all(PRIOR.name in of_splits.get(split, ()) for split in (CONVERSATIONS, USERS))
        else ModelGains(),
        metrics=Metrics(rows=tuple(rows)),
    )


def _different(
    talks: Sequence[ProfileTalk], mixture: Mixture, splits: tuple[AnySplit, ...], seed: int
) -> tuple[AnySplit, ...]:
    """The splits without those that have the same folds as an earlier one.

    That happens where one side is learnt from and the other tested.
    """
    folds_by_split: dict[AnySplit, dict[str, list[Fold]]] = {}
    for split in splits:
        folds, _ = told_aspects(talks, replace(mixture, split=split), seed=seed)
        if not mixture.across or folds not in folds_by_split.values():
            folds_by_split[split] = folds
    return tuple(folds_by_split)


def _leak(talks: Sequence[ProfileTalk], parts: Sequence[AspectSplit], split: AnySplit, mixture: Mixture) -> str:
    users = [talk.user for talk in talks]
    counts = [shared(users, part.folds) for part in parts]
    tested, learnt_too = (sum(numbers) for numbers in zip(*counts, strict=True))
    how = {
        "users": "whole users are held out",
        "conversations": "conversations are held out, in five folds",
        "published": "conversations at random are held out, as published",
    }[split]
    if mixture.across:
        how = "one side is trained on, and the other tested"
        if any(len(part.folds) > 1 for part in parts):
            how += ", without what was simulated on the scenarios of those who are tested"
    learnt = ""
    if mixture.two_sides:
        trains = [train for part in parts for train, _ in part.folds]
        sides = [
            [sum(talks[place].side == side for place in train) for train in trains] for side in ("people", "simulated")
        ]
        learnt = f" Trained on: {_from_to(sides[0])} conversations of people, {_from_to(sides[1])} simulated ones."
    return (
        f"{split}: {how}; {learnt_too / tested:.1%} of the tests are of a user, or a profile text, that is trained on too, "
        f"of {_from_to([count for count, _ in counts])} tests of an aspect.{learnt}"
    )


def _from_to(counts: Sequence[int]) -> str:
    return f"{min(counts)}" if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"


def _explanations(seeds: int, vocabulary: Options) -> list[str]:
    return [
        "F1 and exact match: of options with a score of .5 or more. Hit and recall at k: a true option, and the share of the true "
        "ones, among the first k. The label prior reads no conversation.",
        f"Mean over {seeds} seed{'' if seeds == 1 else 's'}; the vocabulary is "
        + ("closed: no test label makes it." if vocabulary == "closed" else "that of training and test labels, as published."),
    ]  # fmt: skip
