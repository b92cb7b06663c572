"""The limits of an endpoint, by any clock: requests and tokens, in a sliding window or from a bucket, and their headers."""

from collections import deque
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import format_datetime


@dataclass
class Limit:
    """So many units in a window of so many seconds.

    `bucket`: it holds what a window allows and fills steadily; else no stretch as long as the window has more.
    """

    amount: float
    window: float
    bucket: bool = False
    _log: deque[tuple[float, float]] = field(default_factory=deque)
    _level: float = 0.0
    _last: float = 0.0

    def used(self, now: float) -> float:
        """What is taken of it now."""
        if self.bucket:
            self._level = max(0.0, self._level - (now - self._last) * self.amount / self.window)
            self._last = now
            return self._level
        while self._log and self._log[0][0] <= now - self.window:
            self._level -= self._log.popleft()[1]
        return self._level

    def wait(self, cost: float, now: float) -> float:
        """Seconds until there is room for this; what is larger than the limit fits into an empty one."""
        over = self.used(now) + min(cost, self.amount) - self.amount
        if over <= 1e-9:
            return 0.0
        if self.bucket:
            return over * self.window / self.amount
        for time, amount in self._log:
            over -= amount
            if over <= 1e-9:
                return time + self.window - now
        return self.window

    def take(self, cost: float, now: float) -> None:
        """Take this."""
        self.used(now)
        self._level += cost
        if not self.bucket:
            self._log.append((now, cost))

    def left(self, now: float) -> float:
        """What is left."""
        return max(0.0, self.amount - self.used(now))

    def reset(self, now: float) -> float:
        """Seconds until nothing is taken any more."""
        used = self.used(now)
        if self.bucket:
            return used * self.window / self.amount
        return self._log[-1][0] + self.window - now if self._log else 0.0


@dataclass
class Limits:
    """Limits by unit (`requests`, `tokens`), counted when a request comes.

    `headers`: `none`, `retry-after`, `openai` or `anthropic`.
    """

    limits: dict[str, Limit]
    headers: str = "none"
    admitted: dict[str, float] = field(default_factory=lambda: {"requests": 0.0, "tokens": 0.0})
    refused: int = 0

    def wait(self, tokens: float, now: float) -> float:
        """Take a request with these tokens; above 0: it is refused, and so many seconds too early."""
        costs = {"requests": 1.0, "tokens": tokens}
        wait = max(limit.wait(costs[unit], now) for unit, limit in self.limits.items())
        if wait > 0:
            self.refused += 1
            return wait
        for unit, cost in costs.items():
            self.admitted[unit] += cost
            if unit in self.limits:
                self.limits[unit].take(cost, now)
        return 0.0

    def head(self, wait: float, now: float) -> dict[str, str]:
        """The headers of a reply or, after a refusal, with the wait."""
        if self.headers == "retry-after":
            return {"retry-after": f"{wait:.3f}"} if wait else {}
        if self.headers == "none":
            return {}
        head = {}
        for unit, limit in self.limits.items():
            for name, value in (("limit", limit.amount), ("remaining", limit.left(now)), ("reset", limit.reset(now))):
                if self.headers == "openai":
                    head[f"x-ratelimit-{name}-{unit}"] = duration(value) if name == "reset" else str(int(value))
                else:
                    head[f"anthropic-ratelimit-{unit}-{name}"] = (
                        date(now + value) if name == "reset" else str(int(value))
                    )
        return head | ({"date": format_datetime(moment(now), usegmt=True)} if self.headers == "anthropic" else {})


def duration(seconds: float) -> str:
    """As OpenAI writes it: 6m0s, 1.5s, 20ms."""
    if seconds < 1:
        return f"{seconds * 1000:.0f}ms"
    minutes, rest = divmod(seconds, 60)
    return f"{minutes:.0f}m{rest:.3f}s" if minutes else f"{rest:.3f}s"


def date(seconds: float) -> str:
    """As RFC 3339 writes it."""
    return moment(seconds).isoformat().replace("+00:00", "Z")


def moment(seconds: float) -> datetime:
    """The time of day at this time of a clock."""
    return datetime.fromtimestamp(seconds + 1.7e9, UTC)
