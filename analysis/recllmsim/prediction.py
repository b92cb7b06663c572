"""Prediction of users' profiles from their conversations, in the settings of "When Synthetic Meets Real"."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from ...data import domains
from ...data.identity import digest
from ...data.people import whose
from ...data.recllmsim.tasks import TaskName, task_name
from ...data.records import Conversation, Role
from ...data.text.languages import Language
from ...errors import DataError, of_extra
from ..attempts import assistant_of
from ..estimates import Estimate, ratio, score
from .learning import (
    MODELS,
    SPLITS,
    Array,
    Fold,
    Models,
    Split,
    Watch,
    features,
    fitted,
    folds_of,
    known_share,
    messages_in,
    models_of,
    places_of,
    seeded,
    sums,
    takes_seed,
    words_in,
)
from .talks import TablesReport, own_profile, table_of
from .vocabulary import ASPECTS, OTHERS, VOCABULARY, options_in

Training: TypeAlias = Literal["own", "other", "both", "hot", "cold"]
"""Whose conversations are for training beside the tested ones: others of their group (`sim`, `human`), the other group
(`sim2human`, `human2sim`), both (`sim4human`), or of the other group only those with a frequent or a rare option."""
TRAININGS: tuple[Training, ...] = get_args(Training)
OptionScores: TypeAlias = Mapping[str, Mapping[str, float]]
"""For each aspect the scores of options, 0 to 1, by their English names; aspects may be missing."""

PAIRS: Mapping[str, TaskName] = {
    "travel_habits": "travel",
    "dining_preferences": "recipe",
    "spending_habits": "gifts",
    "daily_interests": "skills",
}
"""The published pairs of an aspect and the task whose conversations may reveal it."""
PRIOR = "label prior"
THRESHOLD = 0.5
"""An option with this score or more is predicted, for F1 and exact match, as published."""
STEP = 0.01
"""How much less the score of a ranked option is than that of the one before, as published."""
METRICS = ("f1_micro", "f1_macro", "f1_weighted", "exact", "hit_1", "hit_3", "recall_1", "recall_3")
_NUMBER_OR_TEXT = re.compile(r"(\d+)|(\D+)")


@dataclass(frozen=True)
class ProfileTalk:
    """One conversation with the options of its user's profile."""

    id: str
    path: str
    """In its data set, else its id."""
    user: str
    """Of a simulated user the person on whose scenario it was made, else what stands for it: its profile."""
    assistant: str
    """Empty where no source names it."""
    language: Language
    messages: tuple[tuple[Role, str], ...]
    labels: Mapping[str, tuple[str, ...]]
    """The options of each aspect, in English; an aspect without an option in the profile is missing."""
    task: TaskName

    @property
    def words(self) -> list[str]:
        """The words of all messages, of both sides."""
        return words_in((text for _, text in self.messages), self.language)


def profile_talks(
    conversations: Iterable[Conversation], language: Language | None = "zh"
) -> tuple[list[ProfileTalk], list[str]]:
    """The conversations with a profile of the vocabulary, and a line for each reason why others are left out.

    `language`: in which the messages are read, by the source's own translations. None: each as it was held.
    """
    talks: list[ProfileTalk] = []
    why: Counter[str] = Counter()
    for conversation in conversations:
        own = own_profile(conversation)
        labels = options_in(own) if own is not None else {}
        read = messages_in(conversation, language)
        if own is None:
            why["have no structured profile (`profile` of the scenario, or the label `profile_mapped`)"] += 1
        elif not labels:
            why["have no option of the vocabulary in their profile"] += 1
        elif read is None:
            why[f"are not there in {language}"] += 1
        else:
            path = conversation.extra.get("path")
            talks.append(
                ProfileTalk(
                    id=conversation.id,
                    path=path if isinstance(path, str) and path else conversation.id,
                    user=whose(conversation),
                    assistant=assistant_of(conversation),
                    language=read[0],
                    messages=read[1],
                    labels=labels,
                    task=task_name(domains.of(conversation).task(conversation.scenario)),
                )
            )
    return talks, [f"{count} conversations are left out: they {reason}" for reason, count in why.items()]


@dataclass(frozen=True)
class Mixture:
    """Whose conversations are learnt from, and which options count."""

    others: bool = True
    """False: the option "Others" is taken away, and with it conversations that have no other."""
    pairs: bool = False
    """Only the four aspects of `PAIRS`, each from conversations about its task."""
    ratio: float | None = None
    """Conversations of the other group that are mixed in for each own one in training; None: all."""
    top: int = 3
    """How many options are the most (`hot`), or the least (`cold`), frequent ones, as published."""

    @property
    def aspects(self) -> list[str]:
        """The aspects that are predicted."""
        return [aspect for aspect in ASPECTS if not self.pairs or aspect in PAIRS]

    def options(self, talk: ProfileTalk, aspect: str) -> tuple[str, ...]:
        """The options of the user that count; none where the conversation is left out."""
        task = "travel" if talk.task == "new_travel" else talk.task
        if self.pairs and PAIRS.get(aspect) != task:
            return ()
        return tuple(name for name in talk.labels.get(aspect, ()) if self.others or name != OTHERS)


