"""`duologue validity`: what it prints, writes and refuses; and `duologue.validity`."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer

import duologue as package
from duologue import data
from duologue.data.people import part_of
from duologue.testing import scripted_model

pytest.importorskip("scipy")
pytest.importorskip("sklearn")

Command = Callable[..., tuple[int, str, str]]


@pytest.mark.heavy
def test_the_offline_user_tells_all_three_by_satisfaction_and_two_by_success(duologue: Command, tmp_path: Path) -> None:
    code, out, err = duologue("validity", "--repeats", 1, "--out", tmp_path / "out", "--json")
    assert code == 0, err
    report = json.loads(out)
    told = {row["assistant"]: [row[by]["high"] < 0 for by in ("success", "satisfaction")] for row in report["told"]}
    assert told == {"forgetful": [True, True], "wordy": [False, True], "wrong": [True, True]}
    assert report["people"] is None
    assert json.loads((tmp_path / "out" / "report.json").read_text())["told"] == report["told"]
    folders = sorted(path.parent for path in (tmp_path / "out").rglob("manifest.json"))
    assert len(folders) == 8  # four assistants in two languages
    code, _, err = duologue("show", folders[0], "--out", tmp_path / "page.html")
    assert code == 0, err


def test_people_are_compared_with_the_rows_of_the_test_half(duologue: Command, people: Path) -> None:
    code, out, err = duologue("validity", people, "--no-meet", "--out", "o", "--json")
    assert code == 0, err
    report = json.loads(out)["people"]
    rows = {row["tester"]: row["concordance"]["value"] for row in report["rows"]}
    assert report["users"] == sum(part_of(f"u{number}") == "test" for number in range(30))
    assert report["pairs"] == 3 * report["users"]
    assert rows["chance"] == 0.5
    assert rows["reply length"] == 1.0


def test_the_same_command_goes_on_and_asks_nothing_again(duologue: Command, tmp_path: Path) -> None:
    command = ("validity", "--assistant", "good", "--assistant", "wrong", "--limit", 2, "--out", "o", "--json")
    code, first, err = duologue(*command)
    assert code == 0, err
    before = {path: path.read_bytes() for path in (tmp_path / "o").rglob("conversations.jsonl")}
    assert duologue(*command)[:2] == (0, first)
    assert before == {path: path.read_bytes() for path in (tmp_path / "o").rglob("conversations.jsonl")}


def test_all_runs_of_a_command_are_recorded_in_one_file(duologue: Command) -> None:
    command = ("validity", "--assistant", "good", "--assistant", "wordy", "--limit", 1, "--repeats", 1)
    code, _, err = duologue(*command, "--out", "first", "--record", "calls.jsonl")
    assert code == 0, err
    code, _, err = duologue(*command, "--out", "second", "--replay-calls", "calls.jsonl")
    assert code == 0, err
    assert Path("first/report.json").read_text() == Path("second/report.json").read_text()
    code, _, err = duologue(*command, "--out", "third", "--record", "calls.jsonl")
    assert (code, "calls.jsonl: is there already" in err) == (2, True)


@pytest.mark.heavy
def test_a_user_made_from_people_is_tried_on_contexts_of_the_test_half(duologue: Command, people: Path) -> None:
    user = f"people:{people}?part=tune"
    code, out, err = duologue("validity", people, "--user", user, "--repeats", 1, "--out", "o", "--json")
    assert code == 0, err
    document = json.loads(out)["told"]
    assert {row["scenarios"] for row in document} == {"contexts of people"}
    assert [row["satisfaction_by"] for row in document] == ["rule"] * 3
    donors = {
        message.extra["people"]["conversation"]
        for path in Path("o").rglob("conversations.jsonl")
        for talk in data.load(path.parent).conversations
        for message in talk.messages
        if message.role == "user"
    }
    assert donors
    assert all(part_of(f"u{donor.removeprefix('p').partition('-')[0]}") == "tune" for donor in donors)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--assistant", "clever"), "is not one of good, forgetful, wordy, wrong"),
        (("--assistant", "good"), "there is nothing to compare: give two, the first is the reference"),
        (("--assistant", "good", "--assistant", "good"), "each name once"),
        (("--assistant", "=x:y"), "write NAME=MODEL"),
        (("--no-meet",), "give SRC, people's conversations with their satisfaction"),
        (("--rater", "openai:x"), "give SRC, people's conversations with their satisfaction"),
        (("--scenarios", "nowhere.jsonl"), "nowhere.jsonl"),
    ],
)
def test_bad_input_is_one_line(duologue: Command, arguments: tuple[str, ...], message: str) -> None:
    code, out, err = duologue("validity", *arguments)
    assert code == 2
    assert message in err
    assert len(err.strip().splitlines()) == 1
    assert not out


def test_people_who_say_no_satisfaction_are_refused(duologue: Command, tmp_path: Path) -> None:
    path = tmp_path / "plain.jsonl"
    path.write_text('{"messages": [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Yes?"}]}\n')
    code, _, err = duologue("validity", path)
    assert code == 2
    assert "no conversation has a satisfaction of its user" in err.splitlines()[-1]


def test_ones_own_assistants_are_told_apart_by_the_scenarios_success() -> None:
    report = package.validity(
        assistants={"mine": lambda _: "Done: all is booked.", "yours": lambda _: "I cannot do that, sorry."},
        repeats=1,
    )
    (row,) = report.told
    assert (row.reference, row.assistant) == ("mine", "yours")
    assert row.success.value == 0  # neither says the values
    assert row.satisfaction.value < 0  # the user gives up


def test_a_model_that_plays_the_user_says_its_satisfaction_itself() -> None:
    model = scripted_model("Book a table for 4 people.", "Thank you, goodbye.", '{"reason": "so so", "value": "2"}')
    assistants = {"good": "duologue.nodes.seeded_faults:good", "wrong": "duologue.nodes.seeded_faults:wrong"}
    report = package.validity(user={"mine": model}, assistants=assistants, limit=1, repeats=1)
    (row,) = report.told
    assert (row.satisfaction_by, row.satisfaction.old) == ("model", 2.0)


def test_a_judge_is_sent_what_the_person_wanted_and_said_and_not_what_it_liked(people: Path) -> None:
    judge = scripted_model('{"reason": "fine", "value": "5"}')
    report = package.validity(people, {"mine": judge}, assistants={})
    assert report.people is not None
    assert report.people.rows[-1].concordance.value == 0.5  # it likes everything
    assert len(judge.sent) == report.people.conversations
    first = judge.texts[0]
    for text in ("You were the user", "goal: Plan", "More about the harbour", "Day one"):
        assert text in first
    assert "satisfaction" not in first.replace("how satisfied", "")


def test_a_tester_of_ones_own_stands_beside_the_others(people: Path) -> None:
    report = package.validity(people, [], assistants={}, testers={"short": lambda talk: -len(talk.messages[1].text)})
    assert report.people is not None
    row = report.people.rows[-1]
    assert (row.tester, row.concordance.value) == ("short", 0.0)


@pytest.mark.heavy
def test_of_a_large_source_the_conversations_of_drawn_users_are_taken_and_rated(
    duologue: Command, people: Path, monkeypatch: pytest.MonkeyPatch, httpserver: HTTPServer
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("OPENAI_BASE_URL", httpserver.url_for("/v1"))
    message = {"role": "assistant", "content": '{"reason": "fine", "value": "4"}'}
    usage = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}
    body = {"id": "x", "object": "chat.completion", "created": 0, "model": "m", "usage": usage}
    choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
    httpserver.expect_request("/v1/chat/completions").respond_with_json(body | {"choices": choices})
    command = ("validity", people, "--rater", "openai:m", "--no-meet", "--out", "o", "--draw", 30, "--json", "--yes")
    code, out, err = duologue(*command)
    assert code == 0, err
    assert f"{people}: 30 of 90 conversations are taken, those of 10 of 30 users, drawn with seed 0" in err
    report = json.loads(out)["people"]
    assert len(httpserver.log) == report["conversations"] == 3 * report["users"] < 30
    assert report["rows"][-1]["failed"] == 0
    assert json.loads(duologue(*command)[1])["people"] == report
    assert len(httpserver.log) == report["conversations"], "the same command asks about no conversation again"
    drawn = package.validity(data.load(people), [], judge="openai:m", assistants={}, draw=30).people
    assert drawn is not None
    assert (drawn.users, drawn.rows[-1].failed) == (report["users"], 0)
