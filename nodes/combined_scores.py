"""Scorers made of other scorers: all of them, any of them, the opposite of one."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..errors import SettingError
from .contract import describe
from .scores import Score, Scorer, Scoring, check_scorer, total, tried
from .state import State


@dataclass(frozen=True)
class AllOf:
    """True if every scorer says true. See `all_of`."""

    scorers: tuple[Scorer, ...]

    async def __call__(self, state: State, world: Any = None) -> Score | None:
        scores = [await _asked(scorer, state, world) for scorer in self.scorers]
        if failed := _failed(scores):
            return failed
        failing = [score for score in scores if score is not None and not score.value]
        if failing or None not in scores:
            return joined(not failing, failing or _known(scores), _known(scores))
        return None

    def provenance(self) -> dict[str, Any]:
        return {"of": [describe(scorer) for scorer in self.scorers]}


@dataclass(frozen=True)
class AnyOf:
    """True if a scorer says true. See `any_of`."""

    scorers: tuple[Scorer, ...]

    async def __call__(self, state: State, world: Any = None) -> Score | None:
        scores = [await _asked(scorer, state, world) for scorer in self.scorers]
        if failed := _failed(scores):
            return failed
        holding = [score for score in scores if score is not None and score.value]
        if holding or None not in scores:
            return joined(bool(holding), holding or _known(scores), _known(scores))
        return None

    def provenance(self) -> dict[str, Any]:
        return {"of": [describe(scorer) for scorer in self.scorers]}


@dataclass(frozen=True)
class Negated:
    """True if the scorer says false. See `negated`."""

    scorer: Scorer

    async def __call__(self, state: State, world: Any = None) -> Score | None:
        score = await _asked(self.scorer, state, world)
        return score if score is None or score.error else replace(score, value=not score.value)

    def provenance(self) -> dict[str, Any]:
        return {"of": describe(self.scorer)}


def all_of(*scorers: Scorer) -> AllOf:
    """True if every scorer says true; the reason names those that do not. Each is asked, also after one has failed."""
    return AllOf(_checked("all_of", scorers))


def any_of(*scorers: Scorer) -> AnyOf:
    """True if at least one scorer says true; each is asked."""
    return AnyOf(_checked("any_of", scorers))


def negated(scorer: Scorer) -> Negated:
    """True where the scorer says false, with its reason."""
    return Negated(*_checked("negated", (scorer,)))


def joined(value: bool, telling: Sequence[Score], asked: Sequence[Score]) -> Score:
    """A score with the reasons of those that tell, and the tokens of all that were asked."""
    reason = "; ".join(dict.fromkeys(score.reason for score in telling if score.reason))
    return Score(value, reason, total(score.usage for score in asked))


def _failed(scores: Sequence[Score | None]) -> Score | None:
    """The score of scorers of which one failed: the first error, and the tokens of all; None if none failed."""
    error = next((score.error for score in scores if score is not None and score.error), "")
    return Score(None, error=error, usage=total(score.usage for score in _known(scores))) if error else None


def scorers_of(node: object) -> Iterator[object]:
    """The scorers that a closing node or a scorer is made of; what is not made of scorers is given as it is."""
    match node:
        case Scoring():
            parts: tuple[Scorer, ...] = tuple(node.scorers.values())
        case AllOf() | AnyOf():
            parts = node.scorers
        case Negated():
            parts = (node.scorer,)
        case _:
            yield node
            return
    for part in parts:
        yield from scorers_of(part)


def _known(scores: Sequence[Score | None]) -> list[Score]:
    return [score for score in scores if score is not None]


async def _asked(scorer: Scorer, state: State, world: Any) -> Score | None:
    name = str(describe(scorer)["name"])
    score = await tried(name, scorer, state, world)
    if score is None or score.error or isinstance(score.value, bool):
        return score
    told = f"the scorer {name!r}: expected true or false where scores are combined, got {score.value!r}"
    return replace(score, value=None, error=told)


def _checked(what: str, scorers: tuple[Scorer, ...]) -> tuple[Scorer, ...]:
    if not scorers:
        raise SettingError(f"{what}: give at least one scorer")
    for number, scorer in enumerate(scorers, start=1):
        check_scorer(f"{what}, scorer {number}", scorer)
    return scorers
