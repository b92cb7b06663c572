"""The command line that continues what a command left, as one would type it."""

import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path


def resuming(folder: Path, words: Sequence[str] | None = None) -> str:
    """The command of this process, with `--out folder --resume`, quoted for a shell.

    >>> resuming(Path("my runs"), ["validity", "--out=x", "--limit", "2"])
    "duologue validity --limit 2 --out 'my runs' --resume"
    """
    return shlex.join(
        ["duologue", *_others(sys.argv[1:] if words is None else words), "--out", str(folder), "--resume"]
    )


def _others(words: Sequence[str]) -> Iterator[str]:
    """The words without `--out`, its value and `--resume`."""
    rest = iter(words)
    for word in rest:
        if word == "--out":
            next(rest, None)
        elif word != "--resume" and not word.startswith("--out="):
            yield word
