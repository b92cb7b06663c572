"""The first difference of two plain values, compared whole or in part, with its path."""

from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from json import dumps
from typing import Any

from pydantic import BaseModel

_SHOWN = 80
"""Maximum characters of a value in a difference."""


def difference(actual: Any, expected: Any, *, partial: bool = True, path: str = "") -> str | None:
    """The first difference in the order of the expected value, in a line with its path; None without one.

    Objects are compared key by key. `partial`: an object may have more keys than are expected, at every depth. Lists
    have the same length and order; true and false are not numbers.
    """
    at, inside = (f"{path}: ", f"{path}.") if path else ("", "")
    if isinstance(expected, Mapping):
        if not isinstance(actual, Mapping):
            return f"{at}is {shown(actual)}, expected an object"
        for key, value in expected.items():
            if key not in actual:
                return f"{inside}{key}: is missing, expected {shown(value)}"
            if inner := difference(actual[key], value, partial=partial, path=f"{inside}{key}"):
                return inner
        more = [] if partial else [key for key in actual if key not in expected]
        return f"{inside}{more[0]}: is {shown(actual[more[0]])}, expected nothing there" if more else None
    if isinstance(expected, list):
        if not isinstance(actual, list):
            return f"{at}is {shown(actual)}, expected a list"
        for number, (one, other) in enumerate(zip(actual, expected, strict=False)):
            if inner := difference(one, other, partial=partial, path=f"{path}[{number}]"):
                return inner
        return None if len(actual) == len(expected) else f"{at}has {len(actual)} items, expected {len(expected)}"
    same = isinstance(actual, bool) == isinstance(expected, bool) and actual == expected
    return None if same else f"{at}is {shown(actual)}, expected {shown(expected)}"


def shown(value: Any) -> str:
    """The value as JSON on one line, shortened."""
    try:
        text = dumps(value, ensure_ascii=False, default=repr)
    except (TypeError, ValueError):
        text = " ".join(repr(value).split())
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def plain(value: Any) -> Any:
    """A value as plain ones: objects of data classes and pydantic models as mappings, tuples as lists, sets sorted."""
    if isinstance(value, BaseModel):
        return plain(value.model_dump())
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if isinstance(value, set | frozenset):
        return sorted((plain(inner) for inner in value), key=shown)
    return value
