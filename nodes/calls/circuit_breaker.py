"""The breaker of an endpoint: when nearly everything fails, all wait and one call at a time tries."""

from ..models.faults import CallFault

FIRST, LONGEST = 1.0, 10.0
"""Seconds to the first probe, and most between two."""
SILENT = frozenset({"unreachable", "timeout", "too_slow", "reset"})
"""Faults of an endpoint that did not answer. An endpoint that answers may be about to recover."""


class Breaker:
    """Whether an endpoint is there, and for how long it has been waited for."""

    IN_A_ROW = 10
    """Faults in a row that open it: at 30 % random faults that happens once in 170,000 calls."""
    AT_FIRST = 5
    """The same, of an endpoint that has never answered."""
    REFUSALS = 3
    """How often a refusal by the settings is tried again, of an endpoint that has answered."""

    def __init__(self, patience: float, first_patience: float) -> None:
        self._patience, self._first_patience = patience, first_patience
        self.answered = False
        """Whether it has taken a request in earnest."""
        self.open = self.probing = False
        self.probe_at = 0.0
        self.since: float | None = None
        """When the first fault came after the last success."""
        self.refusals = 0
        """Refusals by the settings, one after another, since the last success."""
        self.has_replied = False
        """Whether it has ever answered in this run."""
        self._row = 0
        self._silent = False
        self._distance = FIRST
        self._refused_at = 0.0

    def deadline(self) -> float:
        """Until when it is waited for, given that something has failed."""
        return (self.since or 0.0) + self.patience

    @property
    def patience(self) -> float:
        """Seconds for which it is waited for now."""
        return self._patience if self.has_replied else self._first_patience

    def succeeded(self) -> bool:
        """It answered; whether that closes the breaker."""
        closed, self.open = self.open, False
        self.answered = self.has_replied = True
        self.since, self._row, self.refusals, self._distance = None, 0, 0, FIRST
        return closed

    def limited(self, now: float) -> bool:
        """It is there, and wants fewer calls; whether that closes the breaker."""
        self.has_replied = True
        self.since = now if self.since is None else self.since
        closed, self.open, self._row = self.open, False, 0
        return closed

    def failed(self, fault: CallFault, now: float, *, probe: bool) -> bool:
        """It failed; whether that opens the breaker."""
        self.since = now if self.since is None else self.since
        if self.open:
            if probe:
                # Without this an endpoint that comes back with faults is waited for a quarter longer.
                speaks = self._silent and fault.name not in SILENT
                self._distance = FIRST if speaks else min(LONGEST, 2 * self._distance)
                self._silent = fault.name in SILENT
                self._probe_in(max(self._distance, fault.after or 0.0), now)
            return False
        self._row += 1
        if self._row < (self.IN_A_ROW if self.answered else self.AT_FIRST):
            return False
        self.open, self._distance, self._silent = True, FIRST, fault.name in SILENT
        self._probe_in(max(FIRST, fault.after or 0.0), now)
        return True

    def refused(self, sent: float, now: float) -> bool:
        """It refuses the key, the model or the account; whether that is final."""
        self.since = now if self.since is None else self.since
        if self.refusals == 0 or sent >= self._refused_at:  # calls that were under way together count once
            self.refusals += 1
            self._refused_at = now
        if self.open:
            self._probe_in(self._distance, now)
        return not self.answered or self.refusals > self.REFUSALS

    def _probe_in(self, seconds: float, now: float) -> None:
        """Probe then, and for the last time when patience ends."""
        self.probe_at = now + seconds if now >= self.deadline() else min(now + seconds, self.deadline())
