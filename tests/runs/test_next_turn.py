"""Asking users for their next turn: what is kept, what is asked again, and what an endpoint that fails leaves."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import duologue
from duologue import graphs, runs
from duologue.data import Conversation, Message, recllmsim
from duologue.data.people import Moment, NextTurn, moments_of
from duologue.graphs import Cast
from duologue.nodes.calls.gate import EndpointError
from duologue.runs.ask import Runs
from duologue.runs.engine import blocking
from duologue.runs.next_turn import folder_name, turns_in, turns_run
from duologue.runs.store import RunError


def next_turns(
    cast: Cast, moments: list[Moment], out: Path | None = None, seed: int = 0, **settings: Any
) -> list[NextTurn]:
    work = Runs({"turns": turns_run(cast, moments, seed)}, out).conversations(runs.RunSettings.of(**settings))
    return turns_in(cast, moments, blocking(work)["turns"])


@pytest.fixture
def moments() -> list[Moment]:
    """Twelve turns and six ends of six conversations."""
    situations = list(recllmsim.combined(recllmsim.shipped_tasks(), recllmsim.shipped_profiles().texts))
    conversations = []
    for number in range(6):
        turns = [f"Where to, number {number}?", "And then?"]
        messages = tuple(
            message
            for turn in turns
            for message in (Message(role="user", text=turn), Message(role="assistant", text="There."))
        )
        conversations.append(Conversation(id=f"c{number}", scenario=situations[number].scenario(), messages=messages))
    return list(moments_of(conversations))


class Counting:
    """A user that counts how often it is asked, and fails at some calls."""

    def __init__(self, fails: Iterable[int] = ()) -> None:
        self.calls, self.fails = 0, frozenset(fails)

    def cast(self) -> Cast:
        def user(messages: Any) -> str:
            self.calls += 1
            if self.calls in self.fails:
                raise OSError("the line is dead")
            return "More of that, please."

        return graphs.recllmsim.cast(user=user)


def test_a_finished_turn_is_not_asked_for_again(moments: list[Moment], tmp_path: Path) -> None:
    user = Counting()
    first = next_turns(user.cast(), moments, out=tmp_path / "out")
    assert {turn.text for turn in first} == {"More of that, please."}
    assert next_turns(user.cast(), moments, out=tmp_path / "out") == first
    assert user.calls == 18


@pytest.mark.filterwarnings("ignore")
def test_turns_that_could_not_be_asked_for_say_why_and_alone_are_asked_again(
    moments: list[Moment], tmp_path: Path
) -> None:
    user = Counting(fails={3, 8})
    turns = next_turns(user.cast(), moments, out=tmp_path / "out", concurrency=1)
    failed = [number for number, turn in enumerate(turns, start=1) if turn.failure]
    assert failed == [3, 8]
    assert "the line is dead" in str(turns[2].failure)
    again = next_turns(user.cast(), moments, out=tmp_path / "out", concurrency=1)
    assert user.calls == 18 + 2
    assert not any(turn.failure for turn in again)
    assert [turn for turn in again if turn not in turns] == [again[2], again[7]]


def test_a_folder_of_another_seed_is_refused(moments: list[Moment], tmp_path: Path) -> None:
    next_turns(graphs.recllmsim.cast(), moments[:2], out=tmp_path / "out")
    with pytest.raises(RunError):
        next_turns(graphs.recllmsim.cast(), moments[:2], out=tmp_path / "out", seed=1)


def test_the_same_seed_gives_the_same_turns_in_any_order(moments: list[Moment]) -> None:
    one = next_turns(graphs.recllmsim.cast(), moments, concurrency=1)
    other = next_turns(graphs.recllmsim.cast(), moments[::-1], concurrency=7)
    assert one == other[::-1]


def test_folders_of_users_have_readable_names_that_differ() -> None:
    names = [folder_name(spec) for spec in ("offline", "openai:m?temperature=0", "openai:m?temperature=1", "/../x")]
    assert len(set(names)) == 4
    assert all(name == name.strip("./") and "/" not in name for name in names)


def test_an_endpoint_that_accepts_no_key_leaves_each_turn_with_the_reason_where_others_answer(
    moments: list[Moment], faulty: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint = faulty(status=401)
    for name, value in endpoint.environment.items():
        monkeypatch.setenv(name, value)
    casts = {user: graphs.recllmsim.cast(user=user) for user in ("openai:m", "offline")}

    def asked(*users: str) -> dict[str, list[NextTurn]]:
        talks = blocking(Runs({user: turns_run(casts[user], moments) for user in users}).conversations())
        return {user: turns_in(casts[user], moments, talks[user]) for user in users}

    with pytest.raises(EndpointError, match="wrong_key"):
        asked("openai:m")
    turns = asked("openai:m", "offline")
    assert all(turn.failure for turn in turns["openai:m"])
    assert any("wrong_key" in str(turn.failure) for turn in turns["openai:m"])
    assert not any(turn.failure for turn in turns["offline"])
    assert endpoint.counts()["requests"] < 2 * len(moments)


def test_one_function_asks_users_of_any_kind_and_gives_the_report(moments: list[Moment], tmp_path: Path) -> None:
    conversations = list({id(moment.conversation): moment.conversation for moment in moments}.values())
    users = {"mine": lambda messages: "More of that, please.", "rules": "offline"}
    report = duologue.next_turn(conversations, users, limit=4, out=tmp_path)
    frame = report.table().frame()
    assert list(frame["row"])[-2:] == ["mine", "rules"]
    assert (set(frame["failed"]), set(frame["turns"])) == ({0}, {8})
    assert (tmp_path / folder_name("mine") / "conversations.jsonl").is_file()
    assert (tmp_path / "next_turn.json").is_file()


def test_a_bound_of_tokens_holds_over_what_was_paid_before(
    moments: list[Moment], faulty: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    endpoint = faulty(reply="Something near the sea, please.")
    for name, value in endpoint.environment.items():
        monkeypatch.setenv(name, value)

    def ask() -> list[bool]:
        cast = graphs.recllmsim.cast(user="openai:m")
        turns = next_turns(cast, moments, out=tmp_path / "out", concurrency=1, max_tokens=1_500)
        return [turn.failure is None for turn in turns]

    first = ask()
    requests = endpoint.counts()["requests"]
    assert 0 < sum(first) == requests < 18
    assert ask() == first
    assert endpoint.counts()["requests"] == requests
