"""The space of a search when a simulator is tuned: values for each name, from a file or mapping."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from pydantic import Field, JsonValue, ValidationError, model_validator
from typing_extensions import override

from ...data.attempts import Record
from ...data.files.settings_files import read_settings
from ...errors import DataError, SettingError, at, first_invalid, of_extra
from ...nodes.models.offline.manner import OfflineStyle
from ...nodes.models.specs import query_of
from ...nodes.people import ChoiceWeights, people_path
from ...nodes.people.user_types import MOST_TYPES, mix_weights

EXTRA = "tune"
"""The extra that the searches need."""

PLACES = ("user", "assistant", "cast", "limits")
"""What a name begins with: an argument of the user's or the assistant's spec, a setting of the cast, a limit."""

_NAME = re.compile(r"(user|assistant|cast|limits)\.[A-Za-z_]\w*")

_MOST = {"thanks": 0.3, "exclaim": 0.3}
"""Rates of the offline user's style that are not searched up to 1."""

DIGITS = 4
"""Significant digits of a value: it is to be read, and given again."""


class SearchEntry(Record):
    """What is searched over under a name."""

    @property
    def tested(self) -> tuple[Any, ...]:
        """Values that the simulator must accept before the search."""
        raise NotImplementedError

    def distribution(self, optuna: Any) -> Any:
        """The entry as a distribution of Optuna."""
        raise NotImplementedError

    def rounded(self, value: Any) -> Any:
        """The value as it is given to the simulator."""
        return value

    def parts(self, name: str) -> dict[str, "SearchEntry"]:
        """What Optuna searches over, each part by a name of its own."""
        return {name: self}

    def split(self, name: str, value: Any) -> dict[str, Any]:
        """The values of the parts."""
        return {name: value}

    def joined(self, name: str, params: Mapping[str, Any]) -> Any:
        """The value of which Optuna gave the parts."""
        return self.rounded(params[name])


class Range(SearchEntry):
    """Numbers from `low` to `high`, both included.

    Whole numbers if both ends, and `step`, are whole.
    """

    low: int | float
    high: int | float
    log: bool = False
    """Search by the logarithm."""
    step: int | float | None = None
    start: int | float | None = None
    """The value that counts for the settings as they are, so that the search learns from them too."""

    @model_validator(mode="after")
    def _ordered(self) -> "Range":
        if not self.low < self.high:
            raise ValueError("low must be below high")
        if self.log and (self.low <= 0 or self.step is not None):
            raise ValueError("log needs a low above 0 and no step")
        if self.step is not None and not 0 < self.step <= self.high - self.low:
            raise ValueError("step must be above 0 and no greater than the range")
        if self.start is not None and not self.low <= self.start <= self.high:
            raise ValueError("start must lie in the range")
        return self

    @property
    def whole(self) -> bool:
        """Whether it is a range of whole numbers."""
        return all(isinstance(value, int) for value in (self.low, self.high, self.step) if value is not None)

    @property
    @override
    def tested(self) -> tuple[Any, ...]:
        return (self.low, self.high)

    @override
    def distribution(self, optuna: Any) -> Any:
        kind = optuna.distributions.IntDistribution if self.whole else optuna.distributions.FloatDistribution
        steps = {"step": self.step} if self.step is not None else {}
        return kind(self.low, self.high, log=self.log, **steps)

    @override
    def rounded(self, value: Any) -> Any:
        if self.whole:
            return int(value)
        short = float(f"{value:.{DIGITS}g}")
        return short if self.low <= short <= self.high else value


class SearchChoices(SearchEntry):
    """One of several values."""

    choices: tuple[str | int | float | bool | None, ...] = Field(min_length=2)
    start: JsonValue = None

    @model_validator(mode="after")
    def _among(self) -> "SearchChoices":
        if "start" in self.model_fields_set and self.start not in self.choices:
            raise ValueError("start must be one of the choices")
        return self

    @property
    @override
    def tested(self) -> tuple[Any, ...]:
        return self.choices

    @override
    def distribution(self, optuna: Any) -> Any:
        return optuna.distributions.CategoricalDistribution(self.choices)


class SearchWeights(SearchEntry):
    """The weights of a mixture of user types, in one text such as `0.2,0.5,0.3`.

    Each weight is searched from 0 to 1, and all are divided by their sum.
    """

    types: int = Field(ge=2, le=MOST_TYPES)
    start: str | None = None

    @model_validator(mode="after")
    def _of_types(self) -> "SearchWeights":
        if self.start is not None and len(mix_weights(self.start)) != self.types:
            raise ValueError("start must have a weight for each type")
        return self

    @property
    @override
    def tested(self) -> tuple[Any, ...]:
        return (",".join(["1"] * self.types),)

    @override
    def parts(self, name: str) -> dict[str, SearchEntry]:
        return {f"{name}.{number}": Range(low=0.0, high=1.0) for number in range(self.types)}

    @override
    def split(self, name: str, value: Any) -> dict[str, Any]:
        weights = mix_weights(str(value))
        return {part: weight / sum(weights) for part, weight in zip(self.parts(name), weights, strict=True)}

    @override
    def joined(self, name: str, params: Mapping[str, Any]) -> str:
        weights = [params[part] for part in self.parts(name)]
        return ",".join(f"{round(weight / (sum(weights) or 1.0), DIGITS):g}" for weight in weights)


