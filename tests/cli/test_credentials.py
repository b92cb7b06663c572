"""Credentials in a base URL and keys reach neither a file that is written nor the screen, in any encoding."""

import base64
import html
import json
from pathlib import Path
from urllib.parse import quote

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from duologue.nodes.settings.redaction import _look_through, _secrets

USER, PASSWORD, KEY = "keeper-4711", 'la"mp/ö&+<77>', "open.sesame.0815"
PAIR = f"{USER}:{PASSWORD}"


def forms() -> dict[str, bytes]:
    """Everything that must be found nowhere."""
    secrets = {"key": KEY, "key in base64": base64.b64encode(KEY.encode()).decode(), "user": USER}
    for name, text in (("password", PASSWORD), ("pair", PAIR)):
        secrets |= {
            name: text,
            f"{name}, percent": quote(text, safe=""),
            f"{name}, json": json.dumps(text)[1:-1],
            f"{name}, json in json": json.dumps(json.dumps(text))[2:-2],
            f"{name}, base64": base64.b64encode(text.encode()).decode().rstrip("="),
            f"{name}, base64 for addresses": base64.urlsafe_b64encode(text.encode()).decode().rstrip("="),
        }
    return {name: text.encode() for name, text in secrets.items()}


def echo(request: Request) -> str:
    """What a careless endpoint says of a request: its headers and address."""
    return f"no: {dict(request.headers)} {request.url} {PAIR} {quote(PAIR, safe='')} {html.escape(PAIR)} {KEY}"


def refused(status: int):
    def answer(request: Request) -> Response:
        return Response(json.dumps({"error": {"message": echo(request)}}), status, content_type="application/json")

    return answer


def page(request: Request) -> Response:
    return Response(f"<html><body>{html.escape(echo(request))}</body></html>", 200, content_type="text/html")


def said(request: Request) -> Response:
    """A proper completion whose text tells everything."""
    message = {"role": "assistant", "content": f"Why? {echo(request)}", "refusal": None}
    reply = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "usage": None}
    return Response(
        json.dumps(reply | {"choices": [{"index": 0, "finish_reason": "stop", "message": message}]}),
        content_type="application/json",
    )


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is remembered here is not remembered in other tests."""
    monkeypatch.setattr("duologue.nodes.settings.redaction._secrets", set(_secrets))
    _look_through.cache_clear()


@pytest.fixture(autouse=True)
def one_try(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each call is made once, and an endpoint that never answered is not waited for."""
    monkeypatch.setattr("duologue.nodes.calls.gate.TRIES", 1)
    monkeypatch.setattr("duologue.nodes.calls.gate.FIRST_PATIENCE", 0.1)


ANSWERS = {"401": refused(401), "400": refused(400), "HTML": page, "reply": said, "closed port": None}


LIGHT = ("environment-reply", "file-401", "file-closed port")


@pytest.mark.parametrize(
    ("source", "answer"),
    [
        pytest.param(source, answer, marks=[] if f"{source}-{answer}" in LIGHT else [pytest.mark.heavy])
        for source in ("environment", "file")
        for answer in ANSWERS
    ],
)
def test_they_are_found_nowhere(duologue, httpserver: HTTPServer, monkeypatch, tmp_path, answer, source):
    handler = ANSWERS[answer]
    port = 9 if handler is None else httpserver.port
    if handler is not None:
        httpserver.expect_request("").respond_with_handler(handler)
        for path in ("/v1", "/v1/chat/completions"):
            httpserver.expect_request(path).respond_with_handler(handler)
    address = f"http://{USER}:{quote(PASSWORD, safe='')}@127.0.0.1:{port}/v1"
    if source == "environment":
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", address)
    else:
        (tmp_path / ".env").write_text(f"OPENAI_API_KEY={KEY}\nOPENAI_BASE_URL='{address}'\n")
    outputs = []
    spec = "openai:m?timeout=2"
    run = (
        "simulate",
        "simquac",
        "--limit",
        1,
        "--max-turns",
        1,
        "--set",
        "question_attempts=1",
        "--set",
        "answer_attempts=1",
    )
    for arguments in (
        (*run, "--user", spec, "--out", "run"),
        (*run, "--assistant", spec, "--out", "run2", "--json"),
        ("papers", "recllmsim", "profiles", 1, "--model", spec),
        ("show", "run"),
        ("check", "run", "--json"),
        ("convert", "run", "out.json", "--to", "messages"),
        ("doctor",),
        ("doctor", "--json"),
    ):
        _, out, err = duologue(*arguments)
        outputs.append(out + err)
    assert f"127.0.0.1:{port}" in outputs[0]
    (tmp_path / ".env").unlink(missing_ok=True)
    written = {str(path): path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    assert any("run" in name for name in written)
    written["the screen"] = "\n".join(outputs).encode()
    leaks = [(name, form) for form, secret in forms().items() for name, text in written.items() if secret in text]
    assert not leaks, outputs


@pytest.mark.parametrize(
    "address", ["http://[::1/v1", "http://host:99999/v1", "http://:x@/v1", "http://me:la.mp.4711@h:b/"]
)
def test_an_address_that_is_none_is_one_line(duologue, monkeypatch, address):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", address)
    code, out, err = duologue("simulate", "simquac", "--limit", 1, "--user", "openai:m")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "OPENAI_BASE_URL is not an address" in err
    code, out, err = duologue("doctor")
    assert (code, err) == (1, "")
    assert out.count("OPENAI_BASE_URL is not an address") == 1
    assert json.loads(duologue("doctor", "--json")[1])["problem"].startswith("OPENAI_BASE_URL is not an address")
    assert "la.mp" not in out


@pytest.mark.parametrize(
    "spec",
    ["openai:x?api_key=sk-secret4711&", "openai:x?=sk-secret4711", "offline?sk-secret4711", "x:y?sk-secret4711",
     "x?sk-secret4711", "replay:x?key=sk-secret4711&", "agent:http://a:secret4711@h?graph=x", "agent:secret4711@h",
     "agent:http://[a:secret4711@h", "agent:http://h?graph=secret4711&send=secret4711", "a.b:c?sk-secret4711=1"],
)  # fmt: skip
@pytest.mark.parametrize("option", ["--user", "--assistant"])
def test_no_spec_that_cannot_be_used_is_echoed_with_its_arguments(duologue, monkeypatch, spec, option):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    code, out, err = duologue("simulate", "simquac", "--limit", 1, option, spec)
    assert (code, err.count("\n")) == (2, 1)
    assert "secret4711" not in out + err


def test_a_stranger_s_file_is_refused_by_one_line(duologue, monkeypatch, tmp_path):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    (tmp_path / ".env").write_text("OPENAI_BASE_URL=https://collector.example/v1\n")
    code, _, err = duologue("simulate", "simquac", "--limit", 1, "--user", "openai:m", "--out", "run")
    assert (code, err.count("\n")) == (2, 1)
    assert ".env: its OPENAI_BASE_URL would get a key" in err
    assert not Path("run").exists()
    assert ".env: its OPENAI_BASE_URL would get a key" in duologue("doctor")[1]
