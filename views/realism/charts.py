"""The figures of the realism report: the place of each mark.

Each figure has a drawing for wide screens and one for narrow ones.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...analysis.realism.records import RealismRow
from ..figures import BESIDE, STACKED, Drawing, Figure, Tick

EFFECT_TICKS = (-1.0, -0.5, 0.0, 0.5, 1.0)
DISTANCE_TICKS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 16.0)


DRAWINGS = (BESIDE, STACKED)


@dataclass(frozen=True)
class EffectMark:
    """A measure in the figure of effects."""

    name: str
    y: int
    effect: float
    low: float | None
    high: float | None
    """Ends of the interval; None without one."""
    tasks: tuple[float, ...]
    """The effect in each task, where there are several."""
    published: float | None
    retrieval_based: float | None
    description: str
    """The numbers in words, for readers who cannot see the figure."""


@dataclass(frozen=True)
class DistanceMark:
    """A measure in the figure of distances from people.

    The distances are those of simulated users, of other people, of the published users and of those made from people.
    """

    name: str
    y: int
    distance: float
    floor: float
    floor_high: float
    references: tuple[float, ...]
    """Of each further reference."""
    published: float | None
    retrieval_based: float | None
    description: str


def effects(rows: Sequence[RealismRow], drawing: Drawing) -> Figure[EffectMark]:
    """Effects from -1 to 1: a row for each ranked measure."""
    shown = [row for row in rows if row.is_ranked and row.effect is not None]
    marks = tuple(_effect_mark(row, drawing.y(number), drawing) for number, row in enumerate(shown))
    return Figure(drawing, _ticks(EFFECT_TICKS, drawing.effect_x), marks)


def distances(rows: Sequence[RealismRow], drawing: Drawing) -> Figure[DistanceMark]:
    """Distances from people beside the human-human baseline: a row for each ranked measure with both."""
    shown = [row for row in rows if row.is_ranked and row.distance is not None and row.floor is not None]
    marks = tuple(_distance_mark(row, drawing.y(number), drawing) for number, row in enumerate(shown))
    return Figure(drawing, _ticks(DISTANCE_TICKS, drawing.distance_x), marks)


def _ticks(values: Sequence[float], place: Callable[[float], float]) -> tuple[Tick, ...]:
    return tuple(Tick(place(value), f"{value:g}") for value in values)


def _effect_mark(row: RealismRow, y: int, drawing: Drawing) -> EffectMark:
    by_task = tuple(task.effect for task in row.tasks if task.effect is not None)
    bounded = row.effect_low is not None and row.effect_high is not None
    interval = f"95 % interval {row.effect_low:.2f} to {row.effect_high:.2f}" if bounded else "no interval"
    span = f", in tasks {min(by_task):.2f} to {max(by_task):.2f}" if len(by_task) > 1 else ""
    return EffectMark(
        name=row.name,
        y=y,
        effect=drawing.effect_x(row.effect or 0.0),
        low=None if row.effect_low is None else drawing.effect_x(row.effect_low),
        high=None if row.effect_high is None else drawing.effect_x(row.effect_high),
        tasks=tuple(drawing.effect_x(task_effect) for task_effect in by_task) if len(by_task) > 1 else (),
        published=None if row.published_effect is None else drawing.effect_x(row.published_effect),
        retrieval_based=None if row.made_effect is None else drawing.effect_x(row.made_effect),
        description=f"{row.name}: {row.effect or 0.0:.2f}, {interval}{span}",
    )


def _distance_mark(row: RealismRow, y: int, drawing: Drawing) -> DistanceMark:
    distance, floor = row.distance or 0.0, row.floor or 0.0
    high = floor if row.floor_high is None else row.floor_high
    distances = [(reference.name, reference.distance_from_people) for reference in row.references]
    of_references = [(name, of_reference) for name, of_reference in distances if of_reference is not None]
    more = [f"{name} {of_reference:.2f}" for name, of_reference in of_references]
    more += [] if row.published is None else [f"published {row.published:.2f}"]
    more += [] if row.made is None else [f"made from people {row.made:.2f}"]
    words = (f"{row.name}: {distance:.2f}", f"people from people {floor:.2f}, up to {high:.2f}", *more)
    return DistanceMark(
        name=row.name,
        y=y,
        distance=drawing.distance_x(distance),
        floor=drawing.distance_x(floor),
        floor_high=drawing.distance_x(high),
        references=tuple(drawing.distance_x(of_reference) for _, of_reference in of_references),
        published=None if row.published is None else drawing.distance_x(row.published),
        retrieval_based=None if row.made is None else drawing.distance_x(row.made),
        description="; ".join(words),
    )
