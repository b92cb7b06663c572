"""A link in a folder that is written to leads nowhere: nothing outside is written, removed or copied in."""

import os
from pathlib import Path

import pytest

from duologue.data.files.json import write_text
from duologue.runs.journals.journal import AppendedFile, RunError

NAMES = (
    "conversations.jsonl",
    "failures.jsonl",
    "calls.jsonl",
    "calls.w1.jsonl",
    "conversations.w1.jsonl",
    "manifest.json",
    "dataset",
)
SIMULATE = ("simulate", "simquac", "--limit", "1", "--max-turns", "1", "--out", "run")


@pytest.fixture
def outside(tmp_path):
    """A file and a folder of somebody else, beside the run."""
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "page.html").write_text("theirs")
    (tmp_path / "theirs.jsonl").write_text('{"their": "own"}\n')
    return tmp_path


def content(folder):
    """What lies in a folder, the run aside."""
    paths = (path for path in sorted(folder.rglob("*")) if "run" not in path.relative_to(folder).parts[:1])
    return {path: path.read_bytes() for path in paths if path.is_file()}


@pytest.mark.parametrize("name", NAMES)
def test_a_link_in_a_run_is_one_line_that_names_it_and_nothing_outside_changes(duologue, outside, name):
    assert duologue(*SIMULATE)[0] == 0
    path, target = Path("run", name), outside / ("other" if name == "dataset" else "theirs.jsonl")
    if path.is_dir():
        for file in sorted(path.rglob("*"), reverse=True):
            file.unlink()
        path.rmdir()
    path.unlink(missing_ok=True)
    path.symlink_to(target)
    before = content(outside)
    code, _, err = duologue(*SIMULATE, "--resume")
    assert code == 2
    assert err.count("\n") == 1
    assert f"run/{name}: is a link to {target}, and is not written through: remove it" in err
    assert content(outside) == before
    assert path.is_symlink()


def test_a_link_that_is_put_there_while_a_run_is_open_is_not_followed(tmp_path):
    Path("theirs").write_text("theirs")
    Path("link").symlink_to("theirs")
    with pytest.raises(RunError, match="link: is a link to theirs, and is not written through"):
        AppendedFile(Path("link"))
    Path(f".link.{os.getpid()}.partial").symlink_to("theirs")
    write_text("link", "ours")  # the new file takes the link's place
    assert (Path("theirs").read_text(), Path("link").read_text()) == ("theirs", "ours")


def test_pages_and_figures_are_not_written_through_a_link(duologue, outside, tmp_path):
    assert duologue("simulate", "simquac", "--limit", "3", "--max-turns", "1", "--out", "run")[0] == 0
    before = content(outside)
    Path("pages").mkdir()
    Path("pages", "index.html").symlink_to(outside / "theirs.jsonl")
    Path("figures").mkdir()
    Path("figures", "coverage.svg").symlink_to(outside / "theirs.jsonl")
    duologue("show", "run", "--out", "pages")
    duologue("papers", "simquac", "stats", "run", "--figures", "figures", "--force")
    assert {path: text for path, text in content(outside).items() if path in before} == before


def test_a_run_that_lies_behind_a_link_and_a_record_that_is_one_are_followed(duologue, outside):
    Path("disk").mkdir()
    Path("run").symlink_to("disk")
    Path("calls").symlink_to("disk/calls-of-mine.jsonl")
    assert duologue(*SIMULATE, "--record", "calls")[0] == 0
    assert Path("disk", "conversations.jsonl").is_file()
    assert Path("disk", "calls-of-mine.jsonl").is_file()
    assert Path("calls").is_symlink()
