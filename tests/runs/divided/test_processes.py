"""Runs that are divided among processes: what they write is what one process writes, whoever is killed on the way."""

import os
import signal
import time
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import duologue
from duologue import Limits, runs
from duologue.data.formats import record_lines
from duologue.errors import SettingError
from duologue.graphs import simquac
from duologue.nodes.calls.gate import EndpointError, Pace
from duologue.nodes.calls.spending import Spending
from duologue.nodes.contract import ContractError
from duologue.runs import Conduct, Control
from duologue.runs.divided import processes, sharing
from duologue.runs.divided.board import Board, WorkerDeaths
from duologue.runs.divided.shard_work import work
from duologue.runs.divided.shards import Shard
from duologue.runs.engine.figures import RunFigures
from duologue.runs.engine.reports import EndpointNow, Tally, WorkerOrders, WorkerReport
from tests.runs.dividing import Divided, children, gone, records, until

MISBEHAVING = "offline?misbehave=0.3"
LIMITS = Limits(max_turns=2, seed=5)


def cast(**more: Any) -> Any:
    return simquac.cast(**{"user": MISBEHAVING, "assistant": MISBEHAVING} | more)


def files(folder: Path) -> dict[str, bytes]:
    """The data set of a run, and which files are beside it."""
    contents = {path.name: path.read_bytes() for path in (folder / "dataset").iterdir()}
    return contents | {path.name: b"" for path in folder.iterdir() if path.is_file()}


@pytest.fixture
def in_threads(monkeypatch):
    """Workers are threads of this process, which begin at once."""
    import asyncio

    async def worked(shard: Shard, board: Board) -> int:
        loop = asyncio.get_running_loop()

        def exchange(report: WorkerReport) -> WorkerOrders:
            loop.call_soon_threadsafe(board.take, shard.name, report)
            return board.orders()

        await asyncio.to_thread(work, shard, exchange, shard.name)
        await asyncio.sleep(0)
        return 0

    monkeypatch.setattr(processes, "_worked", worked)
    monkeypatch.setattr(processes, "BETWEEN", 0.01)


def test_two_processes_write_what_one_writes_byte_for_byte(tmp_path, topics):
    scenarios = simquac.scenarios(topics())
    one = duologue.simulate(cast(), scenarios, limits=LIMITS, out=tmp_path / "one")
    two = duologue.simulate(cast(), scenarios, limits=LIMITS, out=tmp_path / "two", conduct=Conduct(processes=2))
    assert files(tmp_path / "one") == files(tmp_path / "two")
    assert records(tmp_path / "one") == records(tmp_path / "two")
    assert [conversation.without_timing() for conversation in one] == [
        conversation.without_timing() for conversation in two
    ]


def test_without_a_folder_the_conversations_come_all_the_same(in_threads, topics):
    scenarios = simquac.scenarios(topics())
    one = duologue.simulate(cast(), scenarios, limits=LIMITS)
    two = duologue.simulate(cast(), scenarios, limits=LIMITS, conduct=Conduct(processes=3))
    assert [conversation.without_timing() for conversation in one] == [
        conversation.without_timing() for conversation in two
    ]


def test_a_wrong_key_ends_all_processes_with_one_line(in_threads, faulty, monkeypatch, tmp_path, topics):
    endpoint = faulty(status=401)
    for name, value in endpoint.environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(EndpointError, match="401"):
        duologue.simulate(
            cast(user="openai:m"), simquac.scenarios(topics()), limits=LIMITS, out=tmp_path / "run",
            conduct=Conduct(processes=2),
        )  # fmt: skip
    assert not list((tmp_path / "run").glob("*.w-*"))


