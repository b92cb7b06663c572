"""Patches: the differences between a source and what we would write. They are kept in reading and applied in writing."""

from collections.abc import Mapping
from typing import Any


def difference(original: Mapping[str, Any], derived: Mapping[str, Any]) -> dict[str, Any]:
    """The patch that turns the derived object into the original; empty if they are equal, including key order.

    `values`: the original's values of keys that are missing or different in the derived object.
    `order`: the original's keys, if they or their order differ.
    """
    values = {key: value for key, value in original.items() if key not in derived or not _same(derived[key], value)}
    patch: dict[str, Any] = {}
    if values:
        patch["values"] = values
    if list(original) != list(derived):
        patch["order"] = list(original)
    return patch


def patched(derived: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """The original object, from the derived object and its patch."""
    merged = dict(derived) | dict(patch.get("values", {}))
    return {key: merged[key] for key in patch.get("order", merged)}


def _same(left: Any, right: Any) -> bool:
    """Whether two values are the same JSON: 1, 1.0 and true differ, and so do objects with another order of keys."""
    if isinstance(left, dict) and isinstance(right, dict):
        return list(left) == list(right) and all(_same(left[key], right[key]) for key in left)
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return len(left) == len(right) and all(map(_same, left, right))
    return type(left) is type(right) and bool(left == right)
