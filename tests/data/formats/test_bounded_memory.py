"""Each format that is written is written and read in bounded memory: a further conversation costs less than its text."""

import csv
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from duologue.data import Attempt, Conversation, Message, ToolCall, domains, load, loading
from duologue.data.formats import detection, parquet, spooled
from tests.benchmarks.formats import FORMATS

TEXT = 20_000
"""Characters of a conversation: its content is far larger than what an index of conversations needs."""
FEW, MANY = 40, 160


@pytest.fixture(autouse=True)
def small_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """What stays in memory of a small source stays on disk here."""
    monkeypatch.setattr(loading, "IN_MEMORY", 10)
    monkeypatch.setattr(spooled, "VALUES_IN_MEMORY", 10)
    monkeypatch.setattr("duologue.data.logs.calls.VALUES_IN_MEMORY", 10)
    monkeypatch.setattr(detection, "_LARGE", 100_000)
    monkeypatch.setattr(parquet, "GROUP", 10)
    for module in ("files.json_pieces", "files.json_stream"):
        monkeypatch.setattr(f"duologue.data.{module}._BLOCK", 10_000)
    monkeypatch.setattr("duologue.data.files.streamed.RECENT", 4)


def talks(count: int) -> Iterator[Conversation]:
    for number in range(count):
        text = f"Room {number}? ".ljust(TEXT // 4, "abcdefghij"[number % 10])
        call = ToolCall(name="look", arguments={"room": number}, result=text)
        draft = Attempt(text=text, verdict="unjudged", tool_calls=(call,))
        turns = (
            Message(role="user", text=text),
            Message(role="assistant", text=text, attempts=(draft,)),
            Message(role="user", text=text),
            Message(role="assistant", text="Yes."),
        )
        yield Conversation(id=f"talk-{number}", scenario={"goal": "a room"}, messages=turns)


def as_table(conversations: Iterator[Conversation], path: Path) -> None:
    """A row for each message."""
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(("conversation_id", "role", "content"))
        for talk in conversations:
            rows.writerows((talk.id, message.role, message.text) for message in talk.messages)


def peak(action: Callable[[], Any]) -> int:
    """The most bytes that Python's objects took while an action ran."""
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def iterated(path: Path) -> None:
    loaded = load(path)
    assert sum(len(talk.messages) for talk in loaded) == 4 * len(loaded)


@pytest.mark.heavy
@pytest.mark.parametrize("name", [*FORMATS, "csv"])
def test_a_further_conversation_costs_less_than_its_text(name: str) -> None:
    write = as_table if name == "csv" else domains.targets()[name.partition(".")[0]]
    written, read = [], []
    for count in (1, FEW, MANY):  # the first imports what is imported once
        path = Path(f"{count}.{name}")
        written.append(peak(partial(write, talks(count), path)))
        read.append(peak(partial(iterated, path)))
        assert len(load(path)) == count
    further = [(peaks[2] - peaks[1]) / (MANY - FEW) for peaks in (written, read)]
    assert max(further) < TEXT / 5
