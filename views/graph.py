"""Graphs as inline SVG: a compiled one as it stands, or one that ran, with how often each node and edge was taken.

The nodes stand in one column. An edge to the next node is straight, one that skips nodes goes round on the right, one that
leads back on the left, each in a lane of its own. The same edges always give the same drawing, and nothing asks a network.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any, TypeAlias

from ..data.executed_graph import Edge, ExecutedGraph, ExecutedNode, executed
from ..data.records import Conversation
from ..errors import DataError
from .figures import SvgFigure, standalone
from .pages import plural, render, short

NAME, DETAIL = 7.7, 5.9
"""Pixels of an average character in a node's name, and in the lines below it."""
GAP, LANE, MARGIN, ROUND = 44, 22, 92, 10
"""Pixels between two nodes, between two lanes, between a node and the first lane; radius of a corner."""
ENDS = ("__start__", "__end__")

Way: TypeAlias = tuple[str, str]


@dataclass(frozen=True)
class DrawnNode:
    """A node in its box; lengths in pixels."""

    node: ExecutedNode
    name: str
    lines: tuple[str, ...]
    end: bool
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class DrawnEdge:
    """An edge: its path, the place and direction of its tip (`down`, `left`, `right`), and its text."""

    edge: Edge
    width: float
    text: str
    path: str
    tip: tuple[float, float]
    towards: str
    label: tuple[float, float]
    anchor: str


def graph_html(conversations: Conversation | Iterable[Conversation]) -> str:
    """The executed graph of one conversation, or of several with their counts added; empty if no graph held any.

    A figure with an SVG, and the same numbers as a table.
    """
    graph = executed([conversations] if isinstance(conversations, Conversation) else conversations)
    return drawn(graph) if graph.edges else ""


def graph_figure(conversations: Conversation | Iterable[Conversation]) -> SvgFigure:
    """The executed graph as a picture for a notebook's cell; its text has a line for each edge that was taken.

    DataError if no graph held any of the conversations, as published ones.
    """
    graph = executed([conversations] if isinstance(conversations, Conversation) else conversations)
    if not graph.edges:
        raise DataError("no graph held these conversations: there is none to draw")
    lines = [f"{edge.source} -> {edge.target}: {_edge_text(edge)}" for edge in graph.edges if edge.count]
    return standalone(drawn(graph), "graph", "\n".join(lines))


def compiled_figure(graph: Any) -> SvgFigure:
    """A compiled graph of LangGraph as a picture: its nodes, and its edges with the router's answers."""
    shown, title = graph.get_graph(), f"Graph: {graph.name}"
    edges = tuple(
        Edge.model_construct(
            source=edge.source, target=edge.target, label=edge.data if isinstance(edge.data, str) else "", count=0
        )
        for edge in shown.edges
    )
    nodes = tuple(ExecutedNode(name=name, runs=0) for name in shown.nodes)
    return standalone(drawn(ExecutedGraph(conversations=0, nodes=nodes, edges=edges), title), "graph", title)


def drawn(graph: ExecutedGraph, title: str = "") -> str:
    """The figure of an executed graph; without counts if no conversation ran."""
    ran = graph.conversations > 0
    title = title or ("Executed graph of " + plural(graph.conversations, "conversation") if ran else "Graph")
    ways = [(edge.source, edge.target) for edge in graph.edges]
    order = in_column(ways, [node.name for node in graph.nodes])
    sides, lanes = _lanes(ways, order)
    room = {side: _room([lanes[n] for n in sides if sides[n] == side]) for side in ("left", "right")}
    inner = max((_width(node, ran) for node in graph.nodes), default=0)
    boxes: dict[str, DrawnNode] = {}
    y = 8.0
    for node in sorted(graph.nodes, key=lambda node: order[node.name]):
        lines = _lines(node) if ran else ()
        width, height = _width(node, ran), 26.0 + 15 * len(lines)
        x = room["left"] + (inner - width) / 2
        end = node.name in ENDS
        boxes[node.name] = DrawnNode(node, short(_name(node.name), 34), lines, end, x, y, width, height)
        y += height + GAP
    most = max((edge.count for edge in graph.edges), default=0)
    heights = _heights(ways, sides, lanes, boxes)
    edges = []
    for n, edge in enumerate(graph.edges):
        width = 1.2 + 2.8 * sqrt(edge.count / most) if edge.count else 1.0 if ran else 1.6
        text = _edge_text(edge) if ran else edge.label.replace("_", " ")
        source, target = boxes[edge.source], boxes[edge.target]
        if n not in sides:
            edges.append(_down(edge, width, text, source, target))
        else:
            away = MARGIN + LANE * lanes[n]
            lane = room["left"] - away if sides[n] == "left" else room["left"] + inner + away
            edges.append(_round(edge, width, text, source, target, heights[n], lane))
    return render(
        "graph.html",
        graph=graph,
        width=room["left"] + inner + room["right"],
        height=max(0.0, y - GAP) + 8,
        edges=edges,
        nodes=[boxes[node.name] for node in graph.nodes],
        ran=ran,
        title=title,
    )


