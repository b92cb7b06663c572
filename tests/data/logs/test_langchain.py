"""Messages of LangChain and states of LangGraph, written by these libraries themselves."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.load import dumpd
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    messages_to_dict,
)
from langchain_core.prompt_values import ChatPromptValue
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph

from duologue.data import Conversation, count, load
from duologue.data.checks import check
from duologue.data.formats.messages import asides, further
from duologue.data.records import bare
from duologue.views.conversation import conversation_html

USED: Any = {"input_tokens": 9, "output_tokens": 5, "total_tokens": 14}
TALK: list[BaseMessage] = [
    SystemMessage("Be brief.", id="s1"),
    HumanMessage("Is a room free?", id="h1", name="ann"),
    AIMessage(
        "",
        id="a1",
        tool_calls=[{"name": "rooms", "args": {"nights": 2}, "id": "c1"}, {"name": "prices", "args": {}, "id": "c2"}],
        invalid_tool_calls=[{"name": "book", "args": "{bad", "id": "c3", "error": "not JSON", "type": "invalid_tool_call"}],
        usage_metadata=USED,
    ),
    ToolMessage("3 rooms", tool_call_id="c1", id="t1", name="rooms", artifact={"free": [5, 6, 7]}),
    ToolMessage("no prices today", tool_call_id="c2", id="t2", status="error"),
    AIMessage([{"type": "text", "text": "Room 7 is"}], id="a2", usage_metadata=USED, response_metadata={"finish_reason": "length"}),
]  # fmt: skip


def as_dumped(talk: list[BaseMessage]) -> list[Any]:
    return [dumpd(message) for message in talk]


def as_models(talk: list[BaseMessage]) -> list[Any]:
    return [message.model_dump() for message in talk]


WRITTEN: dict[str, Callable[[list[BaseMessage]], list[Any]]] = {"to_dict": messages_to_dict, "dumpd": as_dumped, "model_dump": as_models}  # fmt: skip


def file(*values: Any, indent: int | None = None) -> Path:
    path = Path("log.jsonl")
    path.write_text("".join(json.dumps(value, indent=indent) + "\n" for value in values), encoding="utf-8")
    return path


def calls_of(talk: Conversation) -> list[tuple[Any, ...]]:
    makers: tuple[Any, ...] = (*talk.messages, *(draft for turn in talk.unsaid for draft in turn.attempts))
    return [(call.name, call.arguments, call.result, call.error) for maker in makers for call in maker.tool_calls]


@pytest.mark.parametrize("laid", ["a list", "messages", "a message a line", "a list a line", "a prompt"])
@pytest.mark.parametrize("way", WRITTEN)
def test_messages_are_read_with_calls_errors_and_further_fields(way: str, laid: str) -> None:
    listed = WRITTEN[way](TALK)
    values: list[Any] = [listed]
    if laid == "messages":
        values = [{"messages": listed}]
    elif laid == "a message a line":
        values = listed
    elif laid == "a list a line":
        values = [listed, listed]
    elif laid == "a prompt":
        values = [dumpd(ChatPromptValue(messages=TALK))]
    loaded = load(file(*values))
    talk = loaded.conversations[0]
    assert (loaded.kind, len(loaded.conversations)) == ("langchain", 2 if laid == "a list a line" else 1)
    assert [(message.role, message.text) for message in talk.messages] == [("user", "Is a room free?"), ("assistant", "Room 7 is")]  # fmt: skip
    assert [aside["system"] for aside in asides(talk) if "system" in aside] == ["Be brief."]
    assert calls_of(talk) == [
        ("rooms", {"nights": 2}, "3 rooms", None),
        ("prices", {}, None, "no prices today"),
        ("book", {"value": "{bad"}, None, "no result came"),
    ]
    assert count([talk]).side("assistant").tool_calls == 3
    assert [finding.rule for finding in check(talk) if finding.level != "notice"] == ["cut-off"]
    assert "rooms" in conversation_html(talk)
    kept = json.dumps(talk.plain())
    assert all(word in kept for word in ('"ann"', '"a2"', '"total_tokens"'))


def test_further_keys_of_a_line_are_kept_and_its_thread_is_its_id() -> None:
    value = {"thread_id": "t9", "messages": as_models(TALK[1:2]), "labels": {"solved": True}, "summary": "Rooms."}
    (talk,) = load(file(value)).conversations
    assert (talk.id, bare(talk.labels), further(talk)["summary"]) == ("t9", {"solved": True}, "Rooms.")


def model(state: MessagesState) -> Any:
    asked = isinstance(state["messages"][-1], HumanMessage)
    return {"messages": [TALK[2] if asked else AIMessage("Room 7 is free.", id="a2")]}


def tools(state: MessagesState) -> Any:
    return {"messages": TALK[3:5]}


def graph() -> Any:
    builder = StateGraph(MessagesState)
    builder.add_node("model", model)
    builder.add_node("tools", tools)
    builder.add_edge(START, "model")
    builder.add_edge("tools", "model")
    builder.add_conditional_edges("model", lambda state: "tools" if state["messages"][-1].tool_calls else END)
    return builder.compile(checkpointer=InMemorySaver())


def plain(value: Any) -> Any:
    return value.model_dump() if isinstance(value, BaseMessage) else str(value)


def jsonable(value: Any) -> Any:
    return json.loads(json.dumps(value, default=plain))


CONFIG: Any = {"configurable": {"thread_id": "t1"}}
INPUT: Any = {"messages": [TALK[1]]}
WHOLE = "user: Is a room free?\nassistant: Room 7 is free."


def states() -> list[dict[str, Any]]:
    """The history of a thread, the newest state first."""
    app = graph()
    app.invoke(INPUT, CONFIG)
    return [
        jsonable({"values": state.values, "next": state.next, "config": state.config, "metadata": state.metadata, "created_at": state.created_at})
        for state in app.get_state_history(CONFIG)
    ]  # fmt: skip


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("timed", [True, False])
def test_of_the_states_of_a_thread_the_newest_counts(order: int, timed: bool) -> None:
    history = states()[::order]
    if not timed:
        history = [
            {key: value for key, value in state.items() if key in ("values", "next", "config")} for state in history
        ]
    loaded = load(file(history, indent=1))
    (talk,) = loaded.conversations
    assert (loaded.kind, talk.id, str(talk)) == ("langchain", "t1", WHOLE)
    assert [call[0] for call in calls_of(talk)] == ["rooms", "prices", "book"]
    assert further(talk)["next"] == [] if "next" in further(talk) else True
    assert not [note for note in loaded.notes if "earlier" in note]


def test_messages_that_only_earlier_states_hold_are_counted_and_a_subgraphs_state_is_not_the_threads() -> None:
    newest, *_, first, _ = states()
    left = {**first, "values": {"messages": as_models([HumanMessage("Gone.", id="h0")])}}
    inner = {**newest, "config": {"configurable": {"thread_id": "t1", "checkpoint_ns": "sub:1"}}, "created_at": "9999"}
    loaded = load(file(left, newest, {**inner, "values": {"messages": newest["values"]["messages"][:1]}}))
    assert [str(talk) for talk in loaded] == [WHOLE]
    assert "1 message only of earlier states" in loaded.notes


def test_checkpoints_are_read_by_their_thread() -> None:
    app = graph()
    app.invoke(INPUT, CONFIG)
    listed = [jsonable(entry._asdict()) for entry in app.checkpointer.list(CONFIG)]
    for values in (listed, listed[::-1], [listed[0]["checkpoint"]]):
        loaded = load(file(*values))
        assert (loaded.kind, [str(talk) for talk in loaded]) == ("langchain", [WHOLE])
    assert load(file(*listed)).conversations[0].id == "t1"
