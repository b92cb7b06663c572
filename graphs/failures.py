"""Failures of nodes: what a run records of an exception, and whose fault it is."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from ..data.executed_graph import SPEAKERS
from ..data.packages import frames_of
from ..data.records import SIDES
from ..errors import DuologueError
from ..nodes.contract import ContractError
from ..nodes.limits import Limits
from ..nodes.models.faults import is_crash
from ..nodes.settings.redaction import error_line, redacted
from ..nodes.state import NodePlace
from ..nodes.worlds import WorldError, put_back

_TASK = "During task with name '"
"""How the note begins that LangGraph adds to an exception of a node."""


class NodeError(DuologueError, RuntimeError):
    """A node could not do its part.

    `failure` is what a record says of it, `update` what it had done before: the engine of a run adds it to the last state.
    """

    def __init__(self, failure: Mapping[str, Any], update: Mapping[str, Any]) -> None:
        super().__init__(f"{failure['node']}: {failure['error']}")
        self.failure, self.update = dict(failure), dict(update)


async def undone(limits: Limits, update: Mapping[str, Any]) -> None:
    """Put the world back to before the draft under way; NodeError with what was done before if that fails."""
    try:
        await put_back(limits)
    except WorldError as error:
        raise NodeError(failure_of("world", error), update) from error


def failure_of(node: str, error: BaseException | str, frames: Sequence[str] = ()) -> dict[str, Any]:
    """The failure to record of an error that a node raised, or told itself with its `frames`.

    It has the error's line, and the places in one's own code that it passed.
    """
    line = redacted(error) if isinstance(error, str) else error_line(error, placed=True)
    passed = frames if isinstance(error, str) else frames_of(error)
    return {"node": node, "error": line} | ({"frames": list(passed)} if passed else {})


def failure_in(error: BaseException) -> dict[str, Any]:
    """The failure to record of any exception that a graph raised, with the node that LangGraph names."""
    if isinstance(error, NodeError):
        return error.failure
    if isinstance(error, WorldError):
        return failure_of("world", error)
    place = place_in(error)
    if place is None or isinstance(error, ContractError):
        return failure_of("graph", error)
    return blamed(place, failure_of(place, error), crashed=is_crash(error))


def place_in(error: BaseException) -> str | None:
    """The node that raised an exception, by the notes that LangGraph adds, the outermost last; None without one."""
    notes = [note for note in getattr(error, "__notes__", ()) if note.startswith(_TASK)]
    return notes[-1][len(_TASK) :].partition("'")[0] if notes else None


def blamed(place: str, failure: dict[str, Any], *, crashed: bool) -> dict[str, Any]:
    """The failure with its fault: that of the side whose own code crashed, an endpoint's that this code called."""
    if crashed:
        return failure | ({"fault": SIDES[cast(NodePlace, place)]} if place in SPEAKERS else {})
    return failure | ({"fault": "infrastructure"} if "frames" in failure else {})
