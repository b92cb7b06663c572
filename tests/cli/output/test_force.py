"""What a command writes where the user says replaces nothing, unless the user says that too."""

import os

import pytest

from duologue import data
from duologue.data import Conversation, Message


@pytest.fixture
def talks(tmp_path):
    """A file of a few conversations."""
    messages = (Message(role="user", text="Who lived there?"), Message(role="assistant", text="Three keepers."))
    scenario = {
        "kind": "simquac",
        "title": "The pier",
        "background": "",
        "header": "Keepers",
        "section": "Three keepers. One left.",
    }
    conversations = [Conversation(id=f"{n}", scenario=scenario, messages=messages) for n in range(9)]
    data.record_lines.write(conversations, tmp_path / "talks.jsonl")
    return "talks.jsonl"


@pytest.mark.parametrize(
    ("arguments", "file"),
    [
        (("papers", "simquac", "stats", "talks.jsonl", "--json", "--out", "t.json"), "t.json"),
        (("papers", "simquac", "stats", "talks.jsonl", "--format", "md", "--out", "t.md"), "t.md"),
        (("compare", "talks.jsonl", "talks.jsonl", "--out", "c"), "c/report.json"),
    ],
)
@pytest.mark.usefixtures("talks")
def test_a_file_that_is_there_is_replaced_only_with_force(duologue, tmp_path, arguments, file):
    assert duologue(*arguments)[0] == 0
    (tmp_path / file).write_text("mine")
    code, out, err = duologue(*arguments)
    assert (code, out) == (2, "")
    assert err.splitlines()[-1].endswith(": exists: give --force to replace it, or another place")
    assert (tmp_path / file).read_text() == "mine"
    assert duologue(*arguments, "--force")[0] == 0
    assert (tmp_path / file).read_text() != "mine"


def test_of_several_tables_none_is_written_if_one_is_there(duologue, talks, tmp_path):
    arguments = ("papers", "simquac", "stats", talks, "--format", "csv", "--out", "tables")
    assert duologue(*arguments)[0] == 0
    first, *others = sorted((tmp_path / "tables").iterdir())
    for other in others:
        other.unlink()
    assert duologue(*arguments)[0] == 2
    assert list((tmp_path / "tables").iterdir()) == [first]
    assert duologue(*arguments, "--force")[0] == 0
    assert sorted((tmp_path / "tables").iterdir()) == [first, *others]


WRITING = [
    ("convert", "{source}", "{target}", "--to", "messages"),
    ("papers", "simquac", "stats", "{source}", "--json", "--out", "{target}"),
]


@pytest.mark.parametrize("arguments", WRITING)
def test_what_is_read_is_never_written_over_by_whatever_name(duologue, tmp_path, talks, arguments):
    before = (tmp_path / talks).read_bytes()
    (tmp_path / "soft.jsonl").symlink_to(tmp_path / talks)
    (tmp_path / "hard.jsonl").hardlink_to(tmp_path / talks)
    (tmp_path / "folder").mkdir()
    for target in (talks, f"./folder/../{talks}", "soft.jsonl", "hard.jsonl"):
        code, out, err = duologue(*(argument.format(source=talks, target=target) for argument in arguments), "--force")
        assert (code, out) == (2, "")
        assert err == f"duologue: {target.removeprefix('./')}: is the source itself: choose another place\n"
        assert (tmp_path / talks).read_bytes() == before


def test_a_run_that_is_read_keeps_its_files(duologue, tmp_path):
    assert duologue("simulate", "simquac", "--limit", 1, "--max-turns", 1, "--out", "run")[0] == 0
    before = {path: path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file()}
    for source in ("run", "run/conversations.jsonl"):
        for target in ("conversations.jsonl", "manifest.json", "replies.sqlite"):
            code, _, err = duologue("convert", source, f"run/{target}", "--to", "messages", "--force")
            assert (code, err.count("\n")) == (2, 1)
            assert ": is " in err
    assert {path: path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file()} == before
    assert duologue("convert", "run", "run/set.jsonl", "--to", "messages")[0] == 0
    assert duologue("convert", "run", "run/set.jsonl", "--to", "messages", "--force")[0] == 0


@pytest.mark.parametrize("force", [[], ["--force"]])
def test_a_pipe_or_a_device_is_never_replaced(duologue, talks, tmp_path, force):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "device").symlink_to("/dev/null")
    for name, kind in (("pipe", "a pipe"), ("device", "a device")):
        code, out, err = duologue("convert", talks, name, "--to", "messages", *force)
        assert (code, out) == (2, "")
        assert err.splitlines()[-1] == f"duologue: {name}: is {kind} and no file, and is not replaced: name a file"
    assert (tmp_path / "pipe").is_fifo()
    assert (tmp_path / "device").is_symlink()


def test_a_file_of_our_own_never_takes_the_place_of_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(data.DataError, match="pipe: is a pipe and no file"):
        data.record_lines.write([], tmp_path / "pipe")
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]