@dataclass(frozen=True)
class _Part:
    """One aspect: its options, the folds, and who has which option."""

    aspect: str
    options: list[str]
    folds: list[Fold]
    truth: Array

    @property
    def tested(self) -> list[int]:
        return [place for _, test in self.folds for place in test]


_Vectors: TypeAlias = Callable[[tuple[int, ...], tuple[int, ...]], tuple[Any, Any]]
"""The features of the conversations to learn from and of those to test, by their places."""
_Scores: TypeAlias = Mapping[int, Array]
"""A score of each option, 0 to 1, by the place of the tested conversation."""


def predict_profiles(
    tested: Sequence[ProfileTalk],
    other: Sequence[ProfileTalk] = (),
    models: Models | None = None,
    scored: Mapping[str, Mapping[str, OptionScores]] | None = None,
    *,
    trainings: Sequence[Training] | None = None,
    splits: Sequence[Split] = SPLITS,
    mixture: Mixture | None = None,
    closed: bool = True,
    seeds: int = 2,
    watch: Watch = lambda _: None,
) -> TablesReport:
    """Each model beside the label prior, which reads no conversation: the mean of the aspects, and each aspect.

    Args:
        tested: Conversations of the group whose profiles are predicted.
        other: Those of the other group: simulated users for people, or people for simulated users.
        models: Classifiers of scikit-learn by name; default: `models_of(MODELS, options=True)`.
        scored: Scores by the id of the conversation, of chat models or people by name, who learn nothing. They count on
            the conversations that they have, beside the label prior of the same ones; without any aspect they are wrong.
        trainings: Default: `own`, and with `other` all of `TRAININGS`.
        splits: See `Split`. With `other` alone in training, `published` tests the fifth that it tests otherwise.
        mixture: Which options and conversations count.
        closed: False leaves out options that no conversation has, as a binarizer that is fitted on them does.
        seeds: How many seeds a model is taught with, from 0, whose scores are averaged.
        watch: Called with a line on progress.

    Raises:
        DataError: No conversation, or too few users, with a profile.
    """
    if not tested:
        raise DataError("no conversation has a profile of the vocabulary in this language: give RecLLMSim's")
    mixture = mixture or Mixture()
    models = models_of(MODELS, options=True) if models is None else models
    talks = [*tested, *other]
    words = [talk.words for talk in talks] if models else []

    @lru_cache(maxsize=32)
    def vectors(train: tuple[int, ...], test: tuple[int, ...]) -> tuple[Any, Any]:
        return features([words[place] for place in train], [words[place] for place in test])

    trainings = trainings or (TRAININGS if other else ("own",))
    means: list[dict[str, Any]] = []
    aspects: list[dict[str, Any]] = []
    notes: list[str] = []
    for training in trainings:
        for split in splits:
            parts, missing = _parts(talks, len(tested), training, split, mixture, closed=closed)
            notes += missing
            known = known_share([talk.user for talk in talks], [fold for part in parts for fold in part.folds])
            about = {"training": training, "split": split, "known": known}
            by_model: dict[str, list[list[_Scores]]] = {PRIOR: [[_prior(part) for part in parts]]}
            for name, model in models.items():
                watch(f"{training}, {split}: {name}")
                runs = range(seeds if takes_seed(model) else 1)
                by_model[name] = [[_learnt(seeded(model, seed), part, vectors) for part in parts] for seed in runs]
            for name, given in (scored or {}).items():
                own = [_given(part, talks, given) for part in parts]
                prior: list[_Scores] = [
                    {place: every[place] for place in of} for every, of in zip(by_model[PRIOR][0], own, strict=True)
                ]
                if any(len(of) < len(part.tested) for of, part in zip(own, parts, strict=True)):
                    by_model[f"{PRIOR}, where {name}"] = [prior]
                by_model[name] = [own]
            for name, runs_of_parts in by_model.items():
                rows = _rows(talks, parts, runs_of_parts)
                means += [{**about, "model": name, **row} for row in rows if row["aspect"] == "mean"]
                aspects += [{**about, "model": name, **row} for row in rows if row["aspect"] != "mean"]
    notes += [
        "known: tests of a user, or a profile text, that is trained on too. users: whole users are held out. "
        "published: a fifth of the conversations at random is held out. The label prior reads no conversation.",
        f"F1 and exact match: of options with a score of {THRESHOLD} or more. Hit and recall at k: a true option, and "
        "the share of the true ones, among the first k; the interval is over users.",
    ]
    data_frame = of_extra("pandas", "stats").DataFrame
    wide = ("f1_weighted", "recall_1", "low", "high", "reason")
    mean = data_frame(means).drop(columns="aspect")
    return TablesReport(
        about={"conversations": len(tested), "users": len({talk.user for talk in tested}), "seeds": seeds},
        by_name={
            "mean": table_of(f"Profiles: the mean of {len(mixture.aspects)} aspects", mean, notes, wide),
            "aspects": table_of("Profiles: each aspect", data_frame(aspects), (), {*METRICS, *wide} - {"hit_1"}),
        },
    )


