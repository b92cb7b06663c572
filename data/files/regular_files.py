"""Regular files of a bounded size from users.

A reader would wait for a pipe without end, and a device has no end.
"""

import gzip
import io
import os
import stat
import zlib
from pathlib import Path
from typing import IO, Self

from ...errors import DataError, at

MOST_BYTES = 1 << 29
"""Most bytes of a file that is read whole, 512 MiB: in memory its values take several times as much."""

MOST_ANYWAY = 1 << 26
"""Bytes that any gzip file may unpack to, 64 MiB."""

MOST_PACKED = 100
"""How many times its own size a larger gzip file may unpack to: logs pack to a tenth or a fiftieth, a bomb to a thousandth."""

GZIP = b"\x1f\x8b"
"""How a file begins that gzip wrote."""

OPEN = 64
"""Files that are open at the same time: a run on many machines has thousands."""

LINK = "{}: is a link to {}, and is not written through: remove it, or put a copy of the file in its place"
"""What is wrong with a link in a folder that is written to."""

_BLOCK = 1 << 18

_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def content(path: str | Path, most: int = MOST_BYTES) -> bytes:
    """The bytes of a file; DataError if it is irregular, unreadable, or larger than `most`."""
    check(path, most)
    try:
        with Path(path).open("rb") as file:
            read = _read(file, most)
    except OSError as error:
        raise DataError(f"{at(path)}: cannot be read ({error.strerror}): check the path") from None
    if len(read) > most:  # it grew, or is one of those whose size the system does not tell
        raise DataError(f"{at(path)}: is larger than the {most:,} bytes that are read at once: split it")
    return read


def _read(file: IO[bytes] | gzip.GzipFile, most: int) -> bytes:
    """The content of the file, up to little more than `most` bytes.

    It is read in blocks, since a read takes the memory that it asks for.
    """
    blocks: list[bytes] = []
    size = 0
    while size <= most and (block := file.read(_BLOCK)):
        blocks.append(block)
        size += len(block)
    return b"".join(blocks)


def check(path: str | Path, most: int | None = None) -> None:
    """Raise DataError unless the path is a regular file of at most `most` bytes.

    A folder is left to `open`.
    """
    try:
        about = Path(path).stat()
    except OSError as error:
        raise DataError(f"{at(path)}: cannot be read ({error.strerror}): check the path") from None
    except ValueError as error:  # NUL in the name
        raise DataError(f"{at(path)!r}: is not a path ({error}): check it") from None
    if kind := _KINDS.get(stat.S_IFMT(about.st_mode)):
        raise DataError(f"{at(path)}: is {kind} and no file: write what comes out of it to a file, and give that")
    if most is not None and about.st_size > most:
        raise DataError(f"{at(path)}: has {about.st_size:,} bytes, {most:,} are read at once: split it")


def check_replaceable(path: str | Path) -> None:
    """Raise DataError for a pipe, a socket or a device, which a new file would replace."""
    try:
        mode = Path(path).stat().st_mode
    except (OSError, ValueError):
        return
    if kind := _KINDS.get(stat.S_IFMT(mode)):
        raise DataError(f"{at(path)}: is {kind} and no file, and is not replaced: name a file")


def check_no_links(folder: str | Path) -> None:
    """Raise DataError for a link in a folder that is written to: through it, a file elsewhere would be written.

    The folder may itself be reached by a link.
    """
    for above, folders, files in os.walk(folder):
        for name in (*folders, *files):
            if (path := Path(above, name)).is_symlink():
                raise DataError(LINK.format(at(path), at(path.readlink())))


def is_regular(path: str | Path) -> bool:
    """Whether a regular file is there."""
    try:
        return stat.S_ISREG(Path(path).stat().st_mode)
    except (OSError, ValueError):
        return False


def unzipped(packed: bytes, path: str | Path) -> bytes:
    """What gzip packed, unpacked only as far as the bounds allow; DataError if it is damaged or unpacks to more."""
    most = min(MOST_BYTES, max(MOST_ANYWAY, MOST_PACKED * len(packed)))
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(packed)) as file:
            content = _read(file, most)
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise DataError(f"{at(path)}: is a damaged gzip file: copy it again") from None
    if len(content) > most:
        raise DataError(f"{at(path)}: unpacks to more than {most:,} bytes: unpack it, and give what is in it in parts")
    return content


def opened(path: Path) -> IO[bytes]:
    """A file, open to be read; DataError if it is not a regular file or cannot be read."""
    check(path)
    try:
        return path.open("rb")
    except OSError as error:
        raise DataError(f"{at(path)}: cannot be read ({error.strerror}): check the path") from None


class OpenFiles:
    """Files to read from, of which the last used ones stay open."""

    def __init__(self) -> None:
        self._files: dict[Path, IO[bytes]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for file in self._files.values():
            file.close()

    def __getitem__(self, path: Path) -> IO[bytes]:
        file = self._files.pop(path, None) or opened(path)
        self._files[path] = file  # at the end: it was used last
        if len(self._files) > OPEN:
            self._files.pop(next(iter(self._files))).close()
        return file
