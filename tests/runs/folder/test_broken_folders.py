"""Run folders that somebody or something damaged: what is lost is named and simulated again, nothing else is."""

import asyncio
import json
import pathlib
import shutil

import pytest

import duologue
from duologue import data, runs
from duologue.data.files.json import write_json
from duologue.graphs import simquac
from duologue.nodes import Limits
from duologue.nodes.replies import draft
from duologue.runs.folder import run_state as standing
from duologue.runs.folder import summary

LIMITS = Limits(max_turns=1)


@pytest.fixture
def simulated(tmp_path, topics):
    """A function that runs or resumes some topics; gives the summary and the topics that began."""

    def run(folder="r", count=4, *, fail=(), limits=LIMITS, resume=True):
        begun = []

        async def speak(state, runtime):
            begun.append(state["scenario"]["title"])
            if state["scenario"]["title"] in fail:
                raise RuntimeError("no line")
            return {"drafts": [draft("Who lived there?")]}

        cast = simquac.cast().replace(user_simulator=speak)
        scenarios = simquac.scenarios(topics(count))
        work = runs.arun(
            cast,
            scenarios,
            tmp_path / folder,
            limits=limits,
            resume=resume,
            concurrency=1,
        )
        return asyncio.run(work), begun

    return run


@pytest.fixture
def file(tmp_path):
    return tmp_path / "r/conversations.jsonl"


def changed(file, change):
    """Change the lines of a file, as bytes."""
    file.write_bytes(b"".join(change(file.read_bytes().splitlines(keepends=True))))


BROKEN = [b"{\n", b"[]\n", b"\xff\xfe\n", b'{"id": "x"}\n', b"\0\0\0\n", b"[" * 20_000 + b"\n", b'{"id": NaN}\n']


@pytest.mark.parametrize("bad", BROKEN)
def test_a_broken_line_in_the_middle_is_simulated_again_and_nothing_else(tmp_path, simulated, file, lines, bad):
    simulated()
    whole, dataset = lines(tmp_path / "r"), (tmp_path / "r/dataset/simquac.json").read_bytes()
    changed(file, lambda old: [old[0], bad, *old[2:]])
    summary, begun = simulated()
    assert (summary.complete, len(begun), summary.counts.conversations) == (True, 1, 4)
    assert summary.notes[0].startswith(f"{file}: line 2")
    assert summary.notes[1] == f"{file.parent}: 1 line is left out"
    assert (tmp_path / "r/dataset/simquac.json").read_bytes() == dataset
    assert {one.id for one in data.load(tmp_path / "r")} == set(whole)


def test_a_line_of_another_run_and_one_that_repeats_another_are_named_and_left_out(tmp_path, simulated, file, topics):
    simulated()
    simulated("other", limits=Limits(max_turns=1, seed=7))
    simulated("more", count=5)
    own = file.read_bytes().splitlines(keepends=True)
    altered = own[0].replace(b"Who lived there?", b"Who knows that?")
    other = (tmp_path / "other/conversations.jsonl").read_bytes().splitlines(keepends=True)
    more = (tmp_path / "more/conversations.jsonl").read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join([other[2], more[4], *own, altered, own[1]]))
    summary, begun = simulated()
    assert (summary.counts.conversations, summary.finished, begun) == (4, 4, [])
    notes = [note.removeprefix(f"{file}: ") for note in summary.notes]
    assert notes[0].endswith("is of another run: its seed is 7, not 0")
    assert notes[1].startswith("line 2: ")
    assert notes[1].endswith("is not in the plan of the run")
    assert notes[2].startswith("line 7: repeats")
    assert notes[3].startswith("line 8: repeats")
    assert "Who knows that?" not in (tmp_path / "r/dataset/simquac.json").read_text()
    assert "Who knows that?" not in "".join(map(str, data.load(tmp_path / "r")))


def test_what_a_run_simulated_again_counts_and_is_no_repetition(tmp_path, topics, lines):
    scenarios = simquac.scenarios(topics(2))
    for tokens in (30, None):
        limits = Limits(max_turns=2, max_tokens=tokens)
        duologue.simulate(simquac.cast(), scenarios, out=tmp_path / "r", limits=limits, resume=True)
    assert len((tmp_path / "r/conversations.jsonl").read_bytes().splitlines()) == 2
    assert {conversation.stop for conversation in data.load(tmp_path / "r")} == {"max_turns"}
    assert data.load(tmp_path / "r").notes == ()
    assert len(json.loads((tmp_path / "r/manifest.json").read_text())["again"]) == 2


