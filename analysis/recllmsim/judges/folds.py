"""Turns that are held out together: whole users, whole conversations, or turns at random as published."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ....errors import DataError
from ...over_users import folds
from ...over_users.folds import FOLDS, Fold, dealt, parts
from .turns import JudgedTurn

HeldOut: TypeAlias = Literal["users", "conversations", "turns"]


@dataclass(frozen=True)
class Split:
    """The tested turns, in folds. The model of a fold learns from all turns that are not in it."""

    held_out: HeldOut
    fold: tuple[int, ...]
    """For each turn its fold, from 0; -1 for a turn that is never tested."""

    def parts(self) -> list[Fold]:
        """Places of the turns to learn from and of those to test, for each fold."""
        return parts(self.fold)

    @property
    def tested(self) -> list[int]:
        """Places of the turns that are tested."""
        return [place for place, fold in enumerate(self.fold) if fold >= 0]


def users_held_out(turns: Sequence[JudgedTurn]) -> Split:
    """All turns of a user in one fold. DataError with fewer than two users."""
    users = {turn.user for turn in turns}
    if len(users) < 2:
        raise DataError(
            f"{'one user says' if users else 'no user says'} how satisfied they are: "
            "users are held out from each other, so give the conversations of two or more"
        )
    return Split("users", dealt([turn.user for turn in turns], min(FOLDS, len(users))))


def conversations_held_out(turns: Sequence[JudgedTurn]) -> Split:
    """All turns of a conversation in one fold; other conversations of the same user are in training."""
    names = [turn.id for turn in turns]  # path and place are others where a folder above or below is read
    return Split("conversations", dealt(names, min(FOLDS, len(set(names)))))


def published(turns: Sequence[JudgedTurn]) -> Split:
    """A fifth of the turns at random, as the published script "detection" splits (`folds.published`).

    `shared` counts the test turns of conversations that were trained on. DataError with fewer than five turns.
    """
    chosen = set(folds.published(len(turns))[1])
    return Split("turns", tuple(0 if place in chosen else -1 for place in range(len(turns))))
