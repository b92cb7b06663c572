"""Scorers: what is said of a conversation when it is over, such as whether the user got what it came for."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

from langgraph.runtime import Runtime

from .contract import ContractError, Node, check_function, describe
from .limits import Limits
from .state import State, Update

LABEL = "scores"
"""The conversation's label that holds scores by name."""
SUCCESS = "success"
"""The score that says whether a conversation reached its goal: true or false."""


@dataclass(frozen=True)
class Score:
    """A value with its reason."""

    value: bool | int | float | str
    reason: str = ""


Scorer: TypeAlias = Callable[[State], Score | bool | int | float | str | None]
"""Reads the state of a conversation that is over; None where there is nothing to say."""


@dataclass(frozen=True)
class Scoring:
    """The closing node that asks scorers; what they say is the conversation's label `scores`."""

    scorers: Mapping[str, Scorer]

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        if state.get("failure"):
            return {}  # the endpoint's or a node's failure says nothing of who took part
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
    """The channels of the assistant's own state as they were after its last message; empty before one.

    Those that `AgentSpeaker(keep=...)` names; of drafts that were rejected nothing is in them.
    """
    for message in reversed(state.get("messages", [])):
        if message["role"] == "assistant":
            for attempt in reversed(message.get("attempts", [])):
                if attempt.get("verdict") != "rejected" and attempt.get("kept"):
                    return dict(attempt["kept"])
    return {}
