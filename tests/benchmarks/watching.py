"""What `--watch` costs a run, with a reader at its page: `python -m tests.benchmarks.watching [ROUNDS]`; asserts nothing.

The same run of about 2,000 rule-based conversations, with and without a page in turns. CPU of the run's own process, and of
the page's.
"""

import http.client
import json
import os
import re
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

REPEATS = 286
"""Of seven sections of the samples."""
RUN = ("simulate", "simquac", "--repeats", str(REPEATS), "--processes", "1", "--yes")
TICKS = os.sysconf("SC_CLK_TCK")


def cpu(pid: int) -> float:
    """CPU seconds of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


class Reader:
    """Reads a page as a browser does, until its server has gone."""

    def __init__(self, port: int, token: str) -> None:
        self.port, self.cookie, self.cpu, self.answers = port, "", 0.0, 0
        (self.server,) = _servers(os.getpid())
        headers, text = self._ask(f"/?token={token}")
        self.cookie = headers["set-cookie"].partition(";")[0]
        path, seen = text.partition("url=")[2].partition('"')[0], ""
        with suppress(OSError, http.client.HTTPException):
            while True:
                state: dict[str, Any] = json.loads(self._ask(f"{path}state?seen={seen}")[1])
                seen, self.answers, self.cpu = state["seen"], self.answers + 1, cpu(self.server)
                if state["leads_to"]:
                    return

    def _ask(self, path: str) -> tuple[Any, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("GET", path, headers={"cookie": self.cookie})
        answer = connection.getresponse()
        return answer.headers, answer.read().decode()


def _servers(above: int) -> list[int]:
    """Processes that serve a page for a command that this process has started."""
    lines = subprocess.run(["ps", "-eo", "pid,ppid,args"], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in lines.splitlines()[1:]]
    parents = {int(pid): int(parent) for pid, parent, _ in rows}
    found = [int(pid) for pid, _, command in rows if "duologue.studies.live" in command]
    return [pid for pid in found if parents.get(parents[pid]) == above]


def simulated(*more: str) -> tuple[float, float, int, int]:
    """CPU of the run's process and of the page's, answers to the reader, and conversations."""
    readers: list[Reader] = []
    with TemporaryDirectory() as folder:
        command = [sys.executable, "-P", "-m", "duologue.cli", *RUN, "--out", f"{folder}/run", *more]
        run = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

        def read() -> None:
            assert run.stderr is not None
            for line in run.stderr:
                if match := re.search(r"watch: http://127\.0\.0\.1:(\d+)/\?token=(\S+)", line):
                    Thread(target=lambda m=match: readers.append(Reader(int(m[1]), m[2])), daemon=True).start()

        Thread(target=read, daemon=True).start()
        spent = 0.0
        while run.poll() is None:
            with suppress(OSError, IndexError):
                spent = cpu(run.pid)
            time.sleep(0.05)
        count = len(Path(folder, "run", "conversations.jsonl").read_text().splitlines())
    time.sleep(2)
    return spent, sum(one.cpu for one in readers), sum(one.answers for one in readers), count


if __name__ == "__main__":
    spent: list[tuple[float, float]] = []
    for number in range(int(sys.argv[1]) if len(sys.argv) > 1 else 3):
        without, *_ = simulated()
        watched, page, answers, count = simulated("--watch")
        spent.append((without, watched))
        print(
            f"{number + 1}: {count} conversations, CPU without a page {without:.1f} s, with one {watched:.1f} s; "
            f"ratio {watched / without:.3f}; the page's process {page:.1f} s for {answers} answers",
            flush=True,
        )
    alone, beside = (sum(times) for times in zip(*spent, strict=True))
    print(f"ratio of the sums {beside / alone:.3f}")
