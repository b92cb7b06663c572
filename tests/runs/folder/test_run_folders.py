"""Run folders: resumable after any death, of one run alone, and told by a manifest and a card."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time

import pytest

import duologue
from duologue import data, runs
from duologue.graphs import simquac
from duologue.nodes import Limits, validator
from duologue.nodes.replies import draft
from duologue.runs.folder import manifests


def broken_teacher(*broken):
    async def speak(state, runtime):
        if state["scenario"]["title"] in broken:
            raise RuntimeError("no line")
        return {"drafts": [draft(state["scenario"]["section"].split(".")[0])]}

    return simquac.cast().replace(assistant=speak)


def test_one_failing_conversation_does_not_stop_the_others_and_is_tried_again(tmp_path, topics, lines):
    scenarios = simquac.scenarios(topics())
    cast, out = broken_teacher("Place 2"), tmp_path / "run"
    conversations = duologue.simulate(cast, scenarios, out=out, limits=Limits(max_turns=2))
    assert [c.stop for c in conversations] == ["max_turns"] * 2 + ["model_failed"] + ["max_turns"] * 3
    assert len(lines(out)) == 5
    (failure,) = data.record_lines.read(out / "failures.jsonl")
    assert (failure.scenario["title"], failure.stop) == ("Place 2", "model_failed")
    assert len(json.loads((out / "dataset/simquac.json").read_text())["data"][0]["paragraphs"]) == 5

    before = (out / "conversations.jsonl").read_bytes().splitlines()
    again = duologue.simulate(broken_teacher(), scenarios, out=out, limits=Limits(max_turns=2), resume=True)
    after = (out / "conversations.jsonl").read_bytes().splitlines()
    assert (after[:2], after[3:]) == (before[:2], before[2:])  # the plan's order
    assert [c.stop for c in again] == ["max_turns"] * 6
    written = json.loads((out / "dataset/simquac.json").read_text())["data"][0]["paragraphs"]
    assert [p["title"] for p in written] == [f"Place {n}" for n in range(6)]


def test_a_finished_run_has_nothing_left_to_do(tmp_path, topics):
    scenarios = simquac.scenarios(topics(2))
    calls = []

    async def counted(state, runtime):
        calls.append(1)
        return {"drafts": [draft("Who?")]}

    cast = simquac.cast().replace(user_simulator=counted)
    first = duologue.simulate(cast, scenarios, out=tmp_path / "r", limits=Limits(max_turns=1))
    again = duologue.simulate(cast, scenarios, out=tmp_path / "r", limits=Limits(max_turns=1), resume=True)
    assert len(calls) == 2
    assert first == again


def test_resuming_into_a_new_or_empty_folder_begins(tmp_path, topics):
    (tmp_path / "empty").mkdir()
    for name in ("new", "empty"):
        conversations = duologue.simulate(
            simquac.cast(), simquac.scenarios(topics(1)), out=tmp_path / name, limits=Limits(max_turns=1), resume=True
        )
        assert len(conversations) == 1


def test_a_longer_list_of_topics_continues_the_run(tmp_path, topics, lines):
    for count in (2, 4):
        conversations = duologue.simulate(
            simquac.cast(),
            simquac.scenarios(topics(count)),
            out=tmp_path / "r",
            limits=Limits(max_turns=1),
            resume=True,
        )
    assert len(conversations) == len(lines(tmp_path / "r")) == 4
    titles = [c.scenario["title"] for c in data.load(tmp_path / "r")]
    assert titles == [f"Place {n}" for n in range(4)]
    sources = json.loads((tmp_path / "r/manifest.json").read_text())["data"]
    assert [source["scenarios"] for source in sources] == [2, 4]


def test_a_half_written_line_is_dropped_and_simulated_again(tmp_path, topics, lines):
    scenarios, out = simquac.scenarios(topics(3)), tmp_path / "r"
    duologue.simulate(simquac.cast(), scenarios, out=out, limits=Limits(max_turns=1))
    whole = lines(out)
    path = out / "conversations.jsonl"
    path.write_bytes(path.read_bytes()[:-30])
    summary = asyncio.run(runs.arun(simquac.cast(), scenarios, out, limits=Limits(max_turns=1), resume=True))
    assert "last line was cut off" in summary.notes[0]
    assert lines(out) == whole
    assert summary.complete


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"limits": Limits(max_turns=1, seed=9)}, r"its run had limits.seed = 0, now it is 9"),
        (
            {"cast": simquac.cast(assistant="offline?empty=0.5")},
            r"nodes.assistant.model.arguments.empty = null, now it is 0.5",
        ),
    ],
)
def test_another_run_is_not_continued(tmp_path, change, error, topics):
    plain = {"cast": simquac.cast(), "limits": Limits(max_turns=1)}
    scenarios = simquac.scenarios(topics(1))
    for settings in (plain, plain | change):
        call = {"out": tmp_path / "r", "limits": settings["limits"], "resume": True}
        if settings is plain:
            duologue.simulate(settings["cast"], scenarios, **call)
        else:
            with pytest.raises(runs.RunError, match=error):
                duologue.simulate(settings["cast"], scenarios, **call)


def test_a_validator_in_a_list_whose_source_has_changed_is_named(tmp_path):
    def manifest(source):
        every = [{"name": "not_empty"}, {"name": "JudgedBy", "judge": {"name": "polite", "source": source}}]
        return {"settings": {"nodes": {"answer_validator": {"name": "Every", "every": every}}}, "planned": []}

    line = r"the source of polite \(nodes.answer_validator.every.1.judge\) has changed since its run began"
    with pytest.raises(runs.RunError, match=line):
        manifests.same_run(tmp_path, manifest("12"), manifest("34"))
    manifests.same_run(tmp_path, manifest("12"), manifest("12"))


def test_a_conversation_that_a_limit_of_tokens_ended_is_simulated_again_with_a_higher_one(tmp_path, topics, lines):
    scenarios = simquac.scenarios(topics(2))

    def run(out, max_tokens):
        limits = Limits(max_turns=2, max_tokens=max_tokens)
        return duologue.simulate(simquac.cast(), scenarios, out=tmp_path / out, limits=limits, resume=True)

    assert [c.stop for c in run("cut", 30)] == ["budget"] * 2
    before = (tmp_path / "cut/conversations.jsonl").read_bytes()
    run("cut", 30)
    assert (tmp_path / "cut/conversations.jsonl").read_bytes() == before
    with pytest.raises(runs.RunError, match=r"limits.max_tokens = 30, now it is 20: it may only be raised"):
        run("cut", 20)
    assert [c.stop for c in run("cut", None)] == ["max_turns"] * 2
    run("whole", None)
    assert lines(tmp_path / "cut") == lines(tmp_path / "whole")
    written = [(tmp_path / out / "dataset/simquac.json").read_bytes() for out in ("cut", "whole")]
    assert written[0] == written[1]
    with pytest.raises(runs.RunError, match=r"limits.max_tokens = null, now it is 90"):
        run("whole", 90)


def test_foreign_finished_and_unwritable_folders_are_refused(tmp_path, topics):
    scenarios = simquac.scenarios(topics(1))

    def run(out, **more):
        duologue.simulate(simquac.cast(), scenarios, out=out, limits=Limits(max_turns=1), **more)

    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "thesis.tex").write_text("x")
    for resume in (False, True):
        with pytest.raises(runs.RunError, match="foreign: holds other files and no run"):
            run(tmp_path / "foreign", resume=resume)
    run(tmp_path / "done")
    with pytest.raises(runs.RunError, match="done: holds a run already: continue it with --resume"):
        run(tmp_path / "done")
    (tmp_path / "file").write_text("x")
    with pytest.raises(runs.RunError, match="file: is a file"):
        run(tmp_path / "file")
    with pytest.raises(runs.RunError, match="cannot be made"):
        run(tmp_path / "file" / "below")
    assert sorted(p.name for p in (tmp_path / "foreign").iterdir()) == ["thesis.tex"]


def test_two_runs_cannot_write_in_one_folder(tmp_path, topics):
    cast, plan = simquac.cast(), runs.planned(simquac.cast(), simquac.scenarios(topics(1)))
    from duologue.runs.folder import manifests

    manifest = manifests.of_run(cast, plan, Limits(max_turns=1))
    with (
        runs.RunFolder.open(tmp_path / "r", manifest, resume=False),
        pytest.raises(runs.RunError, match="another run is writing there"),
    ):
        runs.RunFolder.open(tmp_path / "r", manifest, resume=True)


async def test_a_cancelled_run_writes_down_what_it_has(tmp_path, topics, lines):
    async def slow(state, runtime):
        if state["scenario"]["title"] != "Place 0":
            await asyncio.sleep(30)
        return {"drafts": [draft("Who lived there?")]}

    cast = simquac.cast().replace(user_simulator=slow)
    task = asyncio.create_task(
        duologue.asimulate(cast, simquac.scenarios(topics(3)), out=tmp_path / "r", limits=Limits(max_turns=1))
    )
    while not (tmp_path / "r/conversations.jsonl").exists() or not lines(tmp_path / "r"):
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(lines(tmp_path / "r")) == 1
    assert {c.stop for c in data.record_lines.read(tmp_path / "r/failures.jsonl")} == {"cancelled"}
    assert len(json.loads((tmp_path / "r/dataset/simquac.json").read_text())["data"][0]["paragraphs"]) == 1


def test_a_folder_that_a_run_left_before_its_manifest_is_taken(tmp_path, topics):
    (tmp_path / "r").mkdir()
    for name in ("conversations.jsonl", "failures.jsonl", ".manifest.json.7.partial"):
        (tmp_path / "r" / name).touch()
    assert len(duologue.simulate(simquac.cast(), simquac.scenarios(topics(1)), out=tmp_path / "r", resume=True)) == 1


@pytest.mark.parametrize("broken", ["{}", '{"settings": {}, "planned": []}', "[]"])
def test_a_manifest_that_is_none_is_named(tmp_path, broken, topics):
    (tmp_path / "r").mkdir()
    (tmp_path / "r/manifest.json").write_text(broken)
    with pytest.raises(runs.RunError, match=r"manifest.json: is not a manifest of a run"):
        duologue.simulate(simquac.cast(), simquac.scenarios(topics(1)), out=tmp_path / "r", resume=True)


def test_other_topics_do_not_join_a_run(tmp_path, topics):
    duologue.simulate(simquac.cast(), simquac.scenarios(topics(3)), out=tmp_path / "r", limits=Limits(max_turns=1))
    other = simquac.scenarios(topics(4)[3:])
    with pytest.raises(runs.RunError, match="planned 3 conversations, and 3 of these are missing now"):
        duologue.simulate(simquac.cast(), other, out=tmp_path / "r", limits=Limits(max_turns=1), resume=True)


def test_a_changed_function_is_another_run(tmp_path, topics):
    scenarios = simquac.scenarios(topics(1))

    def one(draft, state):
        return None

    def other(draft, state):
        return "never"

    for judge, fits in ((one, True), (one, True), (other, False)):
        cast = simquac.cast().replace(question_validator=validator(judge))
        if fits:
            duologue.simulate(cast, scenarios, out=tmp_path / "r", limits=Limits(max_turns=1), resume=True)
        else:
            with pytest.raises(runs.RunError, match="question_validator"):
                duologue.simulate(cast, scenarios, out=tmp_path / "r", limits=Limits(max_turns=1), resume=True)


def test_the_pages_of_a_run_are_kept_with_it(tmp_path, topics):
    cast = simquac.cast()
    duologue.simulate(cast, simquac.scenarios(topics(1)), out=tmp_path / "r", limits=Limits(max_turns=1))
    pages = json.loads((tmp_path / "r/prompts.json").read_text())
    assert pages == {name: page.source for name, page in cast.prompts.pages.items()}


def test_the_manifest_tells_the_whole_run(tmp_path, topics):
    duologue.simulate(
        simquac.cast(),
        simquac.scenarios([*topics(2), topics(1)[0]]),
        out=tmp_path / "r",
        limits=Limits(max_turns=1, seed=3),
    )
    manifest = json.loads((tmp_path / "r/manifest.json").read_text())
    assert manifest["settings"]["cast"] == "simquac"
    assert manifest["settings"]["limits"]["seed"] == 3
    assert manifest["settings"]["nodes"]["assistant"]["model"]["spec"] == "offline"
    assert len(manifest["settings"]["prompts"]) > 15
    (source,) = manifest["data"]
    assert (source["scenarios"], source["equal"]) == (2, 1)
    assert len(manifest["planned"]) == 3
    assert manifest["schema_version"] == 2
    assert str(tmp_path) not in json.dumps(manifest)


def test_the_card_says_that_it_is_simulated_and_by_what(tmp_path, topics):
    duologue.simulate(simquac.cast(), simquac.scenarios(topics(2)), out=tmp_path / "r", limits=Limits(max_turns=1))
    card = (tmp_path / "r/dataset/README.md").read_text()
    assert "These conversations are simulated" in card
    assert "rule-based baseline" in card
    assert "| seed | 0 |" in card
    assert "CC BY-SA 4.0" in card
    assert "`user/guide_other`" in card


COMMAND = [sys.executable, "-m", "duologue.cli", "simulate", "simquac", "--assistant", "offline?misbehave=0.3"]


def command(cwd, *more, hash_seed="0", **options):
    env = os.environ | {"PYTHONHASHSEED": hash_seed}
    return subprocess.Popen(
        [*COMMAND, *more], cwd=cwd, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options
    )


@pytest.mark.heavy
def test_a_run_that_was_killed_and_interrupted_is_resumed_to_the_same_bytes(tmp_path, lines):
    """In other processes, each with another hash seed and concurrency."""
    # So many that neither victim can be through before it is killed, however busy the machine is.
    more = ["--repeats", "12", "--max-turns", "3"]
    whole = command(tmp_path, *more, "--out", "whole", hash_seed="1")
    path, survived = tmp_path / "killed/conversations.jsonl", 0
    for number, death in enumerate((signal.SIGKILL, signal.SIGINT)):
        resuming = ["--resume"] if number else []
        victim = command(
            tmp_path, *more, "--out", "killed", "--concurrency", f"{number + 3}", *resuming, hash_seed=f"{number + 2}"
        )
        while not path.exists() or path.read_bytes().count(b"\n") < survived + 5:
            assert victim.poll() is None, victim.communicate()
            time.sleep(0.01)
        victim.send_signal(death)
        _, stderr = victim.communicate(timeout=900)
        before, survived = survived, path.read_bytes().count(b"\n")
        assert before + 5 <= survived < 84, death
        assert b"Traceback" not in stderr
        if death != signal.SIGKILL:
            assert victim.returncode == 130
            stops = {c.stop for c in data.record_lines.read(tmp_path / "killed/failures.jsonl")}
            assert stops == {"cancelled"}
    resumed = command(tmp_path, *more, "--out", "killed", "--concurrency", "11", "--resume", hash_seed="4")
    for process in (whole, resumed):
        _, stderr = process.communicate(timeout=900)
        assert process.returncode == 0, stderr
    assert lines(tmp_path / "whole") == lines(tmp_path / "killed")
    assert len(lines(tmp_path / "whole")) == 84
    one, other = (tmp_path / name / "dataset/simquac.json" for name in ("whole", "killed"))
    assert one.read_bytes() == other.read_bytes()
