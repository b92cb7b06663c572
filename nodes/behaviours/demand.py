"""The validator that has a user's draft drawn again if it lacks a behaviour that is due."""

from dataclasses import dataclass
from typing import Any

from langgraph.runtime import Runtime

from ...data.behaviours import BEHAVIOURS, due
from ..contract import describe
from ..limits import Limits
from ..messages.behaviour_prompts import behaviours_of
from ..state import State, Update, Verdict, history
from ..validators.composition import ValidatorWrapper

REASON = "behaviour_not_shown"
"""Reason of a rejected draft."""


@dataclass(frozen=True)
class DemandBehaviours(ValidatorWrapper):
    """A validator of the user's drafts that rejects the first one without a behaviour that is due by then.

    The validator in it judges first. A message that ends the conversation is not judged.
    """

    @property
    def judges_flaws(self) -> bool:
        """Whether the validator in it does."""
        return getattr(self.node, "judges_flaws", False) is True

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        update = await self.node(state, runtime)
        verdicts, drafts, names = update.get("verdicts", []), (state.get("drafts") or []), behaviours_of(state)
        ended = update.get("stop") is not None or state.get("stop") is not None
        if not names or ended or not drafts or len(verdicts) < len(drafts):
            return update
        if any(not verdict["accepted"] or verdict.get("failed") for verdict in verdicts):
            return update
        earlier = [(message["role"], message["text"]) for message in history(state)]
        turns = [*earlier, *(("user", draft["text"]) for draft in drafts)]
        lacking = [name for name in names if due(name, turns, state["scenario"])]
        if not lacking:
            return update
        repair = "; ".join(f"{name} ({BEHAVIOURS[name]})" for name in lacking)
        rejected: Verdict = {**verdicts[-1], "accepted": False, "reason": REASON, "repair": f"{repair}."}
        return {**update, "verdicts": [*verdicts[:-1], rejected]}

    def provenance(self) -> dict[str, Any]:
        return {"demands_behaviours": describe(self.node)}
