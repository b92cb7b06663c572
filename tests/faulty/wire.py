"""HTTP/1.1 as far as the endpoint needs it, and a client that may leave at any time."""

import asyncio
import json
from pathlib import Path
from typing import Any, TypeAlias

from .replies import Reply

Reader: TypeAlias = asyncio.StreamReader
Writer: TypeAlias = asyncio.StreamWriter


async def left(gone: "asyncio.Future[bytes]", seconds: float) -> bool:
    """Wait; whether the client left meanwhile."""
    await asyncio.wait({gone}, timeout=seconds)
    return gone.done()


def noted(path: Path, line: dict[str, Any]) -> None:
    with path.open("a") as file:
        file.write(json.dumps(line) + "\n")


def head_of(reply: Reply, stays: bool) -> bytes:
    lines = [f"HTTP/1.1 {reply.status} Told", f"content-type: {reply.kind}", f"content-length: {len(reply.body)}"]
    lines += [f"{name}: {value}" for name, value in reply.headers.items()]
    return "\r\n".join([*lines, f"connection: {'keep-alive' if stays else 'close'}", "", ""]).encode()


async def request_of(reader: Reader) -> tuple[str, str, dict[str, str], bytes] | None:
    """The next request of a connection: method, path, headers in lower case, body."""
    line = await reader.readline()
    if not line.strip():
        return None
    method, path, _ = line.decode("latin-1").split(" ", 2)
    headers: dict[str, str] = {}
    while (line := await reader.readline()).strip():
        name, _, value = line.decode("latin-1").partition(":")
        headers[name.strip().lower()] = value.strip()
    return method, path, headers, await reader.readexactly(int(headers.get("content-length", 0)))
