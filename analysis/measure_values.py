"""The values of a measure that is not Duologue's own: checked numbers, and one line where its function fails."""

import math
from typing import Any

from ..data.packages import failure
from ..errors import SettingError


def as_number(value: Any) -> float | None:
    """A value of a measure; None for NaN. TypeError or ValueError for anything that is not a finite number."""
    if value is None or (type(value) is float and math.isfinite(value)):
        return value
    if type(value) is bool:
        return float(value)  # what most measures of a message give
    if isinstance(value, str | bytes) or not hasattr(value, "__float__"):
        raise TypeError(f"gave {type(value).__name__}, not a number")
    number = float(value)
    if math.isinf(number):
        raise ValueError("gave an infinite value")
    return None if math.isnan(number) else number


def measure_failed(measure: str, error: Exception, conversation: str = "") -> SettingError:
    """The error of a measure whose function failed, in one line.

    `conversation`: the id of the conversation that the function was called with.
    """
    where = f" in conversation {conversation}" if conversation else ""
    hint = ": give a number, or None where it has no value" if str(error).startswith("gave ") else ""
    return SettingError(f"the measure {measure!r} failed{where}: {failure(error)}{hint}")
