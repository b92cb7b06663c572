"""The settings of the published experiment: whose conversations are for training, and whose are tested."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

from ....data.identity import digest
from ....data.recllmsim.tasks import TaskName
from ....errors import DataError, SettingError
from ...over_users.folds import Fold
from .settings import AnySplit, held_out, parts
from .talks import IdentifiedSide, ProfileTalk
from .vocabulary import ASPECTS, OTHERS, VOCABULARY

Setting: TypeAlias = Literal["sim", "human", "sim2human", "human2sim", "sim4human"]
SETTINGS: tuple[Setting, ...] = get_args(Setting)
Frequent: TypeAlias = Literal["hot", "cold", "both"]

PAIRS: Mapping[str, TaskName] = {
    "travel_habits": "travel",
    "dining_preferences": "recipe",
    "spending_habits": "gifts",
    "daily_interests": "skills",
}
"""The published pairs of an aspect and the task whose conversations may reveal it."""

TOP = 3
"""Most, or least, frequent options that simulated conversations are restricted to: the published default."""


@dataclass(frozen=True)
class Mixture:
    """The choice of conversations to learn from and to test; see `folds_of`."""

    setting: Setting = "human"
    split: AnySplit = "users"
    ratio: float | None = None
    """Of `sim4human`: simulated conversations for each conversation of people in training; None: all."""
    others: bool = True
    """False: the option "Others" is taken away, and with it conversations that have no other."""
    labels: Frequent | None = None
    """Of `sim4human`: only simulated conversations with one of the most or least frequent options of people's
    conversations in training; an option that no person has is the least frequent."""
    top: int = TOP
    pairs: bool = False
    """Only the four aspects of `PAIRS`, each from conversations about its task."""
    fifth: bool = False
    """Of `sim2human` and `human2sim`: test only the fifth that the published split of that side tests."""

    def __post_init__(self) -> None:
        if self.setting != "sim4human" and (self.ratio is not None or self.labels is not None):
            raise SettingError(f"setting {self.setting}: a ratio or hot and cold labels are only for sim4human")
        if self.ratio is not None and not 0 <= self.ratio < 1e6:
            raise SettingError(f"ratio {self.ratio}: give simulated conversations for each of people's, 0 or more")
        if self.fifth and not self.across:
            raise SettingError(f"setting {self.setting}: only sim2human and human2sim can test a fifth")

    @property
    def across(self) -> bool:
        """Whether one group is for training, and the other tested."""
        return self.setting in ("sim2human", "human2sim")

    @property
    def two_sides(self) -> bool:
        """Whether conversations of the other group are in training."""
        return self.across or self.setting == "sim4human"

    @property
    def aspects(self) -> tuple[str, ...]:
        """The aspects that are predicted."""
        return tuple(aspect for aspect in ASPECTS if not self.pairs or aspect in PAIRS)


_NUMBER_OR_TEXT = re.compile(r"(\d+)|(\D+)")


def true_options(talk: ProfileTalk, aspect: str, mixture: Mixture) -> tuple[str, ...]:
    """The options that count; none where the conversation is left out."""
    if mixture.pairs and (PAIRS.get(aspect) != ("travel" if talk.task == "new_travel" else talk.task)):
        return ()
    return tuple(name for name in talk.labels.get(aspect, ()) if mixture.others or name != OTHERS)


def folds_of(talks: Sequence[ProfileTalk], aspect: str, mixture: Mixture, *, seed: int = 0) -> list[Fold]:
    """Training and test conversations, fold by fold, for one aspect.

    - `users`: five folds of whole users, each tested once;
    - `conversations`: five folds of conversations;
    - `published`: one fold, `train_test_split(test_size=.2, random_state=42)` over conversations in the numeric order
      of their files, those without an assistant's name first.

    If one side is trained on and the other tested, there is one fold, of all. By users, where a tested person's profile
    was simulated too, there are five. Conversations that were simulated on the profile are then not trained on.
    DataError if a side has no conversations, or too few to part.
    """
    of: dict[IdentifiedSide, list[int]] = {"simulated": [], "people": []}
    for place, talk in enumerate(talks):
        if true_options(talk, aspect, mixture):
            of[talk.side].append(place)
    needed: tuple[IdentifiedSide, ...] = {"sim": ("simulated",), "human": ("people",)}.get(
        mixture.setting, ("simulated", "people")
    )  # type: ignore[assignment]
    for side in needed:
        if not of[side]:
            whom = "simulated users" if side == "simulated" else "people"
            about = f" about {PAIRS[aspect]}" if mixture.pairs else ""
            raise DataError(
                f"setting {mixture.setting}: no conversation{about} of {whom} has a profile with {aspect}: add them"
            )
    if mixture.across:
        sides: tuple[IdentifiedSide, IdentifiedSide] = (
            ("simulated", "people") if mixture.setting == "sim2human" else ("people", "simulated")
        )
        return _across(talks, of[sides[0]], of[sides[1]], mixture)
    own = of["simulated"] if mixture.setting == "sim" else of["people"]
    folds = _within(talks, own, mixture.split)
    if mixture.setting != "sim4human":
        return folds
    return [
        (train + _mixed_in(talks, of["simulated"], train, test, aspect, mixture, seed), test) for train, test in folds
    ]


def _within(talks: Sequence[ProfileTalk], own: Sequence[int], split: AnySplit) -> list[Fold]:
    if split == "conversations":
        folds = held_out([f"{talks[place].path} {talks[place].id}" for place in own])
    else:
        own = sorted(own, key=lambda place: _file_order(talks[place])) if split == "published" else own
        folds = parts([talks[place].user for place in own], split)
    return [([own[place] for place in train], [own[place] for place in test]) for train, test in folds]


def _file_order(talk: ProfileTalk) -> tuple[bool, list[tuple[int, str]]]:
    """Key of the published order: numbers in names of files and folders count as numbers.

    Only user, task and file count, not the folders above them; conversations without a file are all equal.
    """
    names = "/".join(talk.path.split("/")[-3:]) if talk.path != talk.id else ""
    pieces = _NUMBER_OR_TEXT.findall(names)
    return bool(talk.assistant), [(int(digits or -1), other) for digits, other in pieces]


def _across(talks: Sequence[ProfileTalk], learnt: list[int], tested: list[int], mixture: Mixture) -> list[Fold]:
    if mixture.fifth:
        tested = [place for _, test in _within(talks, tested, "published") for place in test]
    users = {talks[place].user for place in tested}
    if mixture.split != "users" or len(users) < 2 or not any(talks[place].user in users for place in learnt):
        return [(_others(talks, learnt, tested) if mixture.split == "users" else learnt, tested)]
    return [(_others(talks, learnt, test), test) for _, test in _within(talks, tested, "users")]


def _others(talks: Sequence[ProfileTalk], learnt: list[int], tested: Sequence[int]) -> list[int]:
    """Those to learn from whose user is not tested."""
    users = {talks[place].user for place in tested}
    others = [place for place in learnt if talks[place].user not in users]
    if not others:
        raise DataError("every conversation to train on is of the tested users: add conversations of other users")
    return others


def frequent(counts: Mapping[str, int], labels: Frequent, top: int) -> set[str]:
    """The most, the least, or the most and the least frequent of the options that are counted."""
    ordered = sorted(counts, key=lambda name: (-counts[name], name))
    hot, cold = set(ordered[:top]), set(ordered[-top:] if top else ())
    return {"hot": hot, "cold": cold, "both": hot | cold}[labels]


def _mixed_in(
    talks: Sequence[ProfileTalk],
    simulated: list[int],
    train: list[int],
    test: list[int],
    aspect: str,
    mixture: Mixture,
    seed: int,
) -> list[int]:
    """The simulated conversations that are learnt from beside people's, drawn by digest."""
    taken = simulated
    if mixture.split == "users":
        tested = {talks[place].user for place in test}
        taken = [place for place in simulated if talks[place].user not in tested]
    if mixture.labels is not None:
        occurrences = Counter(option for place in train for option in true_options(talks[place], aspect, mixture))
        counts = {option: occurrences[option] for option in VOCABULARY[aspect] if option != OTHERS}
        chosen = frequent(counts, mixture.labels, mixture.top)
        taken = [place for place in taken if chosen & set(true_options(talks[place], aspect, mixture))]
    if mixture.ratio is None:
        return taken
    drawn = sorted(taken, key=lambda place: digest("mixture", seed, talks[place].path, talks[place].id))
    return drawn[: int(mixture.ratio * len(train))]


def told_aspects(
    talks: Sequence[ProfileTalk], mixture: Mixture, *, seed: int = 0
) -> tuple[dict[str, list[Fold]], list[str]]:
    """The folds of each aspect that can be predicted, and why others cannot. DataError if none can."""
    folds: dict[str, list[Fold]] = {}
    why: dict[str, DataError] = {}
    for aspect in mixture.aspects:
        try:
            folds[aspect] = folds_of(talks, aspect, mixture, seed=seed)
        except DataError as error:
            why[aspect] = error
    if not folds:
        raise next(iter(why.values()))
    return folds, [f"{aspect} is not predicted: {error}" for aspect, error in why.items()]


def places_tested(
    talks: Sequence[ProfileTalk], mixture: Mixture, splits: Sequence[AnySplit], *, seed: int = 0
) -> list[int]:
    """Places of the conversations that are tested in any split and aspect; a ranker needs no other."""
    return sorted({
        place
        for split in splits
        for folds in told_aspects(talks, replace(mixture, split=split), seed=seed)[0].values()
        for _, test in folds
        for place in test
    })  # fmt: skip
