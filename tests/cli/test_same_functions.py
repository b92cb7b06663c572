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
from duologue.studies.recllmsim import judge_agreement, predict_profiles

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


@pytest.mark.heavy
def test_compare_gives_the_same_report_and_files(duologue: Command, tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    sim, human = talks(tmp_path / "sim.jsonl", "s", 7), talks(tmp_path / "people.jsonl", "h", 50)
    report = package.compare(sim, human, out=tmp_path / "one")
    code, out, _ = duologue("compare", sim, human, "--out", tmp_path / "two", "--json")
    assert (code, json.loads(out)) == (0, report.model_dump(mode="json"))
    for file in (tmp_path / "one").iterdir():
        assert file.read_bytes() == (tmp_path / "two" / file.name).read_bytes()


@pytest.mark.heavy
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


def people_with_profiles(folder: Path) -> Path:
    """A conversation of each of ten people, with a profile and their satisfaction."""
    for number in range(10):
        user = number % 2
        profile = {"gender": "Female", "age": 20, "personality": [("冷静", "幽默")[user]], "daily_interests": ["阅读"]}
        history = [
            {"role": "user", "content": f"第{number}次，推荐{('湖边散步', '马戏表演')[user]}。"},
            {"role": "assistant", "content": "可以。" * (number + 1), "satisfaction": str(number % 5 + 1)},
        ]
        file = folder / "human_exp_V2" / f"User_{number}" / "旅行规划" / f"{number}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        about = {"task_type": "旅行规划", "task_context": f"第{number}次去旅行。", "profile": profile}
        file.write_text(json.dumps({**about, "history": history}, ensure_ascii=False), encoding="utf-8")
    return folder


def test_profiles_are_predicted_as_by_the_command(duologue: Command, tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    pytest.importorskip("jieba")
    people = people_with_profiles(tmp_path / "people")
    report = predict_profiles(people, model=["logistic"])
    code, out, _ = duologue("papers", "recllmsim", "predict", people, "--model", "logistic", "--json")
    assert (code, json.loads(out)) == (0, report.to_json())


def test_judges_are_measured_as_by_the_command(duologue: Command, tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    pytest.importorskip("jieba")
    people = people_with_profiles(tmp_path / "people")
    report = judge_agreement(people)
    code, out, _ = duologue("papers", "recllmsim", "judges", people, "--json")
    assert (code, json.loads(out)) == (0, report.to_json())
    threes = judge_agreement(people, {"threes": lambda train, turns: [3] * len(turns)}).to_json()["judges"]
    assert [row["qwk"] for row in threes if row["judge"] == "threes"] == [0, 0]
    with pytest.raises(SettingError, match="the offline model cannot judge"):
        judge_agreement(people, ["offline"])
