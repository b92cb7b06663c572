"""A large file of records stays on disk, and holds the same as a small one."""

import gzip

import pytest

from duologue import data
from duologue.data import Conversation, DataError, loading
from duologue.data.formats import record_lines
from duologue.data.records import Message


@pytest.fixture
def talks(tmp_path, monkeypatch):
    """Conversations in a file, the last line without its newline."""
    talks = [
        Conversation(id=f"{n}", scenario={"goal": text}, messages=(Message(role="user", text=text),))
        for n, text in enumerate(["one", "two", "three", "four", "five"])
    ]
    path = tmp_path / "talks.jsonl"
    record_lines.write(talks, path)
    path.write_text(path.read_text().removesuffix("\n"))
    monkeypatch.setattr(loading, "IN_MEMORY", 4)
    return path, talks


@pytest.mark.parametrize("packed", [False, True])
def test_a_file_of_more_records_than_are_held_is_read_again(talks, packed):
    path, talks = talks
    if packed:
        packed_path = path.with_suffix(".jsonl.gz")
        packed_path.write_bytes(gzip.compress(path.read_bytes()))
        path = packed_path
    stored = data.load(path)
    assert not isinstance(stored.conversations, tuple)
    assert list(stored) == list(stored) == talks
    assert (len(stored), stored[-1], stored[1], list(stored[::-2])) == (5, talks[-1], talks[1], talks[::-2])
    with pytest.raises(IndexError):
        stored[5]


def test_conversations_that_share_an_id_get_ids_of_their_own(talks):
    path, _ = talks
    path.write_text(path.read_text().replace('"id":"4"', '"id":"0"').replace('"id": "4"', '"id": "0"'))
    held = data.load(path)
    assert len({one.id for one in held}) == 5
    assert {held[0].id[:2], held[4].id[:2]} == {"0-"}


def test_a_file_that_is_changed_meanwhile_is_an_error(talks):
    path, _ = talks
    stored = data.load(path)
    path.write_text("{}\n" + path.read_text())
    with pytest.raises(DataError, match="was changed"):
        list(stored)
