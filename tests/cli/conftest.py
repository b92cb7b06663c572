"""The command, called as a shell would."""

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from duologue.cli import main

Command = Callable[..., tuple[int, str, str]]
TALKS: list[dict[str, Any]] = [
    {
        "id": f"t{number}",
        "user": name,
        "topic": topic,
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": text},
            {"role": "assistant", "content": "An answer that must not be taken."},
        ],
    }
    for number, (name, topic, text) in enumerate(
        [("ann", "tea", "How long does <title>green tea</title> steep?"), ("bea", "rye", "Why is my bread flat?"),
         ("cay", "tea", "Is black tea stronger?"), ("dot", "jam", "When is jam done?")]
    )
]  # fmt: skip


@pytest.fixture
def duologue(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    """Exit code, stdout and stderr of `duologue ...`."""

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["duologue", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        output = capsys.readouterr()
        code = ended.value.code
        return (code if isinstance(code, int) else 0 if code is None else 1), output.out, output.err

    return run


@pytest.fixture
def talks() -> list[dict[str, Any]]:
    """Conversations of a log, each of another user."""
    return TALKS


@pytest.fixture
def logs(talks: list[dict[str, Any]]) -> Path:
    """A file with a conversation of `talks` in each line."""
    path = Path("logs.jsonl")
    path.write_text("".join(json.dumps(talk) + "\n" for talk in talks))
    return path


@pytest.fixture
def some_people(open_data: Path, tmp_path: Path) -> Path:
    """Eleven conversations of three people of the newer study, in both halves."""
    for user in ("User_2", "User_5", "User_8"):
        shutil.copytree(open_data / "recllmsim" / "human_exp_V2" / user, tmp_path / "people" / user)
    return tmp_path / "people"
