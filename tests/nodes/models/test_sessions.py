"""Connections: kept and counted, one session for each event loop, closed in order, and never another process's."""

import asyncio
import gc
import os
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from typing import Any

import pytest
from yarl import URL

from duologue.nodes import chat_model
from duologue.nodes.models import sessions
from duologue.nodes.models.faults import fault_of

IDLE_SECONDS = sessions.IDLE_SECONDS


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """However busy the machine is, no connection is given up between two calls."""
    monkeypatch.setattr(sessions, "IDLE_SECONDS", 3600.0)


@pytest.fixture
def ask(recorder):
    """Asks a model so many times, one after another or at once."""
    model = chat_model("openai:m")

    async def ask(times: int = 1, together: int = 1) -> list[str]:
        replies = []
        for _ in range(times):
            replies += [
                str(reply.text) for reply in await asyncio.gather(*(model.ainvoke("Hello") for _ in range(together)))
            ]
        return replies

    return ask


@pytest.mark.heavy
async def test_calls_one_after_another_share_a_connection(ask, recorder):
    assert await ask(times=20) == ["Who lived there?"] * 20
    assert (len(recorder.sent), recorder.connections) == (20, 1)


async def test_several_models_of_one_endpoint_share_connections(recorder):
    for _ in range(3):
        await chat_model("openai:m").ainvoke("Hello")
        await chat_model("openai:other?temperature=0.2").ainvoke("Hello")
    assert (len(recorder.sent), recorder.connections) == (6, 1)


async def test_fifty_at_once_are_under_way_at_once_and_open_no_more_connections(ask, recorder):
    recorder.hold = threading.Barrier(50)  # none is answered before all have come
    await ask(times=3, together=50)
    assert (len(recorder.sent), recorder.connections) == (150, 50)


async def test_a_form_is_learned_once_by_all_who_come_at_once(recorder, monkeypatch):
    from duologue.nodes.models import request_forms

    learned = []

    async def counted(stock: Any, messages: Any) -> Any:
        learned.append(stock)
        return await request_of(stock, messages)

    request_of = request_forms.request_of
    monkeypatch.setattr(request_forms, "request_of", counted)
    model = chat_model("openai:m")
    await asyncio.gather(*(model.ainvoke("Hello", seed=seed) for seed in range(30)))
    assert len(learned) == 1
    assert all(sent.short for sent in recorder.sent)


async def test_a_connection_that_was_ended_while_idle_is_no_fault(ask, recorder):
    recorder.leaves = True
    for _ in range(5):
        assert await ask() == ["Who lived there?"]
        connections = (await sessions.lines()).connector._conns
        while any(protocol.is_connected() for pool in connections.values() for protocol, _ in pool):  # noqa: ASYNC110
            await asyncio.sleep(0.01)  # until the loop has seen the end of the connection
    assert (len(recorder.sent), recorder.connections) == (5, 5)


async def test_an_unused_connection_is_given_up_before_common_servers_end_it(monkeypatch):
    monkeypatch.setattr(sessions, "IDLE_SECONDS", IDLE_SECONDS)
    assert (await sessions.lines()).connector._keepalive_timeout == IDLE_SECONDS < 5


class Ending:
    """Answers the first request of each connection, and at the second ends it without a word."""

    def __init__(self, data: bytes) -> None:
        self.requests = 0
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listening.getsockname()[1]}/v1"
        self.data = data
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self.listening.accept()
                with connection:
                    self._read(connection)
                    head = (
                        f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(self.data)}\r\n\r\n"
                    )
                    connection.sendall(head.encode() + self.data)
                    self._read(connection)

    def _read(self, connection: socket.socket) -> None:
        read = b""
        while not read.endswith(b"}"):
            if not (piece := connection.recv(2**16)):
                return
            read += piece
        self.requests += 1


async def test_a_request_that_a_kept_connection_swallowed_is_a_reset_and_is_not_sent_twice(
    recorder, shapes, monkeypatch
):
    endpoint = Ending(shapes.Answer(shapes.completion()).data())
    monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
    model = chat_model("openai:m")
    assert (await model.ainvoke("Hello")).text == "Who lived there?"
    with pytest.raises(Exception) as raised:  # noqa: PT011 - of any class: its fault is looked at
        await model.ainvoke("Hello")
    assert (fault_of(raised.value).name, endpoint.requests) == ("reset", 2)
    assert (await model.ainvoke("Hello")).text == "Who lived there?"
    endpoint.listening.shutdown(socket.SHUT_RDWR)
    endpoint.listening.close()


def test_a_session_ends_with_its_loop(ask):
    open_sessions = []

    async def main() -> None:
        await ask(2)
        open_sessions.append(await sessions.lines())

    for _ in range(2):
        asyncio.run(main())
    assert [entry.session.closed for entry in open_sessions] == [True, True]
    assert open_sessions[0].session is not open_sessions[1].session
    gc.collect()


