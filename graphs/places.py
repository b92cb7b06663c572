"""What the graph does around a node at its place: it shows the state, calls, settles, and answers an update.

Of a validator's verdicts follows that drafts become messages, that the speaker is asked again, or that it all ends.

`place` is for the nodes of a cast, `further_place` for those that stand beside them, such as a moderator.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from time import perf_counter  # noqa: TID251 - how long a call took is recorded, and nothing depends on it
from typing import Any, Literal, TypeAlias
from typing import cast as typed

from langchain_core.messages import BaseMessage, HumanMessage, RemoveMessage, convert_to_messages
from langchain_core.runnables import RunnableConfig
from langgraph.graph import END
from langgraph.runtime import Runtime
from langgraph.types import Command

from ..data.behaviours import behaviours_in
from ..data.executed_graph import SPEAKER_OF, SPEAKERS, VALIDATOR_OF, VALIDATORS
from ..data.identity import digest
from ..data.records import SIDES, Role
from ..nodes.attachments import why_empty
from ..nodes.calls.service import current
from ..nodes.contract import (
    AnyNode,
    ContractError,
    as_update,
    check_labels,
    check_node,
    check_reason,
    check_update,
    node_of,
)
from ..nodes.limits import Limits
from ..nodes.models.faults import CUT_OFF, EMPTY
from ..nodes.speakers.questions import ApprovalError
from ..nodes.state import (
    OF_A_MESSAGE,
    Attempt,
    Draft,
    NodePlace,
    State,
    Update,
    Verdict,
    after,
    attempt_number,
    chat_message,
    id_of,
    merged,
    placed,
    rejected,
    repeats,
)  # fmt: skip
from ..nodes.success import KEY, with_success_of_scenario
from ..nodes.validators import sound
from ..nodes.worlds import NOT_ASKED_AGAIN, NOT_UNDONE, Context, before_draft, keep_changes, lasting, restorable
from .casts.cast import Cast, asked_by
from .records import NodeFailedError, attempts_of, blamed, failure_of, of_cast, opening, restore_world, unjudged
from .replaying import fork_of, recorded_update, without_record
from .scenarios.sources import scripted_update

_OF_FURTHER = ("messages", "stop", "labels")


def opening_place(cast: Cast, further: Mapping[str, Mapping[str, object]]) -> Any:
    """The place where a conversation begins; `further`: nodes beside those of the cast, by those after which they stand."""
    described = of_cast(cast, further)

    async def begin(state: State, config: RunnableConfig, runtime: Runtime[Limits]) -> dict[str, Any]:
        goes_on = state.get("origin", {}).get("data") == digest(state.get("scenario"))
        limits = _limited(cast, state if goes_on else typed(State, {}), runtime).context
        update = opening(cast, described, state, limits)
        if update.get("stop"):
            update["origin"]["stopped_at"] = "opening"
        if update and isinstance(limits, Context):
            limits.began.add(update["origin"]["id"])
        return update

    return begin


def place(name: NodePlace, cast: Cast) -> Any:
    """The cast's node at a place of the graph: it is shown the state, called, and its answer settled.

    What it raises passes; what a draft did that is not said is undone first.
    """
    node = node_of(cast.nodes[name])
    node = sound(node) if name in VALIDATORS else node
    role: Role | None = SIDES.get(name)

    async def run(state: State, config: RunnableConfig, runtime: Runtime[Limits]) -> dict[str, Any]:
        own = _limited(cast, state, runtime)
        limits = own.context
        if isinstance(limits, Context) and cast.world is not None and id_of(state) not in limits.began:
            raise ContractError(
                "a conversation cannot go on from a checkpoint in another world, "
                "which does not have what its tools did: simulate it anew"
            )
        shown, origin = _shown(name, role, state, limits)
        replays, answer, began = shown["origin"].get("replays"), typed(Any, {}), perf_counter()
        if name == "closing" or not shown.get("stop") or shown.get("drafts"):  # else the conversation is over
            if name in SPEAKERS:
                await before_draft(limits)
            answer = recorded_update(name, shown) if replays else None
            if answer is None:
                answer = scripted_update(name, shown)
            if answer is None:
                answer = await _answer(name, node, without_record(shown) if replays else shown, own)
        update = check_update(name, answer, state, cast.own_reasons)
        if name in SPEAKERS and update.get("drafts"):
            first, *others = update["drafts"]
            timed = typed(Draft, {**first, "seconds": round(perf_counter() - began, 3)})
            update = typed(Update, {**update, "drafts": [timed, *others]})
        settled = await _settled(name, role, cast, state, update, limits)
        if settled.get("stop"):
            origin = {"origin": {**shown["origin"], "stopped_at": name}}
        return settled | origin

    return run


def further_place(name: str, node: object, cast: Cast, goes_on: str, nodes: Collection[str]) -> Any:
    """The place of a further node, which is any LangGraph node: it reads the graph's own state.

    It answers None, a text or a message, which is said in its name, or an update with `messages`, `stop` and `labels`;
    as a `Command` also with a `goto`: to the end of the conversation for the reason `user_ended`, if it gives none.
    `nodes`: those of the graph. Messages of the state that it answers, as a compiled graph does, are not said again.
    """
    check_node(name, node)
    call = AnyNode(node)

    async def run(state: State, config: RunnableConfig, runtime: Runtime[Limits]) -> Command[Any]:
        try:
            answer: Any = await call(state, _limited(cast, state, runtime))
        except SystemExit as error:  # it would end this process, and not its own conversation alone
            raise NodeFailedError(failure_of(name, error), {}) from error
        goto: Any = answer.goto if isinstance(answer, Command) else None
        update = _of_further(name, answer.update if isinstance(answer, Command) else answer, state, cast)
        ways = list(goto) if isinstance(goto, (list, tuple)) else [goto] if goto else []
        ways = ["closing" if way == END else way for way in ways or [END if update.get("stop") else goes_on]]
        if wrong := [way for way in ways if not isinstance(way, str) or way not in nodes]:
            raise ContractError(f"{name}: goto: expected a node of the graph or END, got {wrong[0]!r}")
        if "closing" in ways and not update.get("stop") and not state.get("stop"):
            update["stop"] = "user_ended"
        if update.get("stop"):
            update["origin"] = {**state["origin"], "stopped_at": name}
        return Command(update=update, goto=ways)

    return run


def _limited(cast: Cast, state: State, runtime: Runtime[Limits]) -> Runtime[Limits]:
    """The runtime with limits: the context's; without one those that the conversation began with, or the cast's.

    ContractError if the cast has a world, and the context none.
    """
    if cast.world is not None and not isinstance(runtime.context, Context):
        raise ContractError("the cast has a world: async with world(cast, state) as context, and give context=context")
    if not isinstance(runtime.context, Limits | None):
        raise ContractError(
            f"context: expected Limits(...) or a class of its kind, got {type(runtime.context).__name__}"
        )
    if runtime.context is not None:
        limits = runtime.context.or_else(cast.limits)
    else:
        stored = state.get("origin", {}).get("limits")
        limits = Limits(**stored) if stored else cast.limits
    return runtime if runtime.context is limits else runtime.override(context=limits)


def _shown(name: NodePlace, role: Role | None, state: State, limits: Limits) -> tuple[State, dict[str, Any]]:
    """The state as the node reads it, with its side, and the change of the origin.

    That changes where a replay leaves its record here, and where a conversation goes on under other limits.
    """
    before = origin = state["origin"]
    if origin["limits"] != (plain := limits.plain()):
        origin = origin | {"limits": plain}
    # What a node writes into a list by mistake must not change the conversation. A memory waits in its draft.
    copied = {"scenario": dict(state["scenario"]), "messages": [*state["messages"]], "attempts": [*state["attempts"]]}
    drafts = [{key: one[key] for key in one if key != "memory"} for one in typed(list[Any], state.get("drafts") or [])]
    shown = merged(state, {**copied, "drafts": drafts, "origin": origin, "speaking": role})
    if origin.get("replays") and (forks := fork_of(name, shown)):
        origin = {key: value for key, value in origin.items() if key != "replays"} | {"forks": forks}
        shown = merged(shown, {"origin": origin})
    return shown, {} if origin is before else {"origin": origin}


async def _answer(name: NodePlace, node: Any, shown: State, runtime: Runtime[Limits]) -> Any:
    """What the node answers; at the end with the success of the scenario."""
    role = SPEAKERS.get(name)
    try:
        if name == "closing":
            return await _closed(node, shown, runtime)
        return await as_update(name, _without_command(name, await node(shown, runtime)))
    except (Exception, SystemExit) as error:
        told: Exception | SystemExit = error
        if isinstance(error, ApprovalError):
            told = NodeFailedError(failure_of("approve", error), {})
        elif isinstance(error, SystemExit):  # it would end this process, and not its own conversation alone
            told = NodeFailedError(blamed(name, failure_of(name, error), crashed=True), {})
        if role is not None:
            await restore_world(runtime.context, told.update if isinstance(told, NodeFailedError) else {})
        if told is error:
            raise
        raise told from error


async def _closed(node: Any, shown: State, runtime: Runtime[Limits]) -> Any:
    """The closing node's update, with the success that the scenario declares; NodeFailedError if a call got no reply.

    What is asked after the end keeps an error in an answer's place: it can be asked again.
    """
    name = id_of(shown)
    with current().active() as calls:
        calls.lost.pop(name, None)  # of calls before, whose errors a node has caught
        update = await as_update("closing", _without_command("closing", await node(shown, runtime)))
        asks = KEY in shown["scenario"] or behaviours_in(shown["scenario"], shown.get("extra"))
        if asks and isinstance(update, dict):
            update = await with_success_of_scenario(typed(Update, update), shown, runtime)
        lost = calls.lost.pop(name, None)
    if lost is not None:
        raise NodeFailedError(failure_of("closing", lost), _after_closing(update))
    return update


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


async def _settled(
    name: NodePlace, role: Role | None, cast: Cast, state: State, update: Update, limits: Limits
) -> dict[str, Any]:
    """The node's update as the graph's own."""
    if role is None:
        return _after_turn(cast, state, update, limits) if name == "turn_recorder" else _after_closing(update)
    if name in VALIDATORS:
        return await _judged(role, cast, state, update, limits)
    if name in SPEAKERS:
        return await _drafted(name, role, cast, state, update, limits)
    selected: dict[str, Any] = {"prompt": update.get("prompt"), "stop": update.get("stop") or state.get("stop")}
    return selected | ({"memory": {role: update["memory"]}} if "memory" in update else {})


async def _drafted(
    name: NodePlace, role: Role, cast: Cast, state: State, update: Update, limits: Limits
) -> dict[str, Any]:
    drafts: list[Draft] = list(update.get("drafts", []))
    if error := update.get("failed"):
        failure = blamed(name, failure_of(name, error, update.get("frames", ())), crashed=bool(update.get("crashed")))
        tried = {"attempts": unjudged(state, drafts, role), "drafts": None}
        await restore_world(limits, tried)
        raise NodeFailedError(failure, tried)
    stop = update.get("stop") or state.get("stop")
    changed: dict[str, Any] = {"drafts": drafts, "verdicts": [], "stop": stop}
    if "memory" in update and drafts:
        drafts[0] = typed(Draft, {**drafts[0], "memory": update["memory"]})  # counts if it is said
    elif "memory" in update:
        changed["memory"] = {role: update["memory"]}
    speaker = cast.nodes[name]
    prompted = getattr(speaker, "prompted", True)  # whether the selector's prompt is sent to it, always or in a state
    if callable(prompted):
        prompted = prompted(merged(state, {"speaking": role}))
    return changed if prompted else {**changed, "prompt": None}


async def _judged(role: Role, cast: Cast, state: State, update: Update, limits: Limits) -> dict[str, Any]:
    judged = after_validator(role, cast, state, update.get("verdicts", []), update.get("stop"), limits)
    tried = judged["attempts"]
    is_said = any("message" in attempt and attempt["verdict"] != "fallback" for attempt in tried)
    if is_said or not state.get("drafts"):
        keep_changes(limits)
    else:  # what is not said has not happened
        await restore_world(limits, {"attempts": tried, "drafts": None})
    return judged


def _after_turn(cast: Cast, state: State, update: Update, limits: Limits) -> dict[str, Any]:
    changed: dict[str, Any] = {"turn": state.get("turn", 0) + 1}
    if "labels" in update:
        changed["labels"] = update["labels"]
    return changed | {"stop": update.get("stop") or cast.why_stops(after(state, changed), limits)}


def _after_closing(update: Update) -> dict[str, Any]:
    closed: dict[str, Any] = {"labels": update.get("labels", {})}
    if "usage" in update:
        closed["attempts"] = [{"role": "closing", "at": -1, "verdict": "accepted", "usage": update["usage"]}]
    return closed


def _of_further(name: str, answer: Any, state: State, cast: Cast) -> dict[str, Any]:
    """What the graph takes of a further node's answer; ContractError for anything else."""
    if isinstance(answer, (str, BaseMessage)):
        answer = {"messages": [answer]}
    if not isinstance(answer, Mapping) and answer is not None:
        raise ContractError(f"{name}: expected a text, a message or an update, got {type(answer).__name__}")
    update = dict(answer or {})
    if unknown := sorted(update.keys() - set(_OF_FURTHER)):
        raise ContractError(f"{name}: expected an update with {', '.join(_OF_FURTHER)}, got the key {unknown[0]!r}")
    if "stop" in update:
        check_reason(name, update["stop"], cast.own_reasons)
    check_labels(name, update)
    if "messages" in update:
        given = update["messages"]
        new = convert_to_messages(given if isinstance(given, list) else [given])
        if any(isinstance(one, RemoveMessage) for one in new):
            raise ContractError(
                f"{name}: expected messages to say, got a RemoveMessage: what was said stands in the record"
            )
        ours = {one.id for one in state["messages"]}
        before = f"{id_of(state)}:{name}:{len(state.get('attempts', []))}"
        update["messages"] = [
            HumanMessage(content=one.content, name=name, id=f"{before}:{len(state['messages']) + number}")
            for number, one in enumerate(one for one in new if one.id is None or one.id not in ours)
        ]
    return update


