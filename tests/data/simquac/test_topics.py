"""Topics: where they are read from, and what is said of those that cannot be simulated."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from duologue.data import Conversation, record_lines, simquac
from duologue.data.simquac import Topic

GOOD = {"title": "Bread", "background": "Bread is food.", "header": "Sourdough", "section": "It rises slowly."}


def lines(*values: Any) -> Path:
    """A file with these values, one a line."""
    path = Path("topics.jsonl")
    path.write_text("".join(json.dumps(value) + "\n" for value in values), encoding="utf-8")
    return path


def test_keys_that_are_not_known_are_kept_and_change_nothing_that_is_simulated() -> None:
    plain, rich = simquac.read_topics(lines(GOOD, GOOD | {"id": 7, "licence": "CC0", "extra": {"a": [1]}}))
    assert rich.id == "7"
    assert rich.extra == {"licence": "CC0", "extra": {"a": [1]}}
    assert rich.scenario() == plain.scenario() == {"kind": "simquac"} | GOOD


def test_topics_are_read_from_a_data_set_from_records_and_from_a_run() -> None:
    Path("run").mkdir()
    conversations = [Conversation(id=name, scenario=Topic(**GOOD | {"title": name}).scenario()) for name in "ab"]
    simquac.write(conversations, "set.json")
    record_lines.write(conversations, "records.jsonl")
    ended = [conversation.model_copy(update={"stop": "max_turns"}) for conversation in conversations]
    record_lines.write(ended, "run/conversations.jsonl")
    Path("run/manifest.json").write_text('{"planned": ["b", "a"]}', encoding="utf-8")
    assert [topic.title for topic in simquac.read_topics("set.json")] == ["a", "b"]
    assert [topic.title for topic in simquac.read_topics("records.jsonl")] == ["a", "b"]
    assert [topic.title for topic in simquac.read_topics("run")] == ["b", "a"]


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (json.dumps(GOOD).encode() + b'\n{"title": "a", "header"', "line 2"),
        (json.dumps(GOOD).encode() + b'\n{"title": NaN}', "line 2"),
        (json.dumps(GOOD).encode() + b"\n[1]", "line 2"),
        (json.dumps(GOOD).encode() + b'\n"a"', "line 2"),
        (json.dumps(GOOD).encode() + b"\n\xff", "byte"),
        (b"[1, 2]", "known format"),
        (b"Once upon a time", "known format"),
        (b'{"messages": []}', "messages"),
        (json.dumps(GOOD).encode() + b"\n" + b"[" * 100_000, ""),
    ],
)
def test_what_is_no_topic_is_named_with_its_place(content: bytes, place: str, fault: Callable[..., str]) -> None:
    path = Path("topics.jsonl")
    path.write_bytes(content)
    assert place in fault(simquac.read_topics, path)
