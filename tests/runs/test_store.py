"""A run on disk: it goes on by the same call, another run is named, and shards are put together."""

import json
import os

import pytest

import duologue
from duologue import data, runs
from duologue.graphs import simquac
from duologue.nodes import Limits
from duologue.runs.store import comparable, standing, stored_manifest

LIMITS = Limits(max_turns=1)
GOAL = {"goal": "book a table for two", "success": {"text_contains": "booked"}}


def texts(conversations):
    return [[message.text for message in one.messages] for one in conversations]


def test_the_same_call_goes_on_and_more_scenarios_are_added(tmp_path, topics):
    scenarios = simquac.scenarios(topics())
    one = {"limits": LIMITS, "out": tmp_path / "r"}
    few = duologue.simulate(simquac.cast(), scenarios[:2], **one)
    lines = (tmp_path / "r" / "conversations.jsonl").read_bytes()
    again = duologue.simulate(simquac.cast(), scenarios[:2], **one)
    assert (again, (tmp_path / "r" / "conversations.jsonl").read_bytes()) == (few, lines)
    every = duologue.simulate(simquac.cast(), scenarios, **one, concurrency=1)
    assert every[:2] == few
    assert sorted(path.name for path in (tmp_path / "r").iterdir()) == [
        "conversations.jsonl", "manifest.json", "replies.sqlite",
    ]  # fmt: skip
    assert duologue.load(tmp_path / "r").conversations == tuple(every)


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"limits": Limits(max_turns=2)}, "limits.max_turns = 1, now it is 2"),
        ({"seed": 3}, "limits.seed = 0, now it is 3"),
        ({"talk": simquac.cast(assistant="offline?misbehave=0.4")}, "nodes.assistant"),
        ({"scenarios": 1}, "2 of these are missing now"),
    ],
)
def test_another_run_in_the_same_folder_is_an_error_that_names_the_difference(tmp_path, topics, change, line):
    scenarios = simquac.scenarios(topics(3))
    duologue.simulate(simquac.cast(), scenarios, limits=LIMITS, out=tmp_path / "r")
    call = {"talk": simquac.cast(), "limits": LIMITS, "out": tmp_path / "r", **change}
    with pytest.raises(runs.RunError, match=line):
        duologue.simulate(call.pop("talk"), scenarios[: call.pop("scenarios", 3)], **call)


def test_a_folder_with_other_files_is_refused_and_one_that_is_being_written(tmp_path, topics):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(runs.RunError, match="holds other files and no run"):
        duologue.simulate(simquac.cast(), simquac.scenarios(topics(1)), limits=LIMITS, out=tmp_path)

    with (
        runs.store.RunFolder.open(tmp_path / "r", manifest_of(topics)),
        pytest.raises(runs.RunError, match="another run is writing there"),
    ):
        duologue.simulate(simquac.cast(), simquac.scenarios(topics(1)), limits=LIMITS, out=tmp_path / "r")


def manifest_of(topics):
    plan = runs.planned(simquac.cast(), simquac.scenarios(topics(1)))
    return runs.store.manifest_of({"": simquac.cast()}, plan, LIMITS.or_else(simquac.cast().limits))


@pytest.mark.parametrize("cut", [1, 30, 400])
def test_a_torn_line_is_owed_again(tmp_path, topics, cut):
    scenarios, call = simquac.scenarios(topics(3)), {"limits": LIMITS, "out": tmp_path / "r", "concurrency": 1}
    whole = duologue.simulate(simquac.cast(), scenarios, **call)
    file = tmp_path / "r" / "conversations.jsonl"
    os.truncate(file, file.stat().st_size - cut)
    assert len(duologue.load(tmp_path / "r")) == 2
    assert texts(duologue.simulate(simquac.cast(), scenarios, **call)) == texts(whole)
    assert len(file.read_text().splitlines()) == 3


def test_a_line_that_cannot_be_read_is_named_and_simulated_again(tmp_path, topics):
    scenarios, call = simquac.scenarios(topics(3)), {"limits": LIMITS, "out": tmp_path / "r", "concurrency": 1}
    whole = duologue.simulate(simquac.cast(), scenarios, **call)
    file = tmp_path / "r" / "conversations.jsonl"
    lines = file.read_text().splitlines()
    file.write_text("\n".join([lines[0], "{broken", lines[2]]) + "\n")
    assert "line 2" in duologue.load(tmp_path / "r").broken[0]
    assert texts(duologue.simulate(simquac.cast(), scenarios, **call)) == texts(whole)


def test_a_failed_conversation_is_simulated_again_and_the_last_line_counts(tmp_path, topics):
    fails = [True]

    async def assistant(state, runtime):
        if fails[0]:
            raise ValueError("away")
        return {"drafts": [{"text": "Three keepers lived there."}]}

    cast, scenarios = simquac.cast().replace(assistant=assistant), simquac.scenarios(topics(2))
    first = duologue.simulate(cast, scenarios, limits=LIMITS, out=tmp_path / "r")
    assert [one.stop for one in first] == ["model_failed"] * 2
    assert standing(tmp_path / "r").failed.keys() == {one.id for one in first}
    fails[0] = False
    second = duologue.simulate(cast, scenarios, limits=LIMITS, out=tmp_path / "r")
    assert [one.stop for one in second] == ["max_turns"] * 2
    assert standing(tmp_path / "r").complete
    assert len((tmp_path / "r" / "conversations.jsonl").read_text().splitlines()) == 4


