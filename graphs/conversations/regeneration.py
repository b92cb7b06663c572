"""What follows from a validator's verdicts: drafts become messages, or the speaker is asked again, or it all ends."""

from collections import Counter
from typing import Any

from ...data.attempts import WORDLESS
from ...data.records import Role, StepWay
from ...data.summaries.executed_graph import SPEAKER_OF, VALIDATOR_OF
from ...nodes.calls.service import run_is_over
from ...nodes.contract import OF_THE_CALL, OF_THE_VERDICT, check_reason
from ...nodes.limits import Limits
from ...nodes.messages.attachments import why_empty
from ...nodes.models.flaws import EMPTY
from ...nodes.speakers.tools import NOT_ASKED_AGAIN, NOT_UNDONE, calls_that_ran, lasting
from ...nodes.state import Draft, State, Update, Verdict, attempt_number, merged, without_memories
from ...nodes.stops import budget, until_spent
from ...nodes.worlds import restorable
from ..casts.cast import Cast

FELL_WITH_ANOTHER = "fell_with_another"
"""Reason of a draft that is right itself, when another draft of the same call is rejected."""


def after_validator(role: Role, cast: Cast, state: State, update: Update, limits: Limits) -> dict[str, Any]:
    """The update after one judged turn: keep the drafts as messages, ask again, or end.

    The tools of a rejected draft may have changed something. The draft then stands, unless the conversation's world can
    be rolled back. A retry would do it twice, and the user would not see the first time. A draft that must never be
    sent ends the conversation there, or after the last attempt.

    If all replies of a turn came flawed and without a word, the conversation ends as failed. It is the assistant's
    fault, if it is the assistant's turn.
    """
    drafts, verdicts = state.get("drafts", []), list(update.get("verdicts", []))
    stop = update.get("stop") or state.get("stop")
    number = attempt_number(state)
    unjudged = len(drafts) - len(verdicts)  # the speaker stopped, or the validator did or failed
    failed: dict[str, Any] = {}
    if error := next(filter(None, (verdict.get("failed") for verdict in verdicts)), None):
        failed, unjudged = {"failure": {"node": VALIDATOR_OF[role], "error": error}}, len(drafts)
        state = merged(state, failed)
    verdicts += [Verdict(accepted=True)] * (len(drafts) - len(verdicts))
    passed = all(verdict["accepted"] for verdict in verdicts)
    tried = [
        _attempt(draft, verdict, number, state, passed=passed) for draft, verdict in zip(drafts, verdicts, strict=True)
    ]
    for attempt in tried[len(tried) - unjudged :]:
        attempt["verdict"] = "unjudged"
    ended = bool(stop or state.get("failure"))
    ran = [Draft(text="", tool_calls=calls_that_ran(draft)) for draft in drafts] if ended else drafts
    tools = [] if passed or restorable(limits) else lasting(getattr(cast, SPEAKER_OF[role]), ran)
    if tools:
        note = (NOT_UNDONE if ended else NOT_ASKED_AGAIN) + ", ".join(tools)
        tried = [attempt | {"notes": [*attempt.get("notes", []), note]} for attempt in tried]
    earlier = list(state.get("attempts", []))
    way: StepWay = "accepted"
    if state.get("failure"):
        changed = _unsaid(role, state, earlier + tried)
    elif passed:
        messages = [
            _message(role, draft, verdict, attempt)
            for draft, verdict, attempt in zip(drafts, verdicts, tried, strict=True)
        ]
        changed = _with_messages(role, state, messages, earlier) | _remembered(role, state)
    elif not stop and tools:
        changed, stop = _at_last(role, cast, merged(state, {"verdicts": verdicts}), tried, earlier)
    elif role == "assistant" and budget(merged(state, {"attempts": earlier + tried}), limits):
        changed, stop = _unsaid(role, state, earlier + tried), "budget"
    elif number < (limits.question_attempts if role == "user" else limits.answer_attempts) and not stop:
        changed, way = {"attempts": earlier + tried, "drafts": [], "verdicts": verdicts}, "regenerate"
    elif not stop and all(one.get("flaw") and why_empty(one) == EMPTY for one in earlier + tried):
        # A model that is asked for the user's messages is an endpoint's; the agent under test answers for its model.
        own = role == "assistant" or getattr(cast.user_simulator, "model", None) is None
        fault = {"fault": role} if own else {}
        failed = {"failure": {"node": SPEAKER_OF[role], "error": _silence(earlier + tried), **fault}}
        state = merged(state, failed)
        changed = _unsaid(role, state, earlier + tried)
    elif role == "user" or stop:
        changed = _unsaid(role, state, earlier + tried)
        stop = stop or "user_rejected"
    elif cast.fallback is not None and cast.when_rejected in (None, "fallback"):
        changed = _with_messages(role, state, [{"role": role, "text": cast.fallback}], earlier + tried)
    else:
        changed, stop = _at_last(role, cast, merged(state, {"verdicts": verdicts}), tried, earlier)
    changed = {"pending_memory": None} | failed | changed
    failing = "model_failed" if state.get("failure") else stop
    stop = stop_of(cast, state, changed, stop, limits) if role == "user" else failing
    return changed | {"stop": stop, "way": "stop" if stop else way}


