"""From speeches to numbers: each measure's column, and the cells that are compared."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...data.identity import digest
from .contrast import Cells, Floats, cells_of
from .measures import Label, Measure
from .speech import Speech


@dataclass(frozen=True)
class Side:
    """The conversations of a side with the values of every measure, a column each."""

    speeches: tuple[Speech, ...]
    values: Floats

    def where(self, chosen: Sequence[bool]) -> "Side":
        """Some of the conversations; what was measured against the others of the side stays as it was."""
        kept = tuple(speech for speech, take in zip(self.speeches, chosen, strict=True) if take)
        return Side(kept, self.values[np.array(chosen, dtype=bool)])


def measured(speeches: Sequence[Speech], measures: Sequence[Measure]) -> Side:
    """The side with a column for each measure, NaN where a conversation does not tell."""
    values = np.full((len(speeches), len(measures)), np.nan)
    for column, measure in enumerate(measures):
        values[:, column] = [np.nan if value is None else float(value) for value in measure.of(speeches)]
    return Side(tuple(speeches), values)


def shares(speeches: Sequence[Speech], label: Label) -> Floats:
    """A row for each conversation, a column for each value of the label; NaN where it has not the label."""
    values = np.full((len(speeches), len(label.values)), np.nan)
    for row, speech in enumerate(speeches):
        told = label.shares(speech)
        if told is not None:
            values[row] = [told.get(value, 0.0) for value in label.values]
    return values


def joined(sim: Side, human: Side) -> Cells:
    """The cells of both sides."""
    speeches = (*sim.speeches, *human.speeches)
    sides = [True] * len(sim.speeches) + [False] * len(human.speeches)
    users = [(side, speech.cluster) for side, speech in zip(sides, speeches, strict=True)]
    return cells_of(np.concatenate([sim.values, human.values]), users, [speech.task for speech in speeches])


def chance(seed: int, *purpose: str | int) -> np.random.Generator:
    """A generator for one purpose: the same in any order and on any machine."""
    return np.random.default_rng(int(digest("realism", seed, *purpose)[:16], 16))
