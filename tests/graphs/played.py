"""A conversation as a run has it: played by the engine, and recorded however it ends."""

from typing import Any

from duologue.data import Conversation
from duologue.graphs import Cast, conversation
from duologue.nodes import Limits
from duologue.runs.engine.conversing import converse


async def played(cast: Cast, state: Any, limits: Limits | None = None) -> Conversation:
    """The record of a planned conversation."""
    kept: list[Conversation] = []
    await converse(conversation(cast), state, (limits or Limits()).or_else(cast.limits), kept.append)
    (record,) = kept
    return record
