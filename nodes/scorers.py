"""Scorers: judgements of a complete conversation, such as whether the user reached its goal."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

from langgraph.runtime import Runtime

from .contract import ContractError, Node, check_function, describe
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
    """A closing node that calls scorers and writes the conversation's label `scores`."""

    scorers: Mapping[str, Scorer]

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        if state.get("failure"):
            return {}  # after a technical failure a score would say nothing about the speakers
        scores = {}
        for name, scorer in self.scorers.items():
            answer = scorer(state)
            if answer is None:
                continue
            score = answer if isinstance(answer, Score) else Score(answer)
            if not isinstance(score.value, (bool, int, float, str)):
                raise ContractError(
                    f"closing: expected the scorer {name!r} to give true, false, a number or a text, "
                    f"got {type(score.value).__name__}"
                )
            scores[name] = asdict(score)
        return {"labels": {LABEL: scores}}

    def provenance(self) -> dict[str, Any]:
        return {"scorers": {name: describe(scorer) for name, scorer in self.scorers.items()}}


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
