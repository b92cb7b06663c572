"""The tool calls of an agent's stored turn, made again in a new world."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage
from langgraph.graph import START, MessagesState, StateGraph

from ...data.attempts import INTERRUPT, WAITING
from ...data.formats.tool_messages import NO_RESULT
from ..replies.conversion import drafts_of
from ..settings.redaction import error_line
from ..state import Draft
from ..world_journal import RepeatError
from .own_config import on_its_own
from .tools import tool_nodes


@dataclass(frozen=True)
class RepeatedCalls:
    """Makes the tool calls of an agent's drafts again."""

    agent: object
    context: Any
    """What the agent's graph is called with, the new world in it."""

    def hindrance(self, drafts: Sequence[Draft]) -> str | None:
        """Why the calls of the drafts cannot be made again; None if they can."""
        nodes = tool_nodes(self.agent)
        for call in _calls(drafts):
            if call["name"] == INTERRUPT or call.get("error") in (WAITING, NO_RESULT) or "arguments" not in call:
                return f"the call {call['name']} has no result"
            if call["name"] not in nodes:
                return f"the tool {call['name']} is in no tool node of the agent's graph, which could call it again"
        return None

    async def make(self, drafts: Sequence[Draft]) -> None:
        """Call each tool as before, in order; RepeatError for another result."""
        nodes = tool_nodes(self.agent)
        for number, call in enumerate(_calls(drafts)):
            request = AIMessage(
                "", tool_calls=[{"name": call["name"], "args": call["arguments"], "id": f"again-{number}"}]
            )
            graph: Any = StateGraph(MessagesState).add_node("tools", nodes[call["name"]]).add_edge(START, "tools")
            try:
                with on_its_own():
                    answer = await graph.compile().ainvoke({"messages": [request]}, context=self.context)
                (repeated,) = _calls(drafts_of(answer["messages"]))
            except Exception as error:
                raise RepeatError(f"{call['name']} fails: {error_line(error)}") from error
            if any(repeated.get(key) != call.get(key) for key in ("result", "error")):
                raise RepeatError(f"{call['name']} gives another result")


def _calls(drafts: Sequence[Draft]) -> list[dict[str, Any]]:
    return [call for draft in drafts for call in draft.get("tool_calls", [])]
