"""Command-line options made from the fields of models and dataclasses."""

import inspect
import types
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import typer
from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from ...errors import first_invalid

HIDDEN = frozenset({"limits", "skip_broken"})
"""Fields without an option of their own: the command has separate options for them."""

PATHS = frozenset({"prompts"})
"""Fields for which a command line gives a path, and Python also an object."""

FIRST = frozenset({"user", "assistant", "scenarios", "judge", "limit", "repeats"})
"""Fields of the first section of a long help."""

SIGNS = {"ge": ">=", "gt": ">", "le": "<=", "lt": "<"}
"""Bounds of a field, and their signs."""

METAVARS = {
    "user": "MODEL",
    "assistant": "MODEL",
    "judge": "MODEL",
    "behaviour": "NAME,...",
    "scenarios": "SRC",
    "prompts": "DIR",
    "world": "MODULE:NAME",
    "stop": "MODULE:NAME",
    "task": "NAME,...",
    "tasks": "FILE",
    "contexts": "N",
    "profiles": "SRC",
    "topics": "SRC",
    "approve": "all|none|ask-user|MODULE:NAME",
    "context": "MODULE:NAME",
    "licence": "TEXT",
}
"""What stands for the values of fields."""

VALUES: ContextVar[Mapping[str, Any]] = ContextVar("the command's options")
"""The values of all options of the command that runs."""


def options_of(model: type[BaseModel], section: str) -> dict[str, tuple[Any, Any]]:
    """Annotation and default of an option for each field of the model, in a section of the help.

    Only for fields that a command line can set: a text, a number, a path, a choice, a switch, or a list of these.
    """
    options = {}
    for name, setting in model.model_fields.items():
        plain = _plain_type(setting.annotation)
        if name in PATHS:
            plain = Path | None
        if name in HIDDEN or plain is None:
            continue
        default = setting.get_default(call_default_factory=True)
        options[name] = (Annotated[plain, _option(name, plain, setting, section)], default)
    return options


def extended(options: Mapping[str, tuple[Any, Any]]) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """For a function that ends with `**values`: typer sees these options there, and passes their values by name."""

    def with_options(function: Callable[..., int]) -> Callable[..., int]:
        own = [
            parameter
            for parameter in inspect.signature(function).parameters.values()
            if parameter.kind != inspect.Parameter.VAR_KEYWORD
        ]
        further = [
            inspect.Parameter(option, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
            for option, (annotation, default) in options.items()
        ]
        _see(function, own + further)
        return function

    return with_options


def spread(function: Callable[..., int]) -> Callable[..., int]:
    """The function as typer is to see it.

    A parameter whose type is a dataclass stands for an option for each of its fields that has one.
    """
    groups: dict[str, tuple[Any, list[str]]] = {}
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(function).parameters.values():
        if not is_dataclass(parameter.annotation):
            parameters.append(parameter)
            continue
        own = [field for field in fields(parameter.annotation) if get_origin(field.type) is Annotated]
        groups[parameter.name] = parameter.annotation, [field.name for field in own]
        parameters += [
            parameter.replace(name=field.name, default=field.default, annotation=field.type) for field in own
        ]

    @wraps(function)
    def command(**values: Any) -> int:
        token = VALUES.set(dict(values))
        try:
            for name, (group, options) in groups.items():
                values[name] = group(**{option: values.pop(option) for option in options})
            return function(**values)
        finally:
            VALUES.reset(token)

    _see(command, parameters)
    return command


def _see(function: Callable[..., int], parameters: list[inspect.Parameter]) -> None:
    """Let typer see these parameters in place of the function's own."""
    function.__signature__ = inspect.Signature(parameters, return_annotation=int)  # type: ignore[attr-defined]
    function.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}


def _option(name: str, plain: Any, setting: FieldInfo, section: str) -> Any:
    flag = "--" + name.replace("_", "-")
    settings: dict[str, Any] = {
        "help": setting.description or "",
        "metavar": METAVARS.get(name, "N" if plain in (int, int | None) else None),
    }
    settings["rich_help_panel"] = None if name in FIRST else section
    bounds = {
        name: value for bound in setting.metadata for name in SIGNS if (value := getattr(bound, name, None)) is not None
    }
    settings |= {"min": bounds.pop("ge", None), "max": bounds.pop("le", None)}
    if bounds:  # typer has no bound that is not itself allowed
        shown = ", ".join(f"x{SIGNS[name]}{value}" for name, value in bounds.items())
        settings["help"] = f"{settings['help']} ({shown})".strip()
    if setting.metadata:
        settings["callback"] = _checking(plain, setting)
    if plain is bool and setting.default is False:
        return typer.Option(flag, **settings)
    if plain in (bool, bool | None):
        return typer.Option(f"{flag}/--no-{name.replace('_', '-')}", **settings)
    return typer.Option(flag, **settings)


def _checking(plain: Any, setting: FieldInfo) -> Callable[[Any], Any]:
    """A function that gives an option's value back, or the error of the field's constraints, which names the option."""
    adapter = TypeAdapter[Any](Annotated[plain, *setting.metadata])

    def checked(value: Any) -> Any:
        if value != setting.default:
            try:
                adapter.validate_python(value)
            except ValidationError as error:
                raise typer.BadParameter(first_invalid(error).reason) from None
        return value

    return checked


def _plain_type(annotation: Any) -> Any:
    """The type of the option for a field; None if a command line cannot set it.

    For `Any`, and where a text is one of several kinds of values, the option is a text.
    """
    if annotation is Any:
        return str | None
    if annotation in (str, int, float, bool, Path) or get_origin(annotation) is Literal:
        return annotation
    if get_origin(annotation) in (Union, types.UnionType):
        inner = [member for member in get_args(annotation) if member is not type(None)]
        plain = str if str in inner else _plain_type(inner[0]) if len(inner) == 1 else None
        return None if plain is None else plain | None
    if get_origin(annotation) in (list, tuple, set, frozenset):
        item = _plain_type(get_args(annotation)[0])
        return list[item] if item in (str, int, float, Path) else None  # type: ignore[valid-type]
    return None
