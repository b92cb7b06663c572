"""Stop criteria: plain functions of the state and the limits, to be put together with `any_of`."""

from dataclasses import dataclass
from typing import Any

from ..data.grounding import gives_no_answer
from ..data.records import Message
from ..data.rules import plain_words
from ..errors import SettingError
from .contract import Stop, check_stop, describe
from .limits import Limits
from .state import State, said


@dataclass(frozen=True)
class AnyOf:
    """The first reason that any of the criteria gives, asked in their order."""

    criteria: tuple[Stop, ...]

    def __call__(self, state: State, limits: Limits) -> str | None:
        return next((reason for stop in self.criteria if (reason := stop(state, limits)) is not None), None)

    def provenance(self) -> dict[str, Any]:
        return {"criteria": [describe(stop) for stop in self.criteria]}


def any_of(*criteria: Stop) -> Stop:
    """The first reason that any of the criteria gives, asked in this order.

    ContractError for one that cannot be asked with a state and limits, by its place, from 1.
    """
    for place, criterion in enumerate(criteria, start=1):
        check_stop(criterion, f"any_of, criterion {place}")
    return AnyOf(criteria)


def max_turns(state: State, limits: Limits) -> str | None:
    """`max_turns` once as many exchanges are complete as the limits allow."""
    reached = limits.max_turns is not None and state.get("turn", 0) >= limits.max_turns
    return "max_turns" if reached else None


def budget(state: State, limits: Limits) -> str | None:
    """`budget` once the conversation has cost as many tokens as the limits allow, drafts included."""
    if limits.max_tokens is None:
        return None
    drafts = [attempt for message in state.get("messages", []) for attempt in message.get("attempts", [])]
    spent = sum(
        usage.get("input_tokens", 0) + usage.get("output_tokens", 0)
        for attempt in (*drafts, *state.get("attempts", []))
        if (usage := attempt.get("usage"))
    )
    return "budget" if spent >= limits.max_tokens else None


until_spent: Stop = any_of(max_turns, budget)
"""What every conversation stops at: the limits."""


@dataclass(frozen=True)
class CoverageReached:
    """Stop once this share of the section's characters stands in the answers' spans."""

    share: float
    reason: str

    def __call__(self, state: State, limits: Limits) -> str | None:
        section = str(state["scenario"].get("section", ""))
        covered = {
            position
            for message in said(state, "assistant")
            for span in message.get("spans", ())
            for position in range(span["start"], span["start"] + len(span["text"]))
        }
        return self.reason if section and len(covered) >= self.share * len(section) else None

    def provenance(self) -> dict[str, Any]:
        return {"share": self.share, "reason": self.reason}


def coverage_reached(share: float, reason: str = "user_ended") -> Stop:
    """Stop once this share (0 to 1) of the section's characters stands in the answers' spans."""
    if not 0 < share <= 1:
        raise SettingError(f"coverage_reached: the share must be above 0 and at most 1, not {share}")
    return CoverageReached(share, reason)


@dataclass(frozen=True)
class NothingNewFor:
    """Stop once this many of the assistant's messages in a row told nothing that was not told before."""

    turns: int
    reason: str

    def __call__(self, state: State, limits: Limits) -> str | None:
        told: set[int] = set()
        words: set[str] = set()
        without = 0
        for message in map(Message.model_validate, said(state, "assistant")):
            places = {i for span in message.spans for i in range(span.start, span.end)}
            key = plain_words(message.text)
            new = bool(places - told) if places else not gives_no_answer(message) and key not in words
            told |= places
            words.add(key)
            without = 0 if new else without + 1
        return self.reason if without >= self.turns else None

    def provenance(self) -> dict[str, Any]:
        return {"turns": self.turns, "reason": self.reason}


def nothing_new_for(turns: int, reason: str = "user_gave_up") -> Stop:
    """Stop once this many of the assistant's messages in a row told nothing that was not told before.

    A refusal tells nothing; an answer tells nothing new if its spans, or without spans its words, were
    all told before.
    """
    if turns < 1:
        raise SettingError(f"nothing_new_for: needs at least one turn, not {turns}")
    return NothingNewFor(turns, reason)
