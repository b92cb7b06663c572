"""The agents and their scenarios, in each test's folder."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.testing.verdicts.verdict_agents import AGENTS, NEVER, SCENARIOS


@pytest.fixture(autouse=True)
def agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(tmp_path)  # before the folders of earlier tests
    Path("verdict_agent.py").write_text(AGENTS)
    Path("scenarios.jsonl").write_text("".join(json.dumps(line) + "\n" for line in SCENARIOS))
    Path("never.jsonl").write_text("".join(json.dumps(line | {"success": NEVER}) + "\n" for line in SCENARIOS))
    Path("goals.jsonl").write_text('{"goal": "book a table"}\n{"goal": "book the other"}\n')
    sys.modules.pop("verdict_agent", None)
    yield
    sys.modules.pop("verdict_agent", None)
