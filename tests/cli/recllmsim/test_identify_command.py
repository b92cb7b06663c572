"""`duologue recllmsim identify`, `recllmsim satisfaction` and `recllmsim intents`: what they print, whom they ask, what they refuse."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.recllmsim.rated import write_profiled

pytest.importorskip("sklearn")
pytest.importorskip("jieba")

Command = Callable[..., tuple[int, str, str]]
ASPECTS = ("personality", "daily_interests", "travel_habits", "dining_preferences", "spending_habits")
RANKED = json.dumps({aspect: [5, 1, 2] for aspect in ASPECTS})


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """Two conversations of ten people, with profiles, satisfaction and intents."""
    return write_profiled(tmp_path / "people")


def rows_of(report: Any, aspect: str = "personality") -> dict[tuple[str, str], Any]:
    return {(row["split"], row["model"]): row for row in report["side_by_side"] if row["aspect"] == aspect}


@pytest.mark.heavy
def test_one_table_has_both_splits_beside_the_prior(duologue: Command, people: Path) -> None:
    command = ("recllmsim", "identify", people, "--split", "both", "--trees", "5", "--json")
    code, out, err = duologue(*command)
    assert code == 0, err
    report = json.loads(out)
    table = rows_of(report)
    assert {name for split, name in table if split == "users"} == {"label prior", "forest", "logistic", "offline"}
    assert {split for split, _ in table} == {"users", "published"}
    assert table["users", "logistic"]["hit_1"] == 1
    assert report["side_by_side"][0]["aspect"] == "mean"
    assert "is trained on too" in report["notes"][0]
    assert duologue(*command)[1] == out


@pytest.mark.heavy
def test_the_tables_of_a_terminal_are_as_wide_as_it_and_tell_what_knowing_users_is_worth(
    duologue: Command, people: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    code, out, err = duologue("recllmsim", "identify", people, "--split", "all", "--trees", "5")
    assert code == 0, err
    assert max(map(len, out.splitlines())) <= 80
    for title in (
        "the mean of 5 aspects",
        "Hit at 1 of each aspect",
        "Is the user known again?",
        "when the user is new",
    ):
        assert title in out
    rows = [line for line in out.splitlines() if line.startswith(("logistic", "forest", "offline"))]
    assert len(rows) == 3 * (3 + 3 + 4)
    assert "begins" not in out


def test_people_are_taken_by_their_assistant(duologue: Command, people: Path) -> None:
    words = ("recllmsim", "identify", people, "--model", "offline")
    code, _, err = duologue(*words, "--with-assistant", "one")
    assert (code, "0 conversations of people are with other assistants and left out (0 name none)" in err) == (0, True)
    code, _, err = duologue(*words, "--with-assistant", "other")
    assert code == 2
    assert "--with-assistant other: no conversation of people is with it: give one (20)" in err


def test_a_taken_file_is_refused_before_anything_is_read(duologue: Command, people: Path, tmp_path: Path) -> None:
    taken = tmp_path / "taken.json"
    taken.write_text("{}")
    for words in (("recllmsim", "identify"), ("recllmsim", "satisfaction"), ("recllmsim", "intents")):
        code, _, err = duologue(*words, people, "--json", "--out", taken)
        assert code == 2
        assert "conversations:" not in err
        assert "--force" in err
        code, _, err = duologue(*words, people, "--out", "new.txt")
        assert (code, "--out needs --format" in err) == (2, True)


def test_a_chat_model_is_asked_about_each_conversation_and_its_file_answers_the_next_time(
    duologue: Command, people: Path, faulty: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint = faulty(reply=RANKED)
    for name, value in endpoint.environment.items():
        monkeypatch.setenv(name, value)
    command = ("recllmsim", "identify", people, "--model", "openai:m", "--journal", "kept.jsonl", "--json")
    code, out, err = duologue(*command)
    assert code == 0, err
    row = rows_of(json.loads(out))["users", "openai:m"]
    assert (row["n"], row["hit_1"]) == (20, 0.5)  # the fifth option is "Calm"
    assert endpoint.counts()["requests"] == len(Path("kept.jsonl").read_text().splitlines()) == 20
    assert duologue(*command)[1] == out
    assert endpoint.counts()["requests"] == 20


def test_satisfaction_and_intents_are_told_with_the_prior_beside_them(duologue: Command, people: Path) -> None:
    code, out, err = duologue(
        "recllmsim", "satisfaction", people, "--text", "reply", "--trees", "5", "--target", "five", "--json"
    )
    assert code == 0, err
    report = json.loads(out)
    five = {(row["model"], row["score"]): row["value"] for row in report["scores"] if row["task"] == "five"}
    assert (five["logistic", "accuracy"], five["prior", "accuracy"]) == (1, pytest.approx(0.5, abs=0.5))
    assert report["shared"] == 0
    code, out, err = duologue(
        "recllmsim", "intents", people, "--model", "logistic", "--split", "published", "--format", "csv"
    )
    assert code == 0, err
    assert out.startswith("task,reads,model,split,score,value")
    assert "intent,history,logistic,published,accuracy,1.0" in out


def test_what_is_left_out_of_peoples_guesses_is_counted(duologue: Command, people: Path, tmp_path: Path) -> None:
    paths = [f"human_exp_V2/User_{number // 2}/旅行规划/{number}.json" for number in range(20)]
    lines = [
        {"label": "profile", "conversation": path, "path": path, "by": "a", "value": value}
        for path, value in [
            *((path, {"personality": ["冷静"]}) for path in paths[:10]),
            (paths[10], {"personality": ["冷静", "Calmm"], "mood": ["Calm"]}),
            ("gone.json", {"personality": ["冷静"]}),
        ]
    ]
    guesses = tmp_path / "guesses.jsonl"
    guesses.write_text("\n".join(json.dumps(line, ensure_ascii=False) for line in lines), encoding="utf-8")
    code, out, err = duologue("recllmsim", "identify", people, "--model", "offline", "--answers", guesses, "--json")
    assert code == 0, err
    assert rows_of(json.loads(out))["users", "people's guesses"]["n"] == 11
    assert "2 words of people's guesses are not options and are left out, such as personality 'Calmm'" in err
    assert "1 of 12 guesses of people are of no conversation here, and are left out" in err


@pytest.mark.parametrize("words", [("recllmsim", "identify"), ("recllmsim", "satisfaction"), ("recllmsim", "intents")])
def test_what_takes_long_tells_what_is_under_way(
    duologue: Command, people: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, str]
) -> None:
    from duologue.cli.streams import stderr

    lines: list[str] = []

    class Status:
        def __init__(self, line: str) -> None:
            lines.append(line)

        def __enter__(self) -> "Status":
            return self

        def __exit__(self, *_: object) -> None:
            lines.append("end")

        def update(self, line: str) -> None:
            lines.append(line)

    monkeypatch.setattr(stderr, "status", Status)
    code, _, err = duologue(*words, people, "--model", "logistic", "--trees", "2")
    assert code == 0, err
    assert (lines[0], lines[-1]) == (f"reads {people}", "end")
    assert len([line for line in lines if "logistic" in line]) >= 1


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["recllmsim", "identify", "--model", "oracle"], "--model oracle: is not a model"),
        (["recllmsim", "identify", "--setting", "sim"], "no conversation of simulated users has a profile"),
        (["recllmsim", "identify", "--ratio", "1"], "only for sim4human"),
        (["recllmsim", "identify", "--language", "en"], "no conversation has a profile of the vocabulary and is in en"),
        (["recllmsim", "identify", "--answers", "."], "has no guess"),
        (["recllmsim", "identify", "--top", "2"], "--top: is the number of hot or cold options: give --frequency"),
        (
            ["recllmsim", "identify", "--journal", "new.jsonl"],
            "--journal keeps replies of chat models: give one with --model",
        ),
        (
            ["recllmsim", "judges", "--journal", "new.jsonl"],
            "--journal keeps replies of chat models: give one with --model",
        ),
        (["recllmsim", "identify", "--fifth"], "only sim2human and human2sim can test a fifth"),
        (["recllmsim", "identify", "--pairs", "--setting", "sim"], "no conversation about skills of simulated users"),
        (["recllmsim", "satisfaction", "--target", "mood"], "--target mood: is not a target: give five"),
        (["recllmsim", "satisfaction", "--label", "mood"], "no reply has a label 'mood' of 1 to 5"),
        (["recllmsim", "satisfaction", "--model", "oracle"], "--model oracle: is not a model"),
        (
            ["recllmsim", "intents", "--group", "simulated"],
            "no message of simulated users in zh has exactly one intent",
        ),
    ],
)
def test_what_cannot_be_told_is_one_line(duologue: Command, people: Path, words: list[str], line: str) -> None:
    code, out, err = duologue(*words[:2], people, *words[2:])
    assert (code, out) == (2, "")
    assert line in err


def test_too_few_replies_to_learn_from_are_one_line_and_no_empty_table(duologue: Command, tmp_path: Path) -> None:
    file = tmp_path / "two.jsonl"
    file.write_text(
        "".join(
            f'{{"id": "{name}", "user": "{name}", "messages": [{{"role": "user", "content": "Hi"}}, '
            f'{{"role": "assistant", "content": "Hello", "satisfaction": {points}}}]}}\n'
            for name, points in (("a", 4), ("b", 2))
        )
    )
    code, out, err = duologue("recllmsim", "satisfaction", file)
    assert (code, out) == (2, "")
    assert "2 labelled replies of 2 users are too few" in err


@pytest.mark.parametrize(
    ("options", "module", "extra"),
    [(["--model", "xgboost"], "xgboost", "stats"), ([], "sklearn.feature_extraction.text", "stats")],
)  # fmt: skip
def test_a_missing_extra_is_named(
    duologue: Command, people: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], module: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    code, out, err = duologue("recllmsim", "identify", people, *options)
    assert (code, out) == (2, "")
    assert f'is not installed: pip install "duologue[{extra}]"' in err
