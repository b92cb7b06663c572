"""Messages that show a measure."""

from collections.abc import Sequence

import numpy as np

from .measures import Measure
from .numbers import Side
from .report import Example

LONGEST = 400
"""Characters after which an example is cut."""


def examples(side: Side, column: int, measure: Measure, count: int = 3) -> tuple[Example, ...]:
    """Messages of different users in the middle of their side: those whose values are nearest to its mean."""
    values = side.values[:, column]
    told = np.flatnonzero(~np.isnan(values))
    if not told.size:
        return ()
    nearest = sorted(
        told.tolist(), key=lambda row: (abs(values[row] - values[told].mean()), side.speeches[row].conversation.id)
    )
    chosen: list[int] = []
    users: set[str] = set()
    for row in nearest:
        if side.speeches[row].cluster not in users and len(chosen) < count:
            users.add(side.speeches[row].cluster)
            chosen.append(row)
    return tuple(_example(side, row, measure, float(values[told].mean())) for row in chosen)


def _example(side: Side, row: int, measure: Measure, mean: float) -> Example:
    speech = side.speeches[row]
    number = _showing(
        measure, [measure.of_text(speech, n) if measure.of_text else None for n in range(len(speech.user))], mean
    )
    text = speech.user[number].strip()
    return Example(
        conversation=speech.conversation.id,
        user=speech.cluster,
        message=number,
        text=text if len(text) <= LONGEST else text[:LONGEST].rstrip() + " …",
    )


def _showing(measure: Measure, values: Sequence[float | None], mean: float) -> int:
    """The message whose value is nearest to the side's mean; where there is none, that which the measure names."""
    told = [(abs(value - mean), number) for number, value in enumerate(values) if value is not None]
    if told:
        return min(told)[1]
    return len(values) - 1 if measure.shows == "last" else 0
