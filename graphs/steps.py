"""Steps: what the graph does around the node of each place, the same for every cast.

A step opens the conversation, gives the node its limits, checks its answer, turns an exception into a
recorded failure, and keeps the trace: which draft became a message, which was rejected, when it is over.
"""

import logging
from collections.abc import Callable, Mapping
from functools import partial
from time import perf_counter
from traceback import format_exception
from typing import Any
from typing import cast as typed

from langgraph.runtime import Runtime
from pydantic import ValidationError

from ..data.identity import VERSION, begun_with, conversation_id, digest
from ..data.records import Conversation, Message, Role, StopReason
from ..nodes.contract import ContractError, check_reason, check_update
from ..nodes.environment import error_line, redacted
from ..nodes.limits import Limits
from ..nodes.state import Draft, Place, State, Update, Verdict, attempt_number, awaits_answer, merged
from ..nodes.stops import budget, until_spent
from .cast import Cast
from .topology import Step
from .trace import timed, walked

log = logging.getLogger(__name__)

ROLES: Mapping[Place, Role] = {
    "user_prompt_selector": "user",
    "user_simulator": "user",
    "question_validator": "user",
    "assistant_prompt_selector": "assistant",
    "assistant": "assistant",
    "answer_validator": "assistant",
}
"""Whose trio a place belongs to."""


FELL_WITH_ANOTHER = "fell_with_another"
"""Reason of a draft that nothing is wrong with, but with another of the same call."""

Settle = Callable[[State, Update, Limits], dict[str, Any]]
"""What follows for the state from what a node answered."""


def step(place: Place, cast: Cast) -> Step:
    """The step of a place with the cast's node in it."""
    node = getattr(cast, place)
    settle = _settle(place, cast)

    async def run(state: State, runtime: Runtime[Limits]) -> State:
        limits = (runtime.context or cast.limits).or_else(cast.limits)
        opened = _opened(state, cast, limits)
        state = merged(state, opened)
        began = perf_counter()
        answer: Update = {}
        failure: dict[str, Any] = {}
        if place == "user_simulator" and awaits_answer(state):
            answer = {"drafts": []}  # a conversation that was begun with a question waits for its answer
        elif place == "closing" or _is_due(state):
            try:
                answer = check_update(place, await node(state, runtime.override(context=limits)), state)
            except ContractError:
                raise
            except Exception as error:
                log.debug("%s failed: %s", place, redacted("".join(format_exception(error))))
                failure = {"failure": {"node": place, "error": error_line(error)}}
                state = merged(state, failure)
        settled = settle(state, answer, limits)
        kept = walked(state, place) | timed(state, place, perf_counter() - began)
        return typed(State, opened | failure | settled | kept)

    return run


def _is_due(state: State) -> bool:
    """Whether the node has something to do: not behind a failure, behind a stop only to judge last drafts."""
    return not state.get("failure") and (not state.get("stop") or bool(state.get("drafts")))


def _opened(state: State, cast: Cast, limits: Limits) -> dict[str, Any]:
    """The opening of a conversation that has none; of one that goes on under other limits, those."""
    provenance = state.get("provenance")
    if provenance is None:
        return opening(state, cast, limits)
    if provenance["limits"] != limits.plain():
        return {"provenance": provenance | {"limits": limits.plain()}}
    return {}


def opening(state: State, cast: Cast, limits: Limits) -> dict[str, Any]:
    """What a conversation begins with: its id, its provenance, and the messages that it already holds."""
    scenario = state.get("scenario")
    if not isinstance(scenario, dict):
        raise ContractError("the initial state has no 'scenario': begin with one, such as simquac.scenario(topic)")
    ordinal, repeat = state.get("ordinal", 0), state.get("repeat", 0)
    try:
        messages = tuple(Message.model_validate(message) for message in state.get("messages", []))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ContractError(f"the initial state's messages: {where}: {first['msg']}") from None
    said = [message.plain() for message in messages]
    begun = Conversation(id="", scenario=scenario, messages=messages)
    turn = sum(1 for exchange in begun.exchanges if any(message.stored for message in exchange.assistant))
    return {
        "id": state.get("id") or conversation_id(cast.name, scenario, ordinal, repeat, begun_with(said)),
        "ordinal": ordinal,
        "repeat": repeat,
        "messages": said or _greeting(cast),
        "turn": turn,
        "opened": turn,
        "attempts": [],
        "drafts": [],
        "verdicts": [],
        "unsaid": [],
        "stop": _spent(cast, state, said, turn, limits),
        "provenance": {
            "cast": cast.name,
            "nodes": cast.describe(),
            "prompts": cast.prompts.digests,
            "limits": limits.plain(),
            "data": digest(scenario),
            "version": VERSION,
        }
        | ({"begun": begun_with(said)} if said else {}),
    }


