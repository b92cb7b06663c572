"""The order of messages by their times, in rows and lines of one message each."""

import math
from datetime import datetime
from typing import Any

from .key_names import TIMES, first_of


def in_time(turns: list[dict[str, Any]], column: str) -> list[dict[str, Any]]:
    """The messages by their times; as they stand where a time is missing or not readable."""
    times = [_time(turn.get(column)) for turn in turns]
    if not column or any(time is None for time in times) or len(set(map(type, times))) > 1:
        return turns
    try:
        order = sorted(range(len(turns)), key=lambda number: times[number])  # type: ignore[arg-type,return-value]
    except TypeError:  # with a time zone and without
        return turns
    return [turns[number] for number in order]


def oldest_first(turns: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages in reverse, where each is as new as the next one or newer; else as they stand."""
    column = first_of(TIMES, list(turns[0]) if turns else [])
    if not column or in_time(turns[::-1], column) != turns[::-1]:
        return turns
    first, last = (_time(turn.get(column)) for turn in (turns[0], turns[-1]))
    return turns if first is None or first == last else turns[::-1]


def _time(value: Any) -> float | datetime | None:
    try:
        number = float(value)  # also of a text: seconds
        return number if math.isfinite(number) else None
    except (TypeError, ValueError, OverflowError):
        pass
    try:
        return datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
