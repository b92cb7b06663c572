"""Journals: appended whole, cut where a death tore them, written by several, read one value at a time."""

import json
import os

import pytest

from duologue import runs
from duologue.data import Conversation, DataError
from duologue.data.files.journals import Codec, JournalReader
from duologue.data.formats.record_lines import RECORDS, of_run
from duologue.errors import SettingError
from duologue.runs import Journal
from duologue.runs.journals.journal import AppendedFile, is_being_written


def word(value):
    if not isinstance(value, dict) or "key" not in value:
        raise DataError("has no key: give it one")
    return value


WORDS = Codec(key=lambda value: value["key"], to_plain=dict, from_plain=word)


def entry(key, text=""):
    return {"key": key, "text": text}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "words.jsonl"


def opened(path, writer=None):
    return Journal.open(path, WORDS, writer)


def test_what_is_appended_is_a_line_of_json_and_read_by_its_key(path):
    with opened(path) as journal:
        for key in ("b", "a", "c"):
            journal.append(entry(key, "长城 \n" + key))
        assert (list(journal.keys()), len(journal), "a" in journal, "x" in journal) == (["b", "a", "c"], 3, True, False)
        assert journal["a"] == entry("a", "长城 \na")
        journal.append(entry("d"))
        assert journal["d"] == entry("d")
    assert path.read_text().splitlines()[0] == '{"key": "b", "text": "长城 \\nb"}'
    with pytest.raises(KeyError):
        JournalReader(path, WORDS)["x"]


def test_values_come_by_plan_and_then_those_that_nobody_planned(path):
    with opened(path) as journal:
        for key in "abcd":
            journal.append(entry(key))
        assert "".join(value["key"] for value in journal.iterate(["d", "x", "b", "d"])) == "dbac"
        assert journal.load("dxb") == list(journal.iterate("dxb"))


def test_each_writer_has_a_file_and_a_lock_of_its_own(path):
    with opened(path) as main, opened(path, "w2") as second, opened(path, "w1") as first:
        second.append(entry("c"))
        main.append(entry("b"))
        first.append(entry("a"))
        assert sorted(file.name for file in path.parent.iterdir()) == [
            "words.jsonl",
            "words.w-w1.jsonl",
            "words.w-w2.jsonl",
        ]
        assert list(JournalReader(path, WORDS).keys()) == ["b", "a", "c"]
        for writer in (None, "w1"):
            with pytest.raises(runs.RunError, match=r"words\.(w-w1\.)?jsonl: another run is writing there"):
                opened(path, writer)
    with opened(path, "w1") as again:
        assert len(again) == 3


@pytest.mark.parametrize("writer", ["", "a.b", "../a", "a b", "x" * 65])
def test_a_writer_has_a_plain_name(path, writer):
    with pytest.raises(SettingError, match="writer"):
        opened(path, writer)
    assert not list(path.parent.iterdir())


def test_a_key_that_stands_twice_counts_once_with_what_came_last(path):
    with opened(path) as main, opened(path, "w") as other:
        for text in ("1", "2"):
            main.append(entry("a", text))
        main.append(entry("b"))
        other.append(entry("b", "3"))
        reader = JournalReader(path, WORDS)
        assert [(value["key"], value["text"]) for value in reader.iterate()] == [("a", "2"), ("b", "3")]
        assert reader.load() == list(reader.iterate())
        assert main["a"]["text"] == "2"


def test_a_writer_and_a_later_reader_take_the_same_one_of_several_values(path):
    with opened(path) as main, opened(path, "b") as second, opened(path, "a") as first:
        for journal in (second, first, main):
            for text in ("early", journal._own.path.name):
                journal.append(entry("k", text))
        for journal in (main, first, second, JournalReader(path, WORDS)):
            journal.refresh()
            assert journal["k"]["text"] == "words.w-b.jsonl"
        main.append(entry("k", "late"))
        assert main["k"]["text"] == JournalReader(path, WORDS)["k"]["text"] == "words.w-b.jsonl"
        assert [value["text"] for value in main.load()] == ["words.w-b.jsonl"]


