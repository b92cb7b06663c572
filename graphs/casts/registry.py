"""Casts by name: their settings, the function that builds each of them, and where their scenarios come from."""

import inspect
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model, field_validator

from ...errors import DuologueError, SettingError, first_invalid, kind, shown
from ...nodes.limits import Limits
from ...nodes.messages.building import BEHAVIOURS
from ...nodes.people import DonorEnded
from ...nodes.settings.import_path import import_path_of, imported, is_import_path
from ...nodes.settings.redaction import error_line
from ...nodes.speakers.agents import AgentSpeaker
from ...nodes.speakers.replay import ReplayedOut, ReplaySpeaker
from ...nodes.stops import any_of, until_spent
from ...nodes.validators import Observing
from ...prompts import Library, shipped
from ..scenarios.sources import Scenarios, ScenarioSource
from .cast import Cast, CastSpec, WhenRejected, as_json, says_stored, speaker

GROUP = "duologue.casts"
"""Group of the entry points of installed packages: each a name with its `CastFactory`."""
SHIPPED = ("agent_test", "recllmsim", "simquac")
"""Modules of `graphs`, each with the `FACTORY` of a cast of its name."""
_OWN: dict[str, "CastFactory"] = {}
"""The casts that this process has registered."""
log = logging.getLogger(__name__)


