"""Speakers that are LangGraph agents: what they are sent, on which thread, and what becomes of their answers."""

import copy
import inspect
import logging
import uuid
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from traceback import format_exception
from typing import Any, Self, TypeAlias, cast

from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    BaseMessage,
    HumanMessage,
    RemoveMessage,
    ToolMessage,
    convert_to_messages,
)
from langchain_core.runnables import Runnable
from langgraph.channels import LastValue
from langgraph.errors import GraphInterrupt, GraphRecursionError
from langgraph.graph.message import REMOVE_ALL_MESSAGES, add_messages
from langgraph.pregel import Pregel
from langgraph.pregel.protocol import PregelProtocol
from langgraph.runtime import Runtime
from langgraph.types import Command

from ...data.attempts import WAITING
from ...data.formats.tool_messages import NO_RESULT, tool_turns
from ...data.packages import frames_of
from ...data.records import Message, Role
from ...data.summaries.executed_graph import SPEAKER_OF
from ...prompts import Page
from ..contract import ContractError, describe
from ..foreign import TurnTimeoutError
from ..limits import Limits
from ..messages.attachments import worded
from ..messages.building import MessageBuilder, Talk, note, sends_prompt
from ..models.faults import is_crash
from ..replies import (
    Step,
    added,
    messages_answered,
    own_messages,
    plain_json,
    reply_of,
    steps_of,
    structured_text,
)
from ..settings.redaction import error_line, redacted
from ..state import Draft, State, Update, attempt_number, id_of, memory_of, merged, rejected, said, without_rejected
from ..worlds import Context
from .lent import Heard, Outcome, Served, Thread, alone, kept_threads, own_context
from .questions import (
    ASK_USER,
    INTERRUPTED,
    NO_CHECKPOINTER,
    NO_QUESTION,
    NOT_ENDING,
    ApprovalError,
    Approve,
    answered_in_words,
    approval_call,
    asks_in_words,
    can_ask,
    checked_policy,
    decided,
    decides,
    is_unclear,
    pending_of,
    policy_name,
    question_of,
    unanswered_calls,
)
from .speaker import TIMED_OUT, OwnCode, given_by
from .tools import ReadOnly, tools_of

log = logging.getLogger(__name__)

Start: TypeAlias = Callable[[dict[str, Any]], Mapping[str, Any]]
"""A function from the scenario to the first channels of an agent's state."""

THREAD = "thread"
"""Key of a side's memory for where its agent's thread stands."""
CHANNELS = "channels"
"""Key of a side's memory for the channels of its agent's state, as far as they are plain JSON."""
LIMITED: Mapping[Role, str] = {"assistant": "agent_limit", "user": "user_rejected"}
"""The stop reason of an agent whose own middleware ended its turn at a limit."""
ROUNDS = 50
"""Most approvals in a row within one turn: an agent that asks again for ever must not."""


