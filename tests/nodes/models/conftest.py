"""An endpoint that keeps connections, counts them, and keeps every request as it came."""

import json
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

KEY = "open.sesame.4711"


def completion(message: Any = None, finish: Any = "stop", **more: Any) -> dict[str, Any]:
    """A chat completion as OpenAI words it."""
    message = {"role": "assistant", "content": "Who lived there?", "refusal": None} if message is None else message
    return {
        "id": "c-1",
        "object": "chat.completion",
        "created": 1,
        "model": "m-0815",
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": finish}],
        "usage": {"prompt_tokens": 20, "completion_tokens": 3, "total_tokens": 23},
    } | more


@dataclass
class Sent:
    """A request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def short(self) -> bool:
        """Whether it came the short way, over a connection that may be kept."""
        return self.headers.get("connection") != "close"


@dataclass
class Answer:
    """What is answered: a body of JSON, or bytes."""

    body: Any
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)

    def data(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


class Recorder:
    """Answers `say` to all, or to each path its own."""

    def __init__(self) -> None:
        self.sent: list[Sent] = []
        self.say: Any = completion()
        self.paths: dict[str, Any] = {}
        self.connections = self.under_way = 0
        self.hold: threading.Barrier | None = None
        self.leaves = False
        """Whether each connection is ended after an answer, without a word of that."""
        recorder = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle(self) -> None:
                recorder.connections += 1
                with suppress(ConnectionError, threading.BrokenBarrierError):
                    super().handle()

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                headers = {name.lower(): value for name, value in self.headers.items()}
                recorder.sent.append(Sent(self.command, self.path, headers, body))
                if recorder.hold is not None:
                    recorder.hold.wait(900)
                reply = recorder.paths.get(self.path, recorder.say)
                answer = reply if isinstance(reply, Answer) else Answer(reply)
                data = answer.data()
                self.send_response(answer.status)
                about = {"content-type": "application/json", "content-length": str(len(data))} | answer.headers
                for name, value in about.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)
                self.close_connection = self.close_connection or recorder.leaves

            def do_GET(self) -> None:
                self.do_POST()

            def log_message(self, *args: Any) -> None:
                pass

        class Server(ThreadingHTTPServer):
            request_queue_size = 128
            daemon_threads = True

        self.server = Server(("127.0.0.1", 0), Handler)
        self.origin = f"http://127.0.0.1:{self.server.server_port}"
        self.url = f"{self.origin}/v1"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def last(self) -> Sent:
        """The last request."""
        return self.sent[-1]

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Recorder]:
    """The endpoint, with key and base URL in the environment."""
    recorder = Recorder()
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", recorder.url)
    yield recorder
    recorder.close()


@pytest.fixture
def shapes() -> Any:
    """What the tests of this folder share: Answer, completion."""
    from types import SimpleNamespace

    return SimpleNamespace(Answer=Answer, completion=completion, key=KEY)
