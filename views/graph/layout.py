"""Layout of a graph: nodes in layers from top to bottom, edges that lead back on the left.

A node is one layer below the lowest node that leads to it, not counting edges that lead back. An edge to the next
layer is straight. An edge that skips layers goes round on the right; an edge that leads back, or to its own node, goes
round on the left. Each has a lane of its own. The same edges always give the same drawing.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from itertools import pairwise

GAP = 44
"""Pixels between two layers."""
LANE = 22
"""Between two lanes."""
MARGIN = 92
"""Between a node and the first lane."""
BESIDE = 28
"""Between two nodes of a layer."""
ROUND = 10
"""Radius of a corner."""

Way = tuple[str, str]


@dataclass(frozen=True)
class Box:
    """A node: its left upper corner and size in pixels."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class LayoutLine:
    """An edge: its path, the point and direction of its tip, and the position of its label."""

    path: str
    tip: tuple[float, float]
    towards: str
    """`down`, `left` or `right`."""
    label: tuple[float, float]
    anchor: str
    """`start` or `end`: whether the label begins or ends at that point."""


@dataclass(frozen=True)
class Layout:
    """Everything in pixels, from 0, 0."""

    width: float
    height: float
    boxes: Mapping[str, Box]
    lines: Sequence[LayoutLine]
    """One for each edge, in its order."""


def laid_out(edges: Sequence[Way], sizes: Mapping[str, tuple[float, float]]) -> Layout:
    """The drawing of the edges between nodes of these sizes (width, height); nodes in the order of `sizes`."""
    backward = ways_back(edges, list(sizes))
    layer = layers([edge for n, edge in enumerate(edges) if n not in backward], list(sizes))
    rows = _rows(edges, backward, layer, list(sizes))
    straight = {
        n
        for n, (source, target) in enumerate(edges)
        if n not in backward and layer[target] == layer[source] + 1 and edges.index((source, target)) == n
    }
    round_about = [n for n in range(len(edges)) if n not in straight]
    # Ways back go on the left, ways ahead on the right; the shortest next to the nodes.
    sides = {n: "left" if n in backward else "right" for n in round_about}
    spans = {n: sorted((layer[edges[n][0]], layer[edges[n][1]])) for n in round_about}
    lanes = _lanes(sides, spans)
    widths = {side: _room([lanes[n] for n in round_about if sides[n] == side]) for side in ("left", "right")}
    inner = max((sum(sizes[name][0] for name in row) + BESIDE * (len(row) - 1) for row in rows), default=0)
    width = widths["left"] + inner + widths["right"]
    boxes: dict[str, Box] = {}
    y = 8.0
    for row in rows:
        x = widths["left"] + (inner - sum(sizes[name][0] for name in row) - BESIDE * (len(row) - 1)) / 2
        tall = max(sizes[name][1] for name in row)
        for name in row:
            boxes[name] = Box(x, y + (tall - sizes[name][1]) / 2, *sizes[name])
            x += sizes[name][0] + BESIDE
        y += tall + GAP
    ports = _ports(edges, sides, lanes, boxes)
    lines = []
    for n, (source, target) in enumerate(edges):
        if n in straight:
            lines.append(_down(boxes[source], boxes[target]))
        else:
            edge = widths["left"] if sides[n] == "left" else widths["left"] + inner
            away = MARGIN + LANE * lanes[n]
            lane = edge - away if sides[n] == "left" else edge + away
            lines.append(_round(boxes[source], boxes[target], ports[n], lane, sides[n]))
    return Layout(width, max(0.0, y - GAP) + 8, boxes, lines)


def ways_back(edges: Sequence[Way], names: Sequence[str]) -> set[int]:
    """Numbers of the edges that close a circle, found by walking the graph from the names in their order."""
    out: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for number, (source, target) in enumerate(edges):
        out[source].append((number, target))
    back: set[int] = set()
    done: set[str] = set()
    walking: set[str] = set()

    def walk(name: str) -> None:
        walking.add(name)
        for number, target in out[name]:
            if target in walking:
                back.add(number)
            elif target not in done:
                walk(target)
        walking.discard(name)
        done.add(name)

    for start in names:
        if start not in done:
            walk(start)
    return back


