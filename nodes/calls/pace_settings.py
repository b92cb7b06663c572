"""How calls to an endpoint are to be made, and how they were."""

from collections import Counter
from dataclasses import dataclass, field


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


@dataclass
class CallCounts:
    """What a gate has done so far."""

    calls: int = 0
    requests: int = 0
    """Calls as they were sent, each try counted."""
    succeeded: int = 0
    failed: int = 0
    """Calls that ended with an error; those that were cancelled are not among them."""
    faults: Counter[str] = field(default_factory=Counter)
    """Faults by name, each try counted."""
