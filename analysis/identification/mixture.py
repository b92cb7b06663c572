"""The settings of the published experiment: whose conversations are learnt from, and whose are tested."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

from ...data.identity import digest
from ...data.recllmsim.task_names import TaskName
from ...errors import DataError, SettingError
from .settings import AnySplit, Fold, held_out, parts
from .talks import ProfileTalk, Side
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
"""The published pairs of an aspect and the task whose conversations may tell it."""

TOP = 3
"""Most, or least, frequent options that simulated conversations are restricted to: the published default."""


@dataclass(frozen=True)
class Mixture:
    """Which conversations are taken. See `folds_of`."""

    setting: Setting = "human"
    split: AnySplit = "users"
    ratio: float | None = None
    """Of `sim4human`: simulated conversations for each of people that is learnt from; None: all there are."""
    others: bool = True
    """False: the option "Others" is taken away, and with it conversations that have no other."""
    labels: Frequent | None = None
    """Of `sim4human`: only simulated conversations with one of the options that are most or least frequent in people's
    conversations that are learnt from; one that nobody has is the least frequent."""
    top: int = TOP
    pairs: bool = False
    """Only the four aspects of `PAIRS`, each from conversations about its task."""
    fifth: bool = False
    """Of `sim2human` and `human2sim`: test only the fifth that the published split of that side tests."""

    def __post_init__(self) -> None:
        if self.setting != "sim4human" and (self.ratio is not None or self.labels is not None):
            raise SettingError(f"setting {self.setting}: a ratio or hot and cold labels are for sim4human alone")
        if self.ratio is not None and not 0 <= self.ratio < 1e6:
            raise SettingError(f"ratio {self.ratio}: give simulated conversations for each of people's, 0 or more")
        if self.fifth and not self.across:
            raise SettingError(f"setting {self.setting}: only of sim2human and human2sim a fifth can be tested")

    @property
    def across(self) -> bool:
        """Whether one side is learnt from, and the other tested."""
        return self.setting in ("sim2human", "human2sim")

    @property
    def two_sides(self) -> bool:
        """Whether others than those of the tested side are learnt from."""
        return self.across or self.setting == "sim4human"

    @property
    def aspects(self) -> tuple[str, ...]:
        """The aspects that are told."""
        return tuple(aspect for aspect in ASPECTS if not self.pairs or aspect in PAIRS)


def true_options(talk: ProfileTalk, aspect: str, mixture: Mixture) -> tuple[str, ...]:
    """The options that count; none where the conversation is left out."""
    if mixture.pairs and (PAIRS.get(aspect) != ("travel" if talk.task == "new_travel" else talk.task)):
        return ()
    return tuple(each for each in talk.labels.get(aspect, ()) if mixture.others or each != OTHERS)


def folds_of(talks: Sequence[ProfileTalk], aspect: str, mixture: Mixture, *, seed: int = 0) -> list[Fold]:
    """What is learnt from and what is tested, fold by fold, for one aspect.

    `users`: five folds of whole users, each tested once; `conversations`: of conversations; `published`: one,
    `train_test_split(test_size=.2, random_state=42)` over conversations. Where one side is learnt from and the other
    tested there is one fold, of all; by users, where a tested person's profile was simulated too, there are five, and
    what was simulated on it is not learnt from.
    DataError if a side has no conversations, or too few to part.
    """
    of: dict[Side, list[int]] = {"simulated": [], "people": []}
    for place, talk in enumerate(talks):
        if true_options(talk, aspect, mixture):
            of[talk.side].append(place)
    needed: tuple[Side, ...] = {"sim": ("simulated",), "human": ("people",)}.get(
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
        sides: tuple[Side, Side] = (
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
    """The folds of one side."""
    if split == "conversations":
        folds = held_out([f"{talks[place].path} {talks[place].id}" for place in own])
    else:
        folds = parts([talks[place].user for place in own], split)
    return [([own[place] for place in train], [own[place] for place in test]) for train, test in folds]


def _across(talks: Sequence[ProfileTalk], learnt: list[int], asked: list[int], mixture: Mixture) -> list[Fold]:
    """One side to learn from, the other to test."""
    if mixture.fifth:
        asked = [place for _, test in _within(talks, asked, "published") for place in test]
    users = {talks[place].user for place in asked}
    if mixture.split != "users" or len(users) < 2 or not any(talks[place].user in users for place in learnt):
        return [(_others(talks, learnt, asked) if mixture.split == "users" else learnt, asked)]
    return [(_others(talks, learnt, test), test) for _, test in _within(talks, asked, "users")]


def _others(talks: Sequence[ProfileTalk], learnt: list[int], asked: Sequence[int]) -> list[int]:
    """Those to learn from whose user is not tested."""
    users = {talks[place].user for place in asked}
    kept = [place for place in learnt if talks[place].user not in users]
    if not kept:
        raise DataError("all that can be learnt from is of the users who are tested: add conversations of others")
    return kept


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
        told = Counter(option for place in train for option in true_options(talks[place], aspect, mixture))
        counts = {option: told[option] for option in VOCABULARY[aspect] if option != OTHERS}
        wanted = frequent(counts, mixture.labels, mixture.top)
        taken = [place for place in taken if wanted & set(true_options(talks[place], aspect, mixture))]
    if mixture.ratio is None:
        return taken
    drawn = sorted(taken, key=lambda place: digest("mixture", seed, talks[place].path, talks[place].id))
    return drawn[: int(mixture.ratio * len(train))]


def told_aspects(
    talks: Sequence[ProfileTalk], mixture: Mixture, *, seed: int = 0
) -> tuple[dict[str, list[Fold]], list[str]]:
    """The folds of each aspect that can be told, and why others cannot. DataError if none can."""
    found: dict[str, list[Fold]] = {}
    why: dict[str, DataError] = {}
    for aspect in mixture.aspects:
        try:
            found[aspect] = folds_of(talks, aspect, mixture, seed=seed)
        except DataError as error:
            why[aspect] = error
    if not found:
        raise next(iter(why.values()))
    return found, [f"{aspect} is not told: {error}" for aspect, error in why.items()]


def places_tested(
    talks: Sequence[ProfileTalk], mixture: Mixture, splits: Sequence[AnySplit], *, seed: int = 0
) -> list[int]:
    """Places of the conversations that are tested in any split and aspect: of no other a ranker need be asked."""
    return sorted({
        place
        for split in splits
        for folds in told_aspects(talks, replace(mixture, split=split), seed=seed)[0].values()
        for _, test in folds
        for place in test
    })  # fmt: skip
