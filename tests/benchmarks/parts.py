"""The parts of the benchmark: what is measured side by side, in rounds that take one after another."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from .processes import NoResultError, asked, measured
from .workload import Pages

Round = dict[str, dict[str, Any]]
"""What one round of a part measured, by the label of each measurement."""


@dataclass(frozen=True)
class Measurement:
    """One implementation with its settings."""

    label: str
    name: str
    settings: dict[str, Any]
    needs: str | None = None
    """A package without which it is left out."""

    @property
    def possible(self) -> bool:
        return self.needs is None or find_spec(self.needs) is not None


@dataclass(frozen=True)
class Part:
    """What is measured in one round after another."""

    name: str
    told: str
    measurements: tuple[Measurement, ...]
    rounds: int | None = None
    """How many rounds there are; None: as many as are asked for."""


def _part(name: str, title: str, *measurements: Measurement, rounds: int | None = None) -> Part:
    return Part(name, title, measurements, rounds)


def _http(latency: float, concurrency: int, turns: int, jitter: float = 0.0) -> Callable[..., Measurement]:
    """Measurements against the endpoint, `waves` of as many conversations as there are at the same time."""

    def one(label: str, name: str = "", *, waves: int = 1, needs: str | None = None, **more: Any) -> Measurement:
        work = {"conversations": concurrency * waves, "concurrency": concurrency, "turns": turns}
        settings: dict[str, Any] = {**work, "latency": latency, "jitter": jitter, **more}
        return Measurement(label, name or label, settings, needs)

    return one


_64, _256, _1024 = _http(0.2, 64, 10), _http(1.0, 256, 10, 0.5), _http(1.0, 1024, 3)
_INSTANT = {"conversations": 64, "turns": 10, "concurrency": 64}

PARTS = (
    _part(
        "calls",
        "200 ms, 64 conversations at the same time, 10 turns each",
        _64("ours"),
        _64("idiomatic"),
        _64("bare", waves=2),
        _64("openevals", needs="openevals"),
        _64("one_by_one", conversations=1, concurrency=1),
    ),
    _part(
        "graph",
        "a model in the same process that answers at once",
        Measurement("ours", "ours_instant", _INSTANT | {"in_folder": False}),
        Measurement("idiomatic", "idiomatic_instant", _INSTANT),
        Measurement("model alone", "instant_alone", _INSTANT),
        Measurement("ours, in a folder", "ours_instant", _INSTANT | {"in_folder": True}),
    ),
    _part(
        "jittered",
        "0.5 to 1.5 s, 256 conversations at the same time, 10 turns each",
        _256("bare"),
        _256("ours"),
    ),
    _part(
        "many",
        "1 s, 1024 conversations at the same time, 3 turns each",
        _1024("bare"),
        _1024("ours"),
    ),
    _part(
        "kept",
        "10,000 conversations of one turn with an instant model, in a run folder",
        Measurement("ours", "kept", {"conversations": 10_000, "turns": 1, "concurrency": 64}),
        rounds=1,
    ),
    _part(
        "reading",
        "runs of 10,000 and 100,000 conversations of three exchanges, read by each command",
        *(Measurement(f"{number:,}", "reading", {"conversations": number, "turns": 3}) for number in (10_000, 100_000)),
        rounds=1,
    ),
)


def pages_from(port: int) -> dict[str, str]:
    """The texts around a conversation, as the cast sends them: everyone is measured with these."""
    measured("ours", port, conversations=1, turns=2)
    bodies = [json.loads(body) for body in asked(port, "GET", "/counts")["bodies"]]
    return vars(Pages.of(bodies))


def small(measurement: Measurement) -> Measurement:
    """The same with little work: only to see that it works."""
    bounds = {"conversations": 6, "turns": 2, "concurrency": 3, "latency": 0.001}
    settings = {name: min(value, bounds.get(name, value)) for name, value in measurement.settings.items() if value}
    settings |= {name: value for name, value in measurement.settings.items() if not value}
    return Measurement(measurement.label, measurement.name, settings, measurement.needs)


def one_round(part: Part, port: int, pages: dict[str, str], *, tiny: bool, say: Callable[[str], None]) -> Round:
    """Each measurement of a part once; those that came to nothing, or cannot be made, are missing."""
    measurements_done: Round = {}
    for measurement in part.measurements:
        if not measurement.possible:
            continue
        settings = (small(measurement) if tiny else measurement).settings
        try:
            measurements_done[measurement.label] = checked(measured(measurement.name, port, pages=pages, **settings))
        except NoResultError as error:
            say(f"{part.name}: {error}")
    return measurements_done


def checked(result: dict[str, Any]) -> dict[str, Any]:
    """The result; NoResultError if not every call was made, or others were."""
    calls = result.get("made") or result["calls"]
    if calls != result["expected"] or result["wrong"]:
        raise NoResultError(
            f"{result['name']}: {calls} of {result['expected']} calls, {result['wrong']} of another kind"
        )
    return result
