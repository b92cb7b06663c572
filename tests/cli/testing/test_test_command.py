"""`duologue test --assistant AGENT --scenarios FILE`: verdict and exit code, the report, its files, whose fault."""

import json
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

AGENT = """
import re
from pathlib import Path

from duologue import graphs, nodes
from duologue.testing import scripted_model


def agent(messages):
    said = "\\n".join(message["content"] for message in messages if message["role"] == "user")
    code = re.search(r"[A-Z]{2}\\d{4}", said)
    return f"Done: {code[0]} has been moved." if code else "Which booking is it? Please tell me the code."


def broken(messages):
    raise KeyError("no seat")


def silent(messages):
    return ""


def nothing(messages):
    return None


def score(state):
    if not Path("mended").exists():
        raise KeyError("seat")
    return True


def scored():
    return graphs.agent_test.cast(assistant="tested_agent:agent").replace(closing=nodes.scoring(success=score))


leaking = scripted_model("I need a flight.", "Assistant: here it is. Thank you, goodbye.", "Assistant: bye")
"""
SCENARIOS = [
    {"goal": "move my flight", "facts": "The code is QX4821.", "success": {"text_contains": "QX4821 has been moved"}},
    {"goal": "move another flight", "facts": "The code is LM0077.", "success": {"text_contains": "a refund"}},
]


@pytest.fixture(autouse=True)
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)  # before the folders of earlier tests
    Path("tested_agent.py").write_text(AGENT)
    Path("both.jsonl").write_text("".join(json.dumps(scenario) + "\n" for scenario in SCENARIOS))
    Path("right.jsonl").write_text(json.dumps(SCENARIOS[0]) + "\n")
    sys.modules.pop("tested_agent", None)


def arguments(*more: object, agent: str = "agent", scenarios: str = "both.jsonl") -> tuple[object, ...]:
    return ("test", "--assistant", f"tested_agent:{agent}", "--scenarios", scenarios, "--out", "run", *more)


def result_of(duologue: Any, *more: object, **choice: str) -> tuple[int, dict[str, Any]]:
    code, out, _ = duologue(*arguments("--json", "--no-page", *more, **choice))
    return code, json.loads(out)


@pytest.mark.parametrize(
    ("scenarios", "options", "code"),
    [
        ("right.jsonl", (), 0),
        ("both.jsonl", (), 1),
        ("both.jsonl", ("--threshold", 0.5), 0),
        ("both.jsonl", ("--threshold", 0.6), 1),
        ("right.jsonl", ("--at-least", 0.1), 1),  # a single scenario has no interval
        ("missing.jsonl", (), 2),
    ],
)
def test_the_exit_code_is_the_verdict(duologue, scenarios: str, options: tuple[Any, ...], code: int) -> None:
    assert duologue(*arguments("--no-page", *options, scenarios=scenarios))[0] == code


def test_the_terminal_has_the_verdict_first_then_faults_groups_and_scenarios(duologue) -> None:
    code, out, err = duologue(*arguments("--repeats", 3))
    assert code == 1, err
    lines = out.splitlines()
    assert lines[0].startswith("not passed (3 of 6 failed)")
    assert "3 of 6 scored conversations succeeded: 0.50 (no interval: 2 scenarios, 6 are needed)" in lines
    assert "  3 of 3: an expected text was never written (fault: undecided)" in lines
    assert any(line.split() == "move my flight 3 3 1.00".split() for line in lines)
    assert f"page: {Path('run/page.html')}" in out
    assert len(lines) <= 40
    assert "never written" in Path("run/page.html").read_text()


def test_junit_and_markdown_say_the_same_and_the_run_goes_on_from_its_folder(duologue) -> None:
    files = ("--junit", "junit.xml", "--summary", "summary.md", "--repeats", 2)
    _, out, _ = duologue(*arguments(*files))
    (suite,) = ElementTree.parse("junit.xml").getroot()
    verdict = next(one.get("value") for one in suite.iter("property") if one.get("name") == "verdict")
    assert verdict == out.splitlines()[0]
    assert [suite.get(name) for name in ("tests", "failures", "errors")] == ["4", "2", "0"]
    assert f"**{verdict}" in Path("summary.md").read_text().replace("\\", "")
    before = Path("run/conversations.jsonl").read_bytes()
    assert duologue(*arguments(*files))[0] == 1
    assert Path("run/conversations.jsonl").read_bytes() == before


def test_a_test_that_does_not_begin_says_so_in_its_files(duologue) -> None:
    code, _, _ = duologue(*arguments("--junit", "junit.xml", agent="missing"))
    assert code == 2
    assert "did not begin" in Path("junit.xml").read_text()


@pytest.mark.parametrize(
    ("agent", "ending", "name"),
    [
        ("broken", "crashed", "the agent's code raised KeyError in `broken`"),
        ("silent", "silent", "the agent answered nothing"),
        ("nothing", "silent", "the agent answered nothing"),
    ],
)
def test_an_agent_that_crashes_or_answers_nothing_fails(duologue, agent: str, ending: str, name: str) -> None:
    code, result = result_of(duologue, agent=agent)
    assert (code, result["scored"], result["successes"], result["counts"][ending]) == (1, 2, 0, 2)
    assert result["faults"]["assistant"] == 2
    (group,) = result["groups"]
    assert group["name"] == name
    if agent == "broken":
        assert group["first"]["frames"] == ["tested_agent.py:16 in broken"]
    assert "once it is mended" in result["resume"] or "mend it" in result["resume"]


def test_a_scorer_that_fails_takes_the_scores_until_it_is_mended(duologue) -> None:
    Path("goals.jsonl").write_text('{"goal": "book a table"}\n')
    command = ("test", "tested_agent:scored", "--scenarios", "goals.jsonl", "--out", "run", "--no-page", "--json")
    code, out, _ = duologue(*command)
    result = json.loads(out)
    assert (code, result["unscored"], result["counts"]["error"]) == (1, 1, 1)
    assert [*result["groups"][0]["faults"]] == ["infrastructure"]


def test_a_user_that_leaves_its_role_is_at_fault_and_stands_apart(duologue) -> None:
    code, result = result_of(duologue, "--set", "user=tested_agent:leaking")
    assert code == 1
    assert result["faults"]["user"] == 2
    assert len(result["left_out"]) == result["scored"]


def test_a_run_that_a_bound_cuts_short_does_not_pass_and_has_the_line_that_goes_on(duologue) -> None:
    code, result = result_of(duologue, "--max-tokens", 1, scenarios="right.jsonl")
    assert (code, result["scored"], result["passed"]) == (1, 0, False)
    assert result["cut_short"] + result["not_begun"] == 1
    assert "--out run" in result["resume"]
    assert result["success"]["value"] is None