def test_a_conversation_that_fails_in_a_worker_is_in_the_list(in_threads, faulty, monkeypatch, tmp_path, topics):
    endpoint = faulty(faults={"400_policy": 1.0})
    for name, value in endpoint.environment.items():
        monkeypatch.setenv(name, value)
    conversations = duologue.simulate(
        cast(user="openai:m"), simquac.scenarios(topics()), limits=LIMITS, out=tmp_path / "run",
        conduct=Conduct(processes=2),
    )  # fmt: skip
    assert [conversation.stop for conversation in conversations] == ["model_failed"] * 6
    assert [conversation.id for conversation in record_lines.read(tmp_path / "run/failures.jsonl")] == [
        conversation.id for conversation in conversations
    ]


def test_a_worker_goes_on_where_the_one_before_was_killed(tmp_path, topics):
    (tmp_path / "run").mkdir()
    plan = runs.planned(cast(), simquac.scenarios(topics()))
    shard = Shard(
        name="00000", folder=tmp_path / "run", here=Path.cwd(), spec=cast().travelling(), states=plan, limits=LIMITS,
        pace=Pace(), concurrency=1, priced=False,
    )  # fmt: skip
    first = work(shard, lambda report: WorkerOrders(cancelled=report.tally.finished > 1, ending=None), "one")
    lines = (tmp_path / "run/conversations.w-00000.jsonl").read_bytes()
    second = work(shard, lambda report: WorkerOrders(), "two")
    assert 2 <= first.tally.finished <= second.tally.finished == 6
    assert (tmp_path / "run/conversations.w-00000.jsonl").read_bytes().startswith(lines)
    assert len(record_lines.read(tmp_path / "run/conversations.w-00000.jsonl")) == 6


def test_what_cannot_be_built_in_a_worker_ends_the_run_with_its_line(in_threads, tmp_path, topics, monkeypatch):
    travels = cast()
    monkeypatch.setattr(
        "duologue.runs.divided.shard_work.built", lambda spec: (_ for _ in ()).throw(SettingError("no such thing"))
    )
    with pytest.raises(runs.RunError, match="no such thing"):
        duologue.simulate(
            travels, simquac.scenarios(topics()), limits=LIMITS, out=tmp_path / "r", conduct=Conduct(processes=2)
        )


# -- whether, and into how many


def test_a_live_cast_is_refused_in_one_line_and_by_itself_stays_here(tmp_path, topics):
    live = cast().replace(user_simulator=lambda messages: "Who lived there?")
    scenarios = simquac.scenarios(topics(2))
    with pytest.raises(ContractError, match="cannot be built again in another process") as refused:
        duologue.simulate(live, scenarios, limits=LIMITS, out=tmp_path / "r", conduct=Conduct(processes=2))
    assert "\n" not in str(refused.value)
    assert (
        len(duologue.simulate(live, scenarios, limits=LIMITS, out=tmp_path / "s", conduct=Conduct(processes=None))) == 2
    )


@pytest.mark.parametrize(
    ("conduct", "named"),
    [({"record": "calls"}, "recorded and replayed in one process"), ({}, "watch and keep are called in the process")],
)
def test_what_only_one_process_can_do_is_refused(tmp_path, topics, conduct, named):
    with pytest.raises(SettingError, match=named):
        duologue.simulate(
            cast(), simquac.scenarios(topics(1)), out=tmp_path / "r", conduct=Conduct(processes=2, **conduct),
            watch=None if conduct else print,
        )  # fmt: skip


@pytest.mark.parametrize(
    ("conversations", "more", "processes"),
    [
        (100, {}, 1),  # 8 s of work
        (250, {}, 2),
        (10_000, {}, 4),
        (10_000, {"concurrency": 3}, 3),
    ],
)
def test_as_many_processes_are_chosen_as_have_work(monkeypatch, conversations, more, processes):
    monkeypatch.setattr(sharing, "processors", lambda: 4)
    conduct, concurrency = Conduct(), more.get("concurrency", "auto")
    assert sharing.processes_worth(conversations, Limits(max_turns=10), conduct, concurrency) == processes


