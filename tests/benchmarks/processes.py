"""The processes of a benchmark: the endpoint, and one for each measurement, which ends before the next begins."""

import http.client
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any, Self

ROOT = Path(__file__).resolve().parents[2]
FOREIGN = ("LANGSMITH_", "LANGCHAIN_", "LANGGRAPH_", "OPENAI_", "DUOLOGUE_")
"""Beginnings of the environment variables that would change what is measured."""
LONGEST = 3600.0
"""Seconds after which a measurement hangs."""


def environment(**more: str) -> dict[str, str]:
    """Nobody's key, endpoint, proxy or tracing."""
    variables = {
        name: value
        for name, value in os.environ.items()
        if not name.upper().startswith(FOREIGN) and not name.upper().endswith("_PROXY")
    }
    return variables | {"PYTHONPATH": str(ROOT), "LANGSMITH_TRACING": "false", **more}


def asked(port: int, method: str, path: str, body: object = None) -> Any:
    """What the endpoint answers to one request of the benchmark itself."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request(method, path, None if body is None else json.dumps(body), {"connection": "close"})
        return json.loads(connection.getresponse().read())
    finally:
        connection.close()


class Loopback:
    """The endpoint's process."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "tests.benchmarks.endpoint"]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment(), cwd=ROOT
        )
        assert self._process.stdout is not None
        self.port = int(json.loads(self._process.stdout.readline())["port"])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(60)
        self._process.stdout.close()


class NoResultError(Exception):
    """A measurement that came to nothing."""


def measured(name: str, port: int, **settings: Any) -> dict[str, Any]:
    """One measurement in a process of its own, with a folder of its own that is gone afterwards."""
    url = f"http://127.0.0.1:{port}/v1"
    variables = environment(OPENAI_API_KEY="none", OPENAI_BASE_URL=url)
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        command = [sys.executable, "-m", "tests.benchmarks.measuring", name, json.dumps({"port": port, **settings})]
        try:
            done = subprocess.run(command, env=variables, cwd=folder, capture_output=True, text=True, timeout=LONGEST)
        except subprocess.TimeoutExpired:
            raise NoResultError(f"{name}: still at work after {LONGEST:.0f} s") from None
    lines = done.stdout.strip().splitlines()
    if done.returncode or not lines:
        raise NoResultError(f"{name}: {done.stderr.strip()[-2000:] or 'no result'}")
    result: dict[str, Any] = json.loads(lines[-1])
    return result
