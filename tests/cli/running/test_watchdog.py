"""A run that an agent holds up: signals and the end of its time end it all the same, with the line that resumes it."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from typing import Any

import pytest

from duologue.cli.running import watchdog
from duologue.cli.running.watchdog import Watchdog, watched
from duologue.data import record_lines
from duologue.runs.engine.control import Control

AGENTS = """
import asyncio
import time
from pathlib import Path

from langgraph.graph import START, MessagesState, StateGraph


def blocking(messages):
    Path("called").touch()
    time.sleep(1e6)


async def blocking_all(messages):
    Path("called").touch()
    time.sleep(1e6)


async def stubborn(messages):
    Path("called").touch()
    while True:
        try:
            await asyncio.sleep(1e6)
        except asyncio.CancelledError:
            pass


graph = StateGraph(MessagesState).add_node("hang", blocking).add_edge(START, "hang").compile()
"""
INT, TERM = signal.SIGINT, signal.SIGTERM
AGAIN = "continue: the same command with --out run --resume"


def ended(folder, agent, *signals, options=()):
    """Exit code, last line and cancelled conversations of a test of the agent, once it was called and got signals."""
    (folder / "hanging.py").write_text(AGENTS)
    (folder / "scenarios.jsonl").write_text('{"goal": "fly"}\n{"goal": "drive"}\n')
    command = ["test", "--assistant", f"hanging:{agent}", "--scenarios", "scenarios.jsonl", "--out", "run", *options]
    process = subprocess.Popen(
        [sys.executable, "-m", "duologue.cli", *command], cwd=folder, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL
    )
    while not (folder / "called").exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    for number in signals:
        process.send_signal(number)
    try:
        _, err = process.communicate(timeout=900)
    finally:
        process.kill()
    cut = [conversation.stop for conversation in record_lines.cut_short(folder / "run")]
    return process.returncode, err.decode().splitlines()[-1], cut


@pytest.mark.heavy
@pytest.mark.parametrize("agent", ["blocking", "graph", "stubborn"])
@pytest.mark.parametrize(("signals", "code"), [((INT,), 130), ((INT, INT), 130), ((TERM,), 143)])
def test_a_signal_ends_a_run_whose_agent_never_answers(tmp_path, agent, signals, code):
    returned, line, cut = ended(tmp_path, agent, *signals)
    assert (returned, cut) == (code, ["cancelled"] * 2)
    assert line == f"interrupted; 2 cut short; {AGAIN}"


@pytest.mark.heavy
@pytest.mark.parametrize(("signals", "code"), [((INT,), 130), ((INT, INT), 130), ((TERM,), 143)])
def test_a_signal_ends_a_run_whose_event_loop_is_blocked(tmp_path, signals, code):
    returned, line, cut = ended(tmp_path, "blocking_all", *signals)
    assert (returned, cut) == (code, [])
    assert line == f"interrupted: 2 of 2 conversations are not finished; {AGAIN}"


@pytest.mark.heavy
@pytest.mark.parametrize("agent", ["blocking", "blocking_all"])
def test_the_end_of_its_time_ends_a_run_whose_agent_never_answers(tmp_path, agent):
    returned, line, _ = ended(tmp_path, agent, options=("--max-time", "2s"))
    assert returned == 1
    assert line.startswith("ended early: --max-time is over, 2 seconds; 2 ")
    assert line.endswith("continue: the same command with --out run --resume")


@pytest.mark.heavy
@pytest.mark.parametrize(("signals", "code"), [((INT,), 130), ((INT, INT), 130), ((TERM,), 143)])
def test_a_signal_ends_workers_whose_event_loops_are_blocked(tmp_path, signals, code):
    returned, line, _ = ended(tmp_path, "blocking_all", *signals, options=("--processes", "2"))
    assert (returned, line) == (code, f"interrupted; 2 not begun; {AGAIN}")


class EndedError(Exception):
    """The process would have ended."""


@pytest.fixture
def leaving(monkeypatch):
    """What ended the process, in place of its end."""
    over: Any = threading.Event()

    def end(cause):
        over.cause = cause
        over.set()
        raise EndedError

    monkeypatch.setattr(watchdog, "SILENT", 0.01)
    monkeypatch.setattr(Watchdog, "_end", lambda self, cause: end(cause))
    monkeypatch.setattr(threading, "excepthook", lambda args: None)
    return over


@pytest.mark.parametrize(
    ("numbers", "seconds", "cause"), [((INT,), None, INT), ((TERM,), None, TERM), ((), 0.01, None)]
)
async def test_a_blocked_event_loop_is_ended_by_a_signal_and_by_the_end_of_its_time(leaving, numbers, seconds, cause):
    dog = Watchdog(asyncio.get_running_loop(), Control(under_way=1), 0.01, lambda number: ("", 1))
    before = {number: signal.signal(number, lambda *_: None) for number in (INT, TERM)}
    try:
        with watched(dog, seconds):
            for number in numbers:
                os.kill(os.getpid(), number)
            assert leaving.wait(timeout=900)  # blocks this loop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    assert leaving.cause == cause


class Orders:
    """Times at which no order comes, as the socket of orders tells them, and then its end.

    Between them the event loop has a turn, if it is not blocked.
    """

    def __init__(self, times, loop=None):
        self.left, self.loop = times, loop

    def settimeout(self, seconds):
        assert seconds is None or seconds > 0

    def recv(self, size):
        if self.loop is not None:
            asyncio.run_coroutine_threadsafe(asyncio.sleep(0), self.loop).result()
        self.left -= 1
        if self.left < 0:
            return b""
        raise TimeoutError


async def test_an_event_loop_that_takes_orders_is_left_alone(leaving):
    loop = asyncio.get_running_loop()
    dog = Watchdog(loop, Control(under_way=1), 0.0, lambda number: ("", 1))
    await asyncio.to_thread(dog.watch, Orders(4, loop), 0.0)
    assert not leaving.is_set()


@pytest.mark.parametrize(("under_way", "ended"), [(0, False), (1, True)])
async def test_a_blocked_event_loop_is_left_alone_while_it_only_writes(leaving, under_way, ended):
    dog = Watchdog(asyncio.get_running_loop(), Control(under_way=under_way), 0.0, lambda number: ("", 1))
    with suppress(EndedError):
        dog.watch(Orders(4), 0.0)  # here, so that this loop is blocked
    assert leaving.is_set() is ended


async def test_a_conversation_that_waits_for_an_agent_is_dropped_and_others_go_on():
    from duologue.nodes.calls.agent_turns import CONVERSATION

    control = Control()
    calls = control.call_service()

    async def conversation(for_agent):
        CONVERSATION.set(asyncio.current_task())
        if for_agent:
            with calls.agents.turn():
                await asyncio.Event().wait()
        return "finished"

    waiting, other = asyncio.create_task(conversation(True)), asyncio.create_task(conversation(False))
    await asyncio.sleep(0)
    control.drop()
    later = asyncio.create_task(conversation(True))
    results = await asyncio.gather(waiting, other, later, return_exceptions=True)
    assert [isinstance(result, asyncio.CancelledError) for result in results] == [True, False, True]
    assert not calls.agents.waiting
