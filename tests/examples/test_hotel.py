"""The example of a whole domain: its README's commands do what it says."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

import duologue
from duologue import data
from duologue.data import load

WORDS = ["A room for two nights, please."] * 8 + ["A room, please."] * 8


def said(words: str) -> tuple[data.Message, ...]:
    """A conversation of one message."""
    return (data.Message(role="user", text=words),)


ROOT = Path(__file__).parents[2]
README = (ROOT / "examples" / "hotel" / "README.md").read_text(encoding="utf-8")
TEST, LIMIT, CHECK, CONVERT = re.findall(r"^    duologue (.*)$", README, re.MULTILINE)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the example to stand in."""
    ignored = shutil.ignore_patterns("__pycache__", "out")
    copy = Path(shutil.copytree(ROOT / "examples" / "hotel", tmp_path / "hotel", ignore=ignored))
    monkeypatch.chdir(copy)
    return copy


@pytest.mark.heavy
def test_every_conversation_succeeds_and_a_rejected_draft_has_booked_no_room(forks: Any, folder: Path) -> None:
    done = forks.run(*TEST.split(), "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert f"{result['successes']} of {result['scored']} conversations succeed" in README
    conversations = list(load("out/hotel"))
    rejected = [talk for talk in conversations if any(message.rejected for message in talk.messages)]
    assert f"in {len(rejected)} of them the validator rejected a draft" in README
    assert {draft.reason for talk in rejected for message in talk.messages for draft in message.rejected} == {
        "card_number"
    }
    booked = [draft for talk in rejected for draft in talk.attempts("assistant") if draft.tool_calls]
    assert [draft.verdict for draft in booked[:2]] == ["rejected", "accepted"]
    back = forks.run(*CONVERT.split(), cwd=folder)
    assert back.returncode == 0, back.stderr
    texts = [[message.text for message in talk.messages] for talk in conversations]
    assert (folder / "desk.log").read_text().count("guest: ") == sum(
        message.role == "user" for talk in conversations for message in talk.messages
    )
    assert all(text in (folder / "desk.log").read_text() for some in texts for text in some)
    assert forks.run("--domain", "hotel:DOMAIN", "check", "desk.log", cwd=folder).returncode == 0


@pytest.mark.heavy
def test_a_bound_that_is_wrong_on_purpose_is_found(forks: Any, folder: Path) -> None:
    done = forks.run(*LIMIT.split(), "--json", cwd=folder)
    assert done.returncode == 1, done.stderr
    result = json.loads(done.stdout)
    assert f"{result['successes']} of {result['scored']}:" in README
    assert [failure["scenario"] for failure in result["failures"]] == ["Book a double room for 40 nights"]


def test_its_rule_reads_a_log_of_its_own_format(forks: Any, folder: Path) -> None:
    done = forks.run(*CHECK.split(), cwd=folder)
    assert done.returncode == 1, done.stderr
    assert "1 assistant 1: hotel-card: a whole card number: 20030040" in done.stdout + done.stderr
    plain = forks.run("check", "monday.log", cwd=folder)
    assert (plain.returncode, "is not in a known format" in plain.stderr) == (2, True)


def test_its_measure_counts_messages_with_a_number_of_nights(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(folder))
    measure = __import__("hotel").NIGHTS
    people = [
        data.Conversation(id=str(number), scenario={"user": str(number)}, messages=said(words))
        for number, words in enumerate(WORDS)
    ]
    report = duologue.compare(people[:8], people[8:], measures=[measure])
    assert next(row for row in report.rows if row.name == "nights named").effect.value == 1
