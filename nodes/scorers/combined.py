"""Scorers made of other scorers: all of them, any of them, the opposite of one."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from ...errors import SettingError
from ..contract import describe
from ..state import State
from .scores import Score, Scorer, Scoring, check_scorer, total, tried


@dataclass(frozen=True)
class _Combined:
    """True or false by the scores of several scorers, each of which is called."""

    scorers: tuple[Scorer, ...]

    DECIDES: ClassVar[bool]
    """The value of a scorer that decides the whole."""

    async def __call__(self, state: State, world: Any = None) -> Score | None:
        scores = [await _truth(scorer, state, world) for scorer in self.scorers]
        if failed := _failed(scores):
            return failed
        results = _present(scores)
        deciding = [score for score in results if bool(score.value) is self.DECIDES]
        if not deciding and None in scores:
            return None
        return joined(self.DECIDES if deciding else not self.DECIDES, deciding or results, results)

    def provenance(self) -> dict[str, Any]:
        return {"of": [describe(scorer) for scorer in self.scorers]}


class AllOf(_Combined):
    """True if every scorer gives true: see `all_of`."""

    DECIDES: ClassVar[bool] = False


class AnyScorer(_Combined):
    """True if a scorer gives true: see `any_of`."""

    DECIDES: ClassVar[bool] = True


@dataclass(frozen=True)
class Negated:
    """True if the scorer gives false: see `negated`."""

    scorer: Scorer

    async def __call__(self, state: State, world: Any = None) -> Score | None:
        score = await _truth(self.scorer, state, world)
        return score if score is None or score.error else replace(score, value=not score.value)

    def provenance(self) -> dict[str, Any]:
        return {"of": describe(self.scorer)}


def all_of(*scorers: Scorer) -> AllOf:
    """True if every scorer gives true; the reason names those that do not.

    Each is called, also after one has failed.
    """
    return AllOf(_checked("all_of", scorers))


def any_of(*scorers: Scorer) -> AnyScorer:
    """True if at least one scorer gives true; each is called."""
    return AnyScorer(_checked("any_of", scorers))


def negated(scorer: Scorer) -> Negated:
    """True where the scorer gives false, with its reason."""
    return Negated(*_checked("negated", (scorer,)))


def joined(value: bool, telling: Sequence[Score], scores: Sequence[Score]) -> Score:
    """A score with the reasons of the decisive scores, and the tokens of all `scores`."""
    reason = "; ".join(dict.fromkeys(score.reason for score in telling if score.reason))
    return Score(value, reason, total(score.usage for score in scores))


def _failed(scores: Sequence[Score | None]) -> Score | None:
    """The first error of the scores, with the tokens of all; None if none failed."""
    failed = next((score for score in _present(scores) if score.error), None)
    return (
        None if failed is None else replace(failed, value=None, usage=total(score.usage for score in _present(scores)))
    )


def scorers_of(node: object) -> Iterator[object]:
    """The scorers inside a closing node or a scorer; any other object is returned unchanged."""
    match node:
        case Scoring():
            parts: tuple[Scorer, ...] = tuple(node.scorers.values())
        case _Combined():
            parts = node.scorers
        case Negated():
            parts = (node.scorer,)
        case _:
            yield node
            return
    for part in parts:
        yield from scorers_of(part)


def _present(scores: Sequence[Score | None]) -> list[Score]:
    return [score for score in scores if score is not None]


async def _truth(scorer: Scorer, state: State, world: Any) -> Score | None:
    name = str(describe(scorer)["name"])
    score = await tried(name, scorer, state, world)
    if score is None or score.error or isinstance(score.value, bool):
        return score
    error = f"the scorer {name!r}: expected true or false where scores are combined, got {score.value!r}"
    return replace(score, value=None, error=error)


def _checked(what: str, scorers: tuple[Scorer, ...]) -> tuple[Scorer, ...]:
    if not scorers:
        raise SettingError(f"{what}: give at least one scorer")
    for number, scorer in enumerate(scorers, start=1):
        check_scorer(f"{what}, scorer {number}", scorer)
    return scorers