@dataclass
class _Turn:
    """An agent's turn: what it came to, and where its thread stands then."""

    outcome: Outcome
    added: list[BaseMessage] = field(default_factory=list)
    """Its own messages."""
    before: list[Step] = field(default_factory=list)
    """Calls of an earlier turn that waited for the answer to its question."""
    decisions: list[dict[str, Any]] = field(default_factory=list)
    """The approvals of this turn, as calls for the record."""
    pending: list[dict[str, Any]] = field(default_factory=list)
    """The interrupts at which it stands."""
    question: str | None = None
    """What it asks the other side."""
    place: dict[str, Any] | None = None
    """Where its thread stands, for the side's memory."""
    channels: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class AgentSpeaker(OwnCode):
    """Asks an agent: a compiled LangGraph graph, an `@entrypoint`, a graph on a server, or any other runnable.

    A graph in this process has a thread, a store and a context of its own for each conversation, which are lent to it:
    its own checkpointer and store are not used. It is sent the new messages of each turn, or all of them where its
    state keeps only the last value of `messages`. Each draft is made on a copy, so a rejected one has left nothing. It
    never sees the rejected draft: after it the repair line is sent as one last message between note marks, which the
    next call takes out again. A graph on a server has a thread there. Any other runnable is sent the whole conversation.
    Where this process does not have the thread any more, the conversation is sent anew, with the channels of the agent's
    state that are plain JSON.

    An agent that plays the user has to know its part: give it `build`, the messages of its pages; a cast's `user=` does.

    The question of an `interrupt()` goes to the other role, whose next message is the answer (`questions`). Any other
    interrupt is for `approve`, or ends the conversation as `agent_interrupted`, or `user_rejected` if the agent plays
    the user.
    """

    role: Role
    agent: Runnable[Any, Any]
    build: MessageBuilder | None = None
    """Builds the messages that it is sent, with a page of yours or the rejected drafts. None: see `system`."""
    start: Start | None = None
    """The agent's channels at the beginning of a conversation."""
    path: str | None = None
    """The import path that the agent was given by."""
    url: str | None = None
    """The address on a LangGraph server that the agent was given by."""
    system: bool | str | Page = False
    """Without `build`: a system page before the conversation. True: it is sent all that the cast would send a model in
    its place, also the material and the prompts."""
    context: Any = None
    """What a graph is called with as its context (`context_schema`): a value, or a function of the scenario and the
    live world. None: its defaults; a graph without a schema is given the conversation's, if there is a world."""
    read_only: ReadOnly = ()
    """Tools that change nothing outside the agent's own state, besides those that declare it themselves
    (`nodes.speakers.tools.declared`). A rejected draft that called another one stands, unless the cast's world can be
    put back."""
    turn_timeout: float | None = None
    """Most seconds of a turn: one that takes longer ends the conversation as `agent_timeout`, or `user_timeout` if the
    agent plays the user. None: `Limits.turn_timeout`, ten minutes by default."""
    approve: Approve | None = None
    """Who answers an interrupt that is no question in words, such as that of LangChain's `HumanInTheLoopMiddleware`:
    `all` approves, `none` rejects, `ask-user` asks the other side, a function (or its MODULE:NAME) gives what resumes
    the interrupt of a value. The record has each decision as a call `interrupt`."""
    reads: str = ""
    """For a graph without `messages`: the channel that gets the other side's words."""
    answers: str = ""
    """For a graph without `messages`: the channel, or a field in it (`result.text`), that has the reply."""

    def __post_init__(self) -> None:
        self.settle(self.agent)
        object.__setattr__(self, "approve", checked_policy(self.role, self.approve))
        if isinstance(self.agent, Pregel):
            self._check_form()

    def _check_form(self) -> None:
        agent, names = cast(Pregel[Any, Any, Any, Any], self.agent), channels_of(self.agent)
        if self.reads and not self.answers:
            raise ContractError(f"{self.role}: give the channel that answers too (answers=)")
        wanted = [name for name in (self.reads, self.answers.partition(".")[0]) if name]
        if missing := [name for name in wanted if name not in names]:
            raise ContractError(f"{self.role}: the agent's state has no {missing[0]!r}, only {', '.join(names)}")
        if not self.reads and "messages" not in agent.channels and not _is_entrypoint(agent):
            raise ContractError(
                f"{self.role}: the agent's state has no 'messages', only {', '.join(names)}: say which gets the words and "
                "which answers, as MODULE:NAME?in=question&out=answer, or reads= and answers= in Python"
            )

    def placed(self, view: MessageBuilder) -> Self:
        """The same speaker on a side of a cast with this view; ContractError if its graph lacks a context."""
        if self.context is None:
            own_context(self.role, self.agent, None, {}, Limits())
        return super().placed(view)

    def prompted(self, state: State) -> bool:
        """Whether the selector's prompt is sent: not together with an answer to the agent's own question."""
        place = memory_of(state, self.role).get(THREAD) or {}
        return not place.get("pending") and sends_prompt(self.build, state)

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        async def ask() -> Update:
            has_thread = isinstance(self.agent, PregelProtocol)
            turn = await (self._on_thread if has_thread else self._at_once)(state, runtime.context)
            return self._update(turn, state)

        return await self.kept(state, runtime.context, ask)

    def _context(self, state: State, limits: Limits) -> Any:
        return own_context(self.role, self.agent, self.context, state["scenario"], limits)

    # A turn

    async def _at_once(self, state: State, limits: Limits) -> _Turn:
        """The turn of a runnable that keeps nothing: it is sent the whole conversation."""
        sent = cast(MessageBuilder, self.build)(state)
        channels = self._first_channels(state)
        turn = _Turn(Outcome(), channels=channels)

        heard = Heard()

        async def ask() -> None:
            with alone(self._context(state, limits), heard):
                try:
                    answer = await self.agent.ainvoke({**channels, "messages": sent})
                except GraphInterrupt as raised:  # of a graph inside it
                    turn.outcome.interrupts = list(raised.args[0])
                    return
            if isinstance(answer, dict) and "messages" in answer:
                turn.outcome.interrupts = list(answer.pop("__interrupt__", ()))
                turn.channels = channels | _plain_channels(answer)
            if not turn.outcome.interrupts:
                turn.added = await messages_answered(answer, sent, self.role)

        await self._timed(ask(), turn.outcome, limits)
        turn.outcome.steps = steps_of(turn.added, [step for _, step in heard.replies])
        turn.pending = [pending_of(interrupt) for interrupt in turn.outcome.interrupts]
        return turn

    async def _on_thread(self, state: State, limits: Limits) -> _Turn:
        """The turn of a graph, which has its history on a thread."""
        place: dict[str, Any] = dict(memory_of(state, self.role).get(THREAD) or {})
        thread = await self._thread(place, state, limits)
        if thread is None:
            place, thread = {}, self._new_thread(state)
        count = len(state.get("messages", []))
        turn = _Turn(Outcome())
        pending: list[dict[str, Any]] = place.get("pending") or []
        sent: list[BaseMessage] = []
        if pending:
            words = self._answer(state, place)
            if self.approve == ASK_USER and not asks_in_words(pending) and not place.get("again") and is_unclear(words):
                turn.question, turn.pending = question_of(self.approve, pending, again=True), pending
                turn.place = place | {"seen": count + 1, "again": True}
                return turn
            turn.before = _waiting(thread)
            given: Any = Command(resume=self._decided(turn, pending, words))
        else:
            given, sent = self._given(state, place, thread)
        before = thread.history
        known = {message.id for message in before}
        context = self._context(state, limits)

        async def ask(given: Any) -> None:
            turn.outcome = Outcome(steps=turn.outcome.steps, written=turn.outcome.written)
            await self._timed(thread.call(given, context, turn.outcome), turn.outcome, limits)
            turn.added = await self._added(turn.outcome, sent, known)
            if isinstance(thread, Thread) and not turn.added and not turn.outcome.interrupts and self._removes:
                turn.added = thread.said_again(turn.outcome, before, sent)
            if isinstance(self.agent, Pregel):  # results of hand-offs stand in the state, and in no node's answer
                told = {message.id for step in turn.outcome.steps for message in step.messages}
                rest = [one for one in turn.added if isinstance(one, ToolMessage) and one.id not in told]
                turn.outcome.steps += [Step(str(one.name or "result"), messages=[one]) for one in rest]
            turn.pending = [pending_of(interrupt) for interrupt in turn.outcome.interrupts]

        await ask(given)
        while turn.outcome.error is None and decides(self.approve, turn.pending) and len(turn.decisions) < ROUNDS:
            await ask(Command(resume=self._decided(turn, turn.pending, None)))
        if can_ask(self.approve, turn.pending):
            turn.question = question_of(self.approve, turn.pending)
        turn.channels = _plain_channels(turn.outcome.channels)
        turn.place = {"at": self._kept(thread, place, limits), "seen": count + 1}
        if turn.question:
            turn.place["pending"] = turn.pending
        if sent and str(sent[-1].id).startswith(_NOTE):
            turn.place["note"] = sent[-1].id
        elif pending and "note" in place:
            turn.place["note"] = place["note"]
        return turn

    def _decided(self, turn: _Turn, pending: Sequence[Mapping[str, Any]], words: str | None) -> dict[str, Any]:
        """What resumes the agent: the other side's words, or what the policy decides, which the turn records."""
        if words is not None and asks_in_words(pending):
            return answered_in_words(pending, words)
        approve = cast(Approve, self.approve)
        try:
            answers = decided(approve, pending, words)
        except ApprovalError as error:
            error.drafts = self._drafts(replace(turn, pending=[]))
            raise
        turn.decisions.append(approval_call(approve, pending, answers))
        return answers

    async def _timed(self, work: Coroutine[Any, Any, None], outcome: Outcome, limits: Limits) -> None:
        """Wait for the work; what it raises after it has done something is part of the outcome."""
        try:
            await self.in_time(work, self.agent.get_name(), limits)
        except TurnTimeoutError as error:
            outcome.error = error
        except Exception as error:
            if not any(step.messages for step in outcome.steps) and not isinstance(error, GraphRecursionError):
                raise
            log.debug("an agent failed: %s", redacted("".join(format_exception(error))))
            outcome.error = error

    async def _thread(self, place: Mapping[str, Any], state: State, limits: Limits) -> Thread | Served | None:
        """The thread as the last accepted draft left it; None where it is to begin anew."""
        at = place.get("at")
        if at is None or not (place.get("pending") or isinstance(self.build, Talk)):
            return None  # a view with pages of its own says anew on each turn what it is about
        if not isinstance(self.agent, Pregel):
            # A server keeps an answer at its checkpoint: to give it a second time the conversation is sent anew.
            if place.get("pending") and rejected(state, self.role):
                return None
            served = Served(self.agent, at)
            await served.load()
            return served
        thread = kept_threads(limits).get(at)
        return None if thread is None else thread.copy()

    def _new_thread(self, state: State) -> Thread | Served:
        if isinstance(self.agent, Pregel):
            return Thread(self.agent, thread_of(self.role, state), SPEAKER_OF[self.role])
        return Served(self.agent)

    def _kept(self, thread: Thread | Served, place: Mapping[str, Any], limits: Limits) -> str:
        """Where the thread is found again; in a run those of earlier and of rejected drafts are let go."""
        if isinstance(thread, Served):
            return thread.at
        kept, at = kept_threads(limits), uuid.uuid4().hex  # noqa: TID251 - of this process, and of no record
        if isinstance(limits, Context):
            for key in [key for key, one in kept.items() if one.name == thread.name and key != place.get("at")]:
                del kept[key]
        kept[at] = thread
        return at

    def _answer(self, state: State, place: Mapping[str, Any]) -> str:
        """The other side's answer to the agent's question; a third one, such as a moderator, approves nothing."""
        replies = [message for message in said(state)[place["seen"] :] if message["role"] != self.role]
        if not asks_in_words(place["pending"]):
            replies = [message for message in replies if "name" not in message]
        return "\n\n".join(worded(message) for message in replies)

    def _given(self, state: State, place: Mapping[str, Any], thread: Thread | Served) -> tuple[Any, list[BaseMessage]]:
        """The graph's input: new messages, or all at the beginning, with the first channels; and the messages in it."""
        is_new = not place or not self._appends
        thread_at = f"{thread_of(self.role, state)}/{len(state['messages'])}"
        line = state.get("prompt") if isinstance(self.build, Talk) else None  # other views write it themselves
        if not isinstance(self.build, Talk):
            sent = cast(MessageBuilder, self.build)(state)
        else:
            new = state["messages"] if is_new else state["messages"][place["seen"] :]
            shown = merged(without_rejected(state, role=self.role), {"messages": new, "prompt": None})
            sent = _with_calls(self.build, shown) if is_new else Talk(self.role)(shown)
        if line and self.prompted(state):
            sent = [*sent, HumanMessage(note(line), id=f"{_NOTE}{attempt_number(state, self.role)}/{thread_at}")]
        for number, message in enumerate(sent):
            message.id = message.id or f"{thread_at}/{number}"
        channels = {} if place else self._first_channels(state)
        if self.reads:
            words = [str(message.text) for message in sent if isinstance(message, HumanMessage)]
            last = words[-2:] if sent and str(sent[-1].id).startswith(_NOTE) else words[-1:]
            return {**channels, self.reads: "\n\n".join(last)}, sent
        if isinstance(self.agent, Pregel) and "messages" not in self.agent.channels:
            return sent, sent  # of an @entrypoint
        note_before = place.get("note")
        is_there = any(message.id == note_before for message in thread.history)
        gone = [RemoveMessage(id=note_before)] if note_before and is_there and self._removes else []
        if isinstance(thread, Thread) and thread.anew:
            kept = [message for message in thread.anew if message.id != note_before]
            return {**channels, "messages": [RemoveMessage(id=REMOVE_ALL_MESSAGES), *kept, *sent]}, sent
        return {**channels, "messages": [*gone, *sent]}, sent

    @property
    def _appends(self) -> bool:
        """Whether its thread keeps what it was sent before: a server's is supposed to."""
        if not isinstance(self.agent, Pregel):
            return True
        if self.reads or "messages" in self.agent.channels:
            return not isinstance(self.agent.channels.get("messages"), LastValue)
        return _has_previous(self.agent)

    @property
    def _removes(self) -> bool:
        if not isinstance(self.agent, Pregel):
            return True
        return getattr(self.agent.channels.get("messages"), "operator", None) is add_messages

    def _first_channels(self, state: State) -> dict[str, Any]:
        """The channels that an agent is sent besides messages: those of `start`, and the kept ones over them."""
        channels: Any = {} if self.start is None else self.start(copy.deepcopy(state["scenario"]))
        if not isinstance(channels, Mapping):
            raise ContractError(
                f"{self.role}: expected 'start' to give an object of channels, got {type(channels).__name__}"
            )
        names = channels_of(self.agent)
        if names and (unknown := [name for name in channels if name not in names]):
            raise ContractError(f"{self.role}: start: the agent's state has no {unknown[0]!r}, only {', '.join(names)}")
        # Conversations must not share mutable objects.
        kept: dict[str, Any] = memory_of(state, self.role).get(CHANNELS, {})
        return copy.deepcopy(dict(channels)) | copy.deepcopy(kept)

    # Its answer

    async def _added(
        self, outcome: Outcome, sent: Sequence[BaseMessage], known: Collection[str | None]
    ) -> list[BaseMessage]:
        """The agent's own messages of a turn; the one in a channel of its own, or its structured response, alone."""
        values = outcome.values
        if values is None or (outcome.error is not None and not isinstance(values, Mapping)):
            return []
        if self.answers:
            return await self._in_channel(values, sent) if not outcome.interrupts else []
        if "structured_response" in outcome.written and values.get("structured_response") is not None:
            return [AIMessage(structured_text(values["structured_response"]))]
        if isinstance(self.agent, Pregel) and "messages" not in self.agent.channels:
            return [] if outcome.interrupts else await messages_answered(values, sent, self.role)
        try:
            answered = convert_to_messages(values["messages"])
        except (KeyError, TypeError, ValueError, NotImplementedError) as error:
            raise ContractError(
                f"{self.role}: expected the agent to answer with messages; {error_line(error)}"
            ) from None
        new = [message for message in answered if message.id is None or message.id not in known]
        own = own_messages(added(new, sent), self.role)
        # A tool whose result is the answer (`return_direct`) has the last word.
        if own and isinstance(own[-1], ToolMessage) and not (outcome.interrupts or outcome.error):
            direct = {name for name, node in tools_of(self.agent) if node.tools_by_name[name].return_direct}
            return [*own, AIMessage(own[-1].content)] if own[-1].name in direct else own
        return own

    async def _in_channel(self, values: Any, sent: Sequence[BaseMessage]) -> list[BaseMessage]:
        value = values
        for part in self.answers.split("."):
            value = value.get(part) if isinstance(value, Mapping) else getattr(value, part, None)
        if isinstance(value, Mapping) or value is None:
            return [AIMessage("" if value is None else structured_text(value))]
        return await messages_answered(value, sent, self.role)

    def _drafts(self, turn: _Turn) -> list[Draft]:
        """The draft of a turn: its one reply, with the question at its end."""
        outcome = turn.outcome
        own = turn.added
        if outcome.limit is not None:  # what a middleware writes at its limit is no reply
            at_limit = [message.id for step in outcome.steps if step.node == outcome.limit for message in step.messages]
            own = [message for message in own if message.id not in at_limit]
        if turn.question:
            own = [*own, AIMessage(turn.question)]
        steps = [*turn.before, *outcome.steps]
        if not (own or steps or turn.pending or outcome.error):
            return []
        draft = reply_of(own, steps)
        for call in draft.get("tool_calls", []):
            if call.get("error") == NO_RESULT and turn.question:
                call["error"] = WAITING
            elif call.get("error") == NO_RESULT and outcome.error is not None:
                call["error"] = f"{NO_RESULT}: {error_line(outcome.error)}"
        if turn.pending and not turn.question:
            has_thread = isinstance(self.agent, PregelProtocol)
            why = NOT_ENDING if turn.decisions else NO_QUESTION if has_thread else NO_CHECKPOINTER
            calls = unanswered_calls([one["value"] for one in turn.pending], why)
            draft["tool_calls"] = [*draft.get("tool_calls", []), *calls]
        if turn.decisions:
            draft["tool_calls"] = [*turn.decisions, *draft.get("tool_calls", [])]
            for step in draft.get("steps", []):  # their calls come after the decisions now
                for key in ("calls", "results"):
                    step |= {key: [number + len(turn.decisions) for number in step[key]]} if key in step else {}
        if turn.channels:
            draft["kept"] = turn.channels
        return [draft]

    def _update(self, turn: _Turn, state: State) -> Update:
        outcome = turn.outcome
        drafts = self._drafts(turn)
        update: Update = {"drafts": drafts}
        memory = memory_of(state, self.role)
        if turn.channels:
            memory[CHANNELS] = turn.channels
        if turn.place is not None:
            memory[THREAD] = turn.place
        if memory:
            update["memory"] = memory
        if isinstance(outcome.error, TurnTimeoutError):
            update["stop"] = TIMED_OUT[self.role]
        elif (error := outcome.error) is not None:
            update["failed"], update["crashed"] = error_line(error, placed=True), is_crash(error)
            update["frames"] = frames_of(error)
        elif turn.pending and not turn.question:
            update["stop"] = INTERRUPTED[self.role]
        elif outcome.limit is not None:
            update["stop"] = LIMITED[self.role]
        return update

    def provenance(self) -> dict[str, Any]:
        described: dict[str, Any] = {"agent": self.agent.get_name(), "view": describe(self.build)}
        described |= given_by(self.path, self.url)
        described |= {"reads": self.reads, "answers": self.answers} if self.reads else {}
        described |= self.told()
        described |= {} if self.approve is None else {"approve": policy_name(self.approve)}
        if self.start is not None:
            described["start"] = describe(self.start)
        if self.context is not None:
            described["context"] = describe(self.context) if callable(self.context) else type(self.context).__name__
        return described


