"""Calls of an agent: its context, its isolation, and its answer as drafts, also where it failed halfway."""

import inspect
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from traceback import format_exception
from typing import Any, cast

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.errors import GraphInterrupt
from langgraph.pregel import Pregel
from langgraph.runtime import Runtime
from langgraph.types import Command

from ..contract import ContractError
from ..limits import Limits
from ..replies.agent_steps import TurnTimeoutError
from ..replies.conversion import drafts_of
from ..replies.exits import ExitError
from ..settings.redaction import redacted
from ..state import Draft
from ..worlds import Context
from .approval import ROUNDS, ApprovalError, Approve, approval_call, decides, resumed
from .interrupts import NO_CHECKPOINTER, NO_QUESTION, NOT_ENDING, drafts_at_interrupt, still_waiting
from .own_config import on_its_own
from .threads import ThreadPlace, is_remote
from .turn_timeout import drafts_in_time, within

log = logging.getLogger(__name__)

RUNTIME = "__pregel_runtime"
"""Key of a config under which LangGraph's `get_runtime` looks."""


@dataclass(frozen=True)
class CallOutcome:
    """The outcome of a call."""

    answer: Any
    """The agent's answer, or its state up to a failure; None without either."""
    interrupts: Sequence[Any] = field(default_factory=list)
    """The values of the interrupts at which it stands."""
    ids: Sequence[str] = ()
    """The ids of these interrupts, where LangGraph gives them."""
    error: Exception | None = None
    """What it raised."""

    def check_answered(self) -> None:
        """Raise the error of an agent that did nothing before, unless its turn took too long."""
        if self.error is not None and self.answer is None and not isinstance(self.error, TurnTimeoutError):
            raise self.error


def own_context(role: str, agent: object, configured: Any, scenario: Mapping[str, Any], context: Limits) -> Any:
    """The context with which an agent is called; None for none.

    A graph that declares a context of its own (`context_schema`) does not get the conversation's. One without such a
    declaration gets it if there is a world.
    """
    world = context.world if isinstance(context, Context) else None
    if configured is not None:
        own = (
            configured(scenario, world)
            if isinstance(configured, partial) or inspect.isroutine(configured)
            else configured
        )
        if inspect.isawaitable(own):
            raise ContractError(f"{role}: context: expected a plain function of scenario and world, got an async one")
        return own
    if isinstance(agent, Pregel) and agent.context_schema is not None:
        return context if isinstance(agent.context_schema, type) and isinstance(context, agent.context_schema) else None
    return context if world is not None else None


