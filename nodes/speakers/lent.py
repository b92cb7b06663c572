"""What an agent is lent for a conversation, a thread, a store and a context, and one call of it with these."""

import asyncio
import copy
import inspect
import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeAlias, cast

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage, convert_to_openai_messages
from langchain_core.runnables import Runnable, RunnableConfig, ensure_config
from langchain_core.runnables.config import merge_configs, var_child_runnable_config
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.constants import CONFIG_KEY_CHECKPOINTER
from langgraph.errors import GraphInterrupt
from langgraph.pregel import Pregel
from langgraph.runtime import Runtime
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command, Interrupt
from pydantic import ValidationError
from typing_extensions import is_typeddict

from ...data.records import Role
from ..calls.service import during
from ..contract import ContractError
from ..foreign import in_thread
from ..limits import Limits
from ..replies import Step, messages_answered
from ..settings.redaction import error_line
from ..worlds import Context

log = logging.getLogger(__name__)

RESUMING = "__pregel_resuming"
"""The setting by which LangGraph tells the graphs inside a graph that they go on from where they stopped.

A graph that is not nested sets it itself; a nested one, as the agent has to be to be seen in the streams, takes it from
outside, where the conversation's graph is not resumed. There is no public name for it: `langgraph.constants` gives it
with a warning. Without it a sub-agent that stopped for an approval would begin its turn anew.
"""
MOST_KEPT = 256
"""Threads that are kept in this process for graphs that are invoked directly; a run keeps those of a conversation."""
_DIRECT: "dict[str, Thread]" = {}
_SHARED = set[int]()
"""Stores of which it was said that all conversations share them."""
_SHOWN = {"updates", "values", "tasks", "checkpoints", "debug"}
"""Modes in which what sub-agents do is handed on to the streams of the conversation's graph; tokens get there anyway."""


class Turn(BaseCallbackHandler):
    """What an agent's turn came to. It grows as the agent works: a call that is given up has what it did before.

    It hears the nodes, from LangGraph's stream of tasks, and the models of which no message tells.
    """

    run_inline = True

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.seen = set[str]()
        """Messages that are in a step: a sub-agent that goes on after a question gives its earlier ones again."""
        self.written = set[str]()
        """Keys of its state that its nodes wrote."""
        self.results: list[list[BaseMessage]] = []
        """The messages that each of its nodes gave; `added`: those of the turn that are its own."""
        self.added: list[BaseMessage] = []
        self.values: Any = None
        """Its last output; `channels`: its whole state."""
        self.channels: Mapping[str, Any] = {}
        self.interrupts: list[Interrupt] = []
        self.limit: str | None = None
        """The node of a middleware that ended the turn at its limit."""
        self.error: Exception | None = None
        """What it raised after it had done something."""
        self._replies: list[tuple[int, Step]] = []
        self._asked: dict[Any, tuple[int, Mapping[str, Any]]] = {}
        self._begun: dict[str, tuple[Step, float, set[str]]] = {}

    def on_chat_model_start(self, serialized: Any, messages: Any, *, run_id: Any, **details: Any) -> None:
        """A model is asked."""
        self._asked[run_id] = (len(self.steps), details.get("metadata") or {})

    def on_llm_end(self, response: Any, *, run_id: Any, **details: Any) -> None:
        """A model has answered."""
        number, about = self._asked.pop(run_id, (len(self.steps), {}))
        path = _path(str(about.get("langgraph_checkpoint_ns") or "").split("|")[1:-1])
        for generation in response.generations[0][:1] if response.generations else ():
            if isinstance(message := getattr(generation, "message", None), AIMessage):
                self._replies.append((number, Step(str(about.get("langgraph_node") or "model"), path, [message])))

    def take(self, space: tuple[str, ...], task: Mapping[str, Any]) -> None:
        """A task begins or ends."""
        now, name = asyncio.get_running_loop().time(), str(task["name"])
        if "triggers" in task:
            self.steps.append(step := Step(name, _path(space)))
            self._begun[task["id"]] = step, now, {name_of(one) for one in messages_in(task.get("input"))}
            return
        step, began, known = self._begun.pop(task["id"], (Step(name, _path(space)), now, set()))
        step.seconds, result = now - began, task.get("result")
        step.error = str(task["error"]) if task.get("error") else None
        if isinstance(result, Mapping):
            self.written |= set(result) if not space else set()
            middleware, _, hook = name.rpartition(".")
            is_limit = hook in ("before_model", "after_model") and "calllimit" in middleware.lower()
            if is_limit and result.get("jump_to") == "end":
                self.limit = name
        self.results.append(messages_in(result))
        for message in self.results[-1]:
            if _is_own(message) and name_of(message) not in known | self.seen:
                self.seen.add(name_of(message))
                step.messages.append(message)

    def end(self, error: str = "") -> None:
        """Put the replies of models into their places that no step has; with an error, the steps under way failed."""
        for step, began, _ in self._begun.values() if error else ():
            step.seconds, step.error = asyncio.get_running_loop().time() - began, error
        for number, step in reversed(self._replies):
            if (name := name_of(step.messages[0])) not in self.seen:
                self.seen.add(name)
                self.steps.insert(number, step)
        self._replies, self._begun = [], {}

    def said_again(self, sent: Sequence[BaseMessage], known: Collection[str | None]) -> list[BaseMessage]:
        """Messages of earlier turns that nodes gave once more as their answer.

        `add_messages` gives an object an id, by which it puts the same object into its earlier place in a later turn.
        """
        last = {message.id for message in sent[-1:]}
        again: dict[str | None, BaseMessage] = {}
        for result in self.results:
            begins = next((number + 1 for number, message in enumerate(result) if message.id in last), 0)
            again |= {one.id: one for one in result[begins:] if one.id in known and _is_own(one)}
        return list(again.values())