def ranked_scores(ranking: Mapping[str, Sequence[str]]) -> dict[str, dict[str, float]]:
    """The scores of options of each aspect, the likeliest first: 1, and .01 less for each after it, as published."""
    return {aspect: {name: 1 - STEP * place for place, name in enumerate(names)} for aspect, names in ranking.items()}


def _parts(
    talks: Sequence[ProfileTalk], count: int, training: Training, split: Split, mixture: Mixture, *, closed: bool
) -> tuple[list[_Part], list[str]]:
    """The aspects that can be predicted, and why others cannot; the first `count` conversations are the tested group."""
    parts: list[_Part] = []
    missing: list[str] = []
    for aspect in mixture.aspects:
        true = [mixture.options(talk, aspect) for talk in talks]
        having = [place for place, options in enumerate(true) if options]
        own, other = [place for place in having if place < count], [place for place in having if place >= count]
        try:
            of_folds = _folds(talks, own, other, true, training, split, mixture, aspect)
        except DataError as error:
            missing.append(f"{aspect} is not predicted: {error}")
            continue
        used = {name for fold in of_folds for places in fold for place in places for name in true[place]}
        options = [name for name in VOCABULARY[aspect] if closed or name in used]
        options = [name for name in options if mixture.others or name != OTHERS]
        parts.append(_Part(aspect, options, of_folds, np.array([[name in of for name in options] for of in true])))
    if not parts:
        raise DataError(missing[0])
    return parts, missing


def _folds(
    talks: Sequence[ProfileTalk],
    own: list[int],
    other: list[int],
    true: Sequence[Sequence[str]],
    training: Training,
    split: Split,
    mixture: Mixture,
    aspect: str,
) -> list[Fold]:
    if training != "own" and not other:
        raise DataError("no conversation of the other group has a profile with it")
    ordered = sorted(own, key=lambda place: _file_order(talks[place])) if split == "published" else own
    within = [
        ([ordered[at] for at in train], [ordered[at] for at in test])
        for train, test in folds_of([talks[place].user for place in ordered], split)
    ]
    if training == "own":
        return within
    if (
        training == "other"
        and split == "users"
        and not {talks[place].user for place in own} & {talks[place].user for place in other}
    ):
        return [(other, own)]
    made: list[Fold] = []
    for train, test in within:
        held_out = {talks[place].user for place in test} if split == "users" else set()
        further = [place for place in other if talks[place].user not in held_out]
        if training in ("hot", "cold"):
            counts = Counter(name for place in train for name in true[place])
            order = sorted(
                (name for name in VOCABULARY[aspect] if name != OTHERS), key=lambda name: (-counts[name], name)
            )
            chosen = set(order[: mixture.top] if training == "hot" else order[-mixture.top :])
            further = [place for place in further if chosen & set(true[place])]
        if training == "other":
            made.append((further, test))
            continue
        if mixture.ratio is not None:
            further.sort(key=lambda place: digest("mixture", 0, talks[place].path, talks[place].id))
            further = further[: int(mixture.ratio * len(train))]
        made.append((train + further, test))
    if not all(train for train, _ in made):
        raise DataError("every conversation to train on is of the tested users: add conversations of other users")
    return made


def _file_order(talk: ProfileTalk) -> tuple[bool, list[tuple[int, str]]]:
    """Key of the published order: numbers in names of files and folders count as numbers, unnamed assistants first.

    Only user, task and file count, not the folders above them; conversations without a file are all equal.
    """
    names = "/".join(talk.path.split("/")[-3:]) if talk.path != talk.id else ""
    return bool(talk.assistant), [(int(digits or -1), text) for digits, text in _NUMBER_OR_TEXT.findall(names)]


def _prior(part: _Part) -> _Scores:
    """The share of the training conversations that have each option."""
    return {place: part.truth[train].mean(axis=0) for train, test in part.folds for place in test}


