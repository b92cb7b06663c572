"""Files of several writers that become one, also where that is broken off at any step."""

import json
from pathlib import Path
from typing import Any

import pytest

import duologue
from duologue import Limits, data, runs
from duologue.data.formats import record_lines
from duologue.graphs import simquac
from duologue.runs.folder import merging
from duologue.runs.folder.run_folder import RunFolder
from duologue.runs.journals.calls import CALLS, CallFile


class Killed(BaseException):
    """The process is gone."""


@pytest.fixture
def run(tmp_path, topics):
    """A run of six conversations whose lines two workers have written, one line also the main writer, and one twice."""
    folder = tmp_path / "run"
    duologue.simulate(simquac.cast(), simquac.scenarios(topics()), out=folder, limits=Limits(max_turns=1))
    lines = (folder / "conversations.jsonl").read_bytes().splitlines(keepends=True)
    main, one, two = [lines[4]], [lines[3], lines[0], lines[4]], [lines[5], lines[1], lines[2]]
    for name, part in {"": main, ".w-00000": one, ".w-00001": two}.items():
        (folder / f"conversations{name}.jsonl").write_bytes(b"".join(part))
        (folder / f"failures{name}.jsonl").write_bytes(b"".join(part[:2]))
    return folder, lines


def merged(folder: Path) -> None:
    with RunFolder.open(folder, json.loads((folder / "manifest.json").read_text()), resume=True):
        pass


def is_as_it_was(folder: Path, lines: list[bytes]) -> bool:
    """Every conversation is there once, in the order of the plan, and nothing is said against it."""
    read = record_lines.iterate_run(folder)
    return [record_lines.line(conversation).encode() for conversation in read] == lines and data.load(
        folder
    ).notes == ()


def test_the_lines_of_all_writers_become_one_file_in_the_order_of_the_plan(run):
    folder, lines = run
    assert is_as_it_was(folder, lines)  # also before
    merged(folder)
    assert (folder / "conversations.jsonl").read_bytes() == b"".join(lines)
    assert (folder / "failures.jsonl").read_bytes() == b"".join([lines[0], *lines[1:2], *lines[3:]])
    assert not list(folder.glob("*.w-*"))


def test_what_is_in_order_is_not_written_again(run):
    folder, _ = run
    merged(folder)
    before = {path: path.stat().st_ino for path in folder.glob("*.jsonl")}
    merged(folder)
    assert {path: path.stat().st_ino for path in folder.glob("*.jsonl")} == before


@pytest.mark.parametrize("step", range(8))
def test_a_kill_at_any_step_loses_nothing_and_doubles_nothing(run, monkeypatch, step):
    folder, lines = run
    failures = {line for path in folder.glob("failures*") for line in path.read_bytes().splitlines(keepends=True)}
    steps = 0

    def killing(function: Any) -> Any:
        def call(*arguments: Any, **named: Any) -> Any:
            nonlocal steps
            if steps == step:
                raise Killed
            steps += 1
            return function(*arguments, **named)

        return call

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", killing(Path.replace))  # before a whole file takes its place
        patch.setattr(Path, "unlink", killing(Path.unlink))  # partial files, then the writers' files
        try:
            merged(folder)
        except Killed:
            pass
        else:
            raise AssertionError("there are fewer steps")
    assert is_as_it_was(folder, lines)
    merged(folder)
    assert is_as_it_was(folder, lines)
    assert (folder / "conversations.jsonl").read_bytes() == b"".join(lines)
    failure_lines = (folder / "failures.jsonl").read_bytes().splitlines(keepends=True)
    assert (len(failure_lines), set(failure_lines)) == (len(failures), failures)
    assert sorted(path.name for path in folder.iterdir() if path.is_file()) == [
        "conversations.jsonl", "failures.jsonl", "manifest.json", "prompts.json"
    ]  # fmt: skip


def test_lines_that_do_not_count_stay_for_repair(run):
    folder, lines = run
    with (folder / "conversations.w-00000.jsonl").open("ab") as file:
        file.write(b"nothing\n")
    merged(folder)
    assert (folder / "conversations.jsonl").read_bytes() == b"".join(lines) + b"nothing\n"


def test_half_a_line_of_a_killed_worker_is_gone(run):
    folder, lines = run
    with (folder / "conversations.w-00001.jsonl").open("ab") as file:
        file.write(lines[4][:50])
    merged(folder)
    assert (folder / "conversations.jsonl").read_bytes() == b"".join(lines)


def test_a_worker_that_still_writes_is_waited_for_and_then_named(run, monkeypatch):
    folder, _ = run
    monkeypatch.setattr(merging, "WAITED", 0.0)
    with (
        runs.Journal.open(folder / "conversations.jsonl", record_lines.RECORDS, "00001"),
        pytest.raises(runs.RunError, match="another run is writing there"),
    ):
        merged(folder)


def call(conversation: str, number: int) -> bytes:
    return json.dumps({"conversation": conversation, "message": str(number), "value": {}}).encode() + b"\n"


HEAD = b'{"calls": 1}\n'


def test_each_shard_gets_the_kept_calls_of_its_conversations_and_goes_on_with_them(tmp_path):
    (tmp_path / CALLS).write_bytes(HEAD + call("a", 1) + call("b", 1) + call("a", 2) + call("done", 1))
    merging.split_calls(tmp_path, {"a": "00000", "b": "00001", "c": "00001"})
    one, two = tmp_path / "calls.w-00000.jsonl", tmp_path / "calls.w-00001.jsonl"
    assert (one.read_bytes(), two.read_bytes()) == (HEAD + call("a", 1) + call("a", 2), HEAD + call("b", 1))
    for path in (one, two):
        CallFile.recording(path).close()
    two.write_bytes(two.read_bytes() + call("b", 2) + call("c", 1) + call("c", 2)[:9])
    merging.merge_calls(tmp_path)
    lines = (tmp_path / CALLS).read_bytes().splitlines(keepends=True)
    assert lines[0] == HEAD
    assert sorted(lines[1:]) == sorted([*(call("a", n) for n in (1, 2)), *(call("b", n) for n in (1, 2)), call("c", 1), call("done", 1)])  # fmt: skip
    assert [path.name for path in tmp_path.iterdir()] == [CALLS]


@pytest.mark.parametrize("step", range(4))
def test_calls_are_kept_through_a_kill_at_any_step(tmp_path, monkeypatch, step):
    (tmp_path / CALLS).write_bytes(HEAD + call("a", 1) + call("b", 1))
    merging.split_calls(tmp_path, {"a": "00000", "b": "00001"})
    (tmp_path / "calls.w-00000.jsonl").write_bytes(HEAD + call("a", 1) + call("a", 2))
    steps = 0

    def killing(function: Any) -> Any:
        def step_or_die(*arguments: Any, **named: Any) -> Any:
            nonlocal steps
            steps += 1
            if steps > step:
                raise Killed
            return function(*arguments, **named)

        return step_or_die

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", killing(Path.replace))
        patch.setattr(Path, "unlink", killing(Path.unlink))
        with pytest.raises(Killed):
            merging.merge_calls(tmp_path)
    merging.merge_calls(tmp_path)
    assert sorted((tmp_path / CALLS).read_bytes().splitlines(keepends=True)) == sorted(
        [HEAD, call("a", 1), call("a", 2), call("b", 1)]
    )
