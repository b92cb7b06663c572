"""`duologue test --name-groups`: a model names groups of failures further, beside the rules."""

import json
import logging
from pathlib import Path
from xml.etree import ElementTree

import pytest

import duologue as package
from duologue.errors import SettingError

AGENTS = """
def refuses(messages):
    return "I cannot book."


def promises(messages):
    return "I will send it to you." if "1" in str(messages) else refuses(messages)


def name(conversation, label):
    return f"{label.name}: {conversation.scenario['cause']}"
"""
NAMED = 'kept <b>all</b>\nto itself \x1b[31m{"' + "x" * 300


@pytest.fixture(autouse=True)
def endpoint(faulty, tmp_path, monkeypatch):
    """An endpoint whose every reply is a name."""
    opened = faulty(reply=json.dumps({"failure": NAMED}))
    for name, value in opened.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.syspath_prepend(tmp_path)
    Path("agents.py").write_text(AGENTS)
    goals = [{"goal": f"book table {n}", "success": {"text_contains": "booked"}} for n in range(3)]
    Path("goals.jsonl").write_text("".join(json.dumps(goal) + "\n" for goal in goals))
    return opened


def arguments(*more, agent="agents:refuses", out="run"):
    options = ("--scenarios", "goals.jsonl", "--max-turns", 2, "--out", out)
    return ("test", "--assistant", agent, *options, *more)


def names(out):
    return [group["names"] for group in json.loads(out)["groups"]]


def test_groups_are_named_wherever_they_are_shown_and_names_are_data(duologue, endpoint):
    files = ("--junit", "j.xml", "--summary", "s.md")
    code, out, err = duologue(*arguments("--name-groups", "openai:m", *files))
    assert (code, endpoint.counts()["answered"]) == (0, 1), err
    assert 'the agent refused; "kept <b>all</b> to itself \\x1b[31m{"xx' in out
    assert "\x1b[31m" not in out
    page = Path("run/page.html").read_text()
    assert "kept &lt;b&gt;all&lt;/b&gt; to itself" in page
    assert "<b>all" not in page
    assert "to itself" in Path("s.md").read_text()
    assert "<b>" not in Path("s.md").read_text()
    assert any("to itself" in (one.text or "") for one in ElementTree.parse("j.xml").getroot().iter())
    (vote,) = map(json.loads, Path("run/failures/votes.jsonl").read_text().splitlines())
    assert (vote["label"], vote["units"], vote["votes"][0]["values"]["-1"]["failure"]) == ("failure", [-1], NAMED)
    assert not Path("run/failures/calls.jsonl").exists()


def test_names_are_kept_and_another_model_stands_beside_them(duologue, endpoint):
    first = names(duologue(*arguments("--name-groups", "openai:m", "--json"))[1])
    again = names(duologue(*arguments("--name-groups", "openai:m", "--json", "--resume"))[1])
    assert (first, endpoint.counts()["answered"]) == (again, 1)
    assert [(list(one), len(text)) for one in first for text in one.values()] == [(["openai:m"], 100)]
    code, out, _ = duologue(*arguments("--name-groups", "agents:name", "--json", "--resume"))
    assert (code, names(out)) == (0, [{"agents:name": "failure: the agent refused"}])
    assert len(Path("run/failures/votes.jsonl").read_text().splitlines()) == 2
    assert names(duologue(*arguments("--json", "--resume"))[1]) == [{}]


def test_groups_of_a_comparison_are_named_from_either_version(duologue, endpoint):
    both = ("--against", "agents:promises", "--name-groups", "agents:name", "--json")
    code, out, err = duologue(*arguments(*both))
    assert code == 0, err
    groups = {group["name"]: group["names"] for group in json.loads(out)["against"]["groups"]}
    assert len(groups) == 2
    assert groups == {cause: {"agents:name": f"failure: {cause}"} for cause in groups}
    code, out, _ = duologue("test", "--results", "run", "--against", "run/against", *both[2:])
    assert {group["name"]: group["names"] for group in json.loads(out)["against"]["groups"]} == groups


@pytest.mark.heavy
def test_bounds_hold_over_names_too_and_what_is_not_named_is_said(duologue, endpoint):
    duologue(*arguments(out="free"))
    tokens = sum(conversation.usage.tokens for conversation in package.load("free"))
    code, out, err = duologue(*arguments("--name-groups", "openai:m", "--max-run-tokens", tokens + 50, "--json"))
    assert (code, endpoint.counts()["requests"], names(out)) == (0, 0, [{}])
    assert f"1 of 1 groups are not named by openai:m: --max-run-tokens {tokens + 50:,} is reached" in err
    endpoint.change(status="500")
    code, out, err = duologue(*arguments("--name-groups", "openai:m", "--patience", "1s", "--json", out="two"))
    assert (code, names(out)) == (0, [{}])
    assert "1 of 1 groups are not named by openai:m" in err
    endpoint.change(status=None)
    code, out, err = duologue(*arguments("--name-groups", "openai:m", "--json", "--resume", out="two"))
    assert (code, list(names(out)[0])) == (0, ["openai:m"])


def test_a_plan_says_that_names_are_not_counted_and_nothing_is_asked(duologue, endpoint):
    code, out, _ = duologue(*arguments("--name-groups", "openai:m", "--plan"))
    assert (code, "openai:m to name groups" in out, endpoint.counts()["requests"]) == (0, True, 0)


@pytest.mark.parametrize(
    ("who", "named"),
    [
        ("offline", "--name-groups: the offline rules name nothing further"),
        ("nix:name", "--name-groups: there is no module 'nix'"),
        ("words", "model 'words'"),
    ],
)
def test_who_cannot_name_groups_is_refused_before_anything_is_simulated(duologue, who, named):
    code, _out, err = duologue(*arguments("--name-groups", who))
    assert (code, len(err.strip().splitlines()), Path("run").exists()) == (2, 1, False)
    assert named in err


def test_in_python_a_function_names_them_and_its_failure_is_logged(caplog):
    goals = [{"goal": f"book table {n}", "success": {"text_contains": "booked"}} for n in range(2)]

    def name(conversation, label):
        return conversation.messages[-1].text

    result = package.test(lambda messages: "I cannot.", goals, max_turns=1, name_groups=name)
    assert [group.names for group in result.groups] == [{"name": "I cannot."}]

    def fails(conversation, label):
        raise ValueError("no words")

    with caplog.at_level(logging.INFO, logger="duologue"):
        result = package.test(lambda messages: "I cannot.", goals, max_turns=1, name_groups=fails)
    assert ([group.names for group in result.groups], "no words" in caplog.text) == ([{}], True)
    with pytest.raises(SettingError, match="offline rules"):
        package.test(lambda messages: "I cannot.", goals, name_groups="offline")


@pytest.mark.heavy
@pytest.mark.parametrize("when", ["before", "amid", "after"])
def test_a_kill_while_groups_are_named_loses_at_most_what_was_under_way(forks, endpoint, when):
    command = [str(part) for part in arguments("--name-groups", "openai:m", agent="agents:promises")]
    fork = forks(command, Path.cwd(), endpoint.environment)
    endpoint.change(kill={"pid": fork.pid, "at": 1, "when": when})
    assert fork.wait() == -9, fork.stderr
    endpoint.change(kill=None)
    fork = forks([*command, "--resume", "--json"], Path.cwd(), endpoint.environment)
    assert fork.wait() == 0, fork.stderr
    assert [list(one) for one in names(fork.stdout)] == [["openai:m"]] * 2
    assert endpoint.counts()["repeats"] <= 2
