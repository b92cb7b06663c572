"""Speakers that ask a chat model or a plain function for the next message, and what these share with agents."""

import inspect
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, TypeAlias, TypeVar, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable
from langgraph.errors import GraphInterrupt
from langgraph.runtime import Runtime

from ...data.records import Role
from ...prompts import Page, PromptError
from ..calls.service import current, drafted
from ..calls.store import Call
from ..contract import ContractError, Node, describe, required_arguments
from ..foreign import TurnTimeoutError, in_thread, within
from ..limits import Limits, checked_seconds
from ..messages.attachments import openai_messages
from ..messages.building import MessageBuilder, PageMessages, Talk, plain_messages, sends_prompt
from ..models.offline.model import OfflineChatModel
from ..models.offline.reading import GOAL_MARKS
from ..models.specs import chat_model, model_provenance
from ..replies import Answer, messages_answered, reply_of, steps_of
from ..settings.redaction import redacted
from ..state import Draft, State, Update, attempt_number, id_of, memory_of
from ..worlds import Context
from .lent import Heard, alone
from .questions import INTERRUPTED, NO_CHECKPOINTER, unanswered_calls
from .tools import ReadOnly, read_only_tools

T = TypeVar("T")

TIMED_OUT: Mapping[Role, str] = {"assistant": "agent_timeout", "user": "user_timeout"}
"""The stop reason of an agent whose turn took too long, by whom it plays."""


class Speaker:
    """What a model, a function and an agent have in common that play a side: whose part it is, and what they are sent."""

    role: Role
    build: MessageBuilder | None

    def placed(self, view: MessageBuilder) -> Self:
        """The same speaker on a side of a cast with this view, where it has none of its own."""
        return self if self.build is not None else cast(Self, replace(cast(Any, self), build=view))

    def sent(self, state: State) -> list[BaseMessage]:
        """The messages that it is sent; ContractError where no cast has given it a view."""
        if self.build is None:
            raise ContractError(f"{self.role}: the speaker stands in no cast, whose view it would be sent: give build=")
        return self.build(state)


class OwnCode(Speaker):
    """A speaker with code of the user's, a function or an agent: it may hang, call tools, and is not repeated in vain."""

    path: str | None
    system: bool | str | Page
    read_only: ReadOnly
    turn_timeout: float | None

    def settle(self, code: object) -> None:
        """Check the settings. Without `build` the view is the conversation with `system`, or for True that of its side."""
        if self.turn_timeout is not None:
            checked_seconds(f"{self.role}: turn_timeout", self.turn_timeout)
        page = "" if isinstance(self.system, bool) else self.system
        talk = Talk(self.role, page if isinstance(page, str) else page.fill())
        if self.build is None:
            object.__setattr__(self, "build", None if self.system is True else talk)
        elif talk.system not in ("", getattr(self.build, "system", "")):
            raise ContractError(f"{self.role}: give build= or a text as system=, not both")
        object.__setattr__(self, "read_only", read_only_tools(self.role, code, self.read_only))

    def told(self) -> dict[str, Any]:
        """The tools and the time for the record, where they are said."""
        read_only = self.read_only if isinstance(self.read_only, bool) else list(self.read_only)
        said = {"read_only": read_only, "turn_timeout": self.turn_timeout}
        return {name: value for name, value in said.items() if value}

    async def in_time(self, turn: Coroutine[Any, Any, T], name: str, limits: Limits) -> T:
        """The result of a turn; TurnTimeoutError if it takes too long."""
        seconds = limits.turn_timeout if self.turn_timeout is None else self.turn_timeout
        return await within(seconds, turn, self.path or name, current().agent_turn)

    async def kept(self, state: State, limits: Limits, ask: Callable[[], Awaitable[Update]]) -> Update:
        """The update that `ask` gives, from the run's journal if it was given there before.

        Not with a world: what its tools did there has to be done again in a new one.
        """
        acts = isinstance(limits, Context) and limits.world is not None
        recipient = {**cast(Any, self).provenance(), "memory": memory_of(state, self.role)}
        call, attempt = speaker_call(self.role, state, limits), attempt_number(state, self.role)
        update = await current().update(recipient, self.sent(state), call, attempt, ask, keep=not acts)
        return cast(Update, update)


