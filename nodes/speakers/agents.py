"""Speakers that are LangGraph agents: what they are sent, on which thread, and what becomes of their answers."""

from dataclasses import dataclass, replace
from typing import Any, Literal, Self, TypeAlias, cast

from langchain_core.messages import BaseMessage, HumanMessage, RemoveMessage
from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.pregel import Pregel
from langgraph.runtime import Runtime
from langgraph.types import Command

from ...data.packages import frames_of
from ...data.records import Role
from ...prompts import Page
from ..contract import ContractError, describe
from ..limits import Limits
from ..messages.attachments import worded
from ..messages.building import MessageBuilder, Talk, note, sends_prompt
from ..models.faults import is_crash
from ..replies.conversion import kept_channels, messages_of, new_messages, plain_or_text
from ..settings.redaction import error_line
from ..state import State, Update, attempt_number, memory_of, merged, rejected, said, without_rejected
from ..worlds import back_to, remember
from .agent_calls import AgentCall, AgentReply, CallOutcome, approved, own_context
from .approval import (
    ASK_USER,
    Approve,
    approval_call,
    checked_policy,
    is_question,
    is_unclear,
    question_of,
    resumed,
    told_policy,
)
from .channels import CHANNELS, Start, channels_of, check_channels, first_channels
from .interrupts import INTERRUPTED
from .repeated_calls import RepeatedCalls
from .speaker import NO_PAGE, given_by, kept_update, own_view
from .threads import (
    THREAD,
    ThreadPlace,
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
    with_calls,
)
from .tools import ReadOnly, read_only_tools, told_read_only
from .turn_timeout import TIMED_OUT, check_turn_timeout, told_turn_timeout, turn_seconds

Send: TypeAlias = Literal["all", "new"]
"""What an agent is sent on each turn: the conversation so far, or what its thread has not seen of it."""


