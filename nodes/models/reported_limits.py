"""The limits that an endpoint reports in the headers of its replies, and when they leave room for a call."""

import math
import re
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from datetime import datetime
from typing import NamedTuple, Protocol

from .requested_waits import LONGEST, clock_of

UNITS = ("requests", "tokens")
_NAMES = ("x-ratelimit-{name}-{unit}", "anthropic-ratelimit-{unit}-{name}")
_DURATION = re.compile(r"(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d*\.?\d+)s)?(?:(\d*\.?\d+)ms)?")
_PARTS = (86_400, 3_600, 60, 1, 0.001)


class LimitReport(NamedTuple):
    """What the headers of one reply say of a limit."""

    amount: float
    left: float
    reset: float
    """Seconds until all of the amount is left again."""


def limits_in(headers: Mapping[str, str]) -> dict[str, LimitReport]:
    """The limits in headers, by unit: OpenAI's `x-ratelimit-*`, which many copy, and `anthropic-ratelimit-*`."""
    values = {str(name).lower(): str(value).strip() for name, value in headers.items()}
    reports = {}
    for unit in UNITS:
        for pattern in _NAMES:
            amount, left, reset = (
                values.get(pattern.format(name=n, unit=unit)) for n in ("limit", "remaining", "reset")
            )
            numbers = _number(amount), _number(left), _seconds(reset, values.get("date"))
            if all(0 <= number < math.inf for number in numbers) and numbers[0]:
                reports[unit] = LimitReport(*numbers)
    return reports


listener: ContextVar[Callable[[Mapping[str, str]], None] | None] = ContextVar("duologue_limit_listener", default=None)
"""Called with the headers of each reply to the call that is under way."""


def note_headers(headers: Mapping[str, str]) -> None:
    """Hand the headers of a reply to the rate limiter of the call."""
    if (listen := listener.get()) is not None:
        listen(headers)


def _number(text: str | None) -> float:
    try:
        return float(text or "")
    except ValueError:
        return math.nan


def _seconds(text: str | None, date: str | None) -> float:
    """Seconds of a duration such as 6m0s, of a number, or until a time of day; NaN for anything else."""
    if not text:
        return math.nan
    if (parts := _DURATION.fullmatch(text)) is not None:
        seconds = sum(float(part) * size for part, size in zip(parts.groups(), _PARTS, strict=True) if part)
    elif math.isnan(seconds := _number(text)):
        try:
            then = datetime.fromisoformat(text)
            seconds = (then - clock_of(date)).total_seconds() if then.tzinfo else math.nan
        except ValueError:
            return math.nan
    return max(0.0, seconds) if seconds <= LONGEST else math.nan


class SentCall(Protocol):
    """A call, as far as a limit counts it."""

    sent: float
    tokens: int
    refused: bool
    least: int


class ReportedLimit:
    """A limit of one unit, by the reports of the endpoint and by what was sent since.

    A report does not contain how the endpoint counts. Where the seconds to a full amount grow with the amount taken, it
    is a bucket that fills steadily. Where they are always about the same, a window of that length slides over the
    calls.
    """

    def __init__(self, unit: str, calls: Iterable[SentCall]) -> None:
        """`calls`: those that were sent before the first report."""
        self.unit = unit
        self.amount = self._left = 0.0
        self._at = -math.inf
        """When the call of the last report was sent: of later ones it says nothing."""
        self._longest = self._resets = self._taken = 0.0
        self._shortest = math.inf
        """Seconds of a window that slides, at least; `_longest` are those at most."""
        self._off_bucket = self._off_window = 0.0
        """How far both readings were off, in seconds."""
        self._calls: deque[SentCall] = deque(calls, maxlen=20_000)
        """The calls of a window."""
        self._recent: deque[SentCall] = deque()
        """Those that have left it since the last report."""

    @property
    def _edge(self) -> float:
        """Seconds by which the endpoint's window can lie behind ours."""
        return min(0.1, self.seconds / 20)

    @property
    def slides(self) -> bool:
        """Whether it is a window that slides."""
        return self._off_window < self._off_bucket

    @property
    def seconds(self) -> float:
        """Seconds in which the amount comes anew."""
        if self.slides or not self._taken:
            return self._longest
        return max(self._longest, self.amount * self._resets / self._taken)

    def report(self, report: LimitReport, sent: float) -> None:
        """Take in the report of a call that was sent then."""
        taken = report.amount - report.left
        if report.amount != self.amount:
            self._resets = self._taken = self._longest = 0.0
            self._shortest = math.inf
            self.amount = report.amount
        if taken:
            if self._taken:
                self._compare(abs(report.reset - taken * self._resets / self._taken), abs(report.reset - self._longest))
            self._resets += report.reset - 0.02 * self._resets
            self._taken += taken - 0.02 * self._taken
            self._longest = max(self._longest, report.reset)
            if report.reset > 0.9 * self._longest:  # times of day are in whole seconds
                self._shortest = min(self._shortest, report.reset)
        if sent > self._at:
            self._at, self._left = sent, report.left
            while self._recent and self._recent[0].sent <= sent - min(self._shortest, self.seconds):
                self._recent.popleft()

    def _compare(self, of_bucket: float, of_window: float) -> None:
        """Take in how far both readings were off, unless neither was.

        Of a limit that is used up they say the same.
        """
        rounding = self._longest / 20 + self._resets / self._taken  # amounts are whole
        if max(of_bucket, of_window) > rounding:
            self._off_bucket = 0.9 * self._off_bucket + max(0.0, of_bucket - rounding)
            self._off_window = 0.9 * self._off_window + max(0.0, of_window - rounding)

    def take(self, call: SentCall) -> None:
        """A call goes."""
        self._calls.append(call)

    def cost(self, call: SentCall) -> float:
        """What a call takes of it."""
        return 0.0 if call.refused else call.tokens if self.unit == "tokens" else 1.0

    def left(self, now: float) -> float:
        """What is left now, about."""
        begin = now - self.seconds - self._edge
        while self._calls and self._calls[0].sent <= begin:
            self._recent.append(self._calls.popleft())
        if now > self._at + self.seconds + self._edge:  # the report says nothing any more, whoever else calls
            return self.amount - sum(map(self.cost, self._calls))
        left = self._left
        for call in reversed(self._calls):
            if call.sent <= self._at:
                break
            left -= self.cost(call)
        if self.slides:
            return left + sum(map(self.cost, self._recent))
        return min(self.amount, left + (now - self._at) * self.amount / self.seconds) if self.seconds else left

    def refused(self, call: SentCall, now: float) -> bool:
        """Whether this limit can be why a call was refused; it then takes more than what is left."""
        left = self.left(now)
        if left > max(3.0 * (call.tokens if self.unit == "tokens" else 1), self.amount / 10):
            return False
        if self.unit == "tokens":
            call.least = round(min(1.25 * left + 1, self.amount))
        return True

    def ready(self, cost: float, now: float) -> float:
        """When there is room for a call of this cost."""
        lacks = min(cost, self.amount) - self.left(now)
        if lacks <= 0:
            return -math.inf
        if not self.slides:
            return now + lacks * self.seconds / self.amount
        for call in self._calls:
            lacks -= self.cost(call)
            if lacks <= 0:
                return call.sent + self.seconds + self._edge
        return max(now, self._at + self.seconds) + 2 * self._edge
