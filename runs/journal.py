"""A file that only grows: what is appended is on the disk when the call returns, whole or cut off next time."""

import os
from pathlib import Path

from ..errors import DuologueError

try:
    import fcntl
except ImportError:  # pragma: no cover - no file locks on this system: two runs in one folder go unnoticed
    fcntl = None  # type: ignore[assignment]


class RunError(DuologueError, ValueError):
    """A place that this run cannot use: one line that says why, and what to do."""


class Appended:
    """An open file of lines. RunError if it cannot be written, or if another process holds it."""

    def __init__(self, path: Path, *, alone_in: Path | None = None) -> None:
        """`alone_in`: lock the file; the place that is named if another process has locked it."""
        self.path = path
        try:
            self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        except OSError as error:
            raise RunError(f"{path}: cannot be written ({error.strerror}): choose another folder") from None
        if alone_in is not None and fcntl is not None:
            try:
                fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                os.close(self._handle)
                raise RunError(
                    f"{alone_in}: another run is writing there: wait for it or choose another folder"
                ) from None

    def append(self, text: str) -> None:
        """Write the text behind all that is there, and wait until it is on the disk."""
        data = memoryview(text.encode("utf-8"))
        while data:
            data = data[os.write(self._handle, data) :]
        os.fsync(self._handle)

    def cut_torn_line(self) -> int:
        """Cut off what stands behind the last newline; gives the number of bytes."""
        data = self.path.read_bytes()
        whole = data.rfind(b"\n") + 1
        self.cut(whole)
        return len(data) - whole

    def cut(self, size: int) -> None:
        """Cut off what stands behind so many bytes."""
        if size < os.fstat(self._handle).st_size:
            os.ftruncate(self._handle, size)

    def close(self) -> None:
        """Close the file and let others write."""
        os.close(self._handle)
