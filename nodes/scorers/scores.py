"""Scores of complete conversations, and the closing node that calls scorers and writes their scores."""

import inspect
import math
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from langgraph.runtime import Runtime
from pydantic import ValidationError

from ...data.attempts import Usage
from ...data.packages import frames_of
from ...errors import first_invalid
from ..contract import ContractError, Node, describe
from ..limits import Limits
from ..settings.redaction import error_line
from ..state import State, Update, said, standing

LABEL = "scores"
"""The conversation's label with the scores by name."""
SUCCESS = "success"
"""Name of the score for whether the conversation reached its goal: true or false."""


@dataclass(frozen=True)
class Score:
    """A value with its reason, or the error in place of a value."""

    value: bool | int | float | str | None
    """None only with an error."""
    reason: str = ""
    usage: Mapping[str, int] | None = None
    """Tokens of the calls to a model, by the names of `data.Usage`; None without a call."""
    error: str = ""
    """The reason why there is no value, in one line."""
    frames: tuple[str, ...] = ()
    """The places in one's own code that a scorer's error passed, as of `data.records.Failure`."""

    def plain(self) -> dict[str, Any]:
        """Plain JSON values for the label."""
        error: dict[str, Any] = {"error": self.error} if self.error else {}
        error |= {"frames": list(self.frames)} if self.frames else {}
        usage = {} if self.usage is None else {"usage": dict(self.usage)}
        return {"value": self.value, "reason": self.reason, **error, **usage}


ScorerAnswer: TypeAlias = Score | bool | int | float | str | None
Scorer: TypeAlias = Callable[..., ScorerAnswer | Awaitable[ScorerAnswer]]
"""A function of the state of a complete conversation, plain or async, that returns its score, or None for no score.

With a second parameter, `(state, world)`, it also gets the conversation's live world, None without one. A
second parameter with a default is the world only if it is named `world`.
"""


@dataclass(frozen=True)
class Scoring:
    """A closing node that calls scorers and writes the conversation's label `scores`.

    A scorer's error is recorded in place of its score, as `{"value": null, "reason": "", "error": <a line>}`. The
    conversation is complete without it, and a failure of this node would hide the other scores.
    """

    scorers: Mapping[str, Scorer]

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        world = world_of(runtime)
        scores = {name: await label_of(name, scorer, state, world) for name, scorer in self.scorers.items()}
        entries = {name: score for name, score in scores.items() if score is not None}
        update: Update = {"labels": {LABEL: entries}}
        if usage := total(score.get("usage") for score in entries.values()):
            update["usage"] = usage
        return update

    def provenance(self) -> dict[str, Any]:
        return {"scorers": {name: describe(scorer) for name, scorer in self.scorers.items()}}


def total(usages: Iterable[Mapping[str, int] | None]) -> dict[str, int] | None:
    """The sum of usages, each in the form of `data.Usage`; None without any."""
    reports = [Usage.model_validate(usage) for usage in usages if usage is not None]
    return sum(reports, Usage.none()).model_dump() if reports else None


def world_of(runtime: Runtime[Limits]) -> Any:
    """The conversation's live world; None if it has none."""
    return getattr(runtime.context, "world", None)


async def label_of(name: str, scorer: Scorer, state: State, world: Any = None) -> dict[str, Any] | None:
    """A scorer's entry in the label `scores`: its score, or its error in one line; None for no score."""
    score = await tried(name, scorer, state, world)
    return None if score is None else score.plain()


async def tried(name: str, scorer: Scorer, state: State, world: Any = None) -> Score | None:
    """The scorer's score, or None; if it raises, a score with the error."""
    try:
        return await score_by(name, scorer, state, world)
    except (Exception, SystemExit) as error:  # of the scorer, which may be anybody's code
        return Score(None, error=error_line(error, placed=True), frames=tuple(frames_of(error)))


async def score_by(name: str, scorer: Scorer, state: State, world: Any = None) -> Score | None:
    """The scorer's score, or None; ContractError, with the scorer's name, if its answer is not a score."""
    answer = scorer(state, world) if takes_world(scorer) else scorer(state)
    return checked(name, await answer if inspect.isawaitable(answer) else answer)


def takes_world(scorer: Callable[..., object]) -> bool:
    """Whether a scorer gets the world: it needs a second argument, or has a parameter named `world`."""
    parameters = list(inspect.signature(scorer).parameters.values())
    positional = [
        parameter
        for parameter in parameters
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]
    return len(positional) > 1 and (positional[1].default is inspect.Parameter.empty or positional[1].name == "world")


def checked(name: str, answer: Any) -> Score | None:
    """The scorer's answer as a score, or None; ContractError, with the scorer's name, if it is not a score."""
    if answer is None:
        return None
    score = answer if isinstance(answer, Score) else Score(answer)
    expected = f"the scorer {name!r}: expected true, false, a finite number or a text, got"
    _check_texts(name, score)
    if score.error and score.value is None:
        return score
    if not isinstance(score.value, (bool, int, float, str)):
        raise ContractError(f"{expected} {type(score.value).__name__}")
    if isinstance(score.value, float) and not math.isfinite(score.value):
        raise ContractError(f"{expected} {score.value}")
    return score


def _check_texts(name: str, score: Score) -> None:
    for what, text in (("reason", score.reason), ("error", score.error)):
        if not isinstance(text, str):
            raise ContractError(f"the scorer {name!r}: expected a text as the {what}, got {type(text).__name__}")
    try:
        total([score.usage])
    except ValidationError as error:
        reason = first_invalid(error).message
        raise ContractError(f"the scorer {name!r}: expected a usage as of data.Usage, {reason}") from None


def scoring(**scorers: Scorer) -> Node:
    """A closing node that scores the conversation: `scoring(success=nodes.tool_called("change"))`.

    `success` is what `duologue test` counts.
    """
    for name, scorer in scorers.items():
        check_scorer(name, scorer)
    return Scoring(scorers)


def check_scorer(name: str, scorer: object) -> None:
    """Raises ContractError unless the object can be called as a scorer, with a state or a state and a world."""
    expected = f"the scorer {name!r}: expected a function (state) or (state, world) -> a score"
    if not callable(scorer) or isinstance(scorer, type):
        raise ContractError(f"{expected}; got {type(scorer).__name__} {getattr(scorer, '__name__', '')}".rstrip())
    try:
        inspect.signature(scorer).bind(*[{}] * (2 if takes_world(scorer) else 1))
    except (TypeError, ValueError):
        raise ContractError(
            f"{expected}; got {getattr(scorer, '__qualname__', type(scorer).__name__)} with other arguments"
        ) from None


def agent_channels(state: State) -> dict[str, Any]:
    """The kept channels of the assistant's agent after its last message; empty without any.

    `AgentSpeaker(keep=...)` names them. Rejected drafts do not count.
    """
    replies = (message for message in reversed(said(state)) if message["role"] == "assistant")
    return next((dict(channels) for message in replies if (channels := standing(message).get("kept"))), {})
