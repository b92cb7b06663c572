"""The check before every validator: a flawed reply is rejected for its flaw."""

from dataclasses import dataclass
from typing import TypeVar

from langgraph.runtime import Runtime

from ...data.records import Role
from ..contract import Node
from ..limits import Limits
from ..models.flaws import CONTENT_FILTER, CUT_OFF, EMPTY, REFUSAL, flaw_in
from ..state import Draft, State, Update, Verdict

V = TypeVar("V")

_REJECTED = frozenset({CUT_OFF, CONTENT_FILTER, EMPTY})


def judges_flaws(node: V) -> V:
    """Marks a validator, or its class, that judges flaws itself: it gets flawed drafts too, and its verdict holds."""
    setattr(node, "judges_flaws", True)  # noqa: B010 - a function has no such attribute for a type checker
    return node


def rejected_for_flaw(draft: Draft, role: Role | None) -> Verdict | None:
    """The rejection of a draft that was cut off, filtered or empty, or a user's refusal; else None.

    An assistant's refusal is its answer.
    """
    flaw = flaw_in(draft)
    if flaw in _REJECTED or (flaw == REFUSAL and role == "user"):
        return {"accepted": False, "reason": flaw}
    return None


@dataclass(frozen=True)
class FlawValidator:
    """A validator that judges only sound replies; a reply with a flawed draft is rejected as a whole.

    An assistant's refusal that the validator accepts has the note `refusal`.
    """

    node: Node

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        drafts, role = (state.get("drafts") or []), state.get("speaking")
        rejected = [rejected_for_flaw(draft, role) for draft in drafts]
        if any(rejected):
            return {"verdicts": [verdict or {"accepted": True} for verdict in rejected]}
        update = await self.node(state, runtime)
        if not any(flaw_in(draft) == REFUSAL for draft in drafts) or not isinstance(update, dict):
            return update
        verdicts = [
            _noted(verdict) if number < len(drafts) and flaw_in(drafts[number]) == REFUSAL else verdict
            for number, verdict in enumerate(update.get("verdicts", []))
        ]
        return {**update, "verdicts": verdicts}


def _noted(verdict: Verdict) -> Verdict:
    if not isinstance(verdict, dict) or not verdict.get("accepted"):
        return verdict
    return {**verdict, "notes": [*verdict.get("notes", []), REFUSAL]}


def sound(node: Node) -> Node:
    """The validator behind `FlawValidator`; itself if it judges flaws."""
    return node if getattr(node, "judges_flaws", False) is True else FlawValidator(node)
