"""`langgraph dev` serves the graphs of `langgraph.json`, without a network."""

import asyncio
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

from duologue.data.formats import record_lines
from duologue.data.recllmsim import Situation
from duologue.graphs import conversation, recllmsim, record, simquac
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


def test_the_dev_server_runs_a_conversation_and_takes_limits(server):
    state = run(server, "simquac", {"scenario": SCENARIO}, context={"max_turns": 2})
    assert state["stop"] == "max_turns"
    assert [message["role"] for message in state["messages"]] == ["user", "assistant"] * 2


def test_the_dev_server_offers_forms_and_runs_them_with_the_speakers_that_a_context_chooses(server):
    fields = {
        "simquac": ["title", "background", "header", "section", "messages"],
        "recllmsim": ["task", "task_context", "profile", "language", "messages"],
        "agent_test": ["goal", "facts", "persona", "messages"],
    }
    names = {assistant["graph_id"]: assistant["assistant_id"] for assistant in asked(f"{server}/assistants/search", {})}
    for graph, names_of_fields in fields.items():
        schemas = asked(f"{server}/assistants/{names[graph]}/schemas")
        assert list(schemas["input_schema"]["properties"]) == names_of_fields
        assert all(field["description"] for field in schemas["input_schema"]["properties"].values())
        assert {"max_turns", "seed", "user", "assistant", "prompts"} <= set(schemas["context_schema"]["properties"])
        assert schemas["output_schema"]["properties"]["messages"]

    form = {"title": "t", "section": "Three keepers lived there."}
    sloppy = {"max_turns": 2, "user": "offline?two_questions=1", "question_words": 9, "one_question": True}
    rejected = run(server, "simquac", form, context=sloppy)
    assert rejected["stop"] == "user_rejected"
    assert rejected["provenance"]["limits"]["max_turns"] == 2
    assert run(server, "simquac", form, context={"max_turns": 2})["stop"] == "max_turns"
    task = run(server, "recllmsim", {"profile": "1. Age: 34"}, context={"max_turns": 2, "language": "en"})
    assert task["turn"] == 2
    answer = run(
        server, "agent_test", {"messages": [{"role": "user", "content": "A present?"}]}, context={"max_turns": 1}
    )
    assert [message["role"] for message in answer["messages"]] == ["user", "assistant"]
    wrong = run(server, "simquac", form, context={"user": "os:system"})
    assert "names code" in json.dumps(wrong)

    thread = asked(f"{server}/threads", {})["thread_id"]
    for title in ("first", "second"):
        body = {"assistant_id": "simquac", "input": form | {"title": title}, "context": {"max_turns": 1}}
        state = asked(f"{server}/threads/{thread}/runs/wait", body)
        assert (state["scenario"]["title"], state["turn"]) == (title, 1)
    kept = asked(f"{server}/threads/{thread}/state")
    assert kept["values"]["messages"] == state["messages"]


@pytest.mark.parametrize("send", ["all", "new"])
async def test_a_graph_of_a_server_never_sees_a_rejected_draft_and_asks_the_user_where_it_has_a_thread(server, send):
    judged, lines = iter("x-x-"), iter(f"thing {number}" for number in range(1, 9))
    judge = validator(lambda draft, state: "rude" if next(judged, "-") == "x" else None)
    about = Situation(task="gift preparation", task_context="You want a present.", preference="1. Gender: Female")
    cast = recllmsim.cast(lambda messages: next(lines), f"agent:{server}?graph=asking&send={send}")
    graph = conversation(cast.replace(answer_validator=judge))
    record_of_it = record(await graph.ainvoke(recllmsim.scenario(about), context=Limits(max_turns=4)))
    agent: Any = cast.assistant.agent  # type: ignore[attr-defined]
    await agent.client.aclose()
    assert record_of_it.failure is None
    texts = [message.text for message in record_of_it.messages if message.role == "assistant"]
    if send == "all":
        assert texts[:2] == ["heard thing 1, <note>T", "heard thing 1, heard t, thing 2, <note>T"]
        assert record_of_it.stop == "agent_interrupted"
    else:
        assert texts[:2] == ["heard thing 1, <note>T", "heard thing 1, heard t, thing 2, <note>T"]
        assert texts[2:] == ["Which colour?", "So it is thing 4"]


def test_a_context_chooses_agents_stored_messages_and_pages_and_what_it_may_not_is_refused_in_our_words(
    server, tmp_path
):
    form = {"title": "t", "section": "Three keepers lived there."}
    stored = record(asyncio.run(simquac.graph.ainvoke(form, context={"max_turns": 1})))
    record_lines.write([stored], tmp_path / "stored.jsonl")
    (tmp_path / "my_prompts/user").mkdir(parents=True)
    (tmp_path / "my_prompts/user/system.md").write_text("You want something. Write it.")
    for graph, chosen in (
        ("simquac", {"user": f"agent:{server}?graph=asking"}),
        ("simquac", {"user": "replay:stored.jsonl"}),
        ("agent_test", {"prompts": "my_prompts"}),
    ):
        values = form if graph == "simquac" else {"goal": "a present"}
        state = run(server, graph, values, context={"max_turns": 1, **chosen})
        assert [message["role"] for message in state.get("messages", [])][:1] == ["user"], (chosen, state)
        assert not state.get("failure"), chosen
    for chosen, problem in (
        ({"user": "replay:/etc/passwd"}, "lies outside the server's working folder"),
        ({"prompts": "/etc"}, "lies outside the server's working folder"),
        ({"user": "mine:x"}, "names code"),
        ({"user": "anthropic:x"}, "anthropic"),
    ):
        text = json.dumps(run(server, "simquac", form, context=chosen))
        assert problem in text, text
        assert "BlockingError" not in text
    gone = run(server, "simquac", form, context={"max_turns": 1, "user": "agent:http://127.0.0.1:9?graph=g"})
    assert gone["failure"]["error"].startswith("ConnectError"), gone["failure"]
