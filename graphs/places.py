"""What the graph does around a cast's node at its place: it shows the state, calls, settles, and answers an update."""

from collections.abc import Mapping
from typing import Any, TypeAlias
from typing import cast as typed

from langchain_core.runnables import RunnableConfig
from langgraph.graph import END
from langgraph.runtime import Runtime
from langgraph.types import Command

from ..data.packages import frames_of
from ..data.provenance import SIDES
from ..data.records import Role
from ..data.summaries.executed_graph import SPEAKERS, VALIDATORS
from ..nodes.calls.service import current
from ..nodes.contract import ContractError, PromptedSpeaker, check_update
from ..nodes.limits import Limits
from ..nodes.node_forms import node_of, spoken
from ..nodes.scorers.success import with_success_of_scenario
from ..nodes.settings.redaction import error_line
from ..nodes.speakers.approval import ApprovalError
from ..nodes.state import Draft, NodePlace, State, Update, after, id_of, merged
from ..nodes.validators import sound
from ..nodes.worlds import Context, before_draft, stands
from .casts.cast import Cast
from .failures import NodeError, failure_of, of_node, undone
from .opening import of_cast, opening
from .records import unjudged
from .replaying import fork_of, recorded_update, without_record
from .verdicts import after_validator, stop_of

Place: TypeAlias = Any
"""A node of LangGraph, `async (state, config, runtime)`, for which it has no type."""


def opening_place(cast: Cast, further: Mapping[str, object]) -> Place:
    """The place where a conversation begins; `further`: nodes beside those of the cast."""
    described = of_cast(cast, further)

    async def begin(state: State, config: RunnableConfig, runtime: Runtime[Limits]) -> dict[str, Any]:
        limits = limits_of(cast, state, runtime)
        update = opening(cast, described, state, limits)
        if update and isinstance(limits, Context):
            limits.began.add(update["origin"]["id"])
        return update

    return begin


def place(name: NodePlace, cast: Cast) -> Place:
    """The cast's node at a place of the graph: it is shown the state, called, and its answer settled.

    What it raises passes; what a draft did that is not said is undone first.
    """
    node = node_of(cast.nodes[name])
    node = sound(node) if name in VALIDATORS else node
    role: Role | None = SIDES.get(name)

    async def run(state: State, config: RunnableConfig, runtime: Runtime[Limits]) -> dict[str, Any]:
        limits = limits_of(cast, state, runtime)
        if isinstance(limits, Context) and cast.world is not None and state["origin"]["id"] not in limits.began:
            raise ContractError(
                "a conversation cannot go on from a checkpoint in another world, "
                "which does not have what its tools did: simulate it anew"
            )
        own = runtime if runtime.context is limits else runtime.override(context=limits)
        shown, origin = _shown(name, role, state, limits)
        answer: Any = None
        waits = bool(shown.get("drafts"))
        if name != "closing" and shown.get("stop") and not waits:
            answer = {}  # the conversation is ended
        if answer is None:
            if name in SPEAKERS:
                await before_draft(limits)
            answer = recorded_update(name, shown)
        if answer is None:
            answer = await _answer(name, node, without_record(shown), own)
        update = check_update(name, answer, state, cast.own_reasons)
        return await _settled(name, role, cast, state, update, limits) | origin

    return run


def _shown(name: NodePlace, role: Role | None, state: State, limits: Limits) -> tuple[State, dict[str, Any]]:
    """The state as the node reads it, with its side, and the change of the origin.

    That changes where a replay leaves its record here, and where a conversation goes on under other limits.
    """
    before = origin = state["origin"]
    if origin["limits"] != (plain := limits.plain()):
        origin = origin | {"limits": plain}
    # What a node writes into a list by mistake must not change the conversation.
    copied = {"scenario": dict(state["scenario"]), "messages": [*state["messages"]], "attempts": [*state["attempts"]]}
    drafts = [_without_memory(draft) for draft in state.get("drafts") or []]
    shown = merged(state, {**copied, "drafts": drafts, "origin": origin, "speaking": role})
    if forks := fork_of(name, shown):
        origin = {key: value for key, value in origin.items() if key != "replays"} | {"forks": forks}
        shown = merged(shown, {"origin": origin})
    return shown, {} if origin is before else {"origin": origin}


def _without_memory(draft: Draft) -> Draft:
    """The draft without the memory that waits in it until it is accepted."""
    return typed(Draft, {key: value for key, value in draft.items() if key != "memory"})


async def _answer(
    name: NodePlace,
    node: Any,
    shown: State,
    runtime: Runtime[Limits],
) -> Any:
    """What the node answers; at the end with the success of the scenario."""
    role = SPEAKERS.get(name)
    try:
        if name == "closing":
            return await _closed(node, shown, runtime)
        answer = await spoken(name, _without_command(name, await node(shown, runtime)))
    except (Exception, SystemExit) as error:
        told = _told(name, role, shown, error)
        if role is not None:
            await undone(runtime.context, told.update if isinstance(told, NodeError) else {})
        if told is error:
            raise
        raise told from error
    return answer


