"""Validators: from a plain function, or as mere observers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from langgraph.runtime import Runtime

from .contract import Node, describe
from .limits import Limits
from .state import Draft, State, Update, Verdict

Judge: TypeAlias = Callable[[Draft, State], Verdict | str | None]
"""Reads one draft: None if it may stand, the reason why not, or a whole verdict."""


@dataclass(frozen=True)
class JudgedBy:
    """A validator made of a plain function that reads one draft."""

    judge: Judge

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        return {"verdicts": [self._verdict(draft, state) for draft in state.get("drafts", [])]}

    def _verdict(self, draft: Draft, state: State) -> Verdict:
        answer = self.judge(draft, state)
        if answer is None:
            return {"accepted": True}
        return {"accepted": False, "reason": answer} if isinstance(answer, str) else answer

    def provenance(self) -> dict[str, Any]:
        return {"judge": describe(self.judge)["name"]}


def validator(judge: Judge) -> Node:
    """A validator from `(draft, state) -> None | reason | Verdict`, asked once for each draft."""
    return JudgedBy(judge)


@dataclass(frozen=True)
class Observing:
    """A validator whose verdicts are recorded and change nothing: every draft stands as it is."""

    node: Node

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        update = await self.node(state, runtime)
        verdicts = [self._standing(verdict) for verdict in update.get("verdicts", [])]
        return {**update, "verdicts": verdicts}

    @staticmethod
    def _standing(verdict: Verdict) -> Verdict:
        standing = Verdict(accepted=True, observed=not verdict["accepted"], reason=verdict.get("reason"))
        if notes := verdict.get("notes"):
            standing["notes"] = notes
        return standing

    def provenance(self) -> dict[str, Any]:
        return {"observes": describe(self.node)}


async def accept_all(state: State, runtime: Runtime[Limits]) -> Update:
    """A validator that lets everything stand."""
    return {"verdicts": [{"accepted": True} for _ in state.get("drafts", [])]}
