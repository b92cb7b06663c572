"""Speakers that ask a chat model or a plain function for the next message, and what these share with agents."""

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, TypeAlias, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable
from langgraph.errors import GraphInterrupt
from langgraph.runtime import Runtime

from ...data.records import Role
from ...errors import SettingError
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
from .tools import ReadOnly, read_only_tools, told_read_only

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
class FunctionSpeaker(Speaker):
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
        checked_timeout(self.role, self.turn_timeout)
        object.__setattr__(self, "build", own_view(self.role, self.build, self.system))
        object.__setattr__(self, "read_only", read_only_tools(self.role, self.reply, self.read_only))

    def prompted(self, state: State) -> bool:
        """Whether the selector's prompt is sent."""
        return sends_prompt(self.build, state)

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        sent = self.sent(state)

        async def ask() -> Update:
            seconds = runtime.context.turn_timeout if self.turn_timeout is None else self.turn_timeout
            try:
                turn = self._answered(sent, runtime.context)
                return await within(seconds, turn, self.path or describe(self.reply)["name"], current().agent_turn)
            except TurnTimeoutError:
                return {"drafts": [Draft(text="")], "stop": TIMED_OUT[self.role]}

        return await kept_update(self.role, self.provenance(), sent, state, runtime.context, ask)

    async def _answered(self, sent: Sequence[BaseMessage], limits: Limits) -> Update:
        messages = openai_messages(sent)
        heard = Heard()
        with alone(limits, heard):
            try:
                if inspect.iscoroutinefunction(self.reply):
                    answer = await self.reply(messages)
                else:
                    answer = await in_thread(self.reply, messages)
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
        timeout = {} if self.turn_timeout is None else {"turn_timeout": self.turn_timeout}
        return {**described, **told_read_only(self.read_only), **timeout}


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


def own_view(role: Role, build: MessageBuilder | None, system: bool | str | Page) -> MessageBuilder | None:
    """What an agent or a function is sent; None if it waits for the view of its side (`system=True`)."""
    text = "" if isinstance(system, bool) else system if isinstance(system, str) else system.fill()
    if build is None:
        return None if system is True else Talk(role, text)
    if text and not (isinstance(build, Talk) and build.system == text):
        raise ContractError(f"{role}: give build= or a text as system=, not both")
    return build


def is_reply(function: object) -> bool:
    """Whether the object is a function of messages only, and not a node, whose first parameter is named `state`."""
    if not callable(function) or isinstance(function, (type, Runnable)):
        return False
    return required_arguments(function) == 1 and next(iter(inspect.signature(function).parameters)) != "state"


def speaker_call(role: Role, state: State, limits: Limits) -> Call:
    """The call of a speaker's turn; its attempt is `attempt_number(state, role)`."""
    return Call(limits.seed, id_of(state), role, state.get("turn", 0))


async def kept_update(
    role: Role,
    to: Mapping[str, Any],
    sent: Sequence[BaseMessage],
    state: State,
    limits: Limits,
    ask: Callable[[], Awaitable[Update]],
) -> Update:
    """An agent's update, from the run's journal if it was given there before.

    Not with a world: the agent has to do again in a new one what its tools did there.
    """
    acts = isinstance(limits, Context) and limits.world is not None
    call = speaker_call(role, state, limits)
    recipient = {**to, "memory": memory_of(state, role)}
    return cast(
        Update,
        await current().update(recipient, sent, call, attempt_number(state, role), ask, keep=not acts),
    )


def checked_timeout(role: Role, seconds: float | None) -> None:
    """ContractError for a turn's limit that is not a number above 0."""
    try:
        if seconds is not None:
            checked_seconds(f"{role}: turn_timeout", seconds)
    except (SettingError, TypeError) as error:
        raise ContractError(str(error)) from None
