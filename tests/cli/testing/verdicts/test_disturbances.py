"""Disturbances of a test: an agent, a person or a full folder in its way takes no report and no line of it."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from duologue.cli.testing.report_files import ReportFiles
from tests.cli.testing.verdicts.verdict_agents import AGENTS, arguments, property_of, suite_of


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
