"""Arithmetic in one thread: on small arrays several threads wait for each other, and their waiting costs CPU.

The last digits of a sum do not depend on the machine's processors then.
"""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def one_thread() -> Iterator[None]:
    """In it the libraries that are loaded by now compute in one thread.

    Without scikit-learn, which brings threadpoolctl, nothing changes.
    """
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        yield
        return
    with threadpool_limits(1):
        yield
