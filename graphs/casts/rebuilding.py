"""The cast of a stored conversation, with other settings, sides or parts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

from pydantic import ValidationError

from ...data.attempts import as_object
from ...data.provenance import Provenance
from ...data.records import Conversation
from ...errors import DataError, SettingError, first_invalid
from ...nodes.limits import Limits
from ...nodes.state import Planned
from .cast import Cast
from .registry import CastFactory, CastSpec, find, registered

AGENT_TEST = "agent_test"
"""The cast of a conversation that none has made and whose kind names none."""
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

    cast: "Cast | str | None" = None
    """The cast to take, as an object or by name. None: that of the run or record."""
    user: Any = None
    assistant: Any = None
    world: Any = None
    settings: "Mapping[str, Any] | Callable[[Any], Mapping[str, Any]]" = field(default_factory=dict[str, Any])
    """Settings of the cast by name, or a function that reads them by the model of the cast's settings."""
    parts: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Parts of the cast to replace, as of `Cast.replace`."""

    def factory_of(self, conversation: Conversation, manifest: Mapping[str, Any]) -> CastFactory | None:
        """The factory of the cast; None for one that is given as an object."""
        if isinstance(self.cast, Cast):
            return None
        return find(self.cast or _name(conversation, manifest))

    def is_another(self, conversation: Conversation, manifest: Mapping[str, Any]) -> bool:
        """Whether the cast is not the one that made the conversation."""
        name = self.cast.name if isinstance(self.cast, Cast) else self.cast
        made_by = conversation.provenance.cast if conversation.provenance is not None else None
        return name not in (None, made_by, _spec_of(manifest).get("cast")) or conversation.provenance is None

    def fitted(
        self, conversations: Sequence[Conversation], manifest: Mapping[str, Any], states: Sequence[Planned]
    ) -> RebuiltCast:
        """The cast of the first conversation, for all of them; scenarios are changed to those that another cast takes.

        `states`: the initial state of each conversation. DataError if another cast cannot take a scenario.
        """
        first = conversations[0]
        another, factory = self.is_another(first, manifest), self.factory_of(first, manifest)
        implied: dict[str, Any] = {}
        if another and factory is not None:
            origin = factory.source()
            for conversation, state in zip(conversations, states, strict=True):
                try:
                    state["scenario"] = origin.fitting(state["scenario"])
                except (DataError, SettingError) as error:
                    raise DataError(f"{conversation.id}: {error}") from None
            implied = origin.settings_for(states)
        cast = self.rebuilt(first, manifest, implied)
        places = [] if "cast" in _spec_of(manifest) or another else self.differences(first, cast)
        notes = [f"not the recorded {place}: its settings are not in a manifest" for place in places]
        return RebuiltCast(cast, cast.limits if another else limits_of(first, cast), another, notes)

    def rebuilt(
        self, conversation: Conversation, manifest: Mapping[str, Any], implied: Mapping[str, Any] | None = None
    ) -> Cast:
        """The cast, built anew.

        Args:
            conversation: The stored conversation.
            manifest: The manifest of its run; empty without one.
            implied: Settings that follow from the scenario unless they are given, such as the language.

        Returns:
            The cast.

        Raises:
            SettingError: A setting does not exist, or the run's cast cannot be built from its manifest.
        """
        factory = self.factory_of(conversation, manifest)
        if factory is None:
            assert isinstance(self.cast, Cast)
            if self.settings and not callable(self.settings):
                raise SettingError(
                    f"{next(iter(self.settings))!r} is a setting, and the cast is made already: set it there"
                )
            return self.cast.replace(**self._changed_parts)
        settings = self.settings(factory.settings) if callable(self.settings) else self.settings
        spec = CastSpec(cast=factory.name)
        if self.cast is None and manifest:
            spec = self._read(manifest, factory.name, settings)
        values: dict[str, Any] = {**(implied or {}), **spec.settings, **settings}
        changes: dict[str, Any] = {**spec.replace, **self._changed_parts}
        for name, part in PLACES.items():
            if part in self._changed_parts and part not in self.parts and name in factory.settings.model_fields:
                values[name] = changes.pop(part)
        if isinstance(limits := changes.get("limits"), dict):
            changes["limits"] = Limits(**limits)
        cast = factory(**values)
        return cast.replace(**changes) if changes else cast

    def _read(self, manifest: Mapping[str, Any], name: str, settings: Mapping[str, Any]) -> CastSpec:
        """The cast of a run as plain data.

        SettingError if its manifest does not hold it, unless all that it lacks is given anew.
        """
        plain = _spec_of(manifest)
        if "cast" in plain:
            try:
                return CastSpec.model_validate(plain)
            except ValidationError as error:
                why = first_invalid(error).message
                raise SettingError(f"the cast of the run cannot be built again ({why}): name a cast (--cast)") from None
        lines = [str(line) for line in plain.get("live") or ["its manifest does not hold it"]]
        changed = {
            *settings,
            *self._changed_parts,
            *(name for name, part in PLACES.items() if part in self._changed_parts),
        }
        if lacking := [line for line in lines if line.partition(" ")[0] not in changed]:
            raise SettingError(
                f"the cast of the run cannot be built again ({'; '.join(lacking)}): name a cast (--cast)"
            )
        return CastSpec(cast=name)

    @property
    def _changed_parts(self) -> dict[str, Any]:
        """The parts of the cast that are given anew, by name."""
        sides = {part: getattr(self, name) for name, part in PLACES.items()}
        return {part: side for part, side in sides.items() if side is not None} | dict(self.parts)

    def differences(self, conversation: Conversation, cast: Cast) -> list[str]:
        """The places whose nodes are not those of the record, beside the sides and parts that are given anew."""
        if conversation.provenance is None:
            return []
        recorded = conversation.provenance.nodes
        now = cast.describe()
        return [place for place in recorded if place not in self._changed_parts and now.get(place) != recorded[place]]


def limits_of(conversation: Conversation, cast: Cast) -> Limits:
    """The limits with which a conversation was simulated; those of the cast if it was not."""
    recorded = conversation.provenance.limits if conversation.provenance is not None else {}
    limits: dict[str, Any] = {
        name: value for name, value in recorded.items() if name in {one.name for one in fields(Limits)}
    }
    return Limits(**limits).or_else(cast.limits) if limits else cast.limits


def _spec_of(manifest: Mapping[str, Any]) -> Mapping[str, Any]:
    return as_object(manifest.get("cast"))


def _name(conversation: Conversation, manifest: Mapping[str, Any]) -> str:
    """The cast that made a conversation; else that of its kind, or the one that tests agents."""
    if name := _spec_of(manifest).get("cast"):
        return str(name)
    provenance: Provenance | None = conversation.provenance
    names = (provenance.cast if provenance is not None else None, conversation.scenario.get("kind"))
    return next((str(name) for name in names if name in registered()), AGENT_TEST)
