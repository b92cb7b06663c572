"""The figures of tuning: a search for the settings of the rule-based user, and one for retrieval-based users."""

from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import mean, median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from ...data.tuning import WORST, halved, worse
from ..tuning import tune
from .claim import Claim, Measured, OpenData
from .printed import of_table
from .realism import PEOPLE

if TYPE_CHECKING:
    from ...data.tuning import TuningResult

PAGE = "docs/users/tune.md"
FURTHEST = "ten measures furthest at the start"
HALVED, WORSE = "of these ten, those at half the distance or less", "measures worse beyond their human-human baseline"


def _searched(
    user: str,
    trials: int,
    values: "Callable[[TuningResult], dict[str, Any]]",
    search: Mapping[str, Any] | None = None,
) -> Callable[..., Measured]:
    """The measurement of a search; `values` gives the figures of its result."""

    def measured(data: OpenData, seed: int) -> Measured:
        people = str(data.path(PEOPLE))
        with TemporaryDirectory() as out:
            result = tune(
                "recllmsim",
                people,
                search,
                user=user.format(people),
                assistant=f"people:{people}",
                trials=trials,
                out=Path(out) / "tune",
                seed=seed,
            )
        return Measured(values(result), ", ".join(f"{count} users in {part}" for part, count in result.users.items()))

    return measured


def _offline_printed() -> Mapping[str, str]:
    columns = ("start", "tuned")
    return {
        **of_table(PAGE, (FURTHEST, *columns, "human-human baseline"), (*columns, "baseline")),
        **of_table(PAGE, ("figure", *columns), columns),
        **of_table(PAGE, ("measure", *columns), columns),
    }


def _longer_printed() -> Mapping[str, str]:
    return of_table(PAGE, ("with 42 trials", "start", "tuned"), ("start", "tuned"))


def _offline_values(result: "TuningResult") -> dict[str, Any]:
    if result.judged is None or result.start is None or result.chosen is None:
        return {}
    start, best = result.judged.start, result.judged.best
    before, after = start.distances(), best.distances()
    values: dict[str, Any] = {f"{gap.name}: baseline": gap.floor for gap in start.gaps}
    values |= {f"{name}: start": distance for name, distance in before.items()}
    values |= {f"{name}: tuned": distance for name, distance in after.items()}
    figures: dict[str, tuple[float, float]] = {
        "value on the test split": (start.value, best.value),
        "value on select": (result.start.value, result.chosen.value),
        "mean distance over all measures": (mean(before.values()), mean(after.values())),
        "median of the ten measures above": (
            median(gap.distance for gap in start.gaps[:WORST]),
            median(after[gap.name] for gap in start.gaps[:WORST]),
        ),
    }
    for name, (first, last) in figures.items():
        values |= {f"{name}: start": first, f"{name}: tuned": last}
    return values | _reached(result, "tuned")


def _reached(result: "TuningResult", column: str) -> dict[str, Any]:
    """How many of the ten furthest measures were halved, and how many measures got worse."""
    if result.judged is None:
        return {}
    start, best = result.judged.start, result.judged.best
    return {
        f"{HALVED}: {column}": len(halved(start, best)),
        f"{WORSE}: {column}": len(worse(start, best)),
    }


def _people_printed() -> Mapping[str, str]:
    columns = ("default weights", "best of seven trials")
    return of_table(PAGE, ("figure", *columns), columns)


def _people_values(result: "TuningResult") -> dict[str, Any]:
    if result.judged is None or result.start is None or result.chosen is None:
        return {}
    start, best = result.judged.start, result.judged.best
    figures = {
        "value on select": (result.start.value, result.chosen.value),
        "value on the test split": (start.value, best.value),
        "mean distance on the test split": (mean(start.distances().values()), mean(best.distances().values())),
    }
    columns = ("default weights", "best of seven trials")
    values = {
        f"{name}: {column}": value
        for name, pair in figures.items()
        for column, value in zip(columns, pair, strict=True)
    }
    return values | _reached(result, columns[1])


MIXED = ("shares in the corpus", "best of the trials", "worst of the trials")


def _mix_printed() -> Mapping[str, str]:
    return of_table(PAGE, ("weights of three user types", *MIXED), MIXED)


def _mix_values(result: "TuningResult") -> dict[str, Any]:
    start, *tried = [trial.judgement.value for trial in result.trials if trial.judgement is not None]
    figures = zip(MIXED, (start, min(tried), max(tried)), strict=True)
    return {f"value on select: {column}": value for column, value in figures}


CLAIMS = (
    Claim(
        "tune-offline",
        "a search for the settings of the rule-based user, with 22 trials",
        (PAGE,),
        10,
        {PEOPLE: 219},
        _offline_printed,
        _searched("offline", 22, _offline_values),
    ),
    Claim(
        "tune-longer",
        "the same search with 42 trials",
        (PAGE,),
        20,
        {PEOPLE: 219},
        _longer_printed,
        _searched("offline", 42, _offline_values),
    ),
    Claim(
        "tune-people",
        "a search for the weights of retrieval-based users, with 7 trials",
        (PAGE,),
        10,
        {PEOPLE: 219},
        _people_printed,
        _searched("people:{}", 7, _people_values),
    ),
    Claim(
        "tune-mix",
        "a search for the weights of three user types, with 20 trials",
        (PAGE,),
        15,
        {PEOPLE: 219},
        _mix_printed,
        _searched("people:{}?mix=3", 20, _mix_values, {"user.mix": {"types": 3}}),
    ),
)
