"""Where the scenarios of a run come from: pydantic models whose fields are the options of the command."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from ..data.formats.jsonfiles import read_lines
from ..data.identity import digest, ordinals
from ..data.simquac import MAX_BYTES
from ..errors import DataError, SettingError, at
from ..nodes.replay import replayed_path
from ..nodes.state import State


@dataclass(frozen=True)
class Scenarios:
    """Initial states in order, and what is to be said of where they come from."""

    states: Sequence[State]
    source: dict[str, Any]
    """For the manifest and the card: `source`, and where they are known `licence` and `licence_id`."""
    settings: dict[str, Any] = field(default_factory=dict)
    """Settings of the cast that the scenarios decide where nobody gave them, such as the language."""
    notes: tuple[str, ...] = ()
    """Lines for the reader."""
    broken: bool = False
    """Whether a part of the source could not be read."""


class ScenarioSource(BaseModel):
    """What every source lets one choose."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    limit: int | None = Field(default=None, ge=1, description="Only the first N scenarios.")
    repeats: int = Field(default=1, ge=1, description="Conversations about each scenario.")
    max_topic_bytes: int = Field(default=MAX_BYTES, ge=1, description="Most bytes of a scenario's texts.")
    licence: str | None = Field(
        default=None, description="Licence and attribution of the scenarios' text, for the card."
    )

    def read(self, settings: Any, seed: int) -> Scenarios:
        """The scenarios, drawn by the seed where they are drawn and repeated; DataError for what cannot be used."""
        raise NotImplementedError

    def repeated(self, states: Sequence[State], settings: Any) -> list[State]:
        """Each state as often as asked for; SettingError where every repeat would be the same."""
        if self.repeats > 1 and len(replayed_paths(settings)) == 2:
            raise SettingError(
                "--repeats: a conversation whose both sides are replayed is the same each time: leave it out"
            )
        return repeated(states, self.repeats)

    def check_size(self, texts: Iterable[str], where: str) -> None:
        """DataError if the texts of a scenario have more bytes than are allowed."""
        size = sum(len(text.encode("utf-8", "replace")) for text in texts)
        if size > self.max_topic_bytes:
            raise DataError(
                f"{where}: has {size:,} bytes of text, more than {self.max_topic_bytes:,}: shorten it, or raise --max-topic-bytes"
            )

    def about(self, **known: Any) -> dict[str, Any]:
        """What the manifest says of the source, with the licence that was given."""
        return known | {"licence": self.licence or known.get("licence")}


class ScenarioFile(ScenarioSource):
    """A file of scenarios, for any cast."""

    scenarios: Path | None = Field(
        default=None, description="JSON lines, an object each: the scenario, its 'kind' among its keys."
    )

    def read(self, settings: Any, seed: int) -> Scenarios:
        """Each line as a scenario; equal ones are told apart by number."""
        if self.scenarios is None:
            raise SettingError("--scenarios: give a file of JSON lines, an object for each scenario")
        found = []
        for number, value in read_lines(self.scenarios):
            if not isinstance(value, dict) or not isinstance(value.get("kind"), str):
                raise DataError(f"{at(self.scenarios, f'line {number}')}: is no object with a text 'kind': give it one")
            self.check_size(texts_of(value), at(self.scenarios, f"line {number}"))
            found.append(value)
        if not found:
            raise DataError(f"{at(self.scenarios)}: holds no scenario: write one object a line")
        numbers = ordinals(found)
        states: list[State] = [
            {"scenario": scenario, "ordinal": ordinal} for scenario, ordinal in zip(found, numbers, strict=True)
        ]
        return Scenarios(self.repeated(states[: self.limit], settings), self.about(source=self.scenarios.name))


def texts_of(value: Any) -> Iterator[str]:
    """Every text inside a JSON value."""
    if isinstance(value, str):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from texts_of(inner)


def repeated(scenarios: Iterable[State], repeats: int) -> list[State]:
    """Each scenario as often as asked for, its repeats numbered."""
    return [{**scenario, "repeat": repeat} for scenario in scenarios for repeat in range(repeats)]


def chosen(
    scenarios: Sequence[State], *, limit: int | None = None, sample: int | None = None, seed: int = 0
) -> list[State]:
    """The first `limit` scenarios, or `sample` that the seed draws, in their order; else all.

    A draw is a digest of seed and scenario, so what is drawn does not hang on what else is in the list.
    """
    if limit is not None and sample is not None:
        raise SettingError("limit and sample exclude each other: take the first N, or N drawn ones")
    if sample is None:
        return list(scenarios[:limit])
    if sample > len(scenarios):
        raise SettingError(f"a sample of {sample} cannot be drawn from {len(scenarios)} scenarios: ask for fewer")

    def draw(number: int) -> str:
        return digest("sample", seed, scenarios[number]["scenario"], scenarios[number].get("ordinal", 0))

    return [scenarios[number] for number in sorted(sorted(range(len(scenarios)), key=draw)[:sample])]


def replayed_paths(settings: Any) -> list[Path]:
    """The data sets that the cast's sides replay, the user's first."""
    paths = (replayed_path(getattr(settings, side, None)) for side in ("user", "assistant"))
    return [path for path in paths if path is not None]
