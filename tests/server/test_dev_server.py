"""`langgraph dev` serves the graph of `langgraph.json`, without a network."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

pytestmark = pytest.mark.heavy
ROOT = Path(__file__).parent.parent.parent
SCENARIO = {
    "kind": "simquac",
    "title": "t",
    "background": "b",
    "header": "Keepers",
    "section": "Three keepers lived there.",
}


@pytest.fixture
def server(tmp_path):
    if subprocess.run([sys.executable, "-c", "import langgraph_api"], check=False, capture_output=True).returncode:
        if os.environ.get("CI"):
            pytest.fail("the extra dev-server is not installed")
        pytest.skip("needs the extra dev-server: make env")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    config = json.loads((ROOT / "langgraph.json").read_text())
    (tmp_path / "langgraph.json").write_text(json.dumps({**config, "dependencies": [str(ROOT)]}))
    environment = os.environ | {"LANGSMITH_TRACING": "false", "LANGGRAPH_CLI_NO_ANALYTICS": "1"}
    command = [
        str(Path(sys.executable).with_name("langgraph")),
        "dev",
        "--no-browser",
        "--no-reload",
        "--port",
        str(port),
    ]
    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=log, stderr=log)
        try:
            yield f"http://127.0.0.1:{port}", process, tmp_path / "log"
        finally:
            process.terminate()
            process.wait(timeout=30)


def test_the_dev_server_runs_a_conversation_and_takes_limits(server):
    url, process, log = server
    for _ in range(240):
        assert process.poll() is None, log.read_text()[-2000:]
        try:
            with urllib.request.urlopen(f"{url}/ok", timeout=5):
                break
        except OSError:
            time.sleep(0.25)
    body = {"assistant_id": "simquac", "input": {"scenario": SCENARIO}, "context": {"max_turns": 2}}
    request = urllib.request.Request(
        f"{url}/runs/wait", json.dumps(body).encode(), {"content-type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=60) as reply:
        state = json.load(reply)
    assert state["stop"] == "max_turns"
    assert [message["role"] for message in state["messages"]] == ["user", "assistant"] * 2
