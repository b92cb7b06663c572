"""Peak of memory and seconds of writing and reading each format, at lengths of the source: `python -m tests.benchmarks.formats 10000 100000`.

The source is a file of generated records (`tests/data/generated.py`), 3.9 kB each. `--only NAME,...` measures some formats.
"""

import shutil
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from itertools import cycle, islice
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

from duologue.data import Conversation
from duologue.data.formats import record_lines
from tests.data.generated import conversations

from .reading import called

FORMATS = ("messages", "sharegpt", "parquet", "inspect.eval", "inspect.json")
"""Names of formats; behind a point how the file's name ends, where the format asks for it."""


def source(count: int) -> Iterator[Conversation]:
    """So many conversations, a thousand of them again and again under other ids."""
    with_any = list(islice((talk for talk in conversations(1_500) if talk.messages), 400, 1_400))
    for number, talk in enumerate(islice(cycle(with_any), count)):
        yield talk.model_copy(update={"id": f"talk-{number}"})


def write_source(count: int, path: Path) -> None:
    """Write so many conversations as records."""
    record_lines.write(source(count), path)


def measured(count: int, names: list[str], folder: Path) -> Iterator[str]:
    """A line for each format: what writing it takes, and reading it."""
    # In a process of its own: a child's peak is at least what this process has when it starts it.
    made = get_context("spawn").Process(target=write_source, args=(count, folder / "records.jsonl"))
    made.start()
    made.join()
    for name in names:
        out = folder / f"out.{name}"
        written = called(folder, "convert", "records.jsonl", out.name, "--to", name.partition(".")[0])
        read = called(folder, "check", out.name, "--json")
        size = sum(file.stat().st_size for file in ([out] if out.is_file() else out.iterdir()))
        figures = [f"{one['peak'] / 1e6:.0f} MB, {one['seconds']:.0f} s" for one in (written, read)]
        yield f"{count:>8,}  {name:<12} {size / 1e6:>5.0f} MB  written: {figures[0]:<16} read: {figures[1]}"
        shutil.rmtree(out) if out.is_dir() else out.unlink()


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("counts", type=int, nargs="+")
    parser.add_argument("--only", default=",".join(FORMATS))
    given = parser.parse_args()
    for number in given.counts:
        with TemporaryDirectory() as place:
            for line in measured(number, given.only.split(","), Path(place)):
                print(line)
                sys.stdout.flush()
