"""The executed graph as inline SVG: how often each node ran and each edge was taken, and what was rejected."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any, Protocol

from ...data.executed_graph import ExecutedGraph, ExecutedNode, executed
from ...data.records import Conversation, Edge
from ..figures import SvgFigure, standalone
from ..pages import plural, render, short
from .layout import Box, LayoutLine, laid_out

NAME, DETAIL = 7.7, 5.9
"""Pixels of an average character in a node's name, and in the lines below it."""


@dataclass(frozen=True)
class DrawnNode:
    """A node in its box, with the lines of text in it."""

    node: ExecutedNode
    name: str
    lines: tuple[str, ...]
    box: Box
    end: bool
    """Whether it is the start or the end of the graph, not a node."""


@dataclass(frozen=True)
class DrawnEdge:
    """An edge with its line."""

    edge: Edge
    line: LayoutLine
    width: float
    text: str


def graph_html(conversations: Conversation | Iterable[Conversation]) -> str:
    """The executed graph of one conversation, or of several with their counts added; empty if no record has edges.

    A figure with an SVG, and the same numbers as a table.
    """
    graph = executed([conversations] if isinstance(conversations, Conversation) else conversations)
    return drawn(graph) if graph.edges else ""


def graph_figure(conversations: Conversation | Iterable[Conversation]) -> SvgFigure:
    """The executed graph as a picture for a notebook's cell.

    Its text has a line for each edge that was taken.
    """
    graph = executed([conversations] if isinstance(conversations, Conversation) else conversations)
    lines = [f"{edge.source} -> {edge.target}: {_edge_text(edge)}" for edge in graph.edges if edge.count]
    return standalone([drawn(graph)], "graph", "\n".join(lines))


class LangGraphEdge(Protocol):
    """An edge as LangGraph draws it."""

    source: str
    target: str
    data: Any
    """The router's answer that leads here, if a router does."""


class Drawable(Protocol):
    """A graph as LangGraph draws it: what `get_graph()` of a compiled graph gives."""

    nodes: Mapping[str, Any]
    edges: Sequence[LangGraphEdge]


def compiled_html(graph: Drawable, title: str = "") -> str:
    """The figure of a graph that did not run: its nodes, and its edges with the router's answers.

    It needs no network.
    """
    edges = tuple(
        Edge.model_construct(source=edge.source, target=edge.target, label=_answer(edge), count=0)
        for edge in graph.edges
    )
    nodes = tuple(ExecutedNode(name=name, runs=0) for name in graph.nodes)
    return drawn(ExecutedGraph.model_construct(conversations=0, nodes=nodes, edges=edges), title)


def _answer(edge: LangGraphEdge) -> str:
    return edge.data if isinstance(edge.data, str) else ""


def drawn(graph: ExecutedGraph, title: str = "") -> str:
    """The figure of an executed graph; without counts if no conversation ran."""
    ran = graph.conversations > 0
    title = title or ("Executed graph of " + plural(graph.conversations, "conversation") if ran else "Graph")
    texts = {node.name: _lines(node) if ran else () for node in graph.nodes}
    names = {node.name: short(_name(node.name), 34) for node in graph.nodes}
    sizes = {}
    for node in graph.nodes:
        if _is_end(node.name):
            sizes[node.name] = (64.0, 26.0)
        else:
            broad = max(NAME * len(names[node.name]), *(DETAIL * len(line) for line in texts[node.name]), 130)
            sizes[node.name] = (broad + 20, 26.0 + 15 * len(texts[node.name]))
    layout = laid_out([(edge.source, edge.target) for edge in graph.edges], sizes)
    most = max((edge.count for edge in graph.edges), default=0)
    ways = [
        DrawnEdge(
            edge,
            line,
            1.2 + 2.8 * sqrt(edge.count / most) if edge.count else 1.0 if ran else 1.6,
            _edge_text(edge) if ran else edge.label.replace("_", " "),
        )
        for edge, line in zip(graph.edges, layout.lines, strict=True)
    ]
    nodes = [
        DrawnNode(node, names[node.name], texts[node.name], layout.boxes[node.name], _is_end(node.name))
        for node in graph.nodes
    ]
    inner = [node for node in graph.nodes if not _is_end(node.name)]
    return render("graph.html", graph=graph, layout=layout, ways=ways, nodes=nodes, inner=inner, ran=ran, title=title)


def _name(name: str) -> str:
    return name.strip("_").replace("_", " ") or name


def _is_end(name: str) -> bool:
    return name in ("__start__", "__end__")


def _edge_text(edge: Edge) -> str:
    return f"{edge.label} {edge.count:,}".strip()


def _milliseconds(duration: float) -> str:
    return f"{duration:.0f}" if duration >= 9.95 else f"{duration:.2g}"  # else 99 would be 9.9e+01, or 1e+02


def _lines(node: ExecutedNode) -> tuple[str, ...]:
    """The lines below a node's name: runs, time and tokens, then the reasons of rejection."""
    figures = [f"ran {node.runs:,}×"]
    if node.seconds is not None:
        figures.append(f"{node.seconds:,.2f} s" if node.seconds >= 0.1 else f"{_milliseconds(1000 * node.seconds)} ms")
    if node.tokens is not None:
        figures.append(f"{node.tokens:,} tokens")
    reasons = (short(f"{reason.replace('_', ' ')} {count:,}", 40) for reason, count in node.reasons.items())
    return (" · ".join(figures), *reasons)
