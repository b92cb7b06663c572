"""The example of a job and of a hook is what docs/test/ci.md shows, and the hook checks what a commit changes."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "ci"
JOB, _, HOOK = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs/test/ci.md").read_text(), re.S)
MANIFEST = ROOT / ".pre-commit-hooks.yaml"


def test_its_files_are_those_of_the_page() -> None:
    page = (ROOT / "docs/start/agent.md").read_text()
    assert (EXAMPLE / "agent.yml").read_text() == JOB
    assert (EXAMPLE / ".pre-commit-config.yaml").read_text() == HOOK
    for language, name in (("python", "my_agent.py"), ("json", "scenarios.jsonl")):
        [block] = re.findall(rf"```{language}\n(.*?)```", page, re.S)[:1]
        assert (EXAMPLE / name).read_text().rstrip() == block.rstrip()


def test_the_hook_of_this_repository_is_that_of_the_example() -> None:
    [hook] = yaml.safe_load(MANIFEST.read_text())
    [[local]] = [repo["hooks"] for repo in yaml.safe_load(HOOK)["repos"]]
    common = {key: hook[key] for key in ("id", "name", "entry", "language", "require_serial")}
    assert local == {**common, "additional_dependencies": ["duologue"], "files": r"^logs/.*\.jsonl$"}
    assert re.search(hook["files"], "logs/monday.jsonl")


def test_several_files_are_checked_each_with_its_name(forks: Any, tmp_path: Path) -> None:
    bad = {"id": "b", "messages": [{"role": "user", "content": "Hello?"}, {"role": "assistant", "content": ""}]}
    (tmp_path / "bad.jsonl").write_text(json.dumps(bad) + "\n")
    shutil.copy(EXAMPLE / "logs/monday.jsonl", tmp_path)
    done = forks.run("check", "monday.jsonl", "bad.jsonl", cwd=tmp_path)
    assert done.returncode == 1
    first, second = done.stdout.split("bad.jsonl:\n")
    assert first.startswith("monday.jsonl:\nno finding in 2 conversations")
    assert second.startswith("b assistant 1: empty")
    reports = json.loads(forks.run("check", "monday.jsonl", "bad.jsonl", "--json", cwd=tmp_path).stdout)
    assert [report["rules"]["empty"]["findings"] for report in reports] == [0, 1]


@pytest.mark.heavy
def test_pre_commit_itself_reads_the_manifest_and_runs_the_hook(tmp_path: Path) -> None:
    clientlib = pytest.importorskip("pre_commit.clientlib")
    clientlib.load_manifest(str(MANIFEST))
    [hook] = yaml.safe_load(MANIFEST.read_text())
    program = tmp_path / "bin" / "duologue"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m duologue.cli "$@"\n')
    program.chmod(0o755)
    repository = tmp_path / "repository"
    shutil.copytree(EXAMPLE / "logs", repository / "logs")
    # An environment of its own would be installed from an index.
    config = {"repos": [{"repo": "local", "hooks": [{**hook, "language": "system"}]}]}
    (repository / ".pre-commit-config.yaml").write_text(json.dumps(config))
    environment = {**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}", "HOME": str(tmp_path)}

    def ran(*command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, cwd=repository, env=environment, capture_output=True, text=True, check=False)

    hooks = (sys.executable, "-m", "pre_commit", "run", "--all-files")
    assert ran("git", "init", "--quiet").returncode == 0
    ran("git", "add", ".")
    done = ran(*hooks)
    assert (done.returncode, "Passed" in done.stdout) == (0, True), done.stdout
    with (repository / "logs/monday.jsonl").open("a") as file:
        file.write(
            '{"id": "b", "messages": [{"role": "user", "content": "Hello?"}, {"role": "assistant", "content": ""}]}\n'
        )
    ran("git", "add", ".")
    done = ran(*hooks)
    assert done.returncode == 1
    assert "b assistant 1: empty" in done.stdout