def _path(spaces: Any) -> tuple[str, ...]:
    return tuple(part.partition(":")[0] for part in spaces)


def name_of(message: BaseMessage) -> str:
    """The id of a message, or of its object."""
    return message.id or str(id(message))


def _is_own(message: BaseMessage) -> bool:
    return isinstance(message, (AIMessage, ToolMessage))


def messages_in(value: Any) -> list[BaseMessage]:
    """The messages in a state, or in a task's input or result."""
    values = value.values() if isinstance(value, Mapping) else [value]
    items = (item for one in values for item in (one if isinstance(one, (list, tuple)) else [one]))
    return [item for item in items if isinstance(item, BaseMessage)]


# Threads


class Whole:
    """What keeps no thread, a function or any other runnable: it is sent the whole conversation each time."""

    history, last = (), ()

    def __init__(self, agent: Any, role: Role) -> None:
        self.agent, self.role = agent, role

    async def call(self, given: dict[str, Any], context: Any, turn: Turn) -> None:
        """Call it; a graph inside it that stops has asked, and cannot be resumed."""
        sent, answer, is_function = given["messages"], None, not isinstance(self.agent, Runnable)
        with alone(context, turn):
            try:
                if is_function:
                    plain, is_async = convert_to_openai_messages(sent), inspect.iscoroutinefunction(self.agent)
                    answer = self.agent(plain) if is_async else await in_thread(self.agent, plain)
                    if inspect.isawaitable(answer):  # of an object with an async call, or a lambda around one
                        answer = await answer
                else:
                    answer = await self.agent.ainvoke(given)
            except GraphInterrupt as raised:
                turn.interrupts = list(raised.args[0])
            state = answer if isinstance(answer, dict) else {}
            asked = state.pop("__interrupt__", ())  # of a served graph as plain JSON
            turn.interrupts += [Interrupt(one["value"], id="") if isinstance(one, dict) else one for one in asked]
            turn.channels = {} if is_function else {**given, **(state if "messages" in state else {})}
            if not turn.interrupts:
                turn.added = await messages_answered(answer, sent, self.role)
        turn.end()
        own = set(map(name_of, turn.added))  # they are steps themselves
        turn.steps = [step for step in turn.steps if name_of(step.messages[0]) not in own]


class Thread:
    """An agent's thread and store of a conversation. Each draft has a copy, so that a rejected one leaves nothing."""

    def __init__(self, agent: Pregel[Any, Any, Any, Any], name: str, place: str) -> None:
        """`name`: the thread's id. `place`: the node of the conversation's graph in which the agent is nested."""
        self.agent, self.name, self.place = agent.copy({"checkpointer": True}), name, place
        self.saver = InMemorySaver(serde=_Copies())
        self.store: BaseStore = _own_store(agent.store)
        self.history: list[BaseMessage] = []
        """The messages that its state has."""
        self.last: list[BaseMessage] = []
        """Messages of the last turn, of whose tools some may wait for an answer."""
        self.seen = set[str]()

    def copy(self) -> "Thread":
        """The same thread and store, which go on apart from this one."""
        new = copy.copy(self)
        new.saver = InMemorySaver(serde=self.saver.serde)
        for thread, spaces in self.saver.storage.items():
            new.saver.storage[thread].update({space: dict(points) for space, points in spaces.items()})
        new.saver.writes.update({key: dict(writes) for key, writes in self.saver.writes.items()})
        new.saver.blobs.update(self.saver.blobs)
        new.store = _own_store(self.store)
        return new

    async def call(self, given: Any, context: Any, turn: Turn) -> None:
        """Call the agent, nested in the conversation's graph, so that its steps are in that one's streams."""
        turn.seen |= self.seen
        config = own_config(context, self.store, turn, nested=True)
        config["configurable"] |= {CONFIG_KEY_CHECKPOINTER: self.saver, "thread_id": self.name}
        config["configurable"] |= {"checkpoint_ns": self.place}
        if isinstance(given, Command):
            config["configurable"][RESUMING] = True
        outside = next((one for one in config["configurable"].values() if hasattr(one, "modes")), None)
        shown = _SHOWN & set(getattr(outside, "modes", ()))  # which somebody reads
        try:
            with during(var_child_runnable_config, config):  # its own recursion limit, not that of the conversation
                modes: Any = ["tasks", "values", *sorted(shown - {"tasks", "values"})]
                parts: Any = self.agent.astream(given, None, context=context, stream_mode=modes, subgraphs=True)
                async for space, mode, part in parts:
                    inner = space[1:] if space[:1] == (self.place,) else space
                    if outside is not None and inner and mode in shown:
                        outside((space, mode, part))  # LangGraph itself hands on only what the agent's own nodes do
                    if mode == "tasks":
                        turn.take(inner, part)
                    elif not inner and mode == "values":
                        turn.values = part
        except GraphInterrupt:
            pass
        except Exception as error:
            turn.end(error_line(error))
            raise
        now = await self.agent.aget_state(config)
        turn.end()
        turn.interrupts = list(now.interrupts)
        if now.next and not now.interrupts:  # a breakpoint asks nothing
            turn.interrupts = [Interrupt({"paused": f"before {', '.join(now.next)}"}, id="")]
            turn.values = now.values
        turn.channels = now.values if isinstance(now.values, Mapping) else {}
        self.history = messages_in(turn.channels.get("messages"))
        self.last, self.seen = [message for step in turn.steps for message in step.messages], set(turn.seen)


