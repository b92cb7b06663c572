"""`duologue test` and `duologue.test` give one verdict, and terminal, JSON, JUnit, Markdown and page agree on it."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import duologue
from duologue.cli.testing.report_files import ReportFiles

AGENTS = """
import asyncio
import io
import os
import shutil
import sys
from pathlib import Path

from langgraph.checkpoint.memory import MemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import interrupt

from duologue import graphs, nodes
from duologue.testing import scripted_model

model = scripted_model("Done: it is booked.", tokens=(30, 10))


def agent(messages):
    with Path(__file__).with_name("calls").open("a") as calls:
        calls.write("x")
    return "Done: it is booked."


def wanders(messages):
    os.chdir("/")
    return agent(messages)


def redirects(messages):
    sys.stdout, sys.stderr = io.StringIO(), io.StringIO()
    return "Done: it is booked."


def spoils(messages):
    shutil.rmtree("reports", ignore_errors=True)
    Path("reports").touch()
    return "Done: it is booked."


async def slow(messages):
    await asyncio.sleep(60)


async def blocks(messages):
    if "other" in str(messages):
        Path("called").touch()
        while True:
            pass
    return "Done: it is booked."


def asks(state):
    interrupt({"question": "May I book?"})


asking = StateGraph(MessagesState).add_node("asks", asks).add_edge(START, "asks")
graph, bare = asking.compile(checkpointer=MemorySaver()), asking.compile()


def asking_function(messages):
    return bare.invoke({"messages": messages})


def score(state):
    if not Path("mended").exists():
        raise KeyError("seat")
    return True


def scored():
    return graphs.agent_test.cast(assistant="verdict_agent:agent").replace(closing=nodes.scoring(success=score))


def unscored():
    return scored().replace(closing=nodes.scoring(success=lambda state: None))


def own(agent: str = "verdict_agent:graph"):
    return graphs.agent_test.cast(assistant=agent)


def secret(draft, state):
    return {"accepted": False, "reason": "secret", "repair": "No."}


def guarded(observe: bool = False):
    guard = nodes.validator(secret)
    return own("verdict_agent:agent").replace(answer_validator=nodes.Observing(guard) if observe else guard)
