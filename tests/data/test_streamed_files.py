"""Large files of records are read again for every access, and hold the same as small ones."""

import copy
import gzip
import pickle

import pytest

from duologue import data
from duologue.data import Conversation, DataError, loading
from duologue.data.files.streamed import StoredConversation
from duologue.data.formats import record_lines
from duologue.data.records import Message

LINE = '{"id": "%s", "schema_version": %s, "scenario": {"goal": "%s"}}'


@pytest.fixture
def talks(tmp_path):
    """Conversations in a file, the last line without its newline."""
    texts = ["one", "two", "three", "four", "five"]
    talks = [
        Conversation(id=f"{n}", scenario={"goal": text}, messages=(Message(role="user", text=text),))
        for n, text in enumerate(texts)
    ]
    path = tmp_path / "talks.jsonl"
    record_lines.write(talks, path)
    path.write_text(path.read_text().removesuffix("\n"))
    return path, talks


def test_a_file_of_more_records_than_are_held_is_streamed(talks, monkeypatch):
    path, talks = talks
    assert not any(isinstance(one, StoredConversation) for one in data.load(path))
    monkeypatch.setattr(loading, "IN_MEMORY", 4)
    streamed = data.load(path)
    assert all(isinstance(one, StoredConversation) for one in streamed)
    assert list(streamed) == list(streamed) == talks
    assert (len(streamed), streamed.notes, streamed.kind) == (5, data.load(path).notes, data.load(path).kind)
    assert (streamed[-1], streamed[1]) == (talks[-1], talks[1])
    assert streamed[::-2] == tuple(talks[::-2])
    with pytest.raises(IndexError):
        streamed[5]


def test_conversations_that_share_an_id_have_the_same_ids_of_their_own_on_disk_as_in_memory(talks, monkeypatch):
    path, _ = talks
    path.write_text(path.read_text().replace('"id":"4"', '"id":"0"').replace('"id": "4"', '"id": "0"'))
    held = data.load(path)
    assert len({one.id for one in held}) == 5
    monkeypatch.setattr(loading, "IN_MEMORY", 4)
    streamed = data.load(path)
    assert list(streamed) == list(held)
    assert held[0].id.startswith("0-")
    assert held[4].id.startswith("0-")


def test_a_conversation_on_disk_is_used_like_one_in_memory(talks, monkeypatch):
    path, talks = talks
    monkeypatch.setattr(loading, "IN_MEMORY", 0)
    stored, other = data.load(path)[1:3]
    assert (
        stored == talks[1] == stored == copy.copy(stored) == copy.deepcopy(stored) == pickle.loads(pickle.dumps(stored))
    )
    assert stored != other
    assert (repr(stored), str(stored), stored.exchanges) == (repr(talks[1]), str(talks[1]), talks[1].exchanges)
    assert stored.model_dump_json() == talks[1].model_dump_json()
    changed = stored.model_copy(update={"labels": {"good": True}})
    assert isinstance(changed, StoredConversation), "a copy holds no more"
    assert changed == talks[1].model_copy(update={"labels": {"good": True}}) != stored
    assert changed.model_copy(deep=True).plain() == changed.plain() == {**talks[1].plain(), "labels": {"good": True}}
    name = "topic"
    with pytest.raises(AttributeError, match="no attribute 'topic'"):
        getattr(stored, name)


def test_lines_that_only_the_first_reading_understands_are_read_again_like_that(tmp_path, monkeypatch):
    monkeypatch.setattr(loading, "IN_MEMORY", 0)
    texts = ("\ufeff" + LINE % ("a", "2", "one"), LINE % ("b", "2", "two"), LINE % ("c", "2", "\\ud800"))
    (tmp_path / "lines.jsonl").write_text("\n".join(texts), encoding="utf-8")
    (tmp_path / "packed.jsonl.gz").write_bytes(gzip.compress((tmp_path / "lines.jsonl").read_bytes()))
    for name in ("lines.jsonl", "packed.jsonl.gz"):
        loaded = data.load(tmp_path / name)
        assert [one.scenario["goal"] for one in loaded] == ["one", "two", "\ud800"]
        assert {one.schema_version for one in loaded} == {2}


def test_a_file_that_is_changed_while_it_is_read_is_named(talks, monkeypatch):
    path, talks = talks
    monkeypatch.setattr(loading, "IN_MEMORY", 0)
    loaded = data.load(path)
    written = path.read_text()
    for number, text in enumerate(("", written[1:], written.replace('"id": "', '"id": "9'))):
        path.write_text(text)
        with pytest.raises(DataError, match=r"talks\.jsonl: was changed while it was read: give the command again"):
            list(loaded[number].messages)


def test_a_line_that_is_not_utf_8_is_named_by_its_byte_and_no_file_stays_open(talks):
    path, _ = talks
    size = path.stat().st_size
    with path.open("ab") as file:
        file.write(b"\n\xff\n")
    with pytest.raises(DataError, match=f"is not UTF-8 at byte {size + 1}: save it as UTF-8"):
        data.load(path, stream=True)


@pytest.mark.parametrize("name", ["parquet", "messages"])
def test_a_format_that_is_read_one_by_one_is_put_aside_on_disk(talks, monkeypatch, tmp_path, name):
    pytest.importorskip("pyarrow")
    _, talks = talks
    talks[2] = talks[2].model_copy(update={"id": "half \ud83d"})
    target = tmp_path / "other"
    data.domains.targets()[name](talks, target)
    held = data.load(target)
    assert not any(isinstance(one, StoredConversation) for one in held)
    monkeypatch.setattr(loading, "IN_MEMORY", 4)
    streamed = data.load(target)
    assert all(isinstance(one, StoredConversation) for one in streamed)
    assert list(streamed) == list(held)
    assert name == "messages" or list(held) == talks
    assert (streamed[-1], streamed[0], streamed[2]) == (held[-1], held[0], held[2])
    assert loading.DataSource(target).streams
