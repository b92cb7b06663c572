"""What is in a run folder is read piece by piece, and the figures are those of the whole."""

import asyncio
import json

import pytest

from duologue import views
from duologue.analysis.growth import RunGrowth, groups_of_runs
from duologue.data import load
from duologue.data.formats.detection import CONVERSATIONS, MANIFEST
from duologue.data.summaries.executed_graph import executed


def looked(growth):
    """The growth after all that is there was read."""
    while growth.look():
        pass
    return growth


def figures(growth):
    share = growth.share
    return (
        growth.planned,
        growth.finished,
        growth.cut_short,
        growth.graph.graph,
        share and (share.successes, share.conversations),
        [(group.name, group.conversations, group.first) for group in groups_of_runs([growth])],
        [grown.conversation.id for grown in growth.newest],
    )


def test_a_folder_that_is_not_there_is_a_run_that_has_not_begun(tmp_path):
    growth = looked(RunGrowth(tmp_path / "later"))
    assert (growth.planned, growth.finished, growth.share, growth.has_ended) == (0, 0, None, False)


def test_a_run_that_was_read_piece_by_piece_has_the_figures_of_one_that_was_read_at_once(growing, finished):
    growth = RunGrowth(growing.path)
    looked(growth)
    growing.begin()
    for number in range(len(growing.lines)):
        looked(growth)
        assert growth.finished == number
        assert not growth.has_ended
        growing.grow()
    assert figures(looked(growth)) == figures(looked(RunGrowth(finished)))
    assert growth.has_ended
    assert growth.graph.graph == executed(load(finished))
    assert growth.share.successes == 8
    assert [group.conversations for group in groups_of_runs([growth])] == [4]


def test_a_look_reads_only_what_was_added(growing, monkeypatch):
    growing.begin()
    growing.grow(5)
    growth = looked(RunGrowth(growing.path))
    added = []
    monkeypatch.setattr(RunGrowth, "_add", lambda self, one: added.append(one.id))
    growing.grow(2)
    assert growth.look()
    assert len(added) == 2
    assert not growth.look()


def test_a_look_ends_in_time_and_the_next_one_goes_on(growing):
    growing.begin()
    growing.grow(7)
    growth = RunGrowth(growing.path)
    for number in range(1, 8):
        assert growth.look(seconds=0)
        assert growth.finished == number
    assert not growth.look(seconds=0)


def test_half_a_line_is_read_when_it_is_whole(growing):
    growing.begin()
    growth = looked(RunGrowth(growing.path))
    file = growing.path / CONVERSATIONS
    file.write_bytes(growing.lines[0][:100])
    assert looked(growth).finished == 0
    file.write_bytes(growing.lines[0])
    assert looked(growth).finished == 1


def test_files_of_several_processes_count_together_and_their_merging_changes_nothing(growing):
    growing.begin()
    growing.grow(1)
    growing.grow(2, "conversations.w-one.jsonl")
    growing.grow(3, "conversations.w-two.jsonl")
    growth = looked(RunGrowth(growing.path))
    assert growth.finished == 6
    for name in ("one", "two"):
        (growing.path / f"conversations.w-{name}.jsonl").unlink()
    merged = growing.path / "merged"
    merged.write_bytes(b"".join(growing.lines[:6]))
    merged.rename(growing.path / CONVERSATIONS)
    before = figures(growth)
    assert figures(looked(growth))[:-1] == before[:-1]
    growing.grow()
    assert looked(growth).finished == 7


def test_a_conversation_that_failed_and_is_finished_by_the_resumed_run_is_finished(growing):
    growing.begin()
    growing.cut_short()
    growth = looked(RunGrowth(growing.path))
    assert (growth.finished, growth.cut_short, growth.missing) == (0, 1, 11)
    assert growth.stops == {"model_failed": 1}
    assert growth.last_error == "<i>gone</i>"
    (growing.path / MANIFEST).write_text((growing.path / MANIFEST).read_text())  # as a resumed run does
    growing.grow()
    assert (looked(growth).finished, growth.cut_short, growth.missing) == (1, 0, 11)
    assert growth.last_error == ""