# What becomes of a judged reply


REPEATED = "repeated"
"""Reason of a draft in words that were rejected before, twice in this turn: the model is not asked again."""
SAME_WORDS = 3
"""Drafts in the same words after which a model is not asked again."""
End: TypeAlias = Literal["accepted", "stands", "regenerate", "unsaid", "fallback", "failed"]


def after_validator(
    role: Role, cast: Cast, state: State, verdicts: Sequence[Verdict], stop: str | None, limits: Limits
) -> dict[str, Any]:
    """The update after one judged reply, whose drafts stand in the state: messages, another attempt, or the end.

    The tools of a rejected draft may have changed something. The draft then stands, unless the conversation's world can
    be rolled back. A retry would do it twice, and the user would not see the first time. A draft that must never be
    sent ends the conversation there, or after the last attempt. NodeFailedError if a draft could not be judged, or all replies
    of a turn came without a word.
    """
    drafts = list(state.get("drafts") or [])
    stop = stop or state.get("stop")
    missing = len(drafts) - len(verdicts)  # the speaker stopped, or the validator did
    judged = [*verdicts, *[Verdict(accepted=True)] * missing]
    passed = all(verdict["accepted"] for verdict in judged)
    tried = attempts_of(role, state, drafts, judged, passed=passed)
    error = next(filter(None, (verdict.get("failed") for verdict in verdicts)), None)
    for attempt in tried if error else tried[len(tried) - missing :]:
        attempt["verdict"] = "unjudged"
    ended = bool(stop or error)
    tools = [] if passed or restorable(limits) else lasting(cast.nodes[SPEAKER_OF[role]], drafts, ended=ended)
    if tools:
        note = (NOT_UNDONE if ended else NOT_ASKED_AGAIN) + ", ".join(tools)
        tried = [attempt | {"notes": [*attempt.get("notes", []), note]} for attempt in tried]
    spent = not passed and _repeated(role, cast, state, tried)
    if error:
        raise NodeFailedError(failure_of(VALIDATOR_OF[role], error), {"attempts": tried, "drafts": None})
    end, stop = _end(role, cast, state, tried, judged, stop, limits, passed=passed, lasting=bool(tools), spent=spent)
    if end == "failed":
        raise _silence(role, cast, [*rejected(state, role), *tried], tried)
    if end == "regenerate":
        asked = after(state, {"attempts": tried, "drafts": None, "verdicts": judged})
        stop = cast.why_stops(asked, limits, role="user") if role == "user" else None
        if stop is None:
            return {"attempts": tried, "verdicts": judged}
    changed: dict[str, Any] = {"attempts": tried, "drafts": None, "verdicts": [], "prompt": None}
    if end in ("accepted", "stands"):
        if end == "stands":
            for attempt in tried:
                attempt["verdict"] = "observed"
            judged = [Verdict(accepted=True, observed=True)] * len(tried)
        changed |= _messages(role, state, drafts, judged, tried)
    elif end == "fallback":
        said: Attempt = {**placed(role, state), "number": 0, "text": cast.fallback or "", "verdict": "fallback"}
        accepted = [Verdict(accepted=True)]
        new = _messages(role, state, [Draft(text=said["text"])], accepted, [said], before=len(tried))
        changed |= {"messages": new["messages"], "attempts": [*tried, said]}
    if stop is None and role == "user":
        stop = cast.why_stops(after(state, changed), limits, role="user")
    return changed | {"stop": stop}


