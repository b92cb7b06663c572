"""Commands inside sentences of README and docs are whole: a command that exists, with arguments and options that it takes."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer

from duologue.cli import app
from tests.tree import ROOT

FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`(duologue [a-z][^`\n]*)`")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def problem(line: str) -> str:
    """Why a command cannot be parsed; empty if it can. An option at the end may lack its value: it names the option."""
    words = shlex.split(re.split(r" (?:2?>|\|) ?", line)[0])[1:]
    command: Any = typer.main.get_command(app)
    context = typer.Context(command, info_name="duologue")
    while words and hasattr(command, "list_commands"):
        found = command.get_command(context, words[0])
        if found is None:
            return f"has no command {words[0]}"
        command, context = found, typer.Context(found, info_name=words.pop(0), parent=context)
    if hasattr(command, "list_commands"):
        return ""
    reason = ""
    for shown in (words, [*words, "VALUE"]):
        try:
            _, left, _ = command.make_parser(context).parse_args(list(shown))
        except Exception as error:  # typer brings a click of its own, whose errors have no public name
            reason = str(error)
        else:
            return f"takes no {left}" if left else ""
    return reason


def commands(page: Path) -> list[str]:
    return INLINE.findall(FENCED.sub("", page.read_text(encoding="utf-8")))


def test_commands_inside_sentences_can_be_parsed() -> None:
    wrong = {(page.relative_to(ROOT).as_posix(), line): problem(line) for page in PAGES for line in commands(page)}
    assert {place: reason for place, reason in wrong.items() if reason} == {}
    assert len(wrong) > 50


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("duologue compare --part", ""),
        ("duologue compare SIM PEOPLE --out DIR", ""),
        ("duologue compere SIM PEOPLE", "has no command compere"),
        ("duologue compare SIM --aut DIR", "No such option: --aut"),
        ("duologue demo twice", "takes no ['twice']"),
    ],
)
def test_what_is_found_in_a_command(line: str, reason: str) -> None:
    assert problem(line).startswith(reason)
    assert bool(problem(line)) == bool(reason)
