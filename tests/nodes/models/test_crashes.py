"""Whether an agent's error is a crash of its own code, or of an endpoint that is away."""

import json
from email.message import Message
from urllib.error import HTTPError, URLError

import httpx
import openai
import pytest

from duologue.errors import DataError
from duologue.nodes.calls.tries import CallError
from duologue.nodes.models.faults import ReplyError, fault, is_crash
from duologue.nodes.replies.function_answers import AnswerError

REQUEST = httpx.Request("POST", "http://127.0.0.1:9/v1")


def of_status(status: int) -> httpx.HTTPStatusError:
    return httpx.HTTPStatusError("no", request=REQUEST, response=httpx.Response(status, request=REQUEST))


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    "error",
    [
        KeyError("seat"),
        json.JSONDecodeError("Expecting value", "x", 0),
        FileNotFoundError(2, "No such file"),
        of_status(400),
        of_status(404),  # of a tool
        HTTPError("http://127.0.0.1:9", 404, "Not Found", Message(), None),
        caused(RuntimeError("my agent broke"), of_status(404)),
        AnswerError("the function answered with nothing (None)"),
        caused(RuntimeError("my agent broke"), ValueError("no number")),
    ],
)
def test_an_error_of_ones_own_code_is_a_crash(error: Exception) -> None:
    assert is_crash(error)


@pytest.mark.parametrize(
    "error",
    [
        *map(of_status, (401, 403, 429, 500, 502, 503, 529)),
        httpx.ConnectError("Connection refused", request=REQUEST),
        openai.NotFoundError("no such model", response=httpx.Response(404, request=REQUEST), body=None),
        URLError(ConnectionRefusedError(111, "Connection refused")),
        ConnectionResetError(104, "Connection reset by peer"),
        TimeoutError("nothing came"),
        caused(RuntimeError("my agent broke"), of_status(503)),
        CallError(fault("bad_request"), {}),
        ReplyError(fault("no_choices")),
        caused(RuntimeError("my agent broke"), DataError("calls.jsonl: holds no such call")),
    ],
)
def test_an_endpoint_that_is_away_is_no_crash(error: Exception) -> None:
    assert not is_crash(error)