def test_loops_in_several_threads_have_sessions_of_their_own(ask, recorder):
    ends: list[Any] = []
    here = threading.Barrier(6)

    def run() -> None:
        async def main() -> Any:
            here.wait(900)
            replies = await ask(5)
            return replies, id((await sessions.lines()).session), await asyncio.to_thread(here.wait, 900)

        ends.append(asyncio.run(main()))

    threads = [threading.Thread(target=run) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(900)
    assert [replies for replies, _, _ in ends] == [["Who lived there?"] * 5] * 6
    assert len({session for _, session, _ in ends}) == 6
    assert recorder.connections == 6


async def test_a_call_that_is_given_up_leaves_no_connection_behind(recorder):
    recorder.hold = threading.Barrier(2)
    model = chat_model("openai:m?timeout=0.2")
    with pytest.raises(Exception, match=r"timed out after 0.2 seconds, before its reply"):
        await model.ainvoke("Hello")
    recorder.hold.abort()
    connector = (await sessions.lines()).connector
    assert not connector._acquired
    assert not connector._conns


PROGRAM = """
import asyncio, os, sys, threading
from duologue.nodes import chat_model
from duologue.nodes.models import sessions
sessions.IDLE_SECONDS = 3600.0
model = chat_model("openai:m")

async def ask(times=2):
    for _ in range(times):
        await model.ainvoke("Hello")

def in_thread():
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()
    asyncio.run_coroutine_threadsafe(ask(), loop).result()
    return loop

def forked(work):
    pid = os.fork()
    if pid == 0:
        work()
        sys.exit(0)
    assert os.waitpid(pid, 0)[1] == 0

asyncio.run(ask())
loop = in_thread()
forked(lambda: asyncio.run(ask()))
asyncio.run_coroutine_threadsafe(ask(), loop).result()
mine = asyncio.new_event_loop()
asyncio.set_event_loop(mine)
mine.run_until_complete(ask())
print("done")
"""


@pytest.mark.heavy
def test_a_process_with_loops_of_every_kind_ends_without_a_word_about_its_connections(recorder):
    """One that ended, one that runs in a thread, one of a forked process, and one that was never closed."""
    warned = ["-W", "always::ResourceWarning", "-W", "ignore:unclosed event loop:ResourceWarning"]
    command = [sys.executable, *warned, "-c", PROGRAM]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, env=dict(os.environ))
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.splitlines()[-1] == "done"
    assert (recorder.connections, len(recorder.sent)) == (4, 10)


@pytest.mark.parametrize(
    ("environment", "address", "proxy"),
    [
        ({}, "http://api.test/v1", None),
        ({"http_proxy": "http://p.test:3128"}, "http://api.test/v1", "http://p.test:3128"),
        ({"HTTPS_PROXY": "p.test:3128"}, "https://api.test/v1", "http://p.test:3128"),
        ({"http_proxy": "http://p.test:3128"}, "https://api.test/v1", None),
        ({"ALL_PROXY": "socks5://p.test:1080"}, "https://api.test/v1", "socks5://p.test:1080"),
        ({"http_proxy": "http://p.test:3128", "no_proxy": "api.test"}, "http://api.test/v1", None),
        ({"http_proxy": "http://p.test:3128", "NO_PROXY": ".test"}, "http://api.test/v1", None),
        ({"http_proxy": "http://p.test:3128", "no_proxy": "*"}, "http://api.test/v1", None),
        ({"http_proxy": "http://p.test:3128", "no_proxy": "api.test:8000"}, "http://api.test:8000/v1", None),
    ],
)
def test_the_proxy_of_the_environment_is_found(monkeypatch, environment, address, proxy):
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert sessions.proxy_of(URL(address)) == proxy


async def test_a_proxy_of_the_environment_is_called(recorder, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", recorder.origin)
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://api.test/v1")
    recorder.paths["http://api.test/v1/chat/completions"] = recorder.say
    assert (await chat_model("openai:m").ainvoke("Hello")).text == "Who lived there?"
    assert (recorder.last.path, recorder.last.headers["host"]) == ("http://api.test/v1/chat/completions", "api.test")


async def test_a_proxy_of_another_kind_is_left_to_the_stock_client(recorder, monkeypatch):
    model: Any = chat_model("openai:m")
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "")
    await model.ainvoke("Hello")  # its own client was made before, and knows of no proxy
    assert not recorder.last.short


async def test_an_address_with_a_password_is_left_to_the_stock_client(recorder, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", recorder.url.replace("http://", "http://ada:lovelace-1815@"))
    await chat_model("openai:m").ainvoke("Hello")
    assert (recorder.last.short, recorder.last.headers["authorization"].partition(" ")[0]) == (False, "Basic")


def test_certificates_of_ones_own_are_trusted(tmp_path, monkeypatch):
    from ssl import SSLError

    sessions.trust.cache_clear()
    nothing = tmp_path / "none.pem"
    nothing.write_text("no certificate")
    monkeypatch.setenv("SSL_CERT_FILE", str(nothing))
    with pytest.raises(SSLError):
        sessions.trust()
    monkeypatch.delenv("SSL_CERT_FILE")
    assert sessions.trust().check_hostname
    sessions.trust.cache_clear()
