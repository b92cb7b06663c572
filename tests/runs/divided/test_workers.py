"""What a worker of a divided run keeps to: the run's orders, limits, pages and secrets."""

import asyncio
import logging
from collections import deque
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from duologue import Limits, runs
from duologue.data import Conversation
from duologue.data.files.regular_files import OPEN, OpenFiles
from duologue.graphs import simquac
from duologue.nodes.calls.gate import Pace
from duologue.nodes.settings.environment import settings
from duologue.nodes.settings.tracing import untraced
from duologue.runs import Control
from duologue.runs.divided import processes, ray_tasks, sharing
from duologue.runs.divided import shard_work as working
from duologue.runs.divided.board import Board
from duologue.runs.divided.processes import BEGIN, framed
from duologue.runs.divided.shard_work import work
from duologue.runs.divided.shards import ALONE, Shard
from duologue.runs.engine.conversing import name_of
from duologue.runs.engine.reports import Tally, WorkerOrders, WorkerReport
from duologue.runs.folder import manifests
from duologue.runs.journals.journal import LOOKED, AppendedFile


@pytest.fixture
def shard(tmp_path, topics):
    cast = simquac.cast()
    (tmp_path / "run").mkdir()
    whole = Shard(
        folder=tmp_path / "run", here=Path.cwd(), spec=cast.travelling(), limits=Limits(max_turns=1), pace=Pace(),
        states=runs.planned(cast, simquac.scenarios(topics())), concurrency=2, priced=False,
        cast=manifests.digest_of(cast),
    )  # fmt: skip
    (only_shard,) = sharing.shards_of(whole, "processes", 1)
    return only_shard


@pytest.mark.parametrize(
    "orders", [WorkerOrders(ending="enough"), WorkerOrders(cutting="enough"), WorkerOrders(cancelled=True)]
)
def test_a_worker_hears_its_orders_before_the_first_conversation_begins(shard, orders):
    last = work(shard, lambda report: orders, "one")
    assert (last.over, last.error, last.tally.finished, last.failed) == (True, None, 0, {})
    assert [path.read_bytes() for path in shard.folder.glob("conversations*")] == [b""]


def test_a_worker_with_other_pages_than_the_run_began_with_says_so_in_a_line(shard):
    assert work(shard, lambda report: WorkerOrders(), "one").tally.finished == len(shard.states)
    error = work(replace(shard, name="00001", cast="another"), lambda report: WorkerOrders(), "two").error
    assert error is not None
    assert "other prompt templates, modules or versions than the run began with" in error[1]
    assert "\n" not in error[1]


def test_files_that_a_lost_machine_still_holds_are_waited_for(shard, monkeypatch):
    file = AppendedFile(shard.folder / "conversations.w-00000.jsonl", alone_in=shard.folder)
    waits: list[float] = []
    slept = asyncio.sleep

    async def sleep(seconds: float, *more: Any) -> None:
        if seconds == LOOKED:
            waits.append(seconds)
            if len(waits) == 5:
                file.close()
        await slept(0, *more)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    assert work(shard, lambda report: WorkerOrders(), "one").tally.finished == len(shard.states)
    assert len(waits) == 5


def test_files_that_somebody_goes_on_writing_end_the_worker_with_a_line(shard, monkeypatch):
    monkeypatch.setattr(working, "LEASE", 0.0)
    file = AppendedFile(shard.folder / "conversations.w-00000.jsonl", alone_in=shard.folder)
    error = work(shard, lambda report: WorkerOrders(), "one").error
    file.close()
    assert error is not None
    assert "another run is writing there" in error[1]