@pytest.mark.parametrize("name", ["words.bak.jsonl", "words.w1.jsonl", "words.w-.jsonl", "words.w-a.bak.jsonl"])
def test_a_copy_that_somebody_made_is_not_of_the_journal(path, name):
    with opened(path) as main, opened(path, "a") as other:
        main.append(entry("a", "right"))
        other.append(entry("b"))
        path.with_name(name).write_text(json.dumps(entry("a", "of the copy")) + "\n")
        reader = JournalReader(path, WORDS)
        assert (reader["a"]["text"], len(reader)) == ("right", 2)


def test_a_reader_takes_up_what_others_have_appended_since(path):
    with opened(path) as main:
        main.append(entry("a"))
        reader = JournalReader(path, WORDS)
        assert list(reader.keys()) == ["a"]
        main.append(entry("b"))
        with opened(path, "w") as other:
            other.append(entry("c"))
            for journal in (reader, main):
                journal.refresh()
                assert list(journal.keys()) == ["a", "b", "c"]


@pytest.mark.parametrize("torn", [b"{", '{"key": "长'.encode()[:-1], b'{"key": "z"}', b"x" * 200_000])
def test_a_torn_tail_is_passed_over_by_readers_and_cut_by_its_writer(path, torn):
    with opened(path) as journal:
        journal.append(entry("a", "x" * 100_000))
    whole = path.read_bytes()
    path.write_bytes(whole + torn)
    assert list(JournalReader(path, WORDS).keys()) == ["a"]
    with opened(path, "w") as other:
        assert (list(other.keys()), other.torn) == (["a"], 0)
    assert path.read_bytes() == whole + torn
    with opened(path) as journal:
        assert journal.torn == len(torn)
        assert path.read_bytes() == whole
        journal.append(entry("b"))
        assert list(journal.keys()) == ["a", "b"]
        assert journal["b"] == entry("b")


@pytest.mark.parametrize("content", [b"", b"{", b"\n", b"x" * 65_536, b"x" * 65_535 + b"\n", b"\n" + b"x" * 65_536])
def test_the_cut_is_behind_the_last_newline_wherever_it_is(path, content):
    path.write_bytes(content)
    opened(path).close()
    assert path.read_bytes() == content[: content.rfind(b"\n") + 1]


def test_a_long_journal_is_not_read_whole_for_its_last_line(path, monkeypatch):
    line = json.dumps(entry("a", "x" * 1_000)).encode() + b"\n"
    path.write_bytes(line * 2_000 + b"{")
    amounts, read = [], os.read

    def counted(handle: int, size: int) -> bytes:
        amounts.append(size)
        return read(handle, size)

    monkeypatch.setattr(os, "read", counted)
    opened(path).close()
    assert sum(amounts) <= 1 << 16
    assert path.stat().st_size == 2_000 * len(line)


def test_on_a_full_disk_no_half_line_stays_for_the_next_to_join(path, monkeypatch):
    write = os.write

    def full(handle, data):
        if len(data) < 30:
            raise OSError(28, "No space left on device")
        return write(handle, data[:10])

    with opened(path) as journal:
        journal.append(entry("a"))
        with monkeypatch.context() as patch:
            patch.setattr(os, "write", full)
            with pytest.raises(
                runs.RunError, match=r"words.jsonl: cannot be written \(No space left on device\): make room"
            ):
                journal.append(entry("b", "x" * 50))
        journal.append(entry("c"))
        assert list(journal.keys()) == ["a", "c"]
    assert list(JournalReader(path, WORDS).keys()) == ["a", "c"]