def _at_last(
    role: Role, cast: Cast, state: State, tried: list[dict[str, Any]], earlier: list[dict[str, Any]]
) -> tuple[dict[str, Any], str | None]:
    """What becomes of rejected drafts that are not asked for again: they stand, or the conversation stops."""
    must = cast.when_rejected is None and any(verdict.get("must") for verdict in state.get("verdicts", []))
    if role == "assistant" and (must or cast.when_rejected == "stop"):
        return _unsaid(role, state, earlier + tried), "assistant_rejected"
    return _stands(role, state, state.get("drafts", []), tried, earlier), None


def unsaid(state: State, changed: dict[str, Any]) -> bool:
    """Whether no judged draft became a message: they were rejected, or the conversation ended before."""
    new_messages = changed.get("messages", state.get("messages", []))[len(state.get("messages", [])) :]
    return bool(state.get("drafts")) and not any(
        attempt["verdict"] != "rejected" for message in new_messages for attempt in message.get("attempts", [])
    )


def _silence(attempts: list[dict[str, Any]]) -> str:
    """Why a side could say nothing: the flaws of its replies with their numbers."""
    flaws = Counter(attempt["flaw"] for attempt in attempts)
    counted = ", ".join(f"{number} {flaw}" for flaw, number in sorted(flaws.items()))
    return f"none of {len(attempts)} replies had a text: {counted}"


def stop_of(cast: Cast, state: State, changed: dict[str, Any], reason: str | None, limits: Limits) -> str | None:
    """Why the conversation stops, if it does: a failure, `reason`, the cast's criterion, or a limit.

    The limits hold with any criterion: one that never stops must not cost ten thousand calls. So do the run's budgets.
    """
    if state.get("failure"):
        return "model_failed"
    new = without_memories(merged(state, changed))
    own = check_reason(cast.stop, cast.stop(new, limits), cast.own_reasons)
    return reason or own or until_spent(new, limits) or ("budget" if run_is_over() else None)


def _with_messages(
    role: Role, state: State, messages: list[dict[str, Any]], earlier: list[dict[str, Any]]
) -> dict[str, Any]:
    """The messages are said; the rejected drafts before them are kept with the first."""
    changed: dict[str, Any] = {"attempts": [], "drafts": [], "verdicts": [], "prompt": None}
    if not messages:
        return changed | _unsaid(role, state, earlier)
    first = messages[0] | {"attempts": [*earlier, *messages[0].get("attempts", [])]}
    if not first["attempts"]:
        del first["attempts"]
    return changed | {"messages": [*state.get("messages", []), first, *messages[1:]]}


def _stands(
    role: Role, state: State, drafts: list[Draft], tried: list[dict[str, Any]], earlier: list[dict[str, Any]]
) -> dict[str, Any]:
    """Rejected drafts are messages all the same, recorded as observed."""
    messages = [
        _message(role, draft, Verdict(accepted=True, observed=True), attempt | {"verdict": "observed"})
        for draft, attempt in zip(drafts, tried, strict=True)
    ]
    return _with_messages(role, state, messages, earlier) | _remembered(role, state)


def _remembered(role: Role, state: State) -> dict[str, Any]:
    """The memory that the speaker wrote, now that its drafts are accepted."""
    pending = state.get("pending_memory")
    return {} if pending is None else {"memories": {**state.get("memories", {}), role: pending}}


def _unsaid(role: Role, state: State, attempts: list[dict[str, Any]]) -> dict[str, Any]:
    """Nothing was said; the drafts are kept."""
    changed: dict[str, Any] = {"attempts": [], "drafts": [], "verdicts": [], "prompt": None}
    if attempts:
        turn = {"role": role, "after": len(state.get("messages", [])), "attempts": attempts}
        changed["unsaid"] = [*state.get("unsaid", []), turn]
    return changed


def _message(role: Role, draft: Draft, verdict: Verdict, attempt: dict[str, Any]) -> dict[str, Any]:
    """The message of an accepted draft, with the validator's text if it changed it."""
    message: dict[str, Any] = {"role": role, "text": verdict.get("text", draft["text"])}
    spans = verdict.get("spans", draft.get("spans", []))
    if spans:
        message["spans"] = spans
    if parts := draft.get("parts"):
        message["parts"] = parts
        attempt = {key: value for key, value in attempt.items() if key != "parts"}  # once: they may be large
    message["attempts"] = [attempt]
    if not verdict.get("stored", draft.get("stored", True)):
        message["stored"] = False
    return message | {key: value for key in ("labels", "extra") if (value := draft.get(key))}


def _attempt(draft: Draft, verdict: Verdict, number: int, state: State, *, passed: bool) -> dict[str, Any]:
    """The draft with its verdict, as the record keeps it."""
    judged = "rejected" if not passed else "observed" if verdict.get("observed") else "accepted"
    if state.get("stop") and verdict.get("reason") in WORDLESS:
        # An agent that took too long, or stopped for a person, has no words yet: no validator rejected them.
        return {"number": number, "text": draft["text"], "verdict": "unjudged"} | _of_the_call(draft, state)
    attempt: dict[str, Any] = {"number": number, "text": draft["text"], "verdict": judged}
    if "raw" in draft:
        attempt["raw"] = draft["raw"]
    fell = FELL_WITH_ANOTHER if judged == "rejected" and verdict["accepted"] else None
    details = {
        **{key: verdict.get(key) for key in OF_THE_VERDICT},
        "reason": verdict.get("reason") or fell,
    }
    return attempt | {key: value for key, value in details.items() if value} | _of_the_call(draft, state)


def _of_the_call(draft: Draft, state: State) -> dict[str, Any]:
    details = {"prompt": state.get("prompt"), **{key: draft.get(key) for key in OF_THE_CALL}}
    return {key: value for key, value in details.items() if value}
