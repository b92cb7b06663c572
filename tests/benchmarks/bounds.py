"""How far runs pass their bounds: `python -m tests.benchmarks.bounds`, against a loopback endpoint. Asserts nothing.

Tokens and dollars are those that the run reports of all its calls; the seconds are a wall clock's, from the bound or the
signal to the end of the process, on a machine that should be idle.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.faulty.client import Faulty

SIDES = ("--user", "openai:gpt-4.1-mini", "--assistant", "openai:gpt-4.1-mini")
DIALOGUES = (
    "simulate",
    "recllmsim",
    *SIDES,
    "--limit",
    "64",
    "--concurrency",
    "64",
    "--max-turns",
    "8",
    "--out",
    "run",
)


def started(served: Any, folder: str, *command: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "duologue.cli", *command],
        cwd=folder, env={**os.environ, **served.environment}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def spent(folder: Path, error: str) -> str:
    """What a run says of the bound that ended it."""
    match = re.search(r"(--max-\S+ \S+) is reached, with (\S+)", error)
    return f"{match[1]}: {match[2]}" if match else error.strip().splitlines()[-1]


def money(faulty: Faulty, name: str, *command: str, before: tuple[str, ...] = ()) -> None:
    served = faulty(latency=0.2, jitter=0.6)
    with tempfile.TemporaryDirectory() as folder:
        if before:
            started(served, folder, *before).communicate()
        _, error = started(served, folder, *command).communicate()
        print(f"{name:44}{spent(Path(folder), error)}  ({served.counts()['requests']} requests)", flush=True)


def seconds(faulty: Faulty, name: str, number: int | None, *command: str, **settings: Any) -> None:
    served = faulty(**settings)
    with tempfile.TemporaryDirectory() as folder:
        process = started(served, folder, *command)
        served.until(lambda counts: counts["requests"] >= 8)
        began = time.monotonic()
        bound = 3.0 if number is None else 0.0
        if number is not None:
            time.sleep(1)
            process.send_signal(number)
            began = time.monotonic()
        at_bound = served.until(lambda _: time.monotonic() - began >= bound)["requests"]
        process.communicate()
        late = served.counts()["requests"] - at_bound
        print(
            f"{name:44}{time.monotonic() - began - bound:5.1f} s, {late} requests after it, exit code {process.returncode}"
        )


def main() -> None:
    faulty = Faulty()
    try:
        tokens = ("--max-tokens", "200000")
        money(faulty, "tokens, 64 at a time", *DIALOGUES, *tokens)
        money(faulty, "dollars, 64 at a time", *DIALOGUES, "--max-cost", "0.08")
        made = ("simulate", "recllmsim", "--limit", "40", "--out", "made")
        labels = (
            "annotate",
            "made",
            "--labels",
            "style",
            "--model",
            "openai:gpt-4.1-mini",
            "--concurrency",
            "64",
            "--out",
            "labels",
        )
        money(faulty, "annotate, tokens, 64 at a time", *labels, "--max-tokens", "60000", before=made)
        slow: dict[str, Any] = {"latency": 2.0, "jitter": 4.0, "faults": {"never": 0.5}}
        seconds(faulty, "--max-time 3s, half the calls hang", None, *DIALOGUES, "--max-time", "3s", **slow)
        seconds(faulty, "Ctrl-C, half the calls hang", signal.SIGINT, *DIALOGUES, **slow)
        refusing: dict[str, Any] = {"latency": 0.2, "per_second": 1, "retry_after": 60}
        seconds(faulty, "--max-time 3s, refused for a minute", None, *DIALOGUES, "--max-time", "3s", **refusing)
    finally:
        faulty.close()


if __name__ == "__main__":
    main()
