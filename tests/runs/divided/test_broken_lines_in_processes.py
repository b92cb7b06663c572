"""Workers read the sources of their cast as the command does: without broken lines, where this is asked for."""

import json
from pathlib import Path
from typing import Any

import pytest

import duologue
from duologue import Limits, runs
from duologue.data.files.broken_lines import skip_in_sources
from duologue.errors import DataError
from duologue.graphs import agent_test

SAID = ("I look for a mild tea.", "Here is one.", "Fine, that one.", "You are welcome.")


@pytest.fixture
def talks(tmp_path: Path) -> Path:
    """Stored conversations with a broken line."""
    turns = [{"role": ("user", "assistant")[number % 2], "content": text} for number, text in enumerate(SAID)]
    lines = [json.dumps({"id": str(number), "messages": turns}) for number in range(3)]
    path = tmp_path / "talks.jsonl"
    path.write_text("\n".join([*lines, '{"id": "4", "mess']), encoding="utf-8")
    return path


def simulated(talks: Path, processes: int) -> list[dict[str, Any]]:
    """The records of a run whose sides say again what was said there."""
    cast = agent_test.cast(user=f"replay:{talks}", assistant=f"replay:{talks}")
    states = [{"scenario": one.scenario, "ordinal": one.ordinal} for one in duologue.load(talks)]
    folder = talks.with_name(str(processes))
    runs.simulate(cast, states, out=folder, limits=Limits(max_turns=2), conduct=runs.Conduct(processes=processes))
    return [one.without_timing().plain() for one in duologue.load(folder)]


@pytest.mark.heavy
def test_workers_leave_broken_lines_out_as_one_process_does(talks):
    with pytest.raises(DataError, match="is not JSON"):
        simulated(talks, 2)
    with skip_in_sources(True):
        one, two = (simulated(talks, number) for number in (1, 2))
    assert [record["messages"][0]["text"] for record in two] == [SAID[0]] * 3
    assert one == two
