"""What the graph does around a cast's node at its place: it shows the state, calls, settles, and answers an update."""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias, cast

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.graph import END
from langgraph.runtime import Runtime
from langgraph.types import Command

from ..data.provenance import SIDES
from ..data.records import Role
from ..data.summaries.executed_graph import SPEAKERS, VALIDATORS
from ..nodes.behaviours.rewriting import behaves_by_rule, behaving
from ..nodes.calls.service import current
from ..nodes.contract import AsksSides, ContractError, PromptedSpeaker, check_update
from ..nodes.conversation_state import State, after
from ..nodes.limits import Limits
from ..nodes.scorers.scenario_success import with_success_of_scenario
from ..nodes.settings.redaction import redacted
from ..nodes.state import NodePlace, Update, seen_by
from ..nodes.state import State as TodaysState
from ..nodes.validators.flaws import sound
from ..nodes.worlds import before_draft, put_back
from .casts.cast import Cast
from .conversations.replaying import fork_of, recorded_update
from .opening import awaits_answer, of_cast, opening
from .records import as_today
from .verdicts import NodeFailed, after_validator, stop_of, unjudged

Place: TypeAlias = Callable[[State, RunnableConfig, Runtime[Limits]], Awaitable[Any]]


def opening_place(cast: Cast) -> Place:
    """The place where a conversation begins."""
    described = of_cast(cast)

    async def begin(state: State, config: RunnableConfig, runtime: Runtime[Limits]) -> dict[str, Any]:
        return opening(cast, described, state, limits_of(cast, state, runtime))

    return begin


def place(name: NodePlace, cast: Cast) -> Place:
    """The cast's node at a place of the graph."""
    node = sound(getattr(cast, name)) if name in VALIDATORS else getattr(cast, name)
    role: Role | None = SIDES.get(name)
    all_sides = isinstance(node, AsksSides)
    rewrites = name == "user_simulator" and behaves_by_rule(node)

    async def run(state: State, config: RunnableConfig, runtime: Runtime[Limits]) -> Any:
        limits = limits_of(cast, state, runtime)
        own = runtime if runtime.context is limits else runtime.override(context=limits)
        shown = as_today(state, role, shows_all=all_sides)
        forked = fork_of(name, shown) if shown.get("replays") else {}
        origin = _origin(state, forked)
        shown = cast_state({**shown, **forked})
        answer: Any = None
        if name in VALIDATORS and not shown.get("drafts"):
            answer = {}  # the speaker ended the conversation without a word, or said nothing
        elif shown.get("stop") and not (name == "closing" or shown.get("drafts")):
            answer = {}
        if answer is None:
            answer = recorded_update(name, shown)
        if answer is None:
            if role is not None:
                shown = seen_by(role, shown)
            shown.pop("replays", None)
            if name in SPEAKERS:
                await before_draft(limits)
            try:
                answer = await _called(node, shown, state, config, own)
                if rewrites:
                    answer = behaving(answer, shown)
                if name == "closing":
                    answer = await with_success_of_scenario(answer, shown, own)
            except Exception:
                if name in SPEAKERS:
                    await put_back(limits)
                raise
        command = answer if isinstance(answer, Command) else None
        if command is not None:
            if command.goto and command.goto != END:
                raise ContractError(
                    f"{name}: goto={command.goto!r}: a cast's node may only go to END; a further node goes elsewhere "
                    "(graphs.builder(cast, after=...))"
                )
            answer = {**(command.update or {})}
            if command.goto == END:
                answer.setdefault("stop", "user_ended" if role == "user" else "assistant_ended")
        update = check_update(name, answer, shown, cast.own_reasons)
        settled = await _settled(name, role, cast, state, update, limits)
        return settled | origin

    return run


def limits_of(cast: Cast, state: State, runtime: Runtime[Limits]) -> Limits:
    """The limits of the context; without one those that the conversation began with, or the cast's."""
    if runtime.context is not None:
        return runtime.context.or_else(cast.limits)
    stored = state.get("origin", {}).get("limits")
    return Limits(**stored) if stored else cast.limits


async def _called(node: Any, shown: TodaysState, state: State, config: RunnableConfig, runtime: Runtime[Limits]) -> Any:
    """The node's answer: a Runnable's, or a function's with what its parameters are named after."""
    if isinstance(node, Runnable):
        return await node.ainvoke(state, config)
    names = inspect.signature(node).parameters
    given: Mapping[str, Any] = {"config": config, "runtime": runtime, "writer": runtime.stream_writer, "store": runtime.store}
    answer = node(shown, **{name: value for name, value in given.items() if name in names})
    return await answer if inspect.isawaitable(answer) else answer


async def _settled(
    name: NodePlace, role: Role | None, cast: Cast, state: State, update: Update, limits: Limits
) -> dict[str, Any]:
    """The node's update as the graph's own."""
    if name in VALIDATORS:
        assert role is not None
        before = len(state.get("messages", []))
        settled = after_validator(role, cast, state, update.get("verdicts", []), update.get("stop"), limits)
        if state.get("drafts") and not settled.get("messages") and before >= 0:
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
        raise NodeFailed(name, redacted(error), failed, frames=update.get("frames"), fault=fault)
    if "memory" in update and drafts:
        drafts[0] = {**drafts[0], "memory": update["memory"]}
    speaker = getattr(cast, name)
    prompted = speaker.prompted if isinstance(speaker, PromptedSpeaker) else True
    if callable(prompted):
        prompted = prompted(as_today(state, role))
    changed: dict[str, Any] = {"drafts": drafts, "verdicts": [], "stop": update.get("stop") or state.get("stop")}
    return changed if prompted else {**changed, "prompt": None}


def _origin(state: State, forked: Mapping[str, Any]) -> dict[str, Any]:
    if not forked:
        return {}
    origin = {key: value for key, value in state["origin"].items() if key != "replays"}
    return {"origin": {**origin, "forks": forked["forks"]}}


def cast_state(values: Mapping[str, Any]) -> TodaysState:
    """A copy that may be changed."""
    return cast(TodaysState, dict(values))


__all__ = ["awaits_answer", "current", "limits_of", "opening_place", "place"]