@dataclass(frozen=True)
class ChatSpeaker(Speaker):
    """Asks a chat model for one message; `build` makes its messages from the state."""

    role: Role
    model: BaseChatModel
    build: MessageBuilder | None = None
    """None: the view of its side of the cast."""
    path: str | None = None
    """The import path that the model was given by."""
    read_only: ClassVar[bool] = True
    """The model's tool calls are not carried out."""

    def placed(self, view: MessageBuilder) -> Self:
        """The same speaker on a side with this view; an offline model without a part gets that of the view, or the side.

        PromptError if it plays a user with a goal and the pages do not mark the goal: it reads marks, not words.
        """
        if self.build is not None:
            return self
        part = "goal_user" if self.role == "user" else "task_assistant"
        model, material = chat_model(self.model, side=getattr(view, "offline", part)), "user/material"
        if isinstance(model, OfflineChatModel) and model.side == "goal_user" and isinstance(view, PageMessages):
            marks = view.pages[material].marks if material in view.pages else ()
            if not any(mark in GOAL_MARKS for mark in marks):
                raise PromptError(
                    f"prompt {material}: the offline user finds no goal in it: write <goal>{{{{ goal }}}}</goal> there, "
                    "and the user's facts as <facts>{{ facts }}</facts>"
                )
        return replace(self, model=model, build=view)

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        call = speaker_call(self.role, state, runtime.context)
        return {"drafts": [await drafted(self.model, self.sent(state), call, attempt_number(state, self.role))]}

    def provenance(self) -> dict[str, Any]:
        return {"model": model_provenance(self.model), "view": describe(self.build), **given_by(self.path)}


SpeakerReply: TypeAlias = Callable[[list[dict[str, Any]]], Answer | Awaitable[Answer]]
"""A function from messages, `{"role": "system" | "user" | "assistant", "content": text}` each, to the next message:
its text, a message of LangChain or of OpenAI's form, a list of messages, or a generator of texts. The content of a
message with images or files is a list of OpenAI's blocks."""


@dataclass(frozen=True)
class FunctionSpeaker(OwnCode):
    """Calls a plain function from messages to the next one, for assistants with any other interface.

    A function that is not async runs in its own thread, so that it does not block other conversations. A graph that it
    calls has its own recursion limit, as an agent has.
    """

    role: Role
    reply: SpeakerReply
    build: MessageBuilder | None = None
    """Builds the messages that it is sent, as of an `AgentSpeaker`; None: the conversation, with `system`."""
    path: str | None = None
    """The import path that the function was given by."""
    system: bool | str | Page = False
    """Without `build`: a system page before the conversation. True: all that the cast would send a model."""
    read_only: ReadOnly = ()
    """Tools that change nothing outside the function, as of an `AgentSpeaker`."""
    turn_timeout: float | None = None
    """Most seconds of a turn, as of an `AgentSpeaker`."""

    def __post_init__(self) -> None:
        self.settle(self.reply)

    def prompted(self, state: State) -> bool:
        """Whether the selector's prompt is sent."""
        return sends_prompt(self.build, state)

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        async def ask() -> Update:
            turn = self._answered(self.sent(state), runtime.context)
            try:
                return await self.in_time(turn, describe(self.reply)["name"], runtime.context)
            except TurnTimeoutError:
                return {"drafts": [Draft(text="")], "stop": TIMED_OUT[self.role]}

        return await self.kept(state, runtime.context, ask)

    async def _answered(self, sent: Sequence[BaseMessage], limits: Limits) -> Update:
        messages = openai_messages(sent)
        heard = Heard()
        with alone(limits, heard):
            try:
                is_async = inspect.iscoroutinefunction(self.reply)
                answer = self.reply(messages) if is_async else await in_thread(self.reply, messages)
                if inspect.isawaitable(answer):  # an object with an async call, or a lambda around one
                    answer = await answer
                interrupts = answer.get("__interrupt__") if isinstance(answer, dict) else None
            except GraphInterrupt as raised:
                interrupts = raised.args[0]
            if interrupts:
                calls = unanswered_calls([interrupt.value for interrupt in interrupts], NO_CHECKPOINTER)
                return {"drafts": [Draft(text="", tool_calls=calls)], "stop": INTERRUPTED[self.role]}
            own = await messages_answered(answer, sent, self.role)
            draft = reply_of(own, steps_of(own, [step for _, step in heard.replies]))
        return {"drafts": [draft]}

    def provenance(self) -> dict[str, Any]:
        described = {"function": describe(self.reply), "view": describe(self.build), **given_by(self.path)}
        return described | self.told()


def user(reply: str | BaseChatModel | SpeakerReply, system: str = "") -> Node:
    """A user from a chat model, its identifier, or a function of the messages that a chat model in its place is sent.

    `system`: what it is told of its part; without it the view of its side of the cast, by default goal and facts.
    """
    build = plain_messages("user", system) if system else None
    if isinstance(reply, (str, BaseChatModel)):
        return ChatSpeaker("user", chat_model(reply), build)
    return FunctionSpeaker("user", reply, build, system=build is None)


def given_by(path: str | None, url: str | None = None) -> dict[str, str]:
    """What a speaker was given by, for the record; empty for an object."""
    return ({"object": path} if path else {}) | ({"url": redacted(url)} if url else {})


def is_reply(function: object) -> bool:
    """Whether the object is a function of messages only, and not a node, whose first parameter is named `state`."""
    if not callable(function) or isinstance(function, (type, Runnable)):
        return False
    return required_arguments(function) == 1 and next(iter(inspect.signature(function).parameters)) != "state"


def speaker_call(role: Role, state: State, limits: Limits) -> Call:
    """The call of a speaker's turn; its attempt is `attempt_number(state, role)`."""
    return Call(limits.seed, id_of(state), role, state.get("turn", 0))
