"""A run folder's manifest on disk, and its problems in the same words for every reader."""

from pathlib import Path
from typing import Any

from ...errors import DataError, at
from ..files.json_files import read_json
from .detection import MANIFEST

RESTORE = "the command of its run with --resume restores it from the records"
"""The remedy for a manifest that is missing or broken."""

_OF_SOURCE = {"source": str, "digest": str, "scenarios": int, "equal": int}
"""The fields of a manifest for each source of scenarios."""

_EXPECTED = {
    "planned": (list, "the list of planned ids"),
    "settings": (dict, "the object of its settings"),
    "data": (list, "the list of sources of its scenarios"),
}
_KINDS = {dict: "an object", list: "a list", str: "a text", bool: "true or false", int: "a number", float: "a number"}


def read(folder: Path, *, plan_alone: bool = False) -> tuple[Any, str]:
    """The value in a folder's manifest, and a line with its problem and the remedy, or an empty one.

    `plan_alone`: it may lack its settings and sources, as reading the conversations needs neither. DataError, of the
    same form, for a file that cannot be read and for a value without the ids that were planned.
    """
    file = folder / MANIFEST
    try:
        value = read_json(file)
    except DataError as error:
        raise DataError(f"{error}; {RESTORE}") from None
    wrong = problem({**_OTHERS, **value} if plan_alone and isinstance(value, dict) else value)
    line = wrong and f"{at(file)}: is not a manifest of a run ({wrong}): {RESTORE}"
    if line and (not isinstance(value, dict) or problem({**value, **_OTHERS})):
        raise DataError(line)
    return value, line


_OTHERS: dict[str, Any] = {"settings": {}, "data": [{"source": "", "digest": "", "scenarios": 0, "equal": 0}]}
"""Settings and sources with which nothing is wrong."""


def problem(value: Any) -> str:
    """The reason why a value is not a manifest; empty if it is one."""
    if not isinstance(value, dict):
        return f"it is {_kind(value)} where an object is expected"
    for key, (kind, expected) in _EXPECTED.items():
        if key not in value:
            return f"it has no {key!r}, {expected}"
        if not isinstance(value[key], kind):
            return f"{key!r} is {_kind(value[key])} where {expected} is expected"
    if not all(isinstance(name, str) for name in value["planned"]):
        return "'planned' holds more than ids"
    for key in ("limits", "nodes", "prompts"):
        if not isinstance(part := value["settings"].get(key, {}), dict):
            return f"{key!r} of its 'settings' is {_kind(part)} where an object is expected"
    if not value["data"]:
        return "'data' is an empty list where the list of sources of its scenarios is expected"
    for source in value["data"]:
        if not isinstance(source, dict) or not all(isinstance(source.get(k), kind) for k, kind in _OF_SOURCE.items()):
            return "'data' holds more than sources of scenarios"
    return ""


def _kind(value: Any) -> str:
    return _KINDS.get(type(value), "null")
