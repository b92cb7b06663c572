"""Regular files of a bounded size, folders that are made, and names of paths."""

import gzip
import os
import stat
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from io import BytesIO
from pathlib import Path
from typing import IO

from ...errors import DataError, at

MOST_BYTES = 1 << 31
"""Most bytes that are read at once, 2 GB: in memory their values take several times as much."""

GZIP = b"\x1f\x8b"
"""How a file begins that gzip wrote."""


LINK = "{}: is a link to {}, and is not written through: remove it, or put a copy of the file in its place"
"""What is wrong with a link in a folder that is written to."""

_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


# --- Reading


def check(path: str | Path, most: int | None = None) -> None:
    """Raise DataError unless the path is a regular file of at most `most` bytes; a folder is left to `open`.

    A reader would wait for a pipe without end, and a device has no end.
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


def opened(path: Path) -> IO[bytes]:
    """A file, open to be read; DataError if it is not a regular file or cannot be read."""
    check(path)
    try:
        return path.open("rb")
    except OSError as error:
        raise DataError(f"{at(path)}: cannot be read ({error.strerror}): check the path") from None


def open_lines(path: str | Path) -> IO[bytes]:
    """A file of lines, open to be read; of a gzip file all is unpacked and held."""
    file = opened(Path(path))
    packed = file.read(len(GZIP)) == GZIP
    file.seek(0)
    if not packed:
        return file
    with file:
        return BytesIO(unzipped(at_most(file), path))


def at_most(file: IO[bytes], most: int = MOST_BYTES) -> bytes:
    """What is left of a file, up to a byte more than `most`, in pieces: Python makes room for all of it at once."""
    pieces, left = list[bytes](), most + 1
    while left and (piece := file.read(min(left, 1 << 20))):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


def content(path: str | Path, most: int = MOST_BYTES) -> bytes:
    """The bytes of a file; DataError if it is irregular, unreadable, or larger than `most`."""
    check(path, most)
    with opened(Path(path)) as file:
        read = file.read()
    if len(read) > most:  # it grew, or is one of those whose size the system does not tell
        raise DataError(f"{at(path)}: is larger than the {most:,} bytes that are read at once: split it")
    return read


def unzipped(packed: bytes, path: str | Path) -> bytes:
    """What gzip packed; DataError if it is damaged or unpacks to more than is read at once."""
    try:
        with gzip.GzipFile(fileobj=BytesIO(packed)) as file:
            unpacked = at_most(file)  # type: ignore[arg-type]
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise DataError(f"{at(path)}: is a damaged gzip file: copy it again") from None
    if len(unpacked) > MOST_BYTES:
        raise DataError(f"{at(path)}: unpacks to more than {MOST_BYTES:,} bytes: give what is in it in parts")
    return unpacked


def is_regular(path: str | Path) -> bool:
    """Whether a regular file is there."""
    try:
        return stat.S_ISREG(Path(path).stat().st_mode)
    except (OSError, ValueError):
        return False


def is_folder(path: Path) -> bool:
    """Whether the path is a folder; DataError for a name that the operating system does not allow."""
    try:
        return path.is_dir()
    except (OSError, ValueError) as error:
        raise DataError(f"{at(path)}: is not a path ({error.__class__.__name__}): check it") from None


# --- Writing


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


def make_folder(path: str | Path) -> None:
    """Make a folder and missing ones above it; OSError if that fails."""
    Path(path).mkdir(parents=True, exist_ok=True)


@contextmanager
def working_folder_restored() -> Iterator[None]:
    """Go back to the working folder at the end: an agent that runs inside may change it."""
    before = None
    with suppress(OSError):  # it was removed
        before = Path.cwd()
    try:
        yield
    finally:
        if before is not None:
            with suppress(OSError):
                os.chdir(before)


# --- Names


def names_of(paths: Sequence[str | Path]) -> list[str]:
    """A distinct name for each path: its file or folder, with the parent folder or a number where needed."""
    resolved = [Path(path).resolve() for path in paths]
    often = Counter(path.name for path in resolved)
    names: list[str] = []
    for path in resolved:
        name = path.name if often[path.name] == 1 else f"{path.parent.name}/{path.name}"
        numbered = (name if number == 1 else f"{name} ({number})" for number in range(1, len(paths) + 1))
        names.append(next(one for one in numbered if one not in names))
    return names


def json_files(root: Path) -> list[Path]:
    """Every JSON file below a folder, without hidden files, sorted by path."""
    files = [
        Path(folder, name)
        for folder, _, names in os.walk(root)
        for name in names
        if name.endswith(".json") and not name.startswith(".")
    ]
    return sorted(files, key=lambda file: file.relative_to(root).parts)
