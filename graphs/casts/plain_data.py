"""Settings and parts of a cast as plain JSON values, for its spec and for the manifest of a run."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from pydantic import BaseModel

from ...nodes.limits import Limits
from ...nodes.settings.import_path import import_path_of


class LiveError(ValueError):
    """The value is a live object: JSON cannot hold it, or does not give it back."""


def setting_as_json(settings: BaseModel, name: str) -> Any:
    """A setting as JSON values, from which the settings' model makes it again; else LiveError."""
    value = getattr(settings, name)
    try:
        return as_json(value)
    except LiveError:
        pass
    try:
        dumped = settings.model_dump(mode="json", include={name}, warnings=False)[name]
        again = getattr(type(settings).model_validate({**dict(settings), name: dumped}), name)
        same = type(again) is type(value) and bool(again == value)
    except Exception as error:  # validators and comparisons of somebody else's types may raise anything
        raise LiveError(str(error)) from None
    if not same:
        raise LiveError(f"{name} is another value after JSON")
    return dumped


def part_as_json(part: object) -> Any:
    """A part that replaces another: JSON values, or a function's import path; else LiveError."""
    path = import_path_of(part)
    return as_json(part) if path is None else path


def as_json(value: object) -> Any:
    """Plain values, paths, limits, and lists and objects of these as JSON values; LiveError for any other value."""
    if value is None or type(value) in (str, int, float, bool):
        return value
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Limits):
        return value.plain()
    if type(value) in (list, tuple):
        return [as_json(item) for item in cast("list[Any]", value)]
    if isinstance(value, Mapping) and all(type(key) is str for key in value):
        return {key: as_json(item) for key, item in cast("Mapping[str, Any]", value).items()}
    raise LiveError(type(value).__name__)
