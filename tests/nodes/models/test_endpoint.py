"""Answers of an endpoint: the draft with its flaw, or the fault by name; in time and in bounds."""

import gzip
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from werkzeug import Response

import duologue
from duologue import data, graphs
from duologue.errors import ModelError
from duologue.nodes import Limits, chat_model
from duologue.nodes.models import clients
from duologue.nodes.models.faults import fault_of
from duologue.nodes.replies.conversion import drafts_of

USAGE = {"prompt_tokens": 20, "completion_tokens": 3, "total_tokens": 23}


def reply(message: Any = None, finish: Any = "stop", **more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": "Who lived there?"} if message is None else message
    return {
        "id": "c-1",
        "model": "m-1",
        "choices": [{"message": message, "finish_reason": finish}],
        "usage": USAGE,
    } | more


def reply_with(content: Any, finish: Any = "stop", **more: Any) -> dict[str, Any]:
    return reply({"role": "assistant", "content": content, **more}, finish)


def answer(body: Any, status: int = 200, kind: str = "application/json", **headers: str) -> Response:
    body = body if isinstance(body, (str, bytes)) else json.dumps(body)
    return Response(body, status, {name.replace("_", "-"): value for name, value in headers.items()}, content_type=kind)


@pytest.fixture
def draft(endpoint):
    """The draft of an answer."""

    async def ask(body: Any, spec: str = "openai:m", **about: Any):
        endpoint.otherwise["user"] = body if isinstance(body, Response) else answer(body, **about)
        return drafts_of([await chat_model(spec).ainvoke("Hello")])[0]

    return ask


@pytest.fixture
def fault(draft):
    """The fault of an answer."""

    async def ask(body: Any, spec: str = "openai:m", **about: Any):
        with pytest.raises(Exception) as raised:  # noqa: PT011 - of any class: its fault is looked at
            await draft(body, spec, **about)
        return fault_of(raised.value)

    return ask


@pytest.mark.parametrize(
    ("body", "text", "flaw"),
    [
        (reply(), "Who lived there?", None),
        (reply_with("", "stop"), "", "empty"),
        (reply_with(" \n"), "", "empty"),
        (reply_with("<think>Let me see.</think>"), "", "empty"),
        (reply_with(None, reasoning_content="Let me see."), "", "empty"),
        (reply_with("Who liv", "length"), "Who liv", "cut_off"),
        (reply_with(None, "length"), "", "cut_off"),
        (reply_with("Who", "content_filter"), "Who", "content_filter"),
        (reply_with(None, "content_filter"), "", "content_filter"),
        (reply_with(None, refusal="I won't."), "I won't.", "refusal"),
        (reply_with("", refusal="I won't."), "I won't.", "refusal"),
        (reply_with([{"type": "text", "text": "Who lived there?"}]), "Who lived there?", None),
        (reply_with([{"type": "refusal", "refusal": "I won't."}]), "I won't.", "refusal"),
        (reply_with(["Who ", "lived?"]), "Who lived?", None),
        (reply_with("Who?", 7), "Who?", None),
        (reply_with("Who?", {"a": 1}), "Who?", None),
        (reply_with("Who?", "because"), "Who?", None),
        (reply_with("Who?", None), "Who?", None),
        (reply_with("Who?", refusal=""), "Who?", None),
        (reply({"content": "Who?"}), "Who?", None),
        (reply({"role": "user", "content": "Who?"}), "Who?", None),
        ({"choices": [{"message": {"content": "Who?"}}]}, "Who?", None),
        (reply(model=None), "Who lived there?", None),
        (reply(model=3, id=4), "Who lived there?", None),
    ],
)
async def test_a_reply_is_a_draft_with_its_flaw(draft, body, text, flaw):
    reply_draft = await draft(body)
    assert (reply_draft["text"], reply_draft.get("flaw")) == (text, flaw)


@pytest.mark.parametrize(
    ("usage", "flaw", "tokens"),
    [
        (None, None, (0, 0)),
        ({"prompt_tokens": -5, "completion_tokens": 3}, "odd_usage", (0, 0)),
        ({"prompt_tokens": "20", "completion_tokens": 3}, "odd_usage", (0, 0)),
        ({"prompt_tokens": 20}, "odd_usage", (0, 0)),
        ({}, "odd_usage", (0, 0)),
        ("many", "odd_usage", (0, 0)),
        ([1, 2], "odd_usage", (0, 0)),
        (12, "odd_usage", (0, 0)),
        ({"prompt_tokens": 10**30, "completion_tokens": 3}, "odd_usage", (0, 0)),
        (USAGE | {"prompt_tokens_details": {"cached_tokens": -7}, "completion_tokens_details": "x"}, None, (20, 3)),
        (USAGE | {"total_tokens": -1}, None, (20, 3)),
        (USAGE | {"prompt_tokens": 20.0, "cost": 0.1}, None, (20, 3)),
    ],
)
async def test_a_usage_that_cannot_be_is_unknown_and_the_reply_stands(draft, usage, flaw, tokens):
    reply_draft = await draft(reply(usage=usage))
    assert (reply_draft["text"], reply_draft.get("flaw")) == ("Who lived there?", flaw)
    assert (reply_draft["usage"]["input_tokens"], reply_draft["usage"]["output_tokens"]) == tokens
    assert all(count >= 0 for count in reply_draft["usage"].values())


@pytest.mark.parametrize(
    ("body", "name"),
    [
        (reply_with(None), "null_content"),
        (reply({"role": "assistant"}), "null_content"),
        (reply_with(None, None), "null_content"),
        (reply(choices=[]), "no_choices"),
        (reply(choices=None), "no_choices"),
        ({"id": "c-1", "model": "m-1"}, "no_choices"),
        ({}, "not_a_completion"),
        ([], "not_a_completion"),
        ([reply()], "not_a_completion"),
        ("null", "not_a_completion"),
        ('"a text"', "not_a_completion"),
        ("3", "not_a_completion"),
        (reply(choices="none"), "not_a_completion"),
        (reply(choices=[None]), "not_a_completion"),
        (reply(choices=[{}]), "not_a_completion"),
        (reply("text"), "not_a_completion"),
        (reply_with(42), "not_a_completion"),
        (reply_with({"text": "Who?"}), "not_a_completion"),
        (reply_with("Who?", tool_calls="look"), "not_a_completion"),
        (reply_with("Who?", tool_calls=[{"id": 1}]), "not_a_completion"),
        ("<html>a gateway's own page</html>", "not_a_completion"),
        ("", "not_json"),
        ('{"choices": [{"mess', "not_json"),
        (b'{"choices": "\xff\xfe"}', "not_json"),
        ("[" * 200_000, "not_json"),
        ('{"choices": 1' + "0" * 5_000 + "}", "not_json"),
        ({"error": {"message": "overloaded"}}, "overloaded"),
        ({"error": {"message": "slow down", "code": 429}}, "rate_limited"),
        ({"choices": [{"error": {"message": "upstream", "code": 502}}]}, "server_error"),
    ],
)
@pytest.mark.parametrize("kind", ["application/json", "text/html"])
async def test_what_is_no_reply_is_a_fault_by_name(fault, body, name, kind):
    call_fault = await fault(body, kind=kind)
    assert call_fault.name == name
    assert call_fault.detail
    assert call_fault.whose in ("endpoint", "limit")


def response(*output: Any, **more: Any) -> dict[str, Any]:
    usage = {"input_tokens": 20, "output_tokens": 3, "total_tokens": 23}
    return {"id": "r-1", "object": "response", "model": "m-1", "status": "completed", "output": list(output), "usage": usage} | more  # fmt: skip


def written(*content: Any) -> dict[str, Any]:
    return {"type": "message", "id": "i-1", "role": "assistant", "status": "completed", "content": list(content)}


TEXT = {"type": "output_text", "text": "Who lived there?", "annotations": []}


@pytest.mark.parametrize(
    ("body", "text", "flaw"),
    [
        (response(written(TEXT)), "Who lived there?", None),
        (response(written({"type": "refusal", "refusal": "I won't."})), "I won't.", "refusal"),
        (response(written(TEXT), usage={"input_tokens": -1}), "Who lived there?", "odd_usage"),
        (response(written(TEXT), usage="many"), "Who lived there?", "odd_usage"),
        (response(written(TEXT), incomplete_details={"reason": "max_output_tokens"}), "Who lived there?", "cut_off"),
        (response(status="incomplete", incomplete_details={"reason": "content_filter"}), "", "content_filter"),
        (response(written({"type": "output_text", "text": ""})), "", "empty"),
    ],
)
async def test_the_responses_interface_is_judged_alike(httpserver, endpoint, body, text, flaw):
    httpserver.expect_request("/v1/responses").respond_with_json(body)
    reply_draft = drafts_of([await chat_model("openai:m?use_responses_api=true").ainvoke("Hello")])[0]
    assert (reply_draft["text"], reply_draft.get("flaw")) == (text, flaw)
    assert "parts" not in reply_draft


@pytest.mark.parametrize(
    ("body", "name"),
    [
        (response(), "no_choices"),
        (response() | {"output": None}, "no_choices"),
        (response() | {"output": "text"}, "not_a_completion"),
        (response("text"), "not_a_completion"),
        (response(written() | {"content": None}), "null_content"),
        (response(error={"code": "server_error", "message": "broken"}), "server_error"),
        ({}, "not_a_completion"),
        ([], "not_a_completion"),
    ],
)
async def test_the_responses_interface_has_the_same_faults(httpserver, endpoint, body, name):
    httpserver.expect_request("/v1/responses").respond_with_json(body)
    with pytest.raises(Exception) as raised:  # noqa: PT011 - of any class: its fault is looked at
        await chat_model("openai:m?use_responses_api=true").ainvoke("Hello")
    assert fault_of(raised.value).name == name


@pytest.mark.parametrize(("status", "name"), [(401, "wrong_key"), (404, "unknown_model_or_url"), (429, "rate_limited"), (503, "overloaded")])  # fmt: skip
async def test_a_status_is_told_with_its_wait_after_one_call(fault, endpoint, status, name):
    call_fault = await fault(endpoint.failing(status, "not now", Retry_After="7"), "openai:m?max_retries=5")
    assert (call_fault.name, call_fault.after, len(endpoint.calls)) == (name, 7, 1)
    assert "not now" in call_fault.detail


def test_the_spec_keeps_how_often_a_call_is_made_again(endpoint):
    model: Any = chat_model("openai:m?max_retries=5&timeout=2")
    assert model.metadata["arguments"] == {"max_retries": 5, "timeout": 2}
    assert (model.max_retries, model.deadline) == (0, 2)


@pytest.mark.parametrize(
    "bad", ["timeout=0", "timeout=-1", "timeout=soon", "timeout=true", "max_retries=-1", "max_retries=x"]
)
def test_a_setting_that_cannot_be_is_one_line(endpoint, bad):
    with pytest.raises(ModelError, match=f"model 'openai:m': {bad.partition('=')[0]} must be a"):
        chat_model(f"openai:m?{bad}")


async def test_a_reply_that_is_too_large_is_not_read_to_its_end(fault, monkeypatch):
    monkeypatch.setattr(clients, "MOST_BYTES", 2**20)
    assert (await fault(reply_with("x" * 2**21))).name == "too_large"


async def test_a_reply_that_blows_up_is_not_unpacked_to_its_end(fault, monkeypatch):
    monkeypatch.setattr(clients, "MOST_BYTES", 2**21)
    packed = gzip.compress(json.dumps(reply_with("x" * 2**25)).encode())
    assert len(packed) < 2**17
    assert (await fault(answer(packed, Content_Encoding="gzip"))).name == "too_large"


async def test_a_packed_reply_is_read_and_a_broken_one_is_a_fault(draft, fault):
    packed = gzip.compress(json.dumps(reply()).encode())
    assert (await draft(answer(packed, Content_Encoding="gzip")))["text"] == "Who lived there?"
    assert (await fault(answer(b"no gzip", Content_Encoding="gzip"))).name == "not_json"


@contextmanager
def raw(*pieces: bytes, pause: float = 0, hold: bool = False) -> Iterator[tuple[str, list[bytes]]]:
    """A server that writes these bytes to each who asks, and what it was sent."""
    listening = socket.create_server(("127.0.0.1", 0))
    requests: list[bytes] = []
    over = threading.Event()

    def serve() -> None:
        while not over.is_set():
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            with connection:
                requests.append(connection.recv(2**16))
                try:
                    for piece in pieces:
                        connection.sendall(piece)
                        over.wait(pause)
                    if hold:
                        over.wait(10)
                except OSError:
                    pass

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1", requests
    finally:
        over.set()
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        thread.join(900)


HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n"


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("pieces", "about", "seconds", "name"),
    [
        ([HEAD, *[b" "] * 400], {"pause": 0.1}, 3, "too_slow"),
        ([], {"hold": True}, 0.2, "timeout"),
        ([HEAD, b"{"], {"hold": True}, 3, "too_slow"),
        ([HEAD, b'{"choices"'], {}, 900, "reset"),
        ([], {}, 900, "reset"),
        ([b"no HTTP at all\r\n\r\n"], {}, 900, "reset"),
    ],
    ids=["a byte at a time", "silent", "silent within", "cut within", "closed", "no http"],
)
async def test_the_deadline_holds_for_the_whole_reply_and_a_broken_one_is_named(
    monkeypatch, endpoint, pieces, about, seconds, name
):
    with raw(*pieces, **about) as (url, _):
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        with pytest.raises(Exception) as raised:  # noqa: PT011 - of any class: its fault is looked at
            await chat_model(f"openai:m?timeout={seconds}").ainvoke("Hello")
    call_fault = fault_of(raised.value)
    assert call_fault.name == name
    assert f"timed out after {seconds} seconds" in call_fault.detail or name == "reset"


