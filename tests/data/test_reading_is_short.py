"""How much of the package runs, and how often a file is opened, to read two lines of messages."""

import builtins
import io
import json
import sys
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

import duologue
from duologue.data import DataError, load

LINE = json.dumps(
    {"messages": [{"role": "user", "content": "Is there tea?"}, {"role": "assistant", "content": "Yes."}]}
)


def test_two_lines_of_messages_are_read_by_few_modules_and_two_openings(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("talks.jsonl").write_text(f"{LINE}\n{LINE}\n")
    load("talks.jsonl")  # imports are not counted
    root = str(Path(duologue.__file__).parent)
    ran: set[CodeType] = set()
    opened: list[Any] = []
    plain = io.open

    def opening(file: Any, *more: Any, **options: Any) -> Any:
        opened.append(file)
        return plain(file, *more, **options)

    monkeypatch.setattr(builtins, "open", opening)
    monkeypatch.setattr(io, "open", opening)

    def profile(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(root):
            ran.add(frame.f_code)

    sys.setprofile(profile)
    try:
        loaded = load("talks.jsonl")
    finally:
        sys.setprofile(None)
    modules = {code.co_filename for code in ran if "/tests/" not in code.co_filename}
    assert len(loaded) == 2
    assert len(modules) <= 15, sorted(modules)
    assert len(opened) <= 2


def test_what_is_not_recognised_shows_its_keys_and_the_way_to_a_reader_of_ones_own() -> None:
    Path("weather.jsonl").write_text('{"sky": "grey", "wind": 3}\n')
    with pytest.raises(DataError, match=r"sky, wind.*docs/data/formats.md.*--log-format MODULE:NAME"):
        load("weather.jsonl")
