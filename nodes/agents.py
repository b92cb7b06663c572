"""Speakers that are LangGraph agents: what they are sent, on which thread, and what becomes of their answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self, TypeAlias, cast

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    RemoveMessage,
    ToolMessage,
)
from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.pregel import Pregel
from langgraph.runtime import Runtime
from langgraph.types import Command

from ..data.records import Role
from ..prompts import Page
from .agent_calls import Called, called, own_context
from .channels import Start, channels_of, check_channels, start_channels
from .contract import ContractError, describe
from .environment import error_line
from .interrupts import INTERRUPTED, NO_CHECKPOINTER, NO_QUESTION, drafts_at_interrupt, still_waiting
from .limits import Limits
from .messages import MessageBuilder, Talk, note, sends_prompt
from .parts import worded
from .replies import drafts_of, kept_channels, messages_of, new_messages
from .speakers import NO_PAGE, given_by, kept_update, own_view, placed_view
from .state import Draft, State, Update, attempt_number, merged
from .threads import (
    THREAD,
    Place,
    asked_again,
    beginning,
    checkpoint_of,
    has_checkpointer,
    held_messages,
    is_remote,
    on_server,
    takes_out,
    thread_of,
    waiting,
)
from .tools import ReadOnly, read_only_tools, told_read_only
from .worlds import back_to, remember

CHANNELS = "channels"
"""Key of a side's memory for the channels with which its agent continues."""
Send: TypeAlias = Literal["all", "new"]
"""What an agent is sent on each turn: the conversation so far, or what its thread has not seen of it."""


