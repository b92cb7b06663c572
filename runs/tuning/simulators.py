"""The simulator that is tuned: a cast whose settings hold the values of a trial, and its scenarios."""

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from pydantic import ValidationError

from ...data.people.splits import UserPart
from ...errors import DuologueError, SettingError, first_invalid
from ...graphs import Cast, casts
from ...graphs.scenarios.sources import Scenarios
from ...nodes.limits import Limits
from ...nodes.models.offline.manner import OfflineStyle
from ...nodes.models.offline.model import OfflineChatModel
from ...nodes.models.specs import parse_spec
from ...nodes.people import people_path
from .search_space import Space

SIDES = ("user", "assistant")
LIKE = "like"
"""A cast's setting that names people whom the user is to be like."""
_USES = ("like", "rewrite")
"""Arguments of a model's spec that name people's conversations."""
_MEMORY: Mapping[UserPart, UserPart] = {"learn": "learn", "select": "learn", "test": "tune"}
"""Whose words a people-made speaker may say where it meets the people of a part."""

OWN = "own"
"""In place of a source: the scenarios that the cast makes itself."""


@dataclass(frozen=True)
class Simulator:
    """The simulator to tune.

    SettingError for a retrieval corpus with the people to judge by.
    """

    cast: str
    """A registered name, or the import path of a function that returns a cast."""
    people: Path
    """People's conversations: each trial is simulated on the scenarios of some of them."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Of the cast: `user`, `assistant` and others."""
    scenarios: Path | str | None = None
    """Another source of scenarios, of which the same parts are taken; `own`: the cast's own, for all parts."""
    limit: int | None = None
    """Maximum of conversations of a trial, also of the judging."""
    limits: Mapping[str, Any] = field(default_factory=dict)
    """Limits that differ from the cast's, by the names of `Limits`."""

    def __post_init__(self) -> None:
        for name in (*SIDES, LIKE):
            spec = self.settings.get(name)
            part = parse_spec(str(spec))[2].get("part", "all") if remembers(name, spec) else "all"
            if part not in ("all", "tune"):
                raise SettingError(
                    f"{name}: part={part} is not the part to tune on: leave it out, trials use the users to learn from"
                )

    def check(self, space: Space) -> None:
        """SettingError for an unknown name or an invalid value; both ends of a range are tried."""
        for name, entry in space.items():
            for value in entry.tested:
                try:
                    self.settings_with({name: value}, "select", checked=True)
                    self.limits_with({name: value})
                except (DuologueError, TypeError, ValueError) as error:
                    raise SettingError(f"search: {name}={value}: {error}") from None
        self._check_manner([name for name in space if name.removeprefix("user.") in OfflineStyle.model_fields])

    def _check_manner(self, names: Sequence[str]) -> None:
        """SettingError for a style of the offline user that has no effect in this cast.

        Every trial would be the same.
        """
        if not names:
            return
        user = casts.find(self.cast)(**self.settings_with({}, "select")).user_simulator
        model = getattr(user, "model", None)
        if isinstance(model, OfflineChatModel) and model.side != "task_user":
            raise SettingError(
                f"search: {names[0]} has no effect in the cast {self.cast}, whose offline user has no style settings: name others "
                "in a file (--search), or try the user people:SRC"
            )

    def settings_with(self, values: Mapping[str, Any], part: UserPart, *, checked: bool = False) -> dict[str, Any]:
        """The cast's settings with these values of the search, where it meets the people of a part."""
        settings = dict(self.settings)
        for side in SIDES:
            own = {name.partition(".")[2]: value for name, value in values.items() if name.startswith(f"{side}.")}
            settings |= self._side(side, own, _MEMORY[part]) if own or remembers(side, settings.get(side)) else {}
        if remembers(LIKE, settings.get(LIKE)):
            settings[LIKE] = with_arguments(settings[LIKE], {"part": _MEMORY[part]})
        settings |= {name.removeprefix("cast."): value for name, value in values.items() if name.startswith("cast.")}
        if checked:
            casts.find(self.cast)(**settings)
        return settings

    def _side(self, side: str, values: Mapping[str, Any], memory: UserPart) -> dict[str, Any]:
        spec = self.settings.get(side, "offline")
        if not isinstance(spec, str):
            raise SettingError(
                f"{side}: is a live object, which takes no arguments: give a model identifier, such as offline"
            )
        more = {"part": memory} if remembers(side, spec) else {}
        return {side: with_arguments(spec, {**values, **more})}

    def limits_with(self, values: Mapping[str, Any], seed: int = 0) -> dict[str, Any]:
        """The limits that differ from the cast's, with these values of the search."""
        own = {name.removeprefix("limits."): value for name, value in values.items() if name.startswith("limits.")}
        limits = {**self.limits, **own}
        replace(Limits(), **{**limits, "seed": seed})  # a TypeError for a limit that there is not
        return limits

    def read(self, part: UserPart, seed: int, values: Mapping[str, Any] | None = None) -> Scenarios:
        """The scenarios of the people of a part."""
        factory = casts.find(self.cast)
        source: dict[str, Any] = {}
        if self.scenarios != OWN:
            source = {"scenarios": Path(self.scenarios or self.people), "part": part}
        if self.limit is not None:
            source["limit"] = self.limit
        try:
            scenario_source = factory.source(**source)
        except ValidationError as error:
            reason = first_invalid(error).message
            raise SettingError(f"{self.cast}: {reason}: give a cast that takes scenarios") from None
        return scenario_source.read(factory.checked(self.settings_with(values or {}, part)), seed)

    def build(
        self, values: Mapping[str, Any], part: UserPart, seed: int, pages: Path | None = None
    ) -> tuple[Cast, Scenarios, Limits]:
        """Cast, scenarios and limits of a run; `pages`: a folder of prompt pages in place of the settings' own."""
        scenarios = self.read(part, seed, values)
        settings = self.settings_with(values, part)
        if pages is not None:
            settings["prompts"] = pages
        cast = casts.find(self.cast)(**{**scenarios.settings, **settings})
        limits = replace(cast.limits, **{**self.limits_with(values, seed), "seed": seed})
        return cast, scenarios, limits

    def command(self, values: Mapping[str, Any], pages: Path | None = None) -> str:
        """A command line that simulates with these values.

        Its retrieval-based user has the words of all people outside the test split.
        """
        settings = self.settings_with(values, "test")
        if pages is not None:
            settings["prompts"] = str(pages)
        words = ["duologue", "simulate", self.cast]
        for name, value in {**settings, **self.limits_with(values)}.items():
            flag = name.replace("_", "-")
            if isinstance(value, bool):
                words.append(f"--{flag}" if value else f"--no-{flag}")
            elif value is not None:
                words += [f"--{flag}", str(value)]
        if self.scenarios != OWN:
            words += ["--scenarios", str(self.scenarios or self.people)]
        return shlex.join([*words, "--out", "out/tuned"])


def remembers(name: str, value: object) -> bool:
    """Whether a setting names stored conversations that the simulator uses.

    They are turns to say, to show a model, or to be alike.
    """
    if not isinstance(value, str):
        return False
    if name == LIKE or people_path(value) is not None:
        return True
    return not value.startswith("replay:") and any(use in parse_spec(value)[2] for use in _USES)


def with_arguments(spec: str, arguments: Mapping[str, Any]) -> str:
    """A spec with these arguments, in place of those of the same names.

    >>> with_arguments("openai:NAME?temperature=1&seed=3", {"temperature": 0.5})
    'openai:NAME?temperature=0.5&seed=3'
    """
    head = spec.partition("?")[0].strip()
    all_arguments = {**parse_spec(spec)[2], **arguments}
    query = urlencode(
        {name: value if isinstance(value, str) else json.dumps(value) for name, value in all_arguments.items()},
        safe="/:,",
    )
    return f"{head}?{query}" if query else head


def plain(space: Space) -> dict[str, Any]:
    """The space as JSON values."""
    return {name: entry.plain() for name, entry in space.items()}
