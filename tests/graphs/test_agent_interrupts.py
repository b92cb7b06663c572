"""`interrupt()` in somebody's own agent: a question to the user, or a named stop."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphInterrupt
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Interrupt, interrupt

from duologue.data.recllmsim import Situation
from duologue.graphs import recllmsim
from duologue.nodes import Limits, every, not_empty, validator
from tests.graphs.played import played

ABOUT = Situation(task="gift preparation", task_context="You want a present.", preference="1. Gender: Female")


def asking(question: Any = "Which colour?", when: str = "thing 1", **compiled: Any) -> Any:
    """An agent that interrupts itself at the words, and says what it was answered."""

    async def answer(state: MessagesState) -> dict[str, Any]:
        if str(state["messages"][-1].text).startswith(when):
            return {"messages": [AIMessage(f"So it is {interrupt(question)}.")]}
        return {"messages": [AIMessage(f"I heard {len(state['messages'])}.")]}

    return StateGraph(MessagesState).add_node("answer", answer).add_edge(START, "answer").compile(**compiled)


async def talk(agent: Any, reject: str = "", turns: int = 3) -> Any:
    """A conversation; `reject` has a letter for each reply, `x` to reject it."""
    judged: Iterator[str] = iter(reject)
    lines: Iterator[str] = iter(f"thing {number}" for number in range(1, 100))
    judge = validator(lambda draft, state: "rude" if next(judged, "-") == "x" else None)
    cast = recllmsim.cast(user=lambda messages: next(lines)).replace(
        assistant=agent, answer_validator=every(not_empty, judge)
    )
    return await played(cast, recllmsim.scenario(ABOUT), Limits(max_turns=turns))


async def test_a_text_in_an_interrupt_is_a_question_to_the_user_and_the_next_message_answers_it():
    conversation = await talk(asking(checkpointer=InMemorySaver()))
    assert [message.text for message in conversation.messages] == [
        "thing 1",
        "Which colour?",
        "thing 2",
        "So it is thing 2.",
        "thing 3",
        "I heard 3.",
    ]
    assert conversation.stop == "max_turns"


async def test_a_rejected_question_is_drafted_again_with_the_repair_line():
    conversation = await talk(asking(checkpointer=InMemorySaver()), "x")
    assert [attempt.text for attempt in conversation.messages[1].attempts] == ["Which colour?", "I heard 2."]


async def test_an_agent_whose_reply_to_an_answer_is_rejected_is_given_the_answer_again():
    runs: list[str] = []

    async def answer(state: MessagesState) -> dict[str, Any]:
        runs.append(str(interrupt("Which colour?")))
        return {"messages": [AIMessage(f"{runs[-1]}, {len(runs)} times.")]}

    graph = StateGraph(MessagesState).add_node("answer", answer).add_edge(START, "answer")
    agent = graph.compile(checkpointer=InMemorySaver())
    conversation = await talk(agent, "-xx", turns=4)
    assert runs == ["thing 2"] * 3 + ["thing 4"]
    assert conversation.messages[3].text == "thing 2, 3 times."
    assert [attempt.prompt for attempt in conversation.messages[3].attempts] == [None] * 3
    thread = await agent.aget_state({"configurable": {"thread_id": conversation.id}})
    assert [m.text for m in thread.values["messages"]] == [
        "thing 1",
        "thing 2, 3 times.",
        "thing 3",
        "thing 4, 4 times.",
    ]


def raising(state: dict[str, Any]) -> None:
    raise GraphInterrupt([Interrupt("Which colour?")])


@pytest.mark.parametrize("reject", ["-x", "-xx", "--x", "-x-x", "---x", "x-xx"])
async def test_a_node_that_asks_several_questions_is_given_each_answer_once_whatever_is_rejected(reject):
    async def answer(state: MessagesState) -> dict[str, Any]:
        answers = [interrupt(question) for question in ("Which colour?", "Which size?", "Which day?")]
        return {"messages": [AIMessage(", ".join(answers))]}

    graph = StateGraph(MessagesState).add_node("answer", answer).add_edge(START, "answer")
    conversation = await talk(graph.compile(checkpointer=InMemorySaver()), reject, turns=4)
    replies = [[attempt.text for attempt in m.attempts] for m in conversation.messages if m.role == "assistant"]
    assert [texts[-1] for texts in replies] == [
        "Which colour?",
        "Which size?",
        "Which day?",
        "thing 2, thing 3, thing 4",
    ]
    assert all(len(set(texts)) == 1 for texts in replies)
    assert sum(map(len, replies)) == 4 + reject.count("x")


async def test_the_repair_line_before_a_question_is_taken_out_after_the_answer():
    agent = asking(when="<note>", checkpointer=InMemorySaver())
    conversation = await talk(agent, "x")
    replies = [message.text for message in conversation.messages if message.role == "assistant"]
    assert replies == ["Which colour?", "So it is thing 2.", "I heard 3."]
    thread = await agent.aget_state({"configurable": {"thread_id": conversation.id}})
    assert [message.text for message in thread.values["messages"]] == ["thing 1", replies[1], "thing 3", replies[2]]


async def test_an_interrupt_of_an_agent_that_plays_the_user_is_no_fault_of_the_assistant():
    cast = recllmsim.cast(user=asking({"tool": "pay"}, when=""))
    conversation = await played(cast, recllmsim.scenario(ABOUT), Limits(max_turns=2))
    assert (conversation.stop, conversation.fault, conversation.failure) == (
        "user_rejected",
        "user",
        None,
    )


PERSISTENT: dict[str, Any] = {"checkpointer": InMemorySaver()}


@pytest.mark.parametrize(
    ("agent", "why", "arguments"),
    [
        (asking(), "it has no checkpointer", {"value": "Which colour?"}),
        (asking({"tool": "pay"}, **PERSISTENT), "it asks no one question", {"tool": "pay"}),
        (asking("  ", **PERSISTENT), "it asks no one question", {"value": "  "}),
        (asking({1, 2}, **PERSISTENT), "it asks no one question", {"value": "{1, 2}"}),
        (RunnableLambda(asking().ainvoke), "it has no checkpointer", {"value": "Which colour?"}),
        (RunnableLambda(raising), "it has no checkpointer", {"value": "Which colour?"}),
        (lambda messages: interrupt("Which colour?"), "it has no checkpointer", {"value": "Which colour?"}),
    ],
)
async def test_an_interrupt_that_nobody_can_answer_is_a_named_stop(agent, why, arguments):
    conversation = await talk(agent)
    assert (conversation.stop, conversation.fault, conversation.failure) == ("agent_interrupted", "assistant", None)
    (turn,) = conversation.unsaid
    (call,) = turn.attempts[0].tool_calls
    assert (call.name, call.arguments, call.error) == ("interrupt", arguments, f"no one can answer the agent: {why}")
    assert conversation.finished


async def test_what_an_agent_said_before_it_was_interrupted_is_kept():
    async def say(state: MessagesState) -> dict[str, Any]:
        return {"messages": [AIMessage("One moment.")]}

    async def pay(state: MessagesState) -> dict[str, Any]:
        return {"messages": [AIMessage(json.dumps(interrupt({"pay": 3})))]}

    graph = StateGraph(MessagesState).add_node("say", say).add_node("pay", pay)
    graph.add_edge(START, "say").add_edge("say", "pay")
    conversation = await talk(graph.compile())
    assert conversation.messages[-1].text == "One moment."
    assert conversation.messages[-1].tool_calls[0].name == "interrupt"
    assert conversation.stop == "agent_interrupted"


async def test_a_breakpoint_of_an_agent_is_a_named_stop():
    conversation = await talk(asking(checkpointer=InMemorySaver(), interrupt_before=["answer"]))
    assert conversation.stop == "agent_interrupted"
    assert conversation.unsaid[0].attempts[0].tool_calls[0].arguments == {"value": "paused before answer"}


async def test_the_tool_that_asks_the_user_has_its_answer_in_the_record():
    """As in LangGraph's own pattern: a tool node interrupts itself, and its result is the user's answer."""

    async def model(state: MessagesState) -> dict[str, Any]:
        last = state["messages"][-1]
        if isinstance(last, ToolMessage):
            return {"messages": [AIMessage(f"{last.text} it is.")]}
        call = {"name": "ask_user", "args": {"about": "colour"}, "id": "1"}
        return {"messages": [AIMessage("", tool_calls=[call])]}

    async def ask(state: MessagesState) -> dict[str, Any]:
        return {"messages": [ToolMessage(interrupt("Which colour?"), tool_call_id="1")]}

    graph = StateGraph(MessagesState).add_node("model", model).add_node("ask", ask).add_edge(START, "model")
    graph.add_conditional_edges(
        "model", lambda state: "ask" if state["messages"][-1].tool_calls else "__end__", ["ask", "__end__"]
    )
    graph.add_edge("ask", "model")
    conversation = await talk(graph.compile(checkpointer=InMemorySaver()), turns=2)
    assert [message.text for message in conversation.messages] == [
        "thing 1",
        "Which colour?",
        "thing 2",
        "thing 2 it is.",
    ]
    (call,) = conversation.messages[1].tool_calls
    assert (call.name, call.error) == ("ask_user", "it waits for the answer to the agent's question")
    (answered,) = conversation.messages[3].tool_calls
    assert (answered.name, answered.arguments, answered.result) == ("ask_user", {"about": "colour"}, "thing 2")


async def test_an_agent_that_was_interrupted_is_asked_the_questions_after_the_conversation_too():
    heard: list[str] = []

    async def answer(state: MessagesState) -> dict[str, Any]:
        heard.append(str(state["messages"][-1].text))
        return {"messages": [AIMessage("Yes." if heard[1:] else interrupt({"tool": "pay"}))]}

    graph = StateGraph(MessagesState).add_node("answer", answer).add_edge(START, "answer")
    cast = recllmsim.cast(assistant=graph.compile(), post_questions=True)
    conversation = await played(cast, recllmsim.scenario(ABOUT), Limits(max_turns=1))
    assert conversation.stop == "agent_interrupted"
    assert heard[1].startswith("<note>")
