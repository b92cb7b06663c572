"""Shards of a run as Ray Core tasks, on a cluster or on a local Ray for this run only.

Ray restarts a task whose worker or node is gone. The task goes on from the shard's own files in the run folder, which
all machines share. Only counters and orders go through Ray, by way of an actor.
"""

import asyncio
import logging
import os
import socket
from collections import Counter, defaultdict, deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

from ...errors import SettingError
from ...nodes.settings.redaction import error_line
from ..engine.reports import WorkerOrders, WorkerReport
from ..journals.journal import BrokenOffError, RunError
from .board import MOST_DEATHS, Board, WorkerDeaths
from .processes import LEFT
from .shard_work import work
from .shards import Shard
from .sharing import A_SECOND, at_once, processors, shared

REACHED = 10.0
"""Seconds within which a cluster answers."""
STARTS = 4
"""Tries to start a local Ray, which gives up by itself after half a minute on a machine that is busy."""


class Mailbox:
    """Where tasks leave their reports and find their orders."""

    def __init__(self, orders: WorkerOrders) -> None:
        self._reports: dict[str, WorkerReport] = {}
        self._begun = Counter[str]()
        self._finished = Counter[str]()
        self._deaths = defaultdict[str, WorkerDeaths](WorkerDeaths)
        self._orders = orders

    def begun(self, shard: str) -> int:
        """Count a worker of a shard; gives how many died one after another since a conversation was finished."""
        self._begun[shard] += 1
        self._deaths[shard].too_many(self._begun[shard], self._finished[shard])
        return self._deaths[shard].number

    def report(self, shard: str, report: WorkerReport) -> WorkerOrders:
        """Leave a shard's report, which replaces the one before; gives the present orders."""
        self._reports[shard] = report
        self._finished[shard] = max(self._finished[shard], report.tally.finished)
        return self._orders

    def order(self, orders: WorkerOrders) -> tuple[dict[str, WorkerReport], dict[str, int]]:
        """Leave orders; gives the reports that came since the last time, and each shard's deaths as `begun` gave them."""
        self._orders, reports, self._reports = orders, self._reports, {}
        return reports, {shard: deaths.number for shard, deaths in self._deaths.items()}


def simulated(shard: Shard, mailbox: Any) -> WorkerReport:
    """The task: simulate what a shard still lacks, and give its last report."""
    import ray
    from ray.exceptions import RayError

    latest = WorkerOrders()
    with suppress(RayError):
        deaths: Any = ray.get(mailbox.begun.remote(shard.name), timeout=30)
        shard = shard.after(deaths)

    def exchange(report: WorkerReport) -> WorkerOrders:
        nonlocal latest
        with suppress(RayError):  # the actor is being begun again elsewhere: go on as ordered before
            orders: Any = ray.get(mailbox.report.remote(shard.name, report), timeout=30)
            latest = orders
        return latest

    return work(shard, exchange, f"{shard.name} {socket.gethostname()} {os.getpid()}")


async def on_ray(
    shards: Sequence[Shard],
    number: int | None,
    address: str | None,
    board: Board,
    check: Callable[[], object],
) -> None:
    """Simulate the shards as Ray tasks, each with its share of the run's pace and concurrency.

    `number` tasks run at the same time; None: as many as there are processors.

    `address` is that of a cluster; without one, and without `RAY_ADDRESS`, a local Ray is started and stopped.
    SettingError if Ray is not installed, RunError if there is no such cluster.
    """
    async with _connected(address, number) as ray:
        cpus = max(1, int(ray.cluster_resources().get("CPU", 1)))
        most = at_once(number or cpus, len(shards), shards[0].concurrency)
        actor = ray.remote(Mailbox).options(num_cpus=0, max_restarts=-1, max_task_retries=-1)
        board.workers = most
        mailbox = actor.remote(board.orders())
        cpu_share = min(1.0, cpus / most)
        task = ray.remote(simulated).options(max_retries=-1, num_cpus=cpu_share if cpu_share < 1 else 1)
        tasks = _Tasks(ray, task, mailbox, deque(shards), most, board)
        try:
            while tasks.go_on():
                await tasks.look()
                check()
        except BaseException:
            board.cancelled = True
            with suppress(TimeoutError, ray.exceptions.RayError):
                async with asyncio.timeout(LEFT):
                    while tasks.running:
                        await tasks.look()
            raise
        board.result()


