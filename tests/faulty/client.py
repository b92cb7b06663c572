"""Faulty endpoints from a test: a process of their own, so that they outlive what they kill and cost a test no time."""

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
KEY = "open.sesame.4711"


class Opened:
    """An endpoint of the process: `url`, `counts()`, `change(...)`, `leave()`, `listen()`."""

    def __init__(self, process: "Faulty", settings: dict[str, Any]) -> None:
        self._process, self.port, self.url = process, settings["port"], settings["url"]
        self.environment = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": self.url}

    def _asked(self, method: str, more: str = "", settings: dict[str, Any] | None = None) -> dict[str, Any]:
        return self._process.asked(method, f"/endpoints/{self.port}{more}", settings)

    def counts(self) -> dict[str, Any]:
        return self._asked("GET")

    def change(self, **settings: Any) -> None:
        self._asked("POST", "", settings)

    def leave(self) -> None:
        self._asked("POST", "/leave")

    def listen(self) -> None:
        self._asked("POST", "/listen")

    def close(self) -> None:
        self._asked("DELETE")

    def until(self, holds: Callable[[dict[str, Any]], bool], within: float = 900.0) -> dict[str, Any]:
        """The counts as soon as this holds of them."""
        for _ in range(int(within / 0.01)):
            if holds(counts := self.counts()):
                return counts
            time.sleep(0.01)
        raise AssertionError(f"not within {within} s: {counts}")


class Faulty:
    """The process. Calls open an endpoint with settings, as `tests/faulty/endpoint.py` lists them."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.faulty"],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, "LANGSMITH_TRACING": "false"},
        )  # fmt: skip
        assert self._process.stdout is not None
        self._control = json.loads(self._process.stdout.readline())["control"]

    def asked(self, method: str, path: str, settings: dict[str, Any] | None = None) -> dict[str, Any]:
        data = None if settings is None and method == "GET" else json.dumps(settings or {}).encode()
        request = urllib.request.Request(self._control + path, data, method=method, headers={"connection": "close"})
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=900) as answered:
                return dict(json.load(answered))
        except urllib.error.HTTPError as error:
            with error:
                raise ValueError(error.read().decode()) from None

    def __call__(self, **settings: Any) -> Opened:
        return Opened(self, self.asked("POST", "/endpoints", settings))

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(900)
        finally:
            self._process.kill()
            self._process.stdout.close()