def test_a_conversation_that_is_simulated_again_on_purpose_counts_although_it_had_ended(tmp_path, simulated, file):
    simulated()
    manifest = json.loads((tmp_path / "r/manifest.json").read_text())
    first = next(iter(data.load(tmp_path / "r")))
    other = first.model_copy(update={"labels": {"asked": "again"}})
    with runs.RunFolder.open(tmp_path / "r", manifest, resume=True) as folder:
        folder.simulate_again({first.id})
        folder.keep(other)
        assert next(folder.conversations()).labels == {"asked": "again"}
    assert data.load(tmp_path / "r").conversations[0].labels == {"asked": "again"}


@pytest.mark.parametrize("deed", ["remove the folder", "remove the file", "replace the file", "cut the file"])
def test_a_run_whose_file_is_gone_ends_at_once_and_writes_nothing(tmp_path, topics, file, deed):
    calls = []

    async def speak(state, runtime):
        calls.append(1)
        if len(calls) == 3:
            if deed == "remove the folder":
                shutil.rmtree(file.parent)
            elif deed == "remove the file":
                file.unlink()
            elif deed == "replace the file":
                shutil.copy(file, tmp_path / "copy")
                (tmp_path / "copy").replace(file)
            else:
                file.write_bytes(file.read_bytes()[:-5])
        return {"drafts": [draft("Who lived there?")]}

    cast = simquac.cast().replace(user_simulator=speak)
    with pytest.raises(runs.RunError, match=r"\.jsonl: was (removed|replaced|cut from \d+ to \d+ bytes) under"):
        duologue.simulate(cast, simquac.scenarios(topics()), out=tmp_path / "r", limits=LIMITS, concurrency=1)
    assert len(calls) == 3
    assert not (tmp_path / "r/dataset").exists()
    assert file.parent.exists() == (deed != "remove the folder")


def test_a_run_whose_file_is_gone_ends_amid_a_long_conversation(tmp_path, topics, file):
    calls = []

    async def speak(state, runtime):
        calls.append(1)
        if len(calls) == 5:
            file.unlink()
        await asyncio.sleep(0.02)
        return {"drafts": [draft(f"Who lived there in {1700 + len(calls)}?")]}

    cast = simquac.cast().replace(user_simulator=speak)
    limits = Limits(max_turns=1_000)
    with pytest.raises(runs.RunError, match=r"conversations\.jsonl: was removed under the run"):
        duologue.simulate(cast, simquac.scenarios(topics(1)), out=tmp_path / "r", limits=limits)
    assert len(calls) < 200  # looked at five times a second, about ten turns


def test_a_run_whose_folder_goes_after_its_last_conversation_is_not_told_as_finished(tmp_path, topics):
    def gone(conversation):
        shutil.rmtree(tmp_path / "r")

    work = runs.arun(simquac.cast(), simquac.scenarios(topics(1)), tmp_path / "r", limits=LIMITS, keep=gone)
    with pytest.raises(runs.RunError, match="was removed under the run"):
        asyncio.run(work)
    assert not (tmp_path / "r").exists()


