"""The gate of an endpoint: every call to it, of all conversations and both sides, passes here."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from ...errors import DuologueError
from .faults import Fault, fault_of

T = TypeVar("T")


class EndpointError(DuologueError, RuntimeError):
    """An endpoint cannot be used by this run at all, or no more: one line that says why, and what to do."""


class CallError(Exception):
    """One call failed for good: `fault` is the last one, `retried` how often it was made again, by fault."""

    def __init__(self, fault: Fault, retried: dict[str, int]) -> None:
        super().__init__(f"{fault.name}: {fault.detail}")
        self.fault, self.retried = fault, retried


@dataclass(frozen=True, kw_only=True)
class Pace:
    """How calls to an endpoint are made."""

    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    concurrency: int | None = None
    """Most calls under way; None: as many as the endpoint bears, found out by trying."""
    patience: float = 600.0
    """Seconds for which an endpoint that has answered in this run is waited for."""
    first_patience: float = 15.0
    """Seconds for which one that has never answered is tried."""
    tries: int = 10
    """Most tries of one call while other calls succeed."""
    wait: float = 0.5
    """Seconds before the second try, about; they double from try to try."""


class Gate:
    """The gate of one endpoint in one event loop."""

    def __init__(self, endpoint: str, pace: Pace) -> None:
        self.endpoint, self.pace = endpoint, pace

    @property
    def room(self) -> int:
        """How many calls the endpoint bears at the same time, as far as is known."""
        return self.pace.concurrency or 8

    async def call(
        self,
        send: Callable[[], Awaitable[T]],
        *,
        tokens: int = 0,
        spent: Callable[[T], int] | None = None,
        failed: Callable[[Fault], None] | None = None,
    ) -> tuple[T, dict[str, int]]:
        """The reply of a call, and how often it was made again, by fault.

        `tokens`: about how many the call will take; `spent` tells how many it took. `failed` is told each fault.
        CallError: this call fails. EndpointError: no call will succeed.
        """
        try:
            return await send(), {}
        except Exception as error:
            fault = fault_of(error)
            if failed is not None:
                failed(fault)
            if fault.whose == "ours":
                raise
            raise CallError(fault, {}) from error
