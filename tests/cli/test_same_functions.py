"""The functions of the front door do what the commands of their names do: the same figures, notes and warnings."""

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import duologue as package
from duologue import data
from duologue.errors import SettingError
from duologue.runs.tuning.search_space import default_space
from duologue.studies.tuning import TuningStudy

Command = Callable[..., tuple[int, str, str]]


def talks(path: Path, name: str, count: int) -> Path:
    """A log of so many people, each of whom states what they want."""
    lines = [
        {
            "id": f"{name}{number}",
            "user": f"{name} {number}",
            "goal": f"a trip to place {number % 5}",
            "messages": [
                {"role": "user", "content": f"I look for place {number % 5}, {number} days."},
                {"role": "assistant", "content": "Yes."},
                {"role": "user", "content": "Thank you!" if number % 3 else "And a hotel?"},
            ],
        }
        for number in range(count)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_compare_has_the_baseline_and_says_that_conversations_are_few(
    duologue: Command, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    pytest.importorskip("sklearn")
    sim, human = talks(tmp_path / "sim.jsonl", "s", 7), talks(tmp_path / "people.jsonl", "h", 50)
    counts: list[int] = []
    report = package.compare(sim, human, out=tmp_path / "one", on_baseline=counts.append)
    assert [record.message.partition(": ")[2] for record in caplog.records] == [
        "has only 7 of the 8 conversations or more that an interval needs"
    ]
    code, out, err = duologue("compare", sim, human, "--out", tmp_path / "two", "--json")
    assert (code, json.loads(out)) == (0, report.model_dump(mode="json"))
    assert caplog.records[0].message in err
    assert f"simulating {counts[0]} conversations of users made from people" in err
    assert report.made is not None
    for file in (tmp_path / "one").iterdir():
        assert file.read_bytes() == (tmp_path / "two" / file.name).read_bytes()
    assert package.compare(sim, human, baseline=False).made is None


def test_next_turn_has_the_same_rows_and_notes(duologue: Command, tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    people, counts = talks(tmp_path / "people.jsonl", "h", 24), list[int]()
    report = package.next_turn(people, "offline", seed=3, on_baseline=counts.append)
    code, out, err = duologue("next-turn", people, "--user", "offline", "--seed", 3, "--json")
    assert (code, json.loads(out)) == (0, report.model_dump(mode="json"))
    assert f"asking users made from people at {counts[0]} places" in err


def test_agreement_has_the_notes_that_the_sources_call_for(duologue: Command, tmp_path: Path) -> None:
    pytest.importorskip("scipy")
    words, path = ["low", "middle", "high"], tmp_path / "labelled.jsonl"
    messages = [{"role": "user", "text": "Hello?"}]
    records = [
        {"id": str(n), "scenario": {"kind": "call"}, "messages": messages}
        | {"labels": {"human": words[n % 3], "mood": words[n * n % 3]}}
        for n in range(9)
    ]
    path.write_text("".join(json.dumps(data.Conversation(**record).plain()) + "\n" for record in records))
    report = package.agreement(path, between=[("human", "mood")])
    assert "mood: no label definition at hand orders the values" in " ".join(report.notes)
    assert not any("orders the values" in note for note in package.agreement(
        path, between=[("human", "mood")], ordered=[words]
    ).notes)  # fmt: skip
    out = " ".join(duologue("agreement", path, "--between", "human,mood")[1].split())
    assert all(" ".join(note.split()) in out for note in report.notes)
    assert json.loads(duologue("agreement", path, "--between", "human,mood", "--json")[1]) == report.to_json()


def test_show_has_the_conversations_that_were_cut_short(
    duologue: Command, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    duologue("simulate", "simquac", "--limit", 2, "--max-turns", 1, "--out", "r")
    done = tmp_path / "r" / "conversations.jsonl"
    first, second = data.record_lines.read(done)
    data.record_lines.write([first], done)
    data.record_lines.write([second.model_copy(update={"stop": "model_failed"})], tmp_path / "r" / "failures.jsonl")
    caplog.set_level(logging.WARNING)
    page = package.show("r", out="function.html")
    _, _, err = duologue("show", "r")
    assert [record.message for record in caplog.records] == err.splitlines()
    assert repr(page).startswith("<Page r: 2 conversations;")
    by_command, by_function = (Path(name).read_text().splitlines() for name in ("r.html", "function.html"))
    assert [line for line in by_command if line not in by_function] == [
        line for line in by_command if "duologue-source" in line
    ]


def test_tune_searches_the_settings_beside_templates_unless_there_are_no_trials(tmp_path: Path) -> None:
    study = TuningStudy("recllmsim", tmp_path, reflect=lambda prompt: prompt)
    assert dict(study.space) == default_space("offline")
    assert study.page_search is not None
    assert dict(TuningStudy("recllmsim", tmp_path, trials=0).space) == {}


def test_test_refuses_scenarios_that_nothing_would_score(duologue: Command, tmp_path: Path) -> None:
    people = talks(tmp_path / "people.jsonl", "h", 3)
    goals: list[dict[str, Any]] = [{"goal": "a trip"}, {"goal": "a hotel"}]
    (tmp_path / "goals.jsonl").write_text("".join(json.dumps(goal) + "\n" for goal in goals))
    with pytest.raises(SettingError, match="which is not evidence about the agent") as refused:
        package.test(lambda messages: "Yes.", goals, user=f"people:{people}")
    code, _, err = duologue(
        "test", "--scenarios", "goals.jsonl", "--user", f"people:{people}", "--assistant", "offline"
    )
    assert (code, err.splitlines()[-1]) == (2, f"duologue: {refused.value}")
