"""Speakers that are code of the user's, agents and functions: what they are sent, and what becomes of their answers."""

import copy
import inspect
import logging
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from traceback import format_exception
from typing import Any, Self, TypeAlias, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    RemoveMessage,
    ToolMessage,
    convert_to_messages,
)
from langchain_core.runnables import Runnable
from langgraph.channels import LastValue
from langgraph.errors import GraphRecursionError
from langgraph.graph.message import add_messages
from langgraph.pregel import Pregel
from langgraph.runtime import Runtime
from langgraph.types import Command

from ...data.executed_graph import SPEAKER_OF
from ...data.formats.messages import NO_RESULT, tool_turns
from ...data.packages import frames_of
from ...data.records import WAITING, Message, Role
from ..attachments import with_stand_ins
from ..calls.service import current
from ..contract import ContractError, Node, describe
from ..foreign import TurnTimeoutError, within
from ..limits import Limits
from ..messages import MessageBuilder, Talk, note, plain_messages, sends_prompt
from ..models.faults import is_crash
from ..models.specs import chat_model
from ..replies import Answer, Step, messages_answered, messages_of, own_messages, plain_json, reply_of, structured_text
from ..settings.import_path import code_of
from ..settings.redaction import error_line, redacted
from ..state import Draft, State, Update, attempt_number, id_of, memory_of, merged, said, without_rejected
from ..worlds import Context
from . import questions
from .lent import Lent, Thread, Turn, Whole, kept_threads, name_of, own_context
from .speaker import ChatSpeaker, Speaker, speaker_call
from .tools import calls_made, declared, tools_of

log = logging.getLogger(__name__)

SpeakerReply: TypeAlias = Callable[[list[dict[str, Any]]], Answer]
"""A function, also async, from messages, `{"role": "system" | "user" | "assistant", "content": text}` each, to the next
message: its text, a message of LangChain or of OpenAI's form, a list of messages, or a generator of texts. The content
of a message with images or files is a list of OpenAI's blocks."""

THREAD = "thread"
"""Key of a side's memory for where its agent's thread stands."""
CHANNELS = "channels"
"""Key of a side's memory for the channels of its agent's state, as far as they are plain JSON."""
TIMED_OUT: Mapping[Role, str] = {"assistant": "agent_timeout", "user": "user_timeout"}
"""The stop reason of an agent whose turn took too long, by the role that it plays."""
LIMITED: Mapping[Role, str] = {"assistant": "agent_limit", "user": "user_rejected"}
"""The stop reason of an agent whose own middleware ended its turn at a limit."""
ROUNDS = 50
"""Most approvals in a row within one turn: an agent that asks again for ever must not."""
_NOTE = "note-"
"""How the ids of messages with our instructions begin."""
_NOT_KEPT = ("messages", "structured_response", "jump_to")


