"""Casts by name: functions that return a cast, whose parameters are its settings, and where their scenarios come from.

And what the shipped ones share: settings, prompt pages, and what a side that replays stored conversations changes.
"""

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from functools import cached_property, wraps
from pathlib import Path
from typing import Annotated, Any, ParamSpec, TypeAlias, TypedDict, get_args, get_type_hints

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SkipValidation, ValidationError, create_model

from ...errors import DuologueError, SettingError, first_invalid, kind
from ...nodes.limits import Limits, Stop, any_of, max_turns
from ...nodes.messages import BEHAVIOURS
from ...nodes.models.specs import is_import_path
from ...nodes.people import PeopleSpeaker
from ...nodes.settings.import_path import import_path_of, imported
from ...nodes.settings.redaction import error_line
from ...nodes.speakers.replay import ReplaySpeaker
from ...nodes.validators import Observing
from ...nodes.worlds import World
from ...prompts import Library, shipped
from ..scenarios.sources import Scenarios, ScenarioSource
from .cast import Cast, CastSpec, Speaker, WhenRejected, as_json

SHIPPED: dict[str, "CastFactory"] = {}
"""The casts of `graphs`, each of the name of its module."""
_CONFIG = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)
P = ParamSpec("P")


@dataclass(frozen=True)
class CastFactory:
    """A cast by name: the function that returns it, and where its scenarios come from."""

    name: str
    function: Callable[..., Cast]
    """Its parameters are the settings: options of `duologue simulate NAME`, and `--set` of `duologue test`."""
    source: type[ScenarioSource] = ScenarioSource
    """Where scenarios come from, a pydantic model: further options."""

    @property
    def summary(self) -> str:
        """What the cast simulates: the first line of the function's docstring."""
        return next(iter((inspect.getdoc(self.function) or "").splitlines()), "")

    @cached_property
    def settings(self) -> type[BaseModel]:
        """The parameters as a pydantic model; SettingError if one is no setting."""
        try:
            return _settings_of(self.function)
        except Exception as error:
            raise SettingError(f"cast {self.name}: its parameters are not settings: {error_line(error)}") from None

    def __call__(self, **values: Any) -> Cast:
        """The cast with these settings; its spec holds those that are plain, and says which are live objects.

        SettingError if a setting is wrong, or if a function of somebody else fails or gives no cast.
        """
        settings = self.checked(values)
        plain, live = {}, {}
        for name in sorted(settings.model_fields_set):
            try:
                value = as_json(getattr(settings, name))
            except ValueError as error:
                live[name] = f"{name} {error}"
                continue
            if value != self.settings.model_fields[name].default:
                plain[name] = value
        if not (is_import_path(self.name) or self.name in SHIPPED):  # by which another process finds it
            live["cast"] = f"the cast {self.name!r} is known in this process only"
        try:
            cast = self.function(**{name: getattr(settings, name) for name in self.settings.model_fields})
        except DuologueError:
            raise
        except (Exception, SystemExit) as error:
            if SHIPPED.get(self.name) is self:
                raise
            raise SettingError(f"{self.name}: {error_line(error, placed=True)}") from error
        if not isinstance(cast, Cast):
            raise SettingError(f"{self.name}: gave {kind(cast)}, not a cast: return graphs.Cast(...)")
        return replace(cast, user=None, spec=CastSpec(cast=self.name, settings=plain, live=live))

    def checked(self, values: Mapping[str, Any]) -> Any:
        """The settings as an instance of their model; SettingError names the wrong one."""
        try:
            return self.settings(**values)
        except ValidationError as error:
            first = first_invalid(error)
            if first.type == "extra_forbidden":
                there_are = f"only {', '.join(names)}" if (names := self.settings.model_fields) else "it has none"
                raise SettingError(f"{self.name}: there is no setting {first.path!r}, {there_are}") from None
            raise SettingError(f"{self.name}: {first.path}: {first.reason}, not {first.value!r}") from None

    def divided(self, values: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
        """Values by name as settings of the cast, options of its scenarios, and limits of a conversation.

        SettingError for a name that none of them has, which lists those that there are.
        """
        limits = [one.name for one in fields(Limits) if one.name != "seed"]  # of which a run has an option
        places = (self.settings.model_fields, self.source.model_fields, limits)
        found: tuple[dict[str, Any], ...] = ({}, {}, {})
        for name, value in values.items():
            place = next((own for names, own in zip(places, found, strict=True) if name in names), None)
            if place is None:
                there = ", ".join(sorted({name for names in places for name in names}))
                raise SettingError(f"{name}: {self.name} has no such setting; it has {there}")
            place[name] = value
        return found[0], found[1], found[2]


def ships(source: type[ScenarioSource]) -> Callable[[Callable[P, Cast]], Callable[P, Cast]]:
    """Make a function of a module of `graphs` the cast of that name, with the scenarios of `source`.

    What is called checks the settings and gives the cast its spec.
    """

    def known(function: Callable[P, Cast]) -> Callable[P, Cast]:
        factory = CastFactory(function.__module__.rpartition(".")[2], function, source)
        SHIPPED[factory.name] = factory

        @wraps(function)
        def cast(*sides: P.args, **settings: P.kwargs) -> Cast:
            return factory(**inspect.signature(function).bind_partial(*sides).arguments, **settings)

        return cast

    return known


def _settings_of(function: Callable[..., Any]) -> type[BaseModel]:
    """A function's parameters as a model: names, annotations (`Annotated[int, Field(...)]` too), defaults.

    A parameter without an annotation has the type of its default if that is a number or a switch. Those of
    `**settings: Unpack[...]` are None if they are left out. `Args:` of a docstring describes them.
    """
    hints, texts, defaults = get_type_hints(function, include_extras=True), _described(function), dict[str, Any]()
    for one in inspect.signature(function).parameters.values():
        if one.kind is one.VAR_KEYWORD and (common := get_args(hints.get(one.name))):
            defaults |= dict.fromkeys(common[0].__annotations__)
            hints |= get_type_hints(common[0], include_extras=True)
            texts |= _described(common[0])
        elif one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD):
            if one.default is one.empty:
                raise TypeError(f"its parameter {one.name!r} has no default: give it one")
            if isinstance(one.default, BaseModel):
                raise TypeError(f"its parameter {one.name!r} is not a plain value: give each its own")
            defaults[one.name] = one.default
            hints.setdefault(one.name, type(one.default) if isinstance(one.default, (int, float)) else Any)
    fields: dict[str, Any] = {}
    for name, default in defaults.items():
        described = Annotated[hints[name], Field(description=texts[name])] if name in texts else hints[name]
        fields[name] = (described, default)
    return create_model(f"{function.__name__}_settings", __config__=_CONFIG, **fields)