def _end(
    role: Role, cast: Cast, state: State, tried: list[Attempt], verdicts: Sequence[Verdict], stop: str | None,
    limits: Limits, *, passed: bool, lasting: bool, spent: bool,
) -> tuple[End, str | None]:  # fmt: skip
    """What becomes of a judged reply, and the stop reason, if it ends the conversation."""
    if passed:
        return "accepted", stop
    must = cast.when_rejected is None and any(verdict.get("must") for verdict in verdicts)
    never = role == "assistant" and (must or cast.when_rejected == "stop")
    at_last: tuple[End, str | None] = ("unsaid", "assistant_rejected") if never else ("stands", None)
    if lasting and not stop:
        return at_last
    most = limits.question_attempts if role == "user" else limits.answer_attempts
    if attempt_number(state, role) < most and not stop and not spent:
        return "regenerate", None
    earlier = rejected(state, role)
    if not stop and all(one.get("flaw") and why_empty(one) == EMPTY for one in [*earlier, *tried]):
        return "failed", None
    if role == "user" or stop:
        return "unsaid", stop or "user_rejected"
    if cast.fallback is not None and cast.when_rejected in (None, "fallback"):
        return "fallback", None
    return at_last


def _repeated(role: Role, cast: Cast, state: State, tried: list[Attempt]) -> bool:
    """Whether a model has said the same rejected words a third time: the reason is then that, and its rule a note."""
    asks = cast.vary_retries and asked_by(cast.nodes[SPEAKER_OF[role]]) is not None
    if not asks or repeats(after(state, {"attempts": tried}), role) < SAME_WORDS:
        return False
    for attempt in tried:
        rule = attempt.get("reason")
        attempt |= {"reason": REPEATED, "notes": [*attempt.get("notes", []), *([rule] if rule else [])]}
    return True


