"""Versions that are compared share what the user's model replies to the same, and pay for it once."""

import json
import logging
from importlib import import_module
from pathlib import Path

import pytest

import duologue as package
from duologue.data.formats.record_lines import read
from duologue.data.formats.source import CONVERSATIONS
from duologue.errors import SettingError
from duologue.nodes.calls.spending import Spending
from duologue.runs import Conduct
from duologue.runs.resuming import spent_before

AGENTS = """
def asks(messages):
    return f"For when? ({len(messages)})"


def books(messages):
    return asks(messages) if len(messages) < 3 else "It is booked."
"""
MODEL = "openai:m"
BOTH = 24
"""Replies of the user in 8 conversations of three turns."""


@pytest.fixture(autouse=True)
def endpoint(faulty, tmp_path, monkeypatch):
    """An endpoint that never gives the same reply twice."""
    opened = faulty(changes=True)
    for name, value in opened.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.syspath_prepend(tmp_path)
    Path("agents.py").write_text(AGENTS)
    goals = [{"goal": f"book table {n}", "success": {"text_contains": "booked"}} for n in range(4)]
    Path("goals.jsonl").write_text("".join(json.dumps(goal) + "\n" for goal in goals))
    return opened


def arguments(agent, *more, out="run"):
    options = ("--repeats", 2, "--max-turns", 3, "--no-page", "--json", "--scenarios", "goals.jsonl")
    return ("test", "--assistant", agent, "--user", MODEL, "--out", out, *options, *more)


def texts(folder, until=None):
    records = read(Path(folder) / CONVERSATIONS)
    return {one.id: [message.text for message in one.messages][:until] for one in records}


def shared(folder):
    return sum(one.shared for record in read(Path(folder) / CONVERSATIONS) for one in record.attempts("user"))


@pytest.mark.heavy
def test_two_equal_versions_have_equal_users_who_are_asked_once(duologue, endpoint):
    code, out, err = duologue(*arguments("agents:asks", "--against", "agents:asks"))
    assert code in (0, 1), err
    assert texts("run") == texts("run/against")
    assert endpoint.counts()["answered"] == BOTH
    result = json.loads(out)["against"]
    assert (result["shared_replies"], shared("run") + shared("run/against")) == (BOTH, BOTH)
    assert not any(pair["user_differs"] or pair["differs_at"] for pair in result["tested"])
    # A repeat is not another: its user was asked for itself.
    firsts = [words[0] for words in texts("run").values()]
    assert len(set(firsts)) == len(firsts) == 8
    code, out, _ = duologue("test", "--results", "run", "--against", "run/against", "--no-page")
    assert "all pairs are equal up to an answer of the agent, and 8 of 8 to the end" in out
    assert f"{BOTH} replies of the user are shared" in out


@pytest.mark.heavy
def test_replies_are_shared_until_the_assistants_differ(duologue, endpoint):
    code, out, err = duologue(*arguments("agents:books", "--against", "agents:asks", "--concurrency", 1))
    assert code in (0, 1), err
    new, old = texts("run"), texts("run/against")
    assert {name: words[:3] for name, words in new.items()} == {name: words[:3] for name, words in old.items()}
    assert all(pair["differs_at"] == 3 for pair in json.loads(out)["against"]["tested"])
    assert shared("run") + shared("run/against") == 16
    after = [words[4] for words in [*new.values(), *old.values()] if len(words) > 4]
    assert len(set(after)) == len(after) == endpoint.counts()["answered"] - 16


@pytest.mark.heavy
def test_two_models_as_assistants_are_asked_each_for_itself(duologue, endpoint):
    code, out, err = duologue(*arguments(MODEL, "--against", f"{MODEL}?temperature=0"))
    assert code in (0, 1), err
    new, old = texts("run", 2), texts("run/against", 2)
    assert [words[0] for words in new.values()] == [words[0] for words in old.values()]
    assert all(pair["differs_at"] == 1 for pair in json.loads(out)["against"]["tested"])
    assert json.loads(out)["against"]["shared_replies"] == 8


@pytest.mark.heavy
def test_an_earlier_run_keeps_its_users_replies_and_gives_them(duologue, endpoint):
    duologue(*arguments("agents:asks", out="before"))
    lines = [json.loads(line) for line in Path("before/calls.jsonl").read_text().splitlines()]
    assert lines[0] == {"calls": 1}
    assert [line["role"] for line in lines[1:]] == ["user"] * BOTH
    before = Path("before/calls.jsonl").read_bytes()
    code, out, err = duologue(*arguments("agents:books", "--against", "before"))
    assert (code in (0, 1), "asked anew" in err) == (True, False)
    assert endpoint.counts()["answered"] == BOTH + 8
    assert texts("run", 3) == texts("before", 3)
    assert (json.loads(out)["against"]["shared_replies"], shared("run"), shared("before")) == (16, 16, 0)
    assert Path("before/calls.jsonl").read_bytes() == before
    # What it took it gives on.
    code, out, _ = duologue(*arguments("agents:asks", "--against", "run", out="third"))
    assert texts("third", 3) == texts("before", 3)


