"""The example of tau2-bench: its tasks are read without it, and its environment is a world where it is installed."""

import json
import shutil
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import duologue
from duologue.data.scenarios import ScenarioReader
from duologue.nodes.success import success_of

ROOT = Path(__file__).parents[2]
TASKS = ROOT / "examples" / "tau2" / "tasks.json"


def has_tau2() -> bool:
    """Whether tau2-bench is installed: the package `tau2` on PyPI is something else."""
    try:
        return find_spec("tau2.environment") is not None
    except ModuleNotFoundError:
        return False


needs_tau2 = pytest.mark.skipif(not has_tau2(), reason="tau2-bench is not installed")


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The example's module."""
    monkeypatch.syspath_prepend(str(TASKS.parent))
    monkeypatch.delitem(sys.modules, "tau2_world", raising=False)
    return import_module("tau2_world")


def scenarios() -> list[dict[str, Any]]:
    return [entry.scenario for entry in ScenarioReader(TASKS)]


def test_its_tasks_are_read_without_tau2() -> None:
    assert [scenario["title"] for scenario in scenarios()] == ["order-tea", "done-already", "nothing-to-do"]
    for scenario in scenarios():
        success_of(scenario["success"])


def test_the_worlds_state_takes_the_place_of_the_calls(example: Any) -> None:
    order, done, nothing = (example.as_tau2_compares(scenario)["success"] for scenario in scenarios())
    assert order == {"text_contains": "Order tea", "final_state": {"DB": True}}
    assert done == {"final_state": {"DB": True, "ENV_ASSERTION": True}}
    assert nothing == {"final_state": {"DB": True}}


@needs_tau2
@pytest.mark.parametrize(("model", "succeeds"), [("reference", [True, True, True]), ("idle", [False, False, True])])
def test_the_world_tells_a_solved_task_from_an_untouched_one(example: Any, model: str, succeeds: list[bool]) -> None:
    states = [{"scenario": example.as_tau2_compares(scenario)} for scenario in scenarios()]
    talks = duologue.simulate(example.cast(model=model), states)
    assert [talk.scores["success"]["value"] for talk in talks] == succeeds


@needs_tau2
def test_a_rolled_back_world_has_not_seen_the_call(example: Any) -> None:
    world = example.world(scenarios()[0])
    before = world.snapshot()
    untouched = world.state()
    world.call("create_task", {"user_id": "user_1", "title": "Order tea"})
    assert (untouched["DB"], world.state()["DB"]) == (False, True)
    world.restore(before)
    assert world.state() == untouched


@needs_tau2
def test_a_models_calls_work_on_the_world(example: Any) -> None:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.outputs import ChatGeneration, ChatResult

    class Maker(BaseChatModel):
        @property
        def _llm_type(self) -> str:
            return "maker"

        def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
            assert {tool.name for tool in tools} >= {"create_task", "get_users"}
            return self

        def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
            arguments = {"user_id": "user_1", "title": "Order tea"}
            call = {"name": "create_task", "args": arguments, "id": "1"}
            done = messages[-1].type == "tool"
            reply = AIMessage("Order tea is done.") if done else AIMessage("", tool_calls=[call])
            return ChatResult(generations=[ChatGeneration(message=reply)])

    cast = example.cast().replace(world=example.world)
    agent = duologue.graphs.agent_test.cast(assistant=example.agent("mock", Maker())).replace(world=cast.world)
    (talk,) = duologue.simulate(agent, [{"scenario": example.as_tau2_compares(scenarios()[0])}])
    assert talk.scores["success"]["value"] is True
    assert [call.name for message in talk.messages for call in message.tool_calls] == ["create_task"]


@needs_tau2
def test_the_readmes_commands_run(forks: Any, example: Any, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(TASKS.parent, tmp_path / "tau2", ignore=shutil.ignore_patterns("__pycache__")))
    lines = [json.dumps(one) for one in map(example.as_tau2_compares, scenarios())]
    (folder / "compared.jsonl").write_text("\n".join(lines), encoding="utf-8")
    done = forks.run("test", "--cast", "tau2_world:cast", "--scenarios", "compared.jsonl", "--out", "run", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "3 of 3 scored conversations succeeded" in done.stdout
