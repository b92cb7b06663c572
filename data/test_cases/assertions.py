"""Assertions of promptfoo as conditions of a scenario's `success`."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from ..attempts import as_object, is_object
from .conditions import same_as


def _texts(match: str, *, case: bool) -> Callable[[Any], dict[str, Any] | None]:
    def condition(value: Any) -> dict[str, Any] | None:
        texts = value if isinstance(value, list) else [value]
        if not texts or not all(isinstance(text, str | int | float) and str(text).strip() for text in texts):
            return None
        return {"text_contains": {match: [str(text) for text in texts], **({"case": True} if case else {})}}

    return condition


def _pattern(value: Any) -> dict[str, Any] | None:
    try:
        re.compile(value)
    except (re.error, TypeError):  # patterns of JavaScript may be others than Python's
        return None
    return {"text_contains": {"all": [value], "regex": True, "case": True}}


def _judged(value: Any) -> dict[str, Any] | None:
    wishes = value if isinstance(value, list) else [value]
    if not wishes or not all(isinstance(wish, str) and wish.strip() for wish in wishes):
        return None
    return {"judged": wishes[0] if len(wishes) == 1 else list(wishes)}


def _used(value: Any) -> dict[str, Any] | None:
    """A tool by its name, or tools, all of them; a number of calls only where it is exact."""
    if isinstance(value, str | list):
        return {"tool_called": value} if value else None
    spec = dict(as_object(value))
    name, least, most = spec.pop("name", None), spec.pop("min", None), spec.pop("max", None)
    if not isinstance(name, str) or spec or ((least not in (None, 1) or most is not None) and least != most):
        return None
    return {"tool_called": name if least in (None, 1) and most is None else {"name": name, "times": least}}


def _called_with(value: Any) -> dict[str, Any] | None:
    spec = dict(as_object(value))
    name, arguments = spec.pop("name", None), spec.pop("args", spec.pop("arguments", None))
    if not isinstance(name, str) or not is_object(arguments) or spec.pop("mode", "partial") != "partial" or spec:
        return None
    return {"tool_called": {"name": name, "arguments": dict(arguments)}}


def _same(value: Any) -> dict[str, Any] | None:
    return same_as(value) if isinstance(value, str) and value.strip() else None


_CONDITIONS: Mapping[str, Callable[[Any], dict[str, Any] | None]] = {
    "contains": _texts("all", case=True),
    "contains-all": _texts("all", case=True),
    "contains-any": _texts("any", case=True),
    "icontains": _texts("all", case=False),
    "icontains-all": _texts("all", case=False),
    "icontains-any": _texts("any", case=False),
    "regex": _pattern,
    "is-refusal": lambda _: {"refused": True},
    "llm-rubric": _judged,
    "g-eval": _judged,
    "model-graded-closedqa": _judged,
    "trajectory:goal-success": _judged,
    "factuality": _same,
    "model-graded-factuality": _same,
    "trajectory:tool-used": _used,
    "trajectory:tool-args-match": _called_with,
}


def condition_of(kind: str, value: Any) -> dict[str, Any] | None:
    """The condition of an assertion of a type; None if a scenario cannot say it."""
    positive = _CONDITIONS.get(kind.removeprefix("not-"))
    condition = positive(value) if positive is not None else None
    if condition is None or not kind.startswith("not-"):
        return condition
    return {"refused": False} if condition == {"refused": True} else {"not": condition}
