"""A finished run of an agent that fails in two ways, and folders into which it grows line by line."""

import json
import shutil
from pathlib import Path

import pytest

import duologue
from duologue.analysis.growth import RunGrowth
from duologue.data.formats.detection import CONVERSATIONS, FAILURES, MANIFEST
from duologue.views import watching
from tests.views.conftest import browser  # noqa: F401

SCENARIOS = [
    {"title": f"move {number}", "goal": "move it", "facts": "The code is QX4821.", "success": {"text_contains": wanted}}
    for number, wanted in enumerate(["QX4821 has been moved", "a refund", "QX4821 has been moved"])
]


def agent(messages):
    """Moves what has a code; the third scenario makes it crash."""
    said = " ".join(message["content"] for message in messages if message["role"] == "user")
    return "Done: QX4821 has been moved." if "QX4821" in said else "Which <b>booking</b> is it?"


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """A look reads all that is there, however busy the machine is."""
    monkeypatch.setattr(RunGrowth.look, "__defaults__", (300.0,))
    monkeypatch.setattr(watching, "LOOK", 300.0)


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """The folder of a complete run of 12 conversations, 4 of which fail."""
    folder = tmp_path_factory.mktemp("runs") / "whole"
    duologue.test(agent, SCENARIOS, repeats=4, out=folder)
    return folder


class GrowingFolder:
    """A run folder into which the lines of a finished run are written one by one."""

    def __init__(self, source, path):
        self.source, self.path, self._written = source, path, 0
        self.lines = (source / CONVERSATIONS).read_bytes().splitlines(keepends=True)

    def begin(self):
        self.path.mkdir()
        shutil.copy(self.source / MANIFEST, self.path)
        for name in (CONVERSATIONS, FAILURES):
            (self.path / name).touch()

    def grow(self, number=1, name=CONVERSATIONS):
        with (self.path / name).open("ab") as file:
            file.writelines(self.lines[self._written : self._written + number])
        self._written += number

    def cut_short(self):
        """The next conversation fails."""
        line = json.loads(self.lines[self._written])
        line |= {"stop": "model_failed", "failure": {"node": "assistant", "error": "<i>gone</i>", "fault": "assistant"}}
        with (self.path / FAILURES).open("a") as file:
            file.write(json.dumps(line) + "\n")


@pytest.fixture
def growing(finished, tmp_path):
    return GrowingFolder(finished, tmp_path / "growing")


@pytest.fixture
def slow_agent(tmp_path, monkeypatch):
    """A module with an agent that waits for a file, and a file of scenarios."""
    monkeypatch.syspath_prepend(tmp_path)
    Path("slow_agent.py").write_text(
        "import asyncio\nfrom pathlib import Path\n\n\n"
        "async def agent(messages):\n"
        "    while sum(1 for _ in Path.cwd().glob('go*')) == 0:\n"
        "        await asyncio.sleep(0.01)\n"
        "    return 'Done: QX4821 has been moved.'\n"
    )
    Path("scenarios.jsonl").write_text("".join(json.dumps(scenario) + "\n" for scenario in SCENARIOS))
    return tmp_path
