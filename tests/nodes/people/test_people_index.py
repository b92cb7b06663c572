"""The stored index of a memory: the same conversations with it, and never a wrong one."""

import logging
from concurrent.futures import ThreadPoolExecutor

import pytest

import duologue
from duologue.data import Conversation, Message
from duologue.data.identity import VERSION
from duologue.errors import DataError, SettingError
from duologue.graphs import agent_test, recllmsim
from duologue.nodes.people import PeopleOptions, PeopleSpeaker, index, likeness
from duologue.nodes.people.index import words_in
from duologue.nodes.people.options import parsed

GOALS = ["find a mild tea", "去里斯本旅行五天", "stop a brake from squealing"]


def talk(goal, name):
    texts = [f"I want to {goal}, says {name}. 怎么去？", f"To {goal}: slowly.", f"And then, asks {name}?", "Go on."]
    messages = tuple(Message(role=("user", "assistant")[n % 2], text=text) for n, text in enumerate(texts))
    return Conversation(id=f"{name}-{goal}", scenario={"goal": goal, "user": name}, messages=messages)


TALKS = [talk(goal, name) for goal in GOALS for name in ("ann", "bob", "cem")]


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "talks.jsonl"
    duologue.data.formats.record_lines.write(TALKS, path)
    return path


def simulated(source, options):
    user, assistant = (PeopleSpeaker.of(source, role, options=options) for role in ("user", "assistant"))
    conversations = duologue.simulate(
        agent_test.cast(user=user, assistant=assistant), agent_test.scenarios([{"goal": goal} for goal in GOALS])
    )
    return [
        [(message.role, message.text, message.extra) for message in one.messages] for one in conversations
    ], user.provenance()


@pytest.fixture
def counted(monkeypatch):
    """How many texts were cut into words."""
    texts = []
    cut = likeness.tokens

    def watching(text):
        texts.append(text)
        return cut(text)

    monkeypatch.setattr(likeness, "tokens", watching)
    return texts


def test_conversations_and_provenance_are_the_same_with_and_without_an_index(source, tmp_path):
    without = simulated(source, PeopleOptions())
    for _ in range(2):  # written, then read
        assert simulated(list(TALKS), PeopleOptions(index=str(tmp_path / "index")))[0]
        assert simulated(source, PeopleOptions(index=str(tmp_path / "index"))) == without
    assert sorted(path.name.partition(".")[0] for path in (tmp_path / "index").iterdir()) == [
        "conversations", "conversations", "talks", "talks",
    ]  # fmt: skip


def words(folder, texts, options=None):
    return words_in(folder, texts, "talks.jsonl", "user", options or PeopleOptions())


def same(one, other, groups=((0,), (1, 2))):
    return (one.rows(groups) != other.rows(groups)).nnz == 0


TEXTS = ["a mild tea", "旅行五天", "a tea or two"]


def test_a_second_time_no_stored_text_is_cut_into_words(tmp_path, counted):
    first = words(tmp_path, TEXTS)
    assert counted
    counted.clear()
    assert same(words(tmp_path, TEXTS), first)
    assert counted == []


def test_a_file_of_other_words_or_of_another_version_is_made_anew_and_says_so(tmp_path, caplog, monkeypatch):
    words(tmp_path, TEXTS)
    assert not caplog.records
    for texts, version, warning in (
        (["another tea", *TEXTS[1:]], VERSION, "was made of other words than the source has now"),
        (["another tea", *TEXTS[1:]], "9.9", "was made by another version of duologue or of scikit-learn"),
    ):
        monkeypatch.setattr(index, "VERSION", version)
        caplog.clear()
        assert same(words(tmp_path, texts), likeness.WordLikeness(texts))
        (record,) = caplog.records
        assert record.levelno == logging.WARNING
        assert warning in record.getMessage()
        caplog.clear()
        words(tmp_path, texts)
        assert not caplog.records
    assert len(list(tmp_path.iterdir())) == 1  # the old words are gone


@pytest.mark.parametrize("damage", ["cut", "empty", "text", "flipped", "pickled", "columns"])
def test_a_damaged_file_is_made_anew_with_one_line(tmp_path, caplog, damage):
    numpy = pytest.importorskip("numpy")
    words(tmp_path, TEXTS)
    (path,) = tmp_path.iterdir()
    whole = path.read_bytes()
    if damage in ("pickled", "columns"):
        with numpy.load(path) as stored:
            parts = dict(stored)
        if damage == "pickled":
            parts["vocabulary"] = numpy.array([{"a": 1}], dtype=object)
        else:
            parts["words"] = parts["words"] + 10_000
        numpy.savez_compressed(path, **parts)
    else:
        middle = len(whole) // 2
        flipped = whole[:middle] + bytes([whole[middle] ^ 255]) + whole[middle + 1 :]
        path.write_bytes({"cut": whole[:middle], "empty": b"", "text": b"a tea", "flipped": flipped}[damage])
    assert same(words(tmp_path, TEXTS), likeness.WordLikeness(TEXTS))
    (record,) = caplog.records
    assert "cannot be read, it may be damaged: its words are counted anew" in record.getMessage()
    assert path.read_bytes() == whole


def test_several_at_once_leave_one_whole_file(tmp_path):
    with ThreadPoolExecutor(4) as pool:
        word_counts = list(pool.map(lambda _: words(tmp_path, TEXTS), range(8)))
    assert all(same(word_count, likeness.WordLikeness(TEXTS)) for word_count in word_counts)
    assert [path.suffix for path in tmp_path.iterdir()] == [".npz"]


def test_the_file_is_for_its_owner_alone_and_holds_no_whole_message(tmp_path):
    words(tmp_path, TEXTS)
    (path,) = tmp_path.iterdir()
    assert path.stat().st_mode & 0o077 == 0


def test_each_side_and_each_part_has_its_own_file(tmp_path):
    for role in ("user", "assistant"):
        for options in (PeopleOptions(), PeopleOptions(part="tune"), PeopleOptions(mask=True)):
            words_in(tmp_path, TEXTS, "talks.jsonl", role, options)
    assert len(list(tmp_path.iterdir())) == 6


def test_a_place_that_cannot_be_written_is_one_line(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(DataError, match="cannot be written"):
        words(tmp_path / "file" / "index", TEXTS)


def test_the_option_is_a_folder_and_no_part_of_what_a_run_is_compared_by():
    _, options = parsed("people:talks?index=2024&part=tune")
    assert options.index == "2024"
    assert options.plain() == {"part": "tune"}


def test_a_cast_by_its_spec_reads_it_and_a_server_refuses_one_elsewhere(source, tmp_path):
    from duologue.graphs.serving.contexts import _check

    cast = recllmsim.cast(user=f"people:{source}?index={tmp_path / 'index'}")
    assert isinstance(cast.user_simulator, PeopleSpeaker)
    assert len(list((tmp_path / "index").iterdir())) == 1
    with pytest.raises(SettingError, match="outside the server's working folder"):
        _check("user", "people:talks.jsonl?index=/srv/elsewhere")
