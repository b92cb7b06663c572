"""Every error of a call has a name, an owner and a wait, whichever package raised it."""

import errno
import json
import socket
import ssl
from datetime import datetime
from email.message import Message
from typing import Any
from urllib.error import HTTPError, URLError

import aiohttp
import httpx2
import openai
import pytest
from langchain_core import exceptions as core

from duologue.errors import DataError, SettingError
from duologue.nodes.calls.tries import CallError
from duologue.nodes.models import requested_waits
from duologue.nodes.models.faults import MEANINGS, ReplyError, StatusError, fault, fault_of, is_crash, of_error_in_reply
from duologue.nodes.replies.function_answers import AnswerError

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


@pytest.mark.parametrize(
    ("status", "name", "whose"),
    [
        (301, "redirected", "settings"),
        (400, "bad_request", "request"),
        (401, "wrong_key", "settings"),
        (402, "quota_spent", "settings"),
        (403, "forbidden", "settings"),
        (404, "unknown_model_or_url", "settings"),
        (405, "unknown_model_or_url", "settings"),
        (407, "proxy_refused", "settings"),
        (408, "timeout", "endpoint"),
        (409, "server_error", "endpoint"),
        (413, "bad_request", "request"),
        (422, "bad_request", "request"),
        (425, "overloaded", "endpoint"),
        (429, "rate_limited", "limit"),
        (500, "server_error", "endpoint"),
        (502, "server_error", "endpoint"),
        (503, "overloaded", "endpoint"),
        (529, "overloaded", "endpoint"),
    ],
)
@pytest.mark.parametrize(
    "error_of",
    [
        of_openai,
        lambda status: StatusError(status, {}, b'{"error": {"message": "no"}}'),
        lambda status: OfAnotherError(status_code=status),
        lambda status: OfAnotherError(code=status),
        lambda status: OfAnotherError(response={"ResponseMetadata": {"HTTPStatusCode": status}}),
        lambda status: OfAnotherError(response=httpx2.Response(status)),
    ],
    ids=["openai", "own", "status_code", "code", "botocore", "response"],
)
def test_a_status_has_its_name_in_every_package(error_of, status, name, whose):
    status_fault = fault_of(error_of(status))
    assert (status_fault.name, status_fault.whose) == (name, whose)
    assert str(status) in status_fault.detail


@pytest.mark.parametrize(
    ("error", "name"),
    [
        (of_openai(429, "You exceeded your current quota", "insufficient_quota"), "quota_spent"),
        (of_openai(429, "You exceeded your current quota, check your plan and billing"), "rate_limited"),
        (of_openai(400, "too long", "context_length_exceeded"), "context_length"),
        (of_openai(400, "no", "content_policy_violation"), "content_policy"),
        (of_openai(400, "no", "model_not_found"), "unknown_model_or_url"),
        (of_openai(400, "API key not valid. Please pass a valid API key."), "wrong_key"),
        (of_openai(404, "no", "model_not_found"), "unknown_model_or_url"),
        (core.ModelAuthenticationError("no"), "wrong_key"),
        (core.ModelPermissionDeniedError("no"), "forbidden"),
        (core.ModelInvalidRequestError("no"), "bad_request"),
        (core.ModelNotFoundError("no"), "unknown_model_or_url"),
        (core.ModelRateLimitError("no"), "rate_limited"),
        (core.ModelAPIError("no"), "server_error"),
        (core.ModelConnectionError("no"), "unreachable"),
        (core.ModelTimeoutError("no"), "timeout"),
        (core.ContextOverflowError("no"), "context_length"),
        (OfAnotherError(is_retryable=True), "server_error"),
        (openai.APITimeoutError(REQUEST), "timeout"),
        (openai.APIConnectionError(request=REQUEST), "unreachable"),
        (TimeoutError(), "timeout"),
        (httpx2.ReadTimeout("late"), "timeout"),
        (httpx2.ConnectTimeout("late"), "unreachable"),
        (httpx2.ConnectError("no"), "unreachable"),
        (httpx2.ProxyError("502 Bad Gateway"), "unreachable"),
        (caused_by(httpx2.ConnectError("no"), ssl.SSLCertVerificationError("self-signed")), "certificate_refused"),
        (httpx2.RemoteProtocolError("incomplete"), "reset"),
        (aiohttp.ServerDisconnectedError(), "reset"),
        (aiohttp.ClientOSError(errno.ECONNRESET, "reset"), "reset"),
        (aiohttp.ClientPayloadError("incomplete"), "reset"),
        (aiohttp.ConnectionTimeoutError(), "unreachable"),
        (aiohttp.ServerTimeoutError(), "timeout"),
        (aiohttp.InvalidURL("http:"), "unknown_model_or_url"),
        (httpx2.TooManyRedirects("round"), "redirected"),
        (ConnectionResetError(errno.ECONNRESET, "reset"), "reset"),
        (ConnectionRefusedError(errno.ECONNREFUSED, "refused"), "unreachable"),
        (ConnectionError("Failed to connect to Ollama"), "unreachable"),
        (socket.gaierror("no such name"), "unreachable"),
        (URLError(OSError(errno.ENETUNREACH, "no way")), "unreachable"),
        (FileNotFoundError("a.txt"), "own_error"),
        (json.JSONDecodeError("Expecting value", "<html>", 0), "not_json"),
        (ReplyError(fault("null_content", "null")), "null_content"),
        (KeyError("choices"), "own_error"),
        (SettingError("write it otherwise"), "own_error"),
    ],
    ids=repr,
)
def test_an_error_has_its_name(error, name):
    assert fault_of(error).name == name
    wrapper = RuntimeError("a wrapper")
    wrapper.__cause__ = error
    assert fault_of(wrapper).name == name


