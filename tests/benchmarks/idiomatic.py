"""The comparison: the same conversations as an idiomatic LangGraph loop with stock ChatOpenAI, five nodes a turn.

This is how one writes it by the book: a TypedDict with LangGraph's reducer of messages, small nodes, sync routers, the
stock client, `ainvoke` and a semaphore. Each conversation that is over becomes a line of a file.
"""

import asyncio
import json
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages

from .workload import MODEL, Pages, Workload

ATTEMPTS = 4
WORDS = 200


class State(TypedDict):
    """A conversation under way."""

    name: str
    messages: Annotated[list[AnyMessage], add_messages]
    draft: str
    accepted: bool
    attempts: int
    turn: int
    max_turns: int


def _fits(draft: str, earlier: list[AnyMessage]) -> bool:
    """Whether a draft may stand: words, not too many, none that was said before."""
    return 0 < len(draft.split()) <= WORDS and all(draft != message.content for message in earlier)


async def check_question(state: State) -> dict[str, Any]:
    if not _fits(state["draft"], state["messages"]):
        return {"accepted": False}
    return {"accepted": True, "attempts": 0, "messages": [HumanMessage(state["draft"])]}


async def check_answer(state: State) -> dict[str, Any]:
    if not _fits(state["draft"], state["messages"]):
        return {"accepted": False}
    return {"accepted": True, "attempts": 0, "messages": [AIMessage(state["draft"])]}


async def end_turn(state: State) -> dict[str, Any]:
    return {"turn": state["turn"] + 1}


def after_question(state: State) -> Literal["assistant", "user", "__end__"]:
    if state["accepted"]:
        return "assistant"
    return "user" if state["attempts"] < ATTEMPTS else "__end__"


def after_answer(state: State) -> Literal["end_turn", "assistant", "__end__"]:
    if state["accepted"]:
        return "end_turn"
    return "assistant" if state["attempts"] < ATTEMPTS else "__end__"


def after_turn(state: State) -> Literal["user", "__end__"]:
    return "user" if state["turn"] < state["max_turns"] else "__end__"


def conversation_graph(user: BaseChatModel, assistant: BaseChatModel, pages: Pages) -> Any:
    """User, check of the question, assistant, check of the answer, end of the turn."""

    async def ask(state: State) -> dict[str, Any]:
        messages = state["messages"]
        situation = f"{pages.situation}\nConversation {state['name']}"
        prompt: list[AnyMessage] = [SystemMessage(pages.user)]
        if messages:
            flipped = [
                AIMessage(message.content) if isinstance(message, HumanMessage) else HumanMessage(message.content)
                for message in messages
            ]
            flipped[-1] = HumanMessage(f"{messages[-1].content}{pages.reminder}")
            prompt += [HumanMessage(situation), *flipped]
        else:
            prompt += [HumanMessage(situation + pages.opening)]
        reply = await user.ainvoke(prompt)
        return {"draft": str(reply.content), "attempts": state["attempts"] + 1}

    async def answer(state: State) -> dict[str, Any]:
        reply = await assistant.ainvoke([SystemMessage(pages.assistant), *state["messages"]])
        return {"draft": str(reply.content), "attempts": state["attempts"] + 1}

    graph = StateGraph(State)
    graph.add_node("user", ask)
    graph.add_node("check_question", check_question)
    graph.add_node("assistant", answer)
    graph.add_node("check_answer", check_answer)
    graph.add_node("end_turn", end_turn)
    graph.add_edge(START, "user")
    graph.add_edge("user", "check_question")
    graph.add_conditional_edges("check_question", after_question, ["assistant", "user", END])
    graph.add_edge("assistant", "check_answer")
    graph.add_conditional_edges("check_answer", after_answer, ["end_turn", "assistant", END])
    graph.add_conditional_edges("end_turn", after_turn, ["user", END])
    return graph.compile()


async def held(work: Workload, model: BaseChatModel, out: Path) -> int:
    """Hold all conversations with a model for both sides; how many messages there are."""
    graph = conversation_graph(model, model, work.texts)
    semaphore = asyncio.Semaphore(work.concurrency)
    with out.open("a") as file:

        async def one(number: int) -> int:
            async with semaphore:
                state = await graph.ainvoke(
                    {
                        "name": str(number),
                        "messages": [],
                        "draft": "",
                        "accepted": False,
                        "attempts": 0,
                        "turn": 0,
                        "max_turns": work.turns,
                    }
                )
            messages = [{"role": message.type, "content": message.content} for message in state["messages"]]
            file.write(json.dumps({"name": state["name"], "messages": messages}) + "\n")
            file.flush()
            return len(messages)

        return sum(await asyncio.gather(*(one(number) for number in range(work.conversations))))


def stock_model(work: Workload) -> BaseChatModel:
    """ChatOpenAI as one writes it."""
    from langchain_openai import ChatOpenAI

    return ChatOpenAI(model=MODEL, base_url=work.url, api_key="none")
