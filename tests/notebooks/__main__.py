"""Store the outputs of the notebooks anew: `python -m tests.notebooks [NAME...]`.

A cell whose outputs differ only in what varies, such as times, keeps those that it has.
"""

import asyncio
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat

from tests.notebooks.execution import NOTEBOOKS, alone, executed
from tests.notebooks.stored_outputs import merged, to_store


async def store(path: Path) -> None:
    """Run a notebook, and write it with the outputs that a run gives."""
    notebook = nbformat.read(path, as_version=4)
    with TemporaryDirectory() as folder, alone(Path(folder)):
        (work := Path(folder) / "work").mkdir()
        ran = await executed(notebook, work)
    nbformat.write(merged(notebook, to_store(ran)), path)


if __name__ == "__main__":
    wanted = sys.argv[1:]
    for path in NOTEBOOKS:
        if not wanted or any(path.stem.startswith(name) for name in wanted):
            asyncio.run(store(path))
            sys.stdout.write(f"{path.name}: {path.stat().st_size:,} bytes\n")
