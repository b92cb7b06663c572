"""How an agent is called: in which context, on its own, and what it answered, also where it failed halfway."""

import inspect
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from traceback import format_exception
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.errors import GraphInterrupt
from langgraph.pregel import Pregel
from langgraph.runtime import Runtime

from .contract import ContractError
from .environment import redacted
from .limits import Limits
from .speakers import on_its_own
from .threads import is_remote
from .worlds import Context

log = logging.getLogger(__name__)

RUNTIME = "__pregel_runtime"
"""Key of a config under which LangGraph's `get_runtime` looks."""


@dataclass(frozen=True)
class Called:
    """What became of a call."""

    answer: Any
    """The agent's answer; where it failed, its state as far as it got; None if there is none."""
    interrupts: Sequence[Any] = field(default_factory=list)
    """The values of the interrupts at which it stands."""
    error: Exception | None = None
    """What it raised."""


def own_context(role: str, agent: object, given: Any, scenario: Mapping[str, Any], context: Limits) -> Any:
    """The context with which an agent is called; None for none.

    A graph that declares a context of its own (`context_schema`) is not given the conversation's, which it would not
    know; one that declares none is given it if there is a world.
    """
    world = context.world if isinstance(context, Context) else None
    if given is not None:
        made = given(scenario, world) if isinstance(given, partial) or inspect.isroutine(given) else given
        if inspect.isawaitable(made):
            raise ContractError(f"{role}: context: expected a plain function of scenario and world, got an async one")
        return made
    if isinstance(agent, Pregel) and agent.context_schema is not None:
        return context if isinstance(agent.context_schema, type) and isinstance(context, agent.context_schema) else None
    return context if world is not None else None


async def called(
    agent: Runnable[Any, Any], asked: Any, config: RunnableConfig, *, keep: Sequence[str], context: Any
) -> Called:
    """Call an agent on its own. Its error is given with what it had done, if it is a graph in this process."""
    options: dict[str, Any] = {}
    if is_remote(agent):
        if at := config.get("configurable", {}).get("checkpoint_id"):
            options["checkpoint_id"] = at  # RemoteGraph leaves it out of the config that it sends
    elif not isinstance(agent, Pregel):  # LangGraph's `get_runtime` in its code gives the limits and the world
        config = {**config, "configurable": {**config.get("configurable", {}), RUNTIME: Runtime(context=context)}}
    with on_its_own() as settings:
        if settings:
            config = {**config, "configurable": {**settings, **config.get("configurable", {})}}
        if isinstance(agent, Pregel):
            return await _watched(agent, asked, config, keep, context)
        try:
            answer = await agent.ainvoke(asked, config, **options)
        except GraphInterrupt as raised:  # of a graph inside a runnable
            return Called(None, [interrupt.value for interrupt in raised.args[0]])
    interrupts = answer.pop("__interrupt__", ()) if isinstance(answer, dict) else ()
    return Called(answer, [one["value"] if isinstance(one, dict) else one.value for one in interrupts])


async def _watched(
    agent: Pregel[Any, Any, Any, Any], asked: Any, config: RunnableConfig, keep: Sequence[str], context: Any
) -> Called:
    """The last state of a graph, as `ainvoke` gives it, and what is left of it where a node raises."""
    # With output_keys, channels outside the graph's output schema are given too.
    output = ["messages", *keep] if keep else None
    answer: Any = None
    interrupts: list[Any] = []
    try:
        parts: Any = agent.astream(
            asked, config, context=context, stream_mode=["updates", "values"], output_keys=output
        )
        async for mode, part in parts:
            if mode == "values":
                answer = part
            elif "__interrupt__" in part:
                interrupts += [interrupt.value for interrupt in part["__interrupt__"]]
    except Exception as error:
        log.debug("an agent failed: %s", redacted("".join(format_exception(error))))
        return Called(answer, error=error)
    return Called(answer, interrupts)
