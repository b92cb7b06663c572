"""Nothing is traced without `--trace`, whatever the environment says; and it is said."""

import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from langchain_core.tracers.langchain import get_client

import duologue as package
from duologue import data, graphs
from duologue.data.tracing import requested, switched_off
from duologue.nodes import Limits


class Collector:
    """Keeps what is posted to it."""

    def __init__(self) -> None:
        self.got: list[str] = []
        got = self.got

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                got.append(self.path)
                self.rfile.read(int(self.headers.get("content-length") or 0))
                self.do_GET()

            do_PATCH = do_POST  # noqa: N815

            def do_GET(self) -> None:
                self.send_response(200)
                self.send_header("content-length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, *arguments: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.host = f"127.0.0.1:{self.server.server_port}"


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    collector = Collector()
    thread = threading.Thread(target=collector.server.serve_forever)
    thread.start()
    monkeypatch.setenv("LANGSMITH_TRACING", "true")
    monkeypatch.setenv("LANGSMITH_ENDPOINT", f"http://{collector.host}")
    monkeypatch.setenv("LANGSMITH_API_KEY", "lsv2_not.a.key.1")
    get_client.cache_clear() if hasattr(get_client, "cache_clear") else None
    yield collector
    collector.server.shutdown()
    thread.join()
    collector.server.server_close()


def simulated() -> str | None:
    cast = graphs.simquac.cast(limits=Limits(max_turns=1))
    return package.simulate(cast, [graphs.simquac.scenario(data.simquac.samples()[0])])[0].stop


@pytest.mark.heavy
def test_a_run_is_traced_with_the_option_alone_and_both_is_said(duologue, collector):
    run = ("simulate", "simquac", "--limit", 1, "--max-turns", 1)
    assert "LANGSMITH_TRACING asks for traces; they are off" in duologue(*run, "--out", "untraced")[2]
    assert collector.got == []
    assert "traces are sent as LANGSMITH_TRACING asks for" in duologue("--trace", *run, "--out", "traced")[2]
    assert any("runs" in path for path in collector.got)
    assert os.environ["LANGSMITH_TRACING"] == "true"
    assert "LANGCHAIN_TRACING_V2" not in os.environ


@pytest.mark.heavy
def test_the_library_leaves_tracing_to_its_user_and_says_so(collector, caplog):
    assert simulated() == "max_turns"
    assert "traces of this run are sent as LANGSMITH_TRACING asks for" in caplog.text


@pytest.mark.parametrize(
    ("variables", "asking"),
    [
        ({}, ()),
        ({"LANGSMITH_TRACING": "false", "LANGCHAIN_TRACING_V2": ""}, ()),
        ({"LANGSMITH_TRACING": "true", "LANGCHAIN_ENDPOINT": "https://eu.smith.example"}, ("LANGSMITH_TRACING",)),
        ({"LANGCHAIN_WANDB_TRACING": "true"}, ("LANGCHAIN_WANDB_TRACING",)),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://otel.example:4318"}, ("OTEL_EXPORTER_OTLP_ENDPOINT",)),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://otel.example", "OTEL_SDK_DISABLED": "true"}, ()),
        ({"LANGFUSE_SECRET_KEY": "sk-lf-1", "LANGFUSE_HOST": "https://fuse.example"}, ("LANGFUSE_SECRET_KEY",)),
    ],
)
def test_the_variables_that_ask_for_traces_are_told_and_can_be_switched_off(variables, asking):
    assert requested(variables) == asking
    assert requested(variables | switched_off(variables)) == ()
