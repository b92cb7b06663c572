"""`langgraph dev` serves the graphs of `langgraph.json`, without a network."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from duologue.data.recllmsim import Situation
from duologue.graphs import conversation, recllmsim, record
from duologue.graphs.records import begun
from duologue.nodes import Limits, validator

pytestmark = pytest.mark.heavy
ROOT = Path(__file__).parent.parent.parent
SCENARIO = {
    "kind": "simquac",
    "title": "t",
    "background": "b",
    "header": "Keepers",
    "section": "Three keepers lived there.",
}
ASKING = """
from langchain_core.messages import AIMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import interrupt


async def answer(state: MessagesState):
    told = [str(message.text)[:7] for message in state["messages"]]
    if told[-1] == "thing 3":
        return {"messages": [AIMessage("So it is " + interrupt("Which colour?"))]}
    return {"messages": [AIMessage("heard " + ", ".join(told))]}


agent = StateGraph(MessagesState).add_node("answer", answer).add_edge(START, "answer").compile()
"""


@pytest.fixture
def server(tmp_path):
    if subprocess.run([sys.executable, "-c", "import langgraph_api"], check=False, capture_output=True).returncode:
        if os.environ.get("CI"):
            pytest.fail("langgraph-cli is not installed")
        pytest.skip("needs langgraph-cli: make env")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    config = json.loads((ROOT / "langgraph.json").read_text())
    (tmp_path / "asking.py").write_text(ASKING)
    graphs = {**config["graphs"], "asking": f"{tmp_path / 'asking.py'}:agent"}
    (tmp_path / "langgraph.json").write_text(json.dumps({**config, "graphs": graphs, "dependencies": [str(ROOT)]}))
    environment = os.environ | {"LANGSMITH_TRACING": "false", "LANGGRAPH_CLI_NO_ANALYTICS": "1"}
    command = [
        str(Path(sys.executable).with_name("langgraph")),
        "dev",
        "--no-browser",
        "--no-reload",
        "--n-jobs-per-worker",  # a graph may ask another one of this server
        "4",
        "--port",
        str(port),
    ]
    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=log, stderr=log)
        try:
            url = f"http://127.0.0.1:{port}"
            for _ in range(240):
                assert process.poll() is None, (tmp_path / "log").read_text()[-2000:]
                try:
                    with urllib.request.urlopen(f"{url}/ok", timeout=5):
                        break
                except OSError:
                    time.sleep(0.25)
            yield url
        finally:
            process.terminate()
            process.wait(timeout=900)


def asked(url: str, body: dict[str, Any] | None = None) -> Any:
    """The server's answer, as JSON; of a POST if there is a body."""
    encoded = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, encoded, {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=900) as reply:
        return json.load(reply)


def run(server: str, graph: str, values: dict[str, Any], **more: Any) -> Any:
    return asked(f"{server}/runs/wait", {"assistant_id": graph, "input": values, **more})


def test_the_dev_server_runs_a_conversation_and_takes_limits_and_a_second_one_on_the_same_thread(server):
    state = run(server, "simquac", {"scenario": SCENARIO}, context={"max_turns": 2})
    assert (state["stop"], len(state["messages"])) == ("max_turns", 4)
    made = record(state)
    assert [message.role for message in made.messages] == ["user", "assistant"] * 2
    assert all(message.attempts for message in made.messages)
    goal = {"scenario": {"goal": "a present"}, "messages": [{"role": "user", "content": "A present?"}]}
    answer = run(server, "agent_test", goal, context={"max_turns": 1})
    assert [message.role for message in record(answer).messages] == ["user", "assistant"]
    thread = asked(f"{server}/threads", {})["thread_id"]
    for title in ("first", "second"):
        about = {"scenario": {**SCENARIO, "title": title}}
        body = {"assistant_id": "simquac", "input": about, "context": {"max_turns": 1}}
        state = asked(f"{server}/threads/{thread}/runs/wait", body)
        assert (state["scenario"]["title"], state["turn"], len(state["messages"])) == (title, 1, 2)
    kept = asked(f"{server}/threads/{thread}/state")
    assert kept["values"]["messages"] == state["messages"]


async def test_a_graph_of_a_server_never_sees_a_rejected_draft_and_its_question_ends_the_conversation(server):
    judged, lines = iter("x-x-"), iter(f"thing {number}" for number in range(1, 9))
    judge = validator(lambda draft, state: "rude" if next(judged, "-") == "x" else None)
    about = Situation(task="gift preparation", task_context="You want a present.", preference="1. Gender: Female")
    cast = recllmsim.cast(lambda messages: next(lines), f"agent:{server}?graph=asking").replace(answer_validator=judge)
    graph = conversation(cast)
    record_of_it = record(await graph.ainvoke(begun(recllmsim.scenario(about)), context=Limits(max_turns=4)))
    assistant: Any = cast.nodes["assistant"]
    await assistant.agent.client.aclose()
    assert record_of_it.failure is None
    replies = [message for message in record_of_it.messages if message.role == "assistant"]
    assert [one.text for one in replies] == ["heard thing 1, <note>T", "heard thing 1, heard t, thing 2, <note>T", ""]
    (asked,) = replies[-1].tool_calls
    assert (asked.arguments, asked.result) == ({"value": "Which colour?"}, None)
    assert "checkpointer" in asked.error
    assert record_of_it.stop == "agent_interrupted"
