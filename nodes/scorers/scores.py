"""Scores of finished conversations: the closing node that calls scorers, and scorers made of other ones."""

import inspect
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeAlias

from langgraph.runtime import Runtime
from pydantic import ConfigDict, FiniteFloat, TypeAdapter, ValidationError

from ...data.packages import frames_of
from ...data.records import Broken, Usage
from ...errors import SettingError, first_invalid, shown
from ..contract import ContractError, Node, check_function, describe
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

    __pydantic_config__: ClassVar = ConfigDict(strict=True, revalidate_instances="always")
    value: bool | int | FiniteFloat | str | None
    """None only with an error."""
    reason: str = ""
    usage: Mapping[str, int] | None = None
    """Tokens of the calls to a model, by the names of `data.Usage`; None without a call."""
    error: str = ""
    """The reason why there is no value, in one line."""
    frames: tuple[str, ...] = ()
    """The places in one's own code that a scorer's error passed, as of `data.records.Failure`."""
    found: tuple[Broken, ...] = ()
    """What it found, as data: the conditions that are broken where the value is false."""

    def plain(self) -> dict[str, Any]:
        """Plain JSON values for the label."""
        broken = [one.model_dump(exclude_defaults=True) for one in self.found] if self.value is False else []
        more: dict[str, Any] = {"error": self.error, "frames": list(self.frames), "broken": broken}
        more["usage"] = self.usage and dict(self.usage)
        return {"value": self.value, "reason": self.reason} | {key: value for key, value in more.items() if value}


ScorerAnswer: TypeAlias = Score | bool | int | float | str | None
Scorer: TypeAlias = Callable[..., ScorerAnswer | Awaitable[ScorerAnswer]]
"""A function of the state of a complete conversation, async or not, that returns its score, or None for no score.

With a second parameter, `(state, world)`, it also gets the conversation's live world, None without one. A
second parameter with a default is the world only if it is named `world`.
"""


_SCORE = TypeAdapter(Score)


@dataclass(frozen=True)
class Scoring:
    """A closing node that calls scorers and writes the conversation's label `scores`.

    A scorer's error is recorded in place of its score: a failure of this node would hide the other scores.
    """

    scorers: Mapping[str, Scorer]

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        world = world_of(runtime)
        scores = {name: await tried(name, scorer, state, world) for name, scorer in self.scorers.items()}
        given = {name: score for name, score in scores.items() if score is not None}
        update: Update = {"labels": {LABEL: {name: score.plain() for name, score in given.items()}}}
        if usage := total(score.usage for score in given.values()):
            update["usage"] = usage
        return update


def scoring(**scorers: Scorer) -> Node:
    """A closing node that scores the conversation: `scoring(success=nodes.tool_called("change"))`.

    `success` is what `duologue test` counts. ContractError for what cannot be called as a scorer.
    """
    for name, scorer in scorers.items():
        check_scorer(name, scorer)
    return Scoring(scorers)


def check_scorer(name: str, scorer: Any) -> None:
    """Raises ContractError unless the object can be called as a scorer, with a state or a state and a world."""
    arguments = 2 if callable(scorer) and _takes_world(scorer) else 1
    expected = "(state) or (state, world) -> a score"
    check_function(f"the scorer {name!r}", scorer, expected, arguments=arguments, may_be_async=True)


def _takes_world(scorer: Scorer) -> bool:
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    positional = [one for one in inspect.signature(scorer).parameters.values() if one.kind in kinds]
    return len(positional) > 1 and (positional[1].default is inspect.Parameter.empty or positional[1].name == "world")


async def tried(name: str, scorer: Scorer, state: State, world: Any = None) -> Score | None:
    """The scorer's score, or None for no score; if it raises or answers something else, a score with the error."""
    try:
        answer = scorer(state, world) if _takes_world(scorer) else scorer(state)
        return _checked(name, await answer if inspect.isawaitable(answer) else answer)
    except (Exception, SystemExit) as error:  # of the scorer, which may be anybody's code
        return Score(None, error=error_line(error, placed=True), frames=tuple(frames_of(error)))


