"""The trace that every step keeps: which edges were taken how often, and how long each node ran."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from langgraph.graph import END, START

from ...nodes.state import NodePlace, State
from .conversation_graph import edges


@cache
def _drawn() -> frozenset[tuple[str, str]]:
    return frozenset((edge.source, edge.target) for edge in edges())


def edge_name(source: str, target: str) -> str:
    """The name under which the state counts an edge."""
    return f"{source}>{target}"


def walked(state: State, place: NodePlace) -> dict[str, Any]:
    """The count of every edge taken so far, with the edge to this place.

    At `closing` also the edge to the end.

    If no edge leads here from the last node (a conversation begins, or is resumed), it is counted from START.
    """
    drawn = _drawn()
    arrival = (state.get("came_from", START), place)
    taken = dict(state.get("taken", {}))
    for edge in (arrival if arrival in drawn else (START, place), (place, END)):
        if edge in drawn or edge[0] == START:
            name = edge_name(*edge)
            taken[name] = taken.get(name, 0) + 1
    return {"came_from": place, "taken": taken}


def counted_edges(taken: Mapping[str, int]) -> list[dict[str, Any]]:
    """For the record: every edge of the topology with its count, then edges that only another graph has.

    Plain `data.Edge`s: the record makes them when it is checked.
    """
    left = dict(taken)
    drawn = [
        {"source": edge.source, "target": edge.target, "label": edge.label, "count": left.pop(name, 0)}
        for edge in (edges() if taken else ())
        for name in [edge_name(edge.source, edge.target)]
    ]
    others = (
        {"source": source, "target": target, "count": count}
        for name, count in left.items()
        for source, _, target in [name.partition(">")]
    )
    return [*drawn, *others]


def timed(state: State, place: NodePlace, seconds: float) -> dict[str, Any]:
    """Runs and seconds of each node so far, with this run added.

    Nothing else reads a clock inside the graph.
    """
    timing = state.get("timing", {})
    nodes = timing.get("nodes", {})
    before = nodes.get(place, {})
    new = {"runs": before.get("runs", 0) + 1, "seconds": round(before.get("seconds", 0.0) + seconds, 6)}
    return {"timing": {**timing, "nodes": {**nodes, place: new}}}
