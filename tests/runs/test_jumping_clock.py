"""A clock that jumps by hours and months changes nothing in a run."""

from pathlib import Path
from typing import Any

import pytest

JUMPING = """
import itertools, time

HOURS = itertools.cycle((0, 5, -7, 90, -3000))
real = time.time
time.time = lambda: real() + 3600 * next(HOURS)
time.time_ns = lambda: int(time.time() * 1e9)
from duologue.cli import main
main()
"""
RUN = "simulate recllmsim --limit 3 --max-turns 2 --user openai:m --assistant openai:m --out run --yes".split()


def dataset(folder: Path) -> dict[str, bytes]:
    files = (path for path in (folder / "run" / "dataset").rglob("*.json") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.mark.heavy
def test_a_clock_that_jumps_changes_no_conversation_and_no_wait(forks: Any, faulty: Any, tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("steady", "jumping")]
    for folder, code in zip(folders, ((), ("-c", JUMPING)), strict=True):
        folder.mkdir()
        fork = forks([*code, *RUN, "--max-time", "10m"], folder, faulty().environment)
        assert fork.wait() == 0, fork.stderr
    assert dataset(folders[0]) == dataset(folders[1]) != {}
