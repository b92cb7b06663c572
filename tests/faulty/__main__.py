"""A process with faulty endpoints: `python -m tests.faulty [--port 0] [--config JSON]` from the repository's root.

It prints one line of JSON, `{"control": URL, "url": URL}`, and ends when its standard input does. `url` is an endpoint with
the settings of --config. At `control`: `POST /endpoints` with settings opens another, `GET /endpoints/PORT` gives its
counts, `POST /endpoints/PORT` changes its settings, `POST /endpoints/PORT/leave` and `/listen` close and open its port,
`DELETE /endpoints/PORT` ends it.
"""

import argparse
import asyncio
import json
import sys
from typing import Any

from .endpoint import Endpoint
from .replies import Reply
from .wire import Reader, Writer, head_of, request_of


class Control:
    """Opens, asks and closes endpoints."""

    def __init__(self) -> None:
        self.endpoints: dict[int, Endpoint] = {}

    async def opened(self, settings: dict[str, Any], port: int = 0) -> dict[str, Any]:
        endpoint = Endpoint(settings)
        await endpoint.start(port)
        self.endpoints[endpoint.port] = endpoint
        return {"port": endpoint.port, "url": f"http://127.0.0.1:{endpoint.port}/v1"}

    async def connected(self, reader: Reader, writer: Writer) -> None:
        while (request := await request_of(reader)) is not None:
            method, path, headers, data = request
            try:
                status, answer = 200, await self.told(method, path.strip("/").split("/")[1:], json.loads(data or b"{}"))
            except (KeyError, ValueError, IndexError) as error:
                status, answer = 400, {"error": repr(error)}
            stays = headers.get("connection", "").lower() != "close"
            reply = Reply(json.dumps(answer).encode(), status)
            writer.write(head_of(reply, stays) + reply.body)
            await writer.drain()
            if not stays:
                break
        writer.close()

    async def told(self, method: str, path: list[str], settings: dict[str, Any]) -> dict[str, Any]:
        if not path:
            return await self.opened(settings)
        endpoint = self.endpoints[int(path[0])]
        if method == "DELETE":
            await self.endpoints.pop(int(path[0])).close()
        elif path[1:] == ["leave"]:
            await endpoint.leave()
        elif path[1:] == ["listen"]:
            await endpoint.listen()
        elif method == "POST":
            endpoint.change(settings)
        return endpoint.counts()


async def run(port: int, settings: dict[str, Any]) -> None:
    control = Control()
    server = await asyncio.start_server(control.connected, "127.0.0.1", 0)
    first = await control.opened(settings, port)
    print(json.dumps({"control": f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"} | first), flush=True)
    await asyncio.to_thread(sys.stdin.read)  # until whoever started it is gone
    for endpoint in control.endpoints.values():
        await endpoint.close()
    server.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--config", type=json.loads, default={})
    given = parser.parse_args()
    asyncio.run(run(given.port, given.config))
