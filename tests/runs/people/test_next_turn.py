"""Asking users for their next turn: what is kept, what is asked again, and what an endpoint that fails leaves."""

import json
import os
import signal

import pytest

import duologue
from duologue import graphs, runs
from duologue.data import Conversation, Message, recllmsim
from duologue.data.next_turns import moments_of
from duologue.runs.store import RunError
from duologue.runs.people.next_turn import folder_name, next_turns


@pytest.fixture
def moments():
    """Twelve turns and six ends of six conversations."""
    situations = list(recllmsim.combined(recllmsim.shipped_tasks(), recllmsim.shipped_profiles().texts))
    conversations = []
    for number in range(6):
        turns = [f"Where to, number {number}?", "And then?"]
        messages = [
            message
            for turn in turns
            for message in (Message(role="user", text=turn), Message(role="assistant", text="There."))
        ]
        conversations.append(Conversation(id=f"c{number}", scenario=situations[number].scenario(), messages=messages))
    return list(moments_of(conversations))


class Counting:
    """A user that counts how often it is asked, and fails at some calls."""

    def __init__(self, fails=()):
        self.calls, self.fails = 0, frozenset(fails)

    def cast(self):
        def user(messages):
            self.calls += 1
            if self.calls in self.fails:
                raise OSError("the line is dead")
            return "More of that, please."

        return graphs.recllmsim.cast(user=user)


def test_a_finished_turn_is_not_asked_for_again(moments, tmp_path):
    user = Counting()
    first = next_turns(user.cast(), moments, out=tmp_path)
    assert user.calls == 18
    assert next_turns(user.cast(), moments, out=tmp_path) == first
    assert next_turns(user.cast(), moments[:4], out=tmp_path) == first[:4]
    assert user.calls == 18
    assert sorted(path.name for path in tmp_path.iterdir()) == ["said.jsonl", "settings.json"]
    lines = [json.loads(line) for line in (tmp_path / "said.jsonl").read_text().splitlines()]
    assert {line["text"] for line in lines} == {"More of that, please."}


def test_turns_that_could_not_be_asked_for_say_why_lose_no_other_and_alone_are_asked_again(moments, tmp_path):
    user = Counting(fails={3, 8})
    turns = next_turns(user.cast(), moments, out=tmp_path, concurrency=1)
    assert [number for number, turn in enumerate(turns, start=1) if turn.failure] == [3, 8]
    assert "the line is dead" in turns[2].failure
    assert turns[2].text == ""
    again = next_turns(user.cast(), moments, out=tmp_path, concurrency=1)
    assert user.calls == 18 + 2
    assert not any(turn.failure for turn in again)
    assert [turn for turn in again if turn not in turns] == [again[2], again[7]]


def test_a_folder_of_another_user_seed_or_file_is_refused_in_one_line(moments, tmp_path):
    next_turns(graphs.recllmsim.cast(), moments[:2], out=tmp_path)
    for settings in ({"cast": Counting().cast()}, {"seed": 1}, {"attempts": 2}):
        cast = settings.pop("cast", graphs.recllmsim.cast())
        with pytest.raises(RunError, match="choose another --out folder"):
            next_turns(cast, moments[:2], out=tmp_path, **settings)
    (tmp_path / "settings.json").unlink()
    with pytest.raises(RunError, match="has no settings"):
        next_turns(graphs.recllmsim.cast(), moments[:2], out=tmp_path)


def test_the_same_seed_gives_the_same_turns_in_any_order(moments):
    one = next_turns(graphs.recllmsim.cast(), moments, concurrency=1)
    other = next_turns(graphs.recllmsim.cast(), moments[::-1], concurrency=7)
    assert one == other[::-1]


def test_folders_of_users_have_readable_names_that_differ():
    names = [folder_name(spec) for spec in ("offline", "openai:m?temperature=0", "openai:m?temperature=1", "/../x")]
    assert len(set(names)) == 4
    assert all(name == name.strip("./") and "/" not in name for name in names)
    assert names[0].startswith("offline-")


