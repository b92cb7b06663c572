"""The messages of the page on troubleshooting are those that the command prints."""

import json
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tree import ROOT

PAGE = (ROOT / "docs/start/troubleshooting.md").read_text(encoding="utf-8")
AGENT = """
def agent(messages):
    return "Done."


def broken(messages):
    return 1 / 0


def two(a, b):
    return "no agent"
"""
TEST = "test --scenarios scenarios.jsonl --assistant"
COMMANDS = (
    "simulate simquac --user offline --asistant offline",
    "simulate simqac",
    "simulate simquac --user openai:NAME",
    "simulate simquac --user opena:NAME",
    f"{TEST} my_agnt:agent",
    f"{TEST} my_agent:agnt",
    f"{TEST} my_agent:two",
    f"{TEST} my_agent:broken --out out/broken",
    "test --assistant my_agent:agent --scenarios typo.jsonl",
    "test --assistant my_agent:agent --scenarios broken.jsonl",
    f"{TEST} my_agent:agent --out out/mine",
    f"{TEST} my_agent:agent --out out/mine --max-turns 3",
    "show no.jsonl",
    "show notes.txt",
    "check torn.jsonl",
    "simulate simquac --topics empty.md",
    "convert logs.jsonl x.json --to simquac",
    "annotate logs.jsonl --labels mood --model builtins:len --out labelled",
    "label logs.jsonl --labels mood",
    "agreement logs.jsonl --between a,b",
)
ELSEWHERE = {
    '... is not installed: pip install "duologue[...]"',
    "... (tried for ... s, patience is ... s); see to it, and run again",
}
"""Messages that other tests see: about packages that are missing, and endpoints that are down."""


def messages() -> list[str]:
    """The messages of the page's tables."""
    return re.findall(r"^\| `([^`]+)` \|", PAGE, re.MULTILINE)


def expression(message: str) -> re.Pattern[str]:
    return re.compile(r".*?".join(map(re.escape, message.split("..."))))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A working folder with an agent, scenarios, logs, and what is wrong with others."""
    sys.modules.pop("my_agent", None)  # other tests have modules of this name
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    Path("my_agent.py").write_text(AGENT)
    scenario = {"goal": "move my flight", "success": {"text_contains": "Done"}}
    Path("scenarios.jsonl").write_text(json.dumps(scenario) + "\n")
    Path("typo.jsonl").write_text('{"goal": "x", "succes": {}}\n')
    Path("broken.jsonl").write_text('{"goal": "x"\n')
    Path("notes.txt").write_text("Hello")
    Path("empty.md").write_text("# A\n")
    Path("logs.jsonl").write_text((ROOT / "examples/logs/bakery.jsonl").read_text(encoding="utf-8"))
    Path("torn.jsonl").write_text('{"role": "user", "content": "Hello"}\n' * 6 + "{\n")
    yield
    sys.modules.pop("my_agent", None)


def test_each_message_of_the_page_is_one_that_a_command_prints(folder, duologue):
    printed = "".join("".join(duologue(*shlex.split(command))[1:]) for command in (*COMMANDS[:11], *COMMANDS[10:]))
    assert len(messages()) >= 20
    assert {message for message in messages() if expression(message).search(printed) is None} == ELSEWHERE