@pytest.mark.parametrize(("text", "between"), [(b"half", b"\n"), (b"whole\n", b"")])
def test_what_another_program_has_written_at_the_end_is_not_joined(tmp_path, text, between):
    file = AppendedFile(tmp_path / "lines")
    assert file.append("first\n") == 6
    with (tmp_path / "lines").open("ab") as other:
        other.write(text)
    assert file.append("second\n") == 7 + len(between)
    file.append("third\n")
    file.close()
    assert (tmp_path / "lines").read_bytes() == b"first\n" + text + between + b"second\nthird\n"


@pytest.mark.parametrize(
    ("line", "error"),
    [
        (b"{", r"words\.w-w\.jsonl: line 2, column 2: is not JSON"),
        (b"[]", r"words\.w-w\.jsonl: line 2: has no key: give it one"),
        (b"\xff", r"words\.w-w\.jsonl: line 2: is not UTF-8"),
    ],
)
def test_a_whole_line_that_holds_no_value_is_named(path, line, error):
    path.write_text("")
    path.with_name("words.w-w.jsonl").write_bytes(b'{"key": "a"}\n' + line + b"\n")
    with pytest.raises(DataError, match=error):
        len(JournalReader(path, WORDS))


def test_a_journal_that_is_not_there_is_named(path):
    with pytest.raises(DataError, match=r"words\.jsonl: cannot be read"):
        len(JournalReader(path, WORDS))
    with opened(path, "w") as alone:
        alone.append(entry("a"))
        assert list(alone.keys()) == ["a"]


def test_values_are_read_when_they_are_asked_for_and_not_kept(path):
    alive, most = set(), 0

    class Value(dict):
        def __init__(self, value):
            nonlocal most
            super().__init__(value)
            alive.add(id(self))
            most = max(most, len(alive))

        def __del__(self):
            alive.discard(id(self))

    codec = Codec(key=lambda value: value["key"], to_plain=dict, from_plain=Value)
    with Journal.open(path, codec) as journal:
        for number in range(50):
            journal.append(entry(f"{number}"))
    reader = JournalReader(path, codec)
    assert len(reader) == 50
    for value in reader.iterate(f"{number}" for number in reversed(range(50))):
        assert value["text"] == ""
    assert most <= 3


def test_a_run_goes_on_beside_what_another_writer_has_finished(tmp_path):
    source = {"source": "x", "digest": "", "scenarios": 2, "equal": 0}
    manifest = {"settings": {}, "data": [source], "planned": ["a", "b"]}

    def talk(name):
        return Conversation(id=name, scenario={"kind": "plain"}, stop="max_turns")

    with runs.RunFolder.open(tmp_path / "r", manifest, resume=False) as folder:
        folder.keep(talk("b"))
        with Journal.open(folder.path / "conversations.jsonl", RECORDS, "w1") as worker:
            worker.append(talk("a"))
            assert [conversation.id for conversation in folder.conversations()] == ["a", "b"]
    with runs.RunFolder.open(tmp_path / "r", manifest, resume=True) as folder:
        assert set(folder.done) == {"a", "b"}


def test_a_file_is_being_written_as_long_as_its_writer_has_it_open(path):
    assert not is_being_written(path)
    with opened(path):
        assert is_being_written(path)
    assert not is_being_written(path)


def test_what_is_appended_is_on_the_disk_at_once_unless_it_need_not_be(path, monkeypatch):
    synced = []
    monkeypatch.setattr(os, "fsync", synced.append)
    with opened(path) as journal:
        journal.append(entry("a"), sync=False)
        assert synced == []
        journal.append(entry("b"))
        assert len(synced) == 1


def test_a_conversation_stands_unless_it_may_be_simulated_again_or_was_broken_off():
    codec = of_run({"planned": ["a"], "again": ["b"]}, RECORDS)
    settled = {
        (name, stop): codec.settled(Conversation(id=name, scenario={}, messages=(), stop=stop))
        for name in ("a", "b")
        for stop in ("max_turns", "model_failed")
    }
    assert [one for one, stands in settled.items() if stands] == [("a", "max_turns")]
