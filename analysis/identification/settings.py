"""How items are parted into those to learn from and those to test: whole users, items at random, or as published."""

from collections.abc import Sequence
from typing import Literal, TypeAlias

from ...errors import DataError, of_extra
from ..judges.folds import FOLDS, dealt

SplitName: TypeAlias = Literal["users", "published"]
AnySplit: TypeAlias = Literal["users", "published", "conversations"]
"""`conversations`: five folds of conversations, whoever their users are: as leaky as the published split, and each is
tested once, as by users, so that the two can be compared test by test."""
Fold: TypeAlias = tuple[list[int], list[int]]
"""Places of the items to learn from and of those to test."""

PUBLISHED_SEED = 42
TEST_SHARE = 0.2


def parts(users: Sequence[str], split: SplitName) -> list[Fold]:
    """Places to learn from and to test, of items by their users. DataError if there are too few."""
    if split == "published":
        if len(users) < FOLDS:
            raise DataError(f"{len(users)} to part: the published split needs {FOLDS} or more")
        model_selection = of_extra("sklearn.model_selection", "ml")
        train, test = model_selection.train_test_split(
            range(len(users)), test_size=TEST_SHARE, random_state=PUBLISHED_SEED
        )
        return [(list(train), list(test))]
    names = len(set(users))
    if names < 2:
        raise DataError(
            f"{names} user{'' if names == 1 else 's'}: users are held out from each other, so give two or more"
        )
    return held_out(users)


def held_out(names: Sequence[str]) -> list[Fold]:
    """Five folds, or fewer, in each of which the items of a fifth of the names are tested; each item is tested once."""
    fold = dealt(names, min(FOLDS, len(set(names))))
    return [
        ([place for place, own in enumerate(fold) if own != number], [place for place, own in enumerate(fold) if own == number])
        for number in range(max(fold) + 1)
    ]  # fmt: skip


def shared_users(users: Sequence[str], folds: Sequence[Fold]) -> tuple[int, int]:
    """How many are tested, and how many of them are of a user who is learnt from too."""
    count = known_count = 0
    for train, test in folds:
        known = {users[place] for place in train}
        count += len(test)
        known_count += sum(users[place] in known for place in test)
    return count, known_count
