"""The registry of casts, their settings, and a cast as plain data from which another process builds it again."""

import inspect
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import wraps
from importlib.metadata import entry_points
from pathlib import Path
from threading import RLock
from typing import Any, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError, create_model

from ...errors import DuologueError, SettingError, first_invalid, kind, shown
from ...nodes.behaviours.demand import DemandBehaviours
from ...nodes.limits import Limits
from ...nodes.settings.import_path import imported, is_import_path
from ...nodes.settings.redaction import error_line
from ...nodes.validators.composition import Observing
from ...nodes.validators.user_faults import RejectUserFaults
from ..scenarios.sources import ScenarioFile, Scenarios, ScenarioSource
from .cast import Cast
from .plain_data import LiveError, setting_as_json
from .settings import CastSettings

GROUP = "duologue.casts"
"""Group of the entry points of installed packages: each a name with its `CastFactory`."""

PACKAGE = __name__.partition(".")[0]
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class CastFactory:
    """A cast by name: its settings, how it is built, where its scenarios come from."""

    name: str
    build: Callable[[Any], Cast]
    """Takes an instance of `settings`."""
    settings: type[BaseModel] = CastSettings
    """A pydantic model with a description for each field: the options of `duologue simulate NAME`."""
    source: type[ScenarioSource] = ScenarioFile
    """Where scenarios come from, a pydantic model too: further options."""
    summary: str = ""
    """What the cast simulates, in one line: the help of `duologue simulate NAME`."""

    def __call__(self, **values: Any) -> Cast:
        """The cast with these settings; it holds its spec, or the reason why it has none."""
        settings = self.checked(values)
        plain, live = {}, []
        for name in sorted(settings.model_fields_set):  # a set's order is another one in each process
            value = getattr(settings, name)
            if value == type(settings).model_fields[name].default:
                continue
            try:
                plain[name] = setting_as_json(settings, name)
            except LiveError:
                live.append(f"{name} is a live object ({kind(value)})")
        if not self._is_findable():
            live.append(f"the cast {self.name!r} is registered in this process only")
        spec = CastSpec(cast=self.name, settings=dict(sorted(plain.items())))
        return replace(self._built(settings), spec=spec, live_settings=tuple(live), live_parts={})

    def _built(self, settings: Any) -> Cast:
        """The cast; SettingError if the build is not Duologue's own and fails, or gives no cast."""
        try:
            cast = self.build(settings)
        except DuologueError:
            raise
        except (Exception, SystemExit) as error:
            if _module_of(self.build).startswith(f"{PACKAGE}."):
                raise
            raise SettingError(f"{self.name}: {error_line(error, placed=True)}") from error
        if not isinstance(cast, Cast):
            raise SettingError(f"{self.name}: gave {kind(cast)}, not a cast: return graphs.Cast(...)")
        if not isinstance(settings, CastSettings):
            return cast
        if settings.reject_user_faults and not isinstance(cast.question_validator, Observing):  # a replay only repeats
            cast = cast.replace(question_validator=RejectUserFaults(cast.question_validator))
        if settings.demand_behaviours:
            cast = cast.replace(question_validator=DemandBehaviours(cast.question_validator))
        return cast if settings.world is None else cast.replace(world=settings.world)

    def _is_findable(self) -> bool:
        """Whether another process finds this cast by its name: imported, shipped or of an installed package."""
        if is_import_path(self.name) or _module_of(self.build) == f"{PACKAGE}.graphs.{self.name}":
            return True
        return self.name in entry_points(group=GROUP).names and self.name not in _registry.replaced

    def checked(self, values: Mapping[str, Any]) -> Any:
        """The settings as an instance of their model; SettingError names the wrong one."""
        try:
            settings = self.settings(**values)
        except ValidationError as error:
            first = first_invalid(error)
            if first.type == "extra_forbidden":
                names = ", ".join(self.settings.model_fields)
                there_are = f"only {names}" if names else "it has none"
                raise SettingError(f"{self.name}: there is no setting {first.path!r}, {there_are}") from None
            raise SettingError(f"{self.name}: {first.path}: {first.reason}, not {first.value!r}") from None
        if isinstance(settings, CastSettings):
            settings.check()
        return settings


