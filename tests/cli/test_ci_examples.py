"""The jobs of docs/test/ci.md, their commands run as the shell of a CI system runs them."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement

DOCS = Path(__file__).parents[2] / "docs"


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (DOCS / page).read_text(), re.S)


def commands() -> dict[str, list[str]]:
    github, gitlab, _ = (yaml.safe_load(block) for block in blocks("test/ci.md", "yaml"))
    steps: list[dict[str, Any]] = github["jobs"]["agent"]["steps"]
    return {"github": [step["run"] for step in steps if "run" in step], "gitlab": gitlab["agent"]["script"]}


def test_the_jobs_install_this_package_with_extras_that_it_has_and_call_its_command() -> None:
    project = tomllib.loads((DOCS.parent / "pyproject.toml").read_text())["project"]
    for system, lines in commands().items():
        installed = [line.removeprefix("pip install ").split() for line in lines if line.startswith("pip install ")]
        requirements = [Requirement(text.strip("'\"")) for texts in installed for text in texts]
        assert project["name"] in [requirement.name for requirement in requirements], system
        for requirement in requirements:
            assert requirement.name != project["name"] or requirement.extras <= project["optional-dependencies"].keys()
        called = [line for line in lines if not line.startswith("pip ")]
        assert called, system
        assert {line.split()[0] for line in called} <= project["scripts"].keys()


@pytest.mark.heavy
@pytest.mark.parametrize("system", ["github", "gitlab"])
def test_the_commands_of_a_job_run_as_shell_and_leave_its_reports(system: str, tmp_path: Path) -> None:
    (tmp_path / "my_agent.py").write_text(blocks("test/testing.md", "python")[0])
    (tmp_path / "scenarios.jsonl").write_text(blocks("test/testing.md", "json")[0])
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, line in (("pip", "exit 0"), ("duologue", f'exec {sys.executable} -m duologue.cli "$@"')):
        (programs / name).write_text(f"#!/bin/sh\n{line}\n")
        (programs / name).chmod(0o755)
    summary = tmp_path / "steps.md"
    environment = {"PATH": f"{programs}:/usr/bin:/bin", "HOME": str(tmp_path), "GITHUB_STEP_SUMMARY": str(summary)}
    environment |= {key: os.environ[key] for key in ("LANG", "TMPDIR", "PYTHONPATH") if key in os.environ}
    if system == "github":
        summary.write_text("# earlier\n")
    for command in commands()[system]:
        done = subprocess.run(
            ["bash", "-e", "-c", command], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
    text = (summary if system == "github" else tmp_path / "out/summary.md").read_text()
    assert "**passed: 12 conversations planned, 12 scored**" in text
    assert "\n8 of 12 scored conversations succeeded: 0.67" in text
    assert text.startswith("# earlier\n## " if system == "github" else "## ")
    address = re.findall(r"\]\((page\.html)#[\w/]+\)", text)[0]
    assert (tmp_path / "out/agent" / address).is_file()
    assert 'tests="12" failures="4"' in (tmp_path / "out/junit.xml").read_text()
