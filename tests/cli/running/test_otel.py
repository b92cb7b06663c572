"""`--otel`: what is exported of a run, and that the run is the same with it and without."""

import json
from pathlib import Path

import pytest

from duologue.data import load

SCENARIO = {"kind": "stay", "goal": "book a room", "title": "Private title"}


@pytest.fixture(autouse=True)
def scenarios() -> None:
    Path("s.jsonl").write_text(json.dumps(SCENARIO) + "\n")


def texts_of(path: str) -> str:
    return Path(path).read_text(encoding="utf-8")


def test_a_run_is_exported_without_texts_and_with_them_where_asked_for(duologue) -> None:
    code, _, err = duologue("simulate", "agent_test", "--scenarios", "s.jsonl", "--out", "run", "--otel", "spans.jsonl")
    assert (code, err.strip().splitlines()[-1]) == (0, "spans of 1 conversation exported to spans.jsonl")
    said = load("run")[0].messages[0].text
    assert said not in texts_of("spans.jsonl")
    again = ("simulate", "agent_test", "--scenarios", "s.jsonl", "--out", "run", "--resume", "--otel", "spans.jsonl")
    assert duologue(*again, "--otel-content")[0] == 0
    assert said in texts_of("spans.jsonl")


def test_a_test_is_exported_too(duologue) -> None:
    _, _, err = duologue("test", "--scenarios", "s.jsonl", "--out", "run", "--no-page", "--otel", "spans.jsonl")
    assert "spans of 1 conversation exported to spans.jsonl" in err
    assert '"gen_ai.evaluation.result"' in texts_of("spans.jsonl")


def test_a_collector_that_is_down_changes_nothing_but_a_line(duologue, monkeypatch) -> None:
    pytest.importorskip("opentelemetry.exporter.otlp.proto.http")
    from duologue.runs import telemetry

    monkeypatch.setattr(telemetry, "_SECONDS", 0.2)
    common = ("simulate", "agent_test", "--scenarios", "s.jsonl")
    code, out, err = duologue(*common, "--out", "run", "--otel", "http://ann:hush@127.0.0.1:9")
    assert (code, "hush" in out + err) == (0, False)
    assert "spans without the texts of the conversations go to 127.0.0.1:9 when the run is over" in err
    assert "--otel: 127.0.0.1:9 did not take the spans: --resume sends them again" in err
    assert duologue(*common, "--out", "other")[0] == 0
    one, other = (load(folder)[0].without_timing() for folder in ("run", "other"))
    assert one == other


def test_a_file_of_something_else_is_refused_before_the_run(duologue) -> None:
    code, _, err = duologue("simulate", "agent_test", "--scenarios", "s.jsonl", "--out", "run", "--otel", "s.jsonl")
    assert (code, "is not a file of spans" in err) == (2, True)
    assert json.loads(texts_of("s.jsonl")) == SCENARIO
    code, _, err = duologue("simulate", "agent_test", "--scenarios", "s.jsonl", "--otel-content")
    assert (code, "--otel-content needs --otel" in err) == (2, True)
