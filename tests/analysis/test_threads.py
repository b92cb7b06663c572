"""Arithmetic on small arrays takes one thread."""

import pytest

from duologue.analysis.threads import one_thread


def test_libraries_compute_in_one_thread_and_then_as_before() -> None:
    threadpoolctl = pytest.importorskip("threadpoolctl")
    pytest.importorskip("sklearn")

    def threads() -> list[int]:
        return [pool["num_threads"] for pool in threadpoolctl.threadpool_info()]

    with threadpoolctl.threadpool_limits(2):
        before = threads()
        with one_thread():
            assert set(threads()) == {1}
        assert threads() == before