def _greeting(cast: Cast) -> list[dict[str, Any]]:
    """What the assistant says before anybody spoke, where the cast has it say something."""
    if cast.greeting is None:
        return []
    return [Message(role="assistant", text=cast.greeting, stored=False).plain()]


def _spent(cast: Cast, state: State, said: list[dict[str, Any]], turn: int, limits: Limits) -> StopReason | None:
    """Why a conversation that begins with messages has no further exchange, if it has none."""
    begun = merged(state, {"messages": said, "turn": turn, "opened": turn})
    if not said or awaits_answer(begun):
        return None
    return check_reason(cast.stop, cast.stop(begun, limits)) or until_spent(begun, limits)


def _settle(place: Place, cast: Cast) -> Settle:
    match place:
        case "user_prompt_selector" | "assistant_prompt_selector":
            return partial(_after_selector, ROLES[place])
        case "user_simulator" | "assistant":
            return partial(_after_speaker, getattr(getattr(cast, place), "prompted", True))
        case "question_validator" | "answer_validator":
            return partial(_after_validator, ROLES[place], cast)
        case "turn_recorder":
            return partial(_after_recorder, cast)
        case "closing":
            return _after_closing


def _after_selector(role: Role, state: State, update: Update, limits: Limits) -> dict[str, Any]:
    return {"speaking": role, "prompt": update.get("prompt")}


def _after_speaker(prompted: bool, state: State, update: Update, limits: Limits) -> dict[str, Any]:
    stop = update.get("stop") or state.get("stop")  # one that the opening found is not forgotten
    changed = {"drafts": list(update.get("drafts", [])), "verdicts": [], "stop": stop}
    return changed if prompted else {**changed, "prompt": None}


def _after_recorder(cast: Cast, state: State, update: Update, limits: Limits) -> dict[str, Any]:
    changed: dict[str, Any] = {"turn": state.get("turn", 0) + 1, "speaking": None}
    if "labels" in update:
        changed["labels"] = {**state.get("labels", {}), **update["labels"]}
    return changed | {"stop": _stop(cast, state, changed, update.get("stop"), limits)}


def _after_closing(state: State, update: Update, limits: Limits) -> dict[str, Any]:
    return {"labels": {**state.get("labels", {}), **update["labels"]}} if "labels" in update else {}


def _after_validator(role: Role, cast: Cast, state: State, update: Update, limits: Limits) -> dict[str, Any]:
    """Keep the drafts as messages, ask again, or end: the trace of one judged turn."""
    drafts, verdicts = state.get("drafts", []), list(update.get("verdicts", []))
    stop = update.get("stop") or state.get("stop")
    number = attempt_number(state)
    unjudged = len(drafts) - len(verdicts)  # the speaker stopped, or the validator did or failed
    verdicts += [Verdict(accepted=True)] * unjudged
    passed = all(verdict["accepted"] for verdict in verdicts)
    tried = [
        _attempt(draft, verdict, number, state, passed=passed) for draft, verdict in zip(drafts, verdicts, strict=True)
    ]
    for attempt in tried[len(tried) - unjudged :]:
        attempt["verdict"] = "unjudged"
    earlier = list(state.get("attempts", []))
    if state.get("failure"):
        changed = _unsaid(role, state, earlier + tried)
    elif passed:
        said = [_message(role, *each) for each in zip(drafts, verdicts, tried, strict=True)]
        changed = _said(role, state, said, earlier)
    elif role == "assistant" and budget(merged(state, {"attempts": earlier + tried}), limits):
        changed, stop = _unsaid(role, state, earlier + tried), "budget"
    elif number < (limits.question_attempts if role == "user" else limits.answer_attempts) and not stop:
        changed = {"attempts": earlier + tried, "drafts": [], "verdicts": verdicts}
    elif role == "user" or stop:
        changed = _unsaid(role, state, earlier + tried)
        stop = stop or "user_rejected"
    elif cast.fallback is not None:
        changed = _said(role, state, [{"role": role, "text": cast.fallback}], earlier + tried)
    else:
        standing = [attempt | {"verdict": "observed"} for attempt in tried]
        said = [
            _message(role, draft, Verdict(accepted=True, observed=True), attempt)
            for draft, attempt in zip(drafts, standing, strict=True)
        ]
        changed = _said(role, state, said, earlier)
    if role == "user":
        return changed | {"stop": _stop(cast, state, changed, stop, limits)}
    return changed | {"stop": "model_failed" if state.get("failure") else stop}