class CastSettings(BaseModel):
    """The settings that every shipped cast has.

    In code `user`, `assistant`, `prompts`, `stop` and `world` may also be live objects; a cast with a live object
    runs in this process only.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    user: Any = Field(
        default="offline",
        description="Play the user with this model: openai:NAME (a model), PROVIDER:NAME (a model of another "
        "provider, such as anthropic or ollama), offline (rules, no network). Or replay:PATH (the user of stored "
        "conversations), people:PATH (turns of many such users), agent:URL (a LangGraph server) or MODULE:NAME "
        "(your own).",
    )
    assistant: Any = Field(
        default="offline",
        description="Play the assistant with this model: openai:NAME, PROVIDER:NAME, offline, replay:PATH, "
        "people:PATH (recorded replies), agent:URL or MODULE:NAME.",
    )
    prompts: Any = Field(
        default=None,
        description="Read prompt templates from this folder; each replaces the shipped one of the same name.",
    )
    stop: Any = Field(default=None, description="Stop by this criterion of yours, in place of the cast's: MODULE:NAME.")
    world: Any = Field(
        default=None, description="Make a world for each conversation, which the agents' tools work on: MODULE:NAME."
    )
    when_rejected: WhenRejected | None = Field(
        default=None,
        description="Choose what follows the assistant's last rejected attempt: send it anyway, send the cast's "
        "fallback, or stop the conversation.",
    )
    approve: Any = Field(
        default=None,
        description="Answer an agent that stops for an approval: all, none, ask-user (the simulated user decides) "
        "or MODULE:NAME (your function of the interrupt's value). Default: the conversation ends.",
    )
    limits: Limits | None = Field(default=None, description="Limits of a run that sets none itself.")

    @field_validator("approve")
    @classmethod
    def _by_path(cls, approve: Any) -> Any:
        """A function of a module by its import path, so that the cast can be built in other processes."""
        return import_path_of(approve) or approve

    def check(self) -> None:
        """Raise SettingError if two settings exclude each other."""


def library(name: str, prompts: Any, language: str = "en") -> Library:
    """The prompt pages of a shipped cast.

    `prompts`: a folder whose pages replace those of the same names, or a whole library.
    """
    if isinstance(prompts, Library):
        return prompts
    pages = shipped(name, language)
    if prompts is None:
        return pages
    behaviours = shipped(BEHAVIOURS, language).pages  # of these only the folder's own are pages of the cast
    full = Library({**behaviours, **pages.pages}).replaced(prompts).pages
    return Library({key: page for key, page in full.items() if page != behaviours.get(key)})


def assembled(settings: CastSettings, *, turns: int, **parts: Any) -> Cast:
    """A cast of its settings and parts.

    The validator of a side that replays stored conversations only observes. If the settings have no criterion of their
    own, a conversation ends where a stored one ended. If they have no limits, it ends after `turns` turns.
    """
    if settings.approve is not None:
        agent = speaker("assistant", parts["assistant"])
        if not isinstance(agent, AgentSpeaker):
            raise SettingError("approve: the assistant is not a LangGraph agent, so nothing asks for an approval")
        parts["assistant"] = replace(agent, approve=settings.approve)
    ends, longest = list[Any](), list[int]()
    for place, validator in (("user_simulator", "question_validator"), ("assistant", "answer_validator")):
        side = parts[place]
        if not says_stored(side) or (side.role == "assistant" and not isinstance(side, ReplaySpeaker)):
            continue  # the assistant's replies out of people's conversations go on as long as the user does
        longest.append(side.longest)
        if isinstance(side, ReplaySpeaker):
            ends.append(ReplayedOut(side))
            if not isinstance(parts[validator], Observing):
                parts[validator] = Observing(parts[validator])
        else:
            ends.append(DonorEnded(side))
    stop: Any = imported(settings.stop, "stop") if isinstance(settings.stop, str) else settings.stop
    return Cast(
        stop=stop or any_of(*ends, until_spent),
        when_rejected=settings.when_rejected,
        limits=(settings.limits or Limits()).or_else(Limits(max_turns=max(longest, default=turns))),
        **parts,
    )


Function = TypeVar("Function", bound=Callable[..., Cast])


def documented(settings: type[BaseModel]) -> Callable[[Function], Function]:
    """Give a function with `**settings` the fields of the model as its signature and in its docstring."""

    def with_settings(function: Function) -> Function:
        own = inspect.signature(function)
        parameters = [one for one in own.parameters.values() if one.kind is not one.VAR_KEYWORD]
        further = {name: one for name, one in settings.model_fields.items() if name not in own.parameters}
        parameters += [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=one.default, annotation=one.annotation)
            for name, one in further.items()
        ]
        function.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
        lines = "\n".join(f"`{name}`: {one.description}" for name, one in further.items())
        function.__doc__ = f"{inspect.getdoc(function)}\n\n{lines}"
        return function

    return with_settings


@dataclass(frozen=True)
class CastFactory:
    """A cast by name: its settings, how it is built, where its scenarios come from."""

    name: str
    build: Callable[[Any], Cast]
    """Takes an instance of `settings`."""
    settings: type[BaseModel] = CastSettings
    """A pydantic model with a description for each field: the options of `duologue simulate NAME`."""
    source: type[ScenarioSource] = ScenarioSource
    """Where scenarios come from, a pydantic model too: further options."""
    summary: str = ""
    """What the cast simulates, in one line: the help of `duologue simulate NAME`."""

    def __call__(self, **values: Any) -> Cast:
        """The cast with these settings; its spec holds those that are plain, and says which are live objects."""
        settings = self.checked(values)
        plain, live = {}, {}
        for name in sorted(settings.model_fields_set):
            value, default = getattr(settings, name), type(settings).model_fields[name].default
            try:
                if (in_json := as_json(value)) != default:
                    plain[name] = in_json
            except ValueError as error:
                live[name] = f"{name} {error}"
        if not self._is_findable():
            live["cast"] = f"the cast {self.name!r} is registered in this process only"
        return replace(self._built(settings), spec=CastSpec(cast=self.name, settings=plain, live=live))

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

    def _built(self, settings: Any) -> Cast:
        """The cast; SettingError if the build is not Duologue's own and fails, or gives no cast."""
        try:
            cast = self.build(settings)
        except DuologueError:
            raise
        except (Exception, SystemExit) as error:
            if self.name in SHIPPED:
                raise
            raise SettingError(f"{self.name}: {error_line(error, placed=True)}") from error
        if not isinstance(cast, Cast):
            raise SettingError(f"{self.name}: gave {kind(cast)}, not a cast: return graphs.Cast(...)")
        world = settings.world if isinstance(settings, CastSettings) else None
        return cast if world is None else cast.replace(world=world)

    def _is_findable(self) -> bool:
        """Whether another process finds this cast by its name: an import path, shipped, or of an installed package."""
        if is_import_path(self.name):
            return True
        return self.name not in _OWN and (self.name in SHIPPED or self.name in entry_points(group=GROUP).names)


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
    if not replace and registered().get(factory.name, factory) != factory:
        raise SettingError(f"there is a cast {factory.name!r} already: give yours another name, or replace=True")
    _OWN[factory.name] = factory
    return factory


