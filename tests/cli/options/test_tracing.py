"""Nothing is traced without `--trace`, whatever the environment says; and it is said."""

import json
import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from langchain_core.tracers.langchain import get_client
from langsmith.utils import tracing_is_enabled

import duologue as package
from duologue import data, graphs
from duologue.cli.options import tracing
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
def test_an_offline_run_sends_nothing_without_the_option(duologue, collector):
    code, _, err = duologue("simulate", "simquac", "--limit", "1", "--max-turns", "1", "--out", "run")
    assert code == 0, err
    assert collector.got == []
    assert os.environ["LANGSMITH_TRACING"] == "true"


@pytest.mark.heavy
@pytest.mark.parametrize("trace", [False, True])
def test_a_run_is_traced_with_the_option_alone_and_both_is_said(collector, capsys, trace):
    with tracing.off():
        assert not tracing_is_enabled()
        with tracing.allowed(trace):
            assert bool(tracing_is_enabled()) == trace
            assert simulated() == "max_turns"
        assert not tracing_is_enabled()
    line = " ".join(capsys.readouterr().err.split())
    if trace:
        assert f"traces go to {collector.host}" in line
        assert any("runs" in path for path in collector.got)
    else:
        assert (
            f"LANGSMITH_TRACING is set: traces would go to {collector.host}; they are off: give --trace to send them"
            in line
        )
        assert collector.got == []
    assert os.environ["LANGSMITH_TRACING"] == "true"
    assert "LANGCHAIN_TRACING_V2" not in os.environ


@pytest.mark.heavy
def test_an_agent_that_loads_a_file_of_its_own_or_configures_it_is_not_traced_either(collector, monkeypatch):
    import langsmith
    from langsmith._internal import _context

    Path(".env").write_text("LANGCHAIN_TRACING_V2=true\nLANGSMITH_TRACING_V2=true\n")
    with tracing.off(), tracing.allowed(False):
        for line in Path(".env").read_text().splitlines():
            os.environ.setdefault(*line.split("="))  # as load_dotenv() does
        monkeypatch.setattr(_context, "_GLOBAL_TRACING_ENABLED", True)  # as langsmith.configure(enabled=True) does
        assert not tracing_is_enabled()
        assert langsmith.get_tracing_context()["enabled"] is False
        assert simulated() == "max_turns"
    assert collector.got == []


@pytest.mark.heavy
def test_the_library_leaves_tracing_to_its_user_and_says_where_it_goes(collector, caplog):
    assert simulated() == "max_turns"
    assert f"LANGSMITH_TRACING is set: traces of this run go to {collector.host}" in caplog.text
    with tracing.off():
        assert requested() == ()


@pytest.mark.heavy
def test_doctor_says_what_would_be_sent_where(duologue, collector):
    code, out, _ = duologue("doctor")
    assert code == 0
    assert f"LANGSMITH_TRACING is set: traces would go to {collector.host}; they are off" in out
    assert f"traces go to {collector.host}" in duologue("doctor", "--trace")[1]
    assert json.loads(duologue("doctor", "--json")[1])["tracing"] == {
        "on": False,
        "hosts": {"LANGSMITH_TRACING": collector.host},
    }
    assert "not.a.key" not in out


def test_doctor_says_that_nothing_is_traced(duologue, monkeypatch):
    for name in list(os.environ):
        if name.startswith(("OTEL_", "LANGFUSE_")):
            monkeypatch.delenv(name)
    assert "nothing is traced" in duologue("doctor")[1]
    assert "the environment asks for no tracing" in duologue("doctor", "--trace")[1]


LANGSMITH = "api.smith.langchain.com"


@pytest.mark.parametrize(
    ("variables", "hosts"),
    [
        ({}, []),
        ({"LANGSMITH_TRACING": "false", "LANGCHAIN_TRACING_V2": ""}, []),
        ({"LANGSMITH_TRACING": "true"}, [LANGSMITH]),
        ({"LANGCHAIN_TRACING_V2": "true", "LANGCHAIN_ENDPOINT": "https://eu.smith.example/api"}, ["eu.smith.example"]),
        ({"LANGSMITH_TRACING_V2": "true", "LANGSMITH_ENDPOINT": "https://me:w0rd.4711@h.example:1"}, ["h.example:1"]),
        ({"LANGSMITH_TRACING": "true", "LANGSMITH_ENDPOINT": "http://[::1"}, ["unknown host"]),
        (
            {"LANGSMITH_TRACING": "true", "LANGSMITH_RUNS_ENDPOINTS": '[{"api_url": "https://a.example"}]'},
            ["the addresses in LANGSMITH_RUNS_ENDPOINTS"],
        ),
        ({"LANGCHAIN_WANDB_TRACING": "true"}, ["the host of LANGCHAIN_WANDB_TRACING"]),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://otel.example:4318"}, ["otel.example:4318"]),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://otel.example", "OTEL_SDK_DISABLED": "true"}, []),
        ({"LANGFUSE_SECRET_KEY": "sk-lf-1", "LANGFUSE_HOST": "https://fuse.example"}, ["fuse.example"]),
    ],
)
def test_the_hosts_of_traces_are_told_from_the_variables(variables, hosts):
    assert [tracing.host for tracing in requested(variables)] == hosts
    assert requested(variables | switched_off(variables)) == ()
