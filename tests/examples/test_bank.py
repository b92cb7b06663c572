"""The example of a whole domain: its README's commands do what it says."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from duologue.data import load

ROOT = Path(__file__).parents[2]
README = (ROOT / "examples" / "bank" / "README.md").read_text(encoding="utf-8")
TEST, LIMIT, CHECK, CONVERT = re.findall(r"^    duologue (.*)$", README, re.MULTILINE)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the example to stand in."""
    ignored = shutil.ignore_patterns("__pycache__", "out")
    copy = Path(shutil.copytree(ROOT / "examples" / "bank", tmp_path / "bank", ignore=ignored))
    monkeypatch.chdir(copy)
    return copy


def test_it_is_of_150_lines_at_most() -> None:
    assert len((ROOT / "examples" / "bank" / "bank.py").read_text(encoding="utf-8").splitlines()) <= 150


@pytest.mark.heavy
def test_every_conversation_succeeds_and_a_rejected_draft_has_moved_no_money(forks: Any, folder: Path) -> None:
    done = forks.run(*TEST.split(), "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert f"{result['successes']} of {result['scored']} conversations succeed" in README
    assert f"`at first draft` is {result['first_draft']['value']:.2f}" in README
    conversations = list(load("out/bank"))
    rejected = [talk for talk in conversations if any(message.rejected for message in talk.messages)]
    assert f"in {len(rejected)} of them the validator rejected a draft" in README
    assert {draft.reason for talk in rejected for message in talk.messages for draft in message.rejected} == {
        "account_number"
    }
    moved = [draft for talk in rejected for draft in talk.attempts("assistant") if draft.tool_calls]
    assert [draft.verdict for draft in moved[:2]] == ["rejected", "accepted"]
    back = forks.run(*CONVERT.split(), cwd=folder)
    assert back.returncode == 0, back.stderr
    texts = [[message.text for message in talk.messages] for talk in conversations]
    assert (folder / "desk.log").read_text().count("customer: ") == sum(
        message.role == "user" for talk in conversations for message in talk.messages
    )
    assert all(text in (folder / "desk.log").read_text() for some in texts for text in some)
    assert forks.run("--domain", "bank:DOMAIN", "check", "desk.log", cwd=folder).returncode == 0


@pytest.mark.heavy
def test_a_limit_that_is_wrong_on_purpose_is_found(forks: Any, folder: Path) -> None:
    done = forks.run(*LIMIT.split(), "--json", cwd=folder)
    assert done.returncode == 1, done.stderr
    result = json.loads(done.stdout)
    assert f"{result['successes']} of {result['scored']}:" in README
    assert [failure["scenario"] for failure in result["failures"]] == ["Send 2500 euros to 88990011"]


def test_its_rule_reads_a_log_of_its_own_format(forks: Any, folder: Path) -> None:
    done = forks.run(*CHECK.split(), cwd=folder)
    assert done.returncode == 1, done.stderr
    assert "1 assistant 1: bank-account: a whole account number: 20030040" in done.stdout + done.stderr
    plain = forks.run("check", "monday.log", cwd=folder)
    assert (plain.returncode, "is not in a known format" in plain.stderr) == (2, True)
