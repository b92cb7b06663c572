"""A plan in shards and on Ray: what comes together is what one run writes, whoever dies on the way."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import duologue
from duologue import runs
from duologue.data.formats import record_lines
from duologue.errors import SettingError
from duologue.graphs import simquac
from duologue.runs.on_ray import _check_reachable
from duologue.runs.parts import Shard, put_together

LIMITS = duologue.Limits(max_turns=2)


def simulated(out: Path, shard: str | None = None, *, resume: bool = False, seed: int = 0) -> list[Any]:
    """Two conversations about each sample topic, or a shard of them."""
    states = simquac.scenarios(duologue.data.simquac.samples())
    limits = duologue.Limits(max_turns=2, seed=seed)
    conduct = runs.Conduct(shard=shard)
    return duologue.simulate(simquac.cast(), states, repeats=2, limits=limits, out=out, resume=resume, conduct=conduct)


def result(run: Path) -> tuple[bytes, list[str]]:
    """The data set and the records without times."""
    conversations = record_lines.read(run / "conversations.jsonl")
    return (run / "dataset/simquac.json").read_bytes(), [
        record_lines.line(one.without_timing()) for one in conversations
    ]


def test_shards_put_together_are_the_run_of_all_also_where_one_is_not_complete(tmp_path):
    whole = simulated(tmp_path / "whole")
    shards = [simulated(tmp_path / str(number), f"{number}/3") for number in (1, 2, 3)]
    assert sorted(map(len, shards)) == [4, 5, 5]
    third = tmp_path / "3" / "conversations.jsonl"
    first, _, rest = third.read_bytes().partition(b"\n")
    third.write_bytes(rest + first[:40])  # the first is missing, and the last line is torn
    assert put_together([tmp_path / name for name in "231"], tmp_path / "all") == len(whole)
    simulated(tmp_path / "all", resume=True)
    assert result(tmp_path / "all") == result(tmp_path / "whole")
    manifests = [json.loads((tmp_path / name / "manifest.json").read_text()) for name in ("all", "whole")]
    assert manifests[0]["planned"] == manifests[1]["planned"]
    assert "shard" not in manifests[0]


def test_folders_of_other_runs_and_the_same_shard_twice_are_refused(tmp_path):
    simulated(tmp_path / "a", "1/2")
    simulated(tmp_path / "b", "2/2", seed=1)
    for folders, out in ((["a", "a"], "new"), (["a", "b"], "new"), (["a"], "b"), (["a", "none"], "new")):
        with pytest.raises(runs.RunError):
            put_together([tmp_path / name for name in folders], tmp_path / out)


@pytest.mark.parametrize("text", ["", "2", "0/3", "4/3", "1/x", "-1/3"])
def test_a_shard_is_k_of_n(text):
    with pytest.raises(SettingError):
        Shard.read(text)


def test_ray_needs_a_folder_and_a_cluster_that_answers(tmp_path):
    with pytest.raises(SettingError):
        duologue.simulate(simquac.cast(), [], conduct=runs.Conduct(ray="HOST:6379"))
    with pytest.raises(runs.RunError):
        _check_reachable("127.0.0.1:1")
    for address in ("local", "auto", "ray://cluster"):
        _check_reachable(address)


# Ray

TOPICS = 130
"""Three parts."""


class Started:
    """A run of the command in a folder of its own, which is started, killed and begun again."""

    def __init__(self, forks: Any, endpoint: Any, folder: Path, topics: int = TOPICS) -> None:
        self.forks, self.endpoint, self.folder = forks, endpoint, folder
        # jsonschema, which Ray brings, does without a module that warns (see tests/conftest.py)
        paths = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
        self.environment = {"PYTHONPATH": os.pathsep.join(paths)} | (
            endpoint.environment if endpoint is not None else {}
        )
        folder.mkdir()
        (folder / "rfc3987_syntax.py").write_text("raise ImportError")
        about = '{{"title": "Place {0}", "background": "A place.", "header": "The tower", "section": "The tower of place {0} was built in {1} by Ada Quill. Ships pass it at night."}}\n'
        (folder / "topics.jsonl").write_text("".join(about.format(n, 1700 + n) for n in range(topics)))
        speaker = "openai:m" if endpoint is not None else "offline?misbehave=0.3"
        command = f"simulate simquac --topics topics.jsonl --user {speaker} --assistant {speaker} --out run --yes"
        self.command = [*command.split(), "--max-turns", "3", "--concurrency", "8"]

    def start(self, *more: str) -> Any:
        resume = ["--resume"] * (self.folder / "run" / "manifest.json").exists()
        return self.forks([*self.command, *resume, *more], self.folder, self.environment)

    def finish(self, *more: str) -> Any:
        fork = self.start(*more)
        assert fork.wait() == 0, fork.stderr
        return fork

    def reached(self, answered: int, fork: Any) -> None:
        """Wait until so many replies were sent."""
        self.endpoint.until(lambda counts: fork.over or counts["answered"] >= answered)
        assert not fork.over, fork.stderr


def descendants(parent: int) -> list[int]:
    """The processes that a process has started, with those that these have started."""
    children = [
        int(one) for task in Path(f"/proc/{parent}/task").glob("*/children") for one in task.read_text().split()
    ]
    return [one for child in children for one in (child, *descendants(child))]


def until(holds: Callable[[], object]) -> None:
    for _ in range(45_000):
        if holds():
            return
        time.sleep(0.02)
    raise AssertionError("not within 900 seconds")


def tasks(pid: int) -> list[int]:
    """The processes of Ray that simulate just now."""
    names = {process: Path(f"/proc/{process}/cmdline") for process in descendants(pid)}
    return [process for process, path in names.items() if path.exists() and b"simulated" in path.read_bytes()]


@pytest.fixture
def needs_ray() -> None:
    pytest.importorskip("ray", reason="needs the extra ray: make env")


@pytest.mark.heavy
@pytest.mark.xdist_group("ray")
@pytest.mark.usefixtures("needs_ray")
def test_a_worker_and_then_the_driver_are_killed_and_the_data_are_those_of_one_process(forks, faulty, tmp_path):
    whole = Started(forks, faulty(), tmp_path / "whole")
    whole.finish()
    run = Started(forks, faulty(latency=0.05), tmp_path / "run")
    fork = run.start("--ray", "local")
    run.reached(60, fork)
    until(lambda: tasks(fork.pid))
    os.kill(tasks(fork.pid)[0], signal.SIGKILL)  # a worker: Ray begins its task again
    run.reached(run.endpoint.counts()["answered"] + 60, fork)
    processes = descendants(fork.pid)
    fork.kill()  # the driver, and with it all of this Ray
    until(lambda: not any(Path(f"/proc/{process}").exists() for process in processes))
    run.finish("--ray", "local")
    assert result(run.folder / "run") == result(whole.folder / "run")
    assert not (run.folder / "run" / "parts").exists()
    assert run.endpoint.counts()["repeats"] <= 4 * 8  # what was in flight in each worker that died


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
@pytest.mark.usefixtures("needs_ray")
def test_a_node_of_a_cluster_dies_and_the_other_finishes_its_work(forks, faulty, tmp_path):
    whole = Started(forks, faulty(), tmp_path / "whole")
    whole.finish()
    run = Started(forks, faulty(latency=0.05), tmp_path / "run")
    environment = os.environ | run.environment | {"RAY_USAGE_STATS_ENABLED": "0"}
    program = [sys.executable, "-P", "-c", NODES]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment) as nodes:
        try:
            address = nodes.stdout.readline().strip()
            assert address, "no cluster"
            fork = run.start("--ray", address)
            run.reached(60, fork)
            print(file=nodes.stdin, flush=True)
            assert nodes.stdout.readline() == "removed\n"
            assert fork.wait() == 0, fork.stderr
        finally:
            for process in [*descendants(nodes.pid), nodes.pid]:
                os.kill(process, signal.SIGKILL)
    assert result(run.folder / "run") == result(whole.folder / "run")
