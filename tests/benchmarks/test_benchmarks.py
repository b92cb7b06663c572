"""The benchmark measures what it says: counted, never by a clock."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks import idiomatic, memory, one_by_one, ours, reading, replies, table
from tests.benchmarks.endpoint import Connection, Endpoint, Settings
from tests.benchmarks.instant import InstantChatModel, called_alone
from tests.benchmarks.measuring import IMPLEMENTATIONS
from tests.benchmarks.parts import PARTS, checked, small
from tests.benchmarks.processes import NoResultError
from tests.benchmarks.workload import Pages, Workload

WORK = Workload(port=0, conversations=3, turns=2, concurrency=2)
PAGES = Pages(user="You are a user.", situation="A trip.", opening="\nBegin.", reminder="\n\n<note>", assistant="Help.")


@pytest.fixture
async def endpoint() -> AsyncIterator[tuple[Endpoint, int]]:
    """The endpoint in the test's own loop, and its port."""
    loop = asyncio.get_running_loop()
    served = Endpoint(loop)
    server = await loop.create_server(lambda: Connection(served), "127.0.0.1", 0)
    yield served, server.sockets[0].getsockname()[1]
    server.close()
    served.close()
    await asyncio.sleep(0)  # connections are lost in the next round of the loop


@pytest.fixture
async def stock(work: Workload) -> AsyncIterator[Any]:
    """Stock ChatOpenAI, whose connections are closed after the test."""
    model: Any = idiomatic.stock_model(work)
    yield model
    await model.root_async_client.close()


@pytest.fixture
def work(endpoint: tuple[Endpoint, int], monkeypatch: pytest.MonkeyPatch) -> Workload:
    workload = replace(WORK, port=endpoint[1], pages=asdict(PAGES))
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-no-one-42")
    monkeypatch.setenv("OPENAI_BASE_URL", workload.url)
    return workload


async def test_our_own_run_makes_the_calls_that_were_asked_for(endpoint, work, tmp_path):
    assert await ours.held(work, tmp_path / "run") == 12
    assert endpoint[0].counts.calls == 12
    assert (tmp_path / "run/conversations.jsonl").read_text().count("\n") == 3


async def test_the_pages_of_a_run_let_others_send_as_much(endpoint, work, tmp_path):
    await ours.held(replace(work, conversations=1), tmp_path / "run")
    counts = endpoint[0].counts
    pages = Pages.of([json.loads(body) for body in counts.bodies])
    endpoint[0].counts = type(counts)()
    await asyncio.to_thread(one_by_one.held, replace(work, conversations=1, pages=asdict(pages)))
    assert endpoint[0].counts.calls == counts.calls == 4
    roles = [[message["role"] for message in json.loads(body)["messages"]] for body in endpoint[0].counts.bodies]
    assert roles == [[message["role"] for message in json.loads(body)["messages"]] for body in counts.bodies]
    assert abs(endpoint[0].counts.bytes / counts.bytes - 1) < 0.05


async def test_the_idiomatic_loop_makes_the_calls_that_were_asked_for(endpoint, work, stock, tmp_path):
    assert await idiomatic.held(work, stock, tmp_path / "out") == 12
    assert endpoint[0].counts.calls == 12
    assert endpoint[0].counts.most_under_way <= 2
    assert (tmp_path / "out").read_text().count("\n") == 3


async def test_the_bare_client_makes_the_calls_that_were_asked_for_over_connections_that_stay_open(endpoint, work):
    pytest.importorskip("aiohttp")
    from tests.benchmarks import bare

    assert await bare.held(work) == 12
    assert (endpoint[0].counts.calls, endpoint[0].counts.connections) == (12, 2)


@pytest.mark.heavy
async def test_openevals_makes_the_calls_that_were_asked_for(endpoint, work, stock):
    pytest.importorskip("openevals")
    from tests.benchmarks import by_openevals

    assert await by_openevals.held(work, stock) == 12
    assert endpoint[0].counts.calls == 12


async def test_with_an_instant_model_both_graphs_make_as_many_calls_as_the_model_alone(work, tmp_path):
    ours_model, other = InstantChatModel(), InstantChatModel()
    assert await ours.held(replace(work, in_folder=False), tmp_path, ours_model, ours_model) == 12
    assert await idiomatic.held(work, other, tmp_path / "out") == 12
    assert ours_model.calls == other.calls == await called_alone(work) == 12


@pytest.mark.heavy
async def test_memory_is_looked_at_while_conversations_end(work, tmp_path):
    memory_use = await memory.kept(replace(work, conversations=10, turns=1, concurrency=1), tmp_path / "run")
    assert (memory_use["over"], memory_use["made"]) == (10, 20)
    assert [over for over, _ in memory_use["points"]] == [*range(2, 10)]
    assert memory.slope([(1, 10), (2, 30), (3, 50)]) == pytest.approx(20)


def test_replies_have_a_plausible_size_and_none_is_said_twice():
    texts = [replies.said(number) for number in range(500)]
    assert all(60 <= len(text.split()) <= 90 for text in texts)
    assert len(set(texts)) == 500
    assert json.loads(replies.completion(7))["choices"][0]["message"]["content"] == texts[7]