_NOTE = "note-"
"""How the ids of messages with our instructions begin."""
_NOT_KEPT = ("messages", "structured_response", "jump_to")


def channels_of(agent: object) -> list[str]:
    """Names of a graph's channels, without LangGraph's own; none of another runnable."""
    names = agent.channels if isinstance(agent, Pregel) else ()
    return sorted(str(name) for name in names if not str(name).startswith(("_", "branch:")))


def _plain_channels(channels: Mapping[str, Any]) -> dict[str, Any]:
    """The channels besides messages that are plain JSON."""
    plain = {}
    for name, value in channels.items():
        if name not in _NOT_KEPT and not name.startswith(("_", "branch:")) and value not in (None, "", [], {}):
            with suppress(TypeError, ValueError, RecursionError):
                plain[name] = plain_json(value)
    return plain


def _is_entrypoint(agent: Pregel[Any, Any, Any, Any]) -> bool:
    return "__previous__" in agent.channels


def _has_previous(agent: Pregel[Any, Any, Any, Any]) -> bool:
    """Whether an `@entrypoint` has its own last result, so that it is sent only what is new."""
    function = getattr(next(iter(agent.nodes.values())).bound, "func", None)
    return function is not None and "previous" in inspect.signature(function).parameters


def thread_of(role: Role, state: State) -> str:
    """The thread's id: the conversation's, with its repeat from the second on, and `user` if the agent plays it."""
    parts = [id_of(state) or "conversation"]
    parts += [str(repeat)] if (repeat := state.get("origin", {}).get("repeat", 0)) else []
    return "-".join([*parts, "user"] if role == "user" else parts)


def _waiting(thread: Thread | Served) -> list[Step]:
    """The calls of tools without a result yet, as a step: the tools go on in this turn, and their calls are its own."""
    answered = {message.tool_call_id for message in thread.open if isinstance(message, ToolMessage)}
    calls = [call for message in thread.open if isinstance(message, AIMessage) for call in message.tool_calls]
    open_calls = [call for call in calls if call["id"] not in answered]
    return [Step("interrupt", messages=[AIMessage("", tool_calls=open_calls)])] if open_calls else []


def _with_calls(build: Talk, state: State) -> list[BaseMessage]:
    """The messages with which a thread begins, with the agent's earlier calls and their results: it had seen them."""
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
