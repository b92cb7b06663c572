"""An agent that moves bookings: a LangGraph graph with one tool. It follows rules, so it needs no key."""

import re

from langchain_core.messages import AIMessage, AnyMessage
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition


@tool
def change(booking: str, date: str) -> str:
    """Move a booking to another date."""
    return f"Done: booking {booking} is now on {date}."


def model(messages: list[AnyMessage]) -> AIMessage:
    """The next message: a call of the tool once booking and date are there."""
    if messages[-1].type == "tool":
        return AIMessage(messages[-1].text)
    words = " ".join(message.text for message in messages if message.type == "human")
    booking = re.search(r"[A-Z]{2}\d{4}", words)
    date = re.search(r"\d{4}-\d\d-\d\d", words)
    if booking is None or date is None:
        return AIMessage(f"Which is the {'new date' if booking else 'booking code'}?")
    arguments = {"booking": booking[0], "date": date[0]}
    return AIMessage("", tool_calls=[{"name": "change", "args": arguments, "id": "1"}])


# model = ChatOpenAI(model="gpt-4.1-mini").bind_tools([change]).invoke  # a model in its place


builder = StateGraph(MessagesState)
builder.add_node("model", lambda state: {"messages": [model(state["messages"])]})
builder.add_node("tools", ToolNode([change]))
builder.add_edge(START, "model")
builder.add_conditional_edges("model", tools_condition)
builder.add_edge("tools", "model")
graph = builder.compile()
