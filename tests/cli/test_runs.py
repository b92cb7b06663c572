"""What runs do by the command: a test's verdict and reports, forks and replays, simulated data sets, the list of runs."""

import json
from pathlib import Path

import pytest

from duologue import data

SCENARIOS = [
    {"goal": "book a table for two", "success": {"text_contains": "booked for two"}},
    {"goal": "cancel a taxi", "success": {"text_contains": "cancelled"}},
]
AGENTS = """
def agent(messages):
    return "It is booked for two." if "table" in messages[-1]["content"] else "For when?"

def good(messages):
    return "It is booked for two, and cancelled."

def broken(messages):
    return 1 / 0
"""


@pytest.fixture(autouse=True)
def agents(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(__import__("sys").modules, "tested_agents", raising=False)
    Path("tested_agents.py").write_text(AGENTS)
    Path("scenarios.jsonl").write_text("".join(json.dumps(line) + "\n" for line in SCENARIOS))


def with_agent(duologue, agent, *options):
    return duologue("test", "--assistant", f"tested_agents:{agent}", "--scenarios", "scenarios.jsonl", *options)


@pytest.mark.parametrize(
    ("agent", "options", "code", "why"),
    [
        ("good", (), 0, ""),
        ("agent", (), 1, "2 of 4 failed"),
        ("agent", ("--threshold", 0.5), 0, ""),
        ("agent", ("--threshold", 0.6), 1, "the share is below the threshold 0.6"),
        ("good", ("--at-least", 0.5), 1, "no interval"),
        ("broken", (), 1, "no conversation succeeded"),
        ("agent", ("--against", "tested_agents:good", "--threshold", 0), 0, ""),
        ("agent", ("--against", "tested_agents:good", "--fail-if-worse", 0.1, "--threshold", 0), 1, "a loss of"),
    ],
)
def test_a_verdict_is_the_exit_code_and_the_first_line(duologue, agent, options, code, why):
    got, out, _ = with_agent(duologue, agent, "--repeats", 2, "--out", "run", *options)
    assert got == code
    verdict = out.splitlines()[0]
    assert verdict.startswith("passed" if code == 0 else "not passed")
    assert why in verdict
    assert Path("run/page.html").is_file()
    assert len(out.splitlines()) <= 40


def test_the_result_as_json_and_in_files_is_one(duologue):
    Path("old.xml").write_text("an earlier one")
    code, out, err = with_agent(
        duologue, "agent", "--out", "run", "--json", "--junit", "old.xml", "--summary", "new.md"
    )
    result = json.loads(out)
    assert (code, result["passed"], result["successes"], result["planned"]) == (1, False, 1, 2)
    assert "turn seconds" in result["measures"]
    assert result["failures"][0]["page"].endswith(f"#{result['failures'][0]['id']}")
    assert 'tests="2" failures="1"' in Path("old.xml").read_text()
    assert "**not passed (1 of 2 failed)" in Path("new.md").read_text()
    assert "not passed" in err
    again = json.loads(with_agent(duologue, "agent", "--out", "run", "--json")[1])
    assert again["success"] == result["success"]


def test_reports_say_why_a_test_did_not_begin_and_a_plan_writes_none(duologue):
    assert with_agent(duologue, "agent", "--junit", "j.xml", "--plan")[0] == 0
    assert not Path("j.xml").exists()
    assert with_agent(duologue, "nobody", "--junit", "j.xml", "--summary", "s.md")[0] == 2
    assert "did not begin" in Path("j.xml").read_text()
    assert "did not begin" in Path("s.md").read_text()


def test_the_summary_of_github_is_appended_to(duologue, monkeypatch):
    Path("steps.md").write_text("# earlier\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "steps.md")
    with_agent(duologue, "good", "--summary", "steps.md")
    assert Path("steps.md").read_text().startswith("# earlier\n## duologue test: agent")


def test_a_casts_own_setting_may_have_the_name_of_an_option(duologue):
    Path("mine.py").write_text(
        "from duologue.graphs import agent_test\n\n\n"
        "def cast(user='offline', assistant='offline', limit: int = 1):\n"
        "    assert limit == 7\n    return agent_test.cast(user, assistant)\n"
    )
    own = ("--cast", "mine:cast", "--set", "limit=7")
    _, out, _ = with_agent(duologue, "good", *own, "--limit", 1, "--json")
    assert json.loads(out)["planned"] == 1


def test_faults_by_repairs_and_peoples_labels_are_asked_for_by_options(duologue):
    code, out, _ = with_agent(duologue, "agent", "--why", "--out", "run", "--json")
    assert (code, [one["fault"] for one in json.loads(out)["why"]]) == (1, ["undecided"])
    rows = [{"conversation": one.id, "value": True} for one in data.load("run")]
    Path("labels.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    _, out, _ = with_agent(duologue, "agent", "--labels", "labels.jsonl", "--json")
    assert json.loads(out)["judge"]["labelled"] == 2


def test_an_old_run_is_compared_where_both_have_scenarios(duologue):
    with_agent(duologue, "good", "--out", "old", "--limit", 1)
    _, out, _ = with_agent(duologue, "agent", "--out", "new", "--against", "old", "--json")
    compared = json.loads(out)["against"]
    assert (len(compared["tested"]), len(compared["not_compared"])) == (1, 1)
    assert Path("new/pairs.html").is_file()


def test_a_conversation_is_taken_up_at_a_message_and_a_run_is_replayed(duologue):
    with_agent(duologue, "agent", "--out", "run")
    (failed,) = (one for one in data.load("run") if one.scenario["goal"] == "cancel a taxi")
    options = ("--scenarios", "run", "--assistant", "tested_agents:good")
    code, out, _ = duologue("test", *options, "--from", f"{failed.id[:8]}:0", "--repeats", 2, "--out", "fork", "--json")
    result = json.loads(out)
    assert (code, result["successes"]) == (0, 2)
    assert "2 of 2 futures succeeded; the stored conversation failed" in result["notes"]
    assert all(one.messages[0].text == failed.messages[0].text for one in data.load("fork"))
    code, out, _ = duologue("test", *options, "--replay-user", "--out", "replay", "--fail-if-worse", 0.4)
    assert "2 replayed: 2 different" in out
    assert Path("replay/pairs.html").is_file()
    same = duologue(
        "test", "--scenarios", "run", "--replay-user", "--assistant", "tested_agents:agent", "--out", "same"
    )
    assert "2 replayed: 2 equal" in same[1]


def test_a_run_is_told_in_few_lines_and_written_as_a_data_set(duologue):
    run = ("simulate", "simquac", "--max-turns", 2, "--repeats", 4, "--limit", 5, "--to", "simquac", "--out", "run")
    code, out, _ = duologue(*run, "--user", "offline?two_questions=0.5")
    assert code == 0
    assert len(out.splitlines()) <= 40
    assert "20 of 20 conversations finished" in out
    assert "drafts" in out
    assert len(data.load("run/dataset/simquac.json")) == 20
    summary = json.loads(duologue(*run, "--user", "offline?two_questions=0.5", "--json")[1])
    assert (summary["planned"], summary["finished"]) == (20, 20)


def test_settings_of_cast_scenarios_and_limits_are_set_by_name(duologue):
    options = ("--set", "language=zh", "--set", "contexts=[0]", "--set", "question_attempts=2", "--max-turns", 1)
    assert duologue("simulate", "recllmsim", "--limit", 1, *options, "--out", "run")[0] == 0
    manifest = json.loads(Path("run/manifest.json").read_text())
    assert manifest["settings"]["limits"]["question_attempts"] == 2
    assert next(iter(data.load("run"))).scenario["language"] == "zh"


def test_failures_are_grouped_with_the_place_in_ones_own_file(duologue):
    code, _, err = duologue("simulate", "simquac", "--assistant", "tested_agents:broken", "--limit", 3, "--out", "run")
    assert code == 1
    assert "failed: 3 conversations, such as " in err
    assert "tested_agents.py" in err
    assert "continue: the same command with --out run" in err


def test_parts_of_a_run_are_put_together(duologue):
    run = ("simulate", "simquac", "--limit", 4, "--max-turns", 1)
    for part in (1, 2):
        assert duologue(*run, "--shard", f"{part}/2", "--out", f"part{part}")[0] == 0
    assert duologue("convert", "part1", "part2", "--out", "whole")[0] == 0
    assert duologue(*run, "--out", "one")[0] == 0
    whole, alone = ([one.without_timing().messages for one in data.load(path)] for path in ("whole", "one"))
    assert whole == alone


def test_runs_are_listed_with_success_and_turn_seconds_as_text_json_and_a_page(duologue):
    with_agent(duologue, "agent", "--out", "out/b", "--against", "tested_agents:good")
    duologue("simulate", "simquac", "--limit", 1, "--max-turns", 1, "--out", "out/a")
    rows = json.loads(duologue("runs", "--json")[1])["runs"]
    told = [(row["path"], row["agent"], row["success"] and row["success"]["value"]) for row in rows]
    assert told == [("out/b", "", 0.5), ("out/b", "against", 1.0), ("out/a", "", None)]
    assert all(row["turn_seconds_p50"] <= row["turn_seconds_p95"] for row in rows)
    assert "out/b" in duologue("runs", "out")[1]
    assert duologue("runs", "--out", "runs.html")[:2] == (0, "runs.html\n")
    assert "out/a" in Path("runs.html").read_text()
