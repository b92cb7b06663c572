"""Effects between conversations whose messages are about equally long: differences beyond length."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...data.identity import digest
from .measures import Measure
from .measures.shape import LENGTH
from .records import EqualLength
from .rows import finite, why_no_interval
from .statistics.samples import MeasuredUsers, joined
from .statistics.two_samples import TwoSamples

_RATIO = 1.25
"""Longest over shortest mean message length, in characters, of what counts as equally long."""
_FEWEST_IN_COMMON = 0.1
"""Share of either side's users below which nothing is said of the sides."""


def equal_length_rows(
    sim: MeasuredUsers, human: MeasuredUsers, measures: Sequence[Measure], both: TwoSamples
) -> list[EqualLength | None]:
    """For each measure its effect at equal message length; None for message length itself.

    The sides are levelled. Conversations are put into classes by the mean length of the user's messages, each a quarter
    wider than the one before. They are compared within class and task, as within a task otherwise.
    """
    same_length = [_by_length(side) for side in (sim, human)]
    at_length = replace(both, cells=joined(*same_length))
    shares = _in_common(*same_length)
    few_users, few_telling = at_length.without_interval
    bounds, effect = at_length.effect_variance.bounds(), at_length.effect
    rows: list[EqualLength | None] = []
    for column, measure in enumerate(measures):
        if measure is LENGTH:
            rows.append(None)
            continue
        comparable = min(shares) >= _FEWEST_IN_COMMON and not np.isnan(effect[column])
        why = why_no_interval(bool(few_users[column]), bool(few_telling[column])) if comparable else _why_none(*shares)
        rows.append(
            EqualLength(
                effect=finite(effect[column]) if comparable else None,
                effect_low=None if why else finite(bounds.low[column]),
                effect_high=None if why else finite(bounds.high[column]),
                sim=shares[0],
                human=shares[1],
                reason=why,
            )
        )
    return rows


def matched_in_length(sim: MeasuredUsers, human: MeasuredUsers) -> tuple[MeasuredUsers, MeasuredUsers]:
    """As many conversations of either side, in each task and class of message length (`equal_length_rows`).

    The digest decides which ones, for any order. They are one to one: a model that saw a class's numbers of both sides
    would separate the sides by length again.
    """
    by_class = [_rows_by_class(side) for side in (sim, human)]
    row_numbers: tuple[set[int], set[int]] = set(), set()
    for stratum in by_class[0].keys() & by_class[1].keys():
        of_class = [rows[stratum] for rows in by_class]
        count = min(map(len, of_class))
        for rows, chosen in zip(of_class, row_numbers, strict=True):
            chosen.update(row for _, row in rows[:count])
    one, other = (
        side.where([row in chosen for row in range(len(side.transcripts))])
        for side, chosen in zip((sim, human), row_numbers, strict=True)
    )
    return one, other


def _rows_by_class(side: MeasuredUsers) -> dict[str, list[tuple[str, int]]]:
    """The conversations of each task and class of length with their digests, in the order of these."""
    by_class: dict[str, list[tuple[str, int]]] = {}
    for row, (transcript, stratum) in enumerate(zip(side.transcripts, _by_length(side).strata, strict=True)):
        key = digest("equal length", transcript.cluster, transcript.conversation.id, transcript.texts)
        by_class.setdefault(stratum, []).append((key, row))
    return {stratum: sorted(rows) for stratum, rows in by_class.items()}


def _why_none(sim: float, human: float) -> str:
    return f"too few of equal length: {sim:.0%} of the simulated users and {human:.0%} of people have a counterpart"


def _by_length(side: MeasuredUsers) -> MeasuredUsers:
    """The side with the class of message length in every conversation's stratum."""
    lengths = [sum(map(len, transcript.texts)) / len(transcript.texts) for transcript in side.transcripts]
    classes = [int(np.floor(np.log(max(length, 1.0)) / np.log(_RATIO))) for length in lengths]
    further = side.further_strata or ("",) * len(classes)
    return replace(
        side, further_strata=tuple(f"{more}\n{length}" for more, length in zip(further, classes, strict=True))
    )


def _in_common(sim: MeasuredUsers, human: MeasuredUsers) -> tuple[float, float]:
    """Of either side the share of users with a conversation in a stratum of the other side."""
    both = set(sim.strata) & set(human.strata)
    shares = []
    for side in (sim, human):
        strata = zip(side.transcripts, side.strata, strict=True)
        matched = {transcript.cluster for transcript, stratum in strata if stratum in both}
        shares.append(len(matched) / len(side.clusters) if side.clusters else 0.0)
    return shares[0], shares[1]
