"""Casts by name: what can be set of each, and a cast as plain data that another process builds again.

A package of somebody else adds its casts by the entry point group `duologue.casts`, a notebook by `register`,
and a function that gives a cast needs neither: it is named by its import path.
"""

import inspect
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import entry_points
from typing import Any, TypeVar, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError, create_model

from ..errors import SettingError
from ..nodes.import_path import imported, is_import_path
from ..nodes.limits import Limits
from ..prompts import Library, shipped
from .cast import Cast
from .sources import ScenarioFile, ScenarioSource

GROUP = "duologue.casts"
"""Entry points of installed packages: a name, and the `CastFactory` that it stands for."""

log = logging.getLogger(__name__)


class CastSettings(BaseModel):
    """What can be set of any cast. In code `user`, `assistant`, `prompts` and `stop` may also be live objects;
    a cast that holds one stays in this process."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    user: Any = Field(
        default="offline", description="The user: openai:NAME, offline, replay:PATH, agent:URL or MODULE:NAME."
    )
    assistant: Any = Field(
        default="offline", description="The assistant: openai:NAME, offline, replay:PATH, agent:URL or MODULE:NAME."
    )
    prompts: Any = Field(default=None, description="Folder of prompt pages that replace the shipped ones by name.")
    stop: Any = Field(default=None, description="Stop criterion in place of the cast's own: MODULE:NAME.")
    limits: Limits | None = Field(default=None, description="What holds when a run names no limits.")

    def check(self) -> None:
        """SettingError for settings that do not go together."""


@dataclass(frozen=True)
class CastFactory:
    """A cast by name: what can be set of it, how it is built, where its scenarios come from."""

    name: str
    build: Callable[[Any], Cast]
    """Takes an instance of `settings`."""
    settings: type[BaseModel] = CastSettings
    """A pydantic model with a description for each field: the options of `duologue simulate NAME`."""
    source: type[ScenarioSource] = ScenarioFile
    """Where scenarios come from, a pydantic model too: further options."""
    about: str = ""
    """One line for a list of casts."""

    def __call__(self, **given: Any) -> Cast:
        """The cast with these settings; it knows its spec, or what keeps it from having one."""
        settings = self.checked(given)
        plain, live = {}, []
        for name in sorted(settings.model_fields_set):  # a set's order is another one in each process
            value = getattr(settings, name)
            if value == type(settings).model_fields[name].default:
                continue
            if isinstance(value, Limits):
                plain[name] = value.plain()
            elif _is_plain(value):
                plain[name] = value
            else:
                live.append(f"{name} is a live object ({_shown(value)})")
        cast = self.build(settings)
        if not isinstance(cast, Cast):
            raise SettingError(f"{self.name}: gave {_shown(cast)}, not a cast: return graphs.Cast(...)")
        return replace(cast, spec=CastSpec(cast=self.name, settings=dict(sorted(plain.items()))), live=tuple(live))

    def checked(self, given: Mapping[str, Any]) -> Any:
        """The settings as an instance of their model; SettingError names the one that is wrong."""
        try:
            settings = self.settings(**given)
        except ValidationError as error:
            first = error.errors()[0]
            name = ".".join(map(str, first["loc"]))
            if first["type"] == "extra_forbidden":
                known = ", ".join(self.settings.model_fields)
                raise SettingError(f"{self.name}: there is no setting {name!r}, only {known}") from None
            said = first.get("ctx", {}).get("error", first["msg"]) if first["type"] == "value_error" else first["msg"]
            raise SettingError(f"{self.name}: {name}: {said}, not {first['input']!r}") from None
        if isinstance(settings, CastSettings):
            settings.check()
        return settings


class CastSpec(BaseModel):
    """A cast as plain data: what a manifest holds and another process builds the cast from."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    cast: str
    """Its registered name, or the import path of a function that gives it."""
    settings: dict[str, JsonValue] = Field(default_factory=dict)
    """Those that are not as by default."""
    replace: dict[str, JsonValue] = Field(default_factory=dict)
    """What stands in another's place: a node, criterion or scorer by import path, a speaker also by a model's spec."""

    def build(self) -> Cast:
        """The cast, with its nodes and models made anew. SettingError or ContractError says what is missing."""
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
    loaded: bool = False


_registry = _Registry()