@dataclass(frozen=True)
class AgentSpeaker:
    """Asks an agent: a compiled LangGraph graph, or any runnable, whose state has `messages`.

    It is sent the conversation and nothing else; after a rejected draft also the repair line, as one last message
    between note marks. It never sees the rejected draft. An agent that plays the user has to know its part: give it
    `build`, the messages of its pages; a cast's `user=` does.

    It is called with a `thread_id` (`threads.thread_of`). An agent with a checkpointer of its own keeps its history on
    that thread: it is sent only what is new, and before it is asked again the thread goes back to where it was; the
    repair line is taken out by the next call (where `add_messages` reduces its messages). A text in its `interrupt()`
    is a question to the other side, whose next message is the answer; any other interrupt ends the conversation as
    `agent_interrupted`, or `user_rejected` if the agent plays the user.

    Each message with text in its reply is a draft, with the tool calls before it. Its recursion limit is the one that
    it has when it is called on its own: that of its config, else the default; the conversation's does not bind it.
    """

    role: Role
    agent: Runnable[Any, Any]
    build: MessageBuilder | None = None
    """Builds the messages that it is sent, with a page of yours or the rejected drafts. None: see `system`."""
    keep: tuple[str, ...] = ()
    """Channels of the agent's final state that are recorded, and passed to the agent again on its next turn; an agent
    with a thread has them there. Each conversation has its own; channels of a rejected draft are dropped."""
    start: Start | None = None
    """The agent's channels at the beginning of a conversation; kept channels override them."""
    path: str | None = None
    """The import path that the agent was given by."""
    url: str | None = None
    """The address on a LangGraph server that the agent was given by."""
    system: bool | str | Page = False
    """Without `build`: a system page before the conversation. True: it is sent all that the cast would send a model in
    its place, also the material and the prompts."""
    send: Send | None = None
    """None: `new` for an agent with a checkpointer of its own, else `all`. A graph on a server keeps a thread there
    only with `new`."""
    context: Any = None
    """What a graph with a context of its own is called with: an object, or a function of the scenario and the live
    world. None: a graph that declares no context is given the conversation's, if it has a world."""
    read_only: ReadOnly = ()
    """Tools that change nothing outside the agent's own state, besides those that say so themselves (`nodes.tools.declared`).
    A rejected draft that called another one stands, unless the cast's world can be put back."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "keep", tuple(self.keep))
        object.__setattr__(self, "read_only", read_only_tools(self.role, self.agent, self.read_only))
        object.__setattr__(self, "build", own_view(self.role, self.build, self.system))
        if self.send not in (None, "all", "new"):
            raise ContractError(f"{self.role}: send: expected 'all' or 'new', got {self.send!r}")
        if self.send == "new" and not (has_checkpointer(self.agent) or is_remote(self.agent)):
            raise ContractError(
                f"{self.role}: send='new' is for an agent that keeps its own history: compile(checkpointer=...)"
            )
        if "messages" in self.keep:
            raise ContractError(f"{self.role}: 'messages' cannot be kept: the agent is sent them on every turn")
        if not isinstance(self.agent, Pregel):
            return
        if "messages" not in self.agent.channels:
            raise ContractError(
                f"{self.role}: expected an agent whose state has 'messages', got a graph with "
                + ", ".join(channels_of(self.agent))
            )
        check_channels(self.role, self.agent, "keep", self.keep)

    def placed(self, build: MessageBuilder) -> Self:
        """The same speaker in a place of a cast whose pages `build` the messages of a model."""
        return replace(self, build=placed_view(self.role, self.build, build))

    def prompted(self, state: State) -> bool:
        """Whether the selector's prompt is sent: not with an answer to its own question, which it is given as it is."""
        held = Place.of(state.get("memory", {}), self._thread(state))
        return not (held and held.asked) and sends_prompt(self.build, state)

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        if self.build is None:
            raise ContractError(NO_PAGE.format(role=self.role))
        if has_checkpointer(self.agent) or (is_remote(self.agent) and self.send == "new"):
            return self._update(await self._on_thread(state, runtime), state)

        async def ask() -> Update:
            return self._update(await self._at_once(state, runtime), state)

        return await kept_update(self.role, self.provenance(), self.build(state), state, runtime.context, ask)

    def _update(self, reply: "_Reply", state: State) -> Update:
        drafts = reply.drafts
        update: Update = {"drafts": drafts}
        memory = dict(state.get("memory", {}))
        answer = reply.called.answer
        if self.keep:
            # A channel that the answer lacks has not changed.
            kept = kept_channels(
                self.role, self.keep, {**reply.channels, **(answer if isinstance(answer, dict) else {})}
            )
            if drafts:
                drafts[-1]["kept"] = kept
            memory |= {} if reply.place else {CHANNELS: kept}
        if reply.place is not None:
            place = replace(reply.place, seen=reply.place.seen + len(drafts))
            memory[THREAD] = place.plain()
        if self.keep or reply.place is not None:
            update["memory"] = memory
        if reply.called.error is not None:
            update["failed"] = error_line(reply.called.error)
        elif reply.called.interrupts and not (reply.place and reply.place.asked):
            update["stop"] = INTERRUPTED[self.role]
        return update

    async def _at_once(self, state: State, runtime: Runtime[Limits]) -> "_Reply":
        """The reply to the whole conversation, of an agent that keeps no history."""
        sent = cast(MessageBuilder, self.build)(state)
        channels = start_channels(self.role, self.agent, self.start, state["scenario"]) | state.get("memory", {}).get(
            CHANNELS, {}
        )
        config: RunnableConfig = {"configurable": {"thread_id": self._thread(state)}}
        if is_remote(self.agent):  # with a thread's id the server would add the whole conversation to it every time
            config = {"metadata": {"conversation": self._thread(state)}}
        reply = await self._called({**channels, "messages": sent}, config, state, runtime)
        if reply.error is not None and reply.answer is None:
            raise reply.error
        added = [] if reply.answer is None else new_messages(messages_of(self.role, reply.answer), sent)
        return _Reply(reply, channels, added)

    async def _on_thread(self, state: State, runtime: Runtime[Limits]) -> "_Reply":
        """The reply of an agent that keeps its history on a thread."""
        agent, thread = cast(Pregel[Any, Any, Any, Any], self.agent), self._thread(state)
        messages = state.get("messages", [])
        held = Place.of(state.get("memory", {}), thread)
        if held is not None and not held.asked and self.send == "all":
            held = None
        config = await beginning(agent, thread) if held is None else held.config
        history = [] if held is None else await held_messages(agent, config)
        before = {message.id for message in history if message.id}
        channels = start_channels(self.role, self.agent, self.start, state["scenario"]) if held is None else {}
        said = told = None
        sent: list[BaseMessage] = []
        new = messages[held.seen :] if held else messages
        asked: Any
        if held and held.asked:
            first = held.first or held.checkpoint
            if state.get("attempts"):
                await back_to(runtime.context, first)
                config = await asked_again(agent, held, lambda asked, at: self._called(asked, at, state, runtime))
            else:
                remember(runtime.context, first)
            said = "\n\n".join(worded(message) for message in new if message["role"] != self.role)
            asked = Command(resume=said)
        else:
            shown = merged(state, {"messages": new, "prompt": None, "attempts": []})
            sent = (cast(MessageBuilder, self.build) if held is None else Talk(self.role))(shown)
            line = state.get("prompt")
            if line and self.prompted(state):
                told = f"{thread}/{len(messages)}/{attempt_number(state)}"
                sent = [*sent, HumanMessage(note(line), id=told)]
            gone = held.note if held and held.note in before and takes_out(agent) else None
            asked = {**channels, "messages": [*([RemoveMessage(id=gone)] if gone else []), *sent]}
        reply = await self._called(asked, config, state, runtime)
        if reply.error is not None and reply.answer is None:
            raise reply.error
        after = await agent.aget_state({"configurable": {"thread_id": thread}})
        interrupts = reply.interrupts
        if after.next and not interrupts and reply.error is None:
            interrupts = [f"paused before {', '.join(after.next)}", None]  # a breakpoint asks nothing
        added = [message for message in messages_of(self.role, reply.answer) if message.id not in before]
        # The tools that waited for the answer went on in this reply: their calls are its own too.
        added = new_messages(added, sent) if sent else [*waiting(history), *added]
        asks = len(interrupts) == 1 and isinstance(interrupts[0], str) and bool(interrupts[0].strip())
        if held and said is not None:
            place = held.answered(said, after, seen=len(messages), asked=asks)
        else:
            place = Place(thread, checkpoint_of(after), len(messages), note=told, asked=asks)
        return _Reply(replace(reply, interrupts=interrupts), channels, added, place)

    async def _called(self, asked: Any, config: RunnableConfig, state: State, runtime: Runtime[Limits]) -> Called:
        own = own_context(self.role, self.agent, self.context, state["scenario"], runtime.context)
        return await called(self.agent, asked, config, keep=self.keep, context=own)

    def _thread(self, state: State) -> str:
        thread = thread_of(self.role, state)
        return on_server(thread) if is_remote(self.agent) else thread

    def provenance(self) -> dict[str, Any]:
        described: dict[str, Any] = {"agent": self.agent.get_name(), "view": describe(self.build)}
        described |= given_by(self.path, self.url)
        if self.send or has_checkpointer(self.agent):
            described["send"] = self.send or "new"
        if self.keep:
            described["keep"] = list(self.keep)
        described |= told_read_only(self.read_only)
        if self.start is not None:
            described["start"] = describe(self.start)
        return described


@dataclass(frozen=True)
class _Reply:
    """What an agent answered."""

    called: Called
    channels: Mapping[str, Any]
    """What it was sent besides messages."""
    added: Sequence[BaseMessage]
    """The messages that it was not sent."""
    place: Place | None = None
    """Where its thread stands, without the drafts; None if it has no thread."""

    @property
    def drafts(self) -> list[Draft]:
        """The drafts of its messages, the last one the question of its interrupt."""
        own = [message for message in self.added if isinstance(message, (AIMessage, ToolMessage))]
        interrupts = self.called.interrupts
        if self.place is not None and self.place.asked:
            return still_waiting(drafts_of([*own, AIMessage(interrupts[0])]))
        if interrupts:
            why = NO_CHECKPOINTER if self.place is None else NO_QUESTION
            return drafts_at_interrupt(own, interrupts, why)
        return drafts_of(own)
