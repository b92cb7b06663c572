"""Durations on the command line: `45s`, `90m`, `2h`, `1h30m`, or a number of seconds."""

import re

from ...errors import SettingError

_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(d|h|min|m|s)", re.IGNORECASE)
_SECONDS = {"d": 86400, "h": 3600, "min": 60, "m": 60, "s": 1}
LONGEST = 366 * 86400
"""Seconds of a year; what is longer is a slip."""


def seconds(text: str | float) -> float:
    """The seconds of a duration.

    SettingError for what is not a duration, for 0, and for more than a year.
    """
    words = str(text).strip()
    parts = _PART.findall(words)
    if parts and not _PART.sub("", words).strip():
        value = sum(float(number) * _SECONDS[unit.lower()] for number, unit in parts)
    else:
        value = float(words) if re.fullmatch(r"[0-9]+(\.[0-9]+)?", words) else 0.0
    if not 0 < value <= LONGEST:
        raise SettingError(f"{words!r} is not a duration: write 45s, 90m, 2h, 1h30m or a number of seconds above 0")
    return value
