"""How many calls may be under way at the same time: found out by trying, as TCP finds its window."""

import math


class Window:
    """The number of calls under way at the same time, adapted as TCP adapts its window.

    It doubles from round trip to round trip until the first trouble. Then it grows by one in each round trip, until
    it is twice as large as at the last trouble. It shrinks by a third when calls are refused as too many, and to what
    keeps the endpoint busy when calls only queue there.

    A trial shows whether they queue. When replies take more than twice as long as at best, half as many are sent for a
    while. If those come about twice as fast, the others only queued. If not, the model is slower now, or its replies
    differ in length, and all goes on as before.
    """

    START = 8
    MOST = 512
    BACK = 0.7

    def __init__(self, most: int | None = None) -> None:
        self.most = most or self.MOST
        self.size = float(min(self.START, self.most))
        self._fast_until = math.inf
        """Up to here it grows fast."""
        self._best = math.inf
        """Mean latency of the best round."""
        self._queued = False
        self._trial: tuple[float, float, float] | None = None
        """Size, calls under way and latency before half as many were sent, while that is tried."""
        self._latency = 0.0
        self._rounds = 0
        self._start(-math.inf)

    def succeeded(self, sent: float, one_of: int, now: float, under_way: int) -> None:
        """Count a reply to a call.

        `one_of`: calls that were under way when it was sent. `under_way`: calls that are under way with it now.
        """
        if sent > self._since:
            self._replies += 1
            self._latencies += now - sent
            self._under_way += one_of
        full = max(one_of, under_way) >= min(int(self.size), 0.7 * self.size)
        if full and self._trial is None and not self._holds:  # then it is the window that bounds the calls, about
            self.size = min(float(self.most), self.size + (1 if self.size < self._fast_until else 1 / self.size))
            if self.size > 2 * self._fast_until and not self._queued:
                self._fast_until = math.inf  # the trouble is over
        self._outcome(now)

    def failed(self, sent: float, now: float) -> None:
        """The endpoint failed: if that becomes usual, there may be too many calls."""
        if sent > self._since:
            self._faults += 1
        self._outcome(now)

    def refused(self, bears: float) -> None:
        """A call was refused as too many; `bears`: how many were under way at the rate that went through."""
        self._shrink(max(self.size * self.BACK, min(self.size, bears)))
        self._trial = None

    def forget(self) -> None:
        """Grow fast again: it was not the number of calls."""
        self._fast_until, self.size = math.inf, max(self.size, float(min(self.START, self.most)))

    def restarted(self) -> None:
        """The endpoint was away: begin with few, and double up to half of what it bore."""
        self._fast_until = max(2.0, self.size / 2)
        self.size, self._trial = min(2.0, float(self.most)), None
        self._start(math.inf)

    def _outcome(self, now: float) -> None:
        if self._since == math.inf:
            self._start(now)
            return
        outcomes = self._replies + self._faults
        if outcomes < self._needed:
            return
        if 2 * self._faults > outcomes:
            self._shrink(self.size * self.BACK)
        elif self._replies:
            self._judge(max(1e-6, self._latencies / self._replies), self._under_way / self._replies)
        self._rounds += 1
        self._start(now)

    def _judge(self, latency: float, under_way: float) -> None:
        """Take the measure of a round: how long replies took, and how many calls were under way."""
        if self._trial is not None:
            size, before, slower = self._trial
            self._trial = None
            if under_way > 0.75 * before:
                self.size = size  # fewer were wanted meanwhile, or few had left: nothing was tried
            elif under_way / latency > 0.83 * before / slower:
                self._queued, self._rounds = True, 0
                self._best = min(self._best, latency)
                self._shrink(min(size, max(before / 2, 1.6 * self._best * under_way / latency)))
            else:
                self._queued, self._best, self.size = False, latency, size
        elif latency > 2 * self._best and 2 * under_way > self.size >= 2:
            self._trial = self.size, under_way, latency
            self.size = max(1.0, under_way / 2)
        else:
            self._best = min(self._best, latency)
            self._queued = self._queued and self._rounds < 50  # then it is tried again whether more are of use
        self._latency = latency

    @property
    def _holds(self) -> bool:
        return self._queued and self._latency > 1.5 * self._best

    def _shrink(self, size: float) -> None:
        self.size = self._fast_until = max(1.0, size)

    def _start(self, now: float) -> None:
        """Begin a round: what is sent from now on counts."""
        self._since = now
        fast = self.size < self._fast_until and self._trial is None
        self._needed = max(16 if fast else 32, self.size)
        self._replies = self._faults = self._under_way = 0
        self._latencies = 0.0