def in_column(ways: Sequence[Way], names: Sequence[str]) -> dict[str, int]:
    """The place of each node from above: behind all that lead to it, except by edges that close a circle.

    Of a cast's circle the user's side comes first.
    """
    after: dict[str, list[str]] = defaultdict(list)
    for source, target in ways:
        after[source].append(target)
    done: list[str] = []
    seen: set[str] = set()

    def walk(name: str) -> None:
        seen.add(name)
        after[name].reverse()
        for target in sorted(after[name], key=lambda target: target.startswith("assistant")):
            if target not in seen:
                walk(target)
        done.append(name)

    for name in names:
        if name not in seen:
            walk(name)
    from_above = done[::-1]
    from_above.sort(key=lambda name: name == ENDS[1])  # stable: only the end moves
    return {name: place for place, name in enumerate(from_above)}


def _lanes(ways: Sequence[Way], order: Mapping[str, int]) -> tuple[dict[int, str], dict[int, int]]:
    """The side and the lane of each edge that is not straight; lanes are counted outwards, the shortest edges inside."""
    straight = {n for n, way in enumerate(ways) if order[way[1]] == order[way[0]] + 1 and ways.index(way) == n}
    round_about = [n for n in range(len(ways)) if n not in straight]
    sides = {n: "right" if order[ways[n][1]] > order[ways[n][0]] else "left" for n in round_about}
    spans = {n: sorted((order[ways[n][0]], order[ways[n][1]])) for n in round_about}
    lanes: dict[int, int] = {}
    for n in sorted(round_about, key=lambda n: (spans[n][1] - spans[n][0], n)):
        top, bottom = spans[n]
        met = {
            lane
            for other, lane in lanes.items()
            if sides[other] == sides[n] and spans[other][0] <= bottom and top <= spans[other][1]
        }
        lanes[n] = next(lane for lane in range(len(ways)) if lane not in met)
    return sides, lanes


def _room(lanes: Sequence[int]) -> float:
    return MARGIN + LANE * max(lanes) + 12 if lanes else 12


def _heights(
    ways: Sequence[Way], sides: Mapping[int, str], lanes: Mapping[int, int], boxes: Mapping[str, DrawnNode]
) -> dict[int, tuple[float, float]]:
    """Where each edge in a lane leaves and arrives, so that the edges of a node do not cross.

    Edges that go up are above edges that go down; with a lane further out, the first are lower and the second higher.
    """
    ends: dict[tuple[str, str], list[tuple[bool, int, int, int]]] = defaultdict(list)
    for n, side in sides.items():
        source, target = ways[n]
        down = boxes[target].y > boxes[source].y
        ends[source, side].append((down, -lanes[n] if down else lanes[n], n, 0))
        down = boxes[source].y >= boxes[target].y
        ends[target, side].append((down, -lanes[n] if down else lanes[n], n, 1))
    at: dict[tuple[int, int], float] = {}
    for (name, _), ports in ends.items():
        box = boxes[name]
        for number, (_, _, n, end) in enumerate(sorted(ports), start=1):
            at[n, end] = box.y + box.height * number / (len(ports) + 1)
    return {n: (at[n, 0], at[n, 1]) for n in sides}


def _down(edge: Edge, width: float, text: str, source: DrawnNode, target: DrawnNode) -> DrawnEdge:
    x, y = source.x + source.width / 2, source.y + source.height
    label = (x + 9, (y + target.y) / 2 + 2)
    return DrawnEdge(edge, width, text, f"M{x:g} {y:g}V{target.y:g}", (x, target.y), "down", label, "start")


def _round(
    edge: Edge,
    width: float,
    text: str,
    source: DrawnNode,
    target: DrawnNode,
    heights: tuple[float, float],
    lane: float,
) -> DrawnEdge:
    y1, y2 = heights
    left = lane < source.x
    x1, x2 = (source.x, target.x) if left else (source.x + source.width, target.x + target.width)
    out = ROUND if left else -ROUND
    turn = min(ROUND, abs(y2 - y1) / 2) * (1 if y2 > y1 else -1)
    path = (
        f"M{x1:g} {y1:g}H{lane + out:g}Q{lane:g} {y1:g} {lane:g} {y1 + turn:g}"
        f"V{y2 - turn:g}Q{lane:g} {y2:g} {lane + out:g} {y2:g}H{x2:g}"
    )
    beside = y1 + 13 if y1 > source.y + source.height / 2 else y1 - 5  # two edges that leave at one side: above, below
    label = (x1 - 10, beside) if left else (x1 + 10, beside)
    towards, anchor = ("right", "end") if left else ("left", "start")
    return DrawnEdge(edge, width, text, path, (x2, y2), towards, label, anchor)


def _name(name: str) -> str:
    return name.strip("_").replace("_", " ") or name


def _width(node: ExecutedNode, ran: bool) -> float:
    if node.name in ENDS:
        return 64.0
    lines = _lines(node) if ran else ()
    return max(NAME * len(short(_name(node.name), 34)), *(DETAIL * len(line) for line in lines), 130) + 20


def _edge_text(edge: Edge) -> str:
    return f"{edge.label} {edge.count:,}".strip()


def _lines(node: ExecutedNode) -> tuple[str, ...]:
    """The lines below a node's name: runs, time and tokens, then the reasons of rejection."""
    if node.name in ENDS:
        return ()
    figures = [f"ran {node.runs:,}×"]
    if node.seconds is not None:
        figures.append(f"{node.seconds:,.2f} s" if node.seconds >= 0.1 else f"{1000 * node.seconds:.1f} ms")
    if node.tokens is not None:
        figures.append(f"{node.tokens:,} tokens")
    reasons = (short(f"{reason.replace('_', ' ')} {count:,}", 40) for reason, count in node.reasons.items())
    return (" · ".join(figures), *reasons)
