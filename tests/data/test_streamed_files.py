"""Large files of records are read again for every access, and hold the same as small ones."""

import pytest

from duologue import data
from duologue.data import Conversation, DataError, loading
from duologue.data.files.streamed import StreamedFile
from duologue.data.formats import record_lines
from duologue.data.records import Message


@pytest.fixture
def talks(tmp_path):
    """Conversations in a file, one id twice, the last line without its newline."""
    texts = ["one", "two", "three", "four", "five"]
    talks = [
        Conversation(id=f"{n % 4}", scenario={"goal": text}, messages=(Message(role="user", text=text),))
        for n, text in enumerate(texts)
    ]
    path = tmp_path / "talks.jsonl"
    record_lines.write(talks, path)
    path.write_text(path.read_text().removesuffix("\n"))
    return path, talks


def test_a_file_of_more_records_than_are_held_is_streamed(talks, monkeypatch):
    path, talks = talks
    assert isinstance(data.load(path, stream=True).conversations, tuple)
    monkeypatch.setattr(loading, "IN_MEMORY", 4)
    streamed = data.load(path, stream=True)
    assert isinstance(streamed.conversations, StreamedFile)
    assert list(streamed) == list(streamed) == talks
    assert (len(streamed), streamed.notes, streamed.kind) == (5, data.load(path).notes, data.load(path).kind)
    assert (streamed[-1], streamed[1]) == (talks[-1], talks[1])
    assert streamed[::-2] == tuple(talks[::-2])
    with pytest.raises(IndexError):
        streamed[5]


def test_a_line_that_is_not_utf_8_is_named_by_its_byte_and_no_file_stays_open(talks):
    path, _ = talks
    size = path.stat().st_size
    with path.open("ab") as file:
        file.write(b"\n\xff\n")
    with pytest.raises(DataError, match=f"is not UTF-8 at byte {size + 1}: save it as UTF-8"):
        data.load(path, stream=True)