def _described(documented: object) -> dict[str, str]:
    """What the docstring says under `Args:`, by parameter."""
    arguments = (inspect.getdoc(documented) or "").partition("\nArgs:\n")[2].partition("\n\n")[0]
    texts = re.findall(r"^ {4}(\w+): (.+(?:\n {5,}.+)*)", arguments, re.MULTILINE)
    return {name: " ".join(text.split()) for name, text in texts}


def registered() -> dict[str, CastFactory]:
    """Every shipped cast by name; one's own has an import path."""
    return dict(sorted(SHIPPED.items()))


def find(name: str) -> CastFactory:
    """The cast of a registered name or an import path; SettingError lists the known names."""
    if is_import_path(name):
        return factory_of(name, imported(name, "cast"))
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
    return find(spec.cast)(**spec.settings).replace(**spec.replace)


def scenarios_of(source: str | Path, cast: str, *, seed: int = 0, **options: Any) -> Scenarios:
    """The scenarios that a cast takes from stored conversations or JSON lines, as `simulate CAST --scenarios SRC`.

    `options`: `part`, `limit`, `repeats`, `judge`, `licence` and those of the cast, as `task` and `sample`. The result has
    `settings` for the cast, such as the language, and `source` for the manifest of a run. DataError if the source cannot
    be used or is of another domain, SettingError if an option does not exist.
    """
    factory = find(cast)
    try:
        scenario_source = factory.source(scenarios=Path(source), **options)
    except ValidationError as error:
        first = first_invalid(error)
        raise SettingError(f"{cast}: {first.path}: {first.message}: give what --help of its command lists") from None
    return scenario_source.read(factory.checked({}), seed)


def factory_of(name: str, value: object) -> CastFactory:
    """The factory for an imported object: a factory, a cast, or a function that returns a cast."""
    if isinstance(value, CastFactory):
        return replace(value, name=name)
    if isinstance(value, Cast):
        return CastFactory(name, lambda: value)
    if not callable(value):
        raise SettingError(f"cast {name}: is {kind(value)}: give a function that returns a Cast")
    return CastFactory(name, value)


# What the shipped casts share


