"""Runs of any length: what reads one holds few of its conversations at a time, or says that it cannot."""

import json
import weakref
from pathlib import Path

import pytest

from duologue import data
from duologue.cli import show
from duologue.cli.output import tables
from duologue.data import Conversation, loading
from duologue.studies.sources import of_drawn_users

COUNT = 40
FEW = 4
"""Most conversations that a command may hold at a time, whatever the length of the run."""


@pytest.fixture
def long_run(duologue, tmp_path):
    """A run of many conversations, with one of another run and one that comes twice."""
    duologue("simulate", "simquac", "--limit", 1, "--max-turns", 1, "--out", "r")
    (one,) = data.record_lines.read(tmp_path / "r/conversations.jsonl")
    names = [f"{number:03}" for number in range(COUNT)]
    one = one.model_copy(update={"labels": {"good": "yes"}})
    conversations = [one.model_copy(update={"id": name}) for name in (*reversed(names), "other", names[0])]
    data.record_lines.write(conversations, tmp_path / "r/conversations.jsonl")
    manifest = data.load("r").manifest | {"planned": names}
    (tmp_path / "r/manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    return names


class Whole:
    """Lives as long as any part of a conversation."""


@pytest.fixture
def most_alive(monkeypatch):
    """A function that gives of how many conversations that were read any part was alive at the same time."""
    alive, most = 0, 0

    def over():
        nonlocal alive
        alive -= 1

    def counting(read):
        def counted(value):
            nonlocal alive, most
            conversation = read(value)
            alive += 1
            most = max(most, alive)
            whole = Whole()
            weakref.finalize(whole, over)
            for part in (conversation, *conversation.messages):  # who holds a message holds its drafts
                weakref.finalize(part, id, whole)
            return conversation

        return counted

    for reader in ("from_plain", "model_validate_json"):
        monkeypatch.setattr(Conversation, reader, counting(getattr(Conversation, reader)))
    return lambda: most


@pytest.fixture(autouse=True)
def _few_are_held(monkeypatch):
    monkeypatch.setattr(loading, "IN_MEMORY", 2)


def held(path):
    """The conversations of a source that are all in memory."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loading, "IN_MEMORY", COUNT)
        return data.load(path)


def test_a_streamed_run_is_the_loaded_one(long_run):
    stored, loaded = data.load("r"), held("r")
    assert list(stored) == list(loaded) == list(stored.conversations[:])
    assert [conversation.id for conversation in stored] == long_run
    assert stored.conversations[-1] == loaded.conversations[-1]
    assert (len(stored), stored.notes, stored.broken) == (COUNT, loaded.notes, loaded.broken)
    assert (stored.kind, stored.manifest) == (loaded.kind, loaded.manifest)
    assert "'other' is not in the plan" in stored.notes[0]


def test_a_streamed_run_is_broken_like_the_loaded_one(long_run, tmp_path):
    with (tmp_path / "r/conversations.jsonl").open("a") as file:
        file.write("{}\n")
    (tmp_path / "r/manifest.json").write_text('{"planned": ["000", "not there"]}', encoding="utf-8")
    stored, loaded = data.load("r"), held("r")
    assert stored.broken == loaded.broken != ()
    assert stored.notes == loaded.notes


def test_other_sources_are_held_as_ever(long_run):
    data.record_lines.write(data.load("r"), "records.jsonl")
    assert list(data.load("records.jsonl")) == list(held("records.jsonl"))


@pytest.mark.parametrize(
    "command",
    [
        ("check", "r"),
        ("convert", "r", "out.jsonl", "--to", "messages"),
        ("convert", "r", "out.json", "--to", "simquac"),
        ("convert", "r", "out.jsonl", "--to", "replay"),
        ("show", "r", "--id", "007"),
        ("show", "r", "--limit", 2),
        ("runs", "list", "r"),
    ],
    ids=lambda command: " ".join(map(str, command)),
)
def test_a_command_holds_few_conversations_of_a_run(command, duologue, long_run, most_alive):
    duologue(*command)
    assert most_alive() <= FEW


def test_a_comparison_holds_only_the_users_that_are_drawn(duologue, long_run, most_alive, tmp_path):
    lines = [json.loads(line) for line in (tmp_path / "r/conversations.jsonl").read_text().splitlines()]
    lines = [line for line in lines if line["id"] != "other"]
    for line in lines:
        line["scenario"]["tag"] = str(int(line["id"]) % 20)  # users of two conversations
    (tmp_path / "r/conversations.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    drawn, remark = of_drawn_users(data.load("r"), 7, 0, lambda _: None)
    assert most_alive() <= 6 + FEW
    ids = {one.id for one in drawn}
    assert len(ids) == 6
    assert {str((int(name) + 20) % COUNT).zfill(3) for name in ids} == ids, "whole users"
    assert remark.startswith("6 of 40 conversations are taken, those of 3 of 20 users, drawn with seed 0: at most 7")
    again, other = (of_drawn_users(data.load("r"), 7, seed, lambda _: None)[0] for seed in (0, 1))
    assert {one.id for one in again} == ids != {one.id for one in other}
    assert len(of_drawn_users(data.load("r"), 1, 0, lambda _: None)[0]) == 1, "also of one user"
    whole, remark = of_drawn_users(data.load("r"), COUNT, 0)
    assert ([one.id for one in whole], remark) == (long_run, "")


def test_a_run_that_is_read_source_is_seen_by_that_count(long_run, most_alive):
    assert len(held("r").conversations) == COUNT
    assert most_alive() >= COUNT


def test_the_findings_of_a_run_are_counted_and_the_first_ones_shown(duologue, long_run):
    records = [
        conversation.model_copy(update={"messages": conversation.messages[:1] * 2}) for conversation in data.load("r")
    ]
    data.record_lines.write(records, "r/conversations.jsonl")
    whole = data.checks.check(records)
    code, shown, err = duologue("check", "r", "--limit", 3)
    assert f"... and {len(whole) - 3} more" in err
    assert shown.startswith(f"000 {whole[0].role} {whole[0].message}: {whole[0].rule}")
    assert code == any(finding.level == "error" for finding in whole)


def test_a_list_that_no_browser_bears_is_refused_before_the_run_is_read(duologue, long_run, most_alive, monkeypatch):
    for most in ("LISTED", "PAIRED"):
        monkeypatch.setattr(show, most, COUNT - 1)
    for command in (("show", "r"), ("show", "r", "--beside", "r")):
        code, shown, err = duologue(*command)
        assert (code, shown, err.count("\n")) == (2, "", 1)
        assert f"r: has more than {COUNT - 1} conversations" in err
        assert f"--limit {COUNT - 1}" in err
    assert most_alive() == 0
    assert duologue("show", "r", "--limit", COUNT)[0] == 2


def test_the_first_conversations_of_a_run_become_a_page(duologue, long_run, tmp_path):
    assert duologue("show", "r", "--limit", 2)[:2] == (0, "r.html\n")
    page = (tmp_path / "r.html").read_text()
    assert page.count('data-stop="max_turns"') == 2


def test_what_holds_a_whole_source_says_for_a_large_one_how_much_memory_that_takes(duologue, long_run, monkeypatch):
    duologue("convert", "r", "as.json", "--to", "simquac")
    words = ("papers", "simquac", "teacher")
    assert "held in memory" not in duologue(*words, "as.json")[2]
    monkeypatch.setattr(tables, "LARGE", 1000)
    size = Path("as.json").stat().st_size
    assert f"as.json: {size / 1e9:.1f} GB of conversations are held in memory: about" in duologue(*words, "as.json")[2]
    assert "held in memory" not in duologue(*words, "r")[2]