async def test_a_closed_port_is_unreachable(monkeypatch, endpoint):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{port}/v1")
    with pytest.raises(Exception) as raised:  # noqa: PT011 - of any class: its fault is looked at
        await chat_model("openai:m").ainvoke("Hello")
    assert fault_of(raised.value).name == "unreachable"


async def called(model, how):
    return await model.ainvoke("Hello") if how == "async" else model.invoke("Hello")


@pytest.mark.parametrize("status", [301, 302, 307, 308])
@pytest.mark.parametrize("how", ["async", "sync"])
async def test_a_redirect_elsewhere_is_not_followed(fault, endpoint, status, how):
    with raw(HEAD) as (other, requests):
        endpoint.otherwise["user"] = answer("", status, Location=f"{other}/chat/completions")
        with pytest.raises(Exception) as raised:  # noqa: PT011 - of any class: its fault is looked at
            await called(chat_model("openai:m"), how)
        call_fault = fault_of(raised.value)
    assert (call_fault.name, call_fault.whose) == ("redirected", "settings")
    assert other.removeprefix("http://").removesuffix("/v1") in call_fault.detail
    assert requests == []


async def test_a_redirect_to_another_scheme_is_not_followed(fault, endpoint):
    elsewhere = endpoint.url.replace("http://", "https://")
    assert (await fault(answer("", 307, Location=f"{elsewhere}/chat/completions"))).name == "redirected"


