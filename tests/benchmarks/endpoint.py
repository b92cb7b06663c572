"""A loopback endpoint that speaks OpenAI's chat completions and costs little: `python -m tests.benchmarks.endpoint`.

It tells its port as a line of JSON and ends with its standard input, so it never outlives who started it. `POST
/settings` sets latency and jitter and begins the counts anew, `GET /counts` tells them. Latency is drawn by the request
itself: the same request waits as long whoever sends it.
"""

import asyncio
import json
import socket
import sys
import time
from dataclasses import asdict, dataclass, field
from typing import Any

from .replies import completion, number_of

KEPT = 64
"""Bodies that are kept for who asks what was sent."""


@dataclass
class Settings:
    """How it answers."""

    latency: float = 0.0
    """Seconds from a request to its reply."""
    jitter: float = 0.0
    """The part of the latency by which a reply comes sooner or later, at most."""


@dataclass
class Counts:
    """What it saw since the settings were made."""

    calls: int = 0
    connections: int = 0
    bytes: int = 0
    """Of the requests' bodies."""
    under_way: int = 0
    most_under_way: int = 0
    first: float = 0.0
    last: float = 0.0
    """When the first request came and the last reply went."""
    wrong: int = 0
    """Requests that were no chat completion."""
    bodies: list[str] = field(default_factory=list)
    cpu_before: float = field(default_factory=time.process_time)

    def told(self) -> dict[str, Any]:
        counts = asdict(self)
        return counts | {"cpu": time.process_time() - counts.pop("cpu_before")}


class Endpoint:
    """Settings and counts of all connections."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop, self.settings, self.counts = loop, Settings(), Counts()
        self.open: set[asyncio.Transport] = set()

    def wait(self, number: int) -> float:
        """Seconds for the request with this number."""
        share = (number * 2654435761 % 2**32) / 2**31 - 1  # from -1 to 1
        return self.settings.latency * (1 + self.settings.jitter * share)

    def close(self) -> None:
        """Close every connection, idle or not."""
        for transport in list(self.open):
            transport.abort()


class Connection(asyncio.Protocol):
    """One request after another, over a connection that stays open unless the client says otherwise."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint, self.received = endpoint, bytearray()
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.endpoint.open.add(transport)
        self.endpoint.counts.connections += 1

    def connection_lost(self, error: Exception | None) -> None:
        assert self.transport is not None
        self.endpoint.open.discard(self.transport)

    def data_received(self, data: bytes) -> None:
        self.received += data
        while (end := self.received.find(b"\r\n\r\n")) >= 0:
            head = bytes(self.received[:end]).lower()
            _, header, rest = head.partition(b"\r\ncontent-length:")
            size = int(rest.partition(b"\r\n")[0]) if header else 0
            if len(self.received) < end + 4 + size:
                return
            body = bytes(self.received[end + 4 : end + 4 + size])
            del self.received[: end + 4 + size]
            self.requested(head, body)

    def requested(self, head: bytes, body: bytes) -> None:
        closing = b"\r\nconnection: close" in head
        endpoint = self.endpoint
        if head.startswith(b"post /v1/chat/completions"):
            counts = endpoint.counts
            number = number_of(body)
            counts.first = counts.first or time.monotonic()
            counts.calls += 1
            counts.bytes += len(body)
            counts.under_way += 1
            counts.most_under_way = max(counts.most_under_way, counts.under_way)
            if len(counts.bodies) < KEPT:
                counts.bodies.append(body.decode())
            endpoint.loop.call_later(endpoint.wait(number), self.answer, counts, number, closing)
        elif head.startswith(b"post /settings"):
            endpoint.settings, endpoint.counts = Settings(**json.loads(body)), Counts()
            self.send(b"{}", closing)
        elif head.startswith(b"get /counts"):
            self.send(json.dumps(endpoint.counts.told()).encode(), closing)
        else:
            endpoint.counts.wrong += 1
            self.send(b"{}", closing, b"404 Not Found")

    def answer(self, counts: Counts, number: int, closing: bool) -> None:
        counts.under_way -= 1
        counts.last = time.monotonic()
        self.send(completion(number), closing)

    def send(self, body: bytes, closing: bool, status: bytes = b"200 OK") -> None:
        if self.transport is None or self.transport.is_closing():
            return
        self.transport.write(
            b"HTTP/1.1 %b\r\ncontent-type: application/json\r\ncontent-length: %d\r\n%b\r\n%b"
            % (status, len(body), b"connection: close\r\n" if closing else b"", body)
        )
        if closing:
            self.transport.close()


async def serve() -> None:
    loop = asyncio.get_running_loop()
    endpoint = Endpoint(loop)
    listening = socket.create_server(("127.0.0.1", 0), backlog=4096)
    server = await loop.create_server(lambda: Connection(endpoint), sock=listening, backlog=4096)
    print(json.dumps({"port": listening.getsockname()[1]}), flush=True)
    async with server:
        await asyncio.to_thread(sys.stdin.read)
        server.close()
        endpoint.close()


if __name__ == "__main__":
    asyncio.run(serve())