def test_a_worker_prints_no_credential_that_is_logged(shard, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-no-one-42")
    settings()
    record = logging.LogRecord("somebody", logging.WARNING, "", 1, "sent key-of-no-one-42 \x1b[31m", None, None)
    with working._surroundings(shard):
        line = logging.lastResort.format(record)
    assert "key-of-no-one-42" not in line
    assert line.endswith("\\x1b[31m")


def test_a_worker_that_traces_has_sent_its_traces_when_it_is_over(monkeypatch):
    from langchain_core.tracers import langchain

    waited: list[bool] = []
    monkeypatch.setattr(langchain, "wait_for_all_tracers", lambda: waited.append(True))
    monkeypatch.setenv("LANGSMITH_TRACING", "true")
    with untraced(False):
        assert not waited
    assert waited == [True]


async def test_what_is_printed_while_python_starts_is_no_report():
    pipe, board = asyncio.StreamReader(), Board(Control())
    pipe.feed_data(b"Welcome!\n\x00\x00" + BEGIN + framed(WorkerReport("1", Tally(finished=3), over=True)))
    pipe.feed_eof()
    await processes._heard(SimpleNamespace(name="a"), board, pipe)
    board.sum()
    assert board.is_over("a")


async def test_a_worker_that_never_reports_is_one_that_died():
    pipe, board = asyncio.StreamReader(limit=64), Board(Control())
    pipe.feed_data(b"noise " * 100)
    pipe.feed_eof()
    await processes._heard(SimpleNamespace(name="a"), board, pipe)
    assert not board.is_over("a")


def test_the_tasks_that_are_at_work_never_share_more_than_the_limits_of_the_run(shard):
    whole = replace(shard, pace=Pace(), concurrency=4)
    number = sharing.at_once(8, 7, 4)
    assert number == 4
    begun: dict[int, Shard] = {}

    class Task:
        def remote(self, shard: Shard, mailbox: object) -> int:
            begun[len(begun)] = shard
            return len(begun) - 1

    waiting = deque(replace(whole, name=str(number)) for number in range(7))
    tasks = ray_tasks._Tasks(None, Task(), None, waiting, 3, Board(Control()))
    while tasks.go_on():
        under_way = [begun[ref] for ref in tasks.running]
        assert sum(1 / part.pace.parts for part in under_way) <= 1
        assert sum(int(part.concurrency) for part in under_way) <= 4
        ended = sorted(tasks.running)[len(tasks.running) // 2]  # not the first: shares go round
        tasks._free.append(tasks.running.pop(ended)[1])
    assert len(begun) == 7


def test_many_files_are_read_with_few_of_them_open(tmp_path):
    paths = [tmp_path / f"{number}" for number in range(OPEN + 40)]
    for number, path in enumerate(paths):
        path.write_text(str(number))
    folder = Path("/proc/self/fd")
    before = len(list(folder.iterdir())) if folder.exists() else 0
    with OpenFiles() as files:
        for _ in range(2):
            for number, path in enumerate(paths):
                file = files[path]
                file.seek(0)
                assert file.read() == str(number).encode()
        if folder.exists():
            assert len(list(folder.iterdir())) - before == OPEN
    if folder.exists():
        assert len(list(folder.iterdir())) == before


async def test_a_conversation_that_kills_its_worker_keeps_no_other_from_its_end(shard, monkeypatch):
    """Here workers that have several conversations under way die before any is finished, as the worst of them do."""
    deadly = name_of(shard.states[0])

    async def worked(shard: Shard, board: Board) -> int:
        files = working._Files(shard)
        finished = len(files.done)
        left = shard.missing(files.done)
        alone = shard.deaths >= ALONE
        for state in left if alone or deadly not in map(name_of, left) else []:
            if name_of(state) == deadly:
                break
            files.keep(Conversation(id=name_of(state), scenario={"kind": "x"}, stop="max_turns"))
            finished += 1
            board.take(shard.name, WorkerReport(f"{shard.name} {finished}", Tally(finished=finished)))
        files.close()
        return -9

    monkeypatch.setattr(processes, "_worked", worked)
    board = Board(Control())
    await processes._simulated(shard, board)
    assert len(working._Files(shard).done) == len(shard.states) - 1
    (line,) = board.given_up
    assert "4 workers died one after another (SIGKILL, as a system does that is out of memory)" in line
    assert f"none was finished: {deadly}: give them more memory" in line
    with pytest.raises(runs.RunError, match=deadly):
        board.result()