def test_own_programs_are_not_divided_by_themselves(monkeypatch, tmp_path, topics):
    (tmp_path / "undivided.py").write_text("def speak(messages):\n    return 'Who?'\n")
    plan = runs.planned(cast(), simquac.scenarios(topics()))
    monkeypatch.setattr(sharing, "processes_worth", lambda *_: 2)

    def divided(cast: Any, processes: int | None) -> bool:
        conduct = Conduct(processes=processes)
        return sharing.division(cast, plan, LIMITS, conduct, "auto", watched=False) is not None

    assert [divided(cast(), number) for number in (None, 1, 2)] == [True, False, True]
    own = cast(assistant="undivided:speak")
    assert [divided(own, number) for number in (None, 1, 2)] == [False, False, True]


def test_limits_are_divided_without_a_rest():
    pace = Pace(concurrency=7)
    shares = [sharing.share(pace, 3, position) for position in range(3)]
    assert [share.concurrency for share in shares] == [3, 2, 2]
    assert [share.parts for share in shares] == [3, 3, 3]


# -- the sum of reports


def spent(tokens: int, cost: float | None = 0.0) -> Spending:
    spending = Spending()
    spending.add("m", {"input_tokens": tokens, "calls": 1}, role="user", query=None)
    spending.total.cost = cost
    return spending


def test_the_reports_of_workers_are_summed_and_bound_the_run():
    control, figures = Control(Spending(max_tokens=100)), RunFigures(9)
    control.spending.add("m", {"input_tokens": 20}, role="user", query=None)
    board = Board(control, [figures])
    board.take("a", WorkerReport("1", Tally(finished=1, turns=4, under_way=2), spent(30)))
    board.take("a", WorkerReport("1", Tally(finished=2, turns=6, under_way=1), spent(40)))
    board.take("b", WorkerReport("2", Tally(turns=1, unfinished=Counter(failed=1)), spent(39)))
    board.sum()
    assert (figures.finished, figures.counted().turns, figures.under_way(), figures.counted().unfinished) == (
        2,
        7,
        1,
        {"failed": 1},
    )
    assert (control.spending.total.tokens, board.orders().cutting) == (99, None)
    board.take("b", WorkerReport("2", Tally(turns=1), spent(40), over=True))
    board.sum()
    assert (board.orders().cutting or "").startswith("--max-run-tokens 100 is reached")
    assert control.spending.by_role["user"].calls == 3


def test_a_worker_in_place_of_a_dead_one_doubles_no_conversation_and_forgets_no_money():
    control, figures = Control(), RunFigures(9)
    board = Board(control, [figures])
    now = {"e": EndpointNow("e", 5, {"timeout": 1}, "gone", answered=True)}
    board.take("a", WorkerReport("1", Tally(finished=3, turns=9, under_way=2), spent(30), now))
    board.take("a", WorkerReport("2", Tally(finished=3, turns=0), spent(1)))
    board.take("a", WorkerReport("2", Tally(finished=4, turns=3), spent(5), over=True))
    board.take("a", WorkerReport("1", Tally(finished=9), spent(99)))  # comes too late
    board.sum()
    assert (figures.finished, figures.counted().turns, figures.under_way()) == (4, 12, 0)
    assert control.spending.total.tokens == 35
    assert [*control.endpoints()] == [EndpointNow("e", 5, {"timeout": 1}, None, answered=True)]
    assert board.answered == {"e"}


def test_workers_may_die_as_long_as_conversations_are_finished_and_three_times_without():
    deaths = WorkerDeaths()
    assert [deaths.too_many(begun, 0) for begun in (1, 1, 2, 4)] == [False] * 4
    assert [deaths.too_many(begun, begun) for begun in range(5, 50)] == [False] * 45
    assert [deaths.too_many(begun, 49) for begun in (49, 50, 52)] == [False] * 3
    assert deaths.too_many(53, 49)
    assert deaths.number == 4


# -- kills


