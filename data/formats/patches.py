"""What a source had besides what we would write: kept when read, put back when written."""

from collections.abc import Mapping
from typing import Any


def difference(original: Mapping[str, Any], derived: Mapping[str, Any]) -> dict[str, Any]:
    """What turns the derived object into the original: empty if they are equal, key order included.

    `values`: keys that are missing in the derived object or stand there with another value.
    `order`: the original's keys, if they are others or stand in another order.
    """
    values = {k: v for k, v in original.items() if k not in derived or not _same(derived[k], v)}
    patch: dict[str, Any] = {}
    if values:
        patch["values"] = values
    if list(original) != list(derived):
        patch["order"] = list(original)
    return patch


def patched(derived: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """The original object again."""
    merged = dict(derived) | dict(patch.get("values", {}))
    return {key: merged[key] for key in patch.get("order", merged)}


def _same(left: Any, right: Any) -> bool:
    """Equal as JSON: 1, 1.0 and true are three values, and keys have an order."""
    if isinstance(left, dict) and isinstance(right, dict):
        return list(left) == list(right) and all(_same(left[key], right[key]) for key in left)
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return len(left) == len(right) and all(map(_same, left, right))
    return type(left) is type(right) and bool(left == right)
