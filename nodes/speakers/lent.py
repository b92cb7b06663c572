"""What an agent's graph is lent for a conversation: a thread, a store, a context; and one call of it with these."""

import asyncio
import copy
import inspect
import logging
import uuid
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast

from langchain_core.callbacks import BaseCallbackHandler, BaseCallbackManager
from langchain_core.messages import AIMessage, BaseMessage, convert_to_messages
from langchain_core.runnables import RunnableConfig, ensure_config
from langchain_core.runnables.config import var_child_runnable_config
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.constants import CONFIG_KEY_CHECKPOINTER
from langgraph.errors import GraphInterrupt
from langgraph.pregel import Pregel
from langgraph.runtime import Runtime
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command, Interrupt
from pydantic import ValidationError
from typing_extensions import is_typeddict

from ..calls.service import during
from ..contract import ContractError
from ..limits import Limits
from ..replies import Step
from ..settings.redaction import error_line
from ..worlds import Context

log = logging.getLogger(__name__)

Graph = Pregel[Any, Any, Any, Any]


RESUMING = "__pregel_resuming"
"""The setting by which LangGraph tells subgraphs that they go on from where they stopped. A graph that is nested takes it
from outside, and there the conversation's own graph is not resumed when the agent is. LangGraph has no public name for
it; without it a sub-agent that stopped for an approval would begin its turn anew."""


class _AnyObjects(JsonPlusSerializer):
    """Serializes messages and plain values, and copies others: an agent without a checkpointer may hold anything."""

    def __init__(self, objects: dict[bytes, Any]) -> None:
        super().__init__()
        self.objects = objects

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        if _is_plain(obj):
            with suppress(TypeError):  # a message may hold an artifact that is no plain value
                return super().dumps_typed(obj)
        key = str(len(self.objects)).encode()
        self.objects[key] = copied(obj)
        return "object", key

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        return copied(self.objects[data[1]]) if data[0] == "object" else super().loads_typed(data)


