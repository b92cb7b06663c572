"""Runs on a local Ray: what several workers write is what one process writes, whoever is killed on the way."""

import importlib.util
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import duologue
from duologue import runs
from duologue.errors import SettingError
from duologue.graphs import simquac
from duologue.runs.divided import ray_tasks
from tests.runs.dividing import Divided, descendants, gone, until

TOPICS = 130
"""Three shards."""


@pytest.fixture(autouse=True)
def ray_is_there(request: pytest.FixtureRequest) -> None:
    """A machine without Ray skips the heavy tests, but in CI fails them."""
    if request.node.get_closest_marker("heavy") is None:
        return
    if importlib.util.find_spec("ray") is None:
        if os.environ.get("CI"):
            pytest.fail("the extra ray is not installed")
        pytest.skip("needs the extra ray: make env")


def on_ray(forks: Any, endpoint: Any, folder: Path, speaker: str = "openai:m", topics: int = TOPICS) -> Divided:
    """A run; jsonschema, which Ray brings, does without a module that warns (see tests/conftest.py)."""
    quick = {"PYTHONPATH": str(folder)}
    run = Divided(forks, endpoint, folder, topics, speaker=speaker, concurrency=8, environment=quick)
    (folder / "rfc3987_syntax.py").write_text("raise ImportError")
    return run


def tasks(pid: int) -> list[int]:
    """The processes of Ray that simulate just now."""
    names = {process: Path(f"/proc/{process}/cmdline") for process in descendants(pid)}
    return [process for process, path in names.items() if path.exists() and b"ray::simulated" in path.read_bytes()]


@pytest.mark.heavy
@pytest.mark.xdist_group("ray")
def test_a_local_ray_writes_what_one_process_writes_byte_for_byte(forks, tmp_path):
    one, ray = (on_ray(forks, None, tmp_path / name, "offline?misbehave=0.3") for name in ("one", "ray"))
    one.finish("--processes", "1")
    process = ray.finish("--engine", "ray", "--processes", "2")
    assert ray.result == one.result
    assert "ray" not in process.stderr.lower()  # none of its own words


@pytest.mark.heavy
@pytest.mark.xdist_group("ray")
def test_a_worker_is_killed_a_bound_ends_the_run_the_driver_is_killed_and_one_process_goes_on(forks, faulty, tmp_path):
    whole = on_ray(forks, faulty(), tmp_path / "whole")
    whole.finish("--processes", "1")
    run = on_ray(forks, faulty(latency=0.05), tmp_path / "run")
    fork = run.start("--engine", "ray", "--processes", "2", "--max-run-tokens", "30000")
    run.reached(60, fork)
    until(lambda: tasks(fork.pid))
    os.kill(tasks(fork.pid)[0], signal.SIGKILL)  # a worker: Ray begins its task again
    assert fork.wait() == 1
    assert "ended early: --max-run-tokens 30,000 is reached" in fork.stderr
    assert not list((run.folder / "run").glob("*.w-*"))
    assert run.endpoint.counts()["repeats"] <= 8
    fork = run.start("--engine", "ray", "--processes", "2")
    run.reached(run.endpoint.counts()["answered"] + 60, fork)
    processes = descendants(fork.pid)
    assert processes
    fork.kill()  # the driver, and with it all of this Ray
    until(lambda: gone(processes))
    run.finish("--processes", "1")
    assert run.result == whole.result
    assert run.endpoint.counts()["repeats"] <= 2 * 8


@pytest.mark.heavy
@pytest.mark.xdist_group("ray")
def test_a_conversation_that_always_kills_its_worker_is_named_and_all_others_are_finished(forks, tmp_path):
    run = on_ray(forks, None, tmp_path / "run", "offline", topics=12)
    (run.folder / "own.py").write_text(
        "import os, signal\nfrom duologue.nodes.stops import until_spent\n"
        "def stop(state, limits):\n"
        "    if state['scenario']['title'] == 'Place 7':\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "    return until_spent(state, limits)\n"
    )
    run.command += ["--stop", "own:stop"]
    fork = run.start("--engine", "ray", "--processes", "2")
    assert fork.wait() == 1
    assert "4 workers died one after another" in fork.stderr
    assert "Traceback" not in fork.stderr
    records = (run.folder / "run/conversations.jsonl").read_text()
    assert records.count("\n") == 11
    named = fork.stderr.partition("none was finished: ")[2].partition(":")[0]
    planned = json.loads((run.folder / "run/manifest.json").read_text())["planned"]
    assert [named] == [name for name in planned if name not in records]


@pytest.mark.parametrize(("address", "set_to"), [("HOST:6379", None), (None, "HOST:6379")])
def test_a_run_on_a_cluster_needs_a_folder(monkeypatch, address, set_to):
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    if set_to is not None:
        monkeypatch.setenv("RAY_ADDRESS", set_to)
    with pytest.raises(SettingError, match="needs a folder that all its machines share: give out"):
        duologue.simulate(simquac.cast(), [], conduct=runs.Conduct(engine="ray", ray_address=address))


@pytest.mark.parametrize("address", ["127.0.0.1:1", "ray://127.0.0.1:1", "127.0.0.1:99999"])
def test_a_cluster_that_is_not_there_is_one_line_at_once(address):
    with pytest.raises(runs.RunError, match=f"Ray at {address}: cannot be reached"):
        ray_tasks._check_reachable(address)


@pytest.mark.parametrize("address", ["local", "auto", "ray://cluster", "session"])
def test_an_address_without_a_port_is_left_to_ray(address):
    ray_tasks._check_reachable(address)


def test_ray_that_is_not_installed_is_named_in_one_line(forks, tmp_path):
    (tmp_path / "cwd").mkdir()
    code = "import sys; sys.modules['ray'] = None; sys.argv = ['duologue', 'simulate', 'simquac', '--engine', 'ray', '--out', 'r']; from duologue.cli import main; main()"
    done = forks.run("-c", code, cwd=tmp_path / "cwd")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == "duologue: --engine ray needs the extra ray: pip install 'duologue[ray]'"


NODES = """
import sys
from ray.cluster_utils import Cluster

cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
second = cluster.add_node(num_cpus=1)
print(cluster.address, flush=True)
sys.stdin.readline()
cluster.remove_node(second, allow_graceful=False)
print("removed", flush=True)
sys.stdin.readline()
"""


@pytest.mark.heavy
@pytest.mark.xdist_group("ray")
def test_a_node_of_a_cluster_dies_and_the_other_finishes_its_work(forks, faulty, tmp_path):
    whole = on_ray(forks, faulty(), tmp_path / "whole")
    whole.finish("--processes", "1")
    run = on_ray(forks, faulty(latency=0.05), tmp_path / "run")
    environment = os.environ | run.environment | {"RAY_USAGE_STATS_ENABLED": "0"}
    program = [sys.executable, "-P", "-c", NODES]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment) as nodes:
        try:
            address = nodes.stdout.readline().strip()
            assert address, "no cluster"
            fork = run.start("--engine", "ray", "--ray-address", address)
            run.reached(60, fork)
            print(file=nodes.stdin, flush=True)
            assert nodes.stdout.readline() == "removed\n"
            assert fork.wait() == 0, fork.stderr
        finally:
            processes = [*descendants(nodes.pid), nodes.pid]
            for process in processes:
                os.kill(process, signal.SIGKILL)
    assert run.result == whole.result
