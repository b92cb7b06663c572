"""Settings of a cast by name: `--set NAME=VALUE`."""

import json
import types
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

from ...errors import SettingError


def setting(text: str, model: Any) -> tuple[str, Any]:
    """A setting's name and value.

    The text stays as it is for a setting that is a text; else it is read as JSON where it is JSON.
    """
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise SettingError(f"--set {text}: write NAME=VALUE")
    field = model.model_fields.get(name)
    if field is not None and _is_text(field.annotation):
        return name, value
    try:
        parsed = json.loads(value)
    except ValueError:
        return name, value
    return name, value if parsed is not None and field is not None and _may_be_text(field.annotation) else parsed


def _is_text(annotation: Any) -> bool:
    """Whether the values of a setting are texts or paths."""
    if get_origin(annotation) is Literal:
        return all(isinstance(value, str) for value in get_args(annotation))
    return annotation in (str, Path)


def _may_be_text(annotation: Any) -> bool:
    """Whether the values of a setting are texts or None."""
    members = get_args(annotation) if get_origin(annotation) in (Union, types.UnionType) else (annotation,)
    return all(member is types.NoneType or _is_text(member) for member in members)