def _silence(role: Role, cast: Cast, attempts: list[Attempt], tried: list[Attempt]) -> NodeFailedError:
    """That a side could say nothing: the flaws of its replies with their numbers.

    A model that is asked for the user's messages is an endpoint's; the agent under test answers for its model.
    """
    flaws = Counter(attempt["flaw"] for attempt in attempts)
    counted = ", ".join(f"{number} {flaw}" for flaw, number in sorted(flaws.items()))
    own = role == "assistant" or getattr(cast.nodes["user_simulator"], "model", None) is None
    error = f"none of {len(attempts)} replies had a text: {counted}"
    if CUT_OFF in flaws and hasattr(asked_by(cast.nodes[SPEAKER_OF[role]]), "in_cast"):
        error += f" (a model that reasons spends its tokens before the first word: raise {role}_tokens, or ?max_tokens=N of the model)"
    failure = {"node": SPEAKER_OF[role], "error": error, "silent": True} | ({"fault": role} if own else {})
    return NodeFailedError(failure, {"attempts": tried, "drafts": None})


def _messages(
    role: Role,
    state: State,
    drafts: Sequence[Draft],
    verdicts: Sequence[Verdict],
    tried: list[Attempt],
    before: int = 0,
) -> dict[str, Any]:
    """The messages of accepted drafts, and the memory that the speaker wrote with them."""
    origin, count = state["origin"], len(state.get("attempts", [])) + before
    messages = []
    for number, (draft, verdict, attempt) in enumerate(zip(drafts, verdicts, tried, strict=True)):
        said: dict[str, Any] = {"role": role, "text": verdict.get("text", draft["text"])}
        if spans := verdict.get("spans", draft.get("spans", [])):
            attempt["spans"] = spans
        if not verdict.get("stored", draft.get("stored", True)):
            attempt["stored"] = False
        attempt |= {key: value for key in ("labels", "extra") if (value := draft.get(key))}
        attempt["message"] = f"{origin['id']}:{count + number}"
        said |= {key: attempt[key] for key in OF_A_MESSAGE if key in attempt}
        messages.append(chat_message(said, attempt["message"]))
    memory = next((draft["memory"] for draft in drafts if "memory" in draft), None)  # type: ignore[typeddict-item]
    return {"messages": messages} | ({} if memory is None else {"memory": {role: memory}})
