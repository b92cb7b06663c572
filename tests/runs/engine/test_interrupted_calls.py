"""Ctrl-C in Python and in pytest: a call ends with KeyboardInterrupt whatever the agent does, and its folder is in order."""

import asyncio
import signal
import threading
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import duologue
from duologue.data import record_lines
from duologue.runs.engine import event_loop

SCENARIOS = [{"goal": "a good seat"}, {"goal": "a bad seat"}]


@pytest.fixture
def never() -> Any:
    """An event that is set when the test is over."""
    event = threading.Event()
    yield event
    event.set()


def interrupted() -> None:
    """Press Ctrl-C."""
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


def test_an_agent_that_ignores_cancellation_is_left_and_what_is_finished_is_kept(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(event_loop, "LAST", 0.05)
    monkeypatch.setattr("duologue.nodes.foreign.LAST", 0.01)

    resumed = threading.Event()
    waiting: list[Any] = []

    async def agent(messages: Any) -> str:
        if "a bad seat" not in str(messages) or resumed.is_set():
            return "It is booked."
        asyncio.get_running_loop().call_soon(interrupted)
        woken = asyncio.Event()
        waiting.append(partial(asyncio.get_running_loop().call_soon_threadsafe, woken.set))
        while not woken.is_set():
            with suppress(asyncio.CancelledError):
                await woken.wait()
        return ""

    with pytest.raises(KeyboardInterrupt) as raised:
        duologue.test(agent, SCENARIOS, out=tmp_path / "run", concurrency=1)
    (line,) = raised.value.__notes__
    assert line.startswith(
        f"interrupted: what is finished is kept in {tmp_path / 'run'}; continue: the same call with out="
    )
    assert line.endswith("resume=True")
    (cut,) = record_lines.cut_short(tmp_path / "run")
    assert (cut.scenario["goal"], cut.stop) == ("a bad seat", "cancelled")
    resumed.set()
    result = duologue.test(agent, SCENARIOS, out=tmp_path / "run", resume=True)
    assert (result.successes, result.scored) == (2, 2)
    for wake in waiting:
        wake()


def test_a_loop_that_other_code_blocks_is_left_too(never, monkeypatch) -> None:
    monkeypatch.setattr(event_loop, "LAST", 0.05)

    async def block() -> None:
        interrupted()
        never.wait()

    with pytest.raises(KeyboardInterrupt):
        event_loop.blocking(block())

    async def answer() -> int:
        return 7

    assert event_loop.blocking(answer()) == 7


def test_without_a_folder_the_line_names_the_way_to_keep_something(never, monkeypatch) -> None:
    monkeypatch.setattr(event_loop, "LAST", 0.05)

    def agent(messages: Any) -> str:
        interrupted()
        return str(never.wait())

    with pytest.raises(KeyboardInterrupt) as raised:
        duologue.test(agent, SCENARIOS)
    assert "nothing is kept without out=FOLDER" in raised.value.__notes__[0]
