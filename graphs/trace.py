"""The trace that every step keeps, whatever its node: the way that was taken, and the clock."""

from typing import Any

from langgraph.graph import END, START

from ..nodes.state import Place, State
from .topology import edges


def edge_name(source: str, target: str) -> str:
    """The name under which the state counts an edge."""
    return f"{source}>{target}"


def walked(state: State, place: Place) -> dict[str, Any]:
    """The edges taken so far, with the one that led to this place, and behind the last place the one to the end.

    A conversation that begins, or is taken up again where no edge leads from its last node, enters anew.
    """
    ways = {(edge.source, edge.target) for edge in edges()}
    here = (state.get("came_from", START), place)
    taken = dict(state.get("taken", {}))
    for way in (here if here in ways else (START, place), (place, END)):
        if way in ways or way[0] == START:
            taken[edge_name(*way)] = taken.get(edge_name(*way), 0) + 1
    return {"came_from": place, "taken": taken}


def timed(state: State, place: Place, seconds: float) -> dict[str, Any]:
    """The clock's only place: runs and seconds of each node so far."""
    timing = state.get("timing", {})
    nodes = timing.get("nodes", {})
    runs, spent = nodes.get(place, {}).get("runs", 0), nodes.get(place, {}).get("seconds", 0.0)
    new = {"runs": runs + 1, "seconds": round(spent + seconds, 6)}
    return {"timing": {**timing, "nodes": {**nodes, place: new}}}
