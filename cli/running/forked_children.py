"""Processes that code under test forks, as a pool of `multiprocessing` does: they must not act on the command's signals.

A forked process has its parent's handlers, sockets and pipes: a SIGTERM for a worker of a pool ended the whole run.
"""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

_UNDO: list[Callable[[], object]] = []
_FORKING = threading.local()
SIGNALS = {getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT") if hasattr(signal, name)}
"""Signals that wait while a process forks: one that came before the handlers are undone would be lost in the child."""


@contextmanager
def undone_in_forks(undo: Callable[[], object]) -> Iterator[None]:
    """Inside, a forked process calls `undo` as it begins."""
    _UNDO.append(undo)
    try:
        yield
    finally:
        with suppress(ValueError):  # a forked process that comes here has none
            _UNDO.remove(undo)


def _hold() -> None:
    _FORKING.mask = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)


def _release() -> None:
    signal.pthread_sigmask(signal.SIG_SETMASK, _FORKING.mask)


def _undo_all() -> None:
    while _UNDO:
        with suppress(Exception):  # a fork must succeed
            _UNDO.pop()()
    _release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_hold, after_in_parent=_release, after_in_child=_undo_all)
