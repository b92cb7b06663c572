"""`duologue runs list`: which runs there are, and how each stands."""

import json
import re
from pathlib import Path

import pytest

NAME_IT = ": name the folder: duologue runs list FOLDER"


@pytest.fixture
def run(duologue):
    duologue("simulate", "simquac", "--limit", 3, "--max-turns", 1, "--out", "out/one")
    return "out/one"


def test_runs_are_listed_with_what_they_planned_and_finished(duologue, run, tmp_path):
    duologue("simulate", "simquac", "--limit", 2, "--max-turns", 1, "--out", "out/two")
    lines = (tmp_path / "out/two/conversations.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "out/two/conversations.jsonl").write_text(lines[0] + "{\n")
    (tmp_path / "out/else").mkdir()
    code, out, err = duologue("runs", "list")
    one, two, missing = out.splitlines()
    assert (code, err) == (0, "")
    assert one.startswith("out/one: simquac, 3 of 3 finished, complete (the maximum number of turns was reached: 3), ")
    assert two.startswith("out/two: simquac, 1 of 2 finished, incomplete (")
    again = "its command with --out out/two --resume asks for it"
    assert missing == f"  was stopped, 1 conversation missing: {again}"
    document = json.loads(duologue("runs", "list", "out/two", run, "--json")[1])
    assert [row["path"] for row in document] == ["out/two", "out/one"]
    assert set(document[1]) >= {
        "cast",
        "planned",
        "finished",
        "failed",
        "stops",
        "bytes",
        "version",
        "date",
        "complete",
    }
    assert (document[1]["complete"], document[1]["stops"], document[1]["date"][:2]) == (True, {"max_turns": 3}, "20")


def test_without_a_run_none_is_listed_and_a_wrong_folder_is_named(duologue):
    assert duologue("runs", "list") == (0, "", f"no run in out or the working folder{NAME_IT}\n")
    assert json.loads(duologue("runs", "list", "--json")[1]) == []
    code, out, err = duologue("runs", "list", "nowhere")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "nowhere: " in err


def test_a_broken_line_of_a_run_that_is_whole_otherwise_is_told_by_each_command(duologue, run, tmp_path):
    file = tmp_path / run / "conversations.jsonl"
    file.write_bytes(b"{\n" + file.read_bytes() + b'{"id')
    for command in (("check", run), ("convert", run, "set.jsonl", "--to", "messages"), ("show", run)):
        code, _, err = duologue(*command)
        assert code == 0
        assert "line 1, column 2: is not JSON" in err


def test_a_run_that_misses_a_conversation_for_a_broken_line_is_read_with_exit_code_one(duologue, run, tmp_path):
    file = tmp_path / run / "conversations.jsonl"
    file.write_bytes(b"{" + file.read_bytes()[1:].replace(b"\n", b"", 1))
    for command in (("check", run), ("convert", run, "set.jsonl", "--to", "messages"), ("show", run)):
        code, _, err = duologue(*command)
        assert code == 1
        assert "conversations.jsonl: line 1" in err


def test_a_replay_that_does_not_match_is_one_line_with_a_count_and_the_first_difference(duologue, tmp_path):
    (tmp_path / "mine.py").write_text("def agent(messages):\n    return 'Hm.'\n")
    run = ("simulate", "simquac", "--max-turns", 1, "--assistant", "mine:agent", "--answer-attempts", 1)
    assert duologue(*run, "--record", "calls.jsonl", "--out", "a")[0] == 0
    code, _, err = duologue(*run, "--seed", 7, "--replay-calls", "calls.jsonl", "--out", "b")
    failed = [line for line in err.splitlines() if line.startswith("failed: ")]
    assert (code, len(failed)) == (1, 1)
    assert failed[0].startswith("failed: 5 conversations, such as ")  # the others are sent the same with either seed
    assert "with what is sent now: " in failed[0]
    assert "ReplayError" not in err
    assert "\n5 are missing: a replay makes no calls: record the run again, or take back what was changed\n" in err
    assert "what failed is kept in b/failures.jsonl" in err
    (row,) = json.loads(duologue("runs", "list", "b", "--json")[1])
    assert list(row["reasons"].values()) == [5]


def test_what_a_bound_of_the_run_cut_short_is_told_the_same_everywhere(duologue, tmp_path):
    run = ("simulate", "simquac", "--max-turns", 3, "--limit", 4, "--concurrency", 4, "--out", "r")
    code, out, err = duologue(*run, "--max-run-tokens", 900)
    beginning = out.partition(" (")[0]
    assert code == 1
    finished, count = re.fullmatch(
        r"(\d) of 4 conversations finished, (\d) (?:was|were) cut short by the run's bound", beginning
    ).groups()
    assert (int(finished) + int(count), int(count) > 0) == (4, True)
    assert (
        f"; {count} {'was' if count == '1' else 'were'} cut short; continue: the same command with --out r --resume and a wider bound"
        in err
    )
    first, *more = duologue("runs", "list", "r")[1].splitlines()
    assert f"{beginning.replace(' conversations', '')}, incomplete (" in first
    (listed,) = json.loads(duologue("runs", "list", "r", "--json")[1])
    assert [listed[key] for key in ("finished", "cut_by_run", "missing")] == [int(finished), int(count), 0]
    assert any(
        "cut short by the run's bound; continue: its command with --out r --resume and a wider bound" in line
        for line in more
    )
    assert "4 of 4 conversations finished (" in duologue(*run, "--resume")[1]


def test_without_a_name_the_runs_in_out_and_in_the_working_folder_are_listed(duologue, tmp_path):
    run = ("simulate", "simquac", "--limit", 1, "--max-turns", 1)
    for more in (("--out", "mine"), ()):
        assert duologue(*run, *more)[0] == 0
    (tmp_path / "other").mkdir()
    lines = duologue("runs", "list")[1].splitlines()
    assert [line.partition(":")[0] for line in lines] == ["out/simquac-1", "mine"]


def test_a_run_of_which_nothing_is_finished_has_no_table_of_zeros_and_names_no_data_set(duologue):
    run = ("simulate", "simquac", "--limit", 2, "--max-turns", 1, "--assistant", "lost:agent", "--out", "r")
    Path("lost.py").write_text("def agent(messages):\n    raise OSError('gone')\n")
    code, out, err = duologue(*run)
    assert (code, out) == (1, "0 of 2 conversations finished\nrun:     r\n")
    assert "2 failed: the same command with --out r --resume tries them again" in err