def layers(edges: Iterable[Way], names: Sequence[str]) -> dict[str, int]:
    """The layer of each node: the number of edges on the longest way to it.

    There must be no circle.
    """
    into: dict[str, list[str]] = {name: [] for name in names}
    for source, target in edges:
        into[target].append(source)
    depth: dict[str, int] = {}
    for name in TopologicalSorter(into).static_order():
        depth[name] = max((depth[source] + 1 for source in into[name]), default=0)
    return depth


def _rows(edges: Sequence[Way], backward: set[int], layer: Mapping[str, int], names: list[str]) -> list[list[str]]:
    """The nodes of each layer from left to right, by the mean position of the nodes before them."""
    rows: list[list[str]] = [[] for _ in range(max(layer.values(), default=-1) + 1)]
    for name in names:
        rows[layer[name]].append(name)
    column = {name: n for row in rows for n, name in enumerate(row)}
    for _, row in pairwise(rows):
        above = {
            name: [column[s] for n, (s, t) in enumerate(edges) if t == name and n not in backward] or [column[name]]
            for name in row
        }
        row.sort(key=lambda name: sum(above[name]) / len(above[name]))
        column.update({name: n for n, name in enumerate(row)})
    return rows


def _lanes(sides: Mapping[int, str], spans: Mapping[int, list[int]]) -> dict[int, int]:
    """A lane for each edge, counted from the nodes outwards, so that no two edges in a lane overlap."""
    lanes: dict[int, int] = {}
    for n in sorted(sides, key=lambda n: (spans[n][1] - spans[n][0], n)):
        top, bottom = spans[n]
        met = {
            lanes[other]
            for other in lanes
            if sides[other] == sides[n] and spans[other][0] <= bottom and top <= spans[other][1]
        }
        lanes[n] = next(lane for lane in range(len(sides)) if lane not in met)
    return lanes


def _room(lanes: Sequence[int]) -> float:
    return MARGIN + LANE * max(lanes) + 12 if lanes else 12


def _ports(
    edges: Sequence[Way], sides: Mapping[int, str], lanes: Mapping[int, int], boxes: Mapping[str, Box]
) -> dict[int, tuple[float, float]]:
    """The heights at which each edge in a lane leaves and arrives, so that a node's edges do not cross.

    Edges that go up are above edges that go down; with a lane further out, the first are lower and the second higher.
    """
    ends: dict[tuple[str, str], list[tuple[bool, int, int, int]]] = defaultdict(list)
    for n, side in sides.items():
        source, target = edges[n]
        down = boxes[target].y > boxes[source].y
        ends[source, side].append((down, -lanes[n] if down else lanes[n], n, 0))
        down = boxes[source].y >= boxes[target].y
        ends[target, side].append((down, -lanes[n] if down else lanes[n], n, 1))
    heights: dict[tuple[int, int], float] = {}
    for (name, _), at_side in ends.items():
        box = boxes[name]
        for number, (_, _, n, end) in enumerate(sorted(at_side), start=1):
            heights[n, end] = box.y + box.height * number / (len(at_side) + 1)
    return {n: (heights[n, 0], heights[n, 1]) for n in sides}


def _down(source: Box, target: Box) -> LayoutLine:
    x1, y1 = source.x + source.width / 2, source.y + source.height
    x2, y2 = target.x + target.width / 2, target.y
    middle = (y1 + y2) / 2
    path = f"M{x1:g} {y1:g}V{y2:g}" if x1 == x2 else f"M{x1:g} {y1:g}C{x1:g} {middle:g} {x2:g} {middle:g} {x2:g} {y2:g}"
    return LayoutLine(path, (x2, y2), "down", ((x1 + x2) / 2 + 9, middle + 2), "start")


def _round(source: Box, target: Box, heights: tuple[float, float], lane: float, side: str) -> LayoutLine:
    y1, y2 = heights
    left = side == "left"
    x1, x2 = (source.x, target.x) if left else (source.x + source.width, target.x + target.width)
    out = ROUND if left else -ROUND
    turn = min(ROUND, abs(y2 - y1) / 2) * (1 if y2 > y1 else -1)
    path = (
        f"M{x1:g} {y1:g}H{lane + out:g}Q{lane:g} {y1:g} {lane:g} {y1 + turn:g}"
        f"V{y2 - turn:g}Q{lane:g} {y2:g} {lane + out:g} {y2:g}H{x2:g}"
    )
    near = (x1 - 10, y1 - 5) if left else (x1 + 10, y1 - 5)
    return LayoutLine(path, (x2, y2), "right" if left else "left", near, "end" if left else "start")
