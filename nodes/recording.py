"""The nodes that end a turn and a conversation. What they answer is kept by the graph; these add nothing."""

from langgraph.runtime import Runtime

from .limits import Limits
from .state import State, Update


async def turn_recorder(state: State, runtime: Runtime[Limits]) -> Update:
    """Adds nothing: the graph counts the turn. A place for labels of the conversation so far."""
    return {}


async def closing(state: State, runtime: Runtime[Limits]) -> Update:
    """Adds nothing. A place for questions about the conversation as it ended."""
    return {}
