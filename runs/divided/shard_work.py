"""The work on a shard: any process finds what is finished and continues."""

import asyncio
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from copy import deepcopy
from dataclasses import dataclass, field

from ...data import domains
from ...data.files.broken_lines import skip_in_sources
from ...data.files.journals import JournalReader, writer_path
from ...data.formats.detection import CONVERSATIONS
from ...data.formats.record_lines import RECORDS
from ...data.text.terminal import plain, plain_logs
from ...errors import DuologueError
from ...graphs.casts import built
from ...nodes.calls.spending import Spending
from ...nodes.foreign import new_loop
from ...nodes.settings.redaction import error_line, without_credentials
from ...nodes.settings.tracing import untraced
from ..engine.control import Control
from ..engine.figures import RunFigures
from ..engine.reports import WorkerOrders, WorkerReport, kind_of
from ..folder.manifests import digest_of
from ..folder.run_folder import RunJournals
from ..journals.calls import CALLS, CallFile
from ..journals.journal import LEASE, LOOKED, BrokenOffError, BusyError
from .shards import ALONE, Shard, run_shard

ShardExchange = Callable[[WorkerReport], WorkerOrders]
"""Hands a report over and gives the present orders. It may wait: it is called in a thread of its own."""


class _Files(RunJournals):
    """The files of a shard."""

    def __init__(self, shard: Shard) -> None:
        super().__init__(shard.folder, shard.name)
        finished = writer_path(shard.folder / CONVERSATIONS, shard.name)
        self.done = frozenset(JournalReader(finished, RECORDS, salvage=True).keys())
        """Conversations that an earlier worker has finished."""


async def _opened(shard: Shard) -> _Files:
    """The files of a shard, once whoever wrote them before is gone: a file server notices a lost machine late."""
    waited = 0.0
    while True:
        try:
            return _Files(shard)
        except BusyError:
            if waited >= LEASE:
                raise
        await asyncio.sleep(LOOKED)
        waited += LOOKED


@dataclass
class _Worker:
    """A shard that is being simulated, and what is reported of it."""

    shard: Shard
    name: str
    control: Control
    figures: RunFigures
    file: CallFile | None = None
    endpoint_lines: list[str] = field(default_factory=list[str])
    failed: dict[str, str] = field(default_factory=dict[str, str])

    def report(self, *, over: bool = False, error: tuple[str, str] | None = None) -> WorkerReport:
        report = WorkerReport(
            worker=self.name,
            tally=deepcopy(self.figures.tally),
            spending=deepcopy(self.control.spending),
            said=tuple(self.endpoint_lines),
            over=over,
            error=error,
            failed=dict(self.failed) if over else {},
        )
        if self.control.calls is not None:
            report.count_calls(self.control.calls, self.file)
        return report

    def follow(self, orders: WorkerOrders, cancel: Callable[[], object]) -> None:
        if (part := orders.parts.get(self.shard.name)) is not None:
            self.control.spending.take_part(part)
            if self.control.calls is not None:
                self.control.calls.reservations.wake()
        if orders.cutting is not None:
            self.control.cut(orders.cutting)
        if orders.ending is not None:
            self.control.end(orders.ending)
        if orders.closed and not self.control.closed:
            self.control.close(orders.ending or "the run ends")
        if orders.dropped and not self.control.dropped:
            self.control.drop()
        if self.control.calls is not None:
            for endpoint in orders.answered - self.shard.answered:
                self.control.calls.gate(endpoint).answered = True
        if orders.cancelled:
            cancel()


def work(shard: Shard, exchange: ShardExchange, name: str) -> WorkerReport:
    """Simulate a shard in this process and report again and again; gives the last report. `name`: the worker's.

    What it cannot do is in the report, as an error in one line.
    """
    with _surroundings(shard), asyncio.Runner(loop_factory=new_loop) as runner:
        return runner.run(_worked(shard, exchange, name))


async def _worked(shard: Shard, exchange: ShardExchange, name: str) -> WorkerReport:
    worker = _Worker(shard, name, Control(Spending(priced=shard.priced), shard.pace), RunFigures(len(shard.states)))
    if shard.part is not None:
        worker.control.spending.take_part(shard.part)
    worker.control.notify = worker.endpoint_lines.append
    error: tuple[str, str] | None = None
    files: _Files | None = None
    try:
        files = await _opened(shard)
        worker.figures.tally.finished = len(files.done)
        worker.file = CallFile.recording(writer_path(shard.folder / CALLS, shard.name), done=files.done)
        for conversation_id, role in shard.silent:
            worker.file.ask_again(conversation_id, role)
        cast = built(shard.spec)
        if shard.cast and digest_of(cast) != shard.cast:
            raise BrokenOffError(
                f"{shard.folder}: a worker has other prompt templates, modules or versions than the run began with: make them "
                "the same on every machine, then resume"
            )
        states = shard.missing(files.done)
        worker.follow(await asyncio.to_thread(exchange, worker.report()), states.clear)
        running = run_shard(
            cast,
            states,
            shard.limits,
            files,
            worker.file,
            worker.control,
            failed=worker.failed,
            concurrency=1 if shard.deaths >= ALONE else shard.concurrency,
            watch=worker.figures.watch,
            keep=worker.figures.keep,
            answered=shard.answered,
            replies_of=shard.replies_of,
        )
        await _reported(asyncio.ensure_future(running), worker, exchange)
    except DuologueError as problem:
        error = kind_of(problem), str(problem)
    except Exception as problem:
        error = "run", f"a worker failed: {error_line(problem)}"
    finally:
        if worker.file is not None:
            worker.file.close()
        if files is not None:
            files.close()
    last = worker.report(over=True, error=error)
    await asyncio.to_thread(exchange, last)
    return last


async def _reported(running: asyncio.Future[None], worker: _Worker, exchange: ShardExchange) -> None:
    """Wait for the work, which is reported and ordered meanwhile; a cancellation by an order is not an error."""
    cancelled = False

    def cancel() -> None:
        nonlocal cancelled
        if not cancelled:
            cancelled = True
            running.cancel()

    while not running.done():
        await asyncio.wait([running], timeout=worker.shard.between)
        if not running.done():
            worker.follow(await asyncio.to_thread(exchange, worker.report()), cancel)
    with suppress(asyncio.CancelledError):
        await running


@contextmanager
def _surroundings(shard: Shard) -> Iterator[None]:
    """Inside, the process has the run's working folder, domains, formats and tracing, and logs no credential."""
    os.chdir(shard.here)
    for domain in shard.domains:
        domains.register(domain, replace=True)
    for form in shard.formats:
        domains.register_format(form, replace=True)
    traced, logged = untraced(not shard.traced), plain_logs(lambda text: plain(without_credentials(text)))
    with traced, logged, skip_in_sources(shard.skip_broken):
        yield
