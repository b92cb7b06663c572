"""The way of a conversation through its graph, from the graph's own stream: edges, runs and seconds of each node."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from time import perf_counter
from typing import Any

from langgraph.graph import END, START

from ...data.records import Edge
from ...graphs.graph import Compiled


class Topology:
    """The edges of a compiled graph as they are drawn."""

    def __init__(self, graph: Compiled) -> None:
        order = {node: number for number, node in enumerate((START, *graph.builder.nodes, END))}
        drawn = sorted(graph.get_graph().edges, key=lambda edge: (order[edge.source], order[edge.target]))
        self.edges = [(edge.source, edge.target, str(edge.data or "")) for edge in drawn]
        targets = {(source, target) for source, target, _ in self.edges}
        self.pairs, self.ends = targets, {source for source, target in targets if target == END}


class Way:
    """Counts what a graph streams as `updates`."""

    def __init__(self, topology: Topology) -> None:
        self._topology, self._last, self._since = topology, START, perf_counter()
        self._taken: Counter[tuple[str, str]] = Counter()
        self._seconds: dict[str, float] = defaultdict(float)

    def took(self, updates: Mapping[str, Any]) -> None:
        """Nodes have run, each named with its update."""
        now = perf_counter()
        for node in updates:
            if not node.startswith("__"):
                self._arrive(node, now)

    def failed(self, node: str | None) -> None:
        """A node has raised an exception."""
        if node is not None:
            self._arrive(node, perf_counter())

    def over(self) -> None:
        """The conversation is over: after the last node comes the end."""
        if self._last in self._topology.ends:
            self._taken[self._last, END] += 1

    def _arrive(self, node: str, now: float) -> None:
        source = self._last if (self._last, node) in self._topology.pairs else START
        self._taken[source, node] += 1
        self._seconds[node] += now - self._since
        self._last, self._since = node, now

    def edges(self) -> tuple[Edge, ...]:
        """Every edge of the graph with its count, then ways that only a resumed graph has; empty if nothing ran."""
        if not self._taken:
            return ()
        left = dict(self._taken)
        drawn = [
            Edge(source=source, target=target, label=label, count=left.pop((source, target), 0))
            for source, target, label in self._topology.edges
        ]
        return (*drawn, *(Edge(source=one, target=two, count=count) for (one, two), count in left.items()))

    def nodes(self) -> dict[str, float]:
        """Seconds in each node."""
        return {node: round(seconds, 6) for node, seconds in self._seconds.items()}
