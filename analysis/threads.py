"""Settings of the process that save CPU during long computations, and are restored afterwards.

Arithmetic in one thread: on small arrays several threads wait for each other, and their waiting costs CPU. The last digits
of a sum do not depend on the machine's processors then.
"""

import gc
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


@contextmanager
def unscanned() -> Iterator[None]:
    """In it garbage collection leaves out the objects that exist by now, as scanning many of them again takes long.

    Where the process has frozen objects itself (`gc.freeze`), nothing changes.
    """
    if gc.get_freeze_count():
        yield
        return
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
