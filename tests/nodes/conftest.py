"""An OpenAI-compatible endpoint on the loopback, scripted, that keeps everything it was sent."""

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
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
        self._awake = threading.Event()
        server.expect_request("/v1/chat/completions", method="POST").respond_with_handler(self._answer)

    def say(self, *, user: list[Any] | None = None, assistant: list[Any] | None = None) -> None:
        """The lines of each side: texts, responses, or functions of the request's body."""
        self.lines = {STUDENT: list(user or []), TEACHER: list(assistant or [])}

    def sleep(self, body: dict[str, Any]) -> Response:
        """A line that comes too late."""
        self._awake.wait(10)
        return completion("Too late?")

    def wake(self) -> None:
        """Let whoever sleeps answer now."""
        self._awake.set()

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
    endpoint.wake()
    httpserver.check()


class Lasting:
    """An endpoint that keeps connections open for further calls, as real ones do."""

    def __init__(self) -> None:
        self.open = 0
        self._changed = threading.Condition()
        lasting = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle(self) -> None:
                lasting._count(1)
                try:
                    super().handle()
                except ConnectionError:
                    pass  # a client that went away
                finally:
                    lasting._count(-1)

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                text = "I cannot find the answer." if b"<section>" in body else "Who lived there?"
                data = completion(text).get_data()
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *args: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def _count(self, change: int) -> None:
        with self._changed:
            self.open += change
            self._changed.notify_all()

    def left_open(self, within: float = 1.0) -> int:
        """Connections that are still open after this many seconds, or as soon as there are none."""
        with self._changed:
            self._changed.wait_for(lambda: self.open == 0, within)
            return self.open

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def lasting(monkeypatch: pytest.MonkeyPatch) -> Iterator[Lasting]:
    """An endpoint with lasting connections, with key and base URL in the environment."""
    endpoint = Lasting()
    monkeypatch.setenv("OPENAI_API_KEY", Endpoint.key)
    monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
    yield endpoint
    endpoint.close()


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