@pytest.mark.heavy
def test_workers_and_parent_are_killed_and_the_run_is_resumed_with_another_number(forks, faulty, tmp_path):
    whole = Divided(forks, faulty(), tmp_path / "whole")
    whole.finish("--processes", "1")
    run = Divided(forks, faulty(latency=0.02), tmp_path / "run")
    kills = 0
    for number in (2, 3):
        fork = run.start("--processes", str(number))
        run.reached(run.endpoint.counts()["answered"] + 10, fork)
        os.kill(children(fork.pid)[0], signal.SIGKILL)  # another worker goes on with its shard
        kills += 1
        run.reached(run.endpoint.counts()["answered"] + 10, fork)
        workers = children(fork.pid)
        assert len(workers) == number
        fork.kill()
        kills += 1
        until(partial(gone, workers))
    run.finish("--processes", "2")
    assert run.result == whole.result
    counts = run.endpoint.counts()
    print(f"{kills} kills, {counts['repeats']} calls paid twice, of {counts['answered']}")
    assert counts["repeats"] <= kills * 4


@pytest.mark.heavy
def test_a_shard_whose_workers_always_die_ends_the_run_with_one_line(forks, faulty, tmp_path):
    run = Divided(forks, faulty(faults={"never": 1.0}), tmp_path / "run", topics=2)
    fork = run.start("--processes", "2")
    killed = 0
    while not fork.over and killed < 20:
        for pid in children(fork.pid):
            os.kill(pid, signal.SIGKILL)
            killed += 1
        time.sleep(0.3)
    assert fork.wait() == 1
    assert "workers died one after another (SIGKILL, as a system does that is out of memory)" in fork.stderr
    assert "Traceback" not in fork.stderr


@pytest.mark.heavy
def test_an_endpoint_sees_no_more_calls_at_the_same_time_than_allowed(forks, faulty, tmp_path):
    run = Divided(forks, faulty(latency=0.02), tmp_path / "run")
    run.finish("--processes", "3")
    assert 2 <= run.endpoint.counts()["most_in_flight"] <= 4


@pytest.mark.heavy
def test_a_bound_on_the_tokens_of_a_divided_run_ends_it_in_order_and_a_wider_one_goes_on(forks, faulty, tmp_path):
    whole = Divided(forks, faulty(), tmp_path / "whole", topics=8)
    whole.finish("--processes", "1")
    run = Divided(forks, faulty(latency=0.1), tmp_path / "run", topics=8)
    fork = run.start("--processes", "2", "--max-run-tokens", "1500")
    assert fork.wait() == 1
    assert "ended early: --max-run-tokens 1,500 is reached" in fork.stderr
    assert run.endpoint.counts()["answered"] < whole.endpoint.counts()["answered"]
    run.finish("--processes", "2")
    assert run.result[0] == whole.result[0]
    assert run.endpoint.counts()["repeats"] == 0


@pytest.mark.heavy
def test_ctrl_c_waits_for_the_workers_calls_and_a_second_one_ends_them(forks, faulty, tmp_path):
    run = Divided(forks, faulty(latency=0.05), tmp_path / "run", topics=24)
    fork = run.start("--processes", "2")
    run.reached(8, fork)
    for pid in (fork.pid, *children(fork.pid)):  # as a terminal does
        os.kill(pid, signal.SIGINT)
    assert fork.wait() == 130
    assert "press Ctrl-C again to stop now" in fork.stderr
    done = len(records(run.folder / "run"))
    assert done < 24
    # Empty where the calls of all those under way end in time.
    assert {conversation.stop for conversation in record_lines.read(run.folder / "run/failures.jsonl")} <= {"cancelled"}
    fork = run.start("--processes", "2")
    run.reached(run.endpoint.counts()["answered"] + 4, fork)
    os.kill(fork.pid, signal.SIGINT)
    until(lambda: "press Ctrl-C again" in fork.stderr or fork.over)
    os.kill(fork.pid, signal.SIGINT)
    assert fork.wait() == 130
    assert {conversation.stop for conversation in record_lines.read(run.folder / "run/failures.jsonl")} <= {"cancelled"}
    run.finish("--processes", "3")
    assert len(records(run.folder / "run")) == 24