"""
SUCCESS = {"text_contains": "booked"}
SCENARIOS = [{"goal": goal, "facts": "For two.", "success": SUCCESS} for goal in ("book a table", "book the other")]
NEVER = {"not": {"text_contains": "never"}}


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


def arguments(agent: str, *more: object, scenarios: str = "scenarios.jsonl") -> tuple[object, ...]:
    return ("test", "--assistant", f"verdict_agent:{agent}", "--scenarios", scenarios, "--out", "run", *more)


def suite_of(file: str) -> ElementTree.Element:
    (suite,) = ElementTree.parse(file).getroot()
    return suite


def property_of(suite: ElementTree.Element, name: str) -> str | None:
    return next((one.get("value") for one in suite.iter("property") if one.get("name") == name), None)


BOUND = ("--repeats", 3, "--concurrency", 1, "--max-run-tokens", 200)
COUNTS = ("planned", "scored", "cut_short", "not_begun", "missing", "unscored", "answered", "successes")


def test_every_form_of_the_result_begins_with_the_verdict_and_ends_with_how_to_resume(duologue) -> None:
    reports = ("--junit", "junit.xml", "--summary", "summary.md")
    code, out, err = duologue(*arguments("model", *BOUND, *reports))
    verdict = out.splitlines()[0]
    page, summary = Path("run/page.html").read_text(), Path("summary.md").read_text()
    code_of_json, plain, _ = duologue(*arguments("model", *BOUND, "--resume", "--json"))
    result = json.loads(plain)
    planned, scored, cut_short, not_begun = [result[name] for name in COUNTS[:4]]
    assert (code, code_of_json, planned, result["passed"]) == (1, 1, 6, False)
    assert not_begun == result["missing"] == 6 - scored - cut_short > 0
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
    assert "nodes.Observing(VALIDATOR)" in err
    _, out, err = duologue(*command, "--out", "observed", "--set", "observe=true")
    assert "were sent although a validator rejected them" in out
    assert "Observing" not in err
    assert "must=True" not in err


def test_an_agent_that_changes_the_working_folder_moves_no_file_of_the_run(duologue, tmp_path: Path) -> None:
    code, out, err = duologue(*arguments("wanders", "--junit", "junit.xml"))
    assert (code, Path.cwd(), Path("run/page.html").is_file()) == (0, tmp_path, True), err
    assert "2 of 2 scored conversations succeeded" in out
    assert property_of(suite_of("junit.xml"), "verdict") == out.splitlines()[0]


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_an_agent_that_redirects_the_output_takes_no_line_of_the_result(duologue, more: tuple[str, ...]) -> None:
    code, out, err = duologue(*arguments("redirects", *more))
    assert (code, "duologue show run --id ID" in err or "passed" in err) == (0, True)
    assert json.loads(out)["passed"] if more else out.startswith("passed")


def test_a_report_that_cannot_be_written_takes_no_other_one_with_it(duologue) -> None:
    Path("reports").mkdir()
    command = arguments("spoils", "--junit", "reports/junit.xml", "--summary", "summary.md")
    code, out, err = duologue(*command)
    assert (code, out.splitlines()[0].startswith("passed")) == (2, True)
    assert err.splitlines()[-1].startswith("duologue: reports/junit.xml: cannot be written (")
    assert err.splitlines()[-1].endswith("; then the same command with --out run --resume writes it")
    assert "**passed" in Path("summary.md").read_text()
    Path("reports").unlink()
    code, _, _ = duologue(*command, "--resume")
    assert (code, suite_of("reports/junit.xml").get("tests")) == (0, "2")


def test_ctrl_c_while_reports_are_written_leaves_the_line_that_resumes(duologue, monkeypatch) -> None:
    def pressed(*values: Any, **more: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(ReportFiles, "write", pressed)
    code, _, err = duologue(*arguments("agent"))
    line = "interrupted while the reports were written; continue: the same command with --out run --resume"
    assert (code, err.splitlines()[-1]) == (130, line)


def blocked(tmp_path: Path, *more: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "duologue.cli", *map(str, arguments("blocks", "--concurrency", 1)), *more]
    return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=900)


def killed(tmp_path: Path, number: int, *more: str) -> subprocess.CompletedProcess[str]:
    """The same, and the process gets a signal once the agent blocks it."""
    command = [sys.executable, "-m", "duologue.cli", *map(str, arguments("blocks", "--concurrency", 1)), *more]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=tmp_path, stdout=pipe, stderr=pipe, text=True) as process:
        while not Path("called").exists():
            assert process.poll() is None
            os.sched_yield()
        process.send_signal(number)
        out, err = process.communicate(timeout=900)
    return subprocess.CompletedProcess(command, process.returncode, out, err)


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("number", "code", "end"),
    [(None, 1, "the end of --max-time"), (signal.SIGINT, 130, "Ctrl-C"), (signal.SIGTERM, 143, "SIGTERM")],
)
def test_a_run_that_an_agent_blocks_leaves_reports_that_say_so(
    tmp_path: Path, number: int | None, code: int, end: str
) -> None:
    Path("junit.xml").write_text("<old/>")
    more = ("--json", "--junit", "junit.xml", "--summary", "summary.md")
    done = blocked(tmp_path, "--max-time", "3s", *more) if number is None else killed(tmp_path, number, *more)
    result = json.loads(done.stdout)
    assert (done.returncode, result["passed"], result["planned"]) == (code, False, 2), done.stderr
    suite = suite_of("junit.xml")
    assert suite.get("errors") == str(result["not_begun"])
    row = 1 + AGENTS.splitlines().index("        while True:")
    place = rf"code of yours \(verdict_agent.py, line ({row}|{row + 1})\)"
    blocked_it = f"{place} blocked the process, which {end} ended"
    line = rf"it has no record: it was not begun, or was under way when the process ended: {blocked_it}"
    assert all(re.fullmatch(line, str(error.get("message"))) for error in suite.iter("error"))
    summary = Path("summary.md").read_text().replace("\\", "")
    for text in (summary, Path("run/page.html").read_text(), result["not_passed_because"][0]):
        assert re.search(blocked_it, text), text
    assert re.search(r"^code of yours \(verdict_agent.py, line .* blocks the event loop", done.stderr, re.M)
    last = done.stderr.splitlines()[-1]
    assert last.endswith("conversations are not finished; continue: the same command with --out run --resume")
    assert result["resume"] == last


@pytest.mark.heavy
def test_a_run_that_is_killed_leaves_no_report_of_an_earlier_one(tmp_path: Path) -> None:
    assert blocked(tmp_path, "--limit", "1", "--junit", "junit.xml", "--summary", "summary.md").returncode == 0
    assert suite_of("junit.xml").get("errors") == "0"
    more = ("--junit", "junit.xml", "--summary", "summary.md", "--resume")
    command = [sys.executable, "-m", "duologue.cli", *map(str, arguments("blocks", "--concurrency", 1)), *more]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not Path("called").exists():
        assert process.poll() is None
        os.sched_yield()
    process.kill()
    process.wait()
    line = "the test did not end: continue: the same command with --out run --resume"
    assert [error.get("message") for error in suite_of("junit.xml").iter("error")] == [line]
    assert "not passed" in Path("summary.md").read_text()
    assert not Path("run/page.html").exists()


package = duologue
