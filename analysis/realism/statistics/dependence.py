"""By how much chance is wider where each conversation is measured against the others of its side.

Such a value depends on the others of the side, so halves of one side differ by more than shuffled values show. Each
conversation counts as the one that is compared and as one of the others (Hoeffding 1948: twice as much, for means over
pairs). How much more is found by measuring halves of each side anew.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..measures import Measure
from ..measures.others import table_of
from ..measures.transcripts import UserTranscript
from .cells import Floats, Ints, rank_scores
from .samples import MeasuredUsers, alone, generator
from .shuffling import Differences, permuted, ratio

UNKNOWN = 2.0
"""What is taken where users are too few to find it: that of means over pairs."""
_FEWEST_USERS = 16
"""Users of a side that can be halved."""
_MOST_USERS = 150
"""Users of a side that are halved; more would find much the same."""
_HALVINGS = 60


def inflation_of(measures: Sequence[Measure], sides: Sequence[MeasuredUsers], seed: int) -> Floats:
    """By how much the chance of each measure is widened: 1, or more for measures among others."""
    widths = np.ones(len(measures))
    for column, measure in enumerate(measures):
        if measure.parts is not None:
            squares = [_spread(side, measure, seed) for side in sides if len(side.clusters) >= _FEWEST_USERS]
            widths[column] = max(float(np.sqrt(np.mean(squares))), 1.0) if squares else UNKNOWN
    return widths


def _spread(side: MeasuredUsers, measure: Measure, seed: int) -> float:
    """Mean square of the effect between halves of the side that are measured anew, in its standard errors."""
    rng = generator(seed, "sameness", measure.name)
    chosen = set(rng.permutation(side.clusters)[:_MOST_USERS])
    side = side.where([transcript.cluster in chosen for transcript in side.transcripts])
    cells = alone(side)
    user = cells.user[cells.cell]
    half = np.arange(len(cells.sides)) < len(cells.sides) // 2
    labellings = permuted(half, _HALVINGS, rng)
    labels = labellings[:, user].T
    values = np.full(labels.shape, np.nan)
    tasks = np.array([transcript.task for transcript in side.transcripts])
    for task in sorted(set(tasks.tolist())):
        rows = np.flatnonzero(tasks == task)
        shares, others = _shared([side.transcripts[row] for row in rows], measure, user[rows])
        of_task = labels[rows]
        for of_half in (of_task, 1 - of_task):
            # Conversation x halving: with how many others of the same half it shares how much.
            shared, count = shares @ of_half, others @ of_half
            inside = (of_half > 0) & (count > 0) & ~np.isnan(shared)
            values[rows] = np.where(inside, shared / np.maximum(count, 1), values[rows])
    halves = replace(cells, values=values)
    # A column for each halving, and of each its own labelling.
    effects = ratio(*Differences(halves, rank_scores(halves)).of(labellings)).diagonal()
    return float(np.mean(np.square(effects)))


def _shared(group: Sequence[UserTranscript], measure: Measure, user: Ints) -> tuple[Floats, Floats]:
    """Conversation x conversation: share of the first one's parts that the second has; NaN without parts.

    The second matrix has 1 where the users differ and 0 where they do not.
    """
    assert measure.parts is not None
    table = table_of([measure.parts(transcript) for transcript in group])
    others = (user[:, None] != user[None, :]).astype(float)
    sizes = np.diff(table.indptr).astype(float)
    shares = (table @ table.T).toarray() / np.where(sizes > 0, sizes, np.nan)[:, None]
    return shares * others, others
