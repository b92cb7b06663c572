"""`duologue papers recllmsim`: what its predictions print, whom they ask, what they refuse."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.recllmsim.rated import Command, labels_of_reply, write, write_profiled

pytest.importorskip("sklearn")
pytest.importorskip("jieba")

PAPERS = ("papers", "recllmsim")
ASPECTS = ("personality", "daily_interests", "travel_habits", "dining_preferences", "spending_habits")


@pytest.fixture
def profiled(tmp_path: Path) -> Path:
    """Two conversations of ten people, with profiles, satisfaction and intents."""
    return write_profiled(tmp_path / "profiled")


@pytest.mark.parametrize(
    ("command", "source", "reply", "counts"),
    [
        ("predict", "profiled", json.dumps({aspect: [5, 1, 2] for aspect in ASPECTS}), (20, 20)),
        ("judges", "people", '{"reason": "fine", "value": "4"}', (40, 40)),
    ],
)
def test_a_chat_model_is_asked_about_each_thing_and_its_file_answers_the_next_time(
    duologue: Command, request: Any, faulty: Any, monkeypatch: pytest.MonkeyPatch, command: str, source: str, reply: str, counts: tuple[int, int]
) -> None:  # fmt: skip
    endpoint = faulty(reply=reply)
    for name, value in endpoint.environment.items():
        monkeypatch.setenv(name, value)
    words = (*PAPERS, command, request.getfixturevalue(source), "--model", "openai:m", "--journal", "kept.jsonl")
    code, out, err = duologue(*words, "--json")
    assert code == 0, err
    table = json.loads(out)["mean" if command == "predict" else "judges"]
    (row,) = [row for row in table if "openai:m" in row.values() and row["split"] == "users"]
    assert (row["n"], endpoint.counts()["requests"]) == counts
    assert duologue(*words, "--json")[1] == out
    assert endpoint.counts()["requests"] == counts[1]


def test_a_bound_ends_the_asking_and_what_is_missing_is_told(
    duologue: Command, people: Path, faulty: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint = faulty(reply='{"reason": "fine", "value": "4"}')
    for name, value in endpoint.environment.items():
        monkeypatch.setenv(name, value)
    words = (*PAPERS, "judges", people, "--model", "openai:m", "--concurrency", "1", "--json")
    code, out, err = duologue(*words, "--max-tokens", "900")
    assert (code, json.loads(out)["unanswered"]) == (1, 39)
    assert "openai:m: gave no answer about 39 of 40 turns, which are left out of its row" in err


def test_a_copy_with_a_judges_labels_is_a_judge(duologue: Command, people: Path, tmp_path: Path) -> None:
    copy = write(tmp_path / "copy", lambda place: {"satisfaction": labels_of_reply(place)["guess"]})
    code, out, err = duologue(*PAPERS, "judges", people, "--model", copy, "--json")
    assert code == 0, err
    rows = {row["judge"]: row for row in json.loads(out)["judges"] if row["split"] == "users"}
    assert rows[str(copy)]["qwk"] < -0.5
    assert rows[str(copy)]["n"] == 40


def test_other_conversations_are_learnt_from_and_people_who_guess_are_a_row(
    duologue: Command, profiled: Path, tmp_path: Path
) -> None:
    answers = tmp_path / "answers"
    answers.mkdir()
    guess = {"label": "profile", "conversation": "gone", "by": "ann", "value": {"personality": ["Calm"]}}
    paths = [f"human_exp_V2/User_{number // 2}/旅行规划/{number}.json" for number in range(8)]
    lines = [guess, *({**guess, "path": path, "conversation": path} for path in paths)]
    (answers / "ann.jsonl").write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
    words = (*PAPERS, "predict", profiled, "--train", profiled, "--model", "logistic", "--model", answers, "--json")
    code, out, err = duologue(*words)
    assert code == 0, err
    report = json.loads(out)
    assert {row["training"] for row in report["mean"]} == {"own", "other", "both", "hot", "cold"}
    ann = [row for row in report["aspects"] if row["model"] == f"people: {answers}" and row["training"] == "own"]
    assert {(row["aspect"], row["n"], row["hit_1"]) for row in ann if row["split"] == "users"} == {
        ("personality", 8, 0.5)
    }
    assert "1 guesses are of no conversation here" in err


def test_intents_and_satisfaction_are_predicted_with_the_prior_beside_them(duologue: Command, profiled: Path) -> None:
    for command, task in (("intents", "intent"), ("satisfaction", "five")):
        code, out, err = duologue(*PAPERS, command, profiled, "--model", "logistic", "--json")
        assert code == 0, err
        rows = [row for row in json.loads(out)["scores"] if (row["task"], row["split"]) == (task, "users")]
        values = {(row["model"], row["score"]): row["value"] for row in rows}
        assert values["logistic", "accuracy"] > values["prior", "accuracy"]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["predict", "--model", "oracle"], "--model oracle: is not a model"),
        (["predict", "--model", "."], "has no guess"),
        (["predict", "--journal", "new.jsonl"], "--journal keeps replies of chat models"),
        (["intents", "--model", "oracle"], "--model oracle: is not a model"),
        (["judges", "--model", "offline"], "the offline model cannot judge"),
        (["stats", "--out", "new.txt"], "--out needs --format"),
    ],
)
def test_what_cannot_be_done_is_one_line(duologue: Command, profiled: Path, words: list[str], line: str) -> None:
    code, out, err = duologue(*PAPERS, words[0], profiled, *words[1:])
    assert (code, out) == (2, "")
    assert line in err


def test_conversations_without_what_is_measured_are_refused(duologue: Command, tmp_path: Path) -> None:
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yes"}]
    (tmp_path / "mine.jsonl").write_text(json.dumps({"messages": messages}) + "\n")
    for command in ("stats", "predict", "intents", "satisfaction", "judges"):
        code, out, err = duologue(*PAPERS, command, "mine.jsonl")
        assert (code, out) == (2, "")
        assert ": give " in err, command
