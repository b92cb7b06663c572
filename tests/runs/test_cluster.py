"""Runs on a local Ray: what several workers write is what one process writes, whoever is killed on the way."""

import importlib.util
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from duologue.data.formats import record_lines

TOPICS = 160
"""Three shards."""


@pytest.fixture(autouse=True)
def ray_is_there(request: pytest.FixtureRequest) -> None:
    """A machine without Ray skips the heavy tests, but in CI fails them."""
    if request.node.get_closest_marker("heavy") is None:
        return
    if importlib.util.find_spec("ray") is None:
        if os.environ.get("CI"):
            pytest.fail("the extra ray is not installed")
        pytest.skip("needs the extra ray: make env")


class OnRay:
    """A run that is started, killed and resumed in a folder of its own."""

    def __init__(self, forks: Any, endpoint: Any, folder: Path, user: str = "openai:m") -> None:
        self.forks, self.endpoint, self.folder = forks, endpoint, folder
        folder.mkdir()
        lines = [
            f'{{"title": "Place {n}", "background": "A place.", "header": "The tower", "section": "The tower of place {n} '
            f'was built in {1700 + n} by Ada Quill. Ships pass it at night. Maria Holt wrote a guide."}}\n'
            for n in range(TOPICS)
        ]
        (folder / "topics.jsonl").write_text("".join(lines))
        command = (
            f"simulate simquac --topics topics.jsonl --user {user} --assistant {user} --out run --yes --max-turns 3"
        )
        self.command = [*command.split(), "--concurrency", "8"]

    def start(self, *more: str) -> Any:
        resume = ["--resume"] * (self.folder / "run" / "manifest.json").exists()
        environment = self.endpoint.environment if self.endpoint is not None else {}
        (self.folder / "rfc3987_syntax.py").write_text("raise ImportError")
        quick = {"PYTHONPATH": str(self.folder)}  # jsonschema, which Ray brings, does without (see tests/conftest.py)
        return self.forks([*self.command, *resume, *more], self.folder, environment | quick)

    def finish(self, *more: str) -> Any:
        fork = self.start(*more)
        assert fork.wait() == 0, fork.stderr
        return fork

    def reached(self, answered: int, fork: Any) -> None:
        self.endpoint.until(lambda counts: fork.over or counts["answered"] >= answered)
        assert not fork.over, fork.stderr

    @property
    def result(self) -> tuple[Any, ...]:
        run = self.folder / "run"
        made = record_lines.read(run / "conversations.jsonl")
        lines = [record_lines.line(each.without_timing()) for each in made]
        return (run / "dataset/simquac.json").read_bytes(), lines, sorted(path.name for path in run.iterdir())


def descendants(pid: int) -> list[int]:
    """The processes that a process has started, with those that these have started."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, task.read_text().split()):
            found += [child, *descendants(child)]
    return found


def tasks(pid: int) -> list[int]:
    """The processes of Ray that simulate just now."""
    names = {each: Path(f"/proc/{each}/cmdline") for each in descendants(pid)}
    return [each for each, path in names.items() if path.exists() and b"ray::simulated" in path.read_bytes()]


def until(holds: Any) -> None:
    for _ in range(45_000):
        if holds():
            return
        time.sleep(0.02)
    raise AssertionError("not within 900 seconds")


@pytest.mark.heavy
def test_a_local_ray_writes_what_one_process_writes_byte_for_byte(forks, tmp_path):
    one, ray = (OnRay(forks, None, tmp_path / name, "offline?misbehave=0.3") for name in ("one", "ray"))
    one.finish("--processes", "1")
    told = ray.finish("--engine", "ray", "--processes", "2")
    assert ray.result == one.result
    assert "ray" not in told.stderr.lower()  # none of its own words


@pytest.mark.heavy
def test_workers_and_driver_are_killed_and_the_run_goes_on(forks, faulty, tmp_path):
    whole = OnRay(forks, faulty(), tmp_path / "whole")
    whole.finish("--processes", "1")
    run = OnRay(forks, faulty(latency=0.05), tmp_path / "run")
    kills = 0
    fork = run.start("--engine", "ray", "--processes", "2")
    for _ in range(2):  # a worker: Ray begins its task again
        run.reached(run.endpoint.counts()["answered"] + 60, fork)
        until(lambda: tasks(fork.pid))
        os.kill(tasks(fork.pid)[0], signal.SIGKILL)
        kills += 1
    run.reached(run.endpoint.counts()["answered"] + 60, fork)
    mine = descendants(fork.pid)
    assert mine
    fork.kill()  # the driver, and with it all of this Ray
    kills += 1
    until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in mine))
    run.finish("--engine", "ray", "--processes", "2")
    assert run.result == whole.result
    counts = run.endpoint.counts()
    print(f"{kills} kills, {counts['repeats']} calls paid twice, of {counts['answered']}")
    assert counts["repeats"] <= kills * 8


@pytest.mark.heavy
def test_a_run_that_was_killed_on_ray_goes_on_in_one_process_and_pays_nothing_twice(forks, faulty, tmp_path):
    run = OnRay(forks, faulty(latency=0.05), tmp_path / "run")
    fork = run.start("--engine", "ray", "--processes", "2", "--max-run-tokens", "9000")
    assert fork.wait() == 1
    assert "ended early: --max-run-tokens 9,000 is reached" in fork.stderr
    assert not list((run.folder / "run").glob("*.w-*"))
    run.finish("--processes", "1")
    assert run.endpoint.counts()["repeats"] == 0


@pytest.mark.heavy
def test_a_wrong_key_ends_a_run_on_ray_with_one_line(forks, faulty, tmp_path):
    run = OnRay(forks, faulty(status=401), tmp_path / "run")
    fork = run.start("--engine", "ray", "--processes", "2")
    assert fork.wait() == 1
    assert fork.stderr.count("401") == 1


def test_ray_that_is_not_installed_is_named_in_one_line(forks, tmp_path):
    (tmp_path / "cwd").mkdir()
    code = "import sys; sys.modules['ray'] = None; sys.argv = ['duologue', 'simulate', 'simquac', '--engine', 'ray', '--out', 'r']; from duologue.cli import main; main()"
    done = forks.run("-c", code, cwd=tmp_path / "cwd")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == "duologue: --engine ray needs the extra ray: pip install 'duologue[ray]'"
