"""Speakers that are code of the user's, agents and functions: what they are lent and sent, and what they answer."""

import asyncio
import copy
import inspect
import logging
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Self, TypeAlias, cast

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    RemoveMessage,
    ToolMessage,
    convert_to_messages,
    convert_to_openai_messages,
)
from langchain_core.runnables import Runnable, RunnableConfig, ensure_config
from langchain_core.runnables.config import merge_configs, var_child_runnable_config
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.constants import CONFIG_KEY_CHECKPOINTER, TAG_HIDDEN
from langgraph.errors import GraphBubbleUp, GraphInterrupt, GraphRecursionError
from langgraph.graph import END
from langgraph.pregel import Pregel
from langgraph.runtime import Runtime
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command, Interrupt
from pydantic import ValidationError
from typing_extensions import is_typeddict

from ...data.executed_graph import SPEAKER_OF
from ...data.formats.messages import NO_RESULT, tool_turns
from ...data.packages import frames_of
from ...data.records import WAITING, Message, Role
from .. import langgraph_names
from ..attachments import with_stand_ins
from ..calls.service import current, during
from ..contract import ContractError, Node, describe
from ..foreign import TurnTimeoutError, in_thread, within
from ..limits import Limits
from ..messages import MessageBuilder, Talk, note, plain_messages, sends_prompt
from ..models.faults import is_crash
from ..models.specs import chat_model
from ..replies import (
    Answer,
    Step,
    hands_off,
    messages_answered,
    messages_of,
    own_messages,
    plain_json,
    reply_of,
    structured_text,
)
from ..settings.import_path import code_of
from ..settings.redaction import error_line, redacted
from ..state import Draft, State, Update, attempt_number, id_of, memory_of, merged, said, without_rejected
from ..worlds import STRUCTURED, Context, calls_that_ran
from . import questions, tools
from .speaker import ChatSpeaker, Speaker, speaker_call
from .tools import declared, tools_of

log = logging.getLogger(__name__)

SpeakerReply: TypeAlias = Callable[[list[dict[str, Any]]], Answer]
"""A function, also async, from messages, `{"role": "system" | "user" | "assistant", "content": text}` each, to the next
message: its text, a message of LangChain or of OpenAI's form, a list of messages, or a generator of texts."""

