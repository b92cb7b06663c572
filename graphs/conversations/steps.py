"""Steps: what the graph does around the node of each place, the same for every cast.

A step opens the conversation and gives the node its limits and its role's memory. It checks the answer, turns an
exception into a recorded failure, and keeps the trace.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from copy import deepcopy
from functools import cache, partial
from time import perf_counter
from traceback import format_exception
from typing import Any, cast

from langgraph.runtime import Runtime

from ...data.packages import frames_of
from ...data.provenance import SIDES
from ...data.records import Role
from ...data.summaries.executed_graph import SPEAKERS, VALIDATORS
from ...nodes.behaviours.rewriting import behaves_by_rule, behaving
from ...nodes.calls.service import current
from ...nodes.contract import AsksSides, ContractError, PromptedSpeaker, check_update
from ...nodes.limits import Limits
from ...nodes.models.faults import is_crash
from ...nodes.scorers.scenario_success import with_success_of_scenario
from ...nodes.scorers.scores import total
from ...nodes.settings.redaction import error_line, redacted
from ...nodes.speakers.approval import ApprovalError
from ...nodes.state import MEMORIES, NodePlace, State, Update, awaits_answer, merged, seen_by
from ...nodes.validators.flaws import sound
from ...nodes.worlds import WorldError, before_draft, put_back
from ..casts.cast import Cast
from .beginning import of_cast, opening
from .conversation_graph import Step
from .regeneration import after_validator, stop_of, unsaid
from .replaying import fork_of, recorded_update
from .trace import timed, walked

log = logging.getLogger(__name__)

_OTHERS = MEMORIES - {"memories"}

Settle = Callable[[State, Update, Limits], dict[str, Any]]
"""From state, a node's update and the limits to the changes of the state."""


def step(place: NodePlace, cast: Cast) -> Step:
    """The step of a place with the cast's node in it."""
    node = sound(getattr(cast, place)) if place in VALIDATORS else getattr(cast, place)
    settle = _settle(place, cast)
    call_node = _call_of(place, node)
    asks_sides = isinstance(node, AsksSides)
    own_reasons = cast.own_reasons
    described = cache(partial(of_cast, cast))

    async def run(state: State, runtime: Runtime[Limits]) -> State:
        limits = (runtime.context or cast.limits).or_else(cast.limits)
        opened = _opened(place, state, cast, limits, described)
        state = merged(state, opened)
        began = perf_counter()
        answer: Update = {}
        failure: dict[str, Any] = {}
        if place == "user_simulator" and awaits_answer(state):
            answer = {"drafts": []}  # the first messages end with a question: the assistant is to answer it
        elif place == "closing" or _is_due(state):
            try:
                shown = _shown(place, state, asks_sides=asks_sides)
                own = runtime if runtime.context is limits else runtime.override(context=limits)
                if place in SPEAKERS:
                    await before_draft(limits)
                taken = recorded_update(place, state)
                update, lost = (taken, None) if taken else await call_node(node, shown, own)
                answer = check_update(place, update, state, own_reasons)
                if error := answer.get("failed") or lost:
                    crashed = bool(answer.get("crashed"))
                    failure = _failed(place, error, answer.get("frames", []), state, crashed=crashed)
                    state = merged(state, failure)
            except ContractError:
                raise
            except (WorldError, ApprovalError) as error:  # of the test's own code
                if isinstance(error, ApprovalError):
                    answer = {"drafts": list(error.drafts)}
                failure = {"failure": failure_of("approve" if answer else "world", error)}
                state = merged(state, failure)
            except (Exception, SystemExit) as error:  # of code that ends its process
                log.debug("%s failed: %s", place, redacted("".join(format_exception(error))))
                failure = {"failure": _blamed(place, failure_of(place, error), crashed=is_crash(error))}
                state = merged(state, failure)
        settled = settle(state, answer, limits)
        # What is not said has not happened.
        if (failure and place in SPEAKERS) or (place in VALIDATORS and unsaid(state, settled)):
            try:
                await put_back(limits)
            except WorldError as error:
                failure = {"failure": failure_of("world", error)}
                settled = settle(merged(state, failure), answer, limits)
        trace = walked(state, place) | timed(state, place, perf_counter() - began)
        return _changes(opened | failure | settled | trace)

    return run


def _call_of(place: NodePlace, node: object) -> Callable[..., Awaitable[tuple[Any, str | None]]]:
    if place == "closing":
        return _run_closing
    return _run_behaving if place == "user_simulator" and behaves_by_rule(node) else _run_node


async def _run_node(node: Any, shown: State, own: Runtime[Limits]) -> tuple[Any, str | None]:
    """The node's update; a call without a reply is the node's own affair."""
    return await node(shown, own), None


async def _run_behaving(node: Any, shown: State, own: Runtime[Limits]) -> tuple[Any, str | None]:
    """As `_run_node`, and the drafts as a user with the conversation's behaviours writes them."""
    update, lost = await _run_node(node, shown, own)
    return behaving(update, shown), lost


async def _run_closing(node: Any, shown: State, own: Runtime[Limits]) -> tuple[Any, str | None]:
    """The closing node's update, with the success that the scenario declares, and the first call that got no reply.

    What is asked after the end keeps an error in an answer's place: it can be asked again.
    """
    with current().active() as calls:
        calls.lost.pop(str(shown.get("id", "")), None)  # of calls before, whose errors a node has caught
        update = await node(shown, own)
        if isinstance(update, dict):
            update = await with_success_of_scenario(cast(Update, update), shown, own)
    return update, calls.lost.pop(str(shown.get("id", "")), None)


