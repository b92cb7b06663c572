"""A part of a run's plan: it is simulated by the same code in this process, in another one, or on another machine.

A shard that stands for itself has files of its own in the run folder, which the run merges when all are done. Whoever
simulates it again finds there what is finished, and which replies have come.
"""

import asyncio
import os
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from copy import deepcopy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from ..data import domains
from ..data.domain import Domain
from ..data.formats.detection import CONVERSATIONS, FAILURES
from ..data.formats.journals import JournalReader, writer_path
from ..data.formats.record_lines import RECORDS
from ..data.records import Conversation, Role
from ..data.text.terminal import plain, plain_logs
from ..errors import DuologueError
from ..graphs import Cast
from ..graphs.cast import Spec
from ..nodes.calls.gates import Pace
from ..nodes.calls.spending import Spending
from ..nodes.environment import error_line, untraced, without_credentials
from ..nodes.limits import Limits
from ..nodes.state import State
from .calls import CALLS, CallFile
from .conduct import synced
from .control import Control
from .engine import Concurrency, Watch, converse_all, name_of
from .figures import Figures
from .journal import LEASE, LOOKED, BrokenOffError, BusyError, Journal
from .manifests import digest_of
from .reports import Orders, Report, kind_of

BETWEEN = 0.25
"""Seconds between two reports of a worker."""

Exchange = Callable[[Report], Orders]
"""Hands a report over and gives the present orders. It may wait: it is called in a thread of its own."""


class Keeps(Protocol):
    """Where the conversations of a shard are written: a run folder, or a worker's own files in it."""

    def keep(self, conversation: Conversation) -> None:
        """Write a conversation down, whole and at once."""
        ...

    def check(self) -> None:
        """RunError if somebody removed, replaced or cut what was written."""
        ...


async def run_shard(
    cast: Cast,
    states: Collection[State],
    limits: Limits,
    folder: Keeps,
    file: CallFile | None,
    control: Control,
    *,
    failed: dict[str, str],
    concurrency: Concurrency = "auto",
    watch: Watch | None = None,
    keep: Callable[[Conversation], None] | None = None,
    answered: Collection[str] = (),
) -> None:
    """Simulate the states and write each conversation down as soon as it is over; why one failed comes to `failed`.

    `file`: the call journal. `answered`: endpoints that have answered in this run, which are waited for.
    EndpointError if no call can succeed any more; RunError if nothing can be written.
    """
    calls = control.made(file)
    for endpoint in answered:
        calls.gate(endpoint).answered_before()

    def write(conversation: Conversation) -> None:
        folder.keep(conversation)
        if file is not None:
            file.forget(conversation.id)
        if not conversation.finished:
            failed[conversation.id] = conversation.failure.error if conversation.failure else str(conversation.stop)
        if keep is not None:
            keep(conversation)

    async with synced(file, calls, folder.check):
        await converse_all(
            cast, states, limits, write, concurrency=concurrency, watch=watch, calls=calls, control=control
        )


@dataclass(frozen=True, kw_only=True)
class Shard:
    """A part of the plan with all that another process needs to simulate it."""

    name: str
    """Names the files of the shard in the run folder."""
    folder: Path
    here: Path
    """The working folder, from which relative paths and own modules are found."""
    spec: Spec
    states: list[State]
    limits: Limits
    pace: Pace
    """The shard's share of the run's pace."""
    concurrency: Concurrency
    priced: bool
    """Whether prices are looked up."""
    silent: tuple[tuple[str, Role], ...] = ()
    """Conversations and sides whose last replies said nothing: these are not used again."""
    answered: frozenset[str] = frozenset()
    """Endpoints that have answered in this run."""
    traced: bool = False
    """Whether the run is traced, where the environment asks for it."""
    domains: tuple[Domain, ...] = ()
    """Domains that were registered for this run."""
    cast: str = ""
    """Digest of the cast that the run began with (`manifests.digest_of`); empty: it is not compared."""
    between: float = BETWEEN
    """Seconds between two reports."""

    def knowing(self, answered: frozenset[str]) -> "Shard":
        """The shard as it is begun when these endpoints have answered."""
        return replace(self, answered=self.answered | answered)


