"""Signals during a run: once in order, twice at once; what ends a process ends a run with its folder whole."""

import asyncio
import os
import signal
import subprocess
import sys
import time

import pytest
import typer

from duologue.cli.running.interrupts import ask_all, interruptible
from duologue.data import record_lines
from duologue.nodes.calls.gate import RunOverError
from duologue.runs.engine.control import Control

WAITING = """
import asyncio
from itertools import count
from pathlib import Path

calls = count(1)

async def assistant(messages):
    Path(f"call-{next(calls)}").touch()
    while not Path("go").exists():
        await asyncio.sleep(0.01)
    return "It stands on a rock."
"""


def until(holds, process):
    """Wait for another process, which has no event to wait for."""
    while not holds():
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)


@pytest.fixture
def run(tmp_path):
    """A run whose two conversations under way wait for an answer."""
    (tmp_path / "waiting.py").write_text(WAITING)
    options = ("--limit", "5", "--max-turns", "1", "--concurrency", "2", "--answer-attempts", "1", "--out", "run")
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)  # a suite under nohup ignores it, and so would the run
    with (tmp_path / "err").open("w") as err, (tmp_path / "out").open("w") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "duologue.cli", "simulate", "simquac", "--assistant", "waiting:assistant", *options],
            cwd=tmp_path,
            stdout=out,
            stderr=err,
        )
    signal.signal(signal.SIGHUP, before)
    until((tmp_path / "call-2").exists, process)
    yield process
    process.kill()
    process.wait()


def kept(folder, name):
    path = folder / "run" / name
    return (
        [conversation.stop for conversation in record_lines.read(path)] if path.exists() and path.stat().st_size else []
    )


@pytest.mark.heavy
def test_ctrl_c_once_finishes_what_is_under_way_and_begins_nothing_new(run, tmp_path):
    run.send_signal(signal.SIGINT)
    until(lambda: "press Ctrl-C again" in (tmp_path / "err").read_text(), run)
    (tmp_path / "go").touch()
    assert run.wait(timeout=900) == 130
    text = (tmp_path / "err").read_text()
    line = "waiting 0.5 seconds for agents of your own, up to 10 for calls of models in 2 conversations"
    assert f"{line}; press Ctrl-C again to stop now" in text
    assert "interrupted: 3 conversations are missing; continue: the same command with --out run --resume" in text
    assert kept(tmp_path, "conversations.jsonl") == ["max_turns"] * 2
    assert kept(tmp_path, "failures.jsonl") == []
    assert (tmp_path / "run/dataset/simquac.json").exists()


def assert_told_as_other_ends(tmp_path):
    again = "continue: the same command with --out run --resume"
    line = f"interrupted: 5 conversations are missing, 2 of them cancelled under way; {again}"
    assert (tmp_path / "err").read_text().splitlines()[-1] == line
    assert (tmp_path / "out").read_text() == "0 of 5 conversations finished\nrun:     run\n"


@pytest.mark.heavy
def test_ctrl_c_twice_stops_now_and_writes_down_what_was_under_way(run, tmp_path):
    run.send_signal(signal.SIGINT)
    until(lambda: "press Ctrl-C again" in (tmp_path / "err").read_text(), run)
    run.send_signal(signal.SIGINT)
    assert run.wait(timeout=900) == 130
    assert kept(tmp_path, "failures.jsonl") == ["cancelled"] * 2
    assert_told_as_other_ends(tmp_path)


@pytest.mark.heavy
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 130), (signal.SIGQUIT, 130)])
def test_a_signal_that_ends_a_process_ends_the_run_with_what_was_under_way_written_down(run, tmp_path, number, code):
    run.send_signal(number)
    assert run.wait(timeout=900) == code
    assert kept(tmp_path, "failures.jsonl") == ["cancelled"] * 2
    assert_told_as_other_ends(tmp_path)


def interrupted(*_, **__):
    raise KeyboardInterrupt


def interrupted_in_a_class(*_, **__):
    """Python 3.11 makes a RuntimeError of it."""
    type("Made", (), {"field": type("Field", (), {"__set_name__": interrupted})()})


both_ways = pytest.mark.parametrize("pressed", [interrupted, interrupted_in_a_class])


class Pressed:
    """Ctrl-C as soon as a module is asked for."""

    def __init__(self, pressed):
        self.pressed = pressed

    def find_spec(self, name, path=None, target=None):
        if name == "duologue.cli.commands":
            self.pressed()


@both_ways
def test_ctrl_c_while_the_modules_are_read_is_one_line(duologue, monkeypatch, pressed):
    monkeypatch.delitem(sys.modules, "duologue.cli.commands", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Pressed(pressed), *sys.meta_path])
    assert duologue("runs", "list") == (130, "", "duologue: interrupted\n")


@both_ways
def test_ctrl_c_while_files_are_read_is_one_line(duologue, monkeypatch, pressed):
    monkeypatch.setattr("duologue.data.simquac.samples", pressed)
    assert duologue("simulate", "simquac") == (130, "", "duologue: interrupted\n")


