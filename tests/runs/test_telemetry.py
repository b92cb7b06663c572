"""Spans of run folders: to a file, to an endpoint, and to one that does not answer."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from duologue.data import Conversation
from duologue.data.formats import record_lines
from duologue.data.formats.detection import CONVERSATIONS, FAILURES, MANIFEST
from duologue.errors import SettingError
from duologue.runs import telemetry
from tests.runs.test_genai_spans import TALK

TALKS = [TALK.model_copy(update={"id": f"stay {number}"}) for number in range(45)]
CUT = TALK.model_copy(update={"id": "cut"})


@pytest.fixture
def run() -> Path:
    """A run folder with conversations, and one that was cut short."""
    folder = Path("run")
    record_lines.write(TALKS, folder / CONVERSATIONS)
    record_lines.write([CUT], folder / FAILURES)
    planned = [talk.id for talk in [*TALKS, CUT]]
    manifest = {"planned": planned, "settings": {"cast": "hotel"}, "schema_version": 2, "data": []}
    (folder / MANIFEST).write_text(json.dumps(manifest))
    return folder


def ids(bodies: list[bytes]) -> list[str]:
    """The conversations of requests to a collector, as its own types read them."""
    service = pytest.importorskip("opentelemetry.proto.collector.trace.v1.trace_service_pb2")
    found = dict[str, None]()
    for body in bodies:
        request = service.ExportTraceServiceRequest.FromString(body)
        for span in request.resource_spans[0].scope_spans[0].spans:
            attributes = {pair.key: pair.value.string_value for pair in span.attributes}
            assert (len(span.trace_id), len(span.span_id)) == (16, 8)
            found[attributes["gen_ai.conversation.id"]] = None
    return list(found)


def test_a_file_has_a_line_for_each_conversation_also_of_one_that_was_cut_short(run: Path) -> None:
    assert telemetry.export([run], "spans.jsonl") == "spans of 46 conversations exported to spans.jsonl"
    lines = [json.loads(line) for line in Path("spans.jsonl").read_text().split("\n")[:-1]]
    assert [len(line["resourceSpans"]) for line in lines] == [1] * 46
    telemetry.check("spans.jsonl")  # and it may be written again


@pytest.mark.parametrize(("contents", "count"), [(False, 3), (True, 46)])
def test_an_endpoint_gets_the_spans_in_batches_and_those_with_texts_one_by_one(
    run: Path, httpserver: Any, contents: bool, count: int
) -> None:
    pytest.importorskip("opentelemetry.exporter.otlp.proto.http")
    server = httpserver
    server.expect_request("/v1/traces", method="POST").respond_with_data(b"", content_type="application/x-protobuf")
    address = server.url_for("").rstrip("/")
    line = telemetry.export([run], address, contents=contents)
    assert line == f"spans of 46 conversations exported to {address.removeprefix('http://')}"
    requests = [request for request, _ in server.log]
    bodies = [request.get_data() for request in requests]
    bodies = [gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body for body in bodies]
    assert len(bodies) == count
    assert ids(bodies) == [talk.id for talk in [*TALKS, CUT]]


def test_an_endpoint_that_is_down_is_one_line_without_its_credentials(run: Path, monkeypatch, caplog, capfd) -> None:
    pytest.importorskip("opentelemetry.exporter.otlp.proto.http")
    monkeypatch.setattr(telemetry, "_SECONDS", 0.2)
    line = telemetry.export([run], "http://ann:hush@127.0.0.1:9/v1/traces")
    assert line == "--otel: 127.0.0.1:9 did not take the spans: --resume sends them again"
    assert "hush" not in caplog.text + capfd.readouterr().err


def test_what_fails_in_between_is_one_line(run: Path) -> None:
    Path("here").write_text("")
    line = telemetry.export([run], "here/spans.jsonl")
    assert line.startswith("--otel: the spans were not exported to here/spans.jsonl (")


@pytest.mark.parametrize(
    ("target", "problem"),
    [
        ("scenarios.jsonl", "is not a file of spans"),
        (".", "is not a file of spans"),
        ("http://", "has no host"),
        ("grpc://127.0.0.1:4317", "not http or https"),
    ],
)
def test_a_target_that_cannot_be_meant_is_refused_before_the_run(target: str, problem: str) -> None:
    Path("scenarios.jsonl").write_text('{"goal": "a room"}\n')
    with pytest.raises(SettingError, match=problem):
        telemetry.check(target)


def test_an_address_without_the_extra_names_it(monkeypatch) -> None:
    monkeypatch.setattr(telemetry, "find_spec", lambda name: None)
    with pytest.raises(SettingError, match=r"duologue\[otel\]"):
        telemetry.check("http://127.0.0.1:4318")
    telemetry.check("spans.jsonl")


def test_nothing_is_lost_for_the_next_export(run: Path) -> None:
    telemetry.export([run], "first.jsonl")
    telemetry.export([run], "second.jsonl")
    assert Path("first.jsonl").read_bytes() == Path("second.jsonl").read_bytes()
    assert isinstance(next(iter(record_lines.attempted(run))), Conversation)
