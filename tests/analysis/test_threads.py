"""Settings of the process hold during a computation, and are restored."""

import gc

import pytest

from duologue.analysis.threads import one_thread, unscanned


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


@pytest.mark.heavy
def test_objects_are_frozen_for_a_computation_also_if_it_fails_and_those_of_others_stay_so() -> None:
    gc.unfreeze()  # what is frozen in all tests
    frozen = []

    @unscanned()
    def failing() -> None:
        frozen.append(gc.get_freeze_count())
        raise KeyError

    with pytest.raises(KeyError):
        failing()
    assert frozen[0]
    assert not gc.get_freeze_count()
    gc.freeze()
    with unscanned():
        pass
    assert gc.get_freeze_count()