THREAD = "thread"
"""Key of a side's memory for where its agent's thread stands."""
CHANNELS = "channels"
"""Key of a side's memory for the channels of its agent's state, as far as they are plain JSON."""
ROUNDS = 50
"""Most approvals in a row within one turn: an agent that asks again for ever must not."""
MOST_KEPT = 256
"""Threads that are kept in this process for graphs that are invoked directly; a run keeps those of a conversation."""
_NOTE = "note-"
"""How the ids of messages with our instructions begin."""


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
    """The channel that gets the other side's new words, of a graph without `messages`."""
    answers: str = ""
    """The channel that has the reply, in any form that a function may answer with."""

    def __post_init__(self) -> None:
        """ContractError for settings that do not fit each other or the agent."""
        if self.build is None and self.role == "assistant":
            object.__setattr__(self, "build", Talk(self.role))
        object.__setattr__(self, "approve", questions.checked_policy(self.role, self.approve))
        names = channels_of(self.agent)
        wanted = ["messages"] if names and END not in names else []
        wanted = [self.reads, self.answers] if self.reads or self.answers else wanted
        if missing := [repr(name) for name in wanted if name not in names]:
            raise ContractError(
                f"{self.role}: the agent's state has no {missing[0]}, only {', '.join(names) or 'none'}: say which channel "
                "gets the words and which answers, as MODULE:NAME?in=question&out=answer, or reads= and answers= in Python"
            )

    def placed(self, view: MessageBuilder) -> Self:
        """The same speaker on a side of a cast with this view; ContractError if its graph lacks a context."""
        if self.context is None:
            own_context(self.role, self.agent, None, {}, Limits())
        if not isinstance(store := getattr(self.agent, "store", None), InMemoryStore | None):
            line = "all conversations share the agent's store (%s): give it an InMemoryStore, which is copied"
            log.warning(line, type(store).__name__)
        return super().placed(view)

    def prompted(self, state: State) -> bool:
        """Whether the selector's prompt is sent: not together with an answer to the agent's own question."""
        place = memory_of(state, self.role).get(THREAD) or {}
        return not place.get("pending") and sends_prompt(self.build, state)

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        limits = runtime.context
        ask = partial(self._turn, state, limits)
        # With a world it is not taken from the run's journal: what its tools did has to be done again in a new one.
        acts = isinstance(limits, Context) and limits.world is not None
        recipient = {**self.provenance(), "memory": memory_of(state, self.role)}
        call, attempt = speaker_call(self.role, state, limits), attempt_number(state, self.role)
        return cast(Update, await current().update(recipient, self.sent(state), call, attempt, ask, keep=not acts))

    # A turn

    async def _turn(self, state: State, limits: Limits) -> Update:
        place: dict[str, Any] = dict(memory_of(state, self.role).get(THREAD) or {})
        thread, is_graph = self._lent(state, place, limits), isinstance(self.agent, Pregel)
        turn, sent, pending = Turn(SPEAKER_OF[self.role]), list[BaseMessage](), place.get("pending") or []
        if pending:
            given: Any = self._resumed(turn, pending, self._reply(state, place))
            turn.steps += _waiting(thread)
        else:
            given, sent = self._given(state, place, thread)
        before = thread.channels
        context = own_context(self.role, self.agent, self.context, state["scenario"], limits)
        for number in range(ROUNDS + 1):
            await self._called(thread, given, context, turn, limits)
            if isinstance(thread, Thread):
                await thread.settle(turn)
                turn.added = await self._added(turn, sent, before)
            pending = [questions.pending_of(interrupt) for interrupt in turn.interrupts]
            by = questions.answers(self.approve, pending) if is_graph and turn.error is None else None
            if by != "policy" or number == ROUNDS:
                break
            given = self._resumed(turn, pending)
        question = questions.question_of(self.approve, pending) if by == "user" else None
        if pending and not question:
            why = "it asks for approval again and again" if by else "it asks no question that words can answer"
            why = f"no one can answer the agent: {why if is_graph else 'it has no checkpointer'}"
            turn.steps += [questions.step_of(one["value"], why, "error") for one in pending]
        channels = _plain_channels(turn.channels)
        memory = memory_of(state, self.role) | ({CHANNELS: channels} if channels else {})
        if isinstance(thread, Thread):
            at = uuid.uuid4().hex  # noqa: TID251 - of this process, and of no record
            kept_threads(limits)[at] = thread
            memory[THREAD] = {"at": at, "seen": len(state.get("messages", [])) + 1}
            memory[THREAD] |= {"pending": pending} if question else {}
        update: Update = {"drafts": self._drafts(turn, question, channels), **({"memory": memory} if memory else {})}
        return self._ended(update, turn, unanswered=bool(pending and not question))

    async def _called(self, thread: "Lent", given: Any, context: Any, turn: "Turn", limits: Limits) -> None:
        turn.interrupts, turn.answer = [], None
        try:
            name = (self.path or self.name) if tools.blocks_the_loop(self.agent) else ""
            await within(limits.turn_timeout, thread.call(given, context, turn), name)
        except TurnTimeoutError as error:
            turn.error, turn.added = error, []
        except Exception as error:
            if not any(step.messages for step in turn.steps) and not isinstance(error, GraphRecursionError):
                raise
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

    def _lent(self, state: State, place: dict[str, Any], limits: Limits) -> "Lent":
        """What is called: a copy of the thread at the place, a new one, which empties the place, or what keeps none."""
        thread = kept_threads(limits).get(place.get("at", ""))
        if thread is not None and (place.get("pending") or isinstance(self.build, Talk)):  # another view says all anew
            return thread.copy()
        place.clear()
        if isinstance(self.agent, Pregel):
            return Thread(self.agent, thread_of(self.role, state), SPEAKER_OF[self.role])
        return Whole(self.agent, self.role)

    def _reply(self, state: State, place: Mapping[str, Any]) -> str:
        """The other side's answer to the agent's question; a third one, such as a moderator, approves nothing."""
        in_words = questions.asks_in_words(place["pending"])
        replies = [one for one in said(state)[place["seen"] :] if one["role"] != self.role]
        return "\n\n".join(with_stand_ins(one) for one in replies if in_words or "name" not in one)

    def _resumed(self, turn: "Turn", pending: Sequence[questions.Pending], words: str = "") -> Command[Any]:
        """What resumes the agent: the other side's words, or what the policy decides, which is a step of the turn."""
        given = questions.decided(self.approve, pending, words)
        if not questions.asks_in_words(pending):
            turn.steps.append(questions.decision_step(self.approve, pending, given))
        return Command(resume=given)

    # What it is sent

    def _given(self, state: State, place: Mapping[str, Any], thread: "Lent") -> tuple[Any, list[BaseMessage]]:
        """The agent's input: new messages, or all at the beginning, with the channels of before; and the messages."""
        channels = {} if place else copy.deepcopy(memory_of(state, self.role).get(CHANNELS, {}))
        build = cast(MessageBuilder, self.build)
        if isinstance(thread, Whole):
            sent = build(state)
            return {**channels, "messages": sent}, sent
        seen = place["seen"] if place and (self.reads or tools.keeps_messages(self.agent)) else 0
        sent = self._talk(build, state, seen) if isinstance(build, Talk) else build(state)
        for number, message in enumerate(sent):
            message.id = message.id or f"{thread_of(self.role, state)}/{len(state['messages'])}/{number}"
        if self.reads:
            words = [str(message.text) for message in sent if isinstance(message, HumanMessage)]
            return {**channels, self.reads: "\n\n".join(words[-2 if any(map(_is_note, sent)) else -1 :])}, sent
        if "messages" not in self.agent.channels:
            return sent, sent  # of an @entrypoint
        before = messages_in(thread.channels.get("messages")) if tools.joins_messages(self.agent) else ()
        gone = [RemoveMessage(id=str(one.id)) for one in before if _is_note(one)]
        return {**channels, "messages": [*gone, *sent]}, sent

    def _talk(self, build: Talk, state: State, seen: int) -> list[BaseMessage]:
        """The messages behind those that it has seen; from the beginning with its own calls and their results. A repair
        line is one more message, to be taken out again."""
        shown = merged(without_rejected(state, role=self.role), {"prompt": None})
        parts: list[tuple[list[Any], list[Any]]] = [([], [])]
        for chat, message in zip(state["messages"][seen:], said(state)[seen:], strict=True):
            if not seen and message["role"] == self.role:
                made = [{**one, "tool_calls": calls_that_ran(one)} for one in message.get("attempts", ())]
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

    async def _added(self, turn: "Turn", sent: Sequence[BaseMessage], before: Mapping[str, Any]) -> list[BaseMessage]:
        """A graph's own messages of a turn; those in the channel that answers, or its structured response, alone."""
        # Without messages are what an @entrypoint returns, and the state of an `output_schema` of its own.
        if self.answers or "messages" not in self.agent.output_channels:
            if turn.interrupts or turn.error is not None:
                return []
            if not self.answers:
                return await messages_answered(turn.answer, sent, self.role)
            answer = turn.channels.get(self.answers) if self.answers in turn.written else None
            earlier = before.get(self.answers)
            if isinstance(answer, list) and isinstance(earlier, list) and answer[: len(earlier)] == earlier:
                answer = answer[len(earlier) :] or answer  # of a channel that grows
            return [AIMessage("")] if answer is None else await messages_answered(answer, sent, self.role)
        if STRUCTURED in turn.written and (value := turn.channels.get(STRUCTURED)) is not None:
            return [AIMessage(structured_text(value))]
        # What it gives: a middleware may have changed a message in place, which its checkpoint does not have.
        state = turn.answer if isinstance(turn.answer, Mapping) else turn.channels
        messages = messages_of(state.get("messages", []))
        known = {one.id for one in messages_in(before.get("messages"))}
        new = [one for one in messages if one.id is None or one.id not in known]
        own = own_messages(new, sent, self.role)
        if not own and not turn.interrupts:  # an object that it says again has its place in the state already
            own = own_messages([*turn.said.values()], sent, self.role)
        last = own[-1] if own and not (turn.interrupts or turn.error) else None
        nodes = dict(tools_of(self.agent)) if isinstance(last, ToolMessage) and not hands_off(last) else {}
        if last is not None and last.name in nodes:
            # A tool whose result ends the turn has the last word by `return_direct`, or where nothing else was said.
            is_direct = nodes[last.name].tools_by_name[last.name].return_direct
            spoke = any(isinstance(one, AIMessage) and one.text for one in own)
            own += [AIMessage(last.content)] if is_direct or not spoke else []
        return own

    def _drafts(self, turn: "Turn", question: str | None, channels: Mapping[str, Any]) -> list[Draft]:
        told = {name_of(message) for step in turn.steps for message in step.messages}
        own = [one for one in turn.added if name_of(one) not in turn.at_limit]
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
        return [{**draft, "kept": dict(channels)} if channels else draft]

    def _ended(self, update: Update, turn: "Turn", *, unanswered: bool) -> Update:
        is_user = self.role == "user"
        if isinstance(turn.error, TurnTimeoutError):
            update["stop"] = "user_timeout" if is_user else "agent_timeout"
        elif (error := turn.error) is not None:
            update["failed"], update["crashed"] = error_line(error, placed=True), is_crash(error)
            update["frames"] = frames_of(error)
        elif unanswered:
            update["stop"] = "user_rejected" if is_user else "agent_interrupted"
        elif turn.added and name_of(turn.added[-1]) in turn.at_limit:
            update["stop"] = "user_rejected" if is_user else "agent_limit"
        return update

    def provenance(self) -> dict[str, Any]:
        context = self.context and (describe(self.context) if callable(self.context) else type(self.context).__name__)
        settings = {
            "object": redacted(self.path) if self.path else None,
            "code": code_of(self.path) if self.path else None,
            "reads": self.reads,
            "answers": self.answers,
            "read_only": list(self.read_only),
            "approve": self.approve and questions.policy_name(self.approve),
            "context": context,
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
    """Names of a graph's channels, without LangGraph's own; END of an `@entrypoint`, none of another runnable."""
    return sorted(agent.stream_channels_list) if isinstance(agent, Pregel) else []


def _plain_channels(channels: Mapping[str, Any]) -> dict[str, Any]:
    plain = {}
    for name, value in channels.items():
        if name not in ("messages", "jump_to") and not name.startswith("_") and value not in (None, "", [], {}):
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


def _waiting(thread: "Lent") -> list[Step]:
    """The calls of tools without a result yet, as a step: the tools go on in this turn, and their calls are its own."""
    answered = {message.tool_call_id for message in thread.last if isinstance(message, ToolMessage)}
    calls = [call for message in thread.last if isinstance(message, AIMessage) for call in message.tool_calls]
    open_calls = [call for call in calls if call["id"] not in answered]
    return [Step("interrupt", messages=[AIMessage("", tool_calls=open_calls)])] if open_calls else []


# What it does


class Turn(BaseCallbackHandler):
    """What an agent's turn came to, as LangChain's callbacks tell it of nodes and models in it, at any depth.

    It grows as the agent works: a call that is given up has what it did before.
    """

    run_inline = True

    def __init__(self, place: str) -> None:
        """`place`: the node of the conversation's graph in which the agent is called."""
        self.place = place
        self.now = asyncio.get_running_loop().time
        self.steps: list[Step] = []
        self.seen = set[str]()  # messages that are in a step: a sub-agent that goes on gives its earlier ones again
        self.written = set[str]()  # keys of its state that its nodes wrote
        self.said: dict[str, BaseMessage] = {}  # the messages that its own nodes gave
        self.added: list[BaseMessage] = []  # those of the turn that are its own
        self.at_limit = set[str]()  # those that a middleware wrote because a limit was reached
        self.answer: Any = None
        self.channels: Mapping[str, Any] = {}  # its whole state
        self.interrupts: list[Interrupt] = []
        self.error: Exception | None = None  # what it raised after it had done something
        self._names: dict[tuple[str, ...], str] = {}
        self._begun: dict[Any, tuple[Step, Any, float, set[str]]] = {}  # its place, when, and messages known then
        self._asked: dict[Any, tuple[Mapping[str, Any], bool]] = {}  # its place, and whether it is asked for a schema
        self._of_models: dict[str | None, Step] = {}

    def on_chain_start(self, serialized: Any, inputs: Any, *, run_id: Any, tags: Any = None, **details: Any) -> None:
        """A node begins."""
        about = details.get("metadata") or {}
        node, space = about.get(langgraph_names.NODE), about.get(langgraph_names.SPACE)
        # The node's function, or a graph in it, is no node. A copy of the values: sub-agents may work in threads.
        is_inside = space in [other for _, other, *_ in [*self._begun.values()]]
        if details.get("name") == node is not None and not is_inside and TAG_HIDDEN not in (tags or ()):
            known = {name_of(one) for one in messages_in(inputs)}
            self._begun[run_id] = self._step(about), space, self.now(), known

    def on_chain_end(self, outputs: Any, *, run_id: Any, **details: Any) -> None:
        """A node has ended."""
        if run_id not in self._begun:
            return
        step, _, began, known = self._begun.pop(run_id)
        step.seconds, messages = (
            self.now() - began,
            [one for one in messages_in(outputs) if isinstance(one, (AIMessage, ToolMessage))],
        )
        for number, message in enumerate(messages):
            message.id = message.id or f"{run_id}-{number}"  # the state would give it one, later
            if message.id not in known | self.seen:
                self.seen.add(message.id)
                step.messages.append(message)
                self.forget(message)
        if tools.is_limit(step.node, outputs):
            self.at_limit |= set(map(name_of, messages))
        if not step.path:
            self.said |= {name_of(message): message for message in messages}
            for update in outputs if isinstance(outputs, (list, tuple)) else [outputs]:
                keys = update.update if isinstance(update, Command) else update
                self.written |= set(keys if isinstance(keys, Mapping) else getattr(keys, "__dict__", ()))

    def on_chain_error(self, error: BaseException, *, run_id: Any, **details: Any) -> None:
        """A node has failed, stops for a question, or hands over to a node of the graph around it."""
        if isinstance(error, GraphBubbleUp):
            self.on_chain_end(error.args[:1], run_id=run_id)
        elif run_id in self._begun and not isinstance(error, asyncio.CancelledError):
            step, _, began, _ = self._begun.pop(run_id)
            step.seconds, step.error = self.now() - began, error_line(error)

    def on_chat_model_start(self, serialized: Any, messages: Any, *, run_id: Any, **details: Any) -> None:
        """A model is asked."""
        for_schema = "ls_structured_output_format" in (details.get("options") or {})
        self._asked[run_id] = details.get("metadata") or {}, for_schema

    def on_llm_end(self, response: Any, *, run_id: Any, **details: Any) -> None:
        """A model has answered: a step of its own, unless a node gives the message too."""
        for generation in response.generations[0][:1] if run_id in self._asked and response.generations else ():
            if isinstance(message := getattr(generation, "message", None), AIMessage):
                about, for_schema = self._asked[run_id]
                if for_schema and message.tool_calls:  # of `with_structured_output`: a value, and no act
                    value = structured_text(message.tool_calls[0]["args"])
                    message = message.model_copy(update={"content": value, "tool_calls": []})
                self._of_models[message.id] = self._step(about)
                self._of_models[message.id].messages.append(message)

    def on_tool_end(self, output: Any, *, name: str = "", **details: Any) -> None:
        """A tool has answered: a call of a model that was asked beside the nodes has its result here alone."""
        for step in self._of_models.values():
            answered = [one.tool_call_id for one in step.messages if isinstance(one, ToolMessage)]
            for call in cast(AIMessage, step.messages[0]).tool_calls:
                own = output.tool_call_id == call["id"] if isinstance(output, ToolMessage) else call["name"] == name
                if own and call["id"] not in answered:
                    text = structured_text(output)
                    message = output if isinstance(output, ToolMessage) else ToolMessage(text, tool_call_id=call["id"])
                    return step.messages.append(message)

    def forget(self, message: BaseMessage) -> None:
        """Take out the step of the model that wrote a message which stands elsewhere."""
        if (gone := self._of_models.pop(message.id, None)) is not None:
            del self.steps[next(number for number, step in enumerate(self.steps) if step is gone)]

    def _step(self, about: Mapping[str, Any]) -> Step:
        """A step at its place, with the nodes around it, the outermost first, and the agents that were called in these."""
        space = str(about.get(langgraph_names.SPACE) or self.place).split(langgraph_names.BETWEEN)
        nodes = tuple(part.partition(langgraph_names.BEFORE_ID)[0] for part in space)
        nodes = nodes[1:] if nodes[0] == self.place else nodes
        self._names.setdefault(nodes[:-1], str(about.get(langgraph_names.AGENT) or ""))
        path, above = list[str](), self._names.get((), "")
        for number, node in enumerate(nodes[:-1], start=1):
            name = self._names.get(nodes[:number], "")
            path += [node, name] if name not in ("", node, above) else [node]
            above = name or above
        self.steps.append(step := Step(nodes[-1] if nodes else "model", tuple(path)))
        return step


def name_of(message: BaseMessage) -> str:
    """The id of a message, or of its object."""
    return message.id or str(id(message))


def messages_in(value: Any, depth: int = 4) -> list[BaseMessage]:
    """The messages in a state, an update, a Command, or a list of these."""
    if isinstance(value, BaseMessage):
        return [value]
    value = value.update if isinstance(value, Command) else value
    items = value.values() if isinstance(value, Mapping) else value if isinstance(value, (list, tuple)) else ()
    return [message for item in items if depth for message in messages_in(item, depth - 1)]


# What it is lent


class Whole:
    """What keeps no thread, a function or any other runnable: it is sent the whole conversation each time."""

    channels: Mapping[str, Any] = {}
    last: Sequence[BaseMessage] = ()

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
            asked = state.pop(langgraph_names.ASKED, ())  # of a served graph as plain JSON
            turn.interrupts += [Interrupt(one["value"], id="") if isinstance(one, dict) else one for one in asked]
            turn.channels = {} if is_function else {**given, **(state if "messages" in state else {})}
            if not turn.interrupts:
                turn.added = await messages_answered(answer, sent, self.role)
        for message in turn.added:  # which are steps themselves
            turn.forget(message)


class Thread:
    """An agent's thread and store of a conversation. Each draft has a copy, so that a rejected one leaves nothing."""

    def __init__(self, agent: Pregel[Any, Any, Any, Any], name: str, place: str) -> None:
        """`name`: the thread's id. `place`: the node of the conversation's graph in which the agent is nested."""
        self.agent, self.name, self.place = agent.copy({"checkpointer": True}), name, place
        self.saver = InMemorySaver(serde=_Copies())
        self.store: BaseStore = _own_store(agent.store)
        self.channels: Mapping[str, Any] = {}  # its whole state
        self.last: list[BaseMessage] = []  # those of the last turn, of whose tools some may wait for an answer
        self.seen = set[str]()
        self.is_blocking = False  # whether a part of it can only be called in a thread

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

    def _config(self, context: Any, turn: Turn) -> RunnableConfig:
        config = own_config(context, self.store, turn, nested=True)
        config["configurable"] |= {CONFIG_KEY_CHECKPOINTER: self.saver, "thread_id": self.name}
        config["configurable"] |= {"checkpoint_ns": self.place}
        return config

    async def call(self, given: Any, context: Any, turn: Turn) -> None:
        """Call the agent, nested in the conversation's graph, so that its steps are in that one's streams."""
        turn.seen |= self.seen
        config = self._config(context, turn)
        if isinstance(given, Command):
            config["configurable"][langgraph_names.RESUMING] = True
        # Its own recursion limit, not that of the conversation.
        with during(var_child_runnable_config, config), suppress(GraphInterrupt):
            if not self.is_blocking:
                try:
                    turn.answer = await self.agent.ainvoke(given, context=context, durability="sync")
                    return
                except NotImplementedError:  # of what is not async, such as a `wrap_model_call` of LangChain's pages
                    self.is_blocking, given = True, None  # it goes on from the node that failed
                    turn.steps = [step for step in turn.steps if not str(step.error).startswith("NotImplementedError")]
            turn.answer = await in_thread(partial(self.agent.invoke, given, context=context, durability="sync"))

    async def settle(self, turn: Turn) -> None:
        """Read what the call came to, however it ended."""
        now = await self.agent.aget_state(self._config(None, turn))
        turn.interrupts = list(now.interrupts)
        if now.next and not now.interrupts and turn.error is None:  # a breakpoint asks nothing
            turn.interrupts = [Interrupt({"paused": f"before {', '.join(now.next)}"}, id="")]
        turn.channels = self.channels = now.values if isinstance(now.values, Mapping) else {}
        self.last, self.seen = [message for step in turn.steps for message in step.messages], set(turn.seen)


Lent: TypeAlias = Thread | Whole
_DIRECT: dict[str, Thread] = {}


def kept_threads(limits: Limits) -> dict[str, Thread]:
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
    """A store of one conversation: a copy of the agent's, if that is in memory; else the agent's own, which all share."""
    return InMemoryStore() if store is None else _copied(store) if isinstance(store, InMemoryStore) else store


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

    LangGraph's `get_runtime` gives `context`. `turn`: what hears the nodes and models inside.
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
        is_function = isinstance(configured, partial) or inspect.isroutine(configured)
        return configured(scenario, world) if is_function else configured
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