@dataclass(frozen=True)
class AgentSpeaker:
    """Asks an agent: a compiled LangGraph graph, or any runnable, whose state has `messages`.

    It is sent the conversation and nothing else; after a rejected draft also the repair line, as one last message
    between note marks. It never sees the rejected draft. An agent that plays the user has to know its part: give it
    `build`, the messages of its pages; a cast's `user=` does.

    It is called with a `thread_id` (`threads.thread_of`). An agent with a checkpointer of its own has its history on
    that thread: it is sent only new messages. Before a retry the thread goes back to where it was. The next call takes
    the repair line out (where `add_messages` reduces its messages).

    A text in its `interrupt()` is a question to the other role, whose next message is the answer. Any other interrupt
    ends the conversation as `agent_interrupted`, or `user_rejected` if the agent plays the user.

    Each message with text in its reply is a draft, with the tool calls before it. Its recursion limit is its own.
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
    """Tools that change nothing outside the agent's own state, besides those that declare it themselves
    (`nodes.speakers.tools.declared`). A rejected draft that called another one stands, unless the cast's world can be
    put back."""
    turn_timeout: float | None = None
    """Most seconds of a turn: one that takes longer ends the conversation as `agent_timeout`, or `user_timeout` if the
    agent plays the user. None: `Limits.turn_timeout`, ten minutes by default."""
    approve: Approve | None = None
    """Who answers an interrupt whose value is not a text, such as that of LangChain's `HumanInTheLoopMiddleware`: `all`
    approves, `none` rejects, `ask-user` asks the other side, a function (or its MODULE:NAME) gives what resumes the
    interrupt of a value. The record has each decision as a call `interrupt`. A graph in this process without a
    checkpointer gets one in memory."""

    def __post_init__(self) -> None:
        check_turn_timeout(self.role, self.turn_timeout)
        object.__setattr__(self, "approve", checked_policy(self.role, self.approve))
        if self.approve is not None and isinstance(self.agent, Pregel) and not self.agent.checkpointer:
            object.__setattr__(self, "agent", self.agent.copy({"checkpointer": InMemorySaver()}))
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

    def placed(self, view: MessageBuilder) -> Self:
        """The same speaker on a side of a cast with this view."""
        return self if self.build is not None else replace(self, build=view)

    def prompted(self, state: State) -> bool:
        """Whether the selector's prompt is sent: not together with an answer to the agent's own question."""
        place = ThreadPlace.of(memory_of(state, self.role), self._thread(state))
        return not (place and place.asked) and sends_prompt(self.build, state)

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        if self.build is None:
            raise ContractError(NO_PAGE.format(role=self.role))
        if has_checkpointer(self.agent) or (is_remote(self.agent) and self.send == "new"):
            return self._update(await self._on_thread(state, runtime), state)

        async def ask() -> Update:
            return self._update(await self._at_once(state, runtime), state)

        return await kept_update(self.role, self.provenance(), self.build(state), state, runtime.context, ask)

    def calls_again(self, state: State, limits: Limits) -> RepeatedCalls:
        """What makes the tool calls of its stored turns again."""
        return RepeatedCalls(self.agent, own_context(self.role, self.agent, self.context, state["scenario"], limits))

    def _update(self, reply: AgentReply, state: State) -> Update:
        drafts = reply.drafts
        update: Update = {"drafts": drafts}
        memory = memory_of(state, self.role)
        answer = reply.called.answer
        if self.keep:
            # A channel that the answer lacks has not changed.
            channels = kept_channels(
                self.role, self.keep, {**reply.channels, **(answer if isinstance(answer, dict) else {})}
            )
            if drafts:
                drafts[-1]["kept"] = channels
            memory |= {CHANNELS: channels} if reply.place is None or CHANNELS in memory else {}
        if reply.place is not None:
            place = replace(reply.place, seen=reply.place.seen + len(drafts))
            memory[THREAD] = place.plain()
        if self.keep or reply.place is not None:
            update["memory"] = memory
        if reply.timed_out:
            update["stop"] = TIMED_OUT[self.role]
        elif (error := reply.called.error) is not None:
            update["failed"], update["crashed"] = error_line(error, placed=True), is_crash(error)
            update["frames"] = frames_of(error)
        elif reply.called.interrupts and not (reply.place and reply.place.asked):
            update["stop"] = INTERRUPTED[self.role]
        return update

    async def _at_once(self, state: State, runtime: Runtime[Limits]) -> AgentReply:
        """The reply to the whole conversation, of an agent that keeps no history."""
        sent = cast(MessageBuilder, self.build)(state)
        channels = first_channels(self.role, self.agent, self.start, state)
        config: RunnableConfig = {"configurable": {"thread_id": self._thread(state)}}
        if is_remote(self.agent):  # with a thread's id the server would add the whole conversation to it every time
            config = {"metadata": {"conversation": self._thread(state)}}
        reply = await self._called({**channels, "messages": sent}, config, state, runtime)
        reply.check_answered()
        added = [] if reply.answer is None else new_messages(messages_of(self.role, reply.answer), sent)
        return AgentReply(reply, channels, added)

    async def _on_thread(self, state: State, runtime: Runtime[Limits]) -> AgentReply:
        """The reply of an agent that keeps its history on a thread."""
        agent, thread = cast(Pregel[Any, Any, Any, Any], self.agent), self._thread(state)
        messages = state.get("messages", [])
        stored_place = ThreadPlace.of(memory_of(state, self.role), thread)
        if stored_place is not None and not stored_place.asked and self.send == "all":
            stored_place = None
        config = await beginning(agent, thread) if stored_place is None else stored_place.config
        history = [] if stored_place is None else await held_messages(agent, config)
        before = {message.id for message in history if message.id}
        channels = first_channels(self.role, self.agent, self.start, state) if stored_place is None else {}
        answer: Any = None
        note_id = None
        decided: list[dict[str, Any]] = []
        sent: list[BaseMessage] = []
        new = messages[stored_place.seen :] if stored_place else messages
        agent_input: Any
        if stored_place and stored_place.asked:
            replies = [message for message in said(state)[stored_place.seen :] if message["role"] != self.role]
            if stored_place.pending and self.approve is not None:  # a third one, such as a moderator, approves nothing
                replies = [message for message in replies if "name" not in message]
            answer = "\n\n".join(worded(message) for message in replies)
            if stored_place.pending and self.approve == ASK_USER and not stored_place.again and is_unclear(answer):
                question = CallOutcome(None, [question_of(stored_place.pending["values"], again=True)])
                return AgentReply(question, {}, (), replace(stored_place, seen=len(messages), again=True))
            first = stored_place.first or stored_place.checkpoint
            if rejected(state, self.role):
                await back_to(runtime.context, first)
                config = await asked_again(
                    agent, stored_place, lambda command, at: self._called(command, at, state, runtime)
                )
            else:
                remember(runtime.context, first)
            if stored_place.pending and self.approve is not None:
                values = stored_place.pending["values"]
                answer = resumed(self.approve, values, stored_place.pending["ids"], reply=answer)
                decided.append(approval_call(self.approve, values, answer))
            agent_input = Command(resume=answer)
        else:
            shown = merged(without_rejected(state, role=self.role), {"messages": new, "prompt": None})
            sent = Talk(self.role)(shown) if stored_place else with_calls(cast(MessageBuilder, self.build), shown)
            line = state.get("prompt")
            if line and self.prompted(state):
                note_id = f"{thread}/{len(messages)}/{attempt_number(state, self.role)}"
                sent = [*sent, HumanMessage(note(line), id=note_id)]
            gone = stored_place.note if stored_place and stored_place.note in before and takes_out(agent) else None
            agent_input = {**channels, "messages": [*([RemoveMessage(id=gone)] if gone else []), *sent]}

        def added(reply: CallOutcome) -> list[BaseMessage]:
            answered = [] if reply.answer is None else messages_of(self.role, reply.answer)
            new = [message for message in answered if message.id not in before]
            # The tools that waited for the answer went on in this reply: their calls are its own too.
            return new_messages(new, sent) if sent else [*waiting(history), *new]

        reply = await self._called(agent_input, config, state, runtime)
        reply = await approved(
            reply,
            self.approve,
            decided,
            lambda command: self._called(command, {"configurable": {"thread_id": thread}}, state, runtime),
            lambda at: AgentReply(replace(at, interrupts=()), channels, added(at), decided=decided).drafts,
        )
        reply.check_answered()
        after = await agent.aget_state({"configurable": {"thread_id": thread}})
        interrupts = reply.interrupts
        if after.next and not interrupts and reply.error is None:
            interrupts = [f"paused before {', '.join(after.next)}", None]  # a breakpoint asks nothing
        asks = len(interrupts) == 1 and is_question(interrupts[0])
        pending = None
        if self.approve == ASK_USER and reply.ids and not asks:
            pending = {"values": [plain_or_text(value) for value in interrupts], "ids": list(reply.ids)}
            interrupts, asks = [question_of(interrupts)], True
        if stored_place and answer is not None:
            place = stored_place.answered(answer, after, seen=len(messages), asked=asks, pending=pending)
        else:
            place = ThreadPlace(thread, checkpoint_of(after), len(messages), note=note_id, asked=asks, pending=pending)
        return AgentReply(replace(reply, interrupts=interrupts), channels, added(reply), place, decided)

    async def _called(
        self, agent_input: Any, config: RunnableConfig, state: State, runtime: Runtime[Limits]
    ) -> CallOutcome:
        own = own_context(self.role, self.agent, self.context, state["scenario"], runtime.context)
        seconds = turn_seconds(self.turn_timeout, runtime.context)
        return await AgentCall(self.agent, agent_input, config, self.keep, own).outcome(seconds)

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
        described |= told_read_only(self.read_only) | told_turn_timeout(self.turn_timeout) | told_policy(self.approve)
        if self.start is not None:
            described["start"] = describe(self.start)
        return described