@pytest.mark.parametrize(
    ("headers", "after"),
    [
        ({"Retry_After": "7"}, 7),
        ({"retry_after": "0.25"}, 0.25),
        ({"retry_after_ms": "1500", "retry_after": "9"}, 1.5),
        ({"retry_after": "-3"}, None),
        ({"retry_after": "nan"}, None),
        ({"retry_after": "inf"}, None),
        ({"retry_after": "1e9"}, None),
        ({"retry_after": "soon"}, None),
        ({"retry_after": ""}, None),
        ({"retry_after": "Wed, 21 Oct 2015 07:28:30 GMT", "date": "Wed, 21 Oct 2015 07:28:00 GMT"}, 30),
        ({"retry_after": "Wed, 21 Oct 2015 07:28:00 GMT"}, None),
        ({}, None),
    ],
)
def test_an_asked_wait_is_read_if_it_makes_sense(headers, after):
    assert fault_of(of_openai(429, **headers)).after == after


def test_a_date_to_wait_for_is_measured_from_our_clock_if_the_endpoint_tells_no_time(monkeypatch):
    class Clock(datetime):
        @classmethod
        def now(cls, tz=None):
            return cls(2015, 10, 21, 7, 28, tzinfo=tz)

    monkeypatch.setattr(requested_waits, "datetime", Clock)
    assert fault_of(of_openai(429, retry_after="Wed, 21 Oct 2015 07:28:30 GMT")).after == 30


@pytest.mark.parametrize(
    ("error", "name"),
    [
        ({"message": "Rate limit exceeded", "code": 429}, "rate_limited"),
        ({"message": "slow down", "type": "rate_limit_error"}, "rate_limited"),
        ({"message": "overloaded"}, "overloaded"),
        ({"message": "no", "code": "insufficient_quota"}, "quota_spent"),
        ({"message": "no", "code": 401}, "wrong_key"),
        ("something broke", "server_error"),
        (True, "server_error"),
    ],
)
def test_an_error_in_a_reply_is_told_like_one_with_a_status(error, name):
    assert of_error_in_reply(error).name == name


def test_a_fault_is_one_short_printable_line_without_secrets(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "open.sesame.4711")
    key_fault = fault_of(of_openai(401, "bad\nkey \x1b[31mopen.sesame.4711\x07 " + "x" * 9_000))
    assert key_fault.detail.startswith("401: bad key [31m[key]")
    assert len(key_fault.line) <= 500
    assert key_fault.line.isprintable()
    assert key_fault.line.startswith("wrong_key: the key is not accepted (401")


def test_every_fault_has_a_meaning_in_plain_words():
    assert all(meaning and meaning[0].islower() and not meaning.endswith(".") for _, meaning in MEANINGS.values())
    assert {whose for whose, _ in MEANINGS.values()} == {"endpoint", "limit", "settings", "request", "ours"}


def of_tool(status: int) -> httpx2.HTTPStatusError:
    return httpx2.HTTPStatusError("no", request=REQUEST, response=httpx2.Response(status, request=REQUEST))


@pytest.mark.parametrize(
    "error",
    [
        KeyError("seat"),
        json.JSONDecodeError("Expecting value", "x", 0),
        FileNotFoundError(2, "No such file"),
        of_tool(400),
        of_tool(404),  # of a tool
        HTTPError("http://127.0.0.1:9", 404, "Not Found", Message(), None),
        caused_by(RuntimeError("my agent broke"), of_tool(404)),
        AnswerError("the function answered with nothing (None)"),
        caused_by(RuntimeError("my agent broke"), ValueError("no number")),
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
        openai.NotFoundError("no such model", response=httpx2.Response(404, request=REQUEST), body=None),
        URLError(ConnectionRefusedError(111, "Connection refused")),
        ConnectionResetError(104, "Connection reset by peer"),
        TimeoutError("nothing came"),
        caused_by(RuntimeError("my agent broke"), of_tool(503)),
        CallError(fault("bad_request"), {}),
        ReplyError(fault("no_choices")),
        caused_by(RuntimeError("my agent broke"), DataError("calls.jsonl: holds no such call")),
    ],
)
def test_an_endpoint_that_is_away_is_no_crash(error: Exception) -> None:
    assert not is_crash(error)
