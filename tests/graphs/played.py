"""A small cast that answers itself, and conversations as a run has them: played by the engine, recorded however they end."""

from typing import Any

from duologue.data import Conversation
from duologue.graphs import Cast, conversation
from duologue.graphs.graph import fuse
from duologue.graphs.records import begun, id_of
from duologue.nodes import Limits, said
from duologue.runs.engine import converse, planned

__all__ = ["SCENARIO", "begun", "converse", "fuse", "id_of", "planned", "played", "talk"]

SCENARIO: Any = {"scenario": {"kind": "talk", "topic": "lighthouses"}}


def talk(**parts: Any) -> Cast:
    """A cast of two functions and two turns, or of these parts."""

    async def user(state: Any, runtime: Any) -> Any:
        return {"drafts": [{"text": f"Question {state['turn']}?"}]}

    async def assistant(state: Any, runtime: Any) -> Any:
        return {"drafts": [{"text": f"Answer to {said(state)[-1]['text']}"}]}

    return Cast(
        **{"name": "talk", "user_simulator": user, "assistant": assistant, "limits": Limits(max_turns=2)} | parts
    )


async def played(cast: Cast, state: Any, limits: Limits | None = None) -> Conversation:
    """The record of a planned conversation."""
    kept: list[Conversation] = []
    await converse(conversation(cast), state, (limits or Limits()).or_else(cast.limits), kept.append)
    (record,) = kept
    return record
