"""Shards of a run in processes of this machine, each of which ends when this one does."""

import asyncio
import json
import os
import pickle
import signal
import struct
import sys
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from itertools import count
from typing import Any

from ..engine.reports import WorkerReport
from .board import Board, WorkerDeaths
from .shards import BETWEEN, Shard

BEGIN = b"\0duologue reports\0"
"""Precedes the reports of a worker: other output before, as while Python starts, is not a report."""

SIZE = struct.Struct(">Q")
"""What goes through a pipe is preceded by its length."""

LEFT = 30.0
"""Seconds within which workers write down what is under way when the run is ended at once."""

_CODE = (
    "import signal, sys, json; signal.signal(signal.SIGINT, signal.SIG_IGN); sys.path[:] = json.loads(sys.argv[1]); "
    "from duologue.runs.divided.worker import main; main(int(sys.argv[2]))"
)
"""Not `-m`: another folder of the package's name may lie in the working folder."""


async def in_processes(shards: Sequence[Shard], board: Board, check: Callable[[], object]) -> None:
    """Simulate each shard in a process of its own.

    `check` raises if the run folder is not as the run left it.
    """
    await supervised([_simulated(shard, board) for shard in shards], board, check)


async def supervised(works: Sequence[Coroutine[Any, Any, None]], board: Board, check: Callable[[], object]) -> None:
    """Wait for the work on all shards, sum up meanwhile, and raise the error that ended one of them.

    On cancellation the workers first write down how far they are.
    """
    pending = {asyncio.ensure_future(work) for work in works}
    try:
        while pending:
            done, pending = await asyncio.wait(pending, timeout=BETWEEN, return_when=asyncio.FIRST_COMPLETED)
            board.sum()
            check()
            if failed := [error for task in done if (error := task.exception()) is not None]:
                raise failed[0]
    except BaseException:
        board.cancelled = True
        if pending:
            await asyncio.wait(pending, timeout=LEFT)
        raise
    finally:
        for task in pending:
            task.cancel()
        await asyncio.gather(*pending, return_exceptions=True)
        board.sum()
    board.result()


async def _simulated(shard: Shard, board: Board) -> None:
    """Simulate a shard; a worker that dies is followed by another one."""
    deaths = WorkerDeaths()
    for begun in count(1):
        code = await _worked(shard.knowing(board.answered, board.part_of(shard.name)).after(deaths.number), board)
        if board.is_over(shard.name) or board.orders().cancelled or board.orders().dropped:
            return
        if deaths.too_many(begun + 1, board.finished(shard.name)):
            board.give_up(shard.name, shard.deadly(deaths.number, f" ({_why(code)})"))
            return


def _why(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    name = signal.Signals(-code).name
    return f"{name}, as a system does that is out of memory" if name == "SIGKILL" else name


async def _worked(shard: Shard, board: Board) -> int:
    """Simulate a shard in a new process; gives the process's exit code."""
    task = framed(shard)  # before there is a worker, which would wait for ever for what cannot be sent
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-c", _CODE, json.dumps(sys.path), str(os.getpid())),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        process_group=0,  # Ctrl-C is for this process, which tells the workers
    )
    assert process.stdin is not None
    assert process.stdout is not None
    orders_task = asyncio.ensure_future(_ordered(task, board, process.stdin))
    try:
        await _heard(shard, board, process.stdout)
        return await process.wait()
    finally:
        orders_task.cancel()
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
        await asyncio.gather(orders_task, return_exceptions=True)
        process.stdin.close()


async def _ordered(task: bytes, board: Board, pipe: asyncio.StreamWriter) -> None:
    """Send the shard as it is framed, and each change of the orders."""
    sent: object = None
    with suppress(OSError):  # of a worker that is gone
        pipe.write(task)
        await pipe.drain()
        while True:
            if (orders := board.orders()) != sent:
                pipe.write(framed(orders))
                await pipe.drain()
                sent = orders
            await asyncio.sleep(BETWEEN)


async def _heard(shard: Shard, board: Board, pipe: asyncio.StreamReader) -> None:
    """Take in the reports until there are no more."""
    with suppress(asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        await pipe.readuntil(BEGIN)
        while True:
            (size,) = SIZE.unpack(await pipe.readexactly(SIZE.size))
            report: WorkerReport = pickle.loads(await pipe.readexactly(size))
            board.take(shard.name, report)


def framed(value: object) -> bytes:
    """What is sent through a pipe between a run and its workers, which are the same program."""
    data = pickle.dumps(value)
    return SIZE.pack(len(data)) + data