@dataclass
class AgentCall:
    """A call of an agent on its own."""

    agent: Runnable[Any, Any]
    agent_input: Any
    config: RunnableConfig
    keep: Sequence[str]
    context: Any
    progress: Any = None
    """The last state of a graph in this process."""

    async def outcome(self, seconds: float) -> CallOutcome:
        """The outcome of the call, within so many seconds.

        The error of a graph in this process, and TurnTimeoutError, come with what it did before.
        """
        try:
            return await within(seconds, self._begun())
        except TurnTimeoutError as error:
            return CallOutcome(self.progress, error=error)

    async def _begun(self) -> CallOutcome:
        agent = self.agent
        config: RunnableConfig = self.config
        options: dict[str, Any] = {}
        if is_remote(agent):
            if at := config.get("configurable", {}).get("checkpoint_id"):
                options["checkpoint_id"] = at  # RemoteGraph leaves it out of the config that it sends
        elif not isinstance(agent, Pregel):  # LangGraph's `get_runtime` in its code gives the limits and the world
            runtime = {RUNTIME: Runtime(context=self.context)}
            config = {**config, "configurable": {**config.get("configurable", {}), **runtime}}
        with on_its_own() as settings:
            if settings:
                config = {**config, "configurable": {**settings, **config.get("configurable", {})}}
            if isinstance(agent, Pregel):
                return await self._watched(agent, config)
            try:
                answer = await agent.ainvoke(self.agent_input, config, **options)
            except GraphInterrupt as raised:  # of a graph inside a runnable
                return CallOutcome(None, [interrupt.value for interrupt in raised.args[0]])
        interrupts = answer.pop("__interrupt__", ()) if isinstance(answer, dict) else ()
        return CallOutcome(answer, [one["value"] if isinstance(one, dict) else one.value for one in interrupts])

    async def _watched(self, agent: Pregel[Any, Any, Any, Any], config: RunnableConfig) -> CallOutcome:
        """The last state of a graph, as `ainvoke` gives it, and what is left of it where a node raises."""
        # With output_keys, channels outside the graph's output schema are given too.
        output = ["messages", *self.keep] if self.keep else None
        interrupts: list[Any] = []
        try:
            parts: Any = agent.astream(
                self.agent_input, config, context=self.context, stream_mode=["updates", "values"], output_keys=output
            )
            async for mode, part in parts:
                if mode == "values":
                    self.progress = part
                else:
                    interrupts += part.get("__interrupt__", ())
        except SystemExit as error:
            return CallOutcome(self.progress, error=ExitError(error).with_traceback(error.__traceback__))
        except Exception as error:
            log.debug("an agent failed: %s", redacted("".join(format_exception(error))))
            return CallOutcome(self.progress, error=error)
        values, ids = [interrupt.value for interrupt in interrupts], [interrupt.id for interrupt in interrupts]
        return CallOutcome(self.progress, values, ids)


async def approved(
    reply: CallOutcome,
    approve: Approve | None,
    decided: list[dict[str, Any]],
    call: Callable[[Command[Any]], Awaitable[CallOutcome]],
    drafts: Callable[[CallOutcome], Sequence[Draft]],
) -> CallOutcome:
    """The outcome once the policy has answered the interrupts of an outcome, and of those that follow.

    Its decisions are added to `decided`. ApprovalError has the `drafts` of the outcome that it could not answer.
    """
    while reply.error is None and decides(approve, reply.interrupts, reply.ids) and len(decided) < ROUNDS:
        try:
            resume = resumed(cast(Approve, approve), reply.interrupts, reply.ids)
        except ApprovalError as error:
            error.drafts = drafts(reply)
            raise
        decided.append(approval_call(cast(Approve, approve), reply.interrupts, resume))
        reply = await call(Command(resume=resume))
    return reply


@dataclass(frozen=True)
class AgentReply:
    """What an agent answered."""

    called: CallOutcome
    channels: Mapping[str, Any]
    """What it was sent besides messages."""
    added: Sequence[BaseMessage]
    """The messages that it was not sent."""
    place: ThreadPlace | None = None
    """Where its thread stands, without the drafts; None if it has no thread."""
    decided: Sequence[Mapping[str, Any]] = ()
    """The approvals of this turn, as calls for the record."""

    @property
    def timed_out(self) -> bool:
        """Whether it took longer than a turn may take."""
        return isinstance(self.called.error, TurnTimeoutError)

    @property
    def drafts(self) -> list[Draft]:
        """The drafts of its messages, the last one the question of its interrupt; the approvals are with the first."""
        drafts = self._drafts
        if drafts and self.decided:
            drafts[0]["tool_calls"] = [*map(dict, self.decided), *drafts[0].get("tool_calls", [])]
        return drafts

    @property
    def _drafts(self) -> list[Draft]:
        own = [message for message in self.added if isinstance(message, (AIMessage, ToolMessage))]
        if self.timed_out:
            return drafts_in_time(own)
        interrupts = self.called.interrupts
        if self.place is not None and self.place.asked:
            return still_waiting(drafts_of([*own, AIMessage(interrupts[0])]))
        if interrupts:
            why = NO_CHECKPOINTER if self.place is None else NOT_ENDING if self.decided else NO_QUESTION
            return drafts_at_interrupt(own, interrupts, why)
        return drafts_of(own)
