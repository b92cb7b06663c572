"""Command-line options made from pydantic models: each field is an option, its description the help."""

import inspect
import types
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import typer
from pydantic import BaseModel
from pydantic.fields import FieldInfo

HIDDEN = frozenset({"limits"})
"""Fields without an option of their own: the command has separate options for them."""


def options_of(model: type[BaseModel]) -> dict[str, tuple[Any, Any]]:
    """Annotation and default of an option for each field of the model.

    Only for fields that a command line can set: a text, a number, a path, a choice, a switch, or a list of these.
    """
    options = {}
    for name, setting in model.model_fields.items():
        plain = _plain_type(setting.annotation)
        if name in HIDDEN or plain is None:
            continue
        default = setting.get_default(call_default_factory=True)
        options[name] = (Annotated[plain, _option(name, plain, setting)], default)
    return options


def command_of(
    name: str, options: Mapping[str, tuple[Any, Any]], run: Callable[[dict[str, Any]], int], help: str
) -> Callable[..., int]:
    """A function with these options as its parameters, for typer; it passes their values to `run` by name."""

    @extended(options)
    def command(**values: Any) -> int:
        return run(values)

    command.__name__ = name
    command.__doc__ = help
    return command


def extended(options: Mapping[str, tuple[Any, Any]]) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """For a function that ends with `**values`: typer sees these options there, and passes their values by name."""

    def with_options(function: Callable[..., int]) -> Callable[..., int]:
        own = [
            parameter
            for parameter in inspect.signature(function).parameters.values()
            if parameter.kind != inspect.Parameter.VAR_KEYWORD
        ]
        parameters = own + [
            inspect.Parameter(option, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
            for option, (annotation, default) in options.items()
        ]
        function.__signature__ = inspect.Signature(parameters, return_annotation=int)  # type: ignore[attr-defined]
        function.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return function

    return with_options


def _option(name: str, plain: Any, setting: FieldInfo) -> Any:
    flag = "--" + name.replace("_", "-")
    settings: dict[str, Any] = {"help": setting.description or ""}
    for bound in setting.metadata:
        if (least := getattr(bound, "ge", None)) is not None:
            settings["min"] = least
    if plain is bool and setting.default is False:
        return typer.Option(flag, **settings)
    if plain in (bool, bool | None):
        return typer.Option(f"{flag}/--no-{name.replace('_', '-')}", **settings)
    return typer.Option(flag, **settings)


def _plain_type(annotation: Any) -> Any:
    """The type of the option for a field; None if a command line cannot set it. For `Any` the option is a text."""
    if annotation is Any:
        return str | None
    if annotation in (str, int, float, bool, Path) or get_origin(annotation) is Literal:
        return annotation
    if get_origin(annotation) in (Union, types.UnionType):
        inner = [member for member in get_args(annotation) if member is not type(None)]
        plain = _plain_type(inner[0]) if len(inner) == 1 else None
        return None if plain is None else plain | None
    if get_origin(annotation) in (list, tuple, set, frozenset):
        item = _plain_type(get_args(annotation)[0])
        return list[item] if item in (str, int, float, Path) else None  # type: ignore[valid-type]
    return None
