"""One endpoint: a port of its own, faults and schedules of its own, and a count of everything that it was asked."""

import asyncio
import json
import os
import signal
import socket
import struct
from collections import Counter, deque
from contextlib import suppress
from pathlib import Path
from typing import Any

from .replies import Reply, answer, digest, fault_for, share, spread
from .wire import Reader, Writer, head_of, left, noted, request_of


class Endpoint:
    """Answers `POST /v1/chat/completions`, `POST /v1/responses`, `GET /v1/models` and `GET /counts`.

    Settings, all optional: `seed`; `faults`: rates by name (`everything`: a share spread over all that pass); `status`
    for every request; `latency` and `jitter` in seconds; `per_second`, beyond which 429 is said (`retry_after`: seconds
    for the header, null for none); `gone`: pairs of seconds since the first request between which nobody listens;
    `gone_requests`: pairs of a number of requests after which so many are reset; `misbehave`: rate of the speakers;
    `reply`: one text for everything; `changes`: each reply ends with its number, so that none is equal; `tools`: call the first tool first; `redirect`: where to; `huge`: bytes; `log`: a
    file that gets a line for each proper reply; `hold_at`: from the nth proper reply on nothing is answered (`lost`: so
    many of those held are counted as answered all the same); `kill`: {"pid", "at", "when"}: SIGKILL at the nth proper
    reply, `before`, `amid` or `after` it is sent.
    """

    def __init__(self, settings: dict[str, Any]) -> None:
        self.settings = settings
        self.rates = spread(settings.get("faults", {}))
        self.asked: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()
        self.statuses: Counter[str] = Counter()
        self.repeats = self.resets = self.in_flight = self.most = self.held = self.lost = self.number = 0
        self.at_kill: list[int] = []
        self.last: dict[str, Any] = {}
        self.port = 0
        self._recent: deque[float] = deque()
        self._free = asyncio.Event()
        self._free.set()
        self._server: asyncio.Server | None = None
        self._open: set[Writer] = set()
        self._clock: list[asyncio.TimerHandle] | None = None

    # -- the port

    async def start(self, port: int = 0) -> None:
        """Listen. A second socket holds the port while nobody listens."""
        self._held_port = socket.socket()
        self._held_port.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        self._held_port.bind(("127.0.0.1", port))
        self.port = self._held_port.getsockname()[1]
        await self.listen()

    async def listen(self) -> None:
        """Accept connections."""
        self._server = await asyncio.start_server(
            self._connected, "127.0.0.1", self.port, reuse_port=True, limit=64_000_000, backlog=500
        )

    async def leave(self) -> None:
        """Nobody listens; what is open is reset."""
        if self._server is not None:
            self._server.close()
            self._server = None
        for writer in list(self._open):
            self._reset(writer)

    async def close(self) -> None:
        """Leave for good."""
        for timer in self._clock or ():
            timer.cancel()
        await self.leave()
        self._held_port.close()

    def change(self, settings: dict[str, Any]) -> None:
        """Other settings from now on; counts go on."""
        self.settings = self.settings | settings
        self.rates = spread(self.settings.get("faults", {}))
        if "hold_at" in settings:
            self._free.set() if settings["hold_at"] is None else None

    def counts(self) -> dict[str, Any]:
        """Everything that was counted."""
        return {
            "requests": sum(self.asked.values()),
            "bodies": len(self.asked),
            "answered": sum(self.answered.values()),
            "answered_bodies": len(self.answered),
            "repeats": self.repeats,
            "faults": dict(self.faults),
            "statuses": dict(self.statuses),
            "resets": self.resets,
            "in_flight": self.in_flight,
            "most_in_flight": self.most,
            "held": self.held,
            "lost": self.lost,
            "in_flight_at_kills": self.at_kill,
            "last": self.last,
        }

    # -- the wire

    async def _connected(self, reader: Reader, writer: Writer) -> None:
        self._open.add(writer)
        try:
            while (request := await request_of(reader)) is not None:
                method, path, headers, data = request
                if not await self._served(method, path, headers, data, reader, writer):
                    break
        except (ConnectionError, asyncio.IncompleteReadError, ValueError):
            pass
        finally:
            self._open.discard(writer)
            with suppress(ConnectionError, OSError):
                writer.close()

    async def _served(
        self, method: str, path: str, headers: dict[str, str], data: bytes, reader: Reader, writer: Writer
    ) -> bool:
        """Answer a request; whether the connection stays."""
        stays = headers.get("connection", "").lower() != "close"
        if method == "GET":
            models = {"object": "list", "data": [{"id": "m", "object": "model", "created": 1, "owned_by": "tests"}]}
            document = self.counts() if path == "/counts" else models
            return await self._send(writer, Reply(json.dumps(document).encode()), stays)
        body = json.loads(data)
        key = digest(body)
        self._begin_clock()
        number = sum(self.asked.values())
        if any(after <= number + self.resets < after + count for after, count in self._gone_requests(number)):
            self.resets += 1
            self._reset(writer)
            return False
        self.asked[key] += 1
        self.last = {"path": path, "headers": {k: v for k, v in headers.items() if k != "authorization"}}
        self.in_flight += 1
        self.most = max(self.most, self.in_flight)
        gone = asyncio.ensure_future(reader.read(1))  # a client that goes away is no longer in flight
        try:
            return await self._answered(body, key, path, stays, writer, gone)
        finally:
            self.in_flight -= 1
            if not gone.done():
                gone.cancel()
                with suppress(asyncio.CancelledError, ConnectionError):
                    await gone

    def _gone_requests(self, number: int) -> list[tuple[int, int]]:
        pairs = [(int(after), int(count)) for after, count in self.settings.get("gone_requests", [])]
        return [pair for pair in pairs if number + self.resets >= pair[0]]

    async def _answered(
        self, body: dict[str, Any], key: str, path: str, stays: bool, writer: Writer, gone: "asyncio.Future[bytes]"
    ) -> bool:
        fault = "429_limit" if self._too_many() else fault_for(self.rates, self._seed, key, self.asked[key])
        if status := self.settings.get("status"):
            fault = str(status)
        settings = self.settings
        if settings.get("changes"):
            self.number += 1
            settings = settings | {"ends_with": f" ({self.number})"}
        wait = self.settings.get("latency", 0.0)
        wait += self.settings.get("jitter", 0.0) * share("jitter", key, self.asked[key])
        if wait and await left(gone, wait):
            return False
        if fault == "429_limit":
            after = self.settings.get("retry_after")
            fault = "429" if after is None else "429_after"
            reply = answer(body, fault, settings, path)
            reply.fault = "limit"
        else:
            reply = answer(body, fault, settings, path)
        if reply.fault:
            self.faults[reply.fault] += 1
        if fault == "never":
            await left(gone, 600)
            return False
        if fault == "reset_before":
            self._reset(writer)
            return False
        if reply.usable and not fault and await self._held(key, gone):
            return False
        return await self._sent(reply, fault, key, stays, writer, gone)

    async def _sent(
        self, reply: Reply, fault: str, key: str, stays: bool, writer: Writer, gone: "asyncio.Future[bytes]"
    ) -> bool:
        self.statuses[str(reply.status)] += 1
        head = head_of(reply, stays)
        if fault == "reset_amid":
            writer.write(head + reply.body[: len(reply.body) // 2])
            await writer.drain()
            self._reset(writer)
            return False
        if fault == "slow":
            writer.write(head)
            for byte in reply.body:
                writer.write(bytes([byte]))
                await writer.drain()
                if await left(gone, float(self.settings.get("slow", 1.0))):
                    return False
            return stays
        if not reply.usable:
            return await self._send(writer, reply, stays)
        self.repeats += key in self.answered  # a refused request was asked twice, and paid once
        self.answered[key] += 1
        if path := self.settings.get("log"):
            noted(Path(path), {"request": key, "times": self.answered[key]})
        return await self._killed(reply, stays, writer)

    async def _killed(self, reply: Reply, stays: bool, writer: Writer) -> bool:
        """Send a proper reply; at the one that was told, kill whom the settings name."""
        kill = self.settings.get("kill")
        due = kill is not None and sum(self.answered.values()) >= kill["at"]
        if due and kill["when"] == "amid":
            writer.write(head_of(reply, stays) + reply.body[: len(reply.body) // 2])
            await writer.drain()
        if due and kill["when"] in ("before", "amid"):
            self._strike(kill)
        sent = await self._send(writer, reply, stays) if not due or kill["when"] == "after" else False
        if due and kill["when"] == "after":
            self._strike(kill)
        return sent

    def _strike(self, kill: dict[str, Any]) -> None:
        self.settings = {**self.settings, "kill": None}
        self.at_kill.append(self.in_flight)
        with suppress(ProcessLookupError):
            os.kill(int(kill["pid"]), signal.SIGKILL)

    async def _held(self, key: str, gone: "asyncio.Future[bytes]") -> bool:
        """Hold a reply from the one that was told on; whether the client left meanwhile."""
        at = self.settings.get("hold_at")
        if at is None or sum(self.answered.values()) < at:
            return False
        self._free.clear()
        self.held += 1
        if self.lost < int(self.settings.get("lost", 0)):
            self.lost += 1
            self.answered[key] += 1
        freed = asyncio.ensure_future(self._free.wait())
        both: set[asyncio.Future[Any]] = {freed, gone}
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        freed.cancel()
        self.held -= 1
        return gone.done()

    async def _send(self, writer: Writer, reply: Reply, stays: bool) -> bool:
        writer.write(head_of(reply, stays))
        for start in range(0, len(reply.body), 1 << 20):
            writer.write(reply.body[start : start + (1 << 20)])
            await writer.drain()
        await writer.drain()
        return stays

    def _reset(self, writer: Writer) -> None:
        """End a connection with a reset, not in order."""
        with suppress(OSError):
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()

    # -- the schedule

    @property
    def _seed(self) -> int:
        return int(self.settings.get("seed", 0))

    def _begin_clock(self) -> None:
        if self._clock is not None:
            return
        loop, self._clock = asyncio.get_running_loop(), []
        self._running: set[asyncio.Task[None]] = set()

        def later(seconds: float, step: Any) -> None:
            def go() -> None:
                self._running.add(task := loop.create_task(step()))
                task.add_done_callback(self._running.discard)

            if self._clock is not None:
                self._clock.append(loop.call_later(seconds, go))

        for start, end in self.settings.get("gone", []):
            later(start, self.leave)
            later(end, self.listen)

    def _too_many(self) -> bool:
        """Whether this request is beyond what a second allows; a refused one does not count."""
        allowed = self.settings.get("per_second")
        if allowed is None:
            return False
        now = asyncio.get_running_loop().time()
        while self._recent and self._recent[0] <= now - 1:
            self._recent.popleft()
        if len(self._recent) >= allowed:
            return True
        self._recent.append(now)
        return False
