"""`--like SRC`: the guard that makes a simulated user more like people, by the command."""

import json
from pathlib import Path

import pytest

import duologue as package
from duologue.analysis import attempt_rows

GOALS = ("find a mild tea for the evening", "stop a bicycle brake from squealing", "learn to bake bread")


@pytest.fixture(autouse=True)
def files():
    texts = ("Fine, that one.", "What is it to cost?", "And the other?")
    lines(
        "talks.jsonl",
        [
            {
                "id": str(number),
                "user": f"user-{number}",
                "messages": [
                    {"role": "user", "content": "I look for one."},
                    {"role": "assistant", "content": "Here is one."},
                    {"role": "user", "content": texts[number % 3]},
                ],
            }
            for number in range(30)
        ],
    )
    lines("goals.jsonl", [{"goal": goal, "success": {"text_contains": "one"}} for goal in GOALS])


def lines(name, values):
    with open(name, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(value) + "\n" for value in values)


RUN = ("simulate", "agent_test", "--scenarios", "goals.jsonl", "--max-turns", 3)


def test_a_run_with_the_guard_says_what_it_does_not_know(duologue):
    code, _, err = duologue(*RUN, "--like", "talks.jsonl", "--out", "out/like")
    assert code == 0
    assert "--like talks.jsonl: what the simulator itself writes is unknown" in err
    document = json.loads(Path("out/like/manifest.json").read_text(encoding="utf-8"))
    assert document["cast"]["settings"]["like"] == "talks.jsonl"
    assert document["settings"]["nodes"]["question_validator"]["name"] == "LikePeople"


def test_the_table_of_attempts_counts_its_reason(duologue):
    assert duologue(*RUN, "--like", "talks.jsonl", "--out", "out/like")[0] == 0
    rows = attempt_rows(package.load("out/like"))
    assert sum(row.reasons.get("unlike_people", 0) for row in rows) > 0


@pytest.mark.heavy
def test_drafts_of_a_run_without_it_are_learnt_from(duologue):
    lines("more.jsonl", [{"goal": f"{GOALS[0]}, number {n}"} for n in range(25)])
    assert duologue("simulate", "agent_test", "--scenarios", "more.jsonl", "--out", "out/own")[0] == 0
    code, _, err = duologue(*RUN, "--like", "talks.jsonl?drafts=out/own&most=3", "--out", "out/like")
    assert code == 0
    assert "is unknown" not in err
    assert "of 100 drafts of own about" in err  # the offline user writes long first messages
    nodes = json.loads(Path("out/like/manifest.json").read_text(encoding="utf-8"))["settings"]["nodes"]
    assert nodes["question_validator"]["drafts"] == "own"
    assert nodes["question_validator"]["drafts_digest"]


def test_a_run_without_it_is_as_before(duologue):
    assert duologue(*RUN, "--out", "out/plain")[0] == 0
    manifest = Path("out/plain/manifest.json").read_text(encoding="utf-8")
    records = Path("out/plain/conversations.jsonl").read_text(encoding="utf-8")
    assert "like" not in json.loads(manifest)["settings"]["prompts"]
    assert "measured" not in records
    assert "unlike_people" not in manifest + records


@pytest.mark.heavy
def test_a_test_of_an_agent_takes_it(duologue):
    code, _, err = duologue("test", "--scenarios", "goals.jsonl", "--like", "talks.jsonl", "--out", "out/test")
    assert code in (0, 1)
    assert "is unknown" in err
    (first, *_) = Path("out/test/conversations.jsonl").read_text(encoding="utf-8").splitlines()
    assert "accept" in json.loads(first)["messages"][0]["attempts"][0]["measured"]["like"]


@pytest.mark.parametrize(
    ("like", "line"),
    [
        ("nowhere.jsonl", "nowhere.jsonl"),
        ("talks.jsonl?part=half", "like: part must be one of tune, learn, select, test, all, not 'half'"),
        ("talks.jsonl?colour=red", "like 'talks.jsonl' has no option 'colour'; there are part, drafts, most"),
        ("talks.jsonl?drafts=nowhere", "nowhere"),
        ("goals.jsonl", "goals.jsonl"),
    ],
)
def test_what_cannot_be_used_is_one_line(duologue, like, line):
    code, out, err = duologue(*RUN, "--like", like)
    assert (code, out) == (2, "")
    assert line in err
    assert err.count("\n") == 1
