"""`duologue replay`: stored conversations again with a changed agent."""

import json
from pathlib import Path
from typing import Any

import pytest

from duologue.data import load

AGENT = """
def asks(messages):
    return f"For when? ({len(messages)})"


def books(messages):
    return asks(messages) if len(messages) < 3 else "It is booked."
"""


@pytest.fixture
def run(duologue: Any) -> Path:
    """A run of two conversations about each of two scenarios, in the working folder."""
    Path("mine.py").write_text(AGENT)
    goals = [{"goal": goal, "success": {"text_contains": "booked"}} for goal in ("a table", "a taxi")]
    Path("scenarios.jsonl").write_text("".join(json.dumps(goal) + "\n" for goal in goals))
    options = "--assistant mine:asks --scenarios scenarios.jsonl --repeats 2 --max-turns 3 --out run --no-page"
    duologue("test", *options.split())
    return Path("run")


def test_it_reports_where_each_forks_the_calls_saved_and_success_in_pairs(duologue: Any, run: Path) -> None:
    code, out, _ = duologue("replay", run, "--assistant", "mine:books", "--out", "new")
    assert code == 0
    assert "4 replayed: 0 equal their records, 4 fork" in out
    assert "forks by first other message: #3: 4" in out
    assert "only the record succeeds in 0 of 4 pairs, only the replay in 4" in out
    won = [line for line in out.splitlines() if line.startswith("won: ")]
    assert [line.partition(" (")[0] for line in won] == ["won: a table", "won: a taxi"]
    (pairs,) = (line.partition(": duologue ")[2] for line in out.splitlines() if line.startswith("in pairs: "))
    code, out, _ = duologue(*pairs.split())
    assert (code, "only run succeeds in 0 of 4 pairs, only new in 4" in out, Path("new/pairs.html").is_file()) == (
        0,
        True,
        True,
    )
    code, out, _ = duologue("replay", run, "--assistant", "mine:books", "--out", "new", "--json")
    result = json.loads(out)
    assert (code, result["success"]["suite"]["only_new"]) == (0, 4)
    assert [row["differs_at"] for row in result["conversations"]] == [3] * 4
    code, out, _ = duologue("runs", "list", "new")


def test_an_unchanged_agent_forks_nowhere(duologue: Any, run: Path) -> None:
    code, out, _ = duologue("replay", run)
    assert (code, "4 replayed: 4 equal their records, 0 fork" in out) == (0, True)
    assert [talk.without_timing() for talk in load("out/replay-1")] == [talk.without_timing() for talk in load(run)]


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (("--out", "run"), "run: is the run that is replayed"),
        (("--set", "nothing=1"), "there is no setting 'nothing'"),
        (("--cast", "simquac"), "the scenario names no kind"),
        (("--limit", 0), "--limit"),
    ],
)
def test_bad_input_is_one_line(duologue: Any, run: Path, options: tuple[Any, ...], line: str) -> None:
    code, _, err = duologue("replay", run, *options)
    assert code == 2
    assert line in err
    assert err.count("\n") == 1
