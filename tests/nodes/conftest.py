"""An OpenAI-compatible endpoint on the loopback, scripted, that keeps everything it was sent."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from duologue.data.simquac import Topic

TEACHER, STUDENT = "assistant", "user"


def completion(text: str | None, **more: Any) -> Response:
    """A chat completion with this text."""
    message = {"role": "assistant", "content": text, **more}
    reply = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "m-0815",
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
        "usage": {"prompt_tokens": 20, "completion_tokens": 3, "total_tokens": 23},
    }
    return Response(json.dumps(reply), content_type="application/json")


def failing(status: int, message: str = "", **headers: str) -> Response:
    """An error as OpenAI words it."""
    reply = json.dumps({"error": {"message": message, "type": "error", "code": None}})
    return Response(
        reply, status, {name.replace("_", "-"): value for name, value in headers.items()}, "application/json"
    )


class Endpoint:
    """Says the lines of a side in turn, then that side's last word for ever."""

    key = "open.sesame.4711"
    completion = staticmethod(completion)
    failing = staticmethod(failing)

    def __init__(self, server: HTTPServer) -> None:
        self.url = server.url_for("/v1")
        self.calls: list[tuple[str, dict[str, Any], dict[str, str]]] = []
        self.lines: dict[str, list[Any]] = {STUDENT: [], TEACHER: []}
        self.otherwise: dict[str, Any] = {
            STUDENT: lambda body: f"What is point {len(body['messages'])}?",
            TEACHER: "I cannot find the answer.",
        }
        server.expect_request("/v1/chat/completions", method="POST").respond_with_handler(self._answer)

    def say(self, *, user: list[Any] | None = None, assistant: list[Any] | None = None) -> None:
        """The lines of each side: texts, responses, or functions of the request's body."""
        self.lines = {STUDENT: list(user or []), TEACHER: list(assistant or [])}

    def bodies(self, side: str | None = None) -> list[dict[str, Any]]:
        """What was sent, by one side or by both."""
        return [body for of, body, _ in self.calls if side in (None, of)]

    def texts(self, side: str | None = None) -> list[str]:
        """Everything that each request said, system message included, as one text each."""
        return ["\n".join(m["content"] for m in body["messages"]) for body in self.bodies(side)]

    @property
    def headers(self) -> list[dict[str, str]]:
        return [headers for _, _, headers in self.calls]

    def _answer(self, request: Request) -> Response:
        body = json.loads(request.get_data())
        side = TEACHER if "<section>" in json.dumps(body) else STUDENT
        headers = {name.lower(): value for name, value in request.headers.items()}
        self.calls.append((side, body, headers))
        line = self.lines[side].pop(0) if self.lines[side] else self.otherwise[side]
        while callable(line) and not isinstance(line, Response):
            line = line(body)
        return line if isinstance(line, Response) else completion(line)


@pytest.fixture
def endpoint(httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    """The endpoint, with key and base URL in the environment."""
    endpoint = Endpoint(httpserver)
    monkeypatch.setenv("OPENAI_API_KEY", endpoint.key)
    monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
    yield endpoint
    httpserver.check()


@pytest.fixture
def lighthouse() -> Topic:
    """A topic whose four texts have no sentence in common, nor one with a prompt page."""
    return Topic(
        title="Aberwick Point",
        background="A granite tower above the North Channel.",
        header="The keepers' years",
        section="Three keepers lived on the rock. The last one, Ada Quill, left in 1968. Ships still pass at night.",
    )


@pytest.fixture
def anything_in() -> Callable[[Path], bytes]:
    """Every byte of every file under a folder."""
    return lambda folder: b"\n".join(file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file())
