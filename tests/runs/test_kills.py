"""Runs that are killed again and again against an endpoint that counts: what is lost, and what is paid twice."""

import hashlib
import json
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from duologue.data.formats import record_lines

PARALLEL = 4
"""Conversations at the same time, so that at most so many calls are under way when a run is killed."""
WHENS = ("before", "amid", "after")


class Killed:
    """A run that is started, killed and resumed in a folder of its own."""

    def __init__(self, forks: Any, endpoint: Any, folder: Path, *, topics: int, turns: int, more: Iterable[str] = ()):
        self.forks, self.endpoint, self.folder, self.kills, self.lost = forks, endpoint, folder, 0, 0
        self.topics = topics
        folder.mkdir()
        lines = []
        for number in range(topics):
            section = f"The tower of place {number} was built in {1700 + number} by Ada Quill. Ships pass it at night. "
            section += "Three keepers lived there until 1968. Maria Holt wrote a guide, which was printed twice."
            topic = {"title": f"Place {number}", "background": "A place by the sea.", "header": "The tower"}
            lines.append(json.dumps(topic | {"section": section}) + "\n")
        (folder / "topics.jsonl").write_text("".join(lines))
        command = "simulate simquac --topics topics.jsonl --user openai:m --assistant openai:m --out run --yes"
        limits = f"--max-turns {turns} --concurrency {PARALLEL}"
        self.command = [*command.split(), *limits.split(), *more]

    def start(self) -> Any:
        """Start the run, or go on with it."""
        begun = (self.folder / "run" / "manifest.json").exists()
        return self.forks([*self.command, *["--resume"] * begun], self.folder, self.endpoint.environment)

    def finish(self, seconds: float = 900) -> Any:
        """Go on to the end, with no kill left."""
        self.endpoint.change(kill=None, hold_at=None)
        fork = self.start()
        assert fork.wait(seconds) == 0, fork.stderr
        return self.endpoint.counts()

    def kill_at(self, answered: int, when: str) -> bool:
        """Go on until so many replies were sent, where the endpoint kills the run; whether it lived until then."""
        self.endpoint.change(hold_at=None)
        fork = self.start()
        self.endpoint.change(kill={"pid": fork.pid, "at": answered, "when": when})
        code = fork.wait()
        self.kills += code == -9
        assert code in (0, -9), fork.stderr
        return bool(code == -9)

    def kill_held(self, answered: int, lost: int) -> bool:
        """Go on until `answered` replies were sent and every call waits; `lost` of them count as paid."""
        before = self.endpoint.counts()["lost"]
        self.endpoint.change(kill=None, hold_at=answered, lost=before + lost)
        fork = self.start()
        counts = self.endpoint.until(lambda counts: fork.over or counts["held"] >= min(PARALLEL, self.under_way))
        if fork.over:
            assert fork.code == 0, fork.stderr
            return False
        fork.kill()
        assert fork.wait() == -9
        self.kills += 1
        self.lost += counts["lost"] - before
        self.endpoint.until(lambda counts: counts["in_flight"] == 0)
        return True

    @property
    def under_way(self) -> int:
        """Conversations without a line: near the end of a run there are fewer than run at the same time."""
        lines = self.folder / "run" / "conversations.jsonl"
        return self.topics - (lines.read_bytes().count(b"\n") if lines.exists() else 0)

    @property
    def dataset(self) -> bytes:
        """The data set as it was written."""
        return (self.folder / "run" / "dataset" / "simquac.json").read_bytes()

    @property
    def records(self) -> dict[str, str]:
        """The conversations without times by id."""
        conversations = record_lines.read(self.folder / "run" / "conversations.jsonl")
        return {conversation.id: record_lines.line(conversation.without_timing()) for conversation in conversations}

    def left(self) -> set[str]:
        """Files that a finished run does not have."""
        return {path.name for path in (self.folder / "run").rglob("*") if path.name.endswith((".partial", ".tmp"))}


