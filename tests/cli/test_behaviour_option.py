"""`--behaviour`: success by kind of user, what was shown, and causes of users who make it hard."""

import json
from pathlib import Path

import pytest

AGENT = """
TOLD = {}


def sound(messages):
    texts = " ".join(message["content"] for message in messages if message["role"] == "user")
    if "2026-05-03" not in texts:
        return "For which day is it?"
    if "basic" in texts:
        return "I am sorry, a basic fare cannot be changed."
    return "Done: it is on 2026-05-03, booked."


def hurried(messages):
    text = messages[-1]["content"]
    return "No." if "kestrel" in text or "quick" in text or "Come on" in text else sound(messages)
"""
GOALS = [
    {"goal": "move my flight to 2026-05-03", "facts": "The code is QX4821.", "success": {"text_contains": "booked"}},
    {"goal": "move my train to 2026-05-03", "facts": "The code is QX4822.", "success": {"text_contains": "booked"}},
]


@pytest.fixture(autouse=True)
def files(tmp_path: Path) -> None:
    (tmp_path / "hard_agent.py").write_text(AGENT)
    (tmp_path / "goals.jsonl").write_text("".join(json.dumps(goal) + "\n" for goal in GOALS))


def result_of(duologue, *options):
    code, out, err = duologue(
        "test", "--assistant", "hard_agent:sound", "--scenarios", "goals.jsonl", "--no-page", *options, "--json"
    )
    assert code == 0, err
    return json.loads(out)["users"]


def test_each_kind_of_user_has_a_row_against_the_plain_one(duologue):
    users = result_of(duologue, "--behaviour", "plain", "--behaviour", "impatient,incomplete", "--repeats", "2")
    assert [(row["user"], row["success"]["n"], row["success"]["value"]) for row in users] == [
        ("plain", 4, 1),
        ("impatient, incomplete", 4, 1),
    ]
    assert users[0]["against_plain"] is None
    assert users[1]["against_plain"]["value"] == 0


def test_each_kind_of_user_has_its_own_row_of_a_scenario(duologue):
    code, out, err = duologue(
        "test", "--assistant", "hard_agent:sound", "--scenarios", "goals.jsonl", "--no-page", "--json",
        "--behaviour", "plain", "--behaviour", "terse", "--repeats", 2,
    )  # fmt: skip
    assert code == 0, err
    rows = json.loads(out)["scenarios"]
    assert [(row["scenario"], row["conversations"]) for row in rows] == [
        ("move my flight to 2026-05-03", 2),
        ("move my flight to 2026-05-03 (terse)", 2),
        ("move my train to 2026-05-03", 2),
        ("move my train to 2026-05-03 (terse)", 2),
    ]


def test_without_behaviours_nothing_is_said_of_them(duologue):
    assert result_of(duologue) == []


def test_a_behaviour_that_costs_the_agent_its_success_is_seen_in_the_table(duologue):
    code, out, err = duologue(
        "test", "--assistant", "hard_agent:hurried", "--scenarios", "goals.jsonl", "--no-page",
        "--behaviour", "plain", "--behaviour", "injects", "--max-turns", 1,
    )  # fmt: skip
    assert code == 1, err
    rows = [line.split() for line in out.splitlines() if line.startswith(("plain ", "injects "))]
    assert [row[:3] for row in rows] == [["plain", "2", "1.00"], ["injects", "2", "0.00"]]


def test_an_unknown_behaviour_is_one_line_before_anything_begins(duologue):
    code, out, err = duologue(
        "test", "--assistant", "hard_agent:sound", "--scenarios", "goals.jsonl", "--behaviour", "impatiant"
    )
    assert (code, out) == (2, "")
    assert err.strip() == "duologue: --behaviour: there is no behaviour 'impatiant': did you mean impatient?"


def test_simulate_takes_behaviours_too(duologue, tmp_path):
    code, _, err = duologue(
        "simulate", "agent_test", "--scenarios", "goals.jsonl", "--behaviour", "terse", "--out", "run", "--yes"
    )
    assert code == 0, err
    lines = (tmp_path / "run/conversations.jsonl").read_text().splitlines()
    assert [json.loads(line)["extra"] for line in lines] == [{"behaviours": ["terse"]}] * 2
