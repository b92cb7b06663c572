"""The reports of a run's workers, summed up, and the orders for them."""

from collections.abc import Iterable

from ...errors import DuologueError
from ...nodes.calls.spending import BudgetPart, ModelSpending
from ..engine.control import Control
from ..engine.figures import RunFigures
from ..engine.reports import WorkerOrders, WorkerReport, add_spending, error_of, without_spending
from ..journals.journal import BrokenOffError

MOST_DEATHS = 3
"""Workers of a shard that may die one after another without a conversation having been finished."""


class WorkerDeaths:
    """How many workers of a shard died one after another since a conversation of it was finished."""

    def __init__(self) -> None:
        self.number = 0
        self._finished, self._begun = 0, 1

    def too_many(self, begun: int, finished: int) -> bool:
        """Whether too many workers died.

        `begun`: workers so far, including the one that is at work or to come. `finished`: finished conversations of the
        shard.
        """
        if finished > self._finished:
            self._finished, self._begun = finished, begun
        self.number = begun - self._begun
        return self.number > MOST_DEATHS


class Board:
    """The workers' reports.

    When the board is made, the control's spending holds what was spent before the run.
    """

    def __init__(self, control: Control, figures: Iterable[RunFigures | None] = ()) -> None:
        self.control = control
        self.error: DuologueError | None = None
        """What ended a worker, and so ends the run."""
        self.cancelled = False
        """Whether the workers are to end now."""
        self.given_up: list[str] = []
        """Why shards were given up whose workers always die, a line each; the others go on."""
        self._past = WorkerReport(spending=without_spending(control.spending))
        add_spending(self._past.spending, control.spending)
        self._now: dict[str, WorkerReport] = {}
        self._over: set[str] = set()
        self._parts: dict[str, BudgetPart] = {}
        """What each shard's worker may spend: together never more than is left."""
        self.workers = 1
        """Workers at the same time."""
        self._lines_passed_on: dict[str, int] = {}
        self.whole = self._past
        """The sum of all reports."""
        control.elsewhere = lambda: self.whole.endpoints.values()
        for run_figures in figures:
            if run_figures is not None:
                run_figures.elsewhere = lambda: self.whole.tally

    def take(self, shard: str, report: WorkerReport) -> None:
        """Take in a report of a shard's worker: it replaces the one before."""
        if shard in self._over:
            return
        before = self._now.get(shard)
        if before is not None and before.worker != report.worker:
            self.lost(shard)
            self.part_of(shard)
        self._now[shard] = report
        for line in report.said[self._lines_passed_on.get(report.worker, 0) :]:
            if self.control.notify is not None:
                self.control.notify(line)
        self._lines_passed_on[report.worker] = len(report.said)
        if report.error is not None and self.error is None:
            self.error = error_of(report.error)
        if report.over:
            self._over.add(shard)
            self._past.add(self._now.pop(shard).settled())
            self._parts.pop(shard, None)
            self._lines_passed_on.pop(report.worker, None)

    def lost(self, shard: str) -> None:
        """A worker is gone: the next one reports what it has finished, and its spending counts."""
        report = self._now.pop(shard, None)
        if report is not None:
            gone = report.settled()
            gone.tally.finished = 0
            self._past.add(gone)
        self._parts.pop(shard, None)

    def give_up(self, shard: str, line: str) -> None:
        """No worker of a shard begins any more; the others go on."""
        self.given_up.append(line)
        self.lost(shard)

    def finished(self, shard: str) -> int:
        """Conversations of a shard that were reported as finished."""
        return self._now[shard].tally.finished if shard in self._now else 0

    def is_over(self, shard: str) -> bool:
        """Whether a shard's last report is here."""
        return shard in self._over

    def sum(self) -> None:
        """Sum up what was reported since the last time, and look whether a bound of the run is reached."""
        whole = WorkerReport(spending=without_spending(self.control.spending))
        for report in (self._past, *self._now.values()):
            whole.add(report)
        self.whole = whole
        for name in ("total", "by_model", "by_role", "notes", "unknown"):
            setattr(self.control.spending, name, getattr(whole.spending, name))
        if self.control.spent() is None and self.control.spending.bounded:
            self._share_budget()

    def part_of(self, shard: str) -> BudgetPart | None:
        """What a shard's next worker may spend; None where nothing is bounded."""
        self._parts.pop(shard, None)
        if self.control.spending.bounded:
            before = self._now.get(shard, WorkerReport()).spending.total  # of a worker that is gone
            self._parts[shard] = self._more(BudgetPart(), before, short=True)
        return self._parts.get(shard)

    def _share_budget(self) -> None:
        """Give more to workers that have little left; end the run where nothing is left for any."""
        short = 0
        for shard, part in self._parts.items():
            report = self._now.get(shard)
            if report is None or report.spending.part != part:  # it has not begun, or not heard of its part yet
                continue
            self._parts[shard] = self._more(part, report.spending.total, short=report.short > 0)
            short += report.short > 0 and self._parts[shard] == part
        if short and short == len(self._parts):
            self.control.spending.leave_no_room(max(report.short for report in self._now.values()))
            self.control.spent()

    def _more(self, part: BudgetPart, spent: ModelSpending, *, short: bool) -> BudgetPart:
        """A part with what is added to it; for a new one `spent` is of earlier workers."""
        bounds, past = self.control.spending.part, self._past.spending.total
        before = ModelSpending() if part in self._parts.values() else spent

        def more(bound: float | None, elsewhere: float, own: float, used: float) -> float | None:
            if bound is None:
                return None
            left = max(0.0, bound - elsewhere)
            share = max(left / 2 / self.workers, bound / 100)
            return own + min(left, share) if short or own - used < share / 2 else own

        tokens = past.tokens + before.tokens + sum(other.tokens or 0 for other in self._parts.values())
        cost = (past.cost or 0.0) + (before.cost or 0.0) + sum(other.cost or 0.0 for other in self._parts.values())
        return BudgetPart(
            more(bounds.tokens, tokens, part.tokens or 0, spent.tokens),
            more(bounds.cost, cost, part.cost or 0.0, spent.cost or 0.0),
        )

    def result(self) -> None:
        """Raise what ended the run, if anything did."""
        if self.error is not None:
            raise self.error
        if self.given_up:
            more = f" (and {len(self.given_up) - 1} more)" if len(self.given_up) > 1 else ""
            raise BrokenOffError(self.given_up[0] + more)

    def orders(self) -> WorkerOrders:
        """How the workers are to go on."""
        control = self.control
        return WorkerOrders(
            ending=control.ending,
            cutting=control.cutting,
            closed=control.closed,
            dropped=control.dropped,
            cancelled=self.cancelled or self.error is not None,
            answered=self.answered,
            parts=dict(self._parts),
        )

    @property
    def answered(self) -> frozenset[str]:
        """Endpoints that have answered in this run."""
        return frozenset(endpoint.endpoint for endpoint in self.whole.endpoints.values() if endpoint.answered)