@pytest.mark.parametrize("how", ["async", "sync"])
async def test_a_redirect_within_the_origin_is_followed(httpserver, endpoint, how):
    endpoint.otherwise["user"] = answer("", 307, Location="/v2/chat/completions")
    httpserver.expect_request("/v2/chat/completions").respond_with_json(reply())
    assert (await called(chat_model("openai:m"), how)).text == "Who lived there?"


async def test_redirects_without_end_are_a_fault(fault, endpoint):
    call_fault = await fault(answer("", 307, Location="/v1/chat/completions"))
    assert (call_fault.name, len(endpoint.calls)) == ("redirected", clients.MOST_REDIRECTS + 1)


@pytest.fixture
def ten(lighthouse):
    """Ten conversations of one endpoint."""

    def simulate(**more: Any):
        topics = [lighthouse.model_copy(update={"title": f"Rock {number}"}) for number in range(10)]
        cast = graphs.simquac.cast("openai:m?max_retries=0", "openai:m?max_retries=0", limits=Limits(max_turns=1))
        return duologue.simulate(cast, graphs.simquac.scenarios(topics), **more)

    return simulate


@pytest.mark.parametrize(
    "body", [reply_with(None), reply(choices=[]), reply_with("", "content_filter"), reply_with("", "stop")]
)
def test_conversations_of_an_endpoint_that_says_nothing_are_not_finished(endpoint, ten, body):
    endpoint.otherwise["user"] = answer(body)
    conversations = ten()
    assert [(one.stop, one.fault) for one in conversations] == [("model_failed", "infrastructure")] * 10
    assert {one.failure.node for one in conversations} == {"user_simulator"}
    assert not any(data.stop_reasons.is_finished(one.stop, one.fault) for one in conversations)


def test_a_filter_that_takes_every_reply_is_named_in_the_failure(endpoint, ten):
    endpoint.otherwise["assistant"] = answer(reply_with(None, "content_filter"))
    one = ten()[0]
    assert (one.failure.node, len(one.messages)) == ("assistant", 1)
    assert one.failure.error == "none of 4 replies had a text: 4 content_filter"
    (turn,) = one.unsaid
    assert {attempt.flaw for attempt in turn.attempts} == {"content_filter"}


def test_a_repair_after_a_filter_has_its_own_page(endpoint, ten):
    endpoint.say(user=[answer(reply_with("Who", "content_filter"))] * 10)
    one = next(one for one in ten() if len(one.messages[0].attempts) > 1)
    first, second = one.messages[0].attempts[:2]
    assert (first.verdict, first.reason, first.flaw) == ("rejected", "content_filter", "content_filter")
    assert second.prompt.name == "user/repair_content_filter"
