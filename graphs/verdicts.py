"""What follows from a validator's verdicts: drafts become messages, or the speaker is asked again, or it all ends."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from ..data.executed_graph import SPEAKER_OF, VALIDATOR_OF
from ..data.records import Role
from ..nodes.attachments import why_empty
from ..nodes.calls.service import run_is_over
from ..nodes.contract import check_reason
from ..nodes.limits import Limits
from ..nodes.models.faults import CUT_OFF, EMPTY
from ..nodes.speakers.tools import NOT_ASKED_AGAIN, NOT_UNDONE, acts_in, calls_that_ran, lasting
from ..nodes.state import (
    OF_A_MESSAGE,
    Attempt,
    Draft,
    State,
    Verdict,
    after,
    attempt_number,
    chat_message,
    merged,
    placed,
    rejected,
    repeats,
)
from ..nodes.stops import budget, until_spent
from ..nodes.worlds import restorable
from .casts.cast import Cast, asked_by
from .records import NodeError, attempts_of, failure_of

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
    sent ends the conversation there, or after the last attempt. NodeError if a draft could not be judged, or all replies
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
    calls = [call for draft in drafts for call in (calls_that_ran if ended else acts_in)(draft)]
    tools = [] if passed or restorable(limits) else lasting(cast.nodes[SPEAKER_OF[role]], calls)
    if tools:
        note = (NOT_UNDONE if ended else NOT_ASKED_AGAIN) + ", ".join(tools)
        tried = [attempt | {"notes": [*attempt.get("notes", []), note]} for attempt in tried]
    spent = not passed and _repeated(role, cast, state, tried)
    if error:
        raise NodeError(failure_of(VALIDATOR_OF[role], error), {"attempts": tried, "drafts": None})
    end, stop = _end(role, cast, state, tried, judged, stop, limits, passed=passed, lasting=bool(tools), spent=spent)
    if end == "failed":
        raise _silence(role, cast, [*rejected(state, role), *tried], tried)
    if end == "regenerate":
        asked = after(state, {"attempts": tried, "drafts": None, "verdicts": judged})
        stop = stop_of(cast, asked, limits, role="user") if role == "user" else None
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
        stop = stop_of(cast, after(state, changed), limits, role="user")
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
    judged = after(state, {"attempts": tried})
    if role == "assistant" and limits.max_tokens is not None and budget(judged, limits) is not None:
        return "unsaid", "budget"
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


def stop_of(cast: Cast, state: State, limits: Limits, role: Role | None = None) -> str | None:
    """Why the conversation stops, if it does: the cast's criterion, or a limit.

    The limits hold with any criterion: one that never stops must not cost ten thousand calls. So do the run's budgets.
    """
    shown = merged(state, {"speaking": role})
    own = check_reason(cast.stop, cast.stop(shown, limits), cast.own_reasons)
    return own or until_spent(shown, limits) or ("budget" if run_is_over() else None)


def _silence(role: Role, cast: Cast, attempts: list[Attempt], tried: list[Attempt]) -> NodeError:
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
    return NodeError(failure, {"attempts": tried, "drafts": None})


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
