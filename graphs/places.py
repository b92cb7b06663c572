"""What the graph does around a cast's node at its place: it shows the state, calls, settles, and answers an update."""

import inspect
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.graph import END
from langgraph.runtime import Runtime
from langgraph.types import Command

from ..data.provenance import SIDES
from ..data.records import Role
from ..data.summaries.executed_graph import SPEAKERS, VALIDATORS
from ..nodes.behaviours.rewriting import behaves_by_rule, behaving
from ..nodes.contract import AsksSides, ContractError, PromptedSpeaker, check_update
from ..nodes.conversation_state import State, after
from ..nodes.limits import Limits
from ..nodes.scorers.scenario_success import with_success_of_scenario
from ..nodes.settings.redaction import redacted
from ..nodes.state import NodePlace, Update, merged, seen_by
from ..nodes.state import State as TodaysState
from ..nodes.validators.flaws import sound
from ..nodes.worlds import Context, before_draft, put_back
from .attempts import unjudged
from .casts.cast import Cast
from .conversations.replaying import fork_of, recorded_update
from .opening import of_cast, opening
from .records import as_today
from .verdicts import NodeError, after_validator, stop_of

Place: TypeAlias = Any
"""A node of LangGraph, `async (state, config, runtime)`, for which it has no type."""


def opening_place(cast: Cast) -> Place:
    """The place where a conversation begins."""
    described = of_cast(cast)

    async def begin(state: State, config: RunnableConfig, runtime: Runtime[Limits]) -> dict[str, Any]:
        limits = limits_of(cast, state, runtime)
        if cast.world is not None and not isinstance(limits, Context):
            raise ContractError(
                "the cast has a world: async with world(cast, state) as context, and give context=context"
            )
        return opening(cast, described, state, limits)

    return begin


def place(name: NodePlace, cast: Cast) -> Place:
    """The cast's node at a place of the graph: it is shown the state, called, and its answer settled.

    What it raises passes; of a speaker's draft the world is put back first.
    """
    node = sound(getattr(cast, name)) if name in VALIDATORS else getattr(cast, name)
    role: Role | None = SIDES.get(name)
    call = _calling(node)

    async def run(state: State, config: RunnableConfig, runtime: Runtime[Limits]) -> dict[str, Any]:
        limits = limits_of(cast, state, runtime)
        own = runtime if runtime.context is limits else runtime.override(context=limits)
        shown, origin = _shown(name, role, node, state)
        answer: Any = None
        waits = bool(shown.get("drafts"))
        if (name in VALIDATORS and not waits) or (name != "closing" and shown.get("stop") and not waits):
            answer = {}  # the speaker said nothing, or somebody has ended the conversation
        if answer is None:
            answer = recorded_update(name, shown)
        shown.pop("replays", None)
        if answer is None:
            answer = await _answer(name, node, call, shown, state, config, own)
        update = check_update(name, _without_command(name, answer), shown, cast.own_reasons)
        return await _settled(name, role, cast, state, update, limits) | origin

    return run


def _shown(name: NodePlace, role: Role | None, node: object, state: State) -> tuple[TodaysState, dict[str, Any]]:
    """The state as a node of today reads it, and the change of the origin where a replay leaves its record here."""
    shown = as_today(state, role, shows_all=isinstance(node, AsksSides))
    if role is not None:
        shown = seen_by(role, shown)
    if not (forked := fork_of(name, shown) if shown.get("replays") else {}):
        return shown, {}
    origin = {key: value for key, value in state["origin"].items() if key != "replays"}
    return merged(shown, forked), {"origin": origin | {"forks": forked["forks"]}}


async def _answer(
    name: NodePlace,
    node: Any,
    call: Callable[..., Awaitable[Any]],
    shown: TodaysState,
    state: State,
    config: RunnableConfig,
    runtime: Runtime[Limits],
) -> Any:
    """What the node answers, with what belongs to its place: a user's behaviours, the success of the scenario."""
    if name not in SPEAKERS:
        answer = await call(shown, state, config, runtime)
        return await with_success_of_scenario(answer, shown, runtime) if name == "closing" else answer
    await before_draft(runtime.context)
    try:
        answer = await call(shown, state, config, runtime)
    except Exception:
        await put_back(runtime.context)
        raise
    return behaving(answer, shown) if name == "user_simulator" and behaves_by_rule(node) else answer


