"""Commands in forks, from a test."""

import itertools
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Fork:
    """A command that runs, or is over."""

    stdout_path: Path
    stderr_path: Path
    pid: int = 0
    code: int | None = None
    kilobytes: int = 0
    worked: float = 0.0
    """Seconds of CPU."""
    _started: threading.Event = field(default_factory=threading.Event)
    _over: threading.Event = field(default_factory=threading.Event)

    def wait(self, seconds: float = 900) -> int:
        """The exit code; negative for a signal. `seconds`: only what hangs takes so long, on any machine."""
        assert self._over.wait(seconds), f"still runs after {seconds} s: {self.stderr}"
        assert self.code is not None
        return self.code

    @property
    def over(self) -> bool:
        return self._over.is_set()

    def kill(self) -> None:
        """SIGKILL."""
        os.kill(self.pid, signal.SIGKILL)

    @property
    def stdout(self) -> str:
        return self.stdout_path.read_text(errors="replace")

    @property
    def stderr(self) -> str:
        return self.stderr_path.read_text(errors="replace")


class Forks:
    """The process that forks: calls start `duologue ARGUMENTS` in a folder."""

    def __init__(self, *options: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.forks", *options], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self._process.stdout is not None
        assert json.loads(self._process.stdout.readline())["ready"]
        self._numbers, self._lock = itertools.count(), threading.Lock()
        self._forks: dict[int, Fork] = {}
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            document = json.loads(line)
            fork = self._forks[document["id"]]
            if "pid" in document:
                fork.pid = document["pid"]
                fork._started.set()
            else:
                fork.code, fork.kilobytes, fork.worked = (document[name] for name in ("code", "kilobytes", "worked"))
                del self._forks[document["id"]]
                fork._over.set()

    def __call__(
        self, arguments: Sequence[object], cwd: Path, environment: dict[str, str] | None = None, **limits: Any
    ) -> Fork:
        """Start a command, or what begins with `-m pytest` or `-c CODE`. `limits`: `memory` in bytes beyond what is there;
        `file`: most bytes of each file that it writes, as if the disk were full; `seconds` of work, and six times as many
        of waiting; `within` a folder, beyond which
        each change is told in the file `outside`."""
        number = next(self._numbers)
        fork = Fork(cwd.parent / f"{cwd.name}.{number}.out", cwd.parent / f"{cwd.name}.{number}.err")
        for path in (fork.stdout_path, fork.stderr_path):
            path.touch()  # they can be read before the fork is as far as to write
        order = {
            "id": number,
            "arguments": [str(argument) for argument in arguments],
            "cwd": str(cwd),
            "environment": {"HOME": str(cwd), "COLUMNS": "120"} | (environment or {}),
            "stdout": str(fork.stdout_path),
            "stderr": str(fork.stderr_path),
            **{name: str(value) if isinstance(value, Path) else value for name, value in limits.items()},
        }
        self._forks[number] = fork
        assert self._process.stdin is not None
        with self._lock:
            self._process.stdin.write((json.dumps(order) + "\n").encode())
            self._process.stdin.flush()
        assert fork._started.wait(300)
        return fork

    def run(
        self, *arguments: object, cwd: Path, environment: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """What `subprocess.run` gives of a command, when it is over."""
        fork = self(arguments, cwd, environment)
        code = fork.wait()
        return subprocess.CompletedProcess(arguments, code, fork.stdout, fork.stderr)

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(900)
        self._reader.join(900)
        self._process.stdout.close()
