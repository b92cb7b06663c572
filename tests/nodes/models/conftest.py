"""An endpoint that keeps connections, counts them, and keeps every request as it came."""

import json
import threading
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

import pytest

KEY = "open.sesame.4711"


def completion(message: Any = None, finish: Any = "stop", **more: Any) -> dict[str, Any]:
    """A chat completion as OpenAI words it."""
    message = {"role": "assistant", "content": "Who lived there?", "refusal": None} if message is None else message
    return {
        "id": "c-1",
        "object": "chat.completion",
        "model": "m-0815",
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": finish}],
        "usage": {"prompt_tokens": 20, "completion_tokens": 3, "total_tokens": 23},
    } | more


class Sent(NamedTuple):
    """A request as it came."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def data(self) -> Any:
        return json.loads(self.body)


class Recorder:
    """Answers `say` to all: JSON, bytes, or status, body and headers; a list has an answer for each.

    With the status None the bytes are all that is written, and then the connection is closed.
    """

    def __init__(self) -> None:
        self.sent: list[Sent] = []
        self.say: Any = completion()
        self.connections = 0
        self.hold: threading.Barrier | None = None
        recorder = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle(self) -> None:
                recorder.connections += 1
                with suppress(ConnectionError, threading.BrokenBarrierError):
                    super().handle()

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                recorder.sent.append(Sent(self.path, {k.lower(): v for k, v in self.headers.items()}, body))
                say = recorder.say.pop(0) if isinstance(recorder.say, list) else recorder.say
                status, data, headers = say if isinstance(say, tuple) else (200, say, {})
                data = data if isinstance(data, bytes) else json.dumps(data).encode()
                if status is None:
                    self.wfile.write(data)
                    self.close_connection = True
                if recorder.hold is not None:
                    recorder.hold.wait(900)
                if status is not None:
                    self.send_response(status)
                    for name, value in {"content-length": str(len(data)), **headers}.items():
                        self.send_header(name, value)
                    self.end_headers()
                    self.wfile.write(data)

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
    if recorder.hold is not None:
        recorder.hold.abort()
    recorder.close()
