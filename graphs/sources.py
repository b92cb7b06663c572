"""Where the scenarios of a run come from: pydantic models whose fields are the options of the command."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from ..data.formats.jsonfiles import read_lines
from ..data.identity import digest, ordinals
from ..data.simquac import MAX_BYTES
from ..errors import DataError, SettingError, at
from ..nodes.replay import replayed_path
from ..nodes.state import State
from ..nodes.success import KEY as SUCCESS
from ..nodes.success import success_of, with_judge

PLAIN_KEYS = ("goal", "facts", "persona", "first_message", SUCCESS, "title")
"""Keys of a scenario without a `kind` that have a meaning; it may have others."""


@dataclass(frozen=True)
class Scenarios:
    """Initial states in order, and where they come from."""

    states: Sequence[State]
    source: dict[str, Any]
    """For the manifest and the card: `source`, and if known `licence` and `licence_id`."""
    settings: dict[str, Any] = field(default_factory=dict)
    """Settings of the cast that follow from the scenarios unless they were set, such as the language."""
    notes: tuple[str, ...] = ()
    """Lines for the reader."""
    broken: bool = False
    """Whether a part of the source could not be read."""


class ScenarioSource(BaseModel):
    """Options that every source of scenarios has."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    limit: int | None = Field(default=None, ge=1, description="Only the first N scenarios.")
    repeats: int = Field(default=1, ge=1, description="Conversations about each scenario.")
    max_topic_bytes: int = Field(default=MAX_BYTES, ge=1, description="Most bytes of text in a scenario.")
    licence: str | None = Field(
        default=None, description="Licence and attribution of the scenarios' text; written into the data set's README."
    )

    def read(self, settings: Any, seed: int) -> Scenarios:
        """The scenarios: sampled with the seed if a sample is wanted, and repeated. DataError for unusable files."""
        raise NotImplementedError

    def repeated(self, states: Sequence[State], settings: Any) -> list[State]:
        """Each state as often as `repeats` says; SettingError if every repeat would be the same."""
        if self.repeats > 1 and len(replayed_paths(settings)) == 2:
            raise SettingError("--repeats: both sides are replayed, so every repeat would be the same: leave it out")
        return repeated(states, self.repeats)

    def check_size(self, texts: Iterable[str], where: str) -> None:
        """Raise DataError if the texts of a scenario have more bytes than allowed."""
        size = sum(len(text.encode("utf-8", "replace")) for text in texts)
        if size > self.max_topic_bytes:
            raise DataError(
                f"{where}: has {size:,} bytes of text, more than {self.max_topic_bytes:,}: shorten it, or raise --max-topic-bytes"
            )

    def source_info(self, **info: Any) -> dict[str, Any]:
        """What the manifest says of the source; the option `licence` comes before the licence in `info`."""
        return info | {"licence": self.licence or info.get("licence")}


class ScenarioFile(ScenarioSource):
    """A file of scenarios, for any cast: JSON lines.

    A line has a `kind`, which its domain knows, or a `goal` or a `first_message` of the user. With any, `success` says
    what counts as success (`nodes.success`).
    """

    scenarios: Path | None = Field(
        default=None,
        description="File of JSON lines: each line a scenario, an object with a text 'kind', 'goal' or 'first_message'.",
    )
    judge: str | None = Field(
        default=None,
        description="Model that judges where a scenario's success asks for a judgement and names no model: openai:NAME.",
    )

    def read(self, settings: Any, seed: int) -> Scenarios:
        """Each line as a scenario; equal scenarios get different numbers."""
        if self.scenarios is None:
            raise SettingError("--scenarios: give a file of JSON lines, an object for each scenario")
        states: list[State] = []
        for number, value in read_lines(self.scenarios):
            where = at(self.scenarios, f"line {number}")
            try:
                states.append(self.state(value))
            except (DataError, SettingError) as error:
                raise DataError(f"{where}: {error}") from None
            self.check_size(texts_of(value), where)
        if not states:
            raise DataError(f"{at(self.scenarios)}: holds no scenario: write one object a line")
        for state, ordinal in zip(states, ordinals(state["scenario"] for state in states), strict=True):
            state["ordinal"] = ordinal
        return Scenarios(
            self.repeated(states[: self.limit], settings),
            self.source_info(source=self.scenarios.name),
            self.settings_for(states),
        )

    def state(self, scenario: Any) -> State:
        """The initial state of a scenario; DataError or SettingError if it cannot be one."""
        if not isinstance(scenario, dict) or not isinstance(scenario.get("kind", ""), str):
            raise DataError("is no object with a text 'kind', 'goal' or 'first_message': give it one")
        plain = "kind" not in scenario
        if plain:
            check_plain(scenario)
        if isinstance(scenario.get(SUCCESS), dict) or (plain and SUCCESS in scenario):
            if self.judge is not None:
                scenario = scenario | {SUCCESS: with_judge(scenario[SUCCESS], self.judge)}
            success_of(scenario[SUCCESS])
        state: State = {"scenario": scenario}
        if plain and "first_message" in scenario:
            state["messages"] = [{"role": "user", "text": scenario["first_message"]}]
        return state

    def settings_for(self, states: Sequence[State]) -> dict[str, Any]:
        """Settings of the cast that follow from the scenarios unless they were set."""
        return {}


def check_plain(scenario: dict[str, Any]) -> None:
    """Raises DataError for a scenario without a `kind` that has neither goal nor first message, or a misspelt key."""
    for key in ("goal", "first_message", "persona"):
        if key in scenario and not (isinstance(scenario[key], str) and scenario[key].strip()):
            raise DataError(f"{key!r} is no text: write what the user wants, says or is")
    cutoff = 0.8 if {"goal", "first_message"} & set(scenario) else 0.75
    for key in scenario:
        if key not in PLAIN_KEYS and (meant := get_close_matches(key, PLAIN_KEYS, n=1, cutoff=cutoff)):
            raise DataError(f"has the key {key!r}: did you mean {meant[0]!r}?")
    if "goal" not in scenario and "first_message" not in scenario:
        raise DataError("has no text 'kind', 'goal' or 'first_message': give it one")


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
    """The first `limit` scenarios, or a random `sample` of them in their order, or all.

    Whether a scenario is drawn depends on a digest of seed and scenario: on its rank, not its position.
    """
    if limit is not None and sample is not None:
        raise SettingError("limit and sample exclude each other: take the first N, or N at random")
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
