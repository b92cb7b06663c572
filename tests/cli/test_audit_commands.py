"""`check`, `papers simquac validators` and `repair`: what they print and when they fail."""

import json

import pytest

from duologue import data


@pytest.mark.heavy
def test_the_open_simulated_file_is_checked_with_a_place_and_a_reason_for_each_finding(duologue, open_data):
    code, out, _ = duologue("check", open_data / "simquac/sim_quac.json", "--json")
    document = json.loads(out)
    assert code == 1
    counts = {name: rule["findings"] for name, rule in document["rules"].items() if rule["findings"]}
    assert counts == {
        "span-case": 6,
        "span-second-word": 361,
        "answer-long": 148,
        "question-several": 33,
        "question-again": 3,
    }
    assert all(finding["reason"] and "\n" not in finding["reason"] for finding in document["findings"])
    assert len(document["findings"]) == sum(counts.values())


@pytest.mark.heavy
def test_rules_are_chosen_and_findings_fail_as_asked(duologue, open_data):
    path = open_data / "simquac/sim_quac.json"
    assert duologue("check", path, "--skip", "span-case")[0] == 0
    assert duologue("check", path, "--skip", "span-case", "--fail-on", "warning")[0] == 1
    assert duologue("check", path, "--fail-on", "never")[0] == 0
    assert duologue("check", path, "--rule", "question-list", "--fail-on", "warning")[0] == 0
    assert duologue("check", path, "--rule", "question-list,span-case", "--fail-on", "warning")[0] == 1
    code, _, err = duologue("check", path, "--rule", "nope")
    assert code == 2
    assert "there is no rule 'nope', only span-not-slice" in err


def test_what_this_project_simulates_has_no_error(duologue):
    duologue(
        "simulate",
        "simquac",
        "--out",
        "r",
        "--user",
        "offline?two_questions=0.3",
        "--assistant",
        "offline?misbehave=0.4",
    )
    assert duologue("check", "r")[0] == 0


BROKEN = {
    "span-not-slice": ("Who?", [("Nobody", 0)]),
    "span-case": ("Who?", [("three keepers", 0)]),
    "span-second-word": ("Who?", [("keepers lived", 6)]),
    "answer-empty": ("Who?", [(".", 25)]),
    "answer-long": ("Who?", [("word " * 41, 0)]),
    "question-empty": ("?", [("Three", 0)]),
    "question-long": ("word " * 26 + "?", [("Three", 0)]),
    "question-lines": ("Who?\nWhen?", [("Three", 0)]),
    "question-list": ("1. Who? 2. When?", [("Three", 0)]),
    "question-several": ("Who? When?", [("Three", 0)]),
}


@pytest.mark.parametrize("rule", BROKEN)
def test_each_rule_finds_what_it_is_for(rule):
    question, spans = BROKEN[rule]
    conversation = data.Conversation(
        id="a",
        scenario={
            "kind": "simquac",
            "title": "t",
            "background": "",
            "header": "h",
            "section": "Three keepers lived there.",
        },
        messages=(
            data.Message(role="user", text=question),
            data.Message(
                role="assistant",
                text="\n".join(t for t, _ in spans),
                spans=tuple(data.Span(text=t, start=s) for t, s in spans),
            ),
        ),
    )
    assert rule in {finding.rule for finding in data.checks.check(conversation)}


def test_repeats_and_ungrounded_answers_are_found():
    scenario = {
        "kind": "simquac",
        "title": "t",
        "background": "",
        "header": "h",
        "section": "Three keepers lived there.",
    }
    pair = (data.Message(role="user", text="Who?"), data.Message(role="assistant", text="Nobody at all"))
    conversation = data.Conversation(id="a", scenario=scenario, messages=pair * 2)
    assert [f.rule for f in data.checks.check(conversation)] == [
        "answer-ungrounded",
        "question-again",
        "answer-ungrounded",
    ]
    of_topics = set(data.simquac.DOMAIN.rules)
    assert set(BROKEN) | {"answer-ungrounded", "question-again"} == of_topics


def test_the_drafts_of_a_run_are_put_through_both_validators(duologue):
    duologue("simulate", "simquac", "--limit", 2, "--out", "r", "--assistant", "offline?paraphrase=0.5")
    rows = json.loads(duologue("papers", "simquac", "validators", "r", "--json")[1])["validators"]
    counts = {row["measure"]: row for row in rows}
    assert counts["answers"]["as_released"] == counts["answers"]["ours"] > 24
    assert counts["rejected"]["ours"] > 0


def test_a_repair_writes_the_file_and_its_changes(duologue, open_data, tmp_path):
    source = open_data / "simquac/sim_quac.json"
    code, out, _ = duologue("papers", "simquac", "repair", source, "--out", "mended.json")
    assert code == 0
    assert "361" in out
    changes = [json.loads(line) for line in (tmp_path / "mended.json.changes.jsonl").read_text().splitlines()]
    assert len(changes) == 367
    assert data.simquac.misplaced(data.load(tmp_path / "mended.json").conversations) == []
    questions = [[m.text for m in c.messages if m.role == "user"] for c in data.load(source)]
    assert [[m.text for m in c.messages if m.role == "user"] for c in data.load(tmp_path / "mended.json")] == questions
    assert duologue("papers", "simquac", "repair", source, "--out", "mended.json")[0] == 2


def test_peoples_answers_are_repaired_only_by_force(duologue, open_data, tmp_path):
    source = open_data / "simquac/quac_subset.json"
    code, out, err = duologue("papers", "simquac", "repair", source, "--out", "mended.json")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "quac_subset.json: holds people's answers, and the repair would change correct ones too (21 of 446" in err
    assert not (tmp_path / "mended.json").exists()
    assert duologue("papers", "simquac", "repair", source, "--out", "mended.json", "--force")[0] == 0
    assert len((tmp_path / "mended.json.changes.jsonl").read_text().splitlines()) == 21
    assert (
        duologue("papers", "simquac", "repair", open_data / "simquac/teacher_sim_topics.txt", "--out", "topics.json")[0]
        == 0
    )
    assert "certain" not in duologue("papers", "simquac", "repair", "--help")[1]
