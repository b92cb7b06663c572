"""The settings that every shipped cast has, and what makes a cast's function of them."""

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, field_validator

from ...nodes.limits import Limits
from ...nodes.messages.behaviour_prompts import PAGES as BEHAVIOURS
from ...nodes.settings.import_path import import_path_of
from ...prompts import Library, shipped
from .cast import Cast, WhenRejected


class CastSettings(BaseModel):
    """The settings that every cast has.

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
    reject_user_faults: bool = Field(
        default=False,
        description="Reject a draft of the user in which the rules of check find a fault of the user (docs/test/verdict.md).",
    )
    demand_behaviours: bool = Field(
        default=False,
        description="Reject a draft of the user that should show a behaviour and does not.",
    )
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


Function = TypeVar("Function", bound=Callable[..., Cast])


def documented(settings: type[BaseModel]) -> Callable[[Function], Function]:
    """Give a function with `**settings` the fields of the model as its signature and in its docstring."""

    def with_settings(function: Function) -> Function:
        own = inspect.signature(function).parameters
        parameters = [parameter for parameter in own.values() if parameter.kind is not parameter.VAR_KEYWORD]
        lines = []
        for name, setting in settings.model_fields.items():
            if name not in own:
                parameters.append(
                    inspect.Parameter(
                        name, inspect.Parameter.KEYWORD_ONLY, default=setting.default, annotation=setting.annotation
                    )
                )
                lines.append(f"`{name}`: {setting.description}")
        returned = inspect.signature(function).return_annotation
        function.__signature__ = inspect.Signature(parameters, return_annotation=returned)  # type: ignore[attr-defined]
        function.__doc__ = "\n\n".join([inspect.getdoc(function) or "", "\n".join(lines)])
        return function

    return with_settings
