"""From transcripts to numbers: each measure's column, and the cells that are compared."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ....data.identity import digest
from ..measures import LabelMeasure, Measure
from ..measures.measure import DerivedValues
from ..measures.others import Parts, shared_with_others
from ..measures.transcripts import UserTranscript
from .cells import Cells, Floats, cells_of

_AT_A_TIME = 200
"""Conversations whose words are in memory at a time."""


@dataclass(frozen=True)
class MeasuredUsers:
    """The conversations of a side with the values of every measure."""

    transcripts: tuple[UserTranscript, ...]
    values: Floats
    """Conversation x measure; NaN where the measure is not defined for the conversation."""
    further_strata: tuple[str, ...] = ()
    """What conversations of both sides must have in common beside the task to be compared; empty, or one for each."""

    @property
    def strata(self) -> list[str]:
        """What conversations of both sides must have in common to be compared."""
        further = self.further_strata or ("",) * len(self.transcripts)
        return [f"{one.task}\n{more}" for one, more in zip(self.transcripts, further, strict=True)]

    @property
    def within(self) -> str:
        """The name of the strata."""
        return "task and assistant" if self.further_strata else "task"

    def where(self, chosen: Sequence[bool]) -> "MeasuredUsers":
        """Some of the conversations; values measured against the others of the side stay as they were."""
        transcripts = tuple(transcript for transcript, take in zip(self.transcripts, chosen, strict=True) if take)
        further = tuple(stratum for stratum, take in zip(self.further_strata, chosen, strict=False) if take)
        return MeasuredUsers(transcripts, self.values[np.array(chosen, dtype=bool)], further)

    def columns(self, chosen: Sequence[int]) -> "MeasuredUsers":
        """The side with some of the measures."""
        return replace(self, values=self.values[:, list(chosen)])

    def by_assistant(self) -> "MeasuredUsers":
        """The side with each conversation's assistant in what both sides must have in common."""
        return replace(self, further_strata=tuple(transcript.assistant for transcript in self.transcripts))

    @property
    def clusters(self) -> list[str]:
        """The users by name, in order."""
        return sorted({transcript.cluster for transcript in self.transcripts})

    @property
    def users(self) -> dict[str, int]:
        """Number of users of each task."""
        by_task: dict[str, set[str]] = defaultdict(set)
        for transcript in self.transcripts:
            by_task[transcript.task].add(transcript.cluster)
        return {task: len(users) for task, users in by_task.items()}


def measured(
    transcripts: Sequence[UserTranscript], measures: Sequence[Measure], *, among_others: bool = True
) -> MeasuredUsers:
    """The conversations with the value of each measure; without `among_others` those that `levelled` gives are left out."""
    values = np.full((len(transcripts), len(measures)), np.nan)
    alone = [measure.parts is None and isinstance(measure.of, DerivedValues) for measure in measures]
    # A block after the other, as the words of a conversation take as much memory as the conversation.
    for start in range(0, len(transcripts), _AT_A_TIME):
        block = transcripts[start : start + _AT_A_TIME]
        for column, measure in enumerate(measures):
            if alone[column]:
                values[start : start + _AT_A_TIME, column] = _numbers(measure.values(block))
        for transcript in block:
            transcript.forget_words()
    for column, measure in enumerate(measures):
        if not alone[column] and (among_others or not measure.pairwise):
            values[:, column] = _numbers(measure.values(transcripts))
    return MeasuredUsers(tuple(transcripts), values)


def labelled(side: MeasuredUsers, label: LabelMeasure) -> MeasuredUsers:
    """The conversations with the share of each value of the label; NaN where one does not carry it."""
    values = np.full((len(side.transcripts), len(label.values)), np.nan)
    for row, transcript in enumerate(side.transcripts):
        shares = label.shares(transcript)
        if shares is not None:
            values[row] = [shares.get(value, 0.0) for value in label.values]
    return replace(side, values=values)


def levelled(
    sim: MeasuredUsers, human: MeasuredUsers, measures: Sequence[Measure]
) -> tuple[MeasuredUsers, MeasuredUsers]:
    """The sides with what is measured against others of the side measured against equally many on both.

    The mean over few others is coarser than that over many, so that ranks would differ where nothing else does.
    """
    of_human = human.users
    others = {task: min(count, of_human.get(task, 0)) - 1 for task, count in sim.users.items()}
    return _among(sim, measures, others), _among(human, measures, others)


def _among(side: MeasuredUsers, measures: Sequence[Measure], others: dict[str, int]) -> MeasuredUsers:
    values = side.values.copy()
    parts: dict[int, Parts] = {}
    for column, measure in enumerate(measures):
        if measure.parts is not None and isinstance(measure.of, DerivedValues):
            parts[column] = measure.parts
        elif measure.pairwise:
            values[:, column] = _numbers(measure.values(side.transcripts, others))
    # Together, as drawing the others takes longer than looking the parts up in them.
    shared = shared_with_others(side.transcripts, list(parts.values()), others)
    for column, of_measure in zip(parts, shared, strict=True):
        values[:, column] = _numbers(of_measure)
    return replace(side, values=values)


def joined(sim: MeasuredUsers, human: MeasuredUsers) -> Cells:
    """The cells of both sides."""
    transcripts = (*sim.transcripts, *human.transcripts)
    sides = [True] * len(sim.transcripts) + [False] * len(human.transcripts)
    users = [(side, transcript.cluster) for side, transcript in zip(sides, transcripts, strict=True)]
    return cells_of(np.concatenate([sim.values, human.values]), users, [*sim.strata, *human.strata])


def alone(side: MeasuredUsers) -> Cells:
    """The cells of one side, as people."""
    return joined(MeasuredUsers((), side.values[:0]), side)


def tasks_of(*sides: MeasuredUsers) -> list[str]:
    """The task of each conversation, in the order of the sides."""
    return [transcript.task for side in sides for transcript in side.transcripts]


def _numbers(values: Sequence[float | None]) -> list[float]:
    return [np.nan if value is None else float(value) for value in values]


def generator(seed: int, *purpose: str | int) -> np.random.Generator:
    """Random numbers for one purpose: the same in any order and on any machine."""
    return np.random.default_rng(int(digest("realism", seed, *purpose)[:16], 16))
