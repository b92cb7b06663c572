"""Regular files of a bounded size, folders that are made, and names of paths."""

import gzip
import stat
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, cast

from ...errors import DataError, at

MOST_BYTES = 1 << 31
"""Most bytes that are read at once, 2 GB: in memory their values take several times as much."""

GZIP = b"\x1f\x8b"
"""How a file begins that gzip wrote."""


# --- Reading


def check(path: str | Path, most: int | None = None) -> None:
    """Raise DataError unless the path is a regular file of at most `most` bytes; a folder is left to `open`.

    A reader would wait for a pipe without end, and a device has no end.
    """
    try:
        about = Path(path).stat()
    except (OSError, ValueError) as error:  # ValueError: NUL in the name
        raise DataError(f"{at(path)}: cannot be read ({getattr(error, 'strerror', error)}): check the path") from None
    if not (stat.S_ISREG(about.st_mode) or stat.S_ISDIR(about.st_mode)):
        raise DataError(f"{at(path)}: is a pipe or device: write what comes out of it to a file, and give that")
    if most is not None and about.st_size > most:
        raise DataError(f"{at(path)}: has {about.st_size:,} bytes, {most:,} are read at once: split it")


def opened(path: Path) -> IO[bytes]:
    """A file, open to be read; DataError if it is not a regular file or cannot be read."""
    check(path)
    try:
        return path.open("rb")
    except OSError as error:
        raise DataError(f"{at(path)}: cannot be read ({error.strerror}): check the path") from None


@contextmanager
def open_lines(path: str | Path) -> Iterator[IO[bytes]]:
    """A file, open to be read, unpacked if gzip packed it; DataError also for one that turns out to be damaged inside."""
    with opened(Path(path)) as file:
        packed = file.read(len(GZIP)) == GZIP
        file.seek(0)
        try:
            yield cast(IO[bytes], gzip.GzipFile(fileobj=file)) if packed else file
        except (EOFError, gzip.BadGzipFile, zlib.error):
            raise DataError(f"{at(path)}: is a damaged gzip file: copy it again") from None


def content(path: str | Path, most: int = MOST_BYTES) -> bytes:
    """The bytes of a file; DataError if it is irregular, unreadable, or larger than `most`."""
    check(path, most)
    with opened(Path(path)) as file:
        return file.read()


# --- Writing


def check_replaceable(path: str | Path) -> None:
    """Raise DataError for a pipe, a socket or a device, which a new file would replace."""
    with suppress(FileNotFoundError):
        mode = Path(path).stat().st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            raise DataError(f"{at(path)}: is a pipe or device, and is not replaced: name a file")


def make_folder(path: str | Path) -> None:
    """Make a folder and missing ones above it; OSError if that fails."""
    Path(path).mkdir(parents=True, exist_ok=True)


# --- Names


def names_of(paths: Sequence[str | Path]) -> list[str]:
    """A distinct name for each path: its file or folder, with the parent folder or a number where needed."""
    resolved = [Path(path).resolve() for path in paths]
    often = Counter(path.name for path in resolved)
    names = [path.name if often[path.name] == 1 else f"{path.parent.name}/{path.name}" for path in resolved]
    before = [names[:number].count(name) for number, name in enumerate(names)]
    return [f"{name} ({count + 1})" if count else name for name, count in zip(names, before, strict=True)]


def json_files(root: Path) -> list[Path]:
    """Every JSON file below a folder, without hidden files, sorted by path."""
    files = (file for file in root.rglob("*.json") if not file.name.startswith("."))
    return sorted(files, key=lambda file: file.relative_to(root).parts)