def test_a_full_disk_ends_the_run_with_one_line_and_loses_nothing_that_was_finished(tmp_path, topics, monkeypatch):
    scenarios, written = simquac.scenarios(topics(4)), []
    write = os.write

    def full(handle, content):
        if b'"scenario"' in bytes(content[:4000]):
            written.append(content)
            if len(written) == 3:
                write(handle, content[:50])
                raise OSError(28, "No space left on device")
        return write(handle, content)

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(runs.RunError, match="No space left on device"):
        duologue.simulate(simquac.cast(), scenarios, limits=LIMITS, out=tmp_path / "r", concurrency=1)
    monkeypatch.undo()
    assert len(duologue.load(tmp_path / "r")) == 2
    assert len(duologue.simulate(simquac.cast(), scenarios, limits=LIMITS, out=tmp_path / "r")) == 4


def test_shards_are_put_together_in_the_order_of_the_whole_plan(tmp_path, topics):
    scenarios, call = simquac.scenarios(topics()), {"limits": LIMITS}
    whole = duologue.simulate(simquac.cast(), scenarios, **call, out=tmp_path / "whole")
    parts = [tmp_path / f"part{number}" for number in (1, 2)]
    for number, part in enumerate(parts, start=1):
        assert len(duologue.simulate(simquac.cast(), scenarios, **call, out=part, shard=f"{number}/2")) == 3
    assert runs.put_together(parts, tmp_path / "all") == 6
    assert texts(duologue.load(tmp_path / "all")) == texts(whole)
    again = duologue.simulate(simquac.cast(), scenarios, **call, out=tmp_path / "all")
    assert texts(again) == texts(whole)
    assert len((tmp_path / "all" / "conversations.jsonl").read_text().splitlines()) == 6
    with pytest.raises(runs.RunError, match="give each shard once"):
        runs.put_together([parts[0], parts[0]], tmp_path / "twice")


def test_two_versions_are_one_plan_in_one_folder_and_a_stored_run_is_only_read(tmp_path):
    def good(messages):
        return "It is booked."

    def old(messages):
        return "For when?"

    folder = tmp_path / "r"
    result = duologue.test(good, [GOAL], repeats=2, against=old, out=folder)
    assert [(one.old, one.new) for one in result.against.tested] == [(False, True)] * 2
    lines = [json.loads(line) for line in (folder / "conversations.jsonl").read_text().splitlines()]
    assert sorted((line["id"], line.get("version", "")) for line in lines) == sorted(
        (record.id, version) for record in result.records for version in ("", "against")
    )
    assert duologue.load(folder).conversations == result.records
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    stored = duologue.test(old, [GOAL], repeats=2, against=folder)
    assert [(one.old, one.new) for one in stored.against.tested] == [(True, False)] * 2
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    with pytest.raises(runs.RunError, match=r"has the versions \['against'\], now it is \[\]"):
        duologue.test(good, [GOAL], repeats=2, out=folder)
    with pytest.raises(duologue.errors.SettingError, match=r"limits\.seed = 0, the other has 1"):
        duologue.test(good, [GOAL], repeats=2, seed=1, against=folder)


def test_runs_with_other_scenarios_are_compared_where_both_planned(topics):
    plans = [runs.planned(simquac.cast(), simquac.scenarios(topics(count))) for count in (2, 3)]
    old, new = (runs.store.manifest_of({"": simquac.cast()}, plan, LIMITS) for plan in plans)
    both = comparable(old, new, "old")
    assert (len(both.planned), len(both.notes)) == (2, 1)


def test_the_data_set_and_its_card_are_written_where_one_asks(tmp_path, topics):
    done = duologue.simulate(simquac.cast(), simquac.scenarios(topics(2)), limits=LIMITS, out=tmp_path / "r")
    path, left_out = runs.write_dataset(tmp_path / "r", folder=tmp_path / "set")
    assert (path, left_out) == (tmp_path / "set" / "simquac.json", [])
    duologue.data.simquac.write(done, tmp_path / "own.json")
    assert path.read_bytes() == (tmp_path / "own.json").read_bytes()
    card = (tmp_path / "set" / "README.md").read_text()
    assert "**These conversations are simulated.** No person wrote the messages." in card
    assert "come from a **rule-based baseline**" in card
    assert "| conversations | 2 of 2 planned |" in card
    assert runs.write_dataset(tmp_path / "r", "messages")[0] == tmp_path / "r" / "dataset" / "conversations.jsonl"
    with pytest.raises(duologue.errors.SettingError, match="'sheets' is not a format to write"):
        runs.write_dataset(tmp_path / "r", "sheets")


def test_the_manifest_holds_what_matters_for_going_on(tmp_path, topics):
    duologue.simulate(
        simquac.cast(), simquac.scenarios(topics(1)), limits=LIMITS, out=tmp_path / "r", max_tokens=10_000
    )
    manifest = stored_manifest(tmp_path / "r")
    assert manifest["settings"]["limits"] == LIMITS.or_else(simquac.cast().limits).plain()
    assert manifest["cast"]["cast"] == "simquac"
    assert manifest["pages"].keys() == manifest["settings"]["prompts"].keys()
    assert "10000" not in (tmp_path / "r" / "manifest.json").read_text()
    assert isinstance(data.record_lines.StoredRun(tmp_path / "r").planned, list)
