"""Prediction of users' profiles from their conversations, in the settings of "When Synthetic Meets Real".

A profile has options of closed vocabularies, one for each aspect. Options and translations are those of RecLLMSim's
`desc_translated.json`, by which people filled in their profiles and annotators labelled the simulated ones.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from ...data import domains
from ...data.people import whose
from ...data.recllmsim import ATTRIBUTES
from ...data.recllmsim.published_labels import closed_list
from ...data.recllmsim.tasks import TaskName, task_name
from ...data.records import Conversation, Role
from ...data.text.languages import Language
from ...errors import DataError, of_extra
from ..attempts import assistant_of
from ..estimates import ratio, score
from ..tables import TablesReport, table_of
from . import learning
from .judges import path_of
from .talks import own_profile

OTHERS = "Others"
ASPECTS = ("personality", "daily_interests", "travel_habits", "dining_preferences", "spending_habits")
"""Keys of the aspects, as in a person's profile."""
VOCABULARY: Mapping[str, tuple[str, ...]] = {aspect: closed_list(f"{aspect} en") or () for aspect in ASPECTS}
"""The options of each aspect in English, "Others" last."""

_OPTIONS = {
    aspect: {
        **dict(zip(closed_list(f"{aspect} zh") or (), options, strict=True)),
        **{option.casefold(): option for option in options},
    }
    for aspect, options in VOCABULARY.items()
}
_NAMES = {name.casefold(): aspect for aspect in ASPECTS for name in (aspect, f"profile_{aspect}", *ATTRIBUTES[aspect])}


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
HOT = 3
"""How many options are the most (`hot`), or the least (`cold`), frequent ones, as published."""
THRESHOLD = 0.5
"""An option with this score or more is predicted, for F1 and exact match, as published."""
STEP = 0.01
"""How much less the score of a ranked option is than that of the one before, as published."""
METRICS = ("f1_micro", "f1_macro", "f1_weighted", "exact", "hit_1", "hit_3", "recall_1", "recall_3")
_NUMBER_OR_TEXT = re.compile(r"(\d+)|(\D+)")


def option(aspect: str, value: object) -> str | None:
    """The English option of a value in either language or both; None if the vocabulary has no such option."""
    if isinstance(value, Mapping):
        return option(aspect, value.get("zh")) or option(aspect, value.get("en"))
    return _OPTIONS[aspect].get(value.strip().casefold()) if isinstance(value, str) else None


