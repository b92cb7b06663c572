"""Whole runs over HTTP: two endpoints, room that grows, a bound on the cost, and other commands under faults."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import duologue
from duologue import data, runs
from duologue.graphs import simquac
from duologue.nodes import Limits
from duologue.nodes.calls import gate
from duologue.nodes.calls.gate import EndpointError
from duologue.nodes.models.specs import chat_model


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A function that gives the model of an endpoint."""

    def model_of(endpoint: Any, spec: str = "openai:m") -> Any:
        for name, value in endpoint.environment.items():
            monkeypatch.setenv(name, value)
        return chat_model(spec)

    return model_of


@pytest.mark.heavy
def test_an_endpoint_that_dies_costs_the_other_one_nothing_twice(
    faulty: Any, model: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, failing = faulty(), faulty(gone_requests=[[5, 100_000]])  # no conversation can end: each asks it 6 times
    cast = simquac.cast(user=model(ours), assistant=model(failing))
    scenarios = list(runs.repeated(simquac.scenarios(data.simquac.samples()), 2))
    run: dict[str, Any] = {"limits": Limits(max_turns=6), "out": tmp_path / "run"}
    with monkeypatch.context() as patch:
        patch.setattr(gate, "PATIENCE", 1.5)
        with pytest.raises(EndpointError, match="patience is"):
            duologue.simulate(cast, scenarios, **run)
    paid = ours.counts()["answered"]
    failing.change(gone_requests=[])
    done = duologue.simulate(cast, scenarios, **run)
    assert [conversation.stop for conversation in done] == ["max_turns"] * len(scenarios)
    assert paid > 0
    assert ours.counts()["repeats"] == failing.counts()["repeats"] == 0


@pytest.mark.heavy
def test_more_conversations_are_under_way_where_the_endpoint_bears_more(faulty: Any, model: Any) -> None:
    endpoint = faulty(latency=0.3)
    cast = simquac.cast(user=model(endpoint), assistant=model(endpoint))
    scenarios = list(runs.repeated(simquac.scenarios(data.simquac.samples()), 6))
    done = duologue.simulate(cast, scenarios, limits=Limits(max_turns=2))
    assert len(done) == len(scenarios)
    assert endpoint.counts()["most_in_flight"] >= 16  # eight to begin with


@pytest.mark.heavy
def test_a_bound_on_the_cost_ends_a_run_in_order_and_a_larger_one_goes_on(
    forks: Any, faulty: Any, tmp_path: Path
) -> None:
    endpoint = faulty()
    command = "simulate simquac --user openai:gpt-4.1-mini --assistant openai:gpt-4.1-mini --max-turns 3"
    command += " --concurrency 2 --out run --json"
    fork = forks([*command.split(), "--max-cost", "0.003"], tmp_path, endpoint.environment)
    assert fork.wait() == 1
    report = json.loads(fork.stdout)
    assert 0 < report["stops"]["budget"] <= 2  # what was under way ended before its next turn
    assert len(re.findall(r"(?m)^ended early: --max-cost 0.003 is reached, with \$0\.00(2[5-9]|3)", fork.stderr)) == 1
    requests = endpoint.counts()["requests"]
    fork = forks([*command.split(), "--max-cost", "1"], tmp_path, endpoint.environment)
    assert fork.wait() == 0
    assert json.loads(fork.stdout)["finished"] == len(data.simquac.samples())
    assert endpoint.counts()["requests"] > requests


@pytest.mark.heavy
def test_the_tests_of_an_agent_finish_with_three_in_ten_of_everything(forks: Any, faulty: Any, tmp_path: Path) -> None:
    endpoint = faulty(faults={"everything": 0.3}, retry_after=0.1)
    (tmp_path / "scenarios.jsonl").write_text(
        "".join(json.dumps({"goal": f"Buy {number} stamps and thank the clerk."}) + "\n" for number in range(12))
    )
    (tmp_path / "clerk.py").write_text("def agent(messages):\n    return 'Here you are: your stamps.'\n")
    command = "test --assistant clerk:agent --scenarios scenarios.jsonl --user openai:m --max-turns 2 --out run"
    fork = forks(command.split(), tmp_path, endpoint.environment)
    fork.wait()
    records = (tmp_path / "run" / "conversations.jsonl").read_text().splitlines()
    assert len(records) == 12, fork.stderr
    assert not [record for record in map(json.loads, records) if record.get("failure")]
    assert sum(endpoint.counts()["faults"].values()) > 0
    assert endpoint.counts()["repeats"] == 0


@pytest.mark.heavy
def test_profiles_are_made_with_three_in_ten_of_everything(forks: Any, faulty: Any, tmp_path: Path) -> None:
    endpoint = faulty(faults={"everything": 0.3}, retry_after=0.1)
    fork = forks(
        "papers recllmsim profiles 12 --model openai:m --out made.txt".split(),
        tmp_path,
        endpoint.environment,
    )
    assert fork.wait() == 0, fork.stderr
    assert sum(endpoint.counts()["faults"].values()) > 0
