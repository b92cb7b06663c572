"""The validator that has a user's draft drawn again if the rules find a fault of the user in it."""

from dataclasses import dataclass
from typing import Any

from langgraph.runtime import Runtime

from ...data.records import Message
from ...data.rules import USER_FAULT_RULES, faults_of_user
from ..contract import describe
from ..limits import Limits
from ..messages.behaviour_prompts import behaviours_of
from ..state import State, Update, Verdict, said
from .composition import ValidatorWrapper


@dataclass(frozen=True)
class RejectUserFaults(ValidatorWrapper):
    """A validator of the user's drafts that rejects those in which `check` finds a fault of the user.

    The validator in it judges first. A rejected goodbye does not end the conversation. The reason is the rule's id with
    underscores, such as `user_invents`.
    """

    @property
    def judges_flaws(self) -> bool:
        """Whether the validator in it does."""
        return getattr(self.node, "judges_flaws", False) is True

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        update = await self.node(state, runtime)
        verdicts, drafts = update.get("verdicts", []), (state.get("drafts") or [])
        judged = bool(drafts) and len(verdicts) == len(drafts)
        if not judged or any(not verdict["accepted"] or verdict.get("failed") for verdict in verdicts):
            return update
        messages = [Message.model_validate(message) for message in said(state)]
        texts = [Message(role="user", text=draft["text"]) for draft in drafts]
        faults = faults_of_user(
            state["scenario"],
            [*messages, *texts],
            update.get("stop"),
            behaviours=behaviours_of(state),
            first=len(messages),
        )
        if not faults:
            return update
        rejected = [*verdicts]
        for fault in faults:
            place = fault.message - len(messages)
            if rejected[place]["accepted"]:
                repair = f"{USER_FAULT_RULES[fault.rule].description}: {fault.reason}."
                reason = fault.rule.replace("-", "_")
                rejected[place] = Verdict(accepted=False, reason=reason, repair=repair)
        # A rejected goodbye ends nothing: the user writes another message.
        return {key: value for key, value in update.items() if key != "stop"} | Update(verdicts=rejected)  # type: ignore[return-value]

    def provenance(self) -> dict[str, Any]:
        return {"rejects_user_faults": describe(self.node)}