def _is_plain(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return all(map(_is_plain, value))
    if type(value) is dict:
        return all(map(_is_plain, value)) and all(map(_is_plain, value.values()))
    return value is None or isinstance(value, (str, int, float, bytes, BaseMessage))


def copied(value: Any) -> Any:
    """A deep copy; the value itself where it cannot be copied, such as a connection."""
    try:
        return copy.deepcopy(value)
    except Exception:
        return value


@dataclass
class Outcome:
    """What a call of an agent came to."""

    values: Any = None
    """Its last state, or what it answered."""
    steps: list[Step] = field(default_factory=list)
    results: list[list[BaseMessage]] = field(default_factory=list)
    """The messages that each of its nodes gave."""
    written: set[str] = field(default_factory=set)
    """Keys of its state that its nodes wrote."""
    channels: dict[str, Any] = field(default_factory=dict)
    """All channels of its state."""
    interrupts: list[Interrupt] = field(default_factory=list)
    limit: str | None = None
    """The node of a middleware that ended the turn at its limit."""
    error: Exception | None = None
    """What it raised after it had done something."""


class Thread:
    """An agent's thread and store of a conversation. Each draft has a copy, so that a rejected one leaves nothing."""

    def __init__(self, agent: Graph, name: str, place: str) -> None:
        """`name`: the thread's id. `place`: the node of the conversation's graph in which the agent is nested."""
        self.agent, self.name, self.place = agent.copy({"checkpointer": True}), name, place
        self._objects: dict[bytes, Any] = {}
        self.saver = InMemorySaver(serde=_AnyObjects(self._objects))
        self.store: BaseStore = _own_store(agent)
        self.history: list[BaseMessage] = []
        """The messages that its state has."""
        self.anew: list[BaseMessage] = []
        """The whole history, where its state has lost a part of it (`said_again`)."""
        self.open: list[BaseMessage] = []
        """Messages of the last call, of whose tools some may wait for an answer."""
        self.seen = set[str]()
        """Messages that are in a step: a sub-agent that goes on after a question gives its earlier ones again."""

    def copy(self) -> "Thread":
        """The same thread and store, which go on apart from this one."""
        new = copy.copy(self)
        new.saver = InMemorySaver(serde=_AnyObjects(self._objects))
        for thread, spaces in self.saver.storage.items():
            for space, points in spaces.items():
                new.saver.storage[thread][space] = dict(points)
        new.saver.writes.update({key: dict(writes) for key, writes in self.saver.writes.items()})
        new.saver.blobs.update(self.saver.blobs)
        new.seen = set(self.seen)
        if isinstance(self.store, InMemoryStore):
            new.store = copied(self.store)
        return new

    async def call(self, given: Any, context: Any, outcome: Outcome) -> None:
        """Call the agent, nested in the conversation's graph, so that its steps are in that one's streams.

        The outcome grows meanwhile: a call that is given up has what it did before.
        """
        steps = _Steps(outcome, self.seen)
        config = heard_by(steps, self._config(context))
        self.anew = []
        if isinstance(given, Command):
            config["configurable"][RESUMING] = True
        try:
            with during(var_child_runnable_config, config):  # its own recursion limit, not that of the conversation
                outside = _stream_of(config)
                shown = _SHOWN & (set() if outside is None else outside.modes)
                modes: Any = ["tasks", "values", *sorted(shown - {"tasks", "values"})]
                parts: Any = self.agent.astream(given, None, context=context, stream_mode=modes, subgraphs=True)
                async for space, mode, part in parts:
                    inner = space[1:] if space[:1] == (self.place,) else space
                    if outside is not None and inner and mode in shown:
                        outside((space, mode, part))  # LangGraph itself hands on only what the agent's own nodes do
                    if mode == "tasks":
                        steps.take(inner, part)
                    elif not inner:
                        outcome.values = part
        except GraphInterrupt:
            pass
        except Exception as error:
            steps.fail(error)
            steps.end()
            raise
        finally:
            if isinstance(outcome.values, Mapping):
                outcome.values = {key: value for key, value in outcome.values.items() if key != "__interrupt__"}
        now = await self.agent.aget_state(config)
        steps.end()
        outcome.interrupts = list(now.interrupts)
        if now.next and not now.interrupts:  # a breakpoint asks nothing
            outcome.interrupts = [Interrupt({"paused": f"before {', '.join(now.next)}"}, id="")]
            outcome.values = now.values
        outcome.channels = dict(now.values) if isinstance(now.values, Mapping) else {}
        self.history = _list_of(outcome.channels.get("messages"))
        told = [message for step in outcome.steps for message in step.messages]
        self.open = [*self.open, *told] if now.interrupts else told

    def said_again(self, outcome: Outcome, before: list[BaseMessage], sent: list[BaseMessage]) -> list[BaseMessage]:
        """Copies of the messages of earlier turns, `before`, that its nodes gave once more as their answer.

        `add_messages` gives an object an id, by which it puts the same object into its earlier place in a later turn.
        """
        known, ends = {message.id for message in before}, {message.id for message in sent[-1:]}
        again: dict[str | None, BaseMessage] = {}
        for result in outcome.results:
            begins = next((number + 1 for number, message in enumerate(result) if message.id in ends), 0)
            for message in result[begins:]:
                if message.id in known and message.type in ("ai", "tool"):
                    again[message.id] = message.model_copy(update={"id": f"{message.id}/{len(before)}"})
        if again:
            self.history = self.anew = [*before, *sent, *again.values()]
        return list(again.values())

    def _config(self, context: Any) -> RunnableConfig:
        """The config of here without what says where the conversation's own graph stands, and with thread and store."""
        config = ensure_config()
        settings = own_settings(config, context, self.store, nested=True)
        settings |= {CONFIG_KEY_CHECKPOINTER: self.saver, "thread_id": self.name, "checkpoint_ns": self.place}
        own = {key: value for key, value in config.items() if key != "recursion_limit"}
        return cast(RunnableConfig, {**own, "configurable": settings})


_SHOWN = {"updates", "values", "tasks", "checkpoints", "debug"}
"""Modes in which what sub-agents do is handed on to the streams of the conversation's graph; tokens get there anyway."""


def _stream_of(config: RunnableConfig) -> Any:
    """The stream of the graph that calls the agent, if somebody reads it with its subgraphs."""
    values = config.get("configurable", {}).values()
    return next((one for one in values if callable(one) and isinstance(getattr(one, "modes", None), set)), None)


def own_settings(config: RunnableConfig, context: Any, store: BaseStore | None, *, nested: bool) -> dict[str, Any]:
    """The `configurable` values that an agent is called with: the caller's own, and LangGraph's runtime with its context.

    `nested`: also what makes the agent's steps visible in the streams of the graph that calls it.
    """
    settings = {}
    for key, value in config.get("configurable", {}).items():
        if isinstance(value, Runtime):
            settings[key] = value.override(context=context, store=store)
        elif (not key.startswith(("__", "checkpoint_")) and key != "thread_id") or (
            nested and key != "checkpoint_id" and (isinstance(value, str) or callable(value))
        ):
            settings[key] = value
    return settings


@contextmanager
def alone(context: Any, handler: "Heard | None" = None) -> Iterator[None]:
    """Inside, a graph is no part of the conversation's graph: it has its own checkpointer and recursion limit.

    LangGraph's `get_runtime` gives `context`. `handler`: what hears the models that are asked inside.
    """
    inherited = ensure_config()
    config = {name: value for name, value in inherited.items() if name != "recursion_limit"}
    config["configurable"] = own_settings(inherited, context, None, nested=False)
    own = cast(RunnableConfig, config)
    with during(var_child_runnable_config, own if handler is None else heard_by(handler, own)):
        yield


class Served:
    """An agent's thread on a LangGraph server: each draft goes on from the checkpoint of the last accepted one."""

    def __init__(self, agent: Any, at: str | None = None) -> None:
        self.agent = agent
        new = uuid.uuid4  # noqa: TID251 - a server takes only such ids, and each beginning has a thread of its own
        self.thread, _, self.checkpoint = (at or f"{new()}/").partition("/")
        self.history: list[BaseMessage] = []
        self.open: list[BaseMessage] = []

    @property
    def at(self) -> str:
        """Where it stands, for the memory of its side."""
        return f"{self.thread}/{self.checkpoint}"

    async def call(self, given: Any, context: Any, outcome: Outcome) -> None:
        """Call the graph on its thread; it has no steps here, and its context is the server's."""
        config: RunnableConfig = {"configurable": {"thread_id": self.thread}}
        # RemoteGraph leaves the checkpoint out of the config that it sends.
        options = {"checkpoint_id": self.checkpoint} if self.checkpoint else {}
        answer = await self.agent.ainvoke(given, config, **options)
        outcome.values = {key: value for key, value in answer.items() if key != "__interrupt__"}
        now = await self.agent.aget_state(config)
        self.checkpoint = str(now.config["configurable"]["checkpoint_id"])
        found = [one for task in now.tasks for one in task.interrupts]
        outcome.interrupts = [Interrupt(one["value"], id=one["id"]) if isinstance(one, dict) else one for one in found]

    async def load(self) -> None:
        """Read the messages that the thread has at its checkpoint."""
        here = {"thread_id": self.thread, "checkpoint_ns": "", "checkpoint_id": self.checkpoint}
        at: RunnableConfig = {"configurable": here}
        self.history = self.open = _list_of((await self.agent.aget_state(at)).values.get("messages"))


def _list_of(messages: Any) -> list[BaseMessage]:
    try:
        return convert_to_messages(messages) if isinstance(messages, (list, tuple)) else []
    except (ValueError, NotImplementedError):
        return []


class Heard(BaseCallbackHandler):
    """Replies of chat models that an agent asks by itself, of which its messages may say nothing, such as a summary."""

    run_inline = True

    def __init__(self) -> None:
        self.replies: list[tuple[int, Step]] = []
        """Each with the number of steps that had begun when it was asked for."""
        self.asked: dict[Any, tuple[int, Mapping[str, Any]]] = {}

    def begun_steps(self) -> int:
        """The number of steps that have begun."""
        return 0

    def on_chat_model_start(self, serialized: Any, messages: Any, *, run_id: Any, **details: Any) -> None:
        """A model is asked."""
        self.asked[run_id] = (self.begun_steps(), details.get("metadata") or {})

    def on_llm_end(self, response: Any, *, run_id: Any, **details: Any) -> None:
        """A model has answered."""
        number, about = self.asked.pop(run_id, (self.begun_steps(), {}))
        space = str(about.get("langgraph_checkpoint_ns") or "").split("|")
        path = tuple(part.partition(":")[0] for part in space[1:-1])
        node = str(about.get("langgraph_node") or "model")
        for generation in response.generations[0][:1] if response.generations else ():
            if isinstance(message := getattr(generation, "message", None), AIMessage):
                self.replies.append((number, Step(node, path, [message])))


def heard_by(handler: Heard, config: RunnableConfig) -> RunnableConfig:
    """The config with the handler among its callbacks."""
    callbacks = config.get("callbacks")
    if isinstance(callbacks, BaseCallbackManager):
        callbacks = callbacks.copy()
        callbacks.add_handler(handler)
    else:
        callbacks = [*(callbacks or ()), handler]
    return {**config, "callbacks": callbacks}


class _Steps(Heard):
    """Steps of a graph, from LangGraph's stream of tasks."""

    def __init__(self, outcome: Outcome, seen: set[str]) -> None:
        super().__init__()
        self.outcome, self.seen = outcome, seen
        self.begun: dict[str, tuple[Step, float, set[str]]] = {}

    def begun_steps(self) -> int:
        return len(self.outcome.steps)

    def end(self) -> None:
        """Put the replies of models into their places that no step has."""
        for number, step in reversed(self.replies):
            name = step.messages[0].id or str(id(step.messages[0]))
            if name not in self.seen:
                self.seen.add(name)
                self.outcome.steps.insert(number, step)
        self.replies.clear()

    def fail(self, error: Exception) -> None:
        """The steps under way have failed."""
        for step, began, _ in self.begun.values():
            step.seconds, step.error = asyncio.get_running_loop().time() - began, error_line(error)

    def take(self, space: tuple[str, ...], task: Mapping[str, Any]) -> None:
        path = tuple(part.partition(":")[0] for part in space)
        if "triggers" in task:
            step = Step(str(task["name"]), path)
            self.outcome.steps.append(step)
            self.begun[task["id"]] = (step, asyncio.get_running_loop().time(), _ids(task.get("input")))
            return
        step, began, known = self.begun.pop(
            task["id"], (Step(str(task["name"]), path), asyncio.get_running_loop().time(), set())
        )
        step.seconds = asyncio.get_running_loop().time() - began
        step.error = str(task["error"]) if task.get("error") else None
        result = task.get("result")
        if not space and isinstance(result, Mapping):
            self.outcome.written |= set(result)
        if isinstance(result, Mapping) and result.get("jump_to") == "end" and _is_limit(step.node):
            self.outcome.limit = step.node
        self.outcome.results.append(list(_all_messages_in(result)))
        for message in _messages_in(result):
            name = message.id or str(id(message))
            if name not in known and name not in self.seen:
                self.seen.add(name)
                step.messages.append(message)


def _is_limit(node: str) -> bool:
    """Whether it is a node of a middleware that bounds the turn, such as LangChain's ModelCallLimitMiddleware."""
    middleware, _, hook = node.rpartition(".")
    return hook in ("before_model", "after_model") and "calllimit" in middleware.lower()


def _ids(given: Any) -> set[str]:
    return {message.id or str(id(message)) for message in _messages_in(given)}


def _messages_in(value: Any) -> Iterable[BaseMessage]:
    """The agent's own messages in a task's input or result."""
    return (message for message in _all_messages_in(value) if message.type in ("ai", "tool", "AIMessageChunk"))


def _all_messages_in(value: Any) -> Iterable[BaseMessage]:
    values = value.values() if isinstance(value, Mapping) else [value]
    for one in values:
        for item in one if isinstance(one, (list, tuple)) else [one]:
            if isinstance(item, BaseMessage):
                yield item


_SHARED = set[int]()
"""Stores of which it was said that all conversations share them."""


def _own_store(agent: Graph) -> BaseStore:
    """A store of one conversation: a copy of the agent's, if that is in memory; else the agent's own, said once."""
    store = agent.store
    if store is None:
        return InMemoryStore()
    if isinstance(store, InMemoryStore):
        try:
            return copy.deepcopy(store)
        except Exception:
            log.debug("a store cannot be copied", exc_info=True)
    if id(store) not in _SHARED:
        _SHARED.add(id(store))
        log.warning(
            "all conversations share the agent's store (%s): what it remembers of one, it knows in the others; give it "
            "an InMemoryStore, of which each has a copy",
            type(store).__name__,
        )
    return store


MOST_KEPT = 256
"""Threads that are kept in this process for graphs that are invoked directly; a run keeps those of a conversation."""
_DIRECT: "OrderedDict[str, Thread]" = OrderedDict()


def kept_threads(limits: Limits) -> "dict[str, Thread]":
    """The threads of the conversation under way, by their places."""
    if isinstance(limits, Context):
        return limits.threads
    while len(_DIRECT) > MOST_KEPT:
        _DIRECT.popitem(last=False)
    return _DIRECT


def own_context(role: str, agent: object, configured: Any, scenario: Mapping[str, Any], limits: Limits) -> Any:
    """The context with which an agent is called; None for none.

    `configured`: a value, or a function of the scenario and the live world. Without it a graph with a `context_schema`
    gets one with its defaults, or the conversation's where that is what it declares; a graph without a schema gets the
    conversation's if there is a world.
    """
    world = limits.world if isinstance(limits, Context) else None
    if configured is not None:
        calls = isinstance(configured, partial) or inspect.isroutine(configured)
        own = configured(scenario, world) if calls else configured
        if inspect.isawaitable(own):
            if inspect.iscoroutine(own):
                own.close()
            raise ContractError(f"{role}: context: expected a plain function of scenario and world, got an async one")
        return own
    schema = getattr(agent, "context_schema", None)
    if schema is None:
        return limits if world is not None else None
    is_class = isinstance(schema, type) and not is_typeddict(schema)
    return limits if is_class and isinstance(limits, schema) else default_context(role, schema)


def default_context(role: str, schema: Any) -> Any:
    """The context of a schema all of whose fields have defaults; ContractError for another one."""
    missing = sorted(schema.__required_keys__) if is_typeddict(schema) else []
    try:
        if not missing:
            return schema()
        why = ", ".join(missing)
    except (TypeError, ValidationError) as error:
        why = " ".join(str(error).split())
    raise ContractError(
        f"{role}: the agent needs a context ({getattr(schema, '__name__', 'context_schema')}: {why}): give "
        "--context MODULE:NAME, or context= in Python: a value, or a function of scenario and world"
    )
