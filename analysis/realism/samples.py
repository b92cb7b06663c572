"""From transcripts to numbers: each measure's column, and the cells that are compared."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...data.identity import digest
from .cells import Cells, Floats, cells_of
from .measures import Label, Measure
from .measures.transcripts import UserTranscript


@dataclass(frozen=True)
class Sample:
    """The conversations of a side with the values of every measure."""

    transcripts: tuple[UserTranscript, ...]
    values: Floats
    """Conversation x measure; NaN where the measure is not defined for the conversation."""

    def where(self, chosen: Sequence[bool]) -> "Sample":
        """Some of the conversations; what was measured against the others of the side stays as it was."""
        kept = tuple(transcript for transcript, take in zip(self.transcripts, chosen, strict=True) if take)
        return Sample(kept, self.values[np.array(chosen, dtype=bool)])

    def without_conversations(self) -> "Sample":
        """An empty side of the same measures."""
        return Sample((), self.values[:0])


def measured(transcripts: Sequence[UserTranscript], measures: Sequence[Measure]) -> Sample:
    """The conversations with the value of each measure."""
    values = np.full((len(transcripts), len(measures)), np.nan)
    for column, measure in enumerate(measures):
        values[:, column] = [np.nan if value is None else float(value) for value in measure.of(transcripts)]
    return Sample(tuple(transcripts), values)


def labelled(transcripts: Sequence[UserTranscript], label: Label) -> Sample:
    """The conversations with the share of each value of the label; NaN where one does not carry it."""
    values = np.full((len(transcripts), len(label.values)), np.nan)
    for row, transcript in enumerate(transcripts):
        shares = label.shares(transcript)
        if shares is not None:
            values[row] = [shares.get(value, 0.0) for value in label.values]
    return Sample(tuple(transcripts), values)


def joined(sim: Sample, human: Sample) -> Cells:
    """The cells of both sides."""
    transcripts = (*sim.transcripts, *human.transcripts)
    sides = [True] * len(sim.transcripts) + [False] * len(human.transcripts)
    users = [(side, transcript.cluster) for side, transcript in zip(sides, transcripts, strict=True)]
    tasks = [transcript.task for transcript in transcripts]
    return cells_of(np.concatenate([sim.values, human.values]), users, tasks)


def generator(seed: int, *purpose: str | int) -> np.random.Generator:
    """Random numbers for one purpose: the same in any order and on any machine."""
    return np.random.default_rng(int(digest("realism", seed, *purpose)[:16], 16))