def _learnt(model: Any, part: _Part, vectors: _Vectors) -> _Scores:
    """The scores by a model of words; options that all or none have in training are predicted so, and not learnt."""
    found: dict[int, Array] = {}
    for train, test in part.folds:
        scores = np.tile(part.truth[train].mean(axis=0), (len(test), 1))
        varied = np.flatnonzero((scores[0] > 0) & (scores[0] < 1))
        if len(varied):
            learnt, asked = vectors(tuple(train), tuple(test))
            target = part.truth[np.ix_(np.array(train), varied)]
            shares = fitted(model, learnt, target if len(varied) > 1 else target[:, 0]).predict_proba(asked)
            if isinstance(shares, list):  # a forest gives a table for each option
                shares = np.column_stack([one[:, 1] for one in shares])
            scores[:, varied] = shares if len(varied) > 1 else shares[:, 1:]
        found.update(zip(test, scores, strict=True))
    return found


def _given(part: _Part, talks: Sequence[ProfileTalk], scored: Mapping[str, OptionScores]) -> _Scores:
    """The scores that were given; options that are not named have 0."""
    found: dict[int, Array] = {}
    for place in part.tested:
        of_aspects = scored.get(talks[place].id)
        if of_aspects is not None and (part.aspect in of_aspects or not of_aspects):
            points = of_aspects.get(part.aspect, {})
            found[place] = np.array([points.get(name, 0.0) for name in part.options])
    return found


def _rows(
    talks: Sequence[ProfileTalk], parts: Sequence[_Part], runs: Sequence[Sequence[_Scores]]
) -> list[dict[str, Any]]:
    """The metrics of each aspect and of their mean, averaged over runs of different seeds; hit@1 with its interval."""
    used = [at for at in range(len(parts)) if runs[0][at]]
    rows: list[dict[str, Any]] = []
    hits = []
    everyone, places = _users(talks, [place for at in used for place in dict.fromkeys(runs[0][at])])
    for at in used:
        part, tests = parts[at], sorted(runs[0][at])
        truth = part.truth[tests]
        by_seed = [np.array([run[at][place] for place in tests]) for run in runs]
        values = [_metrics(truth, scores) for scores in by_seed]
        hit = np.mean([_among_first(truth, scores, 1) > 0 for scores in by_seed], axis=0)
        user = np.array([places[talks[place].user] for place in tests])
        hits.append((sums(hit, user, len(everyone)), sums(np.ones(len(tests)), user, len(everyone))))
        own, counts = places_of([talks[place].user for place in tests])
        estimate = score(ratio(sums(hit, own, len(counts)), counts), counts.tolist(), scale=(0.0, 1.0))
        means = {name: float(np.mean([one[name] for one in values])) for name in METRICS}
        rows.append({"aspect": part.aspect, **_with_interval(means, len(tests), estimate)})
    if not used:
        return []
    counts = np.sum([below for _, below in hits], axis=0)

    def mean_hit(drawn: Array) -> Array:
        averaged: Array = np.mean([ratio(above, below)(drawn) for above, below in hits], axis=0)
        return averaged

    estimate = score(mean_hit, counts.tolist(), scale=(0.0, 1.0))
    means = {name: float(np.mean([row[name] for row in rows])) for name in METRICS}
    most = max(row["n"] for row in rows)
    return [{"aspect": "mean", **_with_interval(means, most, estimate)}, *rows]


def _users(talks: Sequence[ProfileTalk], tests: Sequence[int]) -> tuple[list[str], dict[str, int]]:
    names = sorted({talks[place].user for place in tests})
    return names, {name: place for place, name in enumerate(names)}


def _with_interval(means: Mapping[str, float], n: int, estimate: Estimate) -> dict[str, Any]:
    """The fields of a row, those of the interval beside hit@1."""
    row: dict[str, Any] = {"n": n, "users": estimate.groups}
    for name, value in means.items():
        row[name] = value
        if name == "hit_1":
            row |= {"low": estimate.low, "high": estimate.high}
    return {**row, "reason": estimate.reason}


def _metrics(truth: Array, scores: Array) -> dict[str, float]:
    metrics = of_extra("sklearn.metrics", "stats")
    predicted = scores >= THRESHOLD
    first, three = (_among_first(truth, scores, k) for k in (1, 3))
    f1 = {
        f"f1_{average}": float(metrics.f1_score(truth, predicted, average=average, zero_division=0))
        for average in ("micro", "macro", "weighted")
    }
    return {
        **f1,
        "exact": float((predicted == truth).all(axis=1).mean()),
        "hit_1": float((first > 0).mean()),
        "hit_3": float((three > 0).mean()),
        "recall_1": float(first.sum() / truth.sum()),
        "recall_3": float(three.sum() / truth.sum()),
    }


def _among_first(truth: Array, scores: Array, k: int) -> Array:
    """How many true options of each test are among the first k; equal scores by the vocabulary, one of 0 is never."""
    order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(truth & (scores > 0), order, axis=1).sum(axis=1)
