"""`sys.exit` in somebody's code, wherever a run calls it, is that code's failure and ends nothing."""

import asyncio
import gc
import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import duologue
from duologue import graphs, nodes
from duologue.nodes.foreign import new_loop

CODE = """
import sys
from typing import Annotated, TypedDict

from langchain_core.messages import AIMessage
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages


def leaves(messages):
    sys.exit(0)


async def leaves_async(messages):
    sys.exit("bad configuration")


class Ended(BaseException):
    pass


def quits(messages):
    raise Ended("enough")


async def quits_async(messages):
    raise GeneratorExit


def fine(messages):
    return "Done: it is booked."


class Talk(TypedDict):
    messages: Annotated[list, add_messages]


def node(state):
    sys.exit(3)


async def async_node(state):
    sys.exit(3)


def graph_of(*nodes):
    made = StateGraph(Talk)
    for number, one in enumerate(nodes):
        made.add_node(f"n{number}", one)
        made.add_edge(START, f"n{number}")
    return made.compile()


graph, async_graph, both = graph_of(node), graph_of(async_node), graph_of(async_node, node)


def scorer(state):
    sys.exit(0)


def world(scenario):
    sys.exit(0)
"""


@pytest.fixture
def code(tmp_path, monkeypatch):
    Path("own_exits.py").write_text(CODE)
    Path("scenarios.jsonl").write_text(
        "".join(
            json.dumps({"goal": f"book table {n}", "success": {"text_contains": "booked"}}) + "\n" for n in range(3)
        )
    )
    yield
    sys.modules.pop("own_exits", None)


TEST = ("test", "--scenarios", "scenarios.jsonl", "--out", "run", "--threshold", "0.9")


@pytest.mark.parametrize("agent", ["leaves", "leaves_async", "graph", "async_graph", "both"])
def test_an_agent_that_ends_its_process_fails_and_the_test_does_not_pass(duologue, code, agent):
    ended, out, _ = duologue(*TEST, "--assistant", f"own_exits:{agent}", "--junit", "report.xml", "--json")
    result = json.loads(out)
    assert (ended, result["passed"], result["planned"], result["scored"]) == (1, False, 3, 3)
    assert "code that a run calls has ended with SystemExit" in Path("report.xml").read_text()


@pytest.mark.parametrize(("agent", "error"), [("quits", "Ended: enough"), ("quits_async", "GeneratorExit")])
def test_an_error_that_is_no_exception_is_the_agents_failure(duologue, code, agent, error):
    ended, out, _ = duologue(*TEST, "--assistant", f"own_exits:{agent}", "--json")
    (first, *_) = json.loads(out)["failures"]
    assert (ended, json.loads(out)["counts"]["crashed"]) == (1, 3)
    assert first["reason"].startswith(
        f"assistant: ExitError: code that a run calls has ended with {error} (own_exits.py"
    )


def test_a_world_that_ends_its_process_leaves_no_verdict(duologue, code):
    ended, out, err = duologue(*TEST, "--assistant", "own_exits:fine", "--world", "own_exits:world", "--json")
    assert (ended, json.loads(out)["passed"]) == (1, False), err


def test_a_scorer_that_ends_its_process_is_a_score_with_its_error(code, monkeypatch):
    monkeypatch.syspath_prepend(str(Path.cwd()))
    own_exits = import_module("own_exits")

    cast = graphs.agent_test.cast(assistant=own_exits.fine).replace(closing=nodes.scoring(success=own_exits.scorer))
    (record,) = duologue.simulate(cast, graphs.agent_test.scenarios([{"goal": "book"}]))
    assert "has ended with SystemExit" in record.model_dump_json() or "SystemExit: 0" in record.model_dump_json()


def test_a_task_that_is_cancelled_before_it_begins_leaves_nothing_behind():
    async def work():
        await asyncio.sleep(10)

    async def begin_and_cancel():
        tasks = [asyncio.create_task(work()) for _ in range(3)]
        for task in tasks:
            task.cancel()
        return await asyncio.gather(*tasks, return_exceptions=True)

    with asyncio.Runner(loop_factory=new_loop) as runner:
        ended = runner.run(begin_and_cancel())  # a coroutine that never began would be a warning, so an error here
    gc.collect()
    assert [type(error) for error in ended] == [asyncio.CancelledError] * 3


def test_a_function_of_the_front_door_returns(code, monkeypatch):
    monkeypatch.syspath_prepend(str(Path.cwd()))
    own_exits = import_module("own_exits")

    for agent in (own_exits.leaves, own_exits.leaves_async, own_exits.async_graph, own_exits.both):
        result = duologue.test(agent, [{"goal": "book", "success": {"text_contains": "booked"}}], out=None)
        (record,) = result.records
        assert record.failure.node == "assistant"
        assert "SystemExit" in record.failure.error
    (record,) = duologue.test(
        own_exits.fine, [{"goal": "book", "success": {"text_contains": "booked"}}], out=None
    ).records
    assert record.failure is None


@pytest.mark.heavy
def test_an_agent_that_blocks_its_thread_is_not_waited_for(tmp_path):
    """A plain node that never answers, with a bound of time."""
    Path("blocks.py").write_text(
        "import time\nfrom typing import Annotated, TypedDict\nfrom langgraph.graph import START, StateGraph\n"
        "from langgraph.graph.message import add_messages\n"
        "class Talk(TypedDict):\n    messages: Annotated[list, add_messages]\n"
        "def node(state):\n    time.sleep(10_000)\n"
        "graph = StateGraph(Talk).add_node('n', node).add_edge(START, 'n').compile()\n"
    )
    Path("scenarios.jsonl").write_text("".join(json.dumps({"goal": f"book {n}"}) + "\n" for n in range(4)))
    command = [sys.executable, "-m", "duologue.cli", "test", "--assistant", "blocks:graph", "--out", "run"]
    command += ["--scenarios", "scenarios.jsonl", "--max-time", "5s"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=240)
    assert ended.returncode == 1, ended.stderr
    assert "--resume" in ended.stderr
