"""What an endpoint's headers report of its limits, the rates that these allow, and the wait that they ask for."""

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

LONGEST = 86_400.0  # seconds: a wait of more than a day is a mistake
_KEYS = [
    (unit, [pattern.format(name=name, unit=unit) for name in ("limit", "remaining", "reset")])
    for pattern in ("x-ratelimit-{name}-{unit}", "anthropic-ratelimit-{unit}-{name}")
    for unit in ("requests", "tokens")
]
_DURATION = re.compile(r"(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d*\.?\d+)s)?(?:(\d*\.?\d+)ms)?")
_PARTS = (86_400, 3_600, 60, 1, 0.001)


def limits_in(headers: Mapping[str, str]) -> dict[str, tuple[float, float, float]]:
    """The limits in headers by unit (`requests`, `tokens`): amount, what is left, and seconds until all is left again.

    Read are OpenAI's `x-ratelimit-*`, which many copy, and `anthropic-ratelimit-*`; not where a value makes no sense.
    """
    values = {name.lower(): value for name, value in headers.items()} if headers else {}
    reports = {}
    for unit, keys in _KEYS:
        if keys[0] in values:
            amount, left, reset = (_seconds(values.get(key, ""), values.get("date")) for key in keys)
            if 0 < amount < math.inf and 0 <= left < math.inf and reset <= LONGEST:
                reports[unit] = amount, left, max(0.0, reset)
    return reports


def asked_wait(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait by `retry-after-ms` or `retry-after`, in seconds or as a date; None without a valid one.

    A date is read by the endpoint's own clock where the headers contain it.
    """
    values = {name.lower(): value for name, value in headers.items()}
    for name, unit in (("retry-after-ms", 1_000), ("retry-after", 1)):
        seconds = _seconds(values.get(name, ""), values.get("date")) / unit
        if 0 <= seconds <= LONGEST:
            return seconds
    return None


def _seconds(text: str, date: str | None) -> float:
    """A number, the seconds of a duration such as 6m0s, or those until a time; NaN for anything else."""
    try:
        return float(text)
    except ValueError:
        if text and (parts := _DURATION.fullmatch(text)):
            return sum(float(part) * size for part, size in zip(parts.groups(), _PARTS, strict=True) if part)
    if (then := _time(text)) is None:
        return math.nan
    # A time means nothing without the present one, on which only the length of a wait depends.
    return (then - (_time(date) or datetime.now(UTC))).total_seconds()  # noqa: TID251


def _time(text: str | None) -> datetime | None:
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            time = read(text or "")
        except (ValueError, TypeError, IndexError, OverflowError):
            continue
        return time if time.tzinfo is not None else time.replace(tzinfo=UTC)
    return None


class Rate:
    """So many units (`requests`, `tokens`) a second, smoothly, and some at once after a rest.

    An amount may be larger than that: it goes when nothing is owed, and later ones wait until it is paid for.
    """

    def __init__(self, unit: str, per_second: float, at_once: float = 1.0) -> None:
        self.by_tokens, self.per_second, self._at_once = unit == "tokens", per_second, at_once
        self._paid = -math.inf

    def ready(self, amount: float) -> float:
        """When an amount may go."""
        return self._paid + (min(amount, self._at_once) - self._at_once) / self.per_second

    def take(self, amount: float, now: float = -math.inf) -> None:
        """An amount goes; without a time it is one that was forgotten, or below 0 is given back."""
        self._paid = max(self._paid, now) + amount / self.per_second


class ReportedRate(Rate):
    """The rate of a limit that an endpoint reports: what is left goes within a minute, what comes anew as it comes.

    The seconds to a full amount are the length of a window; those of a bucket grow to that while it empties. So the
    longest ones tell how fast the amount comes anew. The last of it is left: others may use the same limit.
    """

    _amount = _longest = 0.0

    def report(self, amount: float, left: float, reset: float) -> None:
        """Take in a report: how much there is and is left, and seconds until all is left again."""
        self._longest = max(self._longest if amount == self._amount else 1e-3, reset)
        self._amount = amount
        scarce = min(1.0, 0.5 + 10 * (left + 1) / amount)
        self.per_second = max(scarce * amount / self._longest, left / 60)
