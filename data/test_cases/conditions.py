"""Conditions of a scenario's `success`, as test cases of other tools have them."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

_LISTS = ("tool_called", "tool_not_called", "judged")
"""Keys whose values may be a list, of which all must hold."""
_NUMBER = re.compile(r"\d{4,}(?:\.\d+)?")


def joined(conditions: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """One `success` that asks for all of the conditions; equal ones count once, and it is empty without one."""
    success: dict[str, Any] = {}
    listed: dict[str, list[Any]] = {}
    others: list[Any] = []
    for key, value in (item for condition in conditions for item in condition.items()):
        if key in _LISTS or (key == "text_contains" and isinstance(value, str)):
            values = listed.setdefault(key, [])
            values += [one for one in (value if isinstance(value, list) else [value]) if one not in values]
        elif key == "all_of":
            others += [one for one in value if one not in others]
        elif key not in success:
            success[key] = value
        elif success[key] != value and {key: value} not in others:
            others.append({key: value})
    if "text_contains" in success and "text_contains" in listed:
        others.insert(0, {"text_contains": success.pop("text_contains")})
    success |= {key: values[0] if len(values) == 1 else values for key, values in listed.items()}
    return success | ({"all_of": others} if others else {})


def call(name: str, arguments: Mapping[str, Any] | None) -> str | dict[str, Any]:
    """A call of a tool as `tool_called` has it."""
    return {"name": name, "arguments": dict(arguments)} if arguments else name


def communicated(text: str) -> dict[str, Any]:
    """The condition that the assistant writes a text; a number of four digits or more may have commas in it."""
    if not _NUMBER.fullmatch(text):
        return {"text_contains": text}
    whole, point, fraction = text.partition(".")
    return {"text_contains": {"any": [text, f"{int(whole):,}{point}{fraction}"]}}


def same_as(answer: str) -> dict[str, Any]:
    """The condition that the assistant's answer agrees with a reference answer, which a judge decides."""
    return {"judged": f"The assistant's answer agrees with this one: {answer}"}
