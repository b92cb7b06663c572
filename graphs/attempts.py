"""Drafts as the attempts that state and record keep: who made it, when, and what a validator said."""

from collections.abc import Sequence

from ..data.attempts import WORDLESS
from ..data.records import Role
from ..nodes.contract import OF_THE_CALL, OF_THE_VERDICT
from ..nodes.state import Attempt, Draft, State, Verdict, attempt_number, placed, role_of

FELL_WITH_ANOTHER = "fell_with_another"
"""Reason of a draft that is right itself, when another draft of the same call is rejected."""


def unjudged(state: State, drafts: Sequence[Draft], role: Role | None = None) -> list[Attempt]:
    """Drafts that no validator has judged, as attempts."""
    speaking = role or _speaking(state)
    number = attempt_number(state, speaking)
    details = [
        {"number": number, "text": draft["text"], "verdict": "unjudged", **_of_the_call(draft, state)}
        for draft in drafts
    ]
    return [placed(speaking, state) | one for one in details]


def _speaking(state: State) -> Role:
    sides = [role for message in state.get("messages", []) if (role := role_of(message))]  # a third one is neither
    return "assistant" if sides[-1:] == ["user"] else "user"


def attempts_of(
    role: Role, state: State, drafts: Sequence[Draft], verdicts: Sequence[Verdict], *, passed: bool
) -> list[Attempt]:
    """The drafts with their verdicts, as state and record keep them."""
    number = attempt_number(state, role)
    return [
        placed(role, state) | _attempt(draft, verdict, number, state, passed=passed)
        for draft, verdict in zip(drafts, verdicts, strict=True)
    ]


def _attempt(draft: Draft, verdict: Verdict, number: int, state: State, *, passed: bool) -> Attempt:
    judged = "rejected" if not passed else "observed" if verdict.get("observed") else "accepted"
    if state.get("stop") and verdict.get("reason") in WORDLESS:
        # An agent that took too long, or stopped for a person, has no words yet: no validator rejected them.
        return {"number": number, "text": draft["text"], "verdict": "unjudged"} | _of_the_call(draft, state)
    attempt: Attempt = {"number": number, "text": draft["text"], "verdict": judged}
    if "raw" in draft:
        attempt["raw"] = draft["raw"]
    fell = FELL_WITH_ANOTHER if judged == "rejected" and verdict["accepted"] else None
    details = {**{key: verdict.get(key) for key in OF_THE_VERDICT}, "reason": verdict.get("reason") or fell}
    return attempt | {key: value for key, value in details.items() if value} | _of_the_call(draft, state)


def _of_the_call(draft: Draft, state: State) -> Attempt:
    details = {"prompt": state.get("prompt"), **{key: draft.get(key) for key in OF_THE_CALL}}
    return {key: value for key, value in details.items() if value}