def test_a_conversation_with_calls_is_under_way_until_it_is_over(growing):
    growing.begin()
    name = json.loads(growing.lines[0])["id"]
    calls = growing.path / "calls.jsonl"
    line = json.dumps({"conversation": name, "subject": name, "role": "user"}) + "\n"
    calls.write_text('{"calls": 1}\n' + line * 2 + '{"conversation": "a \\"b", "message": "m"}\n{"conversation": "half')
    growth = looked(RunGrowth(growing.path))
    assert growth.under_way == 2
    growing.grow()
    assert looked(growth).under_way == 1
    with calls.open("a") as file:
        file.write(f"\n{line}")
    assert looked(growth).under_way == 1
    calls.unlink()  # a complete run removes it
    assert looked(growth).under_way == 1


def test_the_pace_is_that_of_the_last_minute_by_the_records(growing):
    growing.begin()
    growing.grow(12)
    ends = [json.loads(line)["timing"] for line in growing.lines]
    from datetime import datetime

    last = max(datetime.fromisoformat(timing["started"]).timestamp() + timing["seconds"] for timing in ends)
    assert looked(RunGrowth(growing.path, clock=lambda: last + 50)).a_minute >= 12
    assert looked(RunGrowth(growing.path, clock=lambda: last + 3600)).a_minute == 0


def test_only_the_newest_conversations_are_held(growing):
    growing.begin()
    growing.grow(12)
    growth = looked(RunGrowth(growing.path, newest=3))
    assert [grown.conversation.id for grown in growth.newest] == [json.loads(line)["id"] for line in growing.lines[-3:]]
    assert growth.conversation(json.loads(growing.lines[0])["id"]).scenario["title"].startswith("move")
    assert growth.conversation("another") is None


def test_a_conversation_that_is_simulated_again_counts_once_and_as_it_is_now(growing):
    growing.begin()
    growing.grow(3)
    manifest = json.loads((growing.path / MANIFEST).read_text())
    failed = next(line for line in map(json.loads, growing.lines) if not line["labels"]["scores"]["success"]["value"])
    changed = failed | {"id": json.loads(growing.lines[0])["id"]}
    (growing.path / MANIFEST).write_text(json.dumps(manifest | {"again": [changed["id"]]}))
    growth = looked(RunGrowth(growing.path))
    before = len(list(growth.failures))
    for line in (json.dumps(changed).encode() + b"\n", growing.lines[0], json.dumps(changed).encode() + b"\n"):
        with (growing.path / CONVERSATIONS).open("ab") as file:
            file.write(line)
        looked(growth)
        assert growth.finished == 3
        assert growth.graph.graph.conversations == 3
        assert growth.share.conversations == 3
        again = RunGrowth(growing.path)
        assert figures(looked(again))[:-1] == figures(growth)[:-1]
    assert len(list(growth.failures)) == before + 1


def test_nothing_is_written_into_the_run_folder(growing):
    growing.begin()
    growing.grow(4)

    def state():
        return {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in growing.path.iterdir()}

    before = state()
    growing.path.chmod(0o555)
    looked(RunGrowth(growing.path)).conversation(json.loads(growing.lines[0])["id"])
    growing.path.chmod(0o755)
    assert state() == before


@pytest.mark.heavy
async def test_outside_of_a_notebook_a_run_is_watched_by_its_progress_in_lines(growing, capsys):
    growing.begin()
    growing.grow(11)
    growing.cut_short()
    await views.watch(growing.path)
    assert capsys.readouterr().out == "growing: 11 of 12 finished, 1 failed or cut short\n"


async def test_a_run_is_watched_until_its_task_is_done(growing, capsys):
    async def run():
        growing.begin()
        for number in (2, 3):
            await asyncio.sleep(0.01)
            growing.grow(number)

    await views.watch([growing.path], until=asyncio.create_task(run()), every=0)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "growing: 0 of 0 finished"
    assert lines[-1] == "growing: 5 of 12 finished"
