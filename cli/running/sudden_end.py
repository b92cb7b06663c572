"""The line after a process that could print nothing any more, as after `os._exit` in an agent or `kill -9`."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from shutil import which
from tempfile import TemporaryFile

from .forked_children import undone_in_forks

SCRIPT = 'trap "" HUP INT QUIT TERM; read _; exec cat <&1 >&2'
"""Waits until the process ends, which closes the pipe of its input, and prints the file of its output."""

ENDED = "the process ended in the middle (by os._exit, a crash of a library, kill -9 or for lack of memory)"


class SuddenEnd:
    """A shell that prints a line on stderr if this process ends inside `watched`, for any cause."""

    def __init__(self) -> None:
        self._shell: subprocess.Popen[bytes] | None = None

    @contextmanager
    def watched(self, line: Callable[[], str]) -> Iterator[Callable[[], None]]:
        """Inside, the yielded function stores the line as it is by then.

        Where there is no shell, as on Windows, nothing is watched.
        """
        shell = which("sh") if os.name == "posix" else None
        if shell is None:
            yield lambda: None
            return
        clear = "\r\x1b[2K\x1b[?25h" if sys.stderr.isatty() else ""  # the progress display hides the cursor
        with TemporaryFile() as file:

            def store() -> None:
                content = f"{clear}{line()}\n".encode(errors="backslashreplace")
                os.pwrite(file.fileno(), content, 0)  # the shell reads it only at the end, and from its begin
                os.ftruncate(file.fileno(), len(content))

            store()
            self._shell = subprocess.Popen([shell, "-c", SCRIPT], stdin=subprocess.PIPE, stdout=file)
            pipe = self._shell.stdin
            assert pipe is not None
            try:
                with undone_in_forks(pipe.close):  # or the shell would wait for the forked process too
                    yield store
            finally:
                self.disarm()

    def disarm(self) -> None:
        """Print nothing any more: the process ends in order, or prints a line of its own."""
        if self._shell is not None:
            self._shell.kill()
            self._shell.communicate()
            self._shell = None


def import_watched(module: str) -> AbstractContextManager[object]:
    """A line is printed if the process ends while a user's module is imported."""
    return SuddenEnd().watched(lambda: f"duologue: importing {module}: {ENDED}")


def ended_by_force(under_way: int, left: str) -> str:
    """The line of a process that was ended by force."""
    were = "conversation was" if under_way == 1 else "conversations were"
    what = f" while {under_way} {were} under way" if under_way else ""
    return f"{ENDED}{what}: {left}"
