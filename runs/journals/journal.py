"""A journal: a file of JSON lines that only grows.

An appended line is on the disk when the call returns. A line that a crash cut in half is removed when the journal is
opened again.

The file itself is locked. (The package filelock locks a second file, which a killed run would leave in the folder.
Windows has no flock: there a byte beyond all data is locked.)
"""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self, TypeVar

from ...data.files.journals import WRITER, Codec, Entry, JournalReader, writer_path
from ...data.files.json import dumps
from ...data.files.paths import LINK
from ...errors import SettingError, at
from ..store import BrokenOffError, RunError

T = TypeVar("T")

_BLOCK = 1 << 16
_AGAIN = "keep others away from it, then resume, which simulates what is missing"
LOOKED = 0.05
"""Seconds after which a locked file is tried once more."""
LEASE = 120.0
"""Seconds after which a file server has given up the locks of a machine that is lost: NFS 4 usually takes 90."""
_BEYOND = 1 << 40
"""Offset of the byte that Windows locks in place of the whole file."""


@contextmanager
def making(folder: Path) -> Iterator[None]:
    """RunError in place of the system's error, if a folder cannot be made."""
    try:
        yield
    except OSError as error:
        raise RunError(f"{folder}: cannot be made ({error.strerror}): choose another folder") from None


