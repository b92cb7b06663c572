"""Processes that code under test forks, as a pool of `multiprocessing` does: they must not act on the command's signals.

A forked process has its parent's handlers, sockets and pipes: a SIGTERM for a worker of a pool ended the whole run.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

_UNDO: list[Callable[[], object]] = []


@contextmanager
def undone_in_forks(undo: Callable[[], object]) -> Iterator[None]:
    """Inside, a forked process calls `undo` as it begins."""
    _UNDO.append(undo)
    try:
        yield
    finally:
        with suppress(ValueError):  # a forked process that comes here has none
            _UNDO.remove(undo)


def _undo_all() -> None:
    while _UNDO:
        with suppress(Exception):  # a fork must succeed
            _UNDO.pop()()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_undo_all)