def _checked(name: str, answer: Any) -> Score | None:
    if answer is None:
        return None
    score = answer if isinstance(answer, Score) else Score(answer)
    try:
        _SCORE.validate_python(score)
        total([score.usage])
    except ValidationError as error:
        first = first_invalid(error)
        expected = "expected true, false, a finite number or a text, or a Score of it"
        raise ContractError(f"the scorer {name!r}: {expected}; {first.where[0]}: got {shown(first.value)}") from None
    if score.value is None and not score.error:
        raise ContractError(f"the scorer {name!r}: expected a value or an error, got a Score without both")
    return score


def total(usages: Iterable[Mapping[str, int] | None]) -> dict[str, int] | None:
    """The sum of usages, each in the form of `data.Usage`; None without any."""
    reports = [Usage.model_validate(usage) for usage in usages if usage is not None]
    return sum(reports, Usage.none()).model_dump() if reports else None


def world_of(runtime: Runtime[Limits]) -> Any:
    """The conversation's live world; None if it has none."""
    return getattr(runtime.context, "world", None)


def agent_channels(state: State) -> dict[str, Any]:
    """The channels of the assistant's agent that are plain JSON, after its last message; else empty."""
    replies = (message for message in reversed(said(state)) if message["role"] == "assistant")
    return next((dict(channels) for message in replies if (channels := standing(message).get("kept"))), {})


class AllOf:
    """True if every scorer gives true; the reason names those that do not. Each is called, also after one failed."""

    DECIDES: ClassVar[bool] = False
    """The value of one scorer that decides the whole."""

    def __init__(self, *scorers: Scorer) -> None:
        if not scorers:
            raise SettingError("all_of, any_of: give at least one scorer")
        for number, scorer in enumerate(scorers, start=1):
            check_scorer(f"{number} in {type(self).__name__}", scorer)
        self.scorers = scorers

    async def __call__(self, state: State, world: Any = None) -> Score | None:
        scores = [await _truth(scorer, state, world) for scorer in self.scorers]
        present = [score for score in scores if score is not None]
        if failed := next((score for score in present if score.error), None):
            return replace(failed, value=None, usage=total(score.usage for score in present))
        deciding = [score for score in present if bool(score.value) is self.DECIDES]
        if not deciding and None in scores:
            return None
        return joined(self.DECIDES if deciding else not self.DECIDES, deciding or present, present)

    def provenance(self) -> dict[str, Any]:
        return {"of": [describe(scorer) for scorer in self.scorers]}


class AnyScorer(AllOf):
    """True if at least one scorer gives true; each is called."""

    DECIDES: ClassVar[bool] = True


class Negated(AllOf):
    """True where its one scorer gives false, with its reason."""

    async def __call__(self, state: State, world: Any = None) -> Score | None:
        score = await _truth(self.scorers[0], state, world)
        return score if score is None or score.error else replace(score, value=not score.value)


all_of, any_of, negated = AllOf, AnyScorer, Negated


def joined(value: bool, telling: Sequence[Score], scores: Sequence[Score]) -> Score:
    """A score with the reasons of the decisive scores, and the tokens of all `scores`."""
    reasons = dict.fromkeys(score.reason for score in telling if score.reason)
    found = tuple(dict.fromkeys(one for score in telling for one in score.found))
    return Score(value, "; ".join(reasons), total(score.usage for score in scores), found=found)


def scorers_of(node: object) -> Iterator[object]:
    """The scorers inside a closing node or a scorer; any other object is returned unchanged."""
    if not isinstance(node, Scoring | AllOf):
        yield node
        return
    for part in node.scorers.values() if isinstance(node, Scoring) else node.scorers:
        yield from scorers_of(part)


async def _truth(scorer: Scorer, state: State, world: Any) -> Score | None:
    name = str(describe(scorer)["name"])
    score = await tried(name, scorer, state, world)
    if score is None or score.error or isinstance(score.value, bool):
        return score
    error = f"the scorer {name!r}: expected true or false where scores are combined, got {score.value!r}"
    return replace(score, value=None, error=error)
