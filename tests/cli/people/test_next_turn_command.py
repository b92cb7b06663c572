"""`duologue next-turn`: its table, and a user that cannot be asked."""

import json
from pathlib import Path

import pytest

from tests.analysis.test_next_turn import PEOPLE

pytest.importorskip("scipy")


def test_the_command_prints_the_table_and_names_a_user_that_cannot_be_asked(duologue, tmp_path: Path):
    path = tmp_path / "people.jsonl"
    path.write_text("".join(json.dumps(one.plain()) + "\n" for one in PEOPLE))
    code, out, err = duologue("next-turn", path, "--user", "offline", "--no-baseline")
    assert code == 0, err
    assert out.splitlines()[0] == "The next turn of 12 people, 30 turns"
    (tmp_path / "dead_line.py").write_text("def user(messages):\n    raise OSError('the line is dead')\n")
    code, out, _ = duologue("next-turn", path, "--user", "dead_line:user", "--json")
    row = json.loads(out)["rows"][-1]
    assert (code, row["failed"]) == (1, 42)
    assert "the line is dead" in row["failure"]
    code, out, err = duologue("next-turn", path, "--user", "nobody")
    assert (code, out, "nobody" in err) == (2, "", True)
