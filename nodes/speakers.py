"""Speakers: a chat model, somebody's own LangGraph agent or plain function, asked for the next message."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from json import JSONDecodeError
from typing import Any, TypeAlias

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, convert_to_messages, convert_to_openai_messages
from langchain_core.runnables import Runnable
from langgraph.pregel import Pregel
from langgraph.runtime import Runtime

from ..data.identity import call_seed
from ..data.records import Role
from ..data.text.cleaning import clean
from .contract import ContractError, describe
from .limits import Limits
from .messages import View
from .models.specs import model_provenance, takes_seed
from .state import Draft, State, Update, attempt_number


def draft(text: str, usage: dict[str, int] | None = None) -> Draft:
    """A model's text as a draft: cleaned, what came kept where it differs."""
    text = text.encode("utf-8", "replace").decode("utf-8")  # half a surrogate pair fits in no file
    cleaned = clean(text)
    made = Draft(text=cleaned.text)
    if cleaned.text != text:
        made["raw"] = text
    if cleaned.removed:
        made["cleaned"] = list(cleaned.removed)
    if usage is not None:
        made["usage"] = usage
    return made


def usage_of(messages: Sequence[BaseMessage]) -> dict[str, int]:
    """Tokens of the models' messages, as their endpoints counted them."""
    counted = [m.usage_metadata for m in messages if isinstance(m, AIMessage) and m.usage_metadata]
    return {
        "input_tokens": sum(usage["input_tokens"] for usage in counted),
        "output_tokens": sum(usage["output_tokens"] for usage in counted),
        "calls": max(1, len(counted)),
    }


async def drafted(model: BaseChatModel, messages: Sequence[BaseMessage], seed: int) -> Draft:
    """A chat model's reply to the messages; the seed is given to a model that takes one."""
    arguments: dict[str, Any] = {"seed": seed} if takes_seed(model) else {}
    # Transport errors are retried by the model's own client; a reply that is no JSON by nobody else.
    asked = model.with_retry(
        retry_if_exception_type=(JSONDecodeError,), wait_exponential_jitter=False, stop_after_attempt=2
    )
    reply = await asked.ainvoke(list(messages), **arguments)
    return draft(str(reply.text), usage_of([reply]))


@dataclass(frozen=True)
class ChatSpeaker:
    """Asks a chat model for one message; what it is sent is its view of the state."""

    role: Role
    model: BaseChatModel
    view: View

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        seed = speaker_seed(self.role, state, runtime.context)
        return {"drafts": [await drafted(self.model, self.view(state), seed)]}

    def provenance(self) -> dict[str, Any]:
        return {"model": model_provenance(self.model), "view": describe(self.view)}


@dataclass(frozen=True)
class AgentSpeaker:
    """Somebody's own agent: a compiled LangGraph graph, or any runnable, that speaks `messages`.

    It is sent the same messages as a chat model would be, and its last message is the draft.
    """

    role: Role
    agent: Runnable[Any, Any]
    view: View

    def __post_init__(self) -> None:
        if isinstance(self.agent, Pregel) and "messages" not in self.agent.channels:
            raise ContractError(
                f"{self.role}: expected an agent whose state has 'messages', got a graph with "
                + ", ".join(
                    sorted(str(name) for name in self.agent.channels if not str(name).startswith(("_", "branch:")))
                )
            )

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        sent = self.view(state)
        answer = await self.agent.ainvoke({"messages": sent})
        if isinstance(answer, BaseMessage):
            return {"drafts": [draft(str(answer.text), usage_of([answer]))]}
        if not isinstance(answer, dict) or not isinstance(answer.get("messages"), list):
            raise ContractError(
                f"{self.role}: expected the agent to answer with 'messages', got {type(answer).__name__}"
            )
        known = {message.id for message in sent if message.id}
        messages = convert_to_messages(answer["messages"])  # a server answers with plain JSON
        said = [m for m in messages if isinstance(m, AIMessage) and m.id not in known]
        own = said[sum(isinstance(m, AIMessage) for m in sent if not m.id) :]
        if not own:
            return {"drafts": []}
        return {"drafts": [draft(str(own[-1].text), usage_of(own))]}

    def provenance(self) -> dict[str, Any]:
        name = getattr(self.agent, "name", None) or type(self.agent).__name__
        return {"agent": str(name), "view": describe(self.view)}


Reply: TypeAlias = Callable[[list[dict[str, Any]]], str | BaseMessage | Awaitable[str | BaseMessage]]
"""Reads messages, `{"role": "system" | "user" | "assistant", "content": text}` each, and writes the next: its text, or
a chat model's answer as it came."""


@dataclass(frozen=True)
class FunctionSpeaker:
    """A plain function from messages to the next one's text: any assistant behind any interface.

    One that is not async runs in a thread of its own, so that the other conversations go on.
    """

    role: Role
    reply: Reply
    view: View

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        sent = convert_to_openai_messages(self.view(state))
        given: Any = sent if isinstance(sent, list) else [sent]
        if inspect.iscoroutinefunction(self.reply):
            answer = await self.reply(given)
        else:
            answer = await asyncio.to_thread(self.reply, given)
        if inspect.isawaitable(answer):  # of an object whose call is async, or a lambda around one
            answer = await answer
        if isinstance(answer, BaseMessage):
            return {"drafts": [draft(str(answer.text), usage_of([answer]))]}
        if not isinstance(answer, str):
            got = type(answer).__name__
            raise ContractError(f"{self.role}: expected the function to answer with a text, got {got}")
        return {"drafts": [draft(answer)]}

    def provenance(self) -> dict[str, Any]:
        return {"function": describe(self.reply), "view": describe(self.view)}


def is_reply(given: object) -> bool:
    """Whether the object is a function of messages alone, and no node, which takes state and runtime."""
    if not callable(given) or isinstance(given, (type, Runnable)):
        return False
    try:
        parameters = inspect.signature(given).parameters.values()
    except (TypeError, ValueError):
        return False
    return sum(p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters) == 1


def speaker_seed(role: Role, state: State, limits: Limits) -> int:
    """The seed of the call that is due."""
    return call_seed(limits.seed, state.get("id", ""), role, state.get("turn", 0), attempt_number(state))
