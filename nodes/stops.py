"""Stop criteria: plain functions of the state and the limits, which `any_of` combines."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..data.grounding import gives_no_answer
from ..data.records import Message, Role
from ..data.rules import plain_words
from ..data.text.model_tokens import OF_MESSAGE, texts_in, tokens_about
from ..errors import SettingError
from .contract import BySettings, Stop, check_stop, describe
from .limits import Limits
from .state import State, history


@dataclass(frozen=True)
class AnyOf:
    """Gives the first reason of any of the criteria, in order."""

    criteria: tuple[Stop, ...]

    def __call__(self, state: State, limits: Limits) -> str | None:
        return next((reason for stop in self.criteria if (reason := stop(state, limits)) is not None), None)

    def provenance(self) -> dict[str, Any]:
        return {"criteria": [describe(stop) for stop in self.criteria]}


def any_of(*criteria: Stop) -> Stop:
    """A criterion that gives the first reason of any of these, in order; ContractError for what cannot be called."""
    for number, criterion in enumerate(criteria, start=1):
        check_stop(criterion, f"any_of, criterion {number}")
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


@dataclass(frozen=True)
class CoverageReached(BySettings):
    """Stop once the answers' spans cover this share (0 to 1) of the section's characters."""

    share: float
    reason: str = "user_ended"

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise SettingError(f"coverage_reached: the share must be above 0 and at most 1, not {self.share}")

    def __call__(self, state: State, limits: Limits) -> str | None:
        section = str(state["scenario"].get("section", ""))
        answers = map(Message.model_validate, history(state, "assistant"))
        covered = set[int]().union(*(range(span.start, span.end) for answer in answers for span in answer.spans))
        return self.reason if section and len(covered) >= self.share * len(section) else None


@dataclass(frozen=True)
class NothingNewFor(BySettings):
    """Stop after this number of consecutive messages of the assistant without anything new.

    A refusal is nothing new; neither is an answer whose spans (or words, if it has no spans) all occurred before.
    """

    turns: int
    reason: str = "user_gave_up"

    def __post_init__(self) -> None:
        if self.turns < 1:
            raise SettingError(f"nothing_new_for: needs at least one turn, not {self.turns}")

    def __call__(self, state: State, limits: Limits) -> str | None:
        covered: set[int] = set()
        words: set[str] = set()
        without_news = 0
        for message in map(Message.model_validate, history(state, "assistant")):
            offsets = {offset for span in message.spans for offset in range(span.start, span.end)}
            key = plain_words(message.text)
            is_new = bool(offsets - covered) if offsets else not gives_no_answer(message) and key not in words
            covered |= offsets
            words.add(key)
            without_news = 0 if is_new else without_news + 1
        return self.reason if without_news >= self.turns else None


coverage_reached, nothing_new_for = CoverageReached, NothingNewFor

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

    def provenance(self) -> dict[str, Any]:
        return {"own": describe(self.own)}


class AfterOneAnswer(AfterOneTurn):
    """Stop after the assistant's turn."""
