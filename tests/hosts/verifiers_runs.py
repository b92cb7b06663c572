"""Runs of the installed Verifiers on loopback: a scripted model, a harness in this process, and a page's module."""

import asyncio
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import verifiers.v1 as vf

HERE = str(Path(__file__).parent)
SUPPORT = """from duologue.hosts.verifiers import ScenarioTaskset, SimulatedUserEnv

__all__ = ["ScenarioTaskset", "SimulatedUserEnv"]
"""
REPLY: dict[str, Any] = {"id": "1", "created": 1, "model": "m"}
USAGE = {"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 8}


def _completion(message: dict[str, Any]) -> bytes:
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return json.dumps({**REPLY, "object": "chat.completion", "choices": [choice], "usage": USAGE}).encode()


def _stream(message: dict[str, Any]) -> bytes:
    """The message as events of one chunk, of its end and of the tokens."""
    calls = [{"index": place, **call} for place, call in enumerate(message.get("tool_calls") or ())]
    delta = message | ({"tool_calls": calls} if calls else {})
    begun = {"index": 0, "delta": delta, "finish_reason": None}
    ended = {"index": 0, "delta": {}, "finish_reason": "tool_calls" if calls else "stop"}
    chunks: list[dict[str, Any]] = [{"choices": [begun]}, {"choices": [ended]}, {"choices": [], "usage": USAGE}]
    lines = [json.dumps({**REPLY, "object": "chat.completion.chunk", **chunk}) for chunk in chunks]
    return "".join(f"data: {line}\n\n" for line in [*lines, "[DONE]"]).encode()


@contextmanager
def served(answer: Callable[[list[dict[str, Any]]], dict[str, Any]]) -> Iterator[str]:
    """The address of a model on loopback that gives these messages."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            message = answer(request["messages"])
            is_stream = bool(request.get("stream"))
            body = (_stream if is_stream else _completion)(message)
            self.send_response(200 if message else 500)
            self.send_header("Content-Type", "text/event-stream" if is_stream else "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


def run(
    scenarios: Sequence[dict[str, Any]] | str,
    answer: Callable[[list[dict[str, Any]]], dict[str, Any]],
    *,
    rollouts: int = 1,
    module: str = SUPPORT,
    assistant: dict[str, Any] | None = None,
    **settings: Any,
) -> list[Any]:
    """The episodes of each scenario, with the module's task set and environment."""
    Path("support.py").write_text(module)
    sys.modules.pop("support", None)
    sys.path[:0] = [str(Path.cwd()), HERE]
    try:
        seat = {"harness": {"id": "chat_in_process"}, "runtime": {"type": "subprocess"}, **(assistant or {})}
        taskset = {"id": "support", "scenarios": scenarios}
        config = vf.resolve_env_config({"taskset": taskset, "assistant": seat, **settings})
        with served(answer) as address:
            return asyncio.run(_episodes(config, address, rollouts))
    finally:
        del sys.path[:2]


async def _episodes(config: Any, address: str, rollouts: int) -> list[Any]:
    env = vf.load_environment(config)
    client = vf.EvalClientConfig(base_url=address, api_key_var="NO_KEY_OF_A_MODEL")
    context = vf.ModelContext(model="m", client=client)
    async with env.serving():
        slots = [slot for task in env.taskset for slot in env.slots(task, rollouts)]
        return [await env.run_slot(slot, context) for slot in slots]