async def test_the_same_request_waits_as_long_and_gets_the_same_reply(endpoint):
    served, port = endpoint
    served.settings = Settings(latency=2.0, jitter=0.5)
    waits = [served.wait(replies.number_of(b"%d" % number)) for number in range(200)]
    assert waits == [served.wait(replies.number_of(b"%d" % number)) for number in range(200)]
    assert 1.0 <= min(waits) < 1.1 < 2.9 < max(waits) <= 3.0
    served.settings = Settings()
    head = b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 2\r\n%b\r\n{}"
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    got = []
    for more in (b"", b"Connection: close\r\n"):
        writer.write(head % more)
        answer = await reader.readuntil(b"\r\n\r\n")
        size = int(answer.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
        got.append(await reader.readexactly(size))
    assert got[0] == got[1] == replies.completion(replies.number_of(b"{}"))
    assert await reader.read() == b""  # closed, as it was asked to
    writer.close()
    await writer.wait_closed()
    assert (served.counts.calls, served.counts.connections, served.counts.wrong) == (2, 1, 0)


def one(calls: int, cpu: float, window: float) -> dict[str, Any]:
    counted = {"name": "x", "calls": calls, "made": calls, "expected": calls, "wrong": 0, "conversations": 8}
    took = {"cpu": cpu, "window": window, "wall": window, "endpoint_cpu": 0.1, "bytes": 10 * calls, "connections": 1}
    return counted | took | {"rss_before": 0, "rss_highest": 8000, "kept": 500.0, "cpu_of_others": 0.0}


def full(rounds: int) -> dict[str, list[dict[str, Any]]]:
    made = {
        part.name: {measurement.label: one(100, 10.0, 5.0) for measurement in part.measurements}
        | {"ours": one(200, 5.0, 5.0), "model alone": one(100, 1.0, 5.0)}
        for part in PARTS
    }
    read = {name: {"peak": 1e6, "seconds": 1.0} for name, *_ in reading.COMMANDS}
    made["reading"] = {label: made["reading"][label] | {"read": read} for label in ("10,000", "100,000")}
    return {name: [measured] * rounds for name, measured in made.items()}


def test_every_row_of_the_table_is_there_with_its_target_and_how_it_was_reached():
    rows = list(table.lines(full(5)))
    assert [row[1] for row in rows] == [row.told for row in table.ROWS]
    assert all("5 rounds" in row[4] for row in rows)
    by_name = {row[1]: row for row in rows}
    cpu = by_name["CPU per call: ours / idiomatic LangGraph loop"]
    assert (cpu[2], cpu[3], cpu[5]) == ("at most 0.4 (0.3)", "0.25", "yes")
    assert by_name["Calls per second, 200 ms x 64: ours / bare client"][3] == "2"
    assert by_name["Bytes kept for each conversation that is over"][5] == "yes"
    assert len(table.markdown(full(5)).splitlines()) == len(table.ROWS) + 2


def test_what_the_ratios_are_made_of_is_printed_too():
    lines = table.absolute(full(1)).splitlines()
    assert [line.split()[0] for line in lines].count("reading") == 2 * len(reading.COMMANDS)
    assert "reading   100,000            check                       1 MB     1.0 s" in lines


@pytest.mark.heavy
async def test_each_command_reads_the_run_that_was_made(tmp_path, monkeypatch):
    (tmp_path / "cwd").mkdir()
    monkeypatch.chdir(tmp_path / "cwd")
    monkeypatch.setattr(reading, "COMMANDS", (("list", "runs", "run"),))
    figures = await reading.read(Workload(port=0, conversations=3, turns=1), Path("read"))
    assert (figures["made"], figures["read"]["list"]["peak"] > 0) == (6, True)
    assert (tmp_path / "cwd/read/run/conversations.jsonl").stat().st_size == figures["read"]["file"]
    with pytest.raises(RuntimeError, match="duologue runs nowhere"):
        reading.called(tmp_path, "runs", "nowhere")


def test_the_own_share_of_a_graph_is_what_is_left_without_the_model():
    figures = {"ours": one(100, 4.0, 1), "idiomatic": one(100, 3.0, 1), "model alone": one(100, 1.0, 1)}
    assert table.own_share("ours")(figures) == pytest.approx(1.5)


def test_what_was_not_measured_is_said_and_not_left_out(monkeypatch: pytest.MonkeyPatch):
    parts = full(1)
    for call in parts["calls"]:
        del call["openevals"]
    for spec, why in ((None, "openevals is not installed"), (object(), "not measured")):
        monkeypatch.setattr(table, "find_spec", lambda name, spec=spec: spec)
        rows = {row[1]: row[3:] for row in table.lines(parts)}
        assert rows["CPU per call: ours / openevals"] == ("-", why, "")
        assert rows["CPU per call: ours / bare client"][0] == "0.25"


def test_a_measurement_with_other_calls_than_asked_for_is_no_result():
    assert checked(one(100, 1.0, 1.0))
    with pytest.raises(NoResultError, match="99 of 100 calls"):
        checked(one(99, 1.0, 1.0) | {"expected": 100})


def test_every_row_finds_what_it_divides_among_the_measurements_of_its_part():
    labels = {part.name: {measurement.label for measurement in part.measurements} for part in PARTS}
    assert {row.part for row in table.ROWS} == set(labels)
    for part in PARTS:
        for measurement in part.measurements:
            assert measurement.name in IMPLEMENTATIONS
            assert (
                Workload.of({"port": 1, **measurement.settings}).calls
                >= Workload.of({"port": 1, **small(measurement).settings}).calls
            )
