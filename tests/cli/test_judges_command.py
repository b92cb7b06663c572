"""`duologue stats judges`: what it prints and writes, which judges it takes, and what it refuses."""

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sklearn")
pytest.importorskip("jieba")

from duologue import data
from duologue.analysis.judges.text import words_of_reply
from duologue.data.labelling import Item
from duologue.data.text.segmentation import segmentation
from duologue.runs.answers import Answers

Command = Callable[..., tuple[int, str, str]]
USERS, SAID = 10, ("请坐火车去河边。", "可以走路去公园。", "建议参观博物馆。")


def write(folder: Path, label: Callable[[int], dict[str, Any]]) -> Path:
    """Two conversations of ten people, with labels of the replies by their number."""
    for number in range(2 * USERS):
        history: list[dict[str, Any]] = []
        for nth in range(2):
            place = 2 * number + nth
            history += [{"role": "user", "content": "去哪里？"}, {"role": "assistant", "content": SAID[place % 3] * (place % 4 + 1), **label(place)}]  # fmt: skip
        file = folder / "human_exp_V2" / f"User_{number // 2}" / "旅行规划" / f"{number}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        about = {
            "task_type": "旅行规划",
            "task_context": f"第{number}次去旅行。",
            "profile": {"gender": "Female", "age": 20},
        }
        model = {"chat_model": ("one", "two")[number % 2]}
        file.write_text(json.dumps({**model, "history": history, **about}, ensure_ascii=False), encoding="utf-8")
    return folder