def options_in(profile: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """For each aspect that the profile has options of: these, each once, in the order of the profile."""
    found: dict[str, tuple[str, ...]] = {}
    for name, values in profile.items():
        if (aspect := _NAMES.get(str(name).strip().casefold())) is None:
            continue
        words = (option(aspect, value) for value in (values if isinstance(values, list) else [values]))
        if options := tuple(dict.fromkeys(word for word in words if word is not None)):
            found[aspect] = options
    return found


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
        return learning.words_in((text for _, text in self.messages), self.language)


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
        read = learning.messages_in(conversation, language)
        if own is None:
            why["have no structured profile (`profile` of the scenario, or the label `profile_mapped`)"] += 1
        elif not labels:
            why["have no option of the vocabulary in their profile"] += 1
        elif read is None:
            why[f"are not there in {language}"] += 1
        else:
            talks.append(
                ProfileTalk(
                    id=conversation.id,
                    path=path_of(conversation),
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
    folds: list[learning.Fold]
    truth: learning.Array

    @property
    def tested(self) -> list[int]:
        return [place for _, test in self.folds for place in test]


_Predicted: TypeAlias = tuple[list[int], list[learning.Array]]
"""Places of tested conversations, and by seed a score of each option for each of them, 0 to 1."""


def predict_profiles(
    tested: Sequence[ProfileTalk],
    other: Sequence[ProfileTalk] = (),
    models: learning.Models | None = None,
    scored: Mapping[str, Mapping[str, OptionScores]] | None = None,
    *,
    trainings: Sequence[Training] | None = None,
    mixture: Mixture | None = None,
    seeds: int = 2,
    watch: learning.Watch = lambda _: None,
) -> TablesReport:
    """Each model beside the label prior, which reads no conversation: the mean of the aspects, and each aspect.

    Args:
        tested: Conversations of the group whose profiles are predicted.
        other: Those of the other group: simulated users for people, or people for simulated users.
        models: Classifiers of scikit-learn by name; default: `models_of(learning.MODELS, options=True)`.
        scored: Scores by the id of the conversation, of chat models or people by name, who learn nothing. They count on
            the conversations that they have, beside the label prior of the same ones; without any aspect they are wrong.
        trainings: Default: `own`, and with `other` all of `TRAININGS`.
        mixture: Which options and conversations count.
        seeds: How many seeds a model is taught with, from 0, whose scores are averaged.
        watch: Called with a line on progress.

    Raises:
        DataError: No conversation, or too few users, with a profile.
    """
    if not tested:
        raise DataError("no conversation has a profile of the vocabulary in this language: give RecLLMSim's")
    mixture = mixture or Mixture()
    models = learning.models_of(learning.MODELS, options=True) if models is None else models
    talks = [*tested, *other]
    vectors = learning.vectors_of([talk.words for talk in talks] if models else [])
    trainings = trainings or (TRAININGS if other else ("own",))
    means: list[dict[str, Any]] = []
    aspects: list[dict[str, Any]] = []
    notes: list[str] = []
    for training in trainings:
        for split in learning.SPLITS:
            parts, missing = _parts(talks, len(tested), training, split, mixture)
            notes += missing
            known = learning.known_share([talk.user for talk in talks], [fold for part in parts for fold in part.folds])
            about = {"training": training, "split": split, "known": known}
            by_model = {PRIOR: [(part.tested, [_prior(part)]) for part in parts]}
            for name, model in models.items():
                watch(f"{training}, {split}: {name}")
                runs = range(seeds if learning.takes_seed(model) else 1)
                by_model[name] = [
                    (part.tested, [_learnt(learning.seeded(model, seed), part, vectors) for seed in runs])
                    for part in parts
                ]
            for name, given in (scored or {}).items():
                own, prior = zip(*(_given(part, talks, given) for part in parts), strict=True)
                if any(len(of) < len(part.tested) for (of, _), part in zip(own, parts, strict=True)):
                    by_model[f"{PRIOR}, where {name}"] = list(prior)
                by_model[name] = list(own)
            for name, predicted in by_model.items():
                for row in _rows(talks, parts, predicted):
                    (means if row["aspect"] == "mean" else aspects).append({**about, "model": name, **row})
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
    talks: Sequence[ProfileTalk], count: int, training: Training, split: learning.Split, mixture: Mixture
) -> tuple[list[_Part], list[str]]:
    """The aspects that can be predicted, and why others cannot; the first `count` conversations are the tested group."""
    parts: list[_Part] = []
    missing: list[str] = []
    for aspect in mixture.aspects:
        true = [mixture.options(talk, aspect) for talk in talks]
        having = [place for place, options in enumerate(true) if options]
        own, other = [place for place in having if place < count], [place for place in having if place >= count]
        try:
            of_folds = _folds(talks, own, other, true, training, split, aspect)
        except DataError as error:
            missing.append(f"{aspect} is not predicted: {error}")
            continue
        options = [name for name in VOCABULARY[aspect] if mixture.others or name != OTHERS]
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
    split: learning.Split,
    aspect: str,
) -> list[learning.Fold]:
    if training != "own" and not other:
        raise DataError("no conversation of the other group has a profile with it")
    ordered = sorted(own, key=lambda place: _file_order(talks[place])) if split == "published" else own
    within = [
        ([ordered[at] for at in train], [ordered[at] for at in test])
        for train, test in learning.folds_of([talks[place].user for place in ordered], split)
    ]
    if training == "own":
        return within
    if (
        training == "other"
        and split == "users"
        and not {talks[place].user for place in own} & {talks[place].user for place in other}
    ):
        return [(other, own)]
    made: list[learning.Fold] = []
    for train, test in within:
        held_out = {talks[place].user for place in test} if split == "users" else set()
        further = [place for place in other if talks[place].user not in held_out]
        if training in ("hot", "cold"):
            counts = Counter(name for place in train for name in true[place])
            order = sorted(
                (name for name in VOCABULARY[aspect] if name != OTHERS), key=lambda name: (-counts[name], name)
            )
            chosen = set(order[:HOT] if training == "hot" else order[-HOT:])
            further = [place for place in further if chosen & set(true[place])]
        made.append((further if training == "other" else train + further, test))
    if not all(train for train, _ in made):
        raise DataError("every conversation to train on is of the tested users: add conversations of other users")
    return made


def _file_order(talk: ProfileTalk) -> tuple[bool, list[tuple[int, str]]]:
    """Key of the published order: numbers in names of files and folders count as numbers, unnamed assistants first.

    Only user, task and file count, not the folders above them; conversations without a file are all equal.
    """
    names = "/".join(talk.path.split("/")[-3:]) if talk.path != talk.id else ""
    return bool(talk.assistant), [(int(digits or -1), text) for digits, text in _NUMBER_OR_TEXT.findall(names)]


def _prior(part: _Part) -> learning.Array:
    """The share of the training conversations that have each option."""
    return np.concatenate([np.tile(part.truth[train].mean(axis=0), (len(test), 1)) for train, test in part.folds])


def _learnt(model: Any, part: _Part, vectors: Callable[..., tuple[Any, Any]]) -> learning.Array:
    """The scores by a model of words; options that all or none have in training are predicted so, and not learnt."""
    found = []
    for train, test in part.folds:
        scores = np.tile(part.truth[train].mean(axis=0), (len(test), 1))
        varied = np.flatnonzero((scores[0] > 0) & (scores[0] < 1))
        if len(varied):
            learnt, asked = vectors(tuple(train), tuple(test))
            target = part.truth[np.ix_(np.array(train), varied)]
            shares = learning.fitted(model, learnt, target if len(varied) > 1 else target[:, 0]).predict_proba(asked)
            if isinstance(shares, list):  # a forest gives a table for each option
                shares = np.column_stack([one[:, 1] for one in shares])
            scores[:, varied] = shares if len(varied) > 1 else shares[:, 1:]
        found.append(scores)
    return np.concatenate(found)


def _given(
    part: _Part, talks: Sequence[ProfileTalk], scored: Mapping[str, OptionScores]
) -> tuple[_Predicted, _Predicted]:
    """The scores that were given, options that are not named have 0; and the label prior where there are such scores."""
    prior, tested = _prior(part), part.tested
    rows = []
    for number, place in enumerate(tested):
        of_aspects = scored.get(talks[place].id)
        if of_aspects is not None and (part.aspect in of_aspects or not of_aspects):
            points = of_aspects.get(part.aspect, {})
            rows.append((number, [points.get(name, 0.0) for name in part.options]))
    tests, numbers = [tested[number] for number, _ in rows], [number for number, _ in rows]
    return (tests, [np.array([points for _, points in rows])]), (tests, [prior[numbers]])


def _rows(
    talks: Sequence[ProfileTalk], parts: Sequence[_Part], predicted: Sequence[_Predicted]
) -> list[dict[str, Any]]:
    """The metrics of each aspect and of their mean, averaged over seeds; hit@1 with its interval."""
    user, everyone = learning.places_of([talk.user for talk in talks])
    rows: list[dict[str, Any]] = []
    hits: list[tuple[learning.Array, learning.Array]] = []
    for part, (tests, by_seed) in zip(parts, predicted, strict=True):
        if tests:
            truth = part.truth[tests]
            values = [_metrics(truth, scores) for scores in by_seed]
            means = {name: float(np.mean([one[name] for one in values])) for name in METRICS}
            hit = np.mean([_among_first(truth, scores, 1) > 0 for scores in by_seed], axis=0)
            of_users = (np.bincount(user[tests], weights, minlength=len(everyone)) for weights in (hit, None))
            hits.append((next(of_users), next(of_users)))
            rows.append(_row(part.aspect, len(tests), means, hits[-1:]))
    if not rows:
        return []
    means = {name: float(np.mean([row[name] for row in rows])) for name in METRICS}
    return [_row("mean", max(row["n"] for row in rows), means, hits), *rows]


def _row(
    aspect: str, n: int, means: Mapping[str, float], hits: Sequence[tuple[learning.Array, learning.Array]]
) -> dict[str, Any]:
    """A row; `hits`: of each aspect the hits and the tests of each user."""
    counts = np.sum([tests for _, tests in hits], axis=0)
    there = counts > 0

    def mean_hit(drawn: learning.Array) -> learning.Array:
        averaged: learning.Array = np.mean([ratio(above[there], of[there])(drawn) for above, of in hits], axis=0)
        return averaged

    found = score(mean_hit, counts[there].tolist(), scale=(0.0, 1.0))
    row: dict[str, Any] = {"aspect": aspect, "n": n, "users": found.groups}
    for name, value in means.items():
        row |= {name: value, **({"low": found.low, "high": found.high} if name == "hit_1" else {})}
    return {**row, "reason": found.reason}


def _metrics(truth: learning.Array, scores: learning.Array) -> dict[str, float]:
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


def _among_first(truth: learning.Array, scores: learning.Array, k: int) -> learning.Array:
    """How many true options of each test are among the first k; equal scores by the vocabulary, one of 0 is never."""
    order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(truth & (scores > 0), order, axis=1).sum(axis=1)
