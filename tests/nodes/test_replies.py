"""The table of shapes: what an agent or a function answers, in any form, and the one reply that it becomes."""

import json
import operator
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from langchain.agents import AgentState, create_agent
from langchain.agents.middleware import (
    ModelCallLimitMiddleware,
    PIIMiddleware,
    ToolCallLimitMiddleware,
    after_model,
    before_model,
    wrap_model_call,
    wrap_tool_call,
)
from langchain.agents.structured_output import ProviderStrategy, ToolStrategy
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, RemoveMessage, SystemMessage, ToolMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import InjectedToolCallId, tool
from langgraph.func import entrypoint, task
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.prebuilt import ToolNode
from langgraph.types import Command, Send
from openai.types.chat import ChatCompletion, ChatCompletionChunk, ChatCompletionMessage
from openai.types.responses import Response
from pydantic import BaseModel
from typing_extensions import TypedDict

from duologue.nodes import AgentSpeaker
from duologue.nodes.models.scripted import ScriptedModel
from duologue.nodes.replies import reply_of
from tests.graphs.agents.talks import call, calls_of, chain, first_draft, replies, says, talk

MOVED = "Your room is moved."
LOOK = call("look", room=12)
LOOKED = ("look", {"room": 12}, "free")
OPENAI_CALL = {"id": "look-1", "type": "function", "function": {"name": "look", "arguments": '{"room": 12}'}}
SPENT: Any = {"input_tokens": 6, "output_tokens": 2, "total_tokens": 8}
BROKEN = call("pay") | {"args": "{", "error": None}


def fixed(answer: Any) -> Callable[[Any], Any]:
    return lambda messages: answer


class Moved(BaseModel):
    """How an agent with a response format answers."""

    reply: str
    done: bool = True


@dataclass
class Answered:
    text: str


@dataclass
class RunResult:
    """As of OpenAI's Agents SDK."""

    input: str
    final_output: str
    last_agent: Any
    new_items: tuple["RunItem", ...] = ()


@dataclass
class RunItem:
    raw_item: Any


def whole(new: Any, form: Callable[[dict[str, Any]], Any] = dict) -> Callable[[Any], Any]:
    """A function that answers with the whole conversation, every message anew."""
    return lambda messages: [*map(form, messages), new]


def as_blocks(message: dict[str, Any]) -> dict[str, Any]:
    return {"role": message["role"], "content": [{"type": "text", "text": message["content"]}]}


def generator(*parts: Any) -> Callable[[Any], Any]:
    """An agent that answers in these pieces."""
    return lambda messages: iter(parts)


def pieces(messages: Any) -> Iterator[str]:
    yield "Your room "
    yield "is moved."


async def awaited_pieces(messages: Any) -> AsyncIterator[Any]:
    for text in ("Your room ", "is moved."):
        yield AIMessageChunk(content=[{"type": "text", "text": text, "index": 0}])


async def message_by_message(messages: Any) -> AsyncIterator[Any]:
    for one in (AIMessage("", tool_calls=[LOOK]), ToolMessage("free", tool_call_id="look-1"), AIMessage(MOVED)):
        yield one


async def coroutine(messages: Any) -> str:
    return MOVED


