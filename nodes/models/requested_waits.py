"""The wait that an endpoint requests in its headers."""

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

LONGEST = 86_400.0
"""Maximum seconds: a request to wait for more than a day is a mistake."""


def asked_wait(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait by `retry-after-ms` or `retry-after`, in seconds or as a date; None without a valid one."""
    values = {str(name).lower(): str(value).strip() for name, value in headers.items()}
    for name, unit in (("retry-after-ms", 1_000), ("retry-after", 1)):
        if text := values.get(name):
            seconds = _number(text)
            seconds = _until(text, values.get("date")) if seconds is None else seconds / unit
            if seconds is not None and 0 <= seconds <= LONGEST:
                return seconds
    return None


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else -1.0


def _until(text: str, now: str | None) -> float | None:
    """Seconds until a date, by the endpoint's own clock if the headers contain it."""
    date = _date(text)
    if date is None:
        return None
    return (date - clock_of(now)).total_seconds()


def clock_of(date: str | None) -> datetime:
    """The endpoint's own time by this header, else ours."""
    here = datetime.now(UTC)  # noqa: TID251 - a date means nothing without the time; only a wait's length depends on it
    return _date(date or "") or here


def _date(text: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return date if date.tzinfo is not None else date.replace(tzinfo=UTC)