def _without_command(name: NodePlace, answer: Any) -> Any:
    """The update of a Command, which may only go to the end."""
    if not isinstance(answer, Command):
        return answer
    if answer.goto and answer.goto != END:
        raise ContractError(f"{name}: goto={answer.goto!r}: a cast's node may only go to END")
    ended = {"stop": "user_ended"} if answer.goto == END else {}
    return ended | dict(answer.update or {})


def limits_of(cast: Cast, state: State, runtime: Runtime[Limits]) -> Limits:
    """The limits of the context; without one those that the conversation began with, or the cast's."""
    if runtime.context is not None:
        return runtime.context.or_else(cast.limits)
    stored = state.get("origin", {}).get("limits")
    return Limits(**stored) if stored else cast.limits


def _calling(node: Any) -> Callable[..., Awaitable[Any]]:
    """How a node is called: a Runnable with state and config, a function with what its parameters are named after."""
    if isinstance(node, Runnable):
        return lambda shown, state, config, runtime: node.ainvoke(state, config)
    names = inspect.signature(node).parameters.keys() & {"config", "runtime", "writer", "store"}

    async def call(shown: TodaysState, state: State, config: RunnableConfig, runtime: Runtime[Limits]) -> Any:
        given = {"config": config, "runtime": runtime, "writer": runtime.stream_writer, "store": runtime.store}
        answer = node(shown, **{name: given[name] for name in names})
        return await answer if inspect.isawaitable(answer) else answer

    return call


async def _settled(
    name: NodePlace, role: Role | None, cast: Cast, state: State, update: Update, limits: Limits
) -> dict[str, Any]:
    """The node's update as the graph's own."""
    if name in VALIDATORS:
        assert role is not None
        settled = after_validator(role, cast, state, update.get("verdicts", []), update.get("stop"), limits)
        if state.get("drafts") and not settled.get("messages"):
            await put_back(limits)  # what is not said has not happened
        return settled
    if name in SPEAKERS:
        assert role is not None
        return _spoken(role, cast, name, state, update)
    if name == "turn_recorder":
        changed: dict[str, Any] = {"turn": state.get("turn", 0) + 1}
        if "labels" in update:
            changed["labels"] = update["labels"]
        stop = update.get("stop") or stop_of(cast, after(state, changed), limits)
        return changed | {"stop": stop}
    if name == "closing":
        closed: dict[str, Any] = {"labels": update.get("labels", {})}
        if "usage" in update:
            closed["attempts"] = [{"role": "closing", "at": -1, "verdict": "accepted", "usage": update["usage"]}]
        return closed
    selected: dict[str, Any] = {"prompt": update.get("prompt")}
    return selected | ({"memory": {role: update["memory"]}} if "memory" in update else {})


def _spoken(role: Role, cast: Cast, name: NodePlace, state: State, update: Update) -> dict[str, Any]:
    drafts: list[Any] = list(update.get("drafts", []))
    if error := update.get("failed"):
        fault = SIDES[name] if update.get("crashed") else "infrastructure" if update.get("frames") else None
        failed = {"attempts": unjudged(state, drafts, role), "drafts": None}
        raise NodeError(name, redacted(error), failed, frames=update.get("frames"), fault=fault)
    if "memory" in update and drafts:
        drafts[0] = {**drafts[0], "memory": update["memory"]}
    speaker = getattr(cast, name)
    prompted = speaker.prompted if isinstance(speaker, PromptedSpeaker) else True
    if callable(prompted):
        prompted = prompted(as_today(state, role))
    changed: dict[str, Any] = {"drafts": drafts, "verdicts": [], "stop": update.get("stop") or state.get("stop")}
    return changed if prompted else {**changed, "prompt": None}
