"""Disturbances of a test: an agent, a person or a full folder in its way takes no report and no line of it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from duologue.cli.testing.report_files import ReportFiles
from tests.cli.testing.verdicts.verdict_agents import arguments, property_of, suite_of


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
    assert err.splitlines()[-1].endswith("; then the same command with --out run writes it")
    assert "**passed" in Path("summary.md").read_text()
    Path("reports").unlink()
    code, _, _ = duologue(*command)
    assert (code, suite_of("reports/junit.xml").get("tests")) == (0, "2")


def test_ctrl_c_while_reports_are_written_leaves_the_line_that_resumes(duologue, monkeypatch) -> None:
    def pressed(*values: Any, **more: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(ReportFiles, "write", pressed)
    code, _, err = duologue(*arguments("agent"))
    line = "interrupted while the reports were written; continue: the same command with --out run"
    assert (code, err.splitlines()[-1]) == (130, line)


@pytest.mark.heavy
def test_a_run_that_is_killed_leaves_no_report_of_an_earlier_one(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "duologue.cli", *map(str, arguments("blocks", "--concurrency", 1))]
    first = (*command, "--limit", "1", "--junit", "junit.xml", "--summary", "summary.md")
    assert subprocess.run(first, cwd=tmp_path, capture_output=True, check=False, timeout=900).returncode == 0
    assert suite_of("junit.xml").get("errors") == "0"
    more = ("--junit", "junit.xml", "--summary", "summary.md")
    process = subprocess.Popen([*command, *more], cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not Path("called").exists():
        assert process.poll() is None
        os.sched_yield()
    process.kill()
    process.wait()
    line = "the test did not end: continue: the same command with --out run"
    assert [error.get("message") for error in suite_of("junit.xml").iter("error")] == [line]
    assert "not passed" in Path("summary.md").read_text()
    assert not Path("run/page.html").exists()
