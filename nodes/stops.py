"""Stop criteria: plain functions of the state and the limits, which `any_of` combines."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..data.records import Role
from ..data.text.words import OF_MESSAGE, texts_in, tokens_about
from .contract import Stop, check_function
from .limits import Limits
from .state import State

SIGNATURE = "(state, limits) -> StopReason | None"
"""How a stop criterion is called."""


@dataclass(frozen=True)
class AnyOf:
    """Gives the first reason of any of the criteria, in order."""

    criteria: tuple[Stop, ...]

    def __call__(self, state: State, limits: Limits) -> str | None:
        return next((reason for stop in self.criteria if (reason := stop(state, limits)) is not None), None)


def any_of(*criteria: Stop) -> Stop:
    """A criterion that gives the first reason of any of these, in order; ContractError for what cannot be called."""
    for number, criterion in enumerate(criteria, start=1):
        check_function(f"any_of, criterion {number}", criterion, SIGNATURE)
    return AnyOf(criteria)


def max_turns(state: State, limits: Limits) -> str | None:
    """`max_turns` once the number of complete turns reaches the limit."""
    reached = limits.max_turns is not None and state.get("turn", 0) >= limits.max_turns
    return "max_turns" if reached else None


def budget(state: State, limits: Limits) -> str | None:
    """`budget` once the conversation's tokens, including drafts, judges and unsaid turns, reach the limit.

    Messages that a fork kept cost nothing. Calls whose endpoint reported no tokens are counted by characters, about.
    """
    if limits.max_tokens is None:
        return None
    calls = [attempt for attempt in state.get("attempts", []) if attempt["role"] != "closing"]
    spent = sum(_tokens(attempt.get("usage")) + _tokens(attempt.get("judging")) for attempt in calls)
    unreported = [attempt for attempt in calls if attempt.get("usage") and not _tokens(attempt["usage"])]
    if spent < limits.max_tokens and unreported:
        before = [sum(map(tokens_about, texts_in(state["scenario"])))]  # what was sent before each message
        for message in state.get("messages", []):
            before.append(before[-1] + tokens_about(str(message.text)) + OF_MESSAGE)
        spent += sum(before[min(attempt["at"], len(before) - 1)] + _written(attempt) for attempt in unreported)
    return "budget" if spent >= limits.max_tokens else None


def _tokens(usage: Mapping[str, int] | None) -> int:
    return 0 if usage is None else usage.get("input_tokens", 0) + usage.get("output_tokens", 0)


def _written(attempt: Mapping[str, Any]) -> int:
    prompt: dict[str, str] = attempt.get("prompt") or {}
    texts = (prompt.get("text"), attempt.get("raw") or attempt.get("text"), attempt.get("reasoning"))
    return sum(tokens_about(text or "") for text in texts)


until_spent: Stop = any_of(max_turns, budget)
"""The limits, at which every conversation stops."""


MANY_TURNS = 10_000
"""A limit of turns that no conversation reaches, for one that another criterion ends."""


@dataclass(frozen=True)
class AfterOneTurn:
    """Stop as soon as one side has had one turn; the cast's own criterion, which counts turns, is asked of users only."""

    role: Role
    own: Stop

    def __call__(self, state: State, limits: Limits) -> str | None:
        if self.role == "assistant":
            return "max_turns" if state.get("turn", 0) > state.get("origin", {}).get("opened", 0) else None
        if (reason := self.own(state, limits)) is not None:
            return reason
        is_judged = state.get("speaking") == "user" and not state.get("verdicts")
        return "max_turns" if is_judged else None
