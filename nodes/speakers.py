"""Speakers that ask a chat model, a LangGraph agent or a plain function for the next message."""

import asyncio
import copy
import inspect
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from json import JSONDecodeError
from typing import Any, TypeAlias, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ToolMessage,
    convert_to_messages,
    convert_to_openai_messages,
)
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import var_child_runnable_config
from langgraph.graph.state import CompiledStateGraph
from langgraph.pregel import Pregel
from langgraph.runtime import Runtime

from ..data.identity import call_seed
from ..data.records import Role
from .contract import ContractError, describe
from .environment import redacted
from .limits import Limits
from .messages import MessageBuilder
from .models.specs import model_provenance, takes_seed
from .replies import draft, drafts_of, new_messages, plain_json
from .state import Draft, State, Update, attempt_number

CHANNELS = "channels"
"""Key of a side's memory for the channels with which its agent continues."""


async def drafted(model: BaseChatModel, messages: Sequence[BaseMessage], seed: int) -> Draft:
    """A chat model's reply to the messages; the seed is passed to models that take one."""
    arguments: dict[str, Any] = {"seed": seed} if takes_seed(model) else {}
    # The model's client retries transport errors, but not a response that is no JSON.
    retrying = model.with_retry(
        retry_if_exception_type=(JSONDecodeError,), wait_exponential_jitter=False, stop_after_attempt=2
    )
    reply = await retrying.ainvoke(list(messages), **arguments)
    return drafts_of([reply])[0]


@dataclass(frozen=True)
class ChatSpeaker:
    """Asks a chat model for one message; `build` makes its messages from the state."""

    role: Role
    model: BaseChatModel
    build: MessageBuilder
    path: str | None = None
    """The import path that the model was given by."""

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        seed = speaker_seed(self.role, state, runtime.context)
        return {"drafts": [await drafted(self.model, self.build(state), seed)]}

    def provenance(self) -> dict[str, Any]:
        return {"model": model_provenance(self.model), "view": describe(self.build), **_given_by(self.path)}


Start: TypeAlias = Callable[[dict[str, Any]], Mapping[str, Any]]
"""A function from the scenario to the first channels of an agent's state."""