class CastSpec(BaseModel):
    """A cast as plain data: a manifest holds it, and another process builds the cast from it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    cast: str
    """Its registered name, or the import path of a function that returns it."""
    settings: dict[str, JsonValue] = Field(default_factory=dict)
    """The settings that differ from their defaults."""
    replace: dict[str, JsonValue] = Field(default_factory=dict)
    """Replaced parts by name: a node or the stop criterion by import path, a speaker also by a model's spec."""

    def build(self) -> Cast:
        """The cast, built anew with its nodes and models; SettingError or ContractError names a missing part."""
        cast = find(self.cast)(**self.settings)
        changes: dict[str, Any] = dict(self.replace)
        if isinstance(limits := changes.get("limits"), dict):
            changes["limits"] = Limits(**limits)
        return cast.replace(**changes) if changes else cast

    def replacing(self, changes: Mapping[str, JsonValue]) -> "CastSpec":
        """The spec of the same cast with these parts replaced too."""
        return self.model_copy(update={"replace": {**self.replace, **changes}})


@dataclass
class _Registry:
    factories: dict[str, CastFactory] = field(default_factory=dict)
    replaced: set[str] = field(default_factory=set)
    """Names whose factory was replaced in this process."""
    loaded: bool = False
    """Whether the casts of installed packages were loaded."""
    lock: RLock = field(default_factory=RLock)


_registry = _Registry()


def register(
    factory: CastFactory | Cast | Callable[..., Cast], *, name: str = "", replace: bool = False
) -> CastFactory:
    """Register a cast by its name, for `find` and the command, and return it; `replace` allows a taken name.

    A function that returns a cast needs a `name`. SettingError if the name is missing or taken. Another process does not
    know the cast, unless an entry point names it.
    """
    if not isinstance(factory, CastFactory):
        own_name = name or (factory.name if isinstance(factory, Cast) else "")
        if not own_name:
            raise SettingError(f"{shown(factory)} has no name as a cast: give name=..., such as name='desk'")
        factory = factory_of(own_name, factory, own_name)
    with _registry.lock:
        present = _registry.factories.get(factory.name)
        if present is not None and present != factory:
            if not replace:
                raise SettingError(
                    f"there is a cast {factory.name!r} already: give yours another name, or replace=True"
                )
            _registry.replaced.add(factory.name)
        _registry.factories[factory.name] = factory
    return factory


def registered() -> dict[str, CastFactory]:
    """Every cast by name: shipped with Duologue, from installed packages, registered in this process."""
    with _registry.lock:
        if not _registry.loaded:
            _registry.loaded = True  # set first: a package may call register while it is imported
            _load_packages()
        return dict(sorted(_registry.factories.items()))


def _load_packages() -> None:
    for point in entry_points(group=GROUP):
        if point.name in _registry.factories:
            continue
        try:
            factory = factory_of(point.name, point.load(), point.value)
        except (Exception, SystemExit) as error:  # a broken package must not keep the others from running
            owner = point.dist.name if point.dist is not None else "an installed package"
            log.warning("the cast %s of %s cannot be loaded: %s", point.name, owner, error_line(error))
        else:
            _registry.factories[point.name] = factory


def find(name: str) -> CastFactory:
    """The cast of a registered name or an import path; SettingError lists the known names."""
    if is_import_path(name):
        return factory_of(name, imported(name, "cast"), name)
    factories = registered()
    if name not in factories:
        meant = get_close_matches(name, factories, n=1)
        hint = f": did you mean {meant[0]}? There are" if meant else ", only"
        plain_name = name.partition("?")[0]  # what follows may be a model's arguments, a key among them
        raise SettingError(
            f"there is no cast {plain_name!r}{hint} {', '.join(factories)}: or give one as MODULE:FUNCTION"
        )
    return factories[name]


