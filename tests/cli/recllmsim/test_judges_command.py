"""`duologue recllmsim judges`: what it prints and writes, which judges it takes, and what it refuses."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from duologue import data
from duologue.analysis.recllmsim.judges.text import words_of_reply
from duologue.data.labels.answers import Item
from duologue.data.text.words import segmentation
from duologue.runs.labels.answers import AnswerFiles
from tests.cli.recllmsim.rated import Command, labels_of_reply, write
from tests.labels_by_function import FIRST

pytest.importorskip("sklearn")


pytest.importorskip("jieba")


def test_json_has_every_judge_with_every_score_and_nothing_else_is_on_stdout(duologue: Command, people: Path) -> None:
    code, out, err = duologue("recllmsim", "judges", people, "--labels", "guess", "--json")
    assert code == 0, err
    report = json.loads(out)
    assert (report["turns"], report["users"], report["conversations"], report["leak"]["shared"]) == (40, 10, 20, 0)
    names = [row["judge"] for row in report["judges"]]
    assert names[:4] == ["commonest", "always 4", "mean", "user's mean"]
    assert names[-2:] == ["rules with hindsight", "guess"]
    assert {row["score"] for row in report["scores"]} == {"qwk", "mae", "gain", "auc", "concordance"}
    (mirror,) = [row for row in report["judges"] if row["judge"] == "guess"]
    assert mirror["auc"] == 0
    assert duologue("recllmsim", "judges", people, "--labels", "guess", "--json")[1] == out


def test_an_annotated_copy_and_a_function_are_judges(
    duologue: Command, people: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = write(tmp_path / "copy", labels_of_reply)
    Path("says_five.py").write_text("def always(conversation):\n    return [5] * (len(conversation.messages) // 2)\n")
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    code, out, err = duologue(
        "recllmsim", "judges", people, "--annotated", copy, "--model", "says_five:always", "--json"
    )
    assert code == 0, err
    report = json.loads(out)
    by_name = {row["judge"]: row for row in report["judges"]}
    assert by_name["copy: satisfaction"]["qwk"] == 1
    assert (by_name["says_five:always"]["qwk"], by_name["says_five:always"]["n"]) == (0, 40)
    accuracies = {row["judge"]: row["value"] for row in report["reason_scores"] if row["score"] == "accuracy"}
    assert accuracies["copy: reason"] == 1
    assert report["notes"]["reason_scores"] == []
    few = write(tmp_path / "few", lambda place: labels_of_reply(place) if place < 6 else {"satisfaction": "4"})
    report = json.loads(duologue("recllmsim", "judges", people, "--annotated", few, "--json")[1])
    (note,) = report["notes"]["reason_scores"]
    assert note.startswith("few: reason: gives no reason for ")


def test_an_annotator_as_annotate_takes_it_is_a_judge_that_sees_no_label(duologue: Command, people: Path) -> None:
    Path("annotates.py").write_text(
        "def always(conversation, label):\n"
        "    assert not any(message.labels for message in conversation.messages)\n"
        "    replies = sum(message.role == 'assistant' for message in conversation.messages)\n"
        "    return [{'satisfaction': 3, 'reason': '不可用'} if label.name == 'satisfaction' else 2] * replies\n"
    )
    code, out, err = duologue("recllmsim", "judges", people, "--model", "annotates:always", "--json")
    assert code == 0, err
    (row,) = [row for row in json.loads(out)["judges"] if row["judge"] == "annotates:always"]
    assert (row["n"], row["qwk"]) == (40, 0)
    Path("pages").mkdir()
    page = "---\ntitle: Mood\nunit: assistant turn\nparts:\n  guess: {scale: [1, 5]}\n---\nFrom 1 to 5.\n"
    Path("pages/guess.md").write_text(page)
    own = ("recllmsim", "judges", people, "--label", "guess", "--model", "annotates:always", "--json")
    code, out, err = duologue(*own, "--labels-dir", "pages")
    assert code == 0, err
    (row,) = [row for row in json.loads(out)["judges"] if row["judge"] == "annotates:always"]
    assert row["n"] == 40
    code, out, err = duologue(*own)
    assert (code, out) == (2, "")
    assert "guess" in err.splitlines()[-1]


def test_a_function_that_fails_is_told_in_one_line(duologue: Command, people: Path) -> None:
    Path("fails.py").write_text("def judge(conversation):\n    raise KeyError('mood')\n")
    code, out, err = duologue("recllmsim", "judges", people, "--model", "fails:judge")
    assert (code, out) == (2, "")
    assert err.splitlines()[-1] == "duologue: --model fails:judge: failed: KeyError: 'mood'"


def test_a_place_that_is_taken_is_refused_before_a_model_is_paid(
    duologue: Command, people: Path, faulty: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint = faulty(reply='{"reason": "fine", "value": "4"}')
    for name, value in endpoint.environment.items():
        monkeypatch.setenv(name, value)
    Path("there.json").write_text("mine")
    command = ("recllmsim", "judges", people, "--model", "openai:m", "--out", "there.json")
    for more, line in ((("--json",), "--force"), ((), "--out needs --format")):
        code, out, err = duologue(*command, *more)
        assert (code, out) == (2, "")
        assert line in err
    assert endpoint.counts()["requests"] == 0
    assert Path("there.json").read_text() == "mine"


def test_labels_that_are_left_out_and_users_without_a_name_are_told(duologue: Command, tmp_path: Path) -> None:
    lines = []
    for number in range(6):
        messages = [
            {"role": "user", "content": f"Where {number}?"},
            {"role": "assistant", "content": "There.", "satisfaction": (number % 5) + 1},
            {"role": "user", "content": "And then?"},
            {"role": "assistant", "content": "Home.", "satisfaction": 3.5 if number else 9},
        ]
        lines.append(json.dumps({"messages": messages, **({"user": f"u{number}"} if number < 2 else {})}))
    (tmp_path / "own.jsonl").write_text("\n".join(lines) + "\n")
    code, out, err = duologue("recllmsim", "judges", tmp_path / "own.jsonl", "--json")
    assert code == 0, err
    assert json.loads(out)["turns"] == 6
    assert "6 labels 'satisfaction' are left out: they are not whole numbers from 1 to 5" in err
    assert "4 of 6 conversations name no user" in err


@pytest.mark.heavy
def test_what_an_annotator_wrote_is_nobodys_satisfaction(duologue: Command, people: Path, tmp_path: Path) -> None:
    whole, part = tmp_path / "whole", tmp_path / "part"
    assert (
        duologue(
            "annotate", people, "--labels", "satisfaction", "--redo", "satisfaction", "--model", FIRST, "--out", whole
        )[0]
        == 0
    )
    for source in (whole, whole / "human_exp_V2"):
        code, out, err = duologue("recllmsim", "judges", source)
        assert (code, out) == (2, "")
        assert "duologue annotate wrote every 'satisfaction' there: no person wrote it" in err
    with AnswerFiles(tmp_path / "answers", "ann") as answers:
        for talk in data.load(whole).conversations:
            item = Item(label="satisfaction", conversation=talk.id, message=1)
            answers.put(item.answered({"satisfaction": 5, "reason": None}, "ann"))
    into = ("--labels", "satisfaction", "--answers", tmp_path / "answers", "--out", tmp_path / "both")
    again = ("--labels", "intent_people", "--model", FIRST, "--out", tmp_path / "again")
    assert duologue("label", whole, *into)[0] == 0
    assert duologue("annotate", tmp_path / "both" / "human_exp_V2", *again)[0] == 0
    assert duologue("convert", tmp_path / "again", tmp_path / "converted", "--to", "recllmsim")[0] == 0
    for source in (tmp_path / "both" / "human_exp_V2", tmp_path / "again", tmp_path / "converted"):
        assert "duologue annotate wrote every 'satisfaction' there" in duologue("recllmsim", "judges", source)[2]
    err = duologue("convert", tmp_path / "again", tmp_path / "lines.jsonl", "--to", "replay")[2]
    assert "lines.jsonl does not record that duologue annotate wrote intent, reason, satisfaction" in err
    half = write(tmp_path / "half", lambda place: labels_of_reply(place) if place % 2 else {})
    assert duologue("annotate", half, "--labels", "satisfaction", "--model", FIRST, "--out", part)[0] == 0
    code, out, err = duologue("recllmsim", "judges", part, "--json")
    assert code == 0, err
    assert "20 of 40 'satisfaction' were written by duologue annotate, not by a person: left out" in err
    assert json.loads(out)["judges"] == json.loads(duologue("recllmsim", "judges", half, "--json")[1])["judges"]


def test_a_copy_with_other_paths_is_matched_by_id(duologue: Command, people: Path, tmp_path: Path) -> None:
    copy = write(tmp_path / "copy", labels_of_reply)
    (tmp_path / "elsewhere").mkdir()
    for number, file in enumerate(sorted(copy.rglob("*.json"))):
        file.rename(tmp_path / "elsewhere" / f"{number}.json")
    code, out, err = duologue("recllmsim", "judges", people, "--annotated", tmp_path / "elsewhere", "--json")
    assert code == 0, err
    (row,) = [row for row in json.loads(out)["judges"] if row["judge"].startswith("elsewhere")]
    assert row["n"] == 40


def test_the_published_split_tells_its_leak(duologue: Command, people: Path) -> None:
    code, out, err = duologue("recllmsim", "judges", people, "--split", "published", "--format", "md")
    assert code == 0, err
    assert "of 8 test turns" in out
    assert "stand in training too" in out


def test_tables_are_written_as_a_folder_of_csv(duologue: Command, people: Path) -> None:
    code, _, err = duologue("recllmsim", "judges", people, "--format", "csv", "--out", "tables")
    assert code == 0, err
    files = {path.name for path in Path("tables").iterdir()}
    assert "judges_of_satisfaction_against_people.csv" in files
    assert duologue("recllmsim", "judges", people, "--format", "csv", "--out", "tables")[0] == 2


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["--label", "mood"], "no reply has a label 'mood' of 1 to 5"),
        (["--labels", "mood"], "no reply has a label 'mood' of 1 to 5"),
        (["--labels", "satisfaction"], "is people's own label: name another label, or give --annotated"),
        (["--model", "offline"], "offline model cannot judge"),
        (["--model", "json:nothing"], "has no attribute 'nothing'"),
        (["--model", "string:digits"], "is not a function"),
    ],
)
def test_what_cannot_be_measured_is_told_in_one_line(
    duologue: Command, people: Path, options: list[str], line: str
) -> None:
    code, out, err = duologue("recllmsim", "judges", people, *options)
    assert (code, out) == (2, "")
    assert line in err
    assert [line for line in err.splitlines() if line.startswith("duologue: ")] == [err.splitlines()[-1]]


def test_a_file_to_keep_is_not_put_where_it_would_be_read(duologue: Command, people: Path) -> None:
    code, _, err = duologue("recllmsim", "judges", people, "--journal", people / "kept.jsonl")
    assert code == 2
    assert "choose another place" in err


@pytest.mark.parametrize(
    ("module", "extra"),
    [("sklearn.feature_extraction.text", "stats"), ("jieba", "zh"), ("sklearn.linear_model", "stats")],
)
def test_a_missing_extra_is_named(
    duologue: Command, people: Path, monkeypatch: pytest.MonkeyPatch, module: str, extra: str
) -> None:
    segmentation.cache_clear()
    words_of_reply.cache_clear()
    monkeypatch.setitem(sys.modules, module, None)
    code, out, err = duologue("recllmsim", "judges", people)
    assert (code, out) == (2, "")
    assert f'is not installed: pip install "duologue[{extra}]"' in err


def test_a_single_user_is_refused_in_one_line(duologue: Command, people: Path) -> None:
    code, out, err = duologue("recllmsim", "judges", people / "human_exp_V2" / "User_3")
    assert (code, out) == (2, "")
    assert "one user says how satisfied they are" in err


def test_of_a_large_source_the_turns_of_drawn_users_are_taken(duologue: Command, people: Path) -> None:
    code, out, err = duologue("recllmsim", "judges", people, "--draw", 6, "--json")
    assert code == 0, err
    (line,) = [line for line in err.splitlines() if "drawn with seed 0" in line]
    assert line.startswith(f"{people}: 6 of ")
    every = json.loads(duologue("recllmsim", "judges", people, "--json")[1])
    assert json.loads(out)["turns"] < every["turns"]