def truth(place: int) -> int:
    return (place * 7 + place // 4) % 5 + 1


def told(place: int) -> dict[str, Any]:
    reason = {"reason": ("不够细致", "不可用")[place % 2]} if truth(place) <= 3 else {}
    return {"satisfaction": str(truth(place)), "guess": {"final": 6 - truth(place), "1": 3}, **reason}


@pytest.fixture
def people(tmp_path: Path) -> Path:
    return write(tmp_path / "people", told)


def test_json_has_every_judge_with_every_score_and_nothing_else_is_on_stdout(duologue: Command, people: Path) -> None:
    code, out, err = duologue("stats", "judges", people, "--labels", "guess", "--json")
    assert code == 0, err
    report = json.loads(out)
    assert (report["turns"], report["users"], report["conversations"], report["leak"]["shared"]) == (40, 10, 20, 0)
    names = [row["judge"] for row in report["judges"]]
    assert names[:4] == ["commonest", "always 4", "mean", "user's mean"]
    assert names[-2:] == ["rules with hindsight", "guess"]
    assert {row["score"] for row in report["scores"]} == {"qwk", "mae", "gain", "auc", "concordance"}
    (mirror,) = [row for row in report["judges"] if row["judge"] == "guess"]
    assert mirror["auc"] == 0
    assert duologue("stats", "judges", people, "--labels", "guess", "--json")[1] == out


def test_an_annotated_copy_and_a_function_are_judges(
    duologue: Command, people: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = write(tmp_path / "copy", told)
    Path("says_five.py").write_text("def always(conversation):\n    return [5] * (len(conversation.messages) // 2)\n")
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    code, out, err = duologue("stats", "judges", people, "--annotated", copy, "--judge", "says_five:always", "--json")
    assert code == 0, err
    report = json.loads(out)
    by_name = {row["judge"]: row for row in report["judges"]}
    assert by_name["copy: satisfaction"]["qwk"] == 1
    assert (by_name["says_five:always"]["qwk"], by_name["says_five:always"]["n"]) == (0, 40)
    said = {row["judge"]: row["value"] for row in report["reason_scores"] if row["score"] == "accuracy"}
    assert said["copy: reason"] == 1
    assert report["notes"]["reason_scores"] == []
    few = write(tmp_path / "few", lambda place: told(place) if place < 6 else {"satisfaction": "4"})
    report = json.loads(duologue("stats", "judges", people, "--annotated", few, "--json")[1])
    (note,) = report["notes"]["reason_scores"]
    assert note.startswith("few: reason: says no reason of ")


def test_an_annotator_as_annotate_takes_it_is_a_judge_that_sees_no_label(duologue: Command, people: Path) -> None:
    Path("annotates.py").write_text(
        "def always(conversation, label):\n"
        "    assert not any(message.labels for message in conversation.messages)\n"
        "    replies = sum(message.role == 'assistant' for message in conversation.messages)\n"
        "    return [{'satisfaction': 3, 'reason': '不可用'} if label.name == 'satisfaction' else 2] * replies\n"
    )
    code, out, err = duologue("stats", "judges", people, "--judge", "annotates:always", "--json")
    assert code == 0, err
    (row,) = [row for row in json.loads(out)["judges"] if row["judge"] == "annotates:always"]
    assert (row["n"], row["qwk"]) == (40, 0)
    Path("pages").mkdir()
    page = "---\ntitle: Mood\nunit: assistant turn\nparts:\n  guess: {scale: [1, 5]}\n---\nFrom 1 to 5.\n"
    Path("pages/guess.md").write_text(page)
    own = ("stats", "judges", people, "--label", "guess", "--judge", "annotates:always", "--json")
    code, out, err = duologue(*own, "--labels-dir", "pages")
    assert code == 0, err
    (row,) = [row for row in json.loads(out)["judges"] if row["judge"] == "annotates:always"]
    assert row["n"] == 40
    code, out, err = duologue(*own)
    assert (code, out) == (2, "")
    assert "guess" in err.splitlines()[-1]


def test_a_function_that_fails_is_told_in_one_line(duologue: Command, people: Path) -> None:
    Path("fails.py").write_text("def judge(conversation):\n    raise KeyError('mood')\n")
    code, out, err = duologue("stats", "judges", people, "--judge", "fails:judge")
    assert (code, out) == (2, "")
    assert err.splitlines()[-1] == "duologue: --judge fails:judge: failed: KeyError: 'mood'"


def test_a_place_that_is_taken_is_refused_before_a_model_is_paid(
    duologue: Command, people: Path, faulty: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint = faulty(reply='{"reason": "fine", "value": "4"}')
    for name, value in endpoint.environment.items():
        monkeypatch.setenv(name, value)
    Path("there.json").write_text("mine")
    command = ("stats", "judges", people, "--judge", "openai:m", "--out", "there.json")
    for more, line in ((("--json",), "--force"), ((), "--out needs --format")):
        code, out, err = duologue(*command, *more)
        assert (code, out) == (2, "")
        assert line in err
    assert endpoint.counts()["requests"] == 0
    assert Path("there.json").read_text() == "mine"


def test_labels_that_are_left_out_and_users_without_a_name_are_told(duologue: Command, tmp_path: Path) -> None:
    lines = []
    for number in range(6):
        said = [
            {"role": "user", "content": f"Where {number}?"},
            {"role": "assistant", "content": "There.", "satisfaction": (number % 5) + 1},
            {"role": "user", "content": "And then?"},
            {"role": "assistant", "content": "Home.", "satisfaction": 3.5 if number else 9},
        ]
        lines.append(json.dumps({"messages": said, **({"user": f"u{number}"} if number < 2 else {})}))
    (tmp_path / "own.jsonl").write_text("\n".join(lines) + "\n")
    code, out, err = duologue("stats", "judges", tmp_path / "own.jsonl", "--json")
    assert code == 0, err
    assert json.loads(out)["turns"] == 6
    assert "6 labels 'satisfaction' are left out: they are no whole number from 1 to 5" in err
    assert "4 of 6 conversations name no user" in err


def test_what_an_annotator_wrote_is_nobodys_satisfaction(duologue: Command, people: Path, tmp_path: Path) -> None:
    whole, part = tmp_path / "whole", tmp_path / "part"
    assert duologue("annotate", people, "--labels", "satisfaction", "--redo", "satisfaction", "--out", whole)[0] == 0
    for source in (whole, whole / "human_exp_V2"):
        code, out, err = duologue("stats", "judges", source)
        assert (code, out) == (2, "")
        assert "duologue annotate wrote every 'satisfaction' there: nobody said it" in err
    with Answers(tmp_path / "answers", "ann") as answers:
        for talk in data.load(whole).conversations:
            item = Item(label="satisfaction", conversation=talk.id, message=1)
            answers.put(item.answered({"satisfaction": 5, "reason": None}, "ann"))
    into = ("--labels", "satisfaction", "--answers", tmp_path / "answers", "--into", tmp_path / "both")
    again = ("--labels", "intent_people", "--out", tmp_path / "again")
    assert duologue("label", whole, *into)[0] == 0
    assert duologue("annotate", tmp_path / "both" / "human_exp_V2", *again)[0] == 0
    assert duologue("convert", tmp_path / "again", tmp_path / "converted", "--to", "recllmsim")[0] == 0
    for source in (tmp_path / "both" / "human_exp_V2", tmp_path / "again", tmp_path / "converted"):
        assert "duologue annotate wrote every 'satisfaction' there" in duologue("stats", "judges", source)[2]
    err = duologue("convert", tmp_path / "again", tmp_path / "lines.jsonl", "--to", "replay")[2]
    assert "lines.jsonl does not tell that duologue annotate wrote intent, reason, satisfaction" in err
    half = write(tmp_path / "half", lambda place: told(place) if place % 2 else {})
    assert duologue("annotate", half, "--labels", "satisfaction", "--out", part)[0] == 0
    code, out, err = duologue("stats", "judges", part, "--json")
    assert code == 0, err
    assert "20 of 40 'satisfaction' were written by duologue annotate, no person said them: left out" in err
    assert json.loads(out)["judges"] == json.loads(duologue("stats", "judges", half, "--json")[1])["judges"]


def test_a_copy_with_other_paths_is_matched_by_id(duologue: Command, people: Path, tmp_path: Path) -> None:
    copy = write(tmp_path / "copy", told)
    (tmp_path / "elsewhere").mkdir()
    for number, file in enumerate(sorted(copy.rglob("*.json"))):
        file.rename(tmp_path / "elsewhere" / f"{number}.json")
    code, out, err = duologue("stats", "judges", people, "--annotated", tmp_path / "elsewhere", "--json")
    assert code == 0, err
    (row,) = [row for row in json.loads(out)["judges"] if row["judge"].startswith("elsewhere")]
    assert row["n"] == 40


def test_the_published_split_tells_its_leak(duologue: Command, people: Path) -> None:
    code, out, err = duologue("stats", "judges", people, "--split", "published", "--format", "markdown")
    assert code == 0, err
    assert "of 8 test turns" in out
    assert "stand in training too" in out


def test_tables_are_written_as_a_folder_of_csv(duologue: Command, people: Path) -> None:
    code, _, err = duologue("stats", "judges", people, "--format", "csv", "--out", "tables")
    assert code == 0, err
    files = {path.name for path in Path("tables").iterdir()}
    assert "judges_of_satisfaction_against_people.csv" in files
    assert duologue("stats", "judges", people, "--format", "csv", "--out", "tables")[0] == 2


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["--label", "mood"], "no reply has a label 'mood' of 1 to 5"),
        (["--labels", "mood"], "no reply has a label 'mood' of 1 to 5"),
        (["--labels", "satisfaction"], "is what people say: name another label, or give --annotated"),
        (["--judge", "offline"], "offline model can only speak"),
        (["--judge", "json:nothing"], "the module 'json' has no 'nothing'"),
        (["--judge", "string:digits"], "is no function"),
    ],
)
def test_what_cannot_be_measured_is_told_in_one_line(
    duologue: Command, people: Path, options: list[str], line: str
) -> None:
    code, out, err = duologue("stats", "judges", people, *options)
    assert (code, out) == (2, "")
    assert line in err
    assert [each for each in err.splitlines() if each.startswith("duologue: ")] == [err.splitlines()[-1]]