def register(factory: CastFactory) -> CastFactory:
    """Make a cast known by its name, for `find`, specs and the command; SettingError if another one has it."""
    known = _registry.factories.get(factory.name)
    if known is not None and known != factory:
        raise SettingError(f"there is a cast {factory.name!r} already: give yours another name")
    _registry.factories[factory.name] = factory
    return factory


def registered() -> dict[str, CastFactory]:
    """Every cast that is known by name: the shipped ones, those of installed packages, those registered here."""
    if not _registry.loaded:
        _registry.loaded = True
        for point in entry_points(group=GROUP):
            if point.name in _registry.factories:
                continue
            try:
                _registry.factories[point.name] = _factory(point.name, point.load(), point.value)
            except Exception as error:  # a broken package of somebody else must not keep the others from running
                owner = point.dist.name if point.dist is not None else "an installed package"
                log.warning(
                    "the cast %s of %s cannot be loaded: %s: %s", point.name, owner, type(error).__name__, error
                )
    return dict(sorted(_registry.factories.items()))


def find(name: str) -> CastFactory:
    """The cast of a registered name or an import path; SettingError lists those that there are."""
    if is_import_path(name):
        return _factory(name, imported(name, "cast"), name)
    factories = registered()
    if name not in factories:
        raise SettingError(f"there is no cast {name!r}, only {', '.join(factories)}: or give one as MODULE:FUNCTION")
    return factories[name]


def _factory(name: str, value: object, path: str) -> CastFactory:
    """What an import path leads to, as a factory: one already, a cast, or a function that gives a cast."""
    if isinstance(value, CastFactory):
        return replace(value, name=name)
    if isinstance(value, Cast):
        settings = create_model("NoSettings", __config__=ConfigDict(extra="forbid"))
        return CastFactory(name, lambda _: value, settings, about=f"the cast {path}")
    if not callable(value):
        raise SettingError(f"cast {path}: is {_shown(value)}: give a function that returns a Cast")
    about = next(iter((inspect.getdoc(value) or "").splitlines()), "")
    parameters = _settings_of(value, path)

    def build(settings: BaseModel) -> Any:
        return value(**{key: getattr(settings, key) for key in type(settings).model_fields})

    return CastFactory(name, build, parameters, about=about)


def _settings_of(function: Callable[..., Any], path: str) -> type[BaseModel]:
    """A function's parameters as a settings model: names, annotations (`Annotated[int, Field(...)]` too), defaults."""
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
        fields[name] = (hints.get(name, Any), parameter.default)
    config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)
    try:
        return create_model(f"{function.__name__}_settings", __config__=config, **fields)
    except Exception as error:
        raise SettingError(f"cast {path}: its parameters are no settings ({error}): annotate plain types") from None


def _is_plain(value: object) -> bool:
    """Whether JSON can hold the value as it is."""
    if isinstance(value, (list, tuple)):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, (str, int, float, bool))


def _shown(value: object) -> str:
    name = getattr(value, "__qualname__", None)
    return f"{type(value).__name__} {name}" if isinstance(name, str) else type(value).__name__


def library(name: str, prompts: Any, language: str = "en") -> Library:
    """The prompt pages of a shipped cast; `prompts`: a folder whose pages replace them by name, or other pages."""
    if isinstance(prompts, Library):
        return prompts
    pages = shipped(name, language)
    return pages if prompts is None else pages.replaced(prompts)


def criterion(stop: Any) -> Any:
    """A stop criterion, or the one of an import path; None for None."""
    return imported(stop, "stop") if isinstance(stop, str) else stop


Function = TypeVar("Function", bound=Callable[..., Cast])


def documented(settings: type[BaseModel]) -> Callable[[Function], Function]:
    """Give a function that takes `**settings` the model's fields as its signature, and their descriptions."""

    def with_settings(function: Function) -> Function:
        own = inspect.signature(function).parameters
        parameters = [parameter for parameter in own.values() if parameter.kind is not parameter.VAR_KEYWORD]
        lines = []
        for name, about in settings.model_fields.items():
            if name not in own:
                parameters.append(
                    inspect.Parameter(
                        name, inspect.Parameter.KEYWORD_ONLY, default=about.default, annotation=about.annotation
                    )
                )
                lines.append(f"`{name}`: {about.description}")
        returned = inspect.signature(function).return_annotation
        function.__signature__ = inspect.Signature(parameters, return_annotation=returned)  # type: ignore[attr-defined]
        function.__doc__ = "\n\n".join([inspect.getdoc(function) or "", "\n".join(lines)])
        return function

    return with_settings