@pytest.mark.heavy
def test_an_earlier_run_without_replies_is_named(duologue, endpoint):
    duologue(*arguments("agents:asks", out="before"))
    Path("before/calls.jsonl").unlink()
    _code, out, err = duologue(*arguments("agents:asks", "--against", "before"))
    assert "before: keeps no replies of its user's model, which is asked anew" in err
    result = json.loads(out)["against"]
    assert (result["shared_replies"], sum(pair["user_differs"] for pair in result["tested"])) == (0, 8)
    out = duologue("test", "--results", "run", "--against", "before", "--no-page")[1]
    assert "0 of 8 pairs are equal up to an answer of the agent" in out
    assert "in 8 the user differs after the same messages" in out


@pytest.mark.heavy
def test_a_comparison_that_was_cut_short_goes_on_with_the_same_replies_and_pays_none_again(duologue, endpoint):
    both = ("--against", "agents:books", "--concurrency", 3)
    assert duologue(*arguments("agents:asks", *both, "--max-run-tokens", 6000))[0] == 1
    cut = endpoint.counts()["answered"]
    assert 0 < cut < BOTH
    code, out, err = duologue(*arguments("agents:asks", *both, "--resume"))
    assert code in (0, 1), err
    assert texts("run", 3) == texts("run/against", 3)
    assert endpoint.counts()["answered"] == endpoint.counts()["answered_bodies"]
    code, out, err = duologue(*arguments("agents:asks", "--against", "agents:books", out="whole"))
    assert json.loads(out)["against"]["shared_replies"] == shared("run") + shared("run/against") == 16


@pytest.mark.heavy
def test_a_shared_reply_counts_once_in_what_a_resumed_run_has_spent(duologue, endpoint):
    duologue(*arguments("agents:asks", "--against", "agents:asks"))
    spent = Spending(max_tokens=10**9)
    for folder in ("run", "run/against"):
        spent_before(spent, package.graphs.agent_test.cast(user=MODEL), read(Path(folder) / CONVERSATIONS), (), None)
    assert spent.by_role["user"].calls == endpoint.counts()["answered"] == BOTH


@pytest.mark.heavy
def test_results_in_memory_share_replies_too(endpoint, caplog):
    goals = [{"goal": f"book table {n}", "success": {"text_contains": "booked"}} for n in range(4)]
    asks = import_module("agents").asks
    result = package.test(asks, goals, user=MODEL, max_turns=3, against=lambda messages: asks(messages))
    assert result.against.shared_replies == endpoint.counts()["answered"] == 12
    assert not any(pair.differs_at for pair in result.against.tested)
    with caplog.at_level(logging.INFO, logger="duologue"):
        again = package.test(asks, goals, user=MODEL, max_turns=3, against=result)
    assert sum(pair.user_differs for pair in again.against.tested) == 4
    assert "the earlier result: keeps no replies of its user's model" in caplog.text
    with pytest.raises(SettingError):
        package.test(asks, goals, against=asks, out="divided", conduct=Conduct(ray="local"))


@pytest.mark.heavy
@pytest.mark.parametrize("when", ["before", "amid", "after"])
def test_a_killed_comparison_ends_with_equal_users_and_pays_at_most_what_was_under_way_again(forks, endpoint, when):
    command = [str(part) for part in arguments("agents:books", "--against", "agents:asks", "--concurrency", 3)]
    resume: list[str] = []
    for at in (3, 9, 15, 22):
        fork = forks([*command, *resume], Path.cwd(), endpoint.environment)
        endpoint.change(kill={"pid": fork.pid, "at": at, "when": when})
        assert fork.wait() == -9, fork.stderr
        resume = ["--resume"]
    endpoint.change(kill=None)
    fork = forks([*command, *resume], Path.cwd(), endpoint.environment)
    assert fork.wait() in (0, 1), fork.stderr
    assert texts("run", 3) == texts("run/against", 3)
    assert endpoint.counts()["repeats"] <= 4 * 3
    assert shared("run") + shared("run/against") == 16


@pytest.mark.heavy
def test_a_version_takes_the_replies_of_an_earlier_run(forks, endpoint):
    for arguments_of in (arguments("agents:asks", out="before"), arguments("agents:asks", "--against", "before")):
        fork = forks([*map(str, arguments_of)], Path.cwd(), endpoint.environment)
        assert fork.wait() in (0, 1), fork.stderr
    assert texts("run") == texts("before")
    assert (endpoint.counts()["answered"], shared("run")) == (BOTH, BOTH)


def test_plans_count_only_what_can_be_called_and_say_where_it_is_less(duologue, endpoint):
    duologue(*arguments("agents:asks", out="before"))
    answered = endpoint.counts()["answered"]

    def plan(*command):
        return json.loads(duologue(*command, "--plan", "--json")[1])

    name = next(iter(texts("before")))
    for at, calls in ((0, 5), (1, 4), (2, 3), (3, 2)):  # of six messages
        planned = plan("fork", "before", "--id", name, "--at", at, "--repeats", 4)
        assert (planned["calls"]["usual"], planned["fewer"]) == (4 * calls, [])
    replay = plan("replay", "before")
    assert (replay["calls"]["usual"], replay["tokens"]["low"]) == (2 * BOTH, 0)
    assert "as if every replay left its record" in replay["fewer"][0]
    both = plan(*arguments("agents:asks", "--against", "agents:books"))
    assert both["calls"]["usual"] == 4 * BOTH
    assert "where it is sent the same, it is called once for all" in both["fewer"][0]
    assert endpoint.counts()["answered"] == answered
