"""Runs of casts and speakers of one's own on resume: what may change and what may not."""

import json
from pathlib import Path

import pytest

from duologue.data import load


def test_what_says_only_how_to_run_may_change_on_resume_and_a_setting_may_not(duologue) -> None:
    begun = ("simulate", "own_cast:cast", "--scenarios", "scenarios.jsonl", "--max-turns", "1", "--out", "run")
    assert duologue(*begun, "--max-tokens", "5000")[0] == 0
    assert duologue(*begun, "--max-tokens", "9000", "--concurrency", "3")[0] == 0
    code, _, err = duologue(*begun, "--words", "9")
    assert code == 2
    assert "= 25, now it is 9: go on with the same settings" in err


@pytest.mark.parametrize(
    ("before", "after", "line"),
    [
        ((), ("--share", "0.9"), "its run had share = its default, now it is 0.9: go on with the same settings"),
        (("--share", "0.4"), ("--share", "0.9"), "its run had share = 0.4, now it is 0.9"),
    ],
)
def test_a_setting_that_no_node_tells_may_not_change_on_resume(duologue, before, after, line) -> None:
    begun = ("simulate", "own_cast:unseen", "--scenarios", "scenarios.jsonl", "--max-turns", "1", "--out", "run")
    assert duologue(*begun, *before)[0] == 0
    assert duologue(*begun, *before)[0] == 0
    code, _, err = duologue(*begun, *after)
    assert code == 2
    assert line in err


def test_another_object_or_address_of_a_speaker_is_another_run(duologue) -> None:
    begun = ("simulate", "simquac", "--topics", "scenarios.jsonl", "--max-turns", "1", "--out", "run", "--user")
    assert duologue(*begun, "own_cast:student", "--assistant", "own_cast:agent")[0] == 0
    manifest = json.loads(Path("run/manifest.json").read_text())
    nodes = manifest["settings"]["nodes"]
    assert (nodes["user_simulator"]["object"], nodes["assistant"]["object"]) == ("own_cast:student", "own_cast:agent")
    (first, _) = load("run")
    assert first.provenance.nodes["assistant"].settings["object"] == "own_cast:agent"
    code, _, err = duologue(*begun, "own_cast:student", "--assistant", "own_cast:same")
    assert code == 2
    assert 'nodes.assistant.object = "own_cast:agent", now it is "own_cast:same"' in err


def test_replayed_data_may_move_before_a_resume(duologue) -> None:
    assert duologue("simulate", "simquac", "--limit", "2", "--max-turns", "1", "--out", "first")[0] == 0
    begun = ("simulate", "simquac", "--limit", "2", "--max-turns", "1", "--out", "run")
    assert duologue(*begun, "--user", "replay:first")[0] == 0
    code, _, err = duologue(*begun, "--user", f"replay:{Path('first').resolve()}")
    assert code == 0, err
    assert duologue(*begun)[0] == 2
