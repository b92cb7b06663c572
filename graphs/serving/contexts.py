"""A cast's settings and limits as the context of a served graph: what a run may choose."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, make_dataclass
from dataclasses import field as dataclass_field
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, get_type_hints

from pydantic import BaseModel, Field, TypeAdapter

from ...errors import SettingError
from ...nodes.limits import Limits
from ...nodes.models.specs import PROVIDERS
from ...nodes.people import source_path
from ...nodes.settings.import_path import is_import_path
from ...nodes.speakers.replay import replayed_path

NOT_IN_CONTEXT = ("stop", "world", "limits")
"""Settings that a run cannot choose: the stop criterion and the world are code, and limits are fields of the context."""

EXAMPLES: Mapping[str, list[Any]] = {
    "max_turns": [2, 6, 12],
    "max_tokens": [20_000],
    "user": ["offline", "openai:gpt-4.1-mini", "openai:gpt-4.1-mini?temperature=0.5"],
    "assistant": ["offline", "openai:gpt-4.1-mini", "agent:http://127.0.0.1:8123?graph=agent"],
    "model": ["openai:gpt-4.1-mini"],
    "prompts": ["my_prompts"],
}


DESCRIPTIONS: Mapping[str, str] = {
    side: f"Who plays the {side}: openai:NAME (a model), PROVIDER:NAME (a model of another provider), offline (rules, no network). Or agent:URL?graph=NAME (a graph on a "
    "LangGraph server), replay:PATH or people:PATH (stored conversations in the server's working folder)."
    for side in ("user", "assistant")
}
"""Descriptions in place of those of the settings, which also name what a run on a server cannot choose."""


@dataclass(frozen=True, kw_only=True)
class ServedSettings(Limits):
    """Limits, and in a subclass that `context_of` makes the settings of a cast."""


def limits_of(context: ServedSettings) -> Limits:
    """Only the limits."""
    return Limits(**{limit.name: getattr(context, limit.name) for limit in fields(Limits)})


def chosen(context: ServedSettings) -> dict[str, Any]:
    """The settings that differ from their defaults; SettingError for one that a caller must not choose."""
    limits = {limit.name for limit in fields(Limits)}
    values = {
        setting.name: value
        for setting in fields(context)
        if setting.name not in limits and (value := getattr(context, setting.name)) != setting.default
    }
    for name, value in values.items():
        _check(name, value)
    return values


def context_of(name: str, settings: type[BaseModel]) -> type[ServedSettings]:
    """A dataclass with the limits and the plain settings of a cast, each with a description, for LangGraph's context.

    Settings that may be live objects in code are texts here: a model's spec, a folder.
    """
    described = TypeAdapter(Limits).json_schema()["properties"]
    hints = get_type_hints(Limits)
    parts: list[Any] = [
        _part(limit.name, hints[limit.name], limit.default, described[limit.name].get("description", ""))
        for limit in fields(Limits)
    ]
    for key, setting in settings.model_fields.items():
        if key in NOT_IN_CONTEXT or setting.is_required():
            continue
        kind: Any = setting.annotation
        if kind is Any:
            kind = str | None if setting.default is None else type(setting.default)
        parts.append(_part(key, kind, setting.get_default(call_default_factory=True), setting.description or ""))
    context_type = make_dataclass(f"{name}_context", parts, bases=(ServedSettings,), frozen=True, kw_only=True)
    context_type.__module__ = __name__
    context_type.__doc__ = f"Limits of a run of {name}, and the settings of its cast."
    return context_type


def _part(name: str, kind: Any, default: Any, description: str) -> tuple[str, Any, Any]:
    if name in DESCRIPTIONS and "MODULE:NAME" in description:
        description = DESCRIPTIONS[name]
    about = Field(title=name.replace("_", " ").capitalize(), description=description, examples=EXAMPLES.get(name))
    return name, Annotated[kind, about], dataclass_field(default=default)


def _check(name: str, value: Any) -> None:
    """Refuse what would run code or read files elsewhere: whoever reaches the server chooses the context."""
    if not isinstance(value, str):
        return
    provider = value.partition(":")[0]
    if (
        is_import_path(value)
        and provider not in PROVIDERS
        and ("." in provider or find_spec(f"langchain_{provider}") is None)
    ):  # to find out more would import it
        raise SettingError(
            f"{name}: {value!r} names code, which a run on a server cannot choose: "
            "make a graph with it, graphs.served(cast), and name that in langgraph.json"
        )
    path = Path(value) if name == "prompts" else replayed_path(value) or source_path(value)
    if path is not None and not path.resolve().is_relative_to(Path.cwd().resolve()):
        raise SettingError(f"{name}: {value!r} lies outside the server's working folder: give a path inside it")