@pytest.fixture
def people(tmp_path):
    """A file of eight people's conversations, 24 moments; gives the command that asks about them."""
    lines = [
        {"id": f"m{n}", "user": f"u{n}", "goal": f"Trip {n}",
         "messages": [{"role": "user", "content": f"Trip {n}?"}, {"role": "assistant", "content": "Yes."},
                      {"role": "user", "content": "When?"}, {"role": "assistant", "content": "In May."}]}
        for n in range(8)
    ]  # fmt: skip
    (tmp_path / "people.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return "next-turn people.jsonl --user openai:m --out out --yes --concurrency 2".split()


@pytest.mark.heavy
def test_every_reply_of_an_endpoint_is_paid_for_once_through_kills(people, faulty, tmp_path, forks):
    """A command that is killed at several replies and called again, against an endpoint that counts."""
    endpoint = faulty(reply="Something near the sea, please.")
    kills = 0
    for answered in (3, 7, 12):
        fork = forks(people, tmp_path, endpoint.environment)
        endpoint.change(kill={"pid": fork.pid, "at": answered, "when": "after"})
        kills += fork.wait() == -9
    endpoint.change(kill=None)
    fork = forks(people, tmp_path, endpoint.environment)
    assert fork.wait() == 0, fork.stderr
    counts = endpoint.counts()
    assert kills >= 2
    assert counts["answered"] - counts["answered_bodies"] <= 2 * kills  # at most what was under way
    (folder,) = [path for path in (tmp_path / "out").iterdir() if path.is_dir()]
    assert sorted(path.name for path in folder.iterdir()) == ["said.jsonl", "settings.json"]
    turns = [json.loads(line) for line in (folder / "said.jsonl").read_text().splitlines()]
    assert len({line["id"] for line in turns if "failure" not in line}) == 24
    fork = forks(people, tmp_path, endpoint.environment)
    assert fork.wait() == 0, fork.stderr
    assert endpoint.counts()["answered"] == counts["answered"]


@pytest.mark.heavy
def test_a_command_that_is_interrupted_says_where_it_goes_on_and_goes_on_there(people, faulty, tmp_path, forks):
    endpoint = faulty(reply="Something near the sea, please.", hold_at=6)
    fork = forks(people, tmp_path, endpoint.environment)
    endpoint.until(lambda counts: counts["held"] == 2)
    os.kill(fork.pid, signal.SIGINT)
    endpoint.until(lambda counts: "press Ctrl-C again" in fork.stderr)
    os.kill(fork.pid, signal.SIGINT)
    assert fork.wait() == 130
    assert fork.stderr.splitlines()[-1] == "interrupted: the replies are in out; continue with the same command"
    assert fork.stdout == ""
    endpoint.change(hold_at=None)
    fork = forks(people, tmp_path, endpoint.environment)
    assert fork.wait() == 0, fork.stderr
    assert endpoint.counts()["answered"] == 24


def test_an_endpoint_that_accepts_no_key_leaves_each_turn_with_the_reason(moments, faulty, monkeypatch):
    endpoint = faulty(status=401)
    for name, value in endpoint.environment.items():
        monkeypatch.setenv(name, value)
    turns = next_turns(graphs.recllmsim.cast(user="openai:m"), moments)
    assert all(turn.failure for turn in turns)
    assert any("wrong_key" in turn.failure for turn in turns)
    assert endpoint.counts()["requests"] < len(moments)


def test_one_function_asks_users_of_any_kind_and_gives_the_report(moments, tmp_path):
    conversations = list({id(moment.conversation): moment.conversation for moment in moments}.values())
    users = {"mine": lambda messages: "More of that, please.", "rules": "offline"}
    report = duologue.next_turn(conversations, users, limit=4, out=tmp_path)
    assert [row.name for row in report.rows][-2:] == ["mine", "rules"]
    assert all(row.failed == 0 for row in report.rows)
    assert report.turns == 8
    assert (tmp_path / folder_name("mine") / "said.jsonl").is_file()
    assert duologue.next_turn(conversations, "offline", limit=4).rows[-1].name == "offline"


def test_a_bound_of_tokens_holds_over_what_was_paid_before(moments, faulty, monkeypatch, tmp_path):
    endpoint = faulty(reply="Something near the sea, please.")
    for name, value in endpoint.environment.items():
        monkeypatch.setenv(name, value)

    def ask():
        conduct = runs.Conduct(max_run_tokens=1_500)
        return next_turns(graphs.recllmsim.cast(user="openai:m"), moments, out=tmp_path, concurrency=1, conduct=conduct)

    first = ask()
    requests = endpoint.counts()["requests"]
    assert 0 < requests < 18
    assert sum(not turn.failure for turn in first) == requests
    assert [turn.failure is None for turn in ask()] == [turn.failure is None for turn in first]
    assert endpoint.counts()["requests"] == requests