REASONING = {"id": "rs_1", "type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}
OUTPUT = {"id": "m_1", "type": "message", "role": "assistant", "status": "completed",
          "content": [{"type": "output_text", "text": MOVED, "annotations": []}]}  # fmt: skip
FUNCTION_CALL = {"type": "function_call", "name": "look", "arguments": '{"room": 12}', "call_id": "look-1"}
FUNCTION_OUTPUT = {"type": "function_call_output", "call_id": "look-1", "output": "free"}
RESPONSE = Response.model_validate({
    "id": "r", "created_at": 1, "model": "m-1", "object": "response", "parallel_tool_calls": True, "tool_choice": "auto",
    "tools": [], "output": [REASONING, OUTPUT], "usage": {"input_tokens": 6, "output_tokens": 2, "total_tokens": 8,
    "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}},
})  # fmt: skip
COMPLETION = {"id": "1", "created": 1, "model": "m-1", "object": "chat.completion", "choices": [
    {"index": 0, "finish_reason": "length", "message": {"role": "assistant", "content": MOVED}}]}  # fmt: skip


def piece(*choices: Any, **more: Any) -> dict[str, Any]:
    listed = [{"index": 0, "finish_reason": None, "delta": delta} for delta in choices]
    return {"id": "1", "created": 1, "model": "m-1", "object": "chat.completion.chunk", "choices": listed, **more}


PIECES = [
    *(piece({"content": text}) for text in ("Your room ", "is moved.")),
    piece({"tool_calls": [{**OPENAI_CALL, "index": 0, "function": {"name": "look", "arguments": ""}}]}),
    *(piece({"tool_calls": [{"index": 0, "function": {"arguments": text}}]}) for text in ('{"room"', ": 12}")),
    piece(usage={"prompt_tokens": 6, "completion_tokens": 2, "total_tokens": 8}),
]
IN_PIECES = {"model": "m-1", "usage": (6, 2, 1), "calls": [("look", {"room": 12}, "no result came")]}


async def awaited_chunks(messages: Any) -> AsyncIterator[Any]:
    for one in PIECES:
        yield ChatCompletionChunk.model_validate(one)


class Structured(MessagesState):
    structured_response: Any


class Handed(MessagesState):
    active_agent: str


class LastOnly(TypedDict):
    messages: list[Any]


def structured_by_hand() -> Any:
    tool_call = call("Moved", reply=MOVED, done=True)

    def desk(state: Structured) -> Any:
        found = ToolMessage("Returning structured response", tool_call_id=tool_call["id"], name="Moved")
        return {"messages": [AIMessage("", tool_calls=[tool_call]), found], "structured_response": Moved(reply=MOVED)}

    return chain(Structured, desk=desk).compile()


def structured(strategy: Any, line: AIMessage) -> Any:
    return create_agent(ScriptedModel(lines=[line], by_call=True), [], response_format=strategy(Moved))


def supervised() -> Any:
    """The messages of langgraph-supervisor: out to a worker, and back by a call that nobody made."""

    def supervisor(state: MessagesState) -> Any:
        if isinstance(state["messages"][-1], HumanMessage):
            there = AIMessage("Let me pass you on.", tool_calls=[call("transfer_to_billing")], name="supervisor")
            return {"messages": [there, ToolMessage("ok", tool_call_id="transfer_to_billing-1")]}
        return {"messages": [AIMessage(MOVED, name="supervisor")]}

    def billing(state: MessagesState) -> Any:
        about = {"__is_handoff_back": True}
        back = AIMessage("Transferring back to supervisor", name="billing", response_metadata=about,
                         tool_calls=[call("transfer_back_to_supervisor")])  # fmt: skip
        gone = ToolMessage("ok", tool_call_id="transfer_back_to_supervisor-1", response_metadata=about)
        return {"messages": [AIMessage("Worker: the move is booked.", name="billing"), back, gone]}

    graph = StateGraph(MessagesState).add_node("supervisor", supervisor).add_node("billing", billing)
    graph.add_edge(START, "supervisor").add_edge("billing", "supervisor")
    graph.add_conditional_edges("supervisor", lambda s: "billing" if s["messages"][-1].type == "tool" else "__end__")
    return graph.compile()


def swarm() -> Any:
    """The tool of langgraph-swarm: a Command of the inner graph to the outer one, with the messages so far."""

    def alice(state: Any) -> Any:
        handed = AIMessage("I am Alice, I pass you on.", name="alice", tool_calls=[call("transfer_to_bob")])
        messages = [*state["messages"], handed, ToolMessage("ok", tool_call_id="transfer_to_bob-1")]
        return Command(goto="bob", graph=Command.PARENT, update={"messages": messages, "active_agent": "bob"})

    inner = chain(Handed, alice=alice).compile()
    graph = StateGraph(Handed).add_node("alice", inner, destinations=("bob",))
    graph.add_node("bob", lambda state: {"messages": [AIMessage(MOVED, name="bob")]})
    return graph.add_conditional_edges(START, lambda s: s.get("active_agent") or "alice", ["alice", "bob"]).compile()


def commanded() -> Any:
    """Two named agents, of which the first goes to the second by a Command, without a tool."""

    def first(state: MessagesState) -> Any:
        return Command(goto="second", update={"messages": [AIMessage("I pass you on.", name="first")]})

    graph = StateGraph(MessagesState).add_node("first", first, destinations=("second",)).add_edge(START, "first")
    return graph.add_node("second", lambda s: {"messages": [AIMessage(MOVED, name="second")]}).compile()


def summarised(*more: Any) -> Any:
    return says(RemoveMessage(id=REMOVE_ALL_MESSAGES), HumanMessage("So far: a room is wanted."), *more)


def last_value(state: LastOnly) -> Any:
    return {"messages": [*state["messages"], {"role": "assistant", "content": MOVED}]}


@entrypoint()
def functional(messages: list[Any]) -> AIMessage:
    return AIMessage(MOVED)


class Question(TypedDict):
    question: str
    answer: Any


def asked(answer: Any) -> Any:
    graph = chain(Question, desk=lambda state: {"answer": answer}).compile()
    return AgentSpeaker("assistant", graph, reads="question", answers="answer")


def schemed() -> Any:
    graph = StateGraph(Handed, output_schema=TypedDict("Output", {"active_agent": str}))
    graph.add_node("desk", lambda state: {"messages": [AIMessage("for itself")], "active_agent": MOVED})
    return graph.add_edge(START, "desk").compile()


@tool
def look(room: int) -> str:
    """Look a room up."""
    return "free"


class Files(AgentState):
    files: Annotated[dict[str, str], operator.or_]


def deep() -> Any:
    """A sub-agent behind a tool that writes a file, as deepagents has them."""

    @tool
    async def task(about: str, tool_call_id: Annotated[str, InjectedToolCallId]) -> Any:
        """Hand it on."""
        sub = create_agent(ScriptedModel(lines=[AIMessage("", tool_calls=[LOOK]), "All free."], by_call=True), [look])
        said = (await sub.ainvoke({"messages": [HumanMessage(about)]}))["messages"][-1].text
        return Command(update={"messages": [ToolMessage(said, tool_call_id=tool_call_id)], "files": {"a.md": said}})

    lines = [AIMessage("", tool_calls=[call("task", about="rooms")]), AIMessage(MOVED)] * 2
    return create_agent(ScriptedModel(lines=lines, by_call=True), [task], state_schema=Files)


def routed(messages: Any) -> Any:
    """A function that asks a model for a value of a schema, which is no act, and then answers."""
    line = AIMessage("", tool_calls=[call("Moved", reply="to the desk")])
    model: Any = ScriptedModel(lines=[line], by_call=True).with_structured_output(Moved)
    return MOVED if model.invoke("Where to?").reply == "to the desk" else ""


def calls_by_itself(messages: Any) -> Any:
    """A function that asks a model, calls its tools, by the call and by the arguments, and tells neither."""
    said = ScriptedModel(lines=[AIMessage("", tool_calls=[LOOK, call("look", 2, room=13)])], by_call=True).invoke("")
    look.invoke(said.tool_calls[0])
    look.invoke(said.tool_calls[1]["args"])
    return MOVED


def guarded() -> Any:
    """A node that changes the words of the one before in place, as LangChain's page on guardrails has it."""

    def guard(state: MessagesState) -> Any:
        state["messages"][-1].content = MOVED

    return chain(desk=lambda state: {"messages": [AIMessage("No!")]}, guard=guard).compile()


class Fan(MessagesState):
    found: Annotated[list[str], operator.add]


def fanned() -> Any:
    graph = StateGraph(Fan).add_node("find", lambda state: {"found": [state["place"]]})
    graph.add_node("end", lambda state: {"messages": [AIMessage(MOVED)]}, defer=True).add_edge("find", "end")
    sends = [Send("find", {"place": place}) for place in ("here", "there")]
    return graph.add_conditional_edges(START, lambda state: sends, ["find"]).compile()


@task
async def written(messages: list[Any]) -> str:
    return MOVED


@entrypoint()
async def with_task(messages: list[Any]) -> str:
    return await written(messages)


CALLED = [AIMessage("", tool_calls=[LOOK]), ToolMessage("free", tool_call_id="look-1"), AIMessage(MOVED)]
PLAIN_CALLED = [
    {"role": "assistant", "content": None, "tool_calls": [OPENAI_CALL]},
    {"role": "tool", "tool_call_id": "look-1", "content": "free"},
    {"role": "assistant", "content": MOVED},
]
PARALLEL = [
    AIMessage([{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "text", "text": "Let me look."}],
              tool_calls=[call("look"), call("pay", euro=3)], usage_metadata=SPENT),
    ToolMessage("no card", tool_call_id="pay-1", status="error"), ToolMessage('{"free": [1]}', tool_call_id="look-1"),
    AIMessage("Which card?", additional_kwargs={"reasoning_content": "private"}, usage_metadata=SPENT),
]  # fmt: skip
MENDED = [
    AIMessage("", invalid_tool_calls=[BROKEN]), ToolMessage("write JSON", tool_call_id="pay-1", status="error"),
    AIMessage("", tool_calls=[call("pay")]), ToolMessage("paid", tool_call_id="pay-1"), AIMessage(MOVED),
]  # fmt: skip
SAME_IDS = [
    *(one for text in ("first", "second") for one in (
        AIMessage("", tool_calls=[call("look", 0, room=text)]), ToolMessage(text, tool_call_id="look-0"))),
    AIMessage(MOVED, tool_calls=[call("look", 0, room="third")]),
]  # fmt: skip
BLOCKS: list[Any] = [
    {"type": "reasoning", "reasoning": "hm", "id": "rs"},
    {"type": "server_tool_call", "name": "web_search", "id": "w", "args": {}},
    {"type": "text", "text": MOVED, "annotations": [{"type": "citation", "url": "https://x"}]},
]
CHUNKS = [*CALLED[:2], *(AIMessageChunk(content=text, id="m") for text in ("Your room ", "is moved."))]


REFUSED: dict[str, Any] = {"text": "I won't.", "flaw": "refusal"}

ROWS: dict[str, tuple[Any, dict[str, Any]]] = {
    # of functions
    "transcript": (
        fixed(AIMessage([{"type": "audio", "base64": "AAAA", "mime_type": "audio/wav", "transcript": MOVED}])), {}),
    "text": (fixed(MOVED), {}),
    "text of a coroutine": (coroutine, {}),
    "message": (fixed(AIMessage(MOVED, usage_metadata=SPENT)), {"usage": (6, 2, 1)}),
    "plain message": (fixed({"role": "assistant", "content": MOVED}), {}),
    "blocks without a role": (fixed({"content": [{"type": "text", "text": MOVED}]}), {}),
    "blocks of LangChain": (
        fixed(AIMessage(content_blocks=BLOCKS)), {"reasoning": "hm"}),
    "OpenAI's message": (fixed(ChatCompletionMessage(role="assistant", content=MOVED)), {}),
    "OpenAI's completion": (fixed(ChatCompletion.model_validate(COMPLETION)), {"flaw": "cut_off", "model": "m-1"}),
    "role and text": (fixed([("assistant", MOVED)]), {}),
    "plain completion": (fixed(COMPLETION), {"flaw": "cut_off", "model": "m-1"}),
    "filtered completion": (
        fixed({"choices": [{"message": {"role": "assistant", "content": None}, "finish_reason": "content_filter"}]}),
        {"text": "", "flaw": "content_filter", "said": False}),
    "Responses": (fixed(RESPONSE), {"reasoning": "hm", "model": "m-1", "usage": (6, 2, 1)}),
    "Responses' objects": (fixed(RESPONSE.output), {"reasoning": "hm"}),
    "Responses' items": (fixed([REASONING, FUNCTION_CALL, FUNCTION_OUTPUT, OUTPUT]), {"reasoning": "hm", "calls": [LOOKED]}),
    "one object": (fixed({"output": MOVED}), {}),
    "dataclass": (fixed(Answered(MOVED)), {}),
    "model of pydantic": (fixed(Moved(reply=MOVED)), {}),
    "state": (lambda messages: {"messages": [*messages, {"role": "assistant", "content": MOVED}]}, {}),
    "structured state": (fixed({"messages": [HumanMessage("hi")], "structured_response": Moved(reply=MOVED)}), {}),
    "state of a served graph": (
        lambda ms: {"messages": [*({"type": "human" if one["role"] == "user" else "ai", "content": one["content"]} for one in ms),
                                 *(one.model_dump(mode="json") for one in CALLED)]}, {"calls": [LOOKED]}),
    "whole history": (whole({"role": "assistant", "content": MOVED}), {}),
    "whole history in blocks": (whole(as_blocks({"role": "assistant", "content": MOVED}), as_blocks), {}),
    "end of the history": (lambda messages: [messages[-1], AIMessage(MOVED)], {}),
    "summary and the last words": (lambda messages: [{"role": "user", "content": "So far."}, messages[-1], AIMessage(MOVED)], {}),
    "messages with a call": (fixed(CALLED), {"calls": [LOOKED]}),
    "plain messages with a call": (fixed(PLAIN_CALLED), {"calls": [LOOKED]}),
    "generator of texts": (pieces, {}),
    "generator of a completion's pieces": (generator(*PIECES), IN_PIECES),
    "async generator of OpenAI's chunks": (awaited_chunks, IN_PIECES),
    "generator of a response's events": (
        generator({"type": "response.output_text.delta", "delta": "Your "}, {"type": "response.completed", "response": RESPONSE.model_dump()}),
        {"reasoning": "hm", "model": "m-1", "usage": (6, 2, 1)}),
    "generator of nothing": (lambda messages: iter(()), {"text": "", "flaw": "empty", "said": False}),
    "generator of messages": (lambda messages: iter([{"role": "assistant", "content": MOVED}]), {}),
    "async generator of chunks": (awaited_pieces, {}),
    "async generator of messages": (message_by_message, {"calls": [LOOKED]}),
    "stream of LangGraph's messages": (
        generator(*((one, {"langgraph_node": "model"}) for one in CHUNKS)), {"calls": [LOOKED]}),
    "stream of LangGraph's values": (
        lambda ms: iter([{"messages": ms}, {"messages": [*ms, {"role": "assistant", "content": MOVED}]}]), {}),
    "several texts": (fixed(["One moment.", MOVED]), {"text": f"One moment.\n\n{MOVED}"}),
    "thoughts in tags": (fixed(f"<think>###STOP###</think>{MOVED}"), {"cleaned": ("reasoning",)}),
    "refusal": (fixed({"role": "assistant", "content": None, "refusal": "I won't."}), REFUSED),
    "refusal of OpenAI": (fixed(ChatCompletionMessage(role="assistant", refusal="I won't.")), REFUSED),
    "refusal in a block": (fixed(AIMessage([{"type": "refusal", "refusal": "I won't."}])), REFUSED),
    "nothing": (fixed(""), {"text": "", "flaw": "empty", "said": False}),
    "empty blocks": (fixed(AIMessage([])), {"text": "", "flaw": "empty", "said": False}),
    "a reminder behind it": (fixed([AIMessage(MOVED), HumanMessage("[reminder] be brief")]), {}),
    "its own words again": (whole({"role": "assistant", "content": "line 1"}), {"text": "line 1"}),
    # of other APIs and libraries
    "recording with a transcript": (
        fixed(ChatCompletionMessage.model_validate({"role": "assistant", "audio": {
            "id": "a", "data": "AAAA", "expires_at": 1, "transcript": MOVED}})), {}),
    "transcript of a realtime response": (
        fixed({"type": "response.done", "response": {"object": "realtime.response", "output": [
            {"type": "message", "role": "assistant", "content": [{"type": "output_audio", "transcript": MOVED}]}]}}), {}),
    "Anthropic's message": (
        fixed({"id": "m", "type": "message", "role": "assistant", "model": "m-1", "stop_reason": "max_tokens", "content": [
            {"type": "thinking", "thinking": "hm", "signature": "s"},
            {"type": "tool_use", "id": "look-1", "name": "look", "input": {"room": 12}}, {"type": "text", "text": MOVED}],
            "usage": {"input_tokens": 6, "output_tokens": 2}}),
        {"flaw": "cut_off", "model": "m-1", "reasoning": "hm", "usage": (6, 2, 1),
         "calls": [("look", {"room": 12}, "no result came")]}),
    "Bedrock's response": (
        fixed({"output": {"message": {"role": "assistant", "content": [{"text": MOVED}]}}, "stopReason": "end_turn",
               "usage": {"inputTokens": 6, "outputTokens": 2}}), {"usage": (6, 2, 1)}),
    "a message in an object": (fixed({"model": "m-1", "message": {"role": "assistant", "content": MOVED}}), {"model": "m-1"}),
    "a result with the agent in it": (fixed(RunResult("hi", MOVED, pieces)), {}),
    "a result with items": (
        fixed(RunResult("hi", MOVED, pieces, tuple(map(RunItem, (FUNCTION_CALL, FUNCTION_OUTPUT, OUTPUT))))), {"calls": [LOOKED]}),
    "a value by a schema": (routed, {}),
    "calls of a function": (calls_by_itself, {"calls": [LOOKED, ("look", {"room": 13}, "free")]}),
    # of runnables and graphs
    "runnable": (RunnableLambda(lambda state: AIMessage(MOVED)), {}),
    "runnable of a state": (RunnableLambda(lambda s: {"messages": [*s["messages"], AIMessage(MOVED)]}), {}),
    "graph": (says(AIMessage(MOVED)), {}),
    "graph of plain messages": (says({"role": "assistant", "content": MOVED}), {}),
    "graph that keeps the last value": (chain(LastOnly, desk=last_value).compile(), {}),
    "graph that says two things": (
        says(AIMessage("One moment.", id="1"), AIMessage(MOVED, id="2")), {"text": f"One moment.\n\n{MOVED}"}),
    "parallel calls": (says(*PARALLEL), {
        "text": "Let me look.\n\nWhich card?", "reasoning": "hm\n\nprivate", "usage": (12, 4, 2),
        "calls": [("look", {}, {"free": [1]}), ("pay", {"euro": 3}, "no card")]}),
    "call and its malformed one": (says(*MENDED), {
        "calls": [("pay", {}, "malformed call: { (answered: write JSON)"), ("pay", {}, "paid")]}),
    "calls of one id": (says(*SAME_IDS), {
        "calls": [("look", {"room": room}, result) for room, result in (
            ("first", "first"), ("second", "second"), ("third", "no result came"))]}),
    "call behind the words": (says(AIMessage(MOVED), AIMessage("", tool_calls=[LOOK]), ToolMessage("free", tool_call_id="look-1")),
                              {"calls": [LOOKED]}),
    "a tool at the end": (
        chain(desk=lambda s: {"messages": [AIMessage("", tool_calls=[LOOK])]}, tools=ToolNode([look])).compile(),
        {"text": "free", "calls": [LOOKED]}),
    "words changed in place": (guarded(), {}),
    "only calls": (says(*CALLED[:2]), {"text": "", "calls": [LOOKED]}),
    "thought beside a call": (
        says(AIMessage("<think>hm</think>", tool_calls=[LOOK]), *CALLED[1:]), {"calls": [LOOKED]}),
    "summary": (summarised(AIMessage(MOVED)), {}),
    "reminder": (says(HumanMessage("[reminder] be brief"), AIMessage(MOVED)), {}),
    "a person's words last": (says(AIMessage(MOVED), HumanMessage("[plan] done")), {}),
    "response format by hand": (structured_by_hand(), {"calls": [("Moved", {"reply": MOVED, "done": True}, "Returning structured response")]}),
    "ToolStrategy": (structured(ToolStrategy, AIMessage("", tool_calls=[call("Moved", reply=MOVED)])), {"calls": ...}),
    "ProviderStrategy": (structured(ProviderStrategy, AIMessage(json.dumps({"reply": MOVED, "done": False}))), {}),
    "supervisor": (supervised(), {"calls": [
        ("transfer_to_billing", {}, "ok"), ("transfer_back_to_supervisor", {}, "ok")]}),
    "swarm": (swarm(), {"calls": [("transfer_to_bob", {}, "ok")]}),
    "Command": (commanded(), {}),
    "hand-off without names": (
        says(AIMessage("I pass you on.", tool_calls=[call("transfer_to_bob")]), ToolMessage("ok", tool_call_id="transfer_to_bob-1"), AIMessage(MOVED)),
        {"calls": [("transfer_to_bob", {}, "ok")]}),
    "entrypoint": (functional, {}),
    "channel": (asked(MOVED), {}),
    "output of another schema": (schemed(), {}),
    "message in a channel": (asked({"role": "assistant", "content": MOVED}), {}),
    "object in a channel": (asked(Answered(MOVED)), {}),
    "messages in a channel": (asked(CALLED), {"calls": [LOOKED]}),
    "channel without a value": (asked(None), {"text": "", "flaw": "empty", "said": False}),
    "sub-agent with files": (deep(), {"calls": [("task", {"about": "rooms"}, "All free."), LOOKED]}),
    "parallel workers and a deferred end": (fanned(), {}),
    "personal data taken out": (
        create_agent(ScriptedModel(lines=["Ask a@b.org."], by_call=True), [],
                     middleware=[PIIMiddleware("email", apply_to_output=True)]), {"text": "Ask [REDACTED_EMAIL]."}),
    "entrypoint with tasks": (with_task, {}),
    "middleware that is not async": (
        create_agent(ScriptedModel(lines=[AIMessage("", tool_calls=[LOOK]), MOVED] * 2, by_call=True), [look], middleware=[
            wrap_model_call(lambda request, handler: handler(request), name="models"),
            wrap_tool_call(lambda request, handler: handler(request), name="tools")]), {"calls": [LOOKED]}),
}  # fmt: skip


@pytest.mark.parametrize("shape", ROWS)
async def test_every_shape_is_one_reply(shape: str) -> None:
    """In both turns of a conversation: nothing of the first may stand in the second."""
    agent, wanted = ROWS[shape]
    conversation = await talk(agent)
    draft = first_draft(conversation)
    found: dict[str, Any] = {"text": draft.text, "calls": calls_of(draft), "flaw": draft.flaw}
    expected = {"text": wanted.get("text", MOVED), "calls": wanted.get("calls", []), "flaw": wanted.get("flaw")}
    if expected["calls"] is ...:
        del found["calls"], expected["calls"]
    for name in ("reasoning", "model", "cleaned"):
        if name in wanted:
            found[name], expected[name] = getattr(draft, name), wanted[name]
    if "usage" in wanted:
        usage = draft.usage
        found["usage"], expected["usage"] = (usage.input_tokens, usage.output_tokens, usage.calls), wanted["usage"]
    assert found == expected
    if wanted.get("said", True):
        assert (replies(conversation), conversation.failure) == ([expected["text"]] * 2, None)
    else:
        assert replies(conversation)[1:] == []


@pytest.mark.parametrize(
    "answer",
    [None, 7, [], {}, [7], {"a": "x", "b": "y"}, {"role": "nobody", "content": "Done."}, [HumanMessage("Move it!")],
     {"role": "user", "content": "Move it!"}, [SystemMessage("Be brief.")],
     {"outcome": {"words": "Done."}, "ended": "end_turn"}],
)  # fmt: skip
async def test_anything_else_and_a_users_message_alone_are_the_assistants_failure(answer: Any) -> None:
    conversation = await talk(fixed(answer))
    assert (conversation.stop, conversation.failure.node) == ("model_failed", "assistant")
    assert "a text, a message of LangChain or of OpenAI's form" in conversation.failure.error
    assert replies(conversation) == []


@pytest.mark.parametrize("agent", [says(), says(HumanMessage("Move it!")), summarised()])
async def test_a_graph_that_adds_no_message_of_its_own_has_said_nothing(agent: Any) -> None:
    conversation = await talk(agent)
    assert (replies(conversation), conversation.failure.node) == ([], "assistant")


async def test_an_agent_that_plays_the_user_may_answer_with_a_users_message() -> None:
    conversation = await talk(
        "offline", user=RunnableLambda(lambda s: {"messages": [HumanMessage("A room?")]}), turns=1
    )
    assert conversation.messages[0].text == "A room?"


def ends(hook: Any, name: str) -> Any:
    """A middleware that ends the second turn with words of its own."""

    def end(state: Any, runtime: Any) -> Any:
        asks = [message for message in state["messages"] if message.type == "human"]
        return {"messages": [AIMessage("No more.")], "jump_to": "end"} if len(asks) == 2 else None

    return hook(can_jump_to=["end"], name=name)(end)


LIMITS = {
    "model calls": (ModelCallLimitMiddleware(thread_limit=3), ["Let me look.\n\nDone.", "Let me look."]),
    "tool calls": (
        ToolCallLimitMiddleware(thread_limit=1, exit_behavior="end"),
        ["Let me look.\n\nDone.", "Let me look."],
    ),
    "of one tool": (ToolCallLimitMiddleware(tool_name="look", run_limit=0, exit_behavior="end"), ["Let me look."]),
    "own": (ends(before_model, "message_limit"), ["Let me look.\n\nDone."]),
    "own behind the model": (ends(after_model, "TokenLimit"), ["Let me look.\n\nDone.", "Let me look."]),
}


@pytest.mark.parametrize("limit", LIMITS)
async def test_a_limit_of_a_middleware_is_a_stop_and_its_words_are_no_reply(limit: str) -> None:
    middleware, said = LIMITS[limit]
    model = ScriptedModel(lines=[AIMessage("Let me look.", tool_calls=[LOOK]), AIMessage("Done.")] * 2, by_call=True)
    conversation = await talk(create_agent(model, [look], middleware=[middleware]))
    assert replies(conversation) == said  # what it had said itself stays
    assert (conversation.stop, conversation.fault, conversation.failure) == ("agent_limit", "assistant", None)
    cut = list(conversation.attempts("assistant"))[-1]
    assert (cut.steps[-1].node.rpartition(".")[2] in ("before_model", "after_model"), bool(cut.steps[-1].text)) == (
        True,
        True,
    )


async def test_a_middleware_that_ends_the_turn_and_is_no_limit_has_answered() -> None:
    model = ScriptedModel(lines=[AIMessage("Done.")], by_call=True)
    conversation = await talk(create_agent(model, [], middleware=[ends(before_model, "answers_itself")]), turns=3)
    assert replies(conversation) == ["Done.", "No more.", "Done."]


async def test_a_limit_of_a_sub_agent_stops_the_turn_only_if_nobody_goes_on() -> None:
    model = ScriptedModel(lines=[AIMessage(MOVED)], by_call=True)
    limited = create_agent(model, [], middleware=[ModelCallLimitMiddleware(run_limit=0)])
    conversation = await talk(chain(helper=limited, desk=says(AIMessage(MOVED))).compile(), turns=1)
    assert replies(conversation) == [MOVED]
    conversation = await talk(chain(desk=says(AIMessage("Wait.")), helper=limited).compile(), turns=1)
    assert (replies(conversation), conversation.stop) == (["Wait."], "agent_limit")


async def test_an_agents_own_draft_and_critique_are_no_reply() -> None:
    def node(*said: Any) -> Any:
        return lambda state: {"messages": [*said]}

    agent = chain(first=node(AIMessage("DRAFT")), judge=node(HumanMessage("Shorter!")), last=node(AIMessage(MOVED)))
    assert replies(await talk(agent.compile(), turns=1)) == [MOVED]


async def test_a_tool_whose_result_is_the_answer_has_the_last_word() -> None:
    @tool(return_direct=True)
    def tell(room: int) -> str:
        """Tell."""
        return MOVED

    model = ScriptedModel(lines=[AIMessage("", tool_calls=[call("tell", room=3)])], by_call=True)
    assert replies(await talk(create_agent(model, [tell]), turns=1)) == [MOVED]


async def test_models_that_an_agent_asks_by_itself_count_where_its_messages_do_not_tell_of_them() -> None:
    model = ScriptedModel(
        lines=[AIMessage("a", usage_metadata=SPENT), AIMessage("b", usage_metadata=SPENT)], by_call=True
    )

    async def node(state: MessagesState) -> Any:
        return {"messages": [AIMessage((await model.ainvoke(state["messages"])).text)]}

    async def function(messages: Any) -> str:
        return str((await model.ainvoke(messages)).text)

    for agent in (chain(node=node).compile(), function):
        usage = first_draft(await talk(agent, turns=1)).usage
        assert (usage.input_tokens, usage.output_tokens, usage.calls) == (6, 2, 1)


# What an endpoint says of a reply


@pytest.mark.parametrize(
    ("about", "flaw"),
    [
        ({"stop_reason": "max_tokens"}, "cut_off"),
        ({"done_reason": "length"}, "cut_off"),
        ({"finish_reason": "MAX_TOKENS"}, "cut_off"),
        ({"incomplete_details": {"reason": "max_output_tokens"}}, "cut_off"),
        ({"stop_reason": "refusal"}, "refusal"),
        ({"finish_reason": "FinishReason.PROHIBITED_CONTENT"}, "content_filter"),
        ({"prompt_feedback": {"block_reason": 1}}, "content_filter"),
        ({"stopReason": "guardrail_intervened"}, "content_filter"),
        ({"finish_reason": "STOP"}, None),
        ({}, None),
    ],
)
def test_every_provider_tells_a_flaw_in_its_own_words(about: Any, flaw: str | None) -> None:
    assert reply_of([AIMessage("a", response_metadata=about)]).get("flaw") == flaw


def test_usage_is_that_of_the_whole_turn_without_impossible_counts() -> None:
    full: Any = SPENT | {"input_token_details": {"cache_read": 4}, "output_token_details": {"reasoning": 1}}
    odd: Any = {"input_tokens": -5, "output_tokens": 2, "total_tokens": -3}
    draft = reply_of(
        [AIMessage("", tool_calls=[LOOK], usage_metadata=odd), *CALLED[1:2], AIMessage("a", usage_metadata=full)]
    )
    spent = {"input_tokens": 6, "output_tokens": 2, "calls": 2, "cached_tokens": 4, "reasoning_tokens": 1}
    assert draft["usage"] == spent


@pytest.mark.parametrize("text", ["1e5", "0.10", '"q"', "null", " 7", "{no", "[1e999]"])
def test_a_tools_text_that_is_no_object_or_list_is_recorded_as_it_was_written(text: str) -> None:
    draft = reply_of([CALLED[0], ToolMessage(text, tool_call_id="look-1"), AIMessage("a")])
    assert draft["tool_calls"][0]["result"] == text