Lent: TypeAlias = Thread | Whole


def kept_threads(limits: Limits) -> "dict[str, Thread]":
    """The threads of the conversation under way, by their places."""
    if isinstance(limits, Context):
        return limits.threads
    while len(_DIRECT) > MOST_KEPT:
        del _DIRECT[next(iter(_DIRECT))]
    return _DIRECT


class _Copies:
    """A serializer that keeps a copy of each value: an agent without a checkpointer may hold anything."""

    def dumps_typed(self, obj: Any) -> tuple[str, Any]:
        return "object", _copied(obj)

    def loads_typed(self, data: tuple[str, Any]) -> Any:
        return _copied(data[1])


def _copied(value: Any) -> Any:
    try:
        return copy.deepcopy(value)
    except Exception:
        return value


def _own_store(store: BaseStore | None) -> BaseStore:
    """A store of one conversation: a copy of the agent's, if that is in memory; else the agent's own, said once."""
    own = InMemoryStore() if store is None else _copied(store) if isinstance(store, InMemoryStore) else store
    if own is store and id(store) not in _SHARED:
        _SHARED.add(id(store))
        log.warning(
            "all conversations share the agent's store (%s): what it remembers of one, it knows in the others; give it "
            "an InMemoryStore, of which each has a copy",
            type(store).__name__,
        )
    return own


# Config and context


def own_config(context: Any, store: BaseStore | None, turn: Turn | None, *, nested: bool) -> RunnableConfig:
    """The config of here for an agent: its own recursion limit, and a runtime with its context and store.

    `nested`: with what makes the agent's steps visible in the streams of the graph that calls it.
    """
    inherited = merge_configs(ensure_config(), {"callbacks": [turn]} if turn is not None else None)
    settings = {}
    for key, value in inherited.get("configurable", {}).items():
        if isinstance(value, Runtime):
            settings[key] = value.override(context=context, store=store)
        elif (not key.startswith(("__", "checkpoint_")) and key != "thread_id") or (
            nested and key != "checkpoint_id" and (isinstance(value, str) or callable(value))
        ):
            settings[key] = value
    config = {name: value for name, value in inherited.items() if name != "recursion_limit"}
    return cast(RunnableConfig, {**config, "configurable": settings})


@contextmanager
def alone(context: Any, turn: Turn | None = None) -> Iterator[None]:
    """Inside, a graph is no part of the conversation's graph: it has its own checkpointer and recursion limit.

    LangGraph's `get_runtime` gives `context`. `turn`: what hears the models that are asked inside.
    """
    with during(var_child_runnable_config, own_config(context, None, turn, nested=False)):
        yield


def own_context(role: str, agent: object, configured: Any, scenario: Mapping[str, Any], limits: Limits) -> Any:
    """The context with which an agent is called; None for none.

    `configured`: a value, or a function of the scenario and the live world. Without it a graph with a `context_schema`
    gets one with its defaults, or the conversation's where that is what it declares; a graph without a schema gets the
    conversation's if there is a world. ContractError names the option where a schema has required fields.
    """
    world = limits.world if isinstance(limits, Context) else None
    if configured is not None:
        if not (isinstance(configured, partial) or inspect.isroutine(configured)):
            return configured
        if inspect.iscoroutinefunction(configured):
            raise ContractError(f"{role}: context: expected a plain function of scenario and world, got an async one")
        return configured(scenario, world)
    schema = getattr(agent, "context_schema", None)
    if schema is None:
        return limits if world is not None else None
    if isinstance(schema, type) and not is_typeddict(schema) and isinstance(limits, schema):
        return limits
    missing = ", ".join(sorted(schema.__required_keys__)) if is_typeddict(schema) else ""
    try:
        if not missing:
            return schema()
    except (TypeError, ValidationError) as error:
        missing = " ".join(str(error).split())
    raise ContractError(
        f"{role}: the agent needs a context ({getattr(schema, '__name__', 'context_schema')}: {missing}): give "
        "--context MODULE:NAME, or context= in Python: a value, or a function of scenario and world"
    )