class _Files:
    """The files of a shard."""

    def __init__(self, shard: Shard) -> None:
        finished = writer_path(shard.folder / CONVERSATIONS, shard.name)
        self._finished = Journal.open(shard.folder / CONVERSATIONS, RECORDS, shard.name, salvage=True)
        try:
            self._failed = Journal.open(shard.folder / FAILURES, RECORDS, shard.name, salvage=True)
        except BaseException:
            self._finished.close()
            raise
        self.done = frozenset(JournalReader(finished, RECORDS, salvage=True).keys())
        """Conversations that an earlier worker has finished."""

    def keep(self, conversation: Conversation) -> None:
        (self._finished if conversation.finished else self._failed).append(conversation)

    def check(self) -> None:
        self._finished.check()
        self._failed.check()

    def close(self) -> None:
        self._finished.close()
        self._failed.close()


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
    figures: Figures
    file: CallFile | None = None
    said: list[str] = field(default_factory=list[str])
    failed: dict[str, str] = field(default_factory=dict[str, str])

    def report(self, *, over: bool = False, error: tuple[str, str] | None = None) -> Report:
        made = Report(
            worker=self.name,
            tally=deepcopy(self.figures.tally),
            spending=deepcopy(self.control.spending),
            said=tuple(self.said),
            over=over,
            error=error,
            failed=dict(self.failed) if over else {},
        )
        if self.control.calls is not None:
            made.count_calls(self.control.calls, self.file)
        return made

    def follow(self, orders: Orders, cancel: Callable[[], object]) -> None:
        """Go on as ordered."""
        if orders.cutting is not None:
            self.control.cut(orders.cutting)
        if orders.ending is not None:
            self.control.end(orders.ending)
        if orders.hurried is not None:
            self.control.hurry(orders.hurried)
        if self.control.calls is not None:
            for endpoint in orders.answered - self.shard.answered:
                self.control.calls.gate(endpoint).answered_before()
        if orders.cancelled:
            cancel()


def work(shard: Shard, exchange: Exchange, name: str) -> Report:
    """Simulate a shard in this process and report again and again; gives the last report. `name`: the worker's.

    What it cannot do is in the report, as an error in one line.
    """
    with _surroundings(shard):
        return asyncio.run(_worked(shard, exchange, name))


async def _worked(shard: Shard, exchange: Exchange, name: str) -> Report:
    worker = _Worker(shard, name, Control(Spending(priced=shard.priced), shard.pace), Figures(len(shard.states)))
    worker.control.said = worker.said.append
    error: tuple[str, str] | None = None
    files: _Files | None = None
    try:
        files = await _opened(shard)
        worker.figures.tally.finished = len(files.done)
        worker.file = CallFile.recording(writer_path(shard.folder / CALLS, shard.name), done=files.done)
        for each, role in shard.silent:
            worker.file.ask_again(each, role)
        cast = shard.spec.build()
        if shard.cast and digest_of(cast) != shard.cast:
            raise BrokenOffError(
                f"{shard.folder}: a worker has other prompt pages, modules or versions than the run began with: make them "
                "the same on every machine, then resume"
            )
        states = [state for state in shard.states if name_of(state) not in files.done]
        worker.follow(await asyncio.to_thread(exchange, worker.report()), states.clear)
        running = run_shard(
            cast,
            states,
            shard.limits,
            files,
            worker.file,
            worker.control,
            failed=worker.failed,
            concurrency=shard.concurrency,
            watch=worker.figures.watch,
            keep=worker.figures.keep,
            answered=shard.answered,
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


async def _reported(running: asyncio.Future[None], worker: _Worker, exchange: Exchange) -> None:
    """Wait for the work, which is reported and ordered meanwhile; what is cancelled by an order is no error."""
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
    """Inside, the process is where the run was begun, knows its domains, traces only what the run traces, and prints no
    credential that is logged."""
    os.chdir(shard.here)
    for domain in shard.domains:
        domains.register(domain, replace=True)
    with untraced(not shard.traced), plain_logs(lambda text: plain(without_credentials(text))):
        yield