class Closing:
    """What is closed at the end of its `with`."""

    def close(self) -> None:
        """Close it."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AppendedFile(Closing):
    """An open file that only grows.

    RunError if it cannot be written, if another process holds it, or if it is removed, replaced or cut while it is
    open. Later lines would be lost.
    """

    def __init__(self, path: Path, *, alone_in: Path | None = None) -> None:
        """`alone_in`: lock the file, and name this path in the error if another process has locked it."""
        self.path, self._place = path, path.absolute()  # an agent may change the working folder
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
        try:
            self._handle = os.open(path, flags, 0o666)
        except OSError as error:
            if path.is_symlink():
                raise RunError(LINK.format(at(path), at(path.readlink()))) from None
            raise RunError(f"{path}: cannot be written ({error.strerror}): choose another folder") from None
        if alone_in is not None and not _locked(self._handle):
            os.close(self._handle)
            raise RunError(f"{alone_in}: another run is writing there: wait for it or choose another folder")
        self._end = self.size
        """Bytes that the file must have at least: what this object has found and written."""

    @property
    def size(self) -> int:
        """Bytes that the file has."""
        return os.fstat(self._handle).st_size

    def append(self, text: str, *, sync: bool = True) -> int:
        """Write the text at the end and wait until it is on the disk; gives the number of bytes.

        If the disk is full nothing of the text stays: the next line must not follow half of this one. Without `sync`
        the text outlives this process, but not the machine's failure, until `sync` is called.
        """
        self.check()
        start = self.size
        data = (self._newline(start) + text).encode("utf-8")
        left = memoryview(data)
        try:
            while left:
                left = left[os.write(self._handle, left) :]
            if sync:
                os.fsync(self._handle)
        except OSError as error:
            with suppress(OSError):
                self.cut(start)
            raise BrokenOffError(
                f"{self.path}: cannot be written ({error.strerror}): make room or mend the disk, then resume"
            ) from None
        except BaseException:
            self.cut(start)
            raise
        self._end = start + len(data)
        return len(data)

    def _newline(self, size: int) -> str:
        """A newline, if another program has written at the end meanwhile, and no whole line."""
        if size <= self._end:
            return ""
        os.lseek(self._handle, size - 1, os.SEEK_SET)
        return "" if os.read(self._handle, 1) == b"\n" else "\n"

    def sync(self) -> None:
        """Wait until everything written is on the disk."""
        try:
            os.fsync(self._handle)
        except OSError as error:
            raise BrokenOffError(
                f"{self.path}: cannot be written ({error.strerror}): make room or mend the disk, then resume"
            ) from None

    def check(self) -> None:
        """RunError if the file was removed, replaced or cut since it was opened."""
        own = os.fstat(self._handle)
        try:
            there = self._place.stat()
        except OSError:
            raise BrokenOffError(f"{self.path}: was removed under the run that writes it: {_AGAIN}") from None
        if (there.st_dev, there.st_ino) != (own.st_dev, own.st_ino):
            raise BrokenOffError(f"{self.path}: was replaced under the run that writes it: {_AGAIN}")
        if own.st_size < self._end:
            raise BrokenOffError(
                f"{self.path}: was cut from {self._end} to {own.st_size} bytes under the run that writes it: {_AGAIN}"
            )

    def cut_torn_line(self) -> int:
        """Cut off everything after the last newline; gives the number of bytes cut."""
        size = end = self.size
        whole = 0
        while end and not whole:
            start = max(0, end - _BLOCK)
            os.lseek(self._handle, start, os.SEEK_SET)
            whole = start + newline + 1 if (newline := os.read(self._handle, end - start).rfind(b"\n")) >= 0 else 0
            end = start
        self.cut(whole)
        return size - whole

    def cut(self, size: int) -> None:
        """Cut the file to this many bytes."""
        if size < self.size:
            os.ftruncate(self._handle, size)
        self._end = min(self._end, size)

    def close(self) -> None:
        """Close the file and let others write; once is enough."""
        handle, self._handle = self._handle, -1
        if handle >= 0:
            os.close(handle)


class Journal(JournalReader[T], Closing):
    """An open journal.

    Each appended value is a line in this writer's own file. It can be read at once, unless a later file has a value of
    the same key (the rule is `JournalReader`'s).

    Each writer has its own file and locks only that, so several processes can write at the same time; `refresh` reads
    what the others wrote. A writer removes its own cut-off last line when it opens the journal again.
    """

    def __init__(self, path: Path, codec: Codec[T], own: AppendedFile, *, salvage: bool = False) -> None:
        super().__init__(path, codec, salvage)
        self._own = own
        self.torn = own.cut_torn_line()
        """Bytes of a cut-off last line that was removed on opening; 0 if there was none."""

    @classmethod
    def open(
        cls,
        path: str | Path,
        codec: Codec[T],
        writer: str | None = None,
        *,
        busy: Path | None = None,
        salvage: bool = False,
    ) -> Self:
        """The journal of a main file, opened by its main writer or by a further one with the name `writer`.

        `salvage`: leave invalid lines out and note them in `flaws`; otherwise they are an error.

        RunError if another process writes there already; it names `busy`, or the file.
        """
        if writer is not None and not WRITER.fullmatch(writer):
            raise SettingError(f"writer {writer!r}: a name has 1 to 64 of A-Z a-z 0-9 _ -: give another")
        main = Path(path)
        own = writer_path(main, writer)
        return cls(main, codec, AppendedFile(own, alone_in=busy or own), salvage=salvage)

    def append(self, value: T, *, sync: bool = True) -> None:
        """Write a value down, whole and at once; without `sync` it is safe from a power failure only after `sync`."""
        start = self._own.size
        length = self._own.append(dumps(self.codec.to_plain(value)) + "\n", sync=sync)
        read = self._read.get(self._own.path)
        if read is not None and read.size == start:  # else `refresh` reads it from the file
            read.size, read.lines = start + length, read.lines + 1
            settled = self.codec.settled(value)
            self._enter(self.codec.key(value), Entry(self._own.path, start, length, read.lines, settled))

    def sync(self) -> None:
        """Wait until everything written is on the disk."""
        self._own.sync()

    def check(self) -> None:
        """RunError if this writer's file was removed, replaced or cut since it was opened."""
        self._own.check()

    def close(self) -> None:
        """Close the file and let others write it."""
        self._own.close()


def is_being_written(path: Path) -> bool:
    """Whether a run is writing a file just now: a process has it open and locked."""
    try:
        handle = os.open(path, os.O_RDONLY) if path.is_file() else None
    except OSError:
        return False
    if handle is None:
        return False
    try:
        _look(handle)
    except (BlockingIOError, PermissionError):
        return True
    except OSError:  # a file system without locks
        return False
    finally:
        os.close(handle)
    return False


def _locked(handle: int) -> bool:
    """Lock a file; gives whether that was possible."""
    for pause in (LOOKED, 0.0):  # who looks whether it is locked holds it for a moment
        try:
            _lock(handle)
        except OSError:
            time.sleep(pause)
        else:
            return True
    return False


if sys.platform == "win32":  # pragma: no cover - no other system has this module
    import msvcrt

    def _lock(handle: int) -> None:
        os.lseek(handle, _BEYOND, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)

    def _look(handle: int) -> None:
        _lock(handle)
        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _look(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
