"""Training and test items: whole users held out, items at random, or as published."""

from collections.abc import Sequence
from typing import Literal, TypeAlias

from ....errors import DataError
from ...over_users import folds
from ...over_users.folds import FOLDS, Fold, dealt

SplitName: TypeAlias = Literal["users", "published"]
AnySplit: TypeAlias = Literal["users", "published", "conversations"]
"""`conversations`: five folds of conversations, without regard to their users. It leaks like the published split, but
tests each conversation once, as `users` does, so the two can be compared test by test."""


def parts(users: Sequence[str], split: SplitName) -> list[Fold]:
    """Places to learn from and to test, of items by their users. DataError if there are too few."""
    if split == "published":
        return [folds.published(len(users))]
    names = len(set(users))
    if names < 2:
        raise DataError(
            f"{names} user{'' if names == 1 else 's'}: users are held out from each other, so give two or more"
        )
    return held_out(users)


def held_out(names: Sequence[str]) -> list[Fold]:
    """Five folds, or fewer, each of which tests the items of a fifth of the names.

    Each item is tested once.
    """
    return folds.parts(dealt(names, min(FOLDS, len(set(names)))))
