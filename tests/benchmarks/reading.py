"""What commands need that read a run: their peak of memory and their time, at two lengths of the run.

The run is one conversation of three exchanges about a section, written down under as many ids.
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from duologue.data.files.json import dumps, read_json
from duologue.data.formats import record_lines
from duologue.data.formats.source import CONVERSATIONS, MANIFEST

from .processes import environment
from .workload import Workload, now

COMMANDS = (
    ("check", "check", "run", "--limit", "0", "--fail-on", "never"),
    ("show --limit 100", "show", "run", "--limit", "100", "--out", "page.html"),
    ("convert", "convert", "run", "made.jsonl", "--to", "messages"),
    ("papers simquac stats", "papers", "simquac", "stats", "run", "--json"),
)
"""The name of each row, and its command."""


def made(work: Workload, folder: Path) -> None:
    """A run of so many conversations."""
    limits = ("--limit", "1", "--max-turns", str(work.turns))
    called(folder.parent, "simulate", "simquac", *limits, "--out", folder.name)
    (one,) = record_lines.read(folder / CONVERSATIONS)
    names = [f"{number:07}" for number in range(work.conversations)]
    with (folder / CONVERSATIONS).open("w", encoding="utf-8") as file:
        file.writelines(record_lines.line(one.model_copy(update={"id": name})) for name in names)
    manifest = read_json(folder / MANIFEST) | {"planned": names}
    (folder / MANIFEST).write_text(dumps(manifest), encoding="utf-8")


def called(folder: Path, *command: str) -> dict[str, float]:
    """Run a command of this package; peak of memory in bytes, and seconds."""
    began = now()
    process = subprocess.Popen(
        [sys.executable, "-m", "duologue.cli", *command],
        cwd=folder,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    with process.stderr:
        words = process.stderr.read().decode()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"duologue {' '.join(command)}: {words[-500:]}")
    return {"peak": used.ru_maxrss * 1024, "seconds": now() - began}


async def read(work: Workload, out: Path) -> dict[str, Any]:
    """Peak of memory in bytes and seconds of each command, and the size of the file."""
    return {"read": measured(work, out), "made": work.calls}


def measured(work: Workload, folder: Path) -> dict[str, Any]:
    """Make the run in a folder, and call each command there."""
    folder.mkdir()
    made(work, folder / "run")
    sizes: dict[str, Any] = {"file": (folder / "run" / CONVERSATIONS).stat().st_size}
    for name, *command in COMMANDS:
        sizes[name] = called(folder, *command)
    return sizes