def drawn(number: int, of: int, *what: object) -> int:
    """A number from 0 to `of` that depends on the arguments alone."""
    return int(hashlib.sha256(repr((number, *what)).encode()).hexdigest()[:8], 16) % of


def undisturbed(forks: Any, faulty: Any, folder: Path, **size: Any) -> Killed:
    run = Killed(forks, faulty(), folder, **size)
    counts = run.finish()
    assert counts["repeats"] == 0
    return run


def assert_same(run: Killed, whole: Killed) -> None:
    """The run ended with what an undisturbed one has."""
    assert run.dataset == whole.dataset
    assert run.records == whole.records
    assert run.left() == set()


def test_a_run_that_is_killed_five_times_pays_at_most_the_calls_in_flight_again_and_ends_as_an_undisturbed_one(
    forks: Any, faulty: Any, tmp_path: Path
) -> None:
    run = Killed(forks, faulty(), tmp_path / "run", topics=8, turns=3)
    for number in range(5):
        run.kill_at(run.endpoint.counts()["answered"] + 6 + number, WHENS[number % 3])
    counts = run.finish()
    assert run.kills == 5
    assert counts["repeats"] <= 5 * PARALLEL
    assert_same(run, undisturbed(forks, faulty, tmp_path / "whole", topics=8, turns=3))


def test_replies_that_came_are_not_asked_for_again(forks: Any, faulty: Any, tmp_path: Path) -> None:
    run = Killed(forks, faulty(latency=0.01), tmp_path / "run", topics=8, turns=3)
    for number in range(3):
        assert run.kill_held(run.endpoint.counts()["answered"] + 7, lost=number)
    counts = run.finish()
    assert run.kills == 3
    assert counts["repeats"] == run.lost == 3  # the lost ones alone: they never came


@pytest.mark.heavy
def test_sixteen_kills_pay_at_most_the_calls_in_flight_again(forks: Any, faulty: Any, tmp_path: Path) -> None:
    size: dict[str, Any] = {"topics": 24, "turns": 4}
    whole = undisturbed(forks, faulty, tmp_path / "whole", **size)
    calls = whole.endpoint.counts()["requests"]
    runs = [Killed(forks, faulty(jitter=0.01), tmp_path / f"run{number}", **size) for number in range(2)]

    def work(number: int) -> dict[str, Any]:
        run = runs[number]
        for kill in range(8):
            step = 1 + drawn(kill, calls // 10, number)
            at = run.endpoint.counts()["answered"] + step
            alive = run.kill_held(at, drawn(kill, 3)) if kill % 4 == 3 else run.kill_at(at, WHENS[kill % 3])
            if not alive:
                break
        return dict(run.finish())

    with ThreadPoolExecutor(2) as pool:
        ends = list(pool.map(work, range(len(runs))))
    kills, repeats = sum(run.kills for run in runs), sum(end["repeats"] for end in ends)
    print(f"{kills} kills, {calls} calls a run, {repeats} repeats, {sum(run.lost for run in runs)} lost")
    assert kills == 16
    for run, end in zip(runs, ends, strict=True):
        assert_same(run, whole)
        assert end["repeats"] <= run.kills * PARALLEL
        assert end["answered_bodies"] == calls


@pytest.mark.heavy
def test_a_faulty_limited_absent_endpoint_and_five_kills_end_complete(forks: Any, faulty: Any, tmp_path: Path) -> None:
    size: dict[str, Any] = {"topics": 10, "turns": 3}
    whole = undisturbed(forks, faulty, tmp_path / "whole", **size)
    gone = [[3, 8], [14, 19]]
    endpoint = faulty(faults={"everything": 0.3}, per_second=10, gone=gone)
    run = Killed(forks, endpoint, tmp_path / "run", **size)
    for number in range(5):
        run.kill_at(endpoint.counts()["answered"] + 5, WHENS[number % 3])
    counts = run.finish()
    assert run.kills == 5
    assert run.dataset == whole.dataset
    assert run.left() == set()
    # A kill and an outage each lose at most the replies under way.
    assert counts["repeats"] <= (5 + len(gone)) * PARALLEL