def _stop(
    cast: Cast, state: State, changed: dict[str, Any], reason: StopReason | None, limits: Limits
) -> StopReason | None:
    """The failure's reason, the one that was told, or what the cast's criterion says of the new state.

    The limits hold whatever the criterion is: one that never stops must not cost ten thousand calls.
    """
    if state.get("failure"):
        return "model_failed"
    new = merged(state, changed)
    return reason or check_reason(cast.stop, cast.stop(new, limits)) or until_spent(new, limits)


def _said(role: Role, state: State, messages: list[dict[str, Any]], earlier: list[dict[str, Any]]) -> dict[str, Any]:
    """The messages are said; the rejected drafts before them stand with the first."""
    changed: dict[str, Any] = {"attempts": [], "drafts": [], "verdicts": [], "prompt": None}
    if not messages:
        return changed | _unsaid(role, state, earlier)
    first = messages[0] | {"attempts": [*earlier, *messages[0].get("attempts", [])]}
    if not first["attempts"]:
        del first["attempts"]
    return changed | {"messages": [*state.get("messages", []), first, *messages[1:]]}


def _unsaid(role: Role, state: State, attempts: list[dict[str, Any]]) -> dict[str, Any]:
    """Nothing was said; the drafts are kept."""
    changed: dict[str, Any] = {"attempts": [], "drafts": [], "verdicts": [], "prompt": None}
    if attempts:
        turn = {"role": role, "after": len(state.get("messages", [])), "attempts": attempts}
        changed["unsaid"] = [*state.get("unsaid", []), turn]
    return changed


def _message(role: Role, draft: Draft, verdict: Verdict, attempt: dict[str, Any]) -> dict[str, Any]:
    """The message that an accepted draft becomes, in the validator's words where it gave some."""
    message: dict[str, Any] = {"role": role, "text": verdict.get("text", draft["text"])}
    spans = verdict.get("spans", draft.get("spans", []))
    if spans:
        message["spans"] = spans
    message["attempts"] = [attempt]
    if not verdict.get("stored", draft.get("stored", True)):
        message["stored"] = False
    return message | {key: value for key in ("labels", "extra") if (value := draft.get(key))}


def _attempt(draft: Draft, verdict: Verdict, number: int, state: State, *, passed: bool) -> dict[str, Any]:
    """The draft with its verdict, as the record keeps it."""
    judged = "rejected" if not passed else "observed" if verdict.get("observed") else "accepted"
    attempt: dict[str, Any] = {"number": number, "text": draft["text"], "verdict": judged}
    if "raw" in draft:
        attempt["raw"] = draft["raw"]
    for key, value in (
        ("cleaned", draft.get("cleaned")),
        (
            "reason",
            verdict.get("reason") or (FELL_WITH_ANOTHER if judged == "rejected" and verdict["accepted"] else None),
        ),
        ("notes", verdict.get("notes")),
        ("prompt", state.get("prompt")),
        ("usage", draft.get("usage")),
    ):
        if value:
            attempt[key] = value
    return attempt