@dataclass(frozen=True)
class AgentSpeaker:
    """Asks an agent: a compiled LangGraph graph, or any runnable, whose state has `messages`.

    It is sent the same messages as a chat model. Each message with text in its reply is a draft, with the tool calls
    before it. Its recursion limit is the one that it has when it is called on its own: that of its config, else the
    default; the conversation's does not bind it.
    """

    role: Role
    agent: Runnable[Any, Any]
    build: MessageBuilder
    keep: tuple[str, ...] = ()
    """Channels of the agent's final state that are recorded, and passed to the agent again on its next turn. Each
    conversation has its own; channels of a rejected draft are dropped."""
    start: Start | None = None
    """The agent's channels at the beginning of a conversation; kept channels override them."""
    path: str | None = None
    """The import path that the agent was given by."""
    url: str | None = None
    """The address on a LangGraph server that the agent was given by."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "keep", tuple(self.keep))
        if "messages" in self.keep:
            raise ContractError(f"{self.role}: 'messages' cannot be kept: the agent is sent them on every turn")
        if not isinstance(self.agent, Pregel):
            return
        if "messages" not in self.agent.channels:
            raise ContractError(
                f"{self.role}: expected an agent whose state has 'messages', got a graph with "
                + ", ".join(_channels(self.agent))
            )
        self._known("keep", self.keep)

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        sent = self.build(state)
        memory = state.get("memory", {})
        channels = self._start(state["scenario"]) | memory.get(CHANNELS, {})
        # With output_keys, channels outside the graph's output schema are returned too.
        options: dict[str, Any] = {}
        if self.keep and isinstance(self.agent, Pregel):
            options["output_keys"] = ["messages", *self.keep]
        with _own_recursion_limit():
            answer = await self.agent.ainvoke({**channels, "messages": sent}, **options)
        drafts = drafts_of(self._added(answer, sent))
        if not self.keep:
            return {"drafts": drafts}
        # A channel that the answer lacks has not changed.
        kept = self._kept({**channels, **(answer if isinstance(answer, dict) else {})})
        if drafts:
            drafts[-1]["kept"] = kept
        return {"drafts": drafts, "memory": {**memory, CHANNELS: kept}}

    def _start(self, scenario: dict[str, Any]) -> dict[str, Any]:
        if self.start is None:
            return {}
        channels = self.start(copy.deepcopy(scenario))
        if not isinstance(channels, Mapping):
            raise ContractError(
                f"{self.role}: expected 'start' to give an object of channels, got {type(channels).__name__}"
            )
        self._known("start", channels)
        return copy.deepcopy(dict(channels))  # conversations must not share mutable objects

    def _known(self, what: str, names: Iterable[str]) -> None:
        """Raises ContractError for a name that is no input channel of the graph."""
        if not isinstance(self.agent, Pregel):
            return
        known = _channels(self.agent)
        for name in names:
            if name not in known:
                raise ContractError(f"{self.role}: {what}: the agent's state has no {name!r}, only {', '.join(known)}")
            if isinstance(self.agent, CompiledStateGraph):
                taken = self.agent.builder.schemas[self.agent.builder.input_schema]
                if name not in taken:
                    raise ContractError(
                        f"{self.role}: {what}: the agent's input has no {name!r}, only {', '.join(sorted(taken))}: "
                        "it could not go on from it"
                    )

    def _added(self, answer: Any, sent: Sequence[BaseMessage]) -> list[BaseMessage]:
        if isinstance(answer, BaseMessage):
            return [answer]
        if not isinstance(answer, dict) or not isinstance(answer.get("messages"), list):
            raise ContractError(
                f"{self.role}: expected the agent to answer with 'messages', got {type(answer).__name__}"
            )
        try:
            answered = convert_to_messages(answer["messages"])
        except (ValueError, NotImplementedError) as error:
            raise ContractError(f"{self.role}: expected the agent to answer with messages; {error}") from None
        added = new_messages(answered, sent)
        return [message for message in added if isinstance(message, (AIMessage, ToolMessage))]

    def _kept(self, channels: Mapping[str, Any]) -> dict[str, Any]:
        kept = {}
        for name in self.keep:
            if name in channels:
                try:
                    kept[name] = plain_json(channels[name])
                except (TypeError, ValueError, RecursionError) as error:
                    raise ContractError(
                        f"{self.role}: keep: the agent's {name!r} is no plain JSON; {error}: leave it out, or keep "
                        "texts, numbers, lists and objects in it"
                    ) from None
        return kept

    def provenance(self) -> dict[str, Any]:
        described: dict[str, Any] = {"agent": self.agent.get_name(), "view": describe(self.build)}
        described |= _given_by(self.path, self.url)
        if self.keep:
            described["keep"] = list(self.keep)
        if self.start is not None:
            described["start"] = describe(self.start)
        return described


@contextmanager
def _own_recursion_limit() -> Iterator[None]:
    """Inside, a graph does not inherit the recursion limit of the conversation: that counts turns, not its steps."""
    inherited = var_child_runnable_config.get() or {}
    config = {name: value for name, value in inherited.items() if name != "recursion_limit"}
    token = var_child_runnable_config.set(cast(RunnableConfig, config))
    try:
        yield
    finally:
        var_child_runnable_config.reset(token)


def _channels(agent: Pregel[Any, Any, Any, Any]) -> list[str]:
    """Names of the graph's channels, without LangGraph's internal ones."""
    return sorted(str(name) for name in agent.channels if not str(name).startswith(("_", "branch:")))


Reply: TypeAlias = Callable[[list[dict[str, Any]]], str | BaseMessage | Awaitable[str | BaseMessage]]
"""A function from messages, `{"role": "system" | "user" | "assistant", "content": text}` each, to the next message:
its text, or a chat model's message."""


@dataclass(frozen=True)
class FunctionSpeaker:
    """Calls a plain function from messages to the next one, for assistants with any other interface.

    A function that is not async runs in its own thread, so that it does not block other conversations. A graph that it
    calls has its own recursion limit, as an agent has.
    """

    role: Role
    reply: Reply
    build: MessageBuilder
    path: str | None = None
    """The import path that the function was given by."""

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        sent = convert_to_openai_messages(self.build(state))
        messages: Any = sent if isinstance(sent, list) else [sent]
        with _own_recursion_limit():
            if inspect.iscoroutinefunction(self.reply):
                answer = await self.reply(messages)
            else:
                answer = await asyncio.to_thread(self.reply, messages)
            if inspect.isawaitable(answer):  # an object with an async call, or a lambda around one
                answer = await answer
        if isinstance(answer, BaseMessage):
            return {"drafts": drafts_of([answer])}
        if not isinstance(answer, str):
            got = type(answer).__name__
            raise ContractError(f"{self.role}: expected the function to answer with a text, got {got}")
        return {"drafts": [draft(answer)]}

    def provenance(self) -> dict[str, Any]:
        return {"function": describe(self.reply), "view": describe(self.build), **_given_by(self.path)}


def _given_by(path: str | None, url: str | None = None) -> dict[str, str]:
    """What a speaker was given by, for the record; empty for an object."""
    return ({"object": path} if path else {}) | ({"url": redacted(url)} if url else {})


def is_reply(function: object) -> bool:
    """Whether the object is a function of messages only, and not a node (of state and runtime)."""
    if not callable(function) or isinstance(function, (type, Runnable)):
        return False
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    required = [parameter for parameter in parameters if parameter.default is parameter.empty]
    return sum(parameter.kind in positional for parameter in required) == 1


def speaker_seed(role: Role, state: State, limits: Limits) -> int:
    """The seed of the next call of a speaker."""
    return call_seed(limits.seed, state.get("id", ""), role, state.get("turn", 0), attempt_number(state))
