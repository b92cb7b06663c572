"""A run says at its end what became of its drafts, and `check` says the same of a stored one."""

import json
from typing import Any


def test_a_run_says_it_at_its_end_and_check_says_the_same(duologue: Any, tmp_path: Any) -> None:
    run, options = tmp_path / "run", ("--assistant", "offline?paraphrase=0.8", "--limit", "2", "--max-turns", "2")
    code, out, _ = duologue("simulate", "simquac", *options, "--out", str(run), "--json")
    told = json.loads(out)["drafts"]
    assert (code, [side["role"] for side in told]) == (0, ["user", "assistant"])
    assert told[1]["reasons"]["not_in_section"] > 0
    assert json.loads(duologue("check", str(run), "--json")[1])["drafts"] == told
    assert "of replies grounded" in duologue("check", str(run))[1]