Space: TypeAlias = Mapping[str, SearchEntry]
"""What is searched over, by names such as `user.temperature` or `limits.max_turns`."""


def space_of(source: Mapping[str, Any] | str | Path) -> dict[str, SearchEntry]:
    """The space of a mapping, or of a file of JSON, TOML or YAML.

    DataError or SettingError for an invalid one.

    >>> space_of({"user.temperature": {"low": 0.1, "high": 1.5}})["user.temperature"].high
    1.5
    """
    where = "search" if isinstance(source, Mapping) else at(Path(source))
    entries = source if isinstance(source, Mapping) else read_settings(Path(source))
    if not isinstance(entries, Mapping) or not entries:
        raise DataError(
            f'{where}: holds no names to search over: write {{"user.temperature": {{"low": 0.1, "high": 1.5}}}}'
        )
    flat = {**{name: value for name, value in entries.items() if name not in PLACES}, **_nested(entries)}
    return {str(name): _entry(str(name), value, where) for name, value in flat.items()}


def _nested(entries: Mapping[Any, Any]) -> dict[str, Any]:
    """A table for each place, as TOML writes `[user.temperature]`, with names in one piece."""
    tables = {place: table for place, table in entries.items() if place in PLACES and isinstance(table, Mapping)}
    return {f"{place}.{name}": value for place, table in tables.items() for name, value in table.items()}


def _entry(name: str, value: Any, where: str) -> SearchEntry:
    if isinstance(value, SearchEntry):
        return value
    if not _NAME.fullmatch(name):
        raise SettingError(f"{where}: {name}: write user.NAME, assistant.NAME, cast.NAME or limits.NAME")
    if not isinstance(value, Mapping) or not ({"low", "high"} <= value.keys() or {"choices", "types"} & value.keys()):
        raise SettingError(f"{where}: {name}: give it low and high, or choices, or the types of a mixture")
    kind = SearchChoices if "choices" in value else SearchWeights if "types" in value else Range
    try:
        return kind.model_validate(dict(value))
    except ValidationError as error:
        first = first_invalid(error)
        key = f"{first.where[0]}: " if first.where else ""
        raise SettingError(f"{where}: {name}: {key}{first.reason}") from None


def default_space(user: object) -> dict[str, SearchEntry]:
    """The default space of a user: the offline user's style, or the weights of a retrieval-based user.

    With types of users (`mix=`) their weights belong to it.
    """
    if isinstance(user, str) and user.partition("?")[0] == "offline":
        rates = OfflineStyle().model_dump().items()
        return {
            f"user.{name}": Range(low=0.0, high=_MOST.get(name, 1.0), step=0.05, start=start) for name, start in rates
        }
    if people_path(user) is not None:
        usual = {
            name: getattr(ChoiceWeights.of("user"), name) for name in ChoiceWeights.names()
        }  # from nothing to twice as much
        weights: dict[str, SearchEntry] = {
            f"user.{name}": Range(low=0.0, high=2 * value, step=0.05, start=value)
            for name, value in usual.items()
            if value
        }
        if mix := str(query_of(str(user)).get("mix", "")):
            numbers = mix_weights(mix)
            settings: dict[str, Any] = (
                {"types": len(numbers), "start": mix} if numbers[1:] else {"types": int(numbers[0])}
            )
            weights["user.mix"] = SearchWeights(**settings)
        return weights
    raise SettingError(
        "--search: only offline and people:SRC have a space of their own: give a file of names to search"
    )


def proposed(space: Space, tried: Sequence[tuple[Mapping[str, Any], float | None]], seed: int) -> dict[str, Any]:
    """The next values to try; `tried`: values with their results, None for a failed trial.

    Tree-structured Parzen estimator (Bergstra et al. 2011), Optuna's. It depends on nothing but its arguments. Values
    that were tried and do not name all of the space are left out. MissingExtraError without the extra `tune`.
    """
    optuna = of_extra("optuna", EXTRA)
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    parts = {part: entry for name, whole in space.items() for part, entry in whole.parts(name).items()}
    distributions = {part: entry.distribution(optuna) for part, entry in parts.items()}
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed), direction="minimize")
    failed = optuna.trial.TrialState.FAIL
    for values, value in tried:
        if values.keys() >= space.keys():
            outcome = {"value": value} if value is not None else {"state": failed}
            params = {
                part: one for name, entry in space.items() for part, one in entry.split(name, values[name]).items()
            }
            study.add_trial(optuna.trial.create_trial(params=params, distributions=distributions, **outcome))
    trial = study.ask(distributions)
    return {name: entry.joined(name, trial.params) for name, entry in space.items()}


def start_of(space: Space) -> dict[str, Any]:
    """The values that count for the settings as they are; only names with one."""
    return {name: entry.model_dump()["start"] for name, entry in space.items() if "start" in entry.model_fields_set}
