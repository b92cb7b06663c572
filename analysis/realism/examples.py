"""Messages that show what a measure is about."""

from collections.abc import Sequence

import numpy as np

from .measures import Measure
from .records import Example
from .statistics.samples import MeasuredUsers

LONGEST = 400
"""Characters after which an example is cut."""


def typical_messages(side: MeasuredUsers, column: int, measure: Measure, count: int = 3) -> tuple[Example, ...]:
    """Messages of different users from the conversations whose values are nearest to the side's mean."""
    values = side.values[:, column]
    rows = np.flatnonzero(~np.isnan(values))
    if not rows.size:
        return ()
    mean = float(values[rows].mean())
    nearest = sorted(rows.tolist(), key=lambda row: (abs(values[row] - mean), side.transcripts[row].conversation.id))
    row_of_user: dict[str, int] = {}
    for row in nearest:
        row_of_user.setdefault(side.transcripts[row].cluster, row)
    return tuple(_example(side, row, measure, mean) for row in list(row_of_user.values())[:count])


def _example(side: MeasuredUsers, row: int, measure: Measure, mean: float) -> Example:
    transcript = side.transcripts[row]
    numbers = range(len(transcript.texts))
    values = [measure.of_text(transcript, number) if measure.of_text else None for number in numbers]
    number = _showing(measure, values, mean)
    text = transcript.texts[number].strip()
    return Example(
        conversation=transcript.conversation.id,
        user=transcript.cluster,
        message=number,
        text=text if len(text) <= LONGEST else text[:LONGEST].rstrip() + " …",
    )


def _showing(measure: Measure, values: Sequence[float | None], mean: float) -> int:
    """The message whose value is nearest to the side's mean; where none has a value, that which the measure names."""
    gaps = [(abs(value - mean), number) for number, value in enumerate(values) if value is not None]
    if gaps:
        return min(gaps)[1]
    return len(values) - 1 if measure.shows == "last" else 0
