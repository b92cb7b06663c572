"""Every error of a call has a name, an owner and a wait, whichever package raised it."""

import errno
import json
import ssl
from email.message import Message
from typing import Any
from urllib.error import HTTPError

import aiohttp
import httpx2
import openai
import pytest
from langchain_core import exceptions as core

from duologue.errors import DataError
from duologue.nodes.calls.gate import CallError
from duologue.nodes.models.faults import MEANINGS, ReplyError, StatusError, fault, fault_of, is_crash

REQUEST = httpx2.Request("POST", "http://127.0.0.1/v1")


def of_openai(status: int, message: str = "no", code: str | None = None, **headers: str) -> openai.APIStatusError:
    response = httpx2.Response(
        status, headers={name.replace("_", "-"): value for name, value in headers.items()}, request=REQUEST
    )
    return openai.APIStatusError(message, response=response, body={"message": message, "type": "t", "code": code})


class OfAnotherError(Exception):
    """An error of a package that keeps its status somewhere."""

    def __init__(self, message: str = "no", **where: Any) -> None:
        super().__init__(message)
        for name, value in where.items():
            setattr(self, name, value)


def caused_by(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


STATUSES = {
    "redirected": [301],
    "bad_request": [400, 413, 422],
    "wrong_key": [401],
    "quota_spent": [402],
    "forbidden": [403],
    "unknown_model_or_url": [404, 405],
    "proxy_refused": [407],
    "timeout": [408],
    "overloaded": [425, 503, 529],
    "rate_limited": [429],
    "server_error": [409, 500, 502],
}
ERRORS = {
    "openai": of_openai,
    "own": lambda status: StatusError(status, {}, b'{"error": {"message": "no"}}'),
    "code": lambda status: OfAnotherError(code=status),
    "botocore": lambda status: OfAnotherError(response={"ResponseMetadata": {"HTTPStatusCode": status}}),
    "response": lambda status: OfAnotherError(response=httpx2.Response(status)),
}


@pytest.mark.parametrize("package", ERRORS)
def test_a_status_has_its_name_in_every_package(package: str) -> None:
    for name, status in ((name, status) for name, statuses in STATUSES.items() for status in statuses):
        found = fault_of(ERRORS[package](status))
        assert (found.name, found.whose, str(status) in found.detail) == (name, MEANINGS[name][0], True)
    assert {fault_of(StatusError(status, {}, b"")).name for status in (101, 620, 999)} == {"server_error"}


@pytest.mark.parametrize(
    ("error", "name"),
    [
        (of_openai(429, "You exceeded your current quota", "insufficient_quota"), "quota_spent"),
        (of_openai(429, "You exceeded your current quota, check your plan and billing"), "rate_limited"),
        (of_openai(400, "too long", "context_length_exceeded"), "context_length"),
        (of_openai(400, "no", "content_policy_violation"), "content_policy"),
        (of_openai(400, "API key not valid. Please pass a valid API key."), "wrong_key"),
        (of_openai(404, "no", "model_not_found"), "unknown_model_or_url"),
        (core.ModelAuthenticationError("no"), "wrong_key"),
        (openai.APITimeoutError(REQUEST), "timeout"),
        (openai.APIConnectionError(request=REQUEST), "unreachable"),
        (httpx2.ConnectTimeout("late"), "unreachable"),
        (caused_by(httpx2.ConnectError("no"), ssl.SSLCertVerificationError("self-signed")), "certificate_refused"),
        (httpx2.RemoteProtocolError("incomplete"), "reset"),
        (aiohttp.ServerDisconnectedError(), "reset"),
        (aiohttp.ClientPayloadError("incomplete"), "reset"),
        (aiohttp.ConnectionTimeoutError(), "unreachable"),
        (aiohttp.InvalidURL("http:"), "unknown_model_or_url"),
        (ConnectionResetError(errno.ECONNRESET, "reset"), "reset"),
        (ConnectionError("Failed to connect to Ollama"), "unreachable"),
        (FileNotFoundError("a.txt"), "own_error"),
        (json.JSONDecodeError("Expecting value", "<html>", 0), "not_json"),
        (ReplyError(fault("null_content", "null")), "null_content"),
    ],
    ids=repr,
)
def test_an_error_has_its_name(error, name):
    assert fault_of(error).name == name
    wrapper = RuntimeError("a wrapper")
    wrapper.__cause__ = error
    assert fault_of(wrapper).name == name


def test_a_fault_is_one_short_printable_line_without_secrets(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "open.sesame.4711")
    key_fault = fault_of(of_openai(401, "bad\nkey \x1b[31mopen.sesame.4711\x07 " + "x" * 9_000))
    assert key_fault.detail.startswith("401: bad key [31m[key]")
    assert len(key_fault.line) <= 500
    assert key_fault.line.isprintable()
    assert key_fault.line.startswith("wrong_key: the key is not accepted (401")


def of_tool(status: int) -> httpx2.HTTPStatusError:
    return httpx2.HTTPStatusError("no", request=REQUEST, response=httpx2.Response(status, request=REQUEST))


@pytest.mark.parametrize(
    "error",
    [
        KeyError("seat"),
        of_tool(400),
        of_tool(404),  # of a tool
        HTTPError("http://127.0.0.1:9", 404, "Not Found", Message(), None),
        caused_by(RuntimeError("my agent broke"), of_tool(404)),
    ],
)
def test_an_error_of_ones_own_code_is_a_crash(error: Exception) -> None:
    assert is_crash(error)


@pytest.mark.parametrize(
    "error",
    [
        *map(of_tool, (401, 403, 429, 500, 502, 503, 529)),
        httpx2.ConnectError("Connection refused", request=REQUEST),
        StatusError(404, {}, b"no such model"),
        ConnectionResetError(104, "Connection reset by peer"),
        caused_by(RuntimeError("my agent broke"), of_tool(503)),
        CallError(fault("bad_request"), {}),
        caused_by(RuntimeError("my agent broke"), DataError("calls.jsonl: holds no such call")),
    ],
)
def test_an_endpoint_that_is_away_is_no_crash(error: Exception) -> None:
    assert not is_crash(error)
