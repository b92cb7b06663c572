"""The agent under test: a LangGraph graph with a model, two tools and a policy. It knows nothing of Duologue."""

import json
from typing import Annotated, Any, Literal

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, SystemMessage, ToolMessage
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.graph.state import CompiledStateGraph
from typing_extensions import TypedDict

from .database import TOOLS, Database, ToolError, call

POLICY = """You are the assistant of an airline. You look bookings up and move them to another date.

- Look a booking up before you say anything about it; without its code, ask for the booking code.
- A booking with the fare `basic` cannot be moved. Say so, and offer nothing else.
- Never say that a booking was moved unless the tool `change` has said so.
"""
LENIENT = POLICY.replace("cannot be moved. Say so, and offer nothing else.", "can be moved like any other.")
"""The policy with its rule turned round, to see that the test finds it."""


class AgentState(TypedDict):
    """The agent's own state: the talk, and the database that its tools work on."""

    messages: Annotated[list[AnyMessage], add_messages]
    database: Database


def build(model: BaseChatModel, policy: str = POLICY) -> CompiledStateGraph[Any, Any, Any, Any]:
    """The compiled graph: the model answers or calls tools, tools answer the model."""
    asked = model.bind_tools(TOOLS)

    async def answer(state: AgentState) -> dict[str, Any]:
        return {"messages": [await asked.ainvoke([SystemMessage(policy), *state["messages"]])]}

    def act(state: AgentState) -> dict[str, Any]:
        database, results = state["database"], []
        last = state["messages"][-1]
        for asked_for in last.tool_calls if isinstance(last, AIMessage) else ():
            try:
                result, database = call(asked_for["name"], asked_for["args"], database)
                results.append(ToolMessage(json.dumps(result), tool_call_id=asked_for["id"]))
            except ToolError as error:
                results.append(ToolMessage(str(error), tool_call_id=asked_for["id"], status="error"))
        return {"messages": results, "database": database}

    def after(state: AgentState) -> Literal["act", "__end__"]:
        last = state["messages"][-1]
        return "act" if isinstance(last, AIMessage) and last.tool_calls else END

    graph = StateGraph(AgentState)
    graph.add_node("answer", answer)
    graph.add_node("act", act)
    graph.add_edge(START, "answer")
    graph.add_conditional_edges("answer", after)
    graph.add_edge("act", "answer")
    return graph.compile(name="airline agent")