def test_a_run_that_is_interrupted_before_it_has_a_folder_says_so(duologue, monkeypatch):
    def interrupted(work, *_):
        work.close()
        raise KeyboardInterrupt

    monkeypatch.setattr("duologue.cli.running.run.run", interrupted)
    code, out, err = duologue("simulate", "simquac", "--limit", 1, "--out", "r")
    assert (code, out, err) == (130, "", "interrupted: no conversation had begun, and nothing was written\n")


async def pressed(times):
    """Control, and how often a run was cancelled, after Ctrl-C was pressed so often."""
    control, cancelled = Control(), []
    before = signal.getsignal(signal.SIGINT)
    with interruptible(control, lambda: 1, lambda: cancelled.append(True)):
        for _ in range(times):
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.sleep(0)
            await asyncio.sleep(0)
    assert signal.getsignal(signal.SIGINT) is before
    return control, len(cancelled)


async def test_the_first_ctrl_c_ends_in_order_and_the_second_cancels(capsys):
    control, cancelled = await pressed(1)
    assert (control.begins, control.spent(), cancelled) == (False, None, 0)
    line = "waiting 0.5 seconds for agents of your own, up to 10 for calls of models in 1 conversation"
    assert f"{line}; press Ctrl-C again to stop now" in capsys.readouterr().err
    assert (await pressed(2))[1] == 1


async def test_the_third_ctrl_c_is_raised_where_the_code_is():
    with pytest.raises(KeyboardInterrupt):
        await pressed(3)


def test_a_keyboard_interrupt_of_ones_own_code_is_no_ctrl_c_in_a_command_that_asks(capsys):
    async def work(update):
        raise KeyboardInterrupt

    with pytest.raises(typer.Exit) as ended:
        ask_all(work, Control(), "asks", max_time=None, left="nothing is missing")
    line = "ended early: code of yours raised KeyboardInterrupt (test_interrupts.py, line "
    assert (ended.value.exit_code, line in capsys.readouterr().err) == (1, True)


async def test_what_is_ignored_from_outside_stays_ignored():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        control, _ = await pressed(1)
        assert control.begins
    finally:
        signal.signal(signal.SIGINT, before)


AGENTS = """
import asyncio
import time
from pathlib import Path

from langgraph.graph import START, MessagesState, StateGraph


def blocking(messages):
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
@pytest.mark.parametrize(
    ("agent", "signals", "code"),
    [
        *((agent, *end) for agent in ("blocking", "graph", "stubborn") for end in (((INT,), 130), ((TERM,), 143))),
        ("stubborn", (INT, INT), 130),
    ],
)
def test_a_signal_ends_a_run_whose_agent_never_answers(tmp_path, agent, signals, code):
    returned, line, cut = ended(tmp_path, agent, *signals)
    assert (returned, cut) == (code, ["cancelled"] * 2)
    assert line == f"interrupted; 2 cut short; {AGAIN}"


@pytest.mark.heavy
def test_the_end_of_its_time_ends_a_run_whose_agent_never_answers(tmp_path):
    returned, line, _ = ended(tmp_path, "blocking", options=("--max-time", "2s"))
    assert returned == 1
    assert line.startswith("ended early: --max-time is over, 2 seconds; 2 ")
    assert line.endswith("continue: the same command with --out run --resume")


async def test_a_conversation_that_waits_for_an_agent_is_over_and_others_go_on():
    control = Control()
    calls = control.call_service()

    async def conversation(for_agent):
        if for_agent:
            turn = asyncio.create_task(asyncio.Event().wait())
            with calls.agent_turn(turn):
                await asyncio.wait({turn})
        return "finished"

    waiting, other = asyncio.create_task(conversation(True)), asyncio.create_task(conversation(False))
    await asyncio.sleep(0)
    control.drop()
    later = asyncio.create_task(conversation(True))
    results = await asyncio.gather(waiting, other, later, return_exceptions=True)
    assert [isinstance(result, RunOverError) for result in results] == [True, False, True]
    assert not calls.agents


POOL = """
import multiprocessing
import time


def pooled(messages):
    with multiprocessing.get_context("fork").Pool(2) as pool:  # which ends its workers by SIGTERM
        pool.map_async(time.sleep, [1e6, 1e6])
        return f"It is booked for {abs(-2)}."
"""


@pytest.mark.heavy
def test_a_pool_of_busy_processes_in_an_agent_ends_and_the_run_goes_on(tmp_path):
    (tmp_path / "pooling.py").write_text(POOL)
    (tmp_path / "ways.jsonl").write_text('{"goal": "book", "success": {"text_contains": "booked for 2"}}\n')
    command = ["test", "--assistant", "pooling:pooled", "--scenarios", "ways.jsonl", "--repeats", "2", "--no-page"]
    done = subprocess.run(
        [sys.executable, "-m", "duologue.cli", *command], cwd=tmp_path, capture_output=True, text=True, timeout=240
    )
    assert (done.returncode, "2 of 2 scored conversations succeeded" in done.stdout) == (0, True), done.stderr