FULL = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000))
sys.argv = ["duologue", "simulate", "simquac", "--max-turns", "2", "--out", "r"]
from duologue.cli import main
main()
"""


def test_a_full_disk_is_one_line_and_the_run_goes_on_when_there_is_room(forks, tmp_path):
    ended = forks.run("-c", FULL, cwd=tmp_path)
    assert ended.returncode == 1, ended.stderr
    last = ended.stderr.splitlines()[-1]
    assert (
        last
        == "duologue: r/conversations.jsonl: cannot be written (File too large): make room or mend the disk, then resume"
    )
    assert "Traceback" not in ended.stderr
    records = (tmp_path / "r/conversations.jsonl").read_bytes()
    assert records.endswith(b"\n")
    resume = ("simulate", "simquac", "--max-turns", "2", "--out", "r", "--resume")
    assert forks.run(*resume, cwd=tmp_path).returncode == 0
    assert set(records.splitlines()) <= set((tmp_path / "r/conversations.jsonl").read_bytes().splitlines())


def test_what_another_program_appends_does_not_join_a_line_of_the_run(tmp_path, topics, file):
    def append(conversation):
        with file.open("ab") as other:
            other.write(b"half a li")

    work = runs.arun(simquac.cast(), simquac.scenarios(topics(3)), tmp_path / "r", limits=LIMITS, keep=append)
    summary = asyncio.run(work)
    assert (summary.finished, summary.counts.conversations) == (3, 3)


def test_a_run_of_another_version_is_refused(tmp_path, simulated):
    simulated(count=2)
    manifest = tmp_path / "r/manifest.json"
    write_json(manifest, json.loads(manifest.read_text()) | {"version": "0.0.9"})
    with pytest.raises(runs.RunError, match=r"made with duologue 0\.0\.9, this is .* choose another folder"):
        simulated()


def test_a_bad_line_among_the_failures_spoils_nothing(tmp_path, simulated):
    simulated(fail=("Place 1",))
    failures = tmp_path / "r/failures.jsonl"
    failures.write_bytes(b"\xff\n[]\n" + failures.read_bytes())
    assert [one.scenario["title"] for one in data.record_lines.cut_short(tmp_path / "r")] == ["Place 1"]
    summary, begun = simulated()
    assert (summary.complete, begun, summary.notes) == (True, ["Place 1"], [])


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path, simulated, monkeypatch):
    (tmp_path / "r").mkdir()

    def refused(*arguments):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("os.open", refused)  # whoever runs the tests as root may write everywhere
    with pytest.raises(runs.RunError, match=r"^\S+: cannot be written \(Permission denied\): choose another folder$"):
        simulated()


@pytest.fixture
def empty(tmp_path, topics):
    """A run of which every conversation was cancelled."""

    async def cut(state, runtime):
        raise asyncio.CancelledError

    cast, scenarios = simquac.cast().replace(user_simulator=cut), simquac.scenarios(topics(2))
    asyncio.run(runs.arun(cast, scenarios, tmp_path / "r", limits=LIMITS))
    return tmp_path / "r"


def test_a_run_that_ended_before_any_conversation_did_writes_no_data_set_of_another_form(empty):
    summary.summarize(empty)
    assert sorted(path.name for path in (empty / "dataset").iterdir()) == ["README.md", "simquac.json"]
    shutil.rmtree(empty / "dataset")
    (empty / "failures.jsonl").write_bytes(b"")
    assert summary.summarize(empty).finished == 0  # and where nothing at all was begun, nothing is written
    assert not (empty / "dataset").exists()


PARTIAL = ("dataset/.simquac.json.4711.partial", ".conversations.jsonl.4711.partial", ".manifest.json.1.partial")


def test_what_a_killed_process_has_half_written_is_named_and_removed(tmp_path, simulated):
    simulated()
    for name in PARTIAL:
        (tmp_path / "r" / name).write_bytes(b"{")
    (tmp_path / "r/.page.html.4711.partial").write_bytes(b"<")  # of another command, which may be alive
    assert standing.standing(tmp_path / "r").data_set == "dataset: is half-written, by a process that was killed"
    simulated()
    assert not any((tmp_path / "r" / name).exists() for name in PARTIAL)
    assert (tmp_path / "r/.page.html.4711.partial").exists()


@pytest.mark.parametrize(
    ("deed", "line"),
    [
        (lambda there: shutil.rmtree(there), "dataset: is missing"),
        (lambda there: (there / "README.md").unlink(), "dataset: has no README.md, which is written last"),
        (
            lambda there: (there / "README.md").write_text("| conversations | 3 of 4 planned |\n"),
            "dataset: has 3 of 4 finished conversations",
        ),
    ],
)
def test_a_run_whose_data_set_lacks_something_is_not_called_complete(tmp_path, simulated, deed, line):
    simulated()
    assert standing.standing(tmp_path / "r").complete
    deed(tmp_path / "r/dataset")
    info = standing.standing(tmp_path / "r")
    again = "--resume writes the data set again"
    assert (info.complete, standing.status_lines(info)) == (False, [f"{line}: {again}"])
    simulated()
    assert standing.standing(tmp_path / "r").complete


def test_a_data_set_that_the_disk_does_not_take_ends_the_run_as_incomplete(tmp_path, simulated, monkeypatch):
    def full(place):
        if place.endswith(".partial") and "/dataset/" in place:
            raise OSError(28, "No space left on device")

    opened = pathlib.Path.open

    def open_(path, *arguments, **more):
        full(str(path))
        return opened(path, *arguments, **more)

    monkeypatch.setattr(pathlib.Path, "open", open_)
    with pytest.raises(
        runs.RunError, match=r"simquac\.json: cannot be written \(No space left on device\): .*resume"
    ) as raised:
        simulated()
    assert raised.value.exit_code == 1
    monkeypatch.undo()
    assert simulated()[1] == []


@pytest.mark.parametrize("broken", [None, b"{", b"[]", b"\xff", b'{"settings": {}, "planned": [1]}'])
def test_a_run_that_lost_its_manifest_is_read_and_written_no_more(tmp_path, simulated, lines, broken):
    simulated()
    manifest, before = tmp_path / "r" / "manifest.json", lines(tmp_path / "r")
    manifest.unlink() if broken is None else manifest.write_bytes(broken)
    with pytest.raises(runs.RunError):
        simulated(resume=True)
    assert lines(tmp_path / "r") == before
    assert len(data.load(tmp_path / "r" / "conversations.jsonl")) == len(before)
