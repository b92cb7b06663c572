"""Reports of `duologue test` that does not begin, and its JSON beside what code of one's own prints."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest

from duologue.cli.running.interrupts import STOPPED
from duologue.cli.running.run import cut_by
from duologue.nodes.calls.gate import EndpointError
from duologue.runs.engine.control import Control

AGENTS = """
import asyncio
import os
import signal


def agent(messages):
    print("a line of the agent")
    return "Done: it is booked."


async def presses_ctrl_c(messages):
    os.kill(os.getpid(), signal.SIGINT)
    await asyncio.sleep(60)


def other(messages):
    return "No."
"""
REPORTS = [Path("junit.xml"), Path("summary.md"), Path("run/page.html")]


@pytest.fixture(autouse=True)
def agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)  # before the folders of earlier tests
    Path("printing.py").write_text(AGENTS)
    Path("scenarios.jsonl").write_text(json.dumps({"goal": "a seat", "success": {"text_contains": "booked"}}) + "\n")
    sys.modules.pop("printing", None)


def arguments(agent: str, *more: object) -> tuple[object, ...]:
    given = ("--scenarios", "scenarios.jsonl", "--out", "run", "--junit", "junit.xml", "--summary", "summary.md")
    return ("test", "--assistant", f"printing:{agent}", *given, *more)


@pytest.mark.parametrize("more", [("--resume",), ()])
def test_a_run_that_is_refused_leaves_the_reports_of_the_earlier_one(duologue, more) -> None:
    assert duologue(*arguments("agent"))[0] == 0
    before = [path.read_text() for path in REPORTS]
    code, _, err = duologue(*arguments("other", *more))
    assert (code, err.count("\n") > 0) == (2, True)
    assert [path.read_text() for path in REPORTS] == before
    assert duologue(*arguments("agent", "--resume", "--threshold", 0.9, "--no-page"))[0] == 0
    assert [path.read_text() == text for path, text in zip(REPORTS[:2], before[:2], strict=True)] == [False] * 2
    assert not REPORTS[2].exists()


def test_reports_of_a_test_that_did_not_begin_say_why(duologue) -> None:
    Path("junit.xml").write_text("<old/>")
    code, _, err = duologue(*arguments("nobody"))
    line = err.splitlines()[-1].removeprefix("duologue: ")
    (error,) = ElementTree.parse("junit.xml").getroot().iter("error")
    assert (code, error.get("message")) == (2, f"did not begin: {line}")
    assert "did not begin: " in Path("summary.md").read_text()
    assert "nobody" in Path("summary.md").read_text()


def test_json_is_alone_on_stdout_though_the_agent_prints(duologue) -> None:
    code, out, err = duologue(*arguments("agent", "--json"))
    assert (code, json.loads(out)["successes"], "a line of the agent" in err) == (0, 1, True)
    given = ("--assistant", "printing:agent", "--scenarios", "scenarios.jsonl", "--out", "simulated", "--json")
    code, out, err = duologue("simulate", "agent_test", *given)
    assert (code, json.loads(out)["finished"], "a line of the agent" in err) == (0, 1, True), err
    assert "a line of the agent" in duologue(*arguments("agent", "--out", "again"))[1]


def messages_of_junit() -> list[str]:
    return [str(error.get("message")) for error in ElementTree.parse("junit.xml").getroot().iter("error")]


@pytest.mark.parametrize(
    ("error", "ending", "words"),
    [
        (EndpointError("x"), "x", "the run ended: host: wrong_key"),
        (None, "--max-cost 1 is reached", "--max-cost 1 is reached"),
        (None, STOPPED, "it was interrupted"),
        (None, None, ""),
    ],
)
def test_what_ended_the_run_is_why_a_conversation_was_cut_short(error, ending, words) -> None:
    summary: Any = SimpleNamespace(stopped_by=error, stopped="host: wrong_key")
    assert cut_by(summary, Control(ending=ending)) == words


@pytest.mark.heavy
def test_an_interrupted_conversation_is_not_called_cancelled(duologue) -> None:
    code, out, err = duologue(*arguments("presses_ctrl_c", "--json"))
    assert (code, messages_of_junit()) == (130, ["it was cut short: it was interrupted"]), err
    assert json.loads(out)["unscored_because"] == "it was cut short: it was interrupted"


CAST = """
import sys

from duologue import graphs

print("a line at the import")


def cast():
    print("a line of the cast")
    return graphs.agent_test.cast()
"""


@pytest.mark.parametrize("command", ["simulate", "test"])
def test_what_a_module_prints_when_it_is_imported_is_not_in_the_json(duologue, command) -> None:
    Path("printing_cast.py").write_text(CAST)
    sys.modules.pop("printing_cast", None)
    code, out, err = duologue(command, "printing_cast:cast", "--scenarios", "scenarios.jsonl", "--out", "run", "--json")
    assert (code in (0, 1), json.loads(out)["out"]) == (True, "run")
    assert {"a line at the import", "a line of the cast"} <= set(err.splitlines())


WORLD = """
class World:
    state = {}

    def __enter__(self):
        return self

    def __exit__(self, *error):
        raise OSError("the disk is gone")


def world(scenario):
    return World()


def agent(messages):
    return "I cannot do that."
"""


def test_junit_has_the_notes_of_the_terminal(duologue) -> None:
    Path("printing_world.py").write_text(WORLD)
    sys.modules.pop("printing_world", None)
    more = ("--world", "printing_world:world", "--assistant", "printing_world:agent")
    _, out, _ = duologue(*arguments("agent", *more))
    line = "in 1 conversation the world could not be torn down: OSError: the disk is gone (printing_world.py:9 in __exit__)"
    assert line in out.splitlines()
    notes = ElementTree.fromstring(Path("junit.xml").read_text()).findtext("testsuite/system-out") or ""
    group, warning = notes.splitlines()
    assert group.startswith("1 of 1: the agent repeated its message; shortest: ")
    assert warning == line
