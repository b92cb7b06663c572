"""The thread on which an agent with a checkpointer keeps its own history of a conversation."""

import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Self, TypeAlias, TypeGuard

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, ToolMessage, convert_to_messages
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph.message import add_messages
from langgraph.pregel import Pregel
from langgraph.pregel.protocol import PregelProtocol
from langgraph.types import Command, StateSnapshot

from ...data.formats.tool_messages import tool_turns
from ...data.records import Message, Role
from ..contract import ContractError
from ..messages.building import MessageBuilder, Talk
from ..state import State, id_of, merged, said

THREAD = "thread"
"""Key of a side's memory for where its agent's thread stands."""

Graph: TypeAlias = PregelProtocol[Any, Any, Any, Any]


@dataclass(frozen=True)
class ThreadPlace:
    """Where a thread stands after a draft.

    It is part of the side's memory: a rejected draft's place is forgotten, so that the next call goes on from the one
    before it.
    """

    thread: str
    checkpoint: str
    seen: int
    """Number of the conversation's messages that the thread holds."""
    note: str | None = None
    """Id of the message with our instruction, which is taken out again by the next call."""
    asked: bool = False
    """Whether the agent was interrupted by a question and waits for the answer."""
    first: str | None = None
    """The checkpoint at the first question of the node that asks, if that has asked before."""
    answers: tuple[Any, ...] = ()
    """What that node was answered before, from its first question on, as plain JSON."""
    pending: Mapping[str, Any] | None = None
    """The `values` and `ids` of the interrupts that the question is about, where it asks for an approval."""
    again: bool = False
    """Whether the question is put a second time, as the reply to the first was unclear."""

    @classmethod
    def of(cls, memory: Mapping[str, Any], thread: str) -> Self | None:
        """The place in a side's memory; None without one, or it is another thread's."""
        stored = memory.get(THREAD)
        if not isinstance(stored, dict) or stored.get("thread") != thread:
            return None
        return cls(**{**stored, "answers": tuple(stored["answers"])})

    def answered(self, answer: Any, after: StateSnapshot, **now: Any) -> Self:
        """The place after an answer at this one; the same node may have asked another question."""
        checkpoint = checkpoint_of(after)
        if checkpoint != self.checkpoint and (after.metadata or {}).get("source") != "fork":
            return replace(self, checkpoint=checkpoint, first=None, answers=(), again=False, **now)
        first, answers = self.first or self.checkpoint, (*self.answers, answer)
        return replace(self, checkpoint=checkpoint, first=first, answers=answers, again=False, **now)

    def plain(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {**asdict(self), "answers": list(self.answers)}

    @property
    def config(self) -> RunnableConfig:
        """The config with which the agent continues from here."""
        return config_at(self.thread, self.checkpoint)


def config_at(thread: str, checkpoint: str) -> RunnableConfig:
    """The config of a checkpoint of a thread."""
    return {"configurable": {"thread_id": thread, "checkpoint_ns": "", "checkpoint_id": checkpoint}}


def checkpoint_of(snapshot: StateSnapshot) -> str:
    """The id of a snapshot's checkpoint."""
    return str(snapshot.config.get("configurable", {})["checkpoint_id"])


async def asked_again(
    agent: Graph, place: ThreadPlace, call: Callable[[Command[Any], RunnableConfig], Awaitable[Any]]
) -> RunnableConfig:
    """The config from which an agent is given the same answer once more, after a rejected draft.

    LangGraph keeps an answer at its checkpoint, and would take a second one for the answer to the node's next
    question. So the node starts on a copy of its first question, and is given its earlier answers again.
    """
    config = await agent.aupdate_state(
        config_at(place.thread, place.first or place.checkpoint), None, as_node="__copy__"
    )
    for answer in place.answers:
        await call(Command(resume=answer), config)
        config = (await agent.aget_state({"configurable": {"thread_id": place.thread}})).config
    return config


def thread_of(role: Role, state: State) -> str:
    """The thread's id: the conversation's, with its repeat from the second on, and `user` if the agent plays it."""
    parts = [id_of(state) or "conversation"]
    parts += [str(repeat)] if (repeat := state.get("origin", {}).get("repeat", 0)) else []
    return "-".join([*parts, "user"] if role == "user" else parts)


def on_server(thread: str) -> str:
    """The id of a thread on a LangGraph server, which takes only UUIDs: always the same one for a conversation."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"duologue:{thread}"))


def has_checkpointer(agent: object) -> bool:
    """Whether the agent was compiled with a checkpointer of its own."""
    return isinstance(agent, Pregel) and isinstance(agent.checkpointer, BaseCheckpointSaver)


def is_remote(agent: object) -> TypeGuard[Graph]:
    """Whether the agent is a graph on a LangGraph server.

    It has threads there, if it is called with their id.
    """
    return isinstance(agent, PregelProtocol) and not isinstance(agent, Pregel)


async def beginning(agent: Graph, thread: str) -> RunnableConfig:
    """The config from which the thread is empty, also if it holds an earlier attempt at the conversation.

    That attempt stays in the checkpointer beside the new one, where its first checkpoint allows it; else it is deleted.
    """
    config: RunnableConfig = {"configurable": {"thread_id": thread}}
    if not isinstance(agent, Pregel):
        await _delete_on_server(agent, thread)
        return config
    oldest = None
    async for snapshot in agent.aget_state_history(config):
        oldest = snapshot
    if oldest is None:
        return config
    if (oldest.metadata or {}).get("source") == "input" and oldest.parent_config is None:
        return oldest.config  # from before its first input
    assert isinstance(agent.checkpointer, BaseCheckpointSaver)
    try:
        await agent.checkpointer.adelete_thread(thread)
    except NotImplementedError:
        kind = type(agent.checkpointer).__name__
        raise ContractError(
            f"the agent's thread {thread} holds an earlier conversation, and its {kind} cannot delete it: "
            "give the agent an empty checkpointer"
        ) from None
    return config


async def _delete_on_server(agent: Any, thread: str) -> None:
    try:
        await agent.client.threads.delete(thread)
    except Exception as error:  # of the HTTP client that the server's client is built on
        if getattr(getattr(error, "response", None), "status_code", None) != 404:
            raise


async def held_messages(agent: Graph, config: RunnableConfig) -> list[BaseMessage]:
    """The messages that a thread holds."""
    return convert_to_messages((await agent.aget_state(config)).values.get("messages", []))


def waiting(history: Sequence[BaseMessage]) -> list[BaseMessage]:
    """The calls of tools in a history that have no result yet, as one message; none without one."""
    answered = {message.tool_call_id for message in history if isinstance(message, ToolMessage)}
    calls = [call for message in history if isinstance(message, AIMessage) for call in message.tool_calls]
    open_calls = [call for call in calls if call["id"] not in answered]
    return [AIMessage("", tool_calls=open_calls)] if open_calls else []


def with_calls(build: MessageBuilder, state: State) -> list[BaseMessage]:
    """The messages with which a thread begins, as `build` makes them.

    Those of a fork have the tool calls and results of the agent's own messages: on its thread it had seen them.
    """
    if not state.get("origin", {}).get("forks") or not isinstance(build, Talk):
        return build(state)
    sent: list[BaseMessage] = []
    part: list[AnyMessage] = []
    count = 0
    for chat, message in zip(state["messages"], said(state), strict=True):
        calls = tool_turns(Message.model_validate(message), count) if message["role"] == build.role else []
        if calls:
            sent += [*_sent(part, state, build, first=not sent), *convert_to_messages(calls)]
            part, count = [], count + len(calls) - 1
        part.append(chat)
    return [*sent, *_sent(part, state, build, first=not sent)]


def _sent(part: list[AnyMessage], state: State, build: Talk, *, first: bool) -> list[BaseMessage]:
    return (build if first else Talk(build.role))(merged(state, {"messages": part})) if part or first else []


def takes_out(agent: Graph) -> bool:
    """Whether a message can be removed from the agent's history.

    It can if LangGraph's `add_messages` reduces its channel, as is supposed of a server.
    """
    if not isinstance(agent, Pregel):
        return True
    return getattr(agent.channels["messages"], "operator", None) is add_messages
