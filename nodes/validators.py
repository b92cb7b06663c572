"""Validators: from a plain function, or as mere observers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from langgraph.runtime import Runtime

from .contract import Node, check_function, describe
from .limits import Limits
from .state import Draft, State, Update, Verdict

Judge: TypeAlias = Callable[[Draft, State], Verdict | str | None]
"""Reads one draft: None if it may stand, the reason why not, or a whole verdict."""


CUT_OFF = "cut_off"
"""Reason of a draft that ends where its model was not allowed to write on."""

_BY_LENGTH = frozenset({"length", "max_tokens"})


def cut_off(draft: Draft) -> Verdict | None:
    """The rejection of a draft that its endpoint cut off by length, as the endpoint itself says; None for others."""
    return {"accepted": False, "reason": CUT_OFF} if draft.get("finish_reason") in _BY_LENGTH else None


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
        return {"judge": describe(self.judge)}


def validator(judge: Judge) -> Node:
    """A validator from `(draft, state) -> None | reason | Verdict`, asked once for each draft.

    ContractError unless it is a plain function that takes the two.
    """
    check_function("validator", judge, "(draft, state) -> None, a reason or a Verdict")
    return JudgedBy(judge)


@dataclass(frozen=True)
class Every:
    """Validators one after the other: a draft stands if each of them accepts it."""

    nodes: tuple[Node, ...]

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        joined: list[Verdict] = [{"accepted": True} for _ in state.get("drafts", [])]
        for node in self.nodes:
            update = await node(state, runtime)
            if update.get("stop") is not None:
                return update
            joined = [_both(one, other) for one, other in zip(joined, update.get("verdicts", []), strict=True)]
        return {"verdicts": joined}

    def provenance(self) -> dict[str, Any]:
        return {"every": [describe(node) for node in self.nodes]}


def every(*nodes: Node) -> Node:
    """A validator that accepts what each of these accepts, asked in this order.

    The first rejection is the verdict; what is stored in place of the draft's text comes from the first
    that says something of it; notes are joined.
    """
    return Every(nodes)


def _both(one: Verdict, other: Verdict) -> Verdict:
    if not one["accepted"]:
        return one
    joined = cast(Verdict, {**other, **one} if other["accepted"] else {**other})
    if notes := [*one.get("notes", []), *other.get("notes", [])]:
        joined["notes"] = notes
    return joined


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
        if "stored" in verdict:
            standing["stored"] = verdict["stored"]
        return standing

    def provenance(self) -> dict[str, Any]:
        return {"observes": describe(self.node)}


async def not_empty(state: State, runtime: Runtime[Limits]) -> Update:
    """A validator that rejects a draft which is cut off or empty: what else it says is its speaker's affair."""
    return {"verdicts": [cut_off(draft) or unless_empty(draft) for draft in state.get("drafts", [])]}


def unless_empty(draft: Draft) -> Verdict:
    """The verdict on a draft of which only words are asked."""
    return {"accepted": True} if draft["text"].strip() else {"accepted": False, "reason": "empty"}


async def accept_all(state: State, runtime: Runtime[Limits]) -> Update:
    """A validator that lets everything stand."""
    return {"verdicts": [{"accepted": True} for _ in state.get("drafts", [])]}