@dataclass(frozen=True)
class AgentSpeaker(Speaker):
    """Asks an agent: a compiled LangGraph graph, an `@entrypoint`, another runnable, or a function of messages.

    A graph in this process is lent a thread, a store and a context of its own for each conversation; its own
    checkpointer and store are not used. It is sent the new messages of each turn, or all of them where its state keeps
    only the last value of `messages`. Each draft is made on a copy, so a rejected one has left nothing, and the repair
    line after it is a last message between note marks, which the next call takes out again. Anything else, and a graph
    whose thread this process does not have any more, is sent the whole conversation.

    The question of an `interrupt()` goes to the other role, whose next message is the answer (`questions`). Any other
    interrupt is for `approve`, or ends the conversation as `agent_interrupted` (`user_rejected` if it plays the user).
    """

    role: Role
    agent: Any
    build: MessageBuilder | None = None
    """Builds the messages that it is sent: `Talk` for the conversation with a system text, the view of a cast, or a
    function of yours. None: as the assistant the conversation and nothing else, as the user the view of its side."""
    path: str | None = None
    """The import path, or the address on a LangGraph server, that the agent was given by."""
    context: Any = None
    """What a graph is called with as its context (`context_schema`): a value, or a function of the scenario and the
    live world. None: its defaults; a graph without a schema is given the conversation's, if there is a world."""
    approve: questions.Approve | None = None
    """Who answers an interrupt that is no question in words, such as that of LangChain's `HumanInTheLoopMiddleware`:
    `all` approves, `none` rejects, `ask-user` asks the other side, a function (or its MODULE:NAME) gives what resumes
    the interrupt of a value. The record has each decision as a call `interrupt`."""
    reads: str = ""
    """For a graph without `messages`: the channel that gets the other side's words."""
    answers: str = ""
    """For a graph without `messages`: the channel that has the reply, as words or as an object with them."""

    def __post_init__(self) -> None:
        """ContractError for settings that do not fit each other or the agent."""
        if self.build is None and self.role == "assistant":
            object.__setattr__(self, "build", Talk(self.role))
        object.__setattr__(self, "approve", questions.checked_policy(self.role, self.approve))
        if isinstance(self.agent, Pregel):
            self._check_channels(channels_of(self.agent))

    def _check_channels(self, names: Collection[str]) -> None:
        if self.reads and not self.answers:
            raise ContractError(f"{self.role}: give the channel that answers too (answers=)")
        wanted = [name for name in (self.reads, self.answers) if name]
        if missing := [name for name in wanted if name not in names]:
            raise ContractError(f"{self.role}: the agent's state has no {missing[0]!r}, only {', '.join(names)}")
        if not self.reads and "messages" not in self.agent.channels and "__previous__" not in self.agent.channels:
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
        limits = runtime.context

        async def ask() -> Update:
            return await self._turn(state, limits)

        # With a world it is not taken from the run's journal: what its tools did has to be done again in a new one.
        acts = isinstance(limits, Context) and limits.world is not None
        recipient = {**self.provenance(), "memory": memory_of(state, self.role)}
        call, attempt = speaker_call(self.role, state, limits), attempt_number(state, self.role)
        update = await current().update(recipient, self.sent(state), call, attempt, ask, keep=not acts)
        return cast(Update, update)

    # A turn

    async def _turn(self, state: State, limits: Limits) -> Update:
        place: dict[str, Any] = dict(memory_of(state, self.role).get(THREAD) or {})
        thread: Lent | None = self._kept_thread(place, limits)
        if thread is None:
            place, is_graph, name = {}, isinstance(self.agent, Pregel), thread_of(self.role, state)
            thread = Thread(self.agent, name, SPEAKER_OF[self.role]) if is_graph else Whole(self.agent, self.role)
        turn, sent, pending = Turn(), list[BaseMessage](), place.get("pending") or []
        if pending:
            given: Any = self._resumed(turn, pending, self._reply(state, place))
            turn.steps += _waiting(thread)
        else:
            given, sent = self._given(state, place, thread)
        known = {message.id for message in thread.history}
        context = own_context(self.role, self.agent, self.context, state["scenario"], limits)
        for number in range(ROUNDS + 1):
            await self._called(thread, given, context, turn, limits)
            if not isinstance(thread, Whole):
                turn.added = await self._added(turn, sent, known)
            pending = [questions.pending_of(interrupt) for interrupt in turn.interrupts]
            goes_on = turn.error is None and not isinstance(thread, Whole)
            by = questions.answers(self.approve, pending) if goes_on else None
            if by != "policy" or number == ROUNDS:
                break
            given = self._resumed(turn, pending)
        question = questions.question_of(self.approve, pending) if by == "user" else None
        if pending and not question:
            why = "it asks for approval again and again" if by else "it asks no question that words can answer"
            why = why if isinstance(self.agent, Pregel) else "it has no checkpointer"
            turn.steps += [questions.unanswered_step(one["value"], why) for one in pending]
        channels = _plain_channels(turn.channels)
        memory = memory_of(state, self.role) | ({CHANNELS: channels} if channels else {})
        if isinstance(thread, Thread):
            memory[THREAD] = {"at": self._keep(thread, place, limits), "seen": len(state.get("messages", [])) + 1}
            memory[THREAD] |= {"pending": pending} if question else {}
        update: Update = {"drafts": self._drafts(turn, question, channels), **({"memory": memory} if memory else {})}
        return self._ended(update, turn, unanswered=bool(pending and not question))

    async def _called(self, thread: Lent, given: Any, context: Any, turn: Turn, limits: Limits) -> None:
        turn.interrupts = []
        try:
            await within(limits.turn_timeout, thread.call(given, context, turn), self.path or self.name)
        except TurnTimeoutError as error:
            turn.error, turn.added = error, []
        except Exception as error:
            if not any(step.messages for step in turn.steps) and not isinstance(error, GraphRecursionError):
                raise
            log.debug("an agent failed: %s", redacted("".join(format_exception(error))))
            turn.error = error

    @cached_property
    def read_only(self) -> tuple[str, ...]:
        """Tools that declare that they change nothing. A rejected draft that called another one stands, unless the cast's
        world can be put back."""
        return declared(self.agent)

    @property
    def name(self) -> str:
        """The agent's name."""
        return self.agent.get_name() if isinstance(self.agent, Runnable) else str(describe(self.agent)["name"])

    def _kept_thread(self, place: Mapping[str, Any], limits: Limits) -> Thread | None:
        thread = kept_threads(limits).get(place.get("at", ""))
        goes_on = bool(place.get("pending")) or isinstance(self.build, Talk)  # a view of one's own says all anew
        return thread.copy() if thread is not None and goes_on else None

    def _keep(self, thread: Thread, place: Mapping[str, Any], limits: Limits) -> str:
        """Where the thread is found again; in a run those of earlier and of rejected drafts are let go."""
        kept, at = kept_threads(limits), uuid.uuid4().hex  # noqa: TID251 - of this process, and of no record
        for key in [*kept] if isinstance(limits, Context) else ():
            if kept[key].name == thread.name and key != place.get("at"):
                del kept[key]
        kept[at] = thread
        return at

    def _reply(self, state: State, place: Mapping[str, Any]) -> str:
        """The other side's answer to the agent's question; a third one, such as a moderator, approves nothing."""
        in_words = questions.asks_in_words(place["pending"])
        replies = [one for one in said(state)[place["seen"] :] if one["role"] != self.role]
        return "\n\n".join(with_stand_ins(one) for one in replies if in_words or "name" not in one)

    def _resumed(self, turn: Turn, pending: Sequence[questions.Pending], words: str = "") -> Command[Any]:
        """What resumes the agent: the other side's words, or what the policy decides, which is a step of the turn."""
        given = questions.decided(self.approve, pending, words)
        if not questions.asks_in_words(pending):
            turn.steps.append(questions.decision_step(self.approve, pending, given))
        return Command(resume=given)

    # What it is sent

    def _given(self, state: State, place: Mapping[str, Any], thread: Lent) -> tuple[Any, list[BaseMessage]]:
        """The agent's input: new messages, or all at the beginning, with the channels of before; and the messages."""
        channels = {} if place else copy.deepcopy(memory_of(state, self.role).get(CHANNELS, {}))
        build = cast(MessageBuilder, self.build)
        if isinstance(thread, Whole):
            sent = build(state)
            return {**channels, "messages": sent}, sent
        anew = not place or not self._appends
        sent = build(state) if not isinstance(build, Talk) else self._talk(build, state, 0 if anew else place["seen"])
        for number, message in enumerate(sent):
            message.id = message.id or f"{thread_of(self.role, state)}/{len(state['messages'])}/{number}"
        if self.reads:
            words = [str(message.text) for message in sent if isinstance(message, HumanMessage)]
            return {**channels, self.reads: "\n\n".join(words[-2 if any(map(_is_note, sent)) else -1 :])}, sent
        if "messages" not in self.agent.channels:
            return sent, sent  # of an @entrypoint
        removes = getattr(self.agent.channels["messages"], "operator", None) is add_messages
        gone = [RemoveMessage(id=str(one.id)) for one in thread.history if removes and _is_note(one)]
        return {**channels, "messages": [*gone, *sent]}, sent

    @property
    def _appends(self) -> bool:
        """Whether its thread keeps what it was sent before; an `@entrypoint` does if it takes its own last result."""
        if self.reads or "messages" in self.agent.channels:
            return not isinstance(self.agent.channels.get("messages"), LastValue)
        function = getattr(next(iter(self.agent.nodes.values())).bound, "func", None)
        return function is not None and "previous" in inspect.signature(function).parameters

    def _talk(self, build: Talk, state: State, seen: int) -> list[BaseMessage]:
        """The messages behind those that it has seen; from the beginning with its calls and their results, which it had
        seen too. A repair line is one more message, to be taken out again."""
        shown = merged(without_rejected(state, role=self.role), {"prompt": None})
        parts: list[tuple[list[Any], list[Any]]] = [([], [])]
        for chat, message in zip(state["messages"][seen:], said(state)[seen:], strict=True):
            if not seen and message["role"] == self.role:
                made = [{**one, "tool_calls": calls_made(one)} for one in message.get("attempts", ())]
                first = sum(len(calls) for calls, _ in parts)
                if calls := tool_turns(Message.model_validate({**message, "attempts": made}), first):
                    parts.append((calls, []))
            parts[-1][1].append(chat)
        sent: list[BaseMessage] = []
        for number, (calls, messages) in enumerate(parts):
            sent += convert_to_messages(calls)
            if messages or not number:
                sent += (Talk(self.role) if seen or number else build)(merged(shown, {"messages": messages}))
        line = state.get("prompt")
        if line and self.prompted(state):
            name = f"{_NOTE}{attempt_number(state, self.role)}/{len(state['messages'])}"
            sent.append(HumanMessage(note(line), id=name))
        return sent

    # Its answer

    async def _added(self, turn: Turn, sent: Sequence[BaseMessage], known: Collection[str | None]) -> list[BaseMessage]:
        """A graph's own messages of a turn; the one in a channel of its own, or its structured response, alone."""
        values = turn.values
        if values is None or (turn.error is not None and not isinstance(values, Mapping)):
            return []
        in_channel = self.answers or (isinstance(self.agent, Pregel) and "messages" not in self.agent.channels)
        if in_channel:
            if turn.interrupts:
                return []
            answer = values.get(self.answers) if self.answers else values
            if self.answers and (answer is None or isinstance(answer, Mapping)):
                return [AIMessage("" if answer is None else structured_text(answer))]
            return await messages_answered(answer, sent, self.role)
        if "structured_response" in turn.written and values.get("structured_response") is not None:
            return [AIMessage(structured_text(values["structured_response"]))]
        outputs = self.agent.output_channels
        if not isinstance(outputs, str) and "messages" not in outputs and not turn.interrupts:  # a schema of its own
            return await messages_answered({name: values.get(name) for name in outputs}, sent, self.role)
        new = [one for one in messages_of(values.get("messages", [])) if one.id is None or one.id not in known]
        own = own_messages(new, sent, self.role)
        if not own and not turn.interrupts:
            own = turn.said_again(sent, known)
        # A tool whose result is the answer (`return_direct`) has the last word.
        if own and isinstance(own[-1], ToolMessage) and not (turn.interrupts or turn.error):
            direct = {name for name, node in tools_of(self.agent) if node.tools_by_name[name].return_direct}
            own += [AIMessage(own[-1].content)] if own[-1].name in direct else []
        return own

    def _drafts(self, turn: Turn, question: str | None, channels: Mapping[str, Any]) -> list[Draft]:
        told = {name_of(message): step.node for step in turn.steps for message in step.messages}
        # What a middleware writes at its limit is no reply.
        own = [one for one in turn.added if turn.limit is None or told.get(name_of(one)) != turn.limit]
        own += [AIMessage(question)] if question else []
        untold = [one for one in turn.added if name_of(one) not in told]
        if isinstance(self.agent, Pregel):  # results of hand-offs stand in the state, and in no node's answer
            untold = [one for one in untold if isinstance(one, ToolMessage)]
        steps = [*turn.steps, *(Step(one.name or "", messages=[one]) for one in untold)]
        if not (own or steps or turn.error):
            return []
        draft = reply_of(own, steps)
        for call in draft.get("tool_calls", []):
            if call.get("error") == NO_RESULT and question:
                call["error"] = WAITING
            elif call.get("error") == NO_RESULT and turn.error is not None:
                call["error"] = f"{NO_RESULT}: {error_line(turn.error)}"
        if channels:
            draft["kept"] = dict(channels)
        return [draft]

    def _ended(self, update: Update, turn: Turn, *, unanswered: bool) -> Update:
        if isinstance(turn.error, TurnTimeoutError):
            update["stop"] = TIMED_OUT[self.role]
        elif (error := turn.error) is not None:
            update["failed"], update["crashed"] = error_line(error, placed=True), is_crash(error)
            update["frames"] = frames_of(error)
        elif unanswered:
            update["stop"] = questions.INTERRUPTED[self.role]
        elif turn.limit is not None:
            update["stop"] = LIMITED[self.role]
        return update

    def provenance(self) -> dict[str, Any]:
        settings = {
            "object": redacted(self.path) if self.path else None,
            "code": code_of(self.path) if self.path else None,
            "reads": self.reads,
            "answers": self.answers,
            "read_only": list(self.read_only),
            "approve": self.approve and questions.policy_name(self.approve),
            "context": describe(self.context)
            if callable(self.context)
            else self.context and type(self.context).__name__,
        }
        called = {"function": describe(self.agent)} if self.is_function else {"agent": self.name}
        return {**called, "view": describe(self.build), **{name: value for name, value in settings.items() if value}}

    @property
    def is_function(self) -> bool:
        """Whether it is a function of messages, and no agent of LangChain or LangGraph."""
        return not isinstance(self.agent, Runnable)