class _Tasks:
    """The tasks of a run: those that wait, and those that are under way."""

    def __init__(self, ray: Any, task: Any, mailbox: Any, waiting: deque[Shard], most: int, board: Board) -> None:
        self._ray, self._task, self._mailbox = ray, task, mailbox
        self._waiting, self._most, self._board = waiting, most, board
        self._free = list(range(most))
        """The shares of the run's limits that no task has."""
        self.running: dict[Any, tuple[Shard, int]] = {}
        """Each task's shard, and which share it has."""

    def go_on(self) -> bool:
        """Begin what may begin; gives whether anything is under way."""
        orders = self._board.orders()
        while self._waiting and len(self.running) < self._most and not orders.cancelled and orders.ending is None:
            share = self._free.pop()
            shard = self._waiting.popleft()
            shard = shard.knowing(self._board.answered, self._board.part_of(shard.name))
            shard = shared(shard, self._most, share)
            self.running[self._task.remote(shard, self._mailbox)] = shard, share
        return bool(self.running)

    async def look(self) -> None:
        """Take in what was reported, and give orders."""
        ray, board = self._ray, self._board
        done, _ = await asyncio.to_thread(
            ray.wait, list(self.running), num_returns=1, timeout=A_SECOND, fetch_local=False
        )
        with suppress(ray.exceptions.RayError):  # the actor is being begun again on another machine
            letters: Any = self._mailbox.order.remote(board.orders())
            reports, deaths = await asyncio.to_thread(ray.get, letters, timeout=30)
            for name, report in reports.items():
                board.take(name, report)
            self._check_deaths(deaths)
        for ref in done:
            shard, share = self.running.pop(ref)
            self._free.append(share)
            try:
                board.take(shard.name, await asyncio.to_thread(ray.get, ref))
            except ray.exceptions.RayError as error:
                raise BrokenOffError(f"Ray: {error_line(error)}: mend it, then resume") from None
        board.sum()

    def _check_deaths(self, deaths: Mapping[str, int]) -> None:
        """Give up a shard that Ray has begun again and again without a conversation having been finished."""
        for ref, (shard, share) in list(self.running.items()):
            if not self._board.is_over(shard.name) and (number := deaths.get(shard.name, 0)) > MOST_DEATHS:
                self._ray.cancel(ref, force=True)
                del self.running[ref]
                self._free.append(share)
                self._board.give_up(shard.name, shard.deadly(number, ""))


def is_elsewhere(address: str | None) -> bool:
    """Whether the Ray of this address may have other machines, as one that outlives the run has."""
    return (address or os.environ.get("RAY_ADDRESS") or "local") != "local"


@asynccontextmanager
async def _connected(address: str | None, number: int | None) -> AsyncIterator[Any]:
    """Inside, this process is connected to Ray, without its statistics, its dashboard and its logs."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # else it warns of a change to come
    try:
        import ray
    except ImportError:
        raise SettingError("--engine ray needs the extra ray: pip install 'duologue[ray]'") from None
    if ray.is_initialized():  # by whoever called us, who will need it again
        yield ray
        return
    address = address or os.environ.get("RAY_ADDRESS") or "local"
    try:
        await asyncio.to_thread(begin, ray, address, number)  # in the main thread it would take over the signals
        yield ray
    finally:
        await asyncio.to_thread(ray.shutdown)


def _check_reachable(address: str) -> None:
    """RunError at once if no program answers at HOST:PORT.

    Ray itself would try for ten minutes, and react to no signal.
    """
    host, separator, port = address.removeprefix("ray://").rpartition(":")
    if not separator or not port.isdecimal():
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), REACHED).close()
    except (OSError, ValueError, OverflowError) as error:
        raise RunError(f"Ray at {address}: cannot be reached ({error}): check the address and its machines") from None


def begin(ray: Any, address: str, number: int | None) -> None:
    """Connect to a Ray, or start a local one; again if it is not up in Ray's 30 seconds."""
    _check_reachable(address)
    local: dict[str, Any] = {"num_cpus": number or processors(), "include_dashboard": False}
    for start in range(1, STARTS + 1):
        try:
            ray.init(
                address,
                log_to_driver=False,
                logging_level=logging.ERROR,
                **(local if address == "local" else {}),
            )
        except Exception as error:  # Ray raises what comes
            ray.shutdown()
            if start == STARTS or address != "local":
                raise RunError(f"Ray at {address}: {error_line(error)}: check the address and its machines") from None
        else:
            return
