"""Scorers: judgements of a complete conversation, such as whether the user reached its goal."""

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

from langgraph.runtime import Runtime

from .contract import ContractError, Node, check_function, describe
from .environment import error_line
from .limits import Limits
from .state import State, Update

LABEL = "scores"
"""The conversation's label with the scores by name."""
SUCCESS = "success"
"""Name of the score for whether the conversation reached its goal: true or false."""


@dataclass(frozen=True)
class Score:
    """A value with its reason."""

    value: bool | int | float | str
    reason: str = ""


Scorer: TypeAlias = Callable[[State], Score | bool | int | float | str | None]
"""A function from the state of a complete conversation to its score, or None for no score."""


@dataclass(frozen=True)
class Scoring:
    """A closing node that calls scorers and writes the conversation's label `scores`.

    A scorer that fails is recorded in place of its score, as `{"value": null, "reason": "", "error": <a line>}`: the
    conversation is over and as good as before, and a failure of this node would hide the other scores.
    """

    scorers: Mapping[str, Scorer]

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        if state.get("failure"):
            return {}  # after a technical failure a score would say nothing about the speakers
        scores = {}
        for name, scorer in self.scorers.items():
            try:
                score = checked(name, scorer(state))
            except Exception as error:  # of the scorer, which may be anybody's code
                scores[name] = {"value": None, "reason": "", "error": error_line(error)}
                continue
            if score is not None:
                scores[name] = asdict(score)
        return {"labels": {LABEL: scores}}

    def provenance(self) -> dict[str, Any]:
        return {"scorers": {name: describe(scorer) for name, scorer in self.scorers.items()}}


def checked(name: str, answer: Any) -> Score | None:
    """The scorer's answer as a score, None for none; ContractError names the scorer of an answer that is no score."""
    if answer is None:
        return None
    score = answer if isinstance(answer, Score) else Score(answer)
    expected = f"the scorer {name!r}: expected true, false, a finite number or a text, got"
    if not isinstance(score.value, (bool, int, float, str)):
        raise ContractError(f"{expected} {type(score.value).__name__}")
    if isinstance(score.value, float) and not math.isfinite(score.value):
        raise ContractError(f"{expected} {score.value}")
    if not isinstance(score.reason, str):
        raise ContractError(f"the scorer {name!r}: expected a text as the reason, got {type(score.reason).__name__}")
    return score


def scoring(**scorers: Scorer) -> Node:
    """A closing node that scores the conversation: `scoring(success=booking_was_changed)`.

    Each scorer is a plain function of the state; `success` is what `duologue test` counts.
    """
    for name, scorer in scorers.items():
        check_function(name, scorer, "(state) -> a score", arguments=1)
    return Scoring(scorers)


def kept(state: State) -> dict[str, Any]:
    """The kept channels of the assistant's agent (`AgentSpeaker(keep=...)`) after its last message; empty if none.

    Rejected drafts do not count.
    """
    for message in reversed(state.get("messages", [])):
        if message["role"] == "assistant":
            for attempt in reversed(message.get("attempts", [])):
                if attempt.get("verdict") != "rejected" and attempt.get("kept"):
                    return dict(attempt["kept"])
    return {}