def failure_of(node: str, error: BaseException) -> dict[str, Any]:
    """The failure to record of an error that a node raised: its line, and its places in one's own code."""
    return _with_frames({"node": node, "error": error_line(error, placed=True)}, frames_of(error))


def _failed(place: NodePlace, error: str, frames: Sequence[str], state: State, *, crashed: bool) -> dict[str, Any]:
    """The failure to record; the first one of a conversation stays."""
    if state.get("failure"):
        return {}
    failure = _with_frames({"node": place, "error": redacted(error)}, frames)
    return {"failure": _blamed(place, failure, crashed=crashed)}


def _blamed(place: NodePlace, failure: dict[str, Any], *, crashed: bool) -> dict[str, Any]:
    """The failure with its fault: that of the side whose own code crashed, an endpoint's that this code called."""
    if crashed:
        return failure | ({"fault": SIDES[place]} if place in SPEAKERS else {})
    return failure | ({"fault": "infrastructure"} if "frames" in failure else {})


def _with_frames(failure: dict[str, Any], frames: Sequence[str]) -> dict[str, Any]:
    return failure | {"frames": list(frames)} if frames else failure


def _shown(place: NodePlace, state: State, *, asks_sides: bool) -> State:
    """The state as a node sees it: its own side's memory and private details, not the other's.

    Its lists and objects, and each message, are copies of one level: what a node adds to them or sets in them in place
    has not happened. Deeper values are shared, because a copy of them for each node would cost more than the rest of
    the step.
    """
    hidden = _OTHERS if asks_sides else MEMORIES
    if place in SIDES:
        state = seen_by(SIDES[place], state)
    shown: dict[str, Any] = {
        key: value.copy() if isinstance(value, (dict, list)) else value
        for key, value in state.items()
        if key not in hidden
    }
    shown["messages"] = [message.copy() for message in state.get("messages", [])]
    if place in SIDES:
        # A copy: only what a node answers changes the memory, not what it does to this object.
        memory = state.get("memories", {}).get(SIDES[place])
        shown["memory"] = deepcopy(memory) if memory else {}
    return cast(State, shown)


def _is_due(state: State) -> bool:
    """Whether the node has work: not after a failure; after a stop only if drafts are left to judge."""
    return not state.get("failure") and (not state.get("stop") or bool(state.get("drafts")))


def _changes(values: Mapping[str, Any]) -> State:
    return cast(State, values)


def _opened(
    place: NodePlace, state: State, cast: Cast, limits: Limits, described: Callable[[], Mapping[str, Any]]
) -> dict[str, Any]:
    """The opening of a new conversation, or its other limits now; and the fork of a replay."""
    opened: dict[str, Any] = {}
    provenance = state.get("provenance")
    if provenance is None:
        opened = opening(state, cast, limits, described())
    elif provenance["limits"] != (plain := limits.plain()):
        opened = {"provenance": provenance | {"limits": plain}}
    return opened | fork_of(place, merged(state, opened)) if state.get("replays") else opened


def _settle(place: NodePlace, cast: Cast) -> Settle:
    match place:
        case "user_prompt_selector" | "assistant_prompt_selector":
            return partial(_after_selector, SIDES[place])
        case "user_simulator" | "assistant":
            speaker = getattr(cast, place)
            return partial(
                _after_speaker, SIDES[place], speaker.prompted if isinstance(speaker, PromptedSpeaker) else True
            )
        case "question_validator" | "answer_validator":
            return partial(after_validator, SIDES[place], cast)
        case "turn_recorder":
            return partial(_after_recorder, cast)
        case "closing":
            return _after_closing


def _after_selector(role: Role, state: State, update: Update, limits: Limits) -> dict[str, Any]:
    changed: dict[str, Any] = {"speaking": role, "prompt": update.get("prompt")}
    if "memory" in update:
        changed["memories"] = {**state.get("memories", {}), role: update["memory"]}
    return changed


def _after_speaker(
    role: Role, prompted: bool | Callable[[State], bool], state: State, update: Update, limits: Limits
) -> dict[str, Any]:
    stop = update.get("stop") or state.get("stop")  # the opening may have set one already
    changed: dict[str, Any] = {"drafts": list(update.get("drafts", [])), "verdicts": [], "way": None, "stop": stop}
    changed["pending_memory"] = update.get("memory")  # becomes the memory once the drafts are accepted
    if callable(prompted):
        prompted = prompted(merged(state, {"memory": state.get("memories", {}).get(role, {})}))
    return changed if prompted else {**changed, "prompt": None}


def _after_recorder(cast: Cast, state: State, update: Update, limits: Limits) -> dict[str, Any]:
    changed: dict[str, Any] = {"turn": state.get("turn", 0) + 1, "speaking": None}
    if "labels" in update:
        changed["labels"] = {**state.get("labels", {}), **update["labels"]}
    stop = stop_of(cast, state, changed, update.get("stop"), limits)
    return changed | {"stop": stop, "way": "stop" if stop else "continue"}


def _after_closing(state: State, update: Update, limits: Limits) -> dict[str, Any]:
    changed: dict[str, Any] = {}
    if "labels" in update:
        changed["labels"] = {**state.get("labels", {}), **update["labels"]}
    if "usage" in update:
        changed["closing_usage"] = total([state.get("closing_usage"), update["usage"]])
    return changed
