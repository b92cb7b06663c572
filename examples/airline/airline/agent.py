"""The agent under test: a LangGraph graph with a model, two tools and a policy. It knows nothing of Duologue.

Its tools find the database in LangGraph's runtime: `context.world`.
"""

from typing import Any, Literal

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, SystemMessage
from langchain_core.tools import tool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.prebuilt import ToolNode, ToolRuntime

from .database import RefusedError

POLICY = """You are the assistant of an airline. You look bookings up and move them to another date.

- Look a booking up before you say anything about it; without its code, ask for the booking code.
- A booking with the fare `basic` cannot be moved. Say so, and offer nothing else.
- Never say that a booking was moved unless the tool `change` has said so.
"""
LENIENT = POLICY.replace("cannot be moved. Say so, and offer nothing else.", "can be moved like any other.")
"""The policy with its rule turned round, to see that the test finds it."""


@tool
def look_up(booking: str, runtime: ToolRuntime[Any, Any]) -> dict[str, Any]:
    """Look up a booking by its code: date and fare."""
    record: dict[str, Any] = runtime.context.world.look_up(booking)
    return record


@tool
def change(booking: str, date: str, runtime: ToolRuntime[Any, Any]) -> dict[str, Any]:
    """Move a booking to another date, written as YYYY-MM-DD."""
    moved: dict[str, Any] = runtime.context.world.change(booking, date)
    return moved


def _tool_error(error: RefusedError) -> str:
    return str(error)


def build(model: BaseChatModel, policy: str = POLICY) -> CompiledStateGraph[Any, Any, Any, Any]:
    """The compiled graph: the model answers or calls tools, tools answer the model."""
    tools = (look_up, change)
    model_with_tools = model.bind_tools(tools)

    async def answer(state: MessagesState) -> dict[str, Any]:
        return {"messages": [await model_with_tools.ainvoke([SystemMessage(policy), *state["messages"]])]}

    def after(state: MessagesState) -> Literal["act", "__end__"]:
        last = state["messages"][-1]
        return "act" if isinstance(last, AIMessage) and last.tool_calls else END

    graph = StateGraph(MessagesState)
    graph.add_node("answer", answer)
    graph.add_node("act", ToolNode(tools, handle_tool_errors=_tool_error))
    graph.add_edge(START, "answer")
    graph.add_conditional_edges("answer", after)
    graph.add_edge("act", "answer")
    return graph.compile(name="airline agent")
