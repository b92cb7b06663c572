"""Validators made of plain functions or of other validators, and validators that only observe."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from langgraph.runtime import Runtime

from .contract import Node, check_function, describe
from .limits import Limits
from .parts import why_empty
from .state import Draft, State, Update, Verdict

Judge: TypeAlias = Callable[[Draft, State], Verdict | str | None]
"""Judges one draft: None to accept it, a reason to reject it, or a complete verdict."""


CUT_OFF = "cut_off"
"""Reason of rejection: the endpoint ended the draft at its length limit."""

_BY_LENGTH = frozenset({"length", "max_tokens"})


def cut_off(draft: Draft) -> Verdict | None:
    """The rejection of a draft if its endpoint reports that it was cut off by length; else None."""
    return {"accepted": False, "reason": CUT_OFF} if draft.get("finish_reason") in _BY_LENGTH else None


@dataclass(frozen=True)
class JudgedBy:
    """A validator made of a plain function that judges one draft."""

    judge: Judge

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        return {"verdicts": [self._verdict(draft, state) for draft in state.get("drafts", [])]}

    def _verdict(self, draft: Draft, state: State) -> Verdict:
        answer = self.judge(draft, state)
        if answer is None:
            return {"accepted": True}
        return {"accepted": False, "reason": answer} if isinstance(answer, str) else answer

    def provenance(self) -> dict[str, Any]:
        return {"judge": describe(self.judge)}


def validator(judge: Judge) -> Node:
    """A validator from `(draft, state) -> None | reason | Verdict`, which is called for each draft.

    ContractError unless it is a plain function of these two arguments.
    """
    check_function("validator", judge, "(draft, state) -> None, a reason or a Verdict")
    return JudgedBy(judge)


@dataclass(frozen=True)
class Every:
    """Several validators in order: a draft is accepted if all of them accept it."""

    nodes: tuple[Node, ...]

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        joined: list[Verdict] = [{"accepted": True} for _ in state.get("drafts", [])]
        for node in self.nodes:
            update = await node(state, runtime)
            if update.get("stop") is not None:
                return update
            verdicts = update.get("verdicts", [])
            joined = [_both(earlier, later) for earlier, later in zip(joined, verdicts, strict=True)]
        return {"verdicts": joined}

    def provenance(self) -> dict[str, Any]:
        return {"every": [describe(node) for node in self.nodes]}


def every(*nodes: Node) -> Node:
    """A validator that accepts the drafts that all of these accept; they are called in order.

    The first rejection is the verdict. A text to store instead of the draft's comes from the first validator that
    gives one. Notes are joined.
    """
    return Every(nodes)


def _both(earlier: Verdict, later: Verdict) -> Verdict:
    if not earlier["accepted"]:
        return earlier
    joined = cast(Verdict, {**later, **earlier} if later["accepted"] else {**later})
    if notes := [*earlier.get("notes", []), *later.get("notes", [])]:
        joined["notes"] = notes
    return joined


@dataclass(frozen=True)
class Observing:
    """A validator whose verdicts are recorded as observed: every draft is accepted unchanged."""

    node: Node

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        update = await self.node(state, runtime)
        verdicts = [self._observed(verdict) for verdict in update.get("verdicts", [])]
        return {**update, "verdicts": verdicts}

    @staticmethod
    def _observed(verdict: Verdict) -> Verdict:
        observed_verdict = Verdict(accepted=True, observed=not verdict["accepted"], reason=verdict.get("reason"))
        if notes := verdict.get("notes"):
            observed_verdict["notes"] = notes
        if "stored" in verdict:
            observed_verdict["stored"] = verdict["stored"]
        return observed_verdict

    def provenance(self) -> dict[str, Any]:
        return {"observes": describe(self.node)}


async def not_empty(state: State, runtime: Runtime[Limits]) -> Update:
    """A validator that accepts every draft that is neither cut off nor empty, nor tool calls alone."""
    return {"verdicts": [cut_off(draft) or unless_empty(draft) for draft in state.get("drafts", [])]}


def unless_empty(draft: Draft) -> Verdict:
    """Accepts a draft unless it is empty or only calls tools; an image without a text is not empty."""
    reason = why_empty(draft)
    return {"accepted": True} if reason is None else {"accepted": False, "reason": reason}


async def accept_all(state: State, runtime: Runtime[Limits]) -> Update:
    """A validator that accepts every draft."""
    return {"verdicts": [{"accepted": True} for _ in state.get("drafts", [])]}