def scenarios_of(source: str | Path, cast: str, *, seed: int = 0, **options: Any) -> Scenarios:
    """The scenarios that a cast takes from stored conversations or JSON lines, as `simulate CAST --scenarios SRC`.

    Args:
        source: A path that `data.load` reads, one scenario of each conversation; or a file with a scenario in each
            line.
        cast: A registered name, or an import path.
        seed: Seed of random draws.
        options: `part`, `limit`, `repeats`, `judge`, `licence` and options of the cast, as `task` and `sample` of
            `recllmsim`.

    Returns:
        The scenarios, with `settings` for the cast, such as the language, and `source` for the manifest of a run.

    Raises:
        DataError: The source cannot be used or is of another domain.
        SettingError: An option does not exist.

    Example::

        >>> taken = scenarios_of("human_exp_V2", "recllmsim", part="test", limit=5)  # doctest: +SKIP
        >>> cast = find("recllmsim")(user="openai:NAME", **taken.settings)  # doctest: +SKIP
        >>> conversations = duologue.simulate(cast, taken, out="out/as-people")  # doctest: +SKIP
    """
    factory = find(cast)
    try:
        scenario_source = factory.source(scenarios=Path(source), **options)
    except ValidationError as error:
        first = first_invalid(error)
        raise SettingError(f"{cast}: {first.path}: {first.message}: give what --help of its command lists") from None
    return scenario_source.read(factory.checked({}), seed)


def factory_of(name: str, value: object, path: str) -> CastFactory:
    """The factory for an imported object: a factory, a cast, or a function that returns a cast."""
    if isinstance(value, CastFactory):
        return replace(value, name=name)
    if isinstance(value, Cast):
        settings = create_model("NoSettings", __config__=ConfigDict(extra="forbid"))
        return CastFactory(name, lambda _: value, settings, summary=f"the cast {path}")
    if not callable(value):
        raise SettingError(f"cast {path}: is {kind(value)}: give a function that returns a Cast")
    summary = next(iter((inspect.getdoc(value) or "").splitlines()), "")
    parameters = _settings_of(value, path)

    @wraps(value)
    def build(settings: BaseModel) -> Any:
        return value(**{key: getattr(settings, key) for key in type(settings).model_fields})

    return CastFactory(name, build, parameters, summary=summary)


def _settings_of(function: Callable[..., Any], path: str) -> type[BaseModel]:
    """A function's parameters as a settings model: names, annotations (`Annotated[int, Field(...)]` too), defaults.

    A parameter without an annotation has the type of its default if that is a number or a switch.
    """
    try:
        parameters = inspect.signature(function).parameters
        hints = get_type_hints(function, include_extras=True)
    except (TypeError, ValueError, NameError) as error:
        raise SettingError(f"cast {path}: its parameters cannot be read ({error}): annotate plain types") from None
    fields: dict[str, Any] = {}
    for name, parameter in parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if parameter.default is parameter.empty:
            raise SettingError(f"cast {path}: its parameter {name!r} has no default: give it one")
        number = type(parameter.default) if type(parameter.default) in (int, float, bool) else Any
        hint = hints.get(name, number)
        if isinstance(parameter.default, BaseModel) or (isinstance(hint, type) and issubclass(hint, BaseModel)):
            raise SettingError(
                f"cast {path}: its parameter {name!r} is not a plain value: give each setting a parameter"
            )
        fields[name] = (hint, parameter.default)
    config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)
    try:
        return create_model(f"{function.__name__}_settings", __config__=config, **fields)
    except Exception as error:
        raise SettingError(f"cast {path}: its parameters are not settings ({error}): annotate plain types") from None


def _module_of(value: object) -> str:
    return str(getattr(value, "__module__", ""))
