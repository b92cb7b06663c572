"""`duologue tune`: a search from the command line, its table and JSON, and one line for what cannot be searched."""

import json
import shlex

import pytest

from tests.runs import tuned_toys as toys

pytest.importorskip("optuna")
pytest.importorskip("sklearn")


@pytest.fixture
def people(tmp_path):
    return toys.written(tmp_path, 40)


@pytest.fixture
def search(tmp_path):
    path = tmp_path / "search.json"
    path.write_text('{"user.greeting": {"low": 0, "high": 1, "step": 1, "start": 1}}')
    return path


@pytest.mark.heavy
def test_a_search_is_told_in_a_table_with_the_line_that_simulates(duologue, people, search, tmp_path):
    out = tmp_path / "out"
    arguments = ("tune", "recllmsim", "--people", people, "--search", search, "--out", out, "--limit", 6)
    code, printed, err = duologue(*arguments, "--trials", 3)
    assert code == 0, err
    assert "First access to the test split (" in printed
    assert "trial 3 of 3" in err
    (command,) = [line for line in printed.splitlines() if line.startswith("duologue simulate ")]
    run = shlex.split(command)[1:]
    assert run[:2] == ["simulate", "recllmsim"]
    code, _, _ = duologue(*run[:-1], tmp_path / "run", "--limit", 1)
    assert code == 0
    code, printed, err = duologue(*arguments, "--trials", 3, "--resume", "--json")
    assert code == 0, err
    result = json.loads(printed)
    assert (len(result["trials"]), result["judged"]["opening"]["number"]) == (4, 1)
    assert result == json.loads((out / "tune.json").read_text())


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--search", "none.json"), "none.json"),
        (("--search", "bad.json"), "user.greeting: give it low and high, or choices"),
        (("--search", "wrong.json"), "no argument 'bold'"),
        (("--user", "openai:NAME"), "--search"),
        (("--search-templates",), "--reflect"),
        (("--reflect", "offline"), "--search-templates"),
        (("--search-templates", "--reflect", "openia:NAME"), "openia"),
        (("--user", "people:people.jsonl?part=test"), "not the part to tune on"),
        (("--set", "user"), "NAME=VALUE"),
        (("--people", "few.jsonl"), "few.jsonl: 0 of its users are in the part 'learn'"),
    ],
)
def test_what_cannot_be_searched_is_one_line(duologue, people, tmp_path, monkeypatch, more, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "few.jsonl").write_text(people.read_text().partition("\n")[0])
    (tmp_path / "bad.json").write_text('{"user.greeting": 1}')
    (tmp_path / "wrong.json").write_text('{"user.bold": {"low": 0, "high": 1.0}}')
    code, _, err = duologue("tune", "recllmsim", "--people", people, "--out", "out", "--trials", 1, *more)
    assert (code, err.count("\n")) == (2, 1), err
    assert message in err
    assert not (tmp_path / "out").exists()


@pytest.mark.heavy
def test_a_search_is_recorded_and_replayed(duologue, people, search, tmp_path):
    code = "from duologue.testing import scripted_model\nhelper = scripted_model('Here is a plan.')\n"
    (tmp_path / "recorded_helper.py").write_text(code)
    sides = ("--assistant", "recorded_helper:helper")
    command = ("tune", "recllmsim", "--people", people, "--search", search, "--limit", 2, "--trials", 1, *sides)
    code, _, err = duologue(*command, "--out", "noisy", "--record", "calls.jsonl")
    assert (code, "takes no seed" in err and "--noise-runs 0" in err) == (2, True)
    code, _, err = duologue(*command, "--noise-runs", 0, "--out", "first", "--record", "calls.jsonl")
    assert code == 0, err
    code, _, err = duologue(*command, "--noise-runs", 0, "--out", "second", "--replay-calls", "calls.jsonl")
    assert code == 0, err
    assert (tmp_path / "first/tune.json").read_text() == (tmp_path / "second/tune.json").read_text()


def test_people_and_folder_have_to_be_named(duologue, tmp_path):
    code, _, err = duologue("tune", "recllmsim", "--out", tmp_path / "out")
    assert code == 2
    assert "--people: is needed" in err


def test_the_host_of_the_model_that_writes_pages_is_said_before_it_is_asked(duologue, people, tmp_path, monkeypatch):
    pytest.importorskip("gepa")
    monkeypatch.setenv("OPENAI_API_KEY", "not-needed")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    arguments = ("--people", people, "--search-templates", "--reflect", "openai:NAME", "--trials", 0, "--limit", 2)
    complaint = duologue("tune", "recllmsim", *arguments, "--max-cost", 1, "--out", tmp_path / "out")[2]
    assert "the price of the model 'NAME' (127.0.0.1:9) is unknown" in complaint
    complaint = duologue("tune", "recllmsim", *arguments, "--max-run-tokens", 1, "--out", tmp_path / "out")[2]
    assert "calls go to 127.0.0.1:9" in complaint
