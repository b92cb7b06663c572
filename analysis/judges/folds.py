"""Which turns are held out together: whole users, whole conversations, or turns at random as published."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ...data.identity import digest
from ...errors import DataError, of_extra
from .turns import JudgedTurn

HeldOut: TypeAlias = Literal["users", "conversations", "turns"]
FOLDS = 5


@dataclass(frozen=True)
class Split:
    """The turns that are tested, in folds; the model of a fold learns from all turns that are not in it."""

    held_out: HeldOut
    fold: tuple[int, ...]
    """For each turn its fold, from 0; -1 for a turn that is never tested."""

    def parts(self) -> Iterator[tuple[list[int], list[int]]]:
        """Places of the turns to learn from and of those to test, for each fold."""
        for number in range(max(self.fold) + 1):
            test = [place for place, fold in enumerate(self.fold) if fold == number]
            yield [place for place, fold in enumerate(self.fold) if fold != number], test

    @property
    def tested(self) -> list[int]:
        """Places of the turns that are tested."""
        return [place for place, fold in enumerate(self.fold) if fold >= 0]


def dealt(names: Sequence[Hashable], folds: int = FOLDS) -> tuple[int, ...]:
    """For each item the fold of its name, from 0: one name is in one fold, whatever the order of the items.

    Names are dealt out in the order of their digests, so that folds have equally many, give or take one.
    """
    ordered = sorted(set(names), key=lambda name: digest("fold", name))
    fold = {name: number % folds for number, name in enumerate(ordered)}
    return tuple(fold[name] for name in names)


def users_held_out(turns: Sequence[JudgedTurn], folds: int = FOLDS) -> Split:
    """All turns of a user in one fold. DataError with fewer than two users."""
    users = {turn.user for turn in turns}
    if len(users) < 2:
        raise DataError(
            f"{'one user says' if users else 'no user says'} how satisfied they are: "
            "users are held out from each other, so give the conversations of two or more"
        )
    return Split("users", dealt([turn.user for turn in turns], min(folds, len(users))))


def conversations_held_out(turns: Sequence[JudgedTurn], folds: int = FOLDS) -> Split:
    """All turns of a conversation in one fold; other conversations of the same user are learnt from."""
    names = [turn.id for turn in turns]  # path and place are others where a folder above or below is read
    return Split("conversations", dealt(names, min(folds, len(set(names)))))


def published(turns: Sequence[JudgedTurn]) -> Split:
    """A fifth of the turns at random: `train_test_split(test_size=.2, random_state=42)` of scikit-learn (extra `ml`).

    The published script "detection" splits so; `shared` says how many test turns are of conversations that were learnt
    from. DataError with fewer than five turns.
    """
    if len(turns) < FOLDS:
        raise DataError(f"{len(turns)} turns with a satisfaction: a split of turns needs {FOLDS} or more")
    split = of_extra("sklearn.model_selection", "ml").train_test_split
    _, test = split(range(len(turns)), test_size=0.2, random_state=42)
    chosen = set(test)
    return Split("turns", tuple(0 if place in chosen else -1 for place in range(len(turns))))


def shared(turns: Sequence[JudgedTurn], split: Split) -> int:
    """How many of the tested turns are of a conversation of which other turns are learnt from."""
    count = 0
    for train, test in split.parts():
        known = {turns[place].conversation for place in train}
        count += sum(turns[place].conversation in known for place in test)
    return count