def user(reply: str | BaseChatModel | SpeakerReply, system: str = "") -> Node:
    """A user from a chat model, its identifier, or a function of the messages that a chat model in its place is sent.

    `system`: what it is told of its part; without it the view of its side of the cast, by default goal and facts.
    """
    build = plain_messages("user", system) if system else None
    if isinstance(reply, (str, BaseChatModel)):
        return ChatSpeaker("user", chat_model(reply), build)
    return AgentSpeaker("user", reply, build)


def channels_of(agent: object) -> list[str]:
    """Names of a graph's channels, without LangGraph's own; none of another runnable."""
    names = agent.channels if isinstance(agent, Pregel) else ()
    return sorted(str(name) for name in names if not str(name).startswith(("_", "branch:")))


def _plain_channels(channels: Mapping[str, Any]) -> dict[str, Any]:
    plain = {}
    for name, value in channels.items():
        if name not in _NOT_KEPT and not name.startswith(("_", "branch:")) and value not in (None, "", [], {}):
            with suppress(TypeError, ValueError, RecursionError):
                plain[name] = plain_json(value)
    return plain


def _is_note(message: BaseMessage) -> bool:
    return str(message.id).startswith(_NOTE)


def thread_of(role: Role, state: State) -> str:
    """The thread's id: the conversation's, with its repeat from the second on, and `user` if the agent plays it."""
    repeat = state.get("origin", {}).get("repeat", 0)
    parts = [id_of(state) or "conversation", str(repeat or ""), "user" if role == "user" else ""]
    return "-".join(filter(None, parts))


def _waiting(thread: Lent) -> list[Step]:
    """The calls of tools without a result yet, as a step: the tools go on in this turn, and their calls are its own."""
    answered = {message.tool_call_id for message in thread.last if isinstance(message, ToolMessage)}
    calls = [call for message in thread.last if isinstance(message, AIMessage) for call in message.tool_calls]
    open_calls = [call for call in calls if call["id"] not in answered]
    return [Step("interrupt", messages=[AIMessage("", tool_calls=open_calls)])] if open_calls else []
