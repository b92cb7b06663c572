"""The cast of a stored conversation, with other settings, sides or parts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

from pydantic import ValidationError

from ...data.records import Conversation, as_object
from ...errors import DataError, SettingError, first_invalid
from ...nodes.limits import Limits
from ...nodes.state import Planned
from .cast import Cast, CastSpec
from .registry import find, registered

PLACES = {"user": "user_simulator", "assistant": "assistant", "world": "world"}
"""The parts of a cast that have names of their own as settings."""


class RebuiltCast(NamedTuple):
    """The cast of stored conversations, built anew."""

    cast: Cast
    limits: Limits
    """With which they were simulated; those of the cast if it is another one."""
    is_another: bool
    """Whether it is not the cast that made them."""
    notes: list[str]
    """What is not as recorded, though nothing was given anew; a line each."""


@dataclass(frozen=True)
class Rebuilding:
    """What is to differ from the cast with which a conversation was made."""

    cast: Cast | str | None = None
    """The cast to take, as an object or by name. None: that of the run or record."""
    user: Any = None
    assistant: Any = None
    world: Any = None
    settings: Mapping[str, Any] | Callable[[Any], Mapping[str, Any]] = field(default_factory=dict[str, Any])
    """Settings of the cast by name, or a function that reads them by the model of the cast's settings."""
    parts: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Parts of the cast to replace, as of `Cast.replace`."""

    def fitted(
        self, conversations: Sequence[Conversation], manifest: Mapping[str, Any], states: Sequence[Planned]
    ) -> RebuiltCast:
        """The cast of the first conversation, for all; the scenarios of their `states` become those that another takes.

        `manifest`: that of their run, empty without one. DataError if another cast cannot take a scenario, SettingError
        if a setting does not exist or the run's cast cannot be built again.
        """
        made_by, plain = conversations[0].provenance, as_object(manifest.get("cast"))
        name = self.cast.name if isinstance(self.cast, Cast) else self.cast
        another = made_by is None or name not in (None, made_by.cast, plain.get("cast"))
        sides = {key: side for key in PLACES if (side := getattr(self, key)) is not None}
        given = {*self.parts, *sides, *(PLACES[key] for key in sides)}
        if not isinstance(self.cast, Cast):
            cast = self._built(conversations, manifest, states if another else (), sides, given)
        elif self.settings and not callable(self.settings):
            setting = next(iter(self.settings))
            raise SettingError(f"{setting!r} is a setting, and the cast is made already: set it there")
        else:
            cast = self.cast.replace(**sides, **self.parts)
        if another or made_by is None:
            return RebuiltCast(cast, cast.limits, another, [])
        notes = []
        if "cast" not in plain:
            now = cast.describe()
            others = (place for place, node in made_by.nodes.items() if place not in given and now.get(place) != node)
            notes = [f"not the recorded {place}: its settings are not in a manifest" for place in others]
        recorded: dict[str, Any] = {one.name: made_by.limits.get(one.name, one.default) for one in fields(Limits)}
        limits = Limits(**recorded)
        return RebuiltCast(cast, limits.or_else(cast.limits), another, notes)

    def _built(
        self,
        conversations: Sequence[Conversation],
        manifest: Mapping[str, Any],
        others: Sequence[Planned],
        sides: Mapping[str, Any],
        given: set[str],
    ) -> Cast:
        """The cast by its name; `others`: the states, where it is not the cast that made the conversations."""
        plain = as_object(manifest.get("cast"))
        made_by, kind = conversations[0].provenance, conversations[0].scenario.get("kind")
        known = (one for one in (made_by and made_by.cast, kind) if one in registered())
        factory = find(str(self.cast or plain.get("cast") or next(known, "agent_test")))
        settings = self.settings(factory.settings) if callable(self.settings) else self.settings
        spec = CastSpec(cast=factory.name)
        if self.cast is None and manifest:
            spec = _spec(plain, factory.name, {*settings, *given})
        implied: dict[str, Any] = {}
        if others:
            source = factory.source()
            for conversation, state in zip(conversations, others, strict=True):
                try:
                    state["scenario"] = source.fitting(state["scenario"])
                except (DataError, SettingError) as error:
                    raise DataError(f"{conversation.id}: {error}") from None
            implied = source.settings_for(others)
        values: dict[str, Any] = {**implied, **spec.settings, **settings}
        parts: dict[str, Any] = {**spec.replace, **self.parts}
        for key, side in sides.items():
            parts.pop(PLACES[key], None)
            (values if key in factory.settings.model_fields else parts)[key] = side
        return factory(**values).replace(**parts)


def _spec(plain: Mapping[str, Any], name: str, given: set[str]) -> CastSpec:
    """The cast of a run as plain data; SettingError if its manifest lacks a part of it that is not given anew."""
    if "cast" in plain:
        try:
            return CastSpec.model_validate(plain)
        except ValidationError as error:
            lacking = [first_invalid(error).message]
    else:
        lines = map(str, plain.get("live") or ["its manifest does not hold it"])
        lacking = [line for line in lines if line.partition(" ")[0] not in given]
    if lacking:
        raise SettingError(f"the cast of the run cannot be built again ({'; '.join(lacking)}): name a cast (--cast)")
    return CastSpec(cast=name)