def test_a_file_to_keep_is_not_put_where_it_would_be_read(duologue: Command, people: Path) -> None:
    code, _, err = duologue("stats", "judges", people, "--kept", people / "kept.jsonl")
    assert code == 2
    assert "choose another place" in err


def test_a_model_is_asked_about_each_turn_and_its_file_answers_the_next_time(
    duologue: Command, people: Path, faulty: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint = faulty(reply='{"reason": "fine", "value": "4"}')
    for name, value in endpoint.environment.items():
        monkeypatch.setenv(name, value)
    command = ("stats", "judges", people, "--judge", "openai:m", "--kept", "kept.jsonl", "--json")
    code, out, err = duologue(*command)
    assert code == 0, err
    (row,) = [row for row in json.loads(out)["judges"] if row["judge"] == "openai:m"]
    assert (row["n"], row["qwk"]) == (40, 0)
    assert endpoint.counts()["requests"] == len(Path("kept.jsonl").read_text().splitlines()) == 40
    assert duologue(*command)[1] == out
    assert endpoint.counts()["requests"] == 40


def test_a_plan_tells_calls_tokens_and_cost_without_a_call_or_a_key_and_leaves_out_what_is_kept(
    duologue: Command, people: Path, faulty: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ("stats", "judges", people, "--judge", "openai:gpt-4o-mini", "--kept", "kept.jsonl", "--json")
    code, out, err = duologue(*command, "--plan")
    assert code == 0, err
    told = json.loads(out)
    assert (told["turns"], told["calls"]) == (40, {"usual": 40, "most": 120})
    assert told["tokens"]["input"] > 40 * 100
    assert told["cost"] is None or told["cost"] > 0
    assert "openai.com" not in err
    endpoint = faulty(reply='{"reason": "fine", "value": "4"}')
    for name, value in endpoint.environment.items():
        monkeypatch.setenv(name, value)
    assert duologue(*command)[0] == 0
    code, out, _ = duologue(*command[:-1], "--plan")
    assert "0 turns planned" in out
    assert endpoint.counts()["requests"] == 40


def test_a_bound_ends_it_in_order_and_a_wrong_key_at_once(
    duologue: Command, people: Path, faulty: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint = faulty(reply='{"reason": "fine", "value": "4"}')
    for name, value in endpoint.environment.items():
        monkeypatch.setenv(name, value)
    command = ("stats", "judges", people, "--judge", "openai:m", "--kept", "kept.jsonl", "--concurrency", "1", "--json")
    code, out, err = duologue(*command, "--max-run-tokens", "10")
    assert code == 1
    assert "ended early: --max-run-tokens 10 is reached" in err
    assert "openai:m: says nothing of 39 of 40 turns, which are left out of its row" in err
    (row,) = [row for row in json.loads(out)["judges"] if row["judge"] == "openai:m"]
    assert row["n"] == 1
    endpoint.change(status=401)
    asked = endpoint.counts()["requests"]
    assert duologue(*command)[0] == 1
    assert endpoint.counts()["requests"] == asked + 1


def test_a_judge_that_is_killed_goes_on_from_its_file_and_no_answer_in_it_is_paid_twice(
    people: Path, faulty: Any, forks: Any, tmp_path: Path
) -> None:
    endpoint = faulty(reply='{"reason": "fine", "value": "4"}')
    command = ["stats", "judges", people, "--judge", "openai:m", "--kept", "kept.jsonl", "--concurrency", "2", "--json"]
    endpoint.change(hold_at=15)
    fork = forks(command, tmp_path, endpoint.environment)
    endpoint.until(lambda counts: fork.over or counts["held"] >= 2)
    fork.kill()
    assert fork.wait() == -9
    kept = (tmp_path / "kept.jsonl").read_text()
    assert kept.count("\n") == 15
    (tmp_path / "kept.jsonl").write_text(kept[:-20])  # as if the disk had lost the end of the last line
    endpoint.change(hold_at=None)
    before = endpoint.counts()["requests"]
    fork = forks(command, tmp_path, endpoint.environment)
    assert fork.wait() == 0, fork.stderr
    assert endpoint.counts()["requests"] == before + 40 - 14
    (row,) = [row for row in json.loads(fork.stdout)["judges"] if row["judge"] == "openai:m"]
    assert row["n"] == 40


def test_calls_that_were_recorded_are_replayed_without_a_key(
    duologue: Command, people: Path, faulty: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint = faulty(reply='{"reason": "fine", "value": "4"}')
    command = ("stats", "judges", people, "--judge", "openai:m", "--json")
    with monkeypatch.context() as patched:
        for name, value in endpoint.environment.items():
            patched.setenv(name, value)
        code, out, err = duologue(*command, "--record", "calls.jsonl")
    assert code == 0, err
    assert f"calls go to {endpoint.url.split('/')[2]}" in err
    code, again, err = duologue(*command, "--replay-calls", "calls.jsonl")
    assert code == 0, err
    assert again == out
    assert endpoint.counts()["requests"] == 40


def test_ctrl_c_lets_what_is_under_way_finish_and_keeps_it(
    people: Path, faulty: Any, forks: Any, tmp_path: Path
) -> None:
    endpoint = faulty(reply='{"reason": "fine", "value": "4"}', latency=0.2)
    command = ["stats", "judges", people, "--judge", "openai:m", "--kept", "kept.jsonl", "--concurrency", "3", "--json"]
    fork = forks(command, tmp_path, endpoint.environment)
    endpoint.until(lambda counts: fork.over or counts["requests"] >= 7)
    os.kill(fork.pid, signal.SIGINT)
    assert fork.wait() == 130, fork.stderr
    assert "interrupted: what was said is in kept.jsonl" in fork.stderr
    assert (tmp_path / "kept.jsonl").read_text().count("\n") == endpoint.counts()["requests"] < 40


@pytest.mark.parametrize(
    ("module", "extra"), [("sklearn.feature_extraction.text", "ml"), ("jieba", "zh"), ("sklearn.linear_model", "ml")]
)
def test_a_missing_extra_is_named(
    duologue: Command, people: Path, monkeypatch: pytest.MonkeyPatch, module: str, extra: str
) -> None:
    segmentation.cache_clear()
    words_of_reply.cache_clear()
    monkeypatch.setitem(sys.modules, module, None)
    code, out, err = duologue("stats", "judges", people)
    assert (code, out) == (2, "")
    assert f'is not installed: pip install "duologue[{extra}]"' in err


def test_a_single_user_is_refused_in_one_line(duologue: Command, people: Path) -> None:
    code, out, err = duologue("stats", "judges", people / "human_exp_V2" / "User_3")
    assert (code, out) == (2, "")
    assert "one user says how satisfied they are" in err
