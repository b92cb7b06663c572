"""Folds of users, or of other groups that are held out together."""

from collections.abc import Hashable, Iterable, Sequence
from typing import TypeAlias, TypeVar

from ...data.identity import digest
from ...errors import DataError, of_extra

FOLDS = 5

Name = TypeVar("Name", bound=Hashable)
Fold: TypeAlias = tuple[list[int], list[int]]
"""Places of the items to learn from and of those to test."""


def in_turn(names: Iterable[Name], folds: int) -> dict[Name, int]:
    """The fold of each name, from 0, dealt out in their order: folds differ by one name at most."""
    return {name: number % folds for number, name in enumerate(names)}


def dealt(names: Sequence[Hashable], folds: int = FOLDS) -> tuple[int, ...]:
    """For each item the fold of its name, from 0.

    One name is in one fold, for any order of the items: names are dealt out in the order of their digests.
    """
    fold = in_turn(sorted(set(names), key=lambda name: digest("fold", name)), folds)
    return tuple(fold[name] for name in names)


def parts(folds: Sequence[int]) -> list[Fold]:
    """Places to learn from and to test, for each fold, by the fold of each item; -1 is never tested."""
    return [
        (
            [place for place, fold in enumerate(folds) if fold != number],
            [place for place, fold in enumerate(folds) if fold == number],
        )
        for number in range(max(folds) + 1)
    ]


def published(items: int) -> tuple[list[int], list[int]]:
    """A fifth of the items at random: `train_test_split(test_size=.2, random_state=42)` of scikit-learn (extra `stats`).

    The published scripts split so. DataError with fewer than five items.
    """
    if items < FOLDS:
        raise DataError(f"{items} items to split: the published split needs {FOLDS} or more")
    train, test = of_extra("sklearn.model_selection", "stats").train_test_split(
        range(items), test_size=0.2, random_state=42
    )
    return list(train), list(test)


def tested(folds: Sequence[Fold]) -> list[int]:
    """Places of the items that are tested, fold by fold."""
    return [place for _, test in folds for place in test]


def shared(names: Sequence[Hashable], folds: Sequence[Fold]) -> tuple[int, int]:
    """The number of tested items, and of those whose name is in training too."""
    count = 0
    for train, test in folds:
        learnt = {names[place] for place in train}
        count += sum(names[place] in learnt for place in test)
    return len(tested(folds)), count


def joined(pairs: Iterable[tuple[Name, Name]]) -> dict[Name, Name]:
    """For each name of the pairs the name of its group.

    A group is all that pairs join, directly or through others.
    """
    parent: dict[Name, Name] = {}

    def root(name: Name) -> Name:
        while parent.setdefault(name, name) != name:
            name = parent[name]
        return name

    for one, other in pairs:
        parent[root(other)] = root(one)
    return {name: root(name) for name in list(parent)}