def _told(name: NodePlace, role: Role | None, state: State, error: Exception | SystemExit) -> Exception:
    """What the graph raises of an error: the error itself, or a NodeError of one that needs more said."""
    if isinstance(error, ApprovalError):
        tried = {"attempts": unjudged(state, error.drafts, role), "drafts": None} if role else {}
        return NodeError(failure_of("approve", error), tried)
    if isinstance(error, SystemExit):  # it would end this process, and not its own conversation alone
        return NodeError(of_node(name, error_line(error, placed=True), frames_of(error), crashed=True), {})
    return error


async def _closed(
    node: Any,
    shown: State,
    runtime: Runtime[Limits],
) -> Any:
    """The closing node's update, with the success that the scenario declares; NodeError if a call got no reply.

    What is asked after the end keeps an error in an answer's place: it can be asked again.
    """
    name = id_of(shown)
    with current().active() as calls:
        calls.lost.pop(name, None)  # of calls before, whose errors a node has caught
        update = await spoken("closing", _without_command("closing", await node(shown, runtime)))
        if isinstance(update, dict):
            update = await with_success_of_scenario(typed(Update, update), shown, runtime)
        lost = calls.lost.pop(name, None)
    if lost is not None:
        raise NodeError(of_node("closing", lost), _after_closing(update))
    return update


def _after_closing(update: Update) -> dict[str, Any]:
    closed: dict[str, Any] = {"labels": update.get("labels", {})}
    if "usage" in update:
        closed["attempts"] = [{"role": "closing", "at": -1, "verdict": "accepted", "usage": update["usage"]}]
    return closed


def _without_command(name: NodePlace, answer: Any) -> Any:
    """The update of a Command, which may only go to the end."""
    if not isinstance(answer, Command):
        return answer
    if answer.goto and answer.goto != END:
        raise ContractError(
            f"{name}: goto={answer.goto!r}: a cast's node may only go to END; elsewhere goes a further one: graphs.builder(cast, after=...)"
        )
    ended = {"stop": "user_ended"} if answer.goto == END and name != "closing" else {}
    return ended | dict(answer.update or {})


def limits_of(cast: Cast, state: State, runtime: Runtime[Limits]) -> Limits:
    """The limits of the context; without one those that the conversation began with, or the cast's.

    ContractError if the cast has a world, and the context none.
    """
    if cast.world is not None and not isinstance(runtime.context, Context):
        raise ContractError("the cast has a world: async with world(cast, state) as context, and give context=context")
    if runtime.context is not None:
        return runtime.context.or_else(cast.limits)
    stored = state.get("origin", {}).get("limits")
    return Limits(**stored) if stored else cast.limits


async def _settled(
    name: NodePlace, role: Role | None, cast: Cast, state: State, update: Update, limits: Limits
) -> dict[str, Any]:
    """The node's update as the graph's own."""
    if role is None:
        return _after_turn(cast, state, update, limits) if name == "turn_recorder" else _after_closing(update)
    if name in VALIDATORS:
        return await _judged(role, cast, state, update, limits)
    if name not in SPEAKERS:
        return _selected(role, state, update)
    try:
        return _spoken(role, cast, name, state, update)
    except NodeError as error:
        await undone(limits, error.update)
        raise


def _selected(role: Role, state: State, update: Update) -> dict[str, Any]:
    selected: dict[str, Any] = {"prompt": update.get("prompt"), "stop": update.get("stop") or state.get("stop")}
    return selected | ({"memory": {role: update["memory"]}} if "memory" in update else {})


async def _judged(role: Role, cast: Cast, state: State, update: Update, limits: Limits) -> dict[str, Any]:
    judged = after_validator(role, cast, state, update.get("verdicts", []), update.get("stop"), limits)
    tried = judged["attempts"]
    is_said = any("message" in attempt and attempt["verdict"] != "fallback" for attempt in tried)
    if is_said or not state.get("drafts"):
        stands(limits)
    else:  # what is not said has not happened
        await undone(limits, {"attempts": tried, "drafts": None})
    return judged


def _after_turn(cast: Cast, state: State, update: Update, limits: Limits) -> dict[str, Any]:
    changed: dict[str, Any] = {"turn": state.get("turn", 0) + 1}
    if "labels" in update:
        changed["labels"] = update["labels"]
    return changed | {"stop": update.get("stop") or stop_of(cast, after(state, changed), limits)}


def _spoken(role: Role, cast: Cast, name: NodePlace, state: State, update: Update) -> dict[str, Any]:
    drafts: list[Any] = list(update.get("drafts", []))
    if error := update.get("failed"):
        failure = of_node(name, error, update.get("frames", ()), crashed=bool(update.get("crashed")))
        raise NodeError(failure, {"attempts": unjudged(state, drafts, role), "drafts": None})
    remembered: dict[str, Any] = {}
    if "memory" in update and drafts:
        drafts[0] = {**drafts[0], "memory": update["memory"]}  # counts if it is said
    elif "memory" in update:
        remembered = {"memory": {role: update["memory"]}}
    speaker = cast.nodes[name]
    prompted = speaker.prompted if isinstance(speaker, PromptedSpeaker) else True
    if callable(prompted):
        prompted = prompted(merged(state, {"speaking": role}))
    stop = update.get("stop") or state.get("stop")
    changed: dict[str, Any] = {"drafts": drafts, "verdicts": [], "stop": stop} | remembered
    return changed if prompted else {**changed, "prompt": None}
