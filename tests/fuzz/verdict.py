"""What a case must not have done: hang, swell, crash, write elsewhere or by half, or reach the terminal raw."""

import hashlib
import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from ..forks.client import Fork

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
SECRETS = ("S3cret-4711-pass", "sk-4711secret")
LEAST = 3 * 2**30
"""Bytes of memory beyond what the process had before the command."""
LONGEST = 20
"""Seconds of work; one that waits has six times as many, because a busy machine slows what works too."""
ENDS = {
    -14: f"waits for {6 * LONGEST} s",
    -24: f"works for {LONGEST} s",
    70: "a bug",
    99: "a traceback",
    -9: "killed, out of memory?",
    -11: "crashes",
}


SMALL = 100_000_000
"""Bytes; larger files are not looked into."""


def files_of(folder: Path) -> dict[Path, str]:
    """The regular files of a folder with the digest of each."""
    paths = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def problems(fork: Fork, folder: Path, before: dict[Path, str], outside: Path, spoilt: set[Path]) -> list[str]:
    """What is wrong with a case that is over, a line each. `spoilt`: what could not be read before may stay so."""
    output, complaint = fork.stdout, fork.stderr
    lines = []
    if fork.code not in (0, 1, 2):
        last = (complaint.strip().splitlines() or [""])[-1]
        lines.append(f"{ENDS.get(fork.code or 0, f'exit code {fork.code}')}: {last[:300]}")
    elif fork.code == 2 and "duologue: " not in complaint:
        lines.append(f"exit code 2 without a line on stderr: {complaint[:200]!r}")
    elif fork.code == 1 and not (complaint.strip() or output.strip()):
        lines.append("exit code 1 without a word")
    if "Traceback (most recent call last)" in output + complaint and fork.code not in ENDS:
        lines.append("a traceback: " + complaint.strip().splitlines()[-1][:300])
    elif "MemoryError" in output + complaint:
        lines.append("MemoryError is told")
    for name, text in (("stdout", output), ("stderr", complaint)):
        if raw := CONTROL.search(text):
            lines.append(f"raw {raw.group()!r} on {name}: {text[max(0, raw.start() - 60) : raw.end() + 30]!r}")
        lines += [f"a secret on {name}" for secret in SECRETS if secret in text]
    changes = outside.read_text(errors="replace").splitlines() if outside.exists() else []
    # The client tells its system, and a shell prints a line after a run that is ended by force.
    usual = ("uname", "/usr/bin/sh")
    changes = [line for line in changes if line not in [f"subprocess.Popen {program!r}" for program in usual]]
    lines += [f"changes elsewhere: {line[:200]}" for line in changes[:1]]
    told_files = (fork.stdout_path, fork.stderr_path)
    for path, digest in files_of(folder).items():
        if path in told_files or path in spoilt:
            continue
        if before.get(path) != digest and path.stat().st_size < SMALL:
            lines += [f"{path.relative_to(folder)}: {line}" for line in half_written(path)]
    return lines


def half_written(path: Path) -> list[str]:
    """What is wrong with a file that a command left."""
    if path.suffix in (".partial", ".tmp") or path.name == "evil":
        return ["is left behind"]
    data = path.read_bytes()
    if path.suffix == ".broken":  # what a resumed run keeps of a manifest that it replaces
        return []
    lines = ["holds a secret"] if any(secret.encode() in data for secret in SECRETS) else []
    start = data.lstrip()[:1]  # the name was drawn and tells nothing
    try:
        if start in (b"{", b"[") and path.suffix != ".md":
            _read(data)
        elif start == b"<" and b"</html>" not in data[-200:]:
            ElementTree.fromstring(data)
    except (ValueError, RecursionError, ElementTree.ParseError) as error:
        lines.append(f"cannot be read: {error}"[:200])
    return lines


def _read(data: bytes) -> None:
    """Raises ValueError for what is neither JSON nor JSON lines."""
    try:
        json.loads(data)
    except ValueError:
        if not data.endswith(b"\n"):
            raise
        for line in data.splitlines():
            json.loads(line)