def registered() -> dict[str, CastFactory]:
    """Every cast by name: shipped with Duologue, from installed packages, registered in this process."""
    package = __name__.removesuffix(".casts.registry")
    shipped_casts = {name: import_module(f"{package}.{name}").FACTORY for name in SHIPPED}
    return dict(sorted({**_installed(), **shipped_casts, **_OWN}.items()))


@cache
def _installed() -> dict[str, CastFactory]:
    """The casts of installed packages, without those that cannot be loaded."""
    factories = {}
    for point in entry_points(group=GROUP):
        try:
            factories[point.name] = factory_of(point.name, point.load(), point.value)
        except (Exception, SystemExit) as error:  # a broken package must not keep the others from running
            owner = point.dist.name if point.dist is not None else "an installed package"
            log.warning("the cast %s of %s cannot be loaded: %s", point.name, owner, error_line(error))
    return factories


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


def built(spec: CastSpec) -> Cast:
    """The cast of a spec, built anew with its nodes and models; SettingError or ContractError names a missing part."""
    cast = find(spec.cast)(**spec.settings)
    return cast.replace(**parts_in(spec)) if spec.replace else cast


def parts_in(spec: CastSpec) -> dict[str, Any]:
    """The replaced parts of a spec, as of `Cast.replace`."""
    parts: dict[str, Any] = dict(spec.replace)
    if isinstance(limits := parts.get("limits"), dict):
        parts["limits"] = Limits(**limits)
    return parts


def scenarios_of(source: str | Path, cast: str, *, seed: int = 0, **options: Any) -> Scenarios:
    """The scenarios that a cast takes from stored conversations or JSON lines, as `simulate CAST --scenarios SRC`.

    Args:
        source: A path that `data.load` reads, one scenario of each conversation; or a file with one in each line.
        cast: A registered name, or an import path.
        seed: Seed of random draws.
        options: `part`, `limit`, `repeats`, `judge`, `licence` and those of the cast, as `task` and `sample`.

    Returns:
        The scenarios, with `settings` for the cast, such as the language, and `source` for the manifest of a run.

    Raises:
        DataError: The source cannot be used or is of another domain.
        SettingError: An option does not exist.

    Example::

        >>> taken = scenarios_of("human_exp_V2", "recllmsim", part="test", limit=5)  # doctest: +SKIP
        >>> cast = find("recllmsim")(user="openai:NAME", **taken.settings)  # doctest: +SKIP
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
    model = _settings_of(value, path)
    return CastFactory(
        name,
        lambda settings: value(**{key: getattr(settings, key) for key in model.model_fields}),
        model,
        summary=summary,
    )


def _settings_of(function: Callable[..., Any], path: str) -> type[BaseModel]:
    """A function's parameters as a settings model: names, annotations (`Annotated[int, Field(...)]` too), defaults.

    A parameter without an annotation has the type of its default if that is a number or a switch.
    """
    fields: dict[str, Any] = {}
    config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)
    try:
        hints = get_type_hints(function, include_extras=True)
        for name, parameter in inspect.signature(function).parameters.items():
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                continue
            if parameter.default is parameter.empty:
                raise SettingError(f"cast {path}: its parameter {name!r} has no default: give it one")
            number = type(parameter.default) if type(parameter.default) in (int, float, bool) else Any
            hint = hints.get(name, number)
            if isinstance(parameter.default, BaseModel) or (isinstance(hint, type) and issubclass(hint, BaseModel)):
                raise SettingError(f"cast {path}: its parameter {name!r} is not a plain value: give each its own")
            fields[name] = (hint, parameter.default)
        return create_model(f"{function.__name__}_settings", __config__=config, **fields)
    except SettingError:
        raise
    except Exception as error:
        raise SettingError(f"cast {path}: its parameters are not settings ({error}): annotate plain types") from None
