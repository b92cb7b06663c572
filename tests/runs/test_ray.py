"""A run whose parts Ray does."""

import gc

import pytest

import duologue
from duologue import runs
from duologue.graphs import agent_test, simquac
from duologue.nodes import Limits

pytest.importorskip("ray")


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # Ray leaves its processes behind
def test_ray_has_the_data_of_one_process_and_goes_on(tmp_path, topics):
    scenarios, limits = simquac.scenarios(topics(70)), Limits(max_turns=2)
    one = duologue.simulate(simquac.cast(), scenarios, limits=limits, out=tmp_path / "one")
    for _ in range(2):
        parts = duologue.simulate(simquac.cast(), scenarios, limits=limits, out=tmp_path / "ray", ray="local")
        assert [each.without_timing() for each in parts] == [each.without_timing() for each in one]
    assert not (tmp_path / "ray" / "parts").exists()
    gc.collect()


def test_what_a_cluster_cannot_do_is_one_line(tmp_path):
    states = agent_test.scenarios([{"goal": "a table"}])
    with pytest.raises(duologue.errors.SettingError, match="ray: give out"):
        duologue.simulate(agent_test.cast(), states, ray="local")
    with pytest.raises(runs.RunError, match=r"Ray at 127\.0\.0\.1:9: cannot be reached"):
        duologue.simulate(agent_test.cast(), states, out=tmp_path / "r", ray="127.0.0.1:9")
