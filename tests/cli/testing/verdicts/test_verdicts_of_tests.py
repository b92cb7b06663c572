"""`duologue test` and `duologue.test` give one verdict, and terminal, JSON, JUnit, Markdown and page agree on it."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

import duologue
from tests.cli.testing.verdicts.verdict_agents import SCENARIOS, SUCCESS, arguments, property_of, suite_of

BOUND = ("--repeats", 3, "--concurrency", 1, "--max-run-tokens", 200)
COUNTS = ("planned", "scored", "cut_short", "not_begun", "unscored", "answered", "successes")


def test_every_form_of_the_result_begins_with_the_verdict_and_ends_with_how_to_resume(duologue) -> None:
    reports = ("--junit", "junit.xml", "--summary", "summary.md")
    code, out, err = duologue(*arguments("model", *BOUND, *reports))
    verdict = out.splitlines()[0]
    page, summary = Path("run/page.html").read_text(), Path("summary.md").read_text()
    code_of_json, plain, _ = duologue(*arguments("model", *BOUND, "--resume", "--json"))
    result = json.loads(plain)
    planned, scored, cut_short, not_begun = [result[name] for name in COUNTS[:4]]
    assert (code, code_of_json, planned, result["passed"]) == (1, 1, 6, False)
    assert not_begun == 6 - scored - cut_short > 0
    reasons = "; ".join(result["not_passed_because"])
    counts = f"6 conversations planned: {scored} scored, {cut_short} cut short, {not_begun} not begun"
    assert verdict == f"not passed ({reasons}): {counts}"
    assert verdict in page
    assert summary.splitlines()[2] == f"**{verdict}**".replace("(", r"\(").replace(")", r"\)") or verdict in summary
    assert property_of(suite_of("junit.xml"), "verdict") == verdict
    again = "continue: the same command with --out run --resume and a wider bound"
    last = err.splitlines()[-1]
    assert last.startswith("ended early: --max-run-tokens 200 is reached")
    assert last.endswith(again)
    assert result["resume"].endswith(again)
    assert again in page
    assert "the same command with" in summary


def test_the_python_result_counts_and_decides_as_the_command_does(duologue: Any, tmp_path: Path) -> None:
    model = __import__("verdict_agent").model
    conduct = {"conduct": package.runs.Conduct(max_run_tokens=200), "concurrency": 1, "repeats": 3}
    _, plain, _ = duologue(*arguments("model", *BOUND, "--json"))
    command = json.loads(plain)
    for out in (None, tmp_path / "python"):
        result = package.test(model, SCENARIOS, out=out, **conduct)
        assert {name: getattr(result, name) for name in COUNTS} == {name: command[name] for name in COUNTS}
        assert (result.passed, list(result.not_passed_because)) == (False, command["not_passed_because"])
        assert [row.not_begun for row in result.scenarios] == [row["not_begun"] for row in command["scenarios"]]
        assert repr(result).startswith("<not passed (")
        assert f"{result.not_begun} not begun" in repr(result)
        assert ("resume=True" in result.resume) is (out is not None)
        assert ("resume=True" in result._repr_html_()) is (out is not None)


def test_bounds_decide_in_python_too() -> None:
    goals = [{"goal": "a", "success": SUCCESS}, {"goal": "b", "success": {"text_contains": "a refund"}}]
    verdicts = [
        package.test(lambda messages: "It is booked.", goals, **bound)
        for bound in ({"threshold": 0.5}, {"threshold": 0.51}, {"at_least": 0.4}, {})
    ]
    assert [result.passed for result in verdicts] == [True, False, False, True]
    assert verdicts[1].not_passed_because == ("the share is below the threshold 0.51",)
    assert "no threshold is set, so any share passes" in repr(verdicts[3])


def test_a_scenario_that_was_not_begun_has_a_row_and_is_the_infrastructures_fault(duologue) -> None:
    _, out, _ = duologue(*arguments("model", *BOUND, "--summary", "summary.md", "--no-page"))
    assert re.search(r"^book the +0 +0 .*3", out, re.M)  # the title goes on in the next line
    assert "| book the other | 0 | 0 |" in Path("summary.md").read_text()
    faults = re.search(
        r"^whose fault: infrastructure (\d+) \(of these (?:\d+ cut short, )?(\d+) not begun\)$", out, re.M
    )
    assert faults is not None, out
    assert int(faults[1]) >= int(faults[2]) >= 3


def test_the_decision_is_one_plain_sentence(duologue) -> None:
    _, out, _ = duologue(*arguments("agent", "--threshold", 0.9))
    assert "threshold 0.9: the share of successes, 1, is not below it" in out.splitlines()
    assert "all conversations" not in out


@pytest.mark.parametrize("bound", [(), ("--threshold", 0.5), ("--at-least", 0.05)])
@pytest.mark.parametrize(
    ("agent", "end"), [("slow", "a turn took longer than 0.1 s"), ("graph", "it stopped for a person")]
)
def test_a_test_whose_agent_never_answers_to_the_end_does_not_pass(duologue, agent, end, bound) -> None:
    more = ("--turn-timeout", "0.1s" if agent == "slow" else "10m", "--json", "--junit", "junit.xml", *bound)
    code, plain, err = duologue(*arguments(agent, *more, scenarios="never.jsonl"))
    result = json.loads(plain)
    assert (code, result["passed"], result["success"]["value"], result["answered"]) == (1, False, 1, 0)
    assert result["unanswered_successes"] == result["timed_out"] + result["interrupted"] == 2
    assert f"answered 0 %: in 2 of 2 conversations the agent did not answer to the end: {end} in 2" in err
    doubt = "in 2 of 2 successes the agent did not answer to the end: read one"
    assert doubt in err
    assert f"<system-out>{doubt}" in Path("junit.xml").read_text()


@pytest.mark.parametrize(
    ("agent", "end"), [("slow", "a turn of the agent took too long"), ("graph", "the agent stopped for a person")]
)
def test_junit_names_how_a_failed_conversation_ended(duologue, agent, end) -> None:
    duologue(*arguments(agent, "--turn-timeout", "0.1s", "--junit", "junit.xml", "--no-page"))
    messages = [failure.get("message") for failure in suite_of("junit.xml").iter("failure")]
    assert len(messages) == 2
    assert all(message.endswith(f"; {end}") for message in messages)


def test_a_timeout_is_no_rejection_by_a_validator(duologue) -> None:
    duologue(*arguments("slow", "--turn-timeout", "0.1s"))
    page = Path("run/page.html").read_text()
    assert "rejected for</dt>" not in page
    assert [one.unsaid[-1].attempts[-1].verdict for one in package.load("run")] == ["unjudged"] * 2


def test_an_equal_scenario_is_a_repeat_with_a_test_case_of_its_own(duologue) -> None:
    Path("scenarios.jsonl").write_text(2 * Path("scenarios.jsonl").read_text())
    duologue(*arguments("agent", "--repeats", 2, "--junit", "junit.xml", "--no-page"))
    names = [str(case.get("name")) for case in suite_of("junit.xml").iter("testcase")]
    titles = ("1. book a table", "2. book the other")
    assert sorted(names) == [f"{title} [repeat {n}]" for title in titles for n in (1, 2, 3, 4)]


def test_a_scorer_that_raises_is_reported_and_a_resumed_run_scores_again(duologue) -> None:
    command = ("test", "verdict_agent:scored", "--scenarios", "goals.jsonl", "--out", "run", "--junit", "junit.xml")
    code, out, err = duologue(*command)
    assert (code, Path("run/page.html").is_file()) == (1, True), err
    assert out.startswith(
        "not passed (2 conversations have no score): 2 conversations planned: 0 scored, 2 without a score"
    )
    assert "the score 'success' failed: KeyError: 'seat' (verdict_agent.py, line" in err
    assert "        at verdict_agent.py:" in err
    assert err.splitlines()[-1] == "2 could not be scored; mend it, then run the same command with another --out"
    errors = [error.get("message") for error in suite_of("junit.xml").iter("error")]
    assert len(errors) == 2
    assert all("KeyError: 'seat' (verdict_agent.py, line" in str(message) for message in errors)
    calls = Path("calls").read_text()
    Path("mended").touch()
    code, out, err = duologue(*command, "--resume")
    assert (code, Path("calls").read_text()) == (0, calls), err
    assert "2 of 2 scored conversations succeeded" in out
    source = Path("verdict_agent.py").read_text()
    Path("verdict_agent.py").write_text(source.replace('KeyError("seat")', 'KeyError("bed")'))
    sys.modules.pop("verdict_agent")
    code, _, err = duologue(*command, "--resume")
    line = (
        "the source of score (nodes.closing.scorers.success) has changed since its run began: resume with the same code"
    )
    assert (code, line in err) == (2, True), err
    assert not list(suite_of("junit.xml").iter("error"))


def test_a_scorer_that_gives_no_score_is_reported_with_what_to_do(duologue) -> None:
    code, out, err = duologue("test", "verdict_agent:unscored", "--scenarios", "goals.jsonl", "--out", "run")
    assert (code, "no scorer gave one" in out, "no score: give the cast one (closing=" in err) == (1, True, True)
    assert "continue: " not in err


@pytest.mark.parametrize(
    ("command", "advice"),
    [
        (
            ("--assistant", "verdict_agent:graph"),
            "--approve all|none|ask-user|MODULE:NAME (in Python approve=...) answers",
        ),
        (("--assistant", "verdict_agent:bare"), "answers an agent that stops for an approval\n"),
        (("verdict_agent:own",), "AgentSpeaker(AGENT, approve=...) in the cast, as --approve where"),
    ],
)
def test_an_approval_stop_names_the_option_that_answers_it(duologue, command, advice) -> None:
    _, _, err = duologue("test", *command, "--scenarios", "goals.jsonl", "--out", "run", "--summary", "summary.md")
    assert advice in err
    assert "approve" in Path("run/page.html").read_text()
    assert "approve" in Path("summary.md").read_text()


def test_advice_is_what_this_cast_takes_and_none_while_observing(duologue) -> None:
    command = ("test", "verdict_agent:guarded", "--scenarios", "goals.jsonl", "--max-turns", 1, "--no-page")
    _, _, err = duologue(*command, "--out", "run")
    assert "when_rejected" not in err  # which this cast refuses
    assert "`must=True` of a validator ends a conversation" in err
    assert "Observing(VALIDATOR)" in err
    _, out, err = duologue(*command, "--out", "observed", "--set", "observe=true")
    assert "were sent although a validator rejected them" in out
    assert "Observing" not in err
    assert "must=True" not in err


package = duologue