User: TypeAlias = Annotated[
    Speaker,
    SkipValidation,
    Field(
        description="Play the user with this model: openai:NAME (a model), PROVIDER:NAME (a model of another provider, such as anthropic or ollama), offline (rules, no network). Or replay:PATH (the user of stored conversations), people:PATH (turns of many such users), agent:URL (a LangGraph server) or MODULE:NAME (your own)."
    ),
]
Assistant: TypeAlias = Annotated[
    Speaker,
    SkipValidation,
    Field(
        description="Play the assistant with this model: openai:NAME, PROVIDER:NAME, offline, replay:PATH, people:PATH (recorded replies), agent:URL or MODULE:NAME."
    ),
]
Count: TypeAlias = Annotated[int, Field(ge=1)]


class Common(TypedDict, total=False):
    """The settings that every shipped cast has besides its sides; a cast with a live object runs in this process only.

    Args:
        prompts: Read prompt templates from this folder; each replaces the shipped one of the same name.
        stop: Stop by this criterion of yours, in place of the cast's: MODULE:NAME.
        world: Make a world for each conversation, which the agents' tools work on: MODULE:NAME.
        user_tokens: Set the most tokens of a reply of an openai: or local: model as the user. Default: 256; of the published
            programs no bound is sent.
        assistant_tokens: The same of the assistant. Default: 1024.
        when_rejected: Choose what follows the assistant's last rejected attempt: send it anyway, send the cast's
            fallback, or stop the conversation.
        approve: Answer an agent that stops for an approval: all, none, ask-user (the simulated user decides) or
            MODULE:NAME (your function of the interrupt's value). Default: the conversation ends.
        context: Call the agent's graph with this context: MODULE:NAME, a value or your function of scenario and world.
            Default: the defaults of its `context_schema`.
        limits: Limits of a run that sets none itself.
    """

    prompts: SkipValidation[str | Path | Library | None]
    stop: SkipValidation[str | Stop | None]
    world: SkipValidation[str | World | None]
    user_tokens: Annotated[int | None, Field(ge=1)]
    assistant_tokens: Annotated[int | None, Field(ge=1)]
    when_rejected: WhenRejected | None
    approve: Annotated[
        SkipValidation[str | Callable[..., Any] | None],
        # by its import path, so that the cast can be built in other processes
        BeforeValidator(lambda approve: import_path_of(approve) or approve),
    ]
    context: SkipValidation[Any]
    limits: Limits | None


def library(name: str, prompts: Any, language: str = "en") -> Library:
    """The pages of a shipped cast; `prompts`: a folder whose pages replace those of the same names, or a whole library."""
    if isinstance(prompts, Library):
        return prompts
    pages = shipped(name, language)
    if prompts is None:
        return pages
    behaviours = shipped(BEHAVIOURS, language).pages  # of these only the folder's own are pages of the cast
    full = Library({**behaviours, **pages.pages}).replaced(prompts).pages
    return Library({key: page for key, page in full.items() if page != behaviours.get(key)})


AS_PUBLISHED = {"user_tokens": None, "assistant_tokens": None, "vary_retries": False}
"""Parts of a cast whose requests are those of a published program: it bounds no reply, and repeats as it does."""


def assembled(settings: Common, *, turns: int, as_published: bool = False, **parts: Any) -> Cast:
    """A cast of its settings and parts, whose stored words have been found (`stored_words`).

    The validator of a side that replays stored conversations only observes. If the settings have no criterion of their
    own, a conversation ends where a stored one ended. If they have no limits, it ends after `turns` turns.
    """
    ends, longest = list[Any](), list[int]()
    for place, validator in (("user_simulator", "question_validator"), ("assistant", "answer_validator")):
        side = parts[place]
        if isinstance(side, ReplaySpeaker):
            ends.append(side.ended)
            if not isinstance(parts[validator], Observing):
                parts[validator] = Observing(parts[validator])
        elif isinstance(side, PeopleSpeaker) and side.role == "user":
            ends.append(side.left)
        else:
            continue  # the assistant's replies out of people's conversations go on as long as the user does
        longest.append(side.longest)
    own = {name: part for name, part in settings.items() if name not in ("prompts", "limits") and part is not None}
    limits = (settings.get("limits") or Limits()).or_else(Limits(max_turns=max(longest, default=turns)))
    published = AS_PUBLISHED if as_published else {}
    return Cast(**{"limits": limits, "stop": any_of(*ends, max_turns), **published, **own, **parts})
