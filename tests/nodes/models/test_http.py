"""Requests: connections are kept, closed with their loop and never another process's; replies are in time and bounds."""

import asyncio
import gzip
import json
import os
import subprocess
import sys
import threading
from typing import Any

import pytest

from duologue.nodes import chat_model
from duologue.nodes.models import openai
from duologue.nodes.models.faults import fault_of

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n"


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """However busy the machine is, no connection is given up between two calls."""
    monkeypatch.setattr(openai, "IDLE_SECONDS", 3600.0)


async def ask(times: int = 1, together: int = 1, spec: str = "openai:m") -> None:
    model = chat_model(spec)
    for _ in range(times):
        for reply in await asyncio.gather(*(model.ainvoke("Hello") for _ in range(together))):
            assert reply.text == "Who lived there?"


async def fault(spec: str = "openai:m") -> Any:
    with pytest.raises(Exception) as raised:  # noqa: PT011 - of any class: its fault is looked at
        await chat_model(spec).ainvoke("Hello")
    return fault_of(raised.value)


async def test_calls_share_a_connection_and_fifty_at_once_are_under_way_at_once(recorder):
    await ask(times=10)
    await ask(spec="openai:other?temperature=0.2")
    assert (len(recorder.sent), recorder.connections) == (11, 1)
    recorder.hold = threading.Barrier(50)  # none is answered before all have come
    await ask(times=2, together=50)
    assert (len(recorder.sent), recorder.connections) == (111, 50)


async def test_a_request_that_a_kept_connection_lost_is_a_reset_and_is_not_sent_twice(recorder):
    recorder.say = [recorder.say, (None, b"", {}), recorder.say]
    await ask()
    assert (await fault()).name == "reset"
    await ask()
    assert (len(recorder.sent), recorder.connections) == (3, 2)


PROGRAM = """
import asyncio, os, sys, threading
from duologue.nodes import chat_model
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
model.invoke("Hello")
print("done")
"""


@pytest.mark.heavy
def test_a_process_with_loops_of_every_kind_ends_without_a_word_about_its_connections(recorder):
    """One that ended, one that runs in a thread, one of a forked process, one that was never closed, one of a sync call."""
    warned = ["-W", "always::ResourceWarning", "-W", "ignore:unclosed event loop:ResourceWarning"]
    command = [sys.executable, *warned, "-c", PROGRAM]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, env=dict(os.environ))
    assert (ran.returncode, ran.stderr, ran.stdout.splitlines()[-1]) == (0, "", "done")
    assert len(recorder.sent) == 11


@pytest.mark.parametrize(("written", "name"), [(b"", "timeout"), (HEAD + b"{", "timeout")])
async def test_a_reply_that_does_not_end_has_a_deadline_and_its_connection_is_left(recorder, written, name):
    recorder.say = [(None, written, {}), recorder.say]
    recorder.hold = threading.Barrier(2)
    late = await fault("openai:m?timeout=2")
    assert (late.name, "timed out after 2 seconds" in late.detail) == (name, True)
    recorder.hold.abort()
    recorder.hold = None
    await ask()
    assert recorder.connections == 2


async def test_a_closed_port_is_unreachable(monkeypatch, recorder):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    assert (await fault()).name == "unreachable"


async def test_a_packed_reply_is_unpacked_as_far_as_it_may_go(recorder, monkeypatch):
    plain = json.dumps(recorder.say).encode()
    recorder.say = (200, gzip.compress(plain), {"Content-Encoding": "gzip", "X-Long": "x" * 30_000})
    await ask()
    recorder.say = (200, b"no gzip", {"Content-Encoding": "gzip"})
    assert (await fault()).name == "not_json"
    monkeypatch.setattr(openai, "MOST_BYTES", 2**20)
    recorder.say = (200, gzip.compress(b'{"x": "' + b"x" * 2**24), {"Content-Encoding": "gzip"})
    assert (await fault()).name == "too_large"


@pytest.mark.parametrize("status", [301, 307])
async def test_a_redirect_is_not_followed_and_the_line_names_the_address_to_give(recorder, status):
    for there in ("http://me:sesame.0815@127.0.0.1:9/v2", "../v2"):
        recorder.say = (status, b"<html>moved</html>", {"Location": f"{there}/chat/completions"})
        refused = await fault()
        assert (refused.name, refused.whose) == ("redirected", "settings")
        assert "/v2: give" in refused.detail
        assert "sesame" not in refused.detail
    assert len(recorder.sent) == 2


async def test_a_proxy_of_the_environment_is_called(recorder, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", recorder.origin)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://api.test/v1")
    await ask()
    assert (recorder.last.path, recorder.last.headers["host"]) == ("http://api.test/v1/chat/completions", "api.test")
    recorder.say = (407, b"", {})
    assert (await fault()).name == "proxy_refused"
