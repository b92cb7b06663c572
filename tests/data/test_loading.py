"""What a path is, told from what it holds."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from duologue.data import Conversation, DataError, Message, Span, kind_of, load, messages, record_lines, simquac
from duologue.data.files.paths import names_of
from duologue.data.formats.source import Source
from duologue.data.simquac import Topic

TEACHER = "<Topic: --->\nBread\nFood.\nSourdough\nIt rises slowly.\n<QS:--->\nHow?\nQUAC: slowly\nGPT4: It rises\n"
TOPIC = {"title": "Bread", "header": "Sourdough", "section": "It rises slowly."}


def talk(name: str = "a", spans: tuple[Span, ...] = (Span(text="slowly", start=9),)) -> Conversation:
    messages = (Message(role="user", text="How?"), Message(role="assistant", text="slowly", spans=spans))
    return Conversation(id=name, scenario=Topic(**TOPIC).scenario(), messages=messages)


def run(folder: str, planned: Any, *names: str) -> Path:
    """A run folder that planned these conversations and finished those."""
    place = Path(folder)
    place.mkdir()
    (place / "manifest.json").write_text(json.dumps(planned), encoding="utf-8")
    record_lines.write(
        [talk(name).model_copy(update={"stop": "max_turns"}) for name in names], place / "conversations.jsonl"
    )
    return place


@pytest.mark.parametrize("name", ["data.json", "data.jsonl", "data.txt", "data", "manifest.json"])
def test_a_file_is_what_it_holds_whatever_its_name(name: str) -> None:
    path = Path(name)
    simquac.write([talk()], path)
    assert (load(path).kind, len(load(path))) == ("simquac", 1)
    record_lines.write([talk("a"), talk("b")], path)
    assert (load(path).kind, len(load(path))) == ("replay", 2)
    messages.write([talk("a"), talk("b")], path)
    assert (load(path).kind, len(load(path))) == ("messages", 2)
    path.write_text(TEACHER, encoding="utf-8")
    assert (load(path).kind, len(load(path))) == ("teacher", 1)
    path.write_text(json.dumps(TOPIC), encoding="utf-8")
    assert kind_of(path) == "topics"


def test_a_run_gives_its_conversations_in_the_planned_order() -> None:
    loaded = load(run("out", {"planned": ["a", "b", "c"]}, "c", "unplanned", "a"))
    assert loaded.kind == "run"
    assert [conversation.id for conversation in loaded] == ["a", "c"]
    assert loaded.notes[0] == "out/conversations.jsonl: line 2: 'unplanned' is not in the plan of the run"
    assert loaded.broken == ()


def test_a_folder_of_data_files_gives_all_of_them() -> None:
    folder = Path("sets")
    folder.mkdir()
    simquac.write([talk()], folder / "b.json")
    messages.write([talk("said")], folder / "a.jsonl")
    (folder / "c.txt").write_text(TEACHER, encoding="utf-8")
    (folder / "README.md").write_text("what this is", encoding="utf-8")
    loaded = load(folder)
    assert loaded.kind == "folder"
    assert [conversation.scenario["kind"] for conversation in loaded] == ["messages", "simquac", "simquac"]
    assert loaded.conversations[0].id == "said"


def test_a_folder_with_nothing_is_named(fault: Callable[..., str]) -> None:
    Path("empty").mkdir()
    assert "no data file" in fault(load, "empty")
    Path("empty/README.md").write_text("nothing", encoding="utf-8")
    fault(load, "empty")


def test_of_a_folder_a_bad_file_is_named_itself_and_the_others_are_read() -> None:
    Path("sets").mkdir()
    simquac.write([talk()], "sets/a.json")
    Path("sets/b.json").write_text('{"data": [', encoding="utf-8")
    loaded = load("sets")
    assert len(loaded) == 1
    (line,) = loaded.broken
    assert line.startswith("sets/b.json: line 1, column")
    Path("sets/a.json").unlink()
    with pytest.raises(DataError, match=r"^sets/b\.json: line 1, column"):
        load("sets")


def test_topics_alone_are_no_conversations(fault: Callable[..., str]) -> None:
    Path("topics.jsonl").write_text(json.dumps(TOPIC), encoding="utf-8")
    assert "simulate them first" in fault(load, "topics.jsonl")


@pytest.mark.parametrize(
    "content", ["", " \n", "[]", "[{}]", "3", '"a"', "Once upon a time", "{}", '{"a": 1}', "{", "null", "\x00"]
)
def test_a_file_that_is_nothing_known_is_named(content: str, fault: Callable[..., str]) -> None:
    Path("file.json").write_text(content, encoding="utf-8")
    fault(load, "file.json")


def test_a_missing_file_is_named(fault: Callable[..., str]) -> None:
    assert "No such file" in fault(load, "nowhere.json")
    assert "No such file" in fault(load, "nowhere/at/all.json")


def test_a_path_that_the_system_does_not_take_is_named(fault: Callable[..., str]) -> None:
    fault(load, "x" * 5_000)


@pytest.mark.parametrize("bad", [b'{"id": "cut o', b"\xff\xfe", b"[]", b'{"id": "b"}', b"[" * 20_000])
def test_a_broken_line_in_a_run_is_named_and_costs_that_line_alone(bad: bytes) -> None:
    place = run("out", {"planned": ["a", "b", "c"]}, "a")
    whole = (place / "conversations.jsonl").read_bytes()
    (place / "conversations.jsonl").write_bytes(bad + b"\n" + whole)
    loaded = load(place)
    assert [conversation.id for conversation in loaded] == ["a"]
    assert loaded.broken == loaded.notes[: len(loaded.broken)] != ()
    assert loaded.broken[0].startswith("out/conversations.jsonl: ")
    assert loaded.broken[1] == "out: 1 line is left out"


def test_a_broken_line_whose_conversation_is_there_is_a_note_and_no_fault() -> None:
    place = run("out", {"planned": ["a"]}, "a")
    with (place / "conversations.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"id": "cut o\n')
    loaded = load(place)
    assert (len(loaded), loaded.broken) == (1, ())
    assert loaded.notes[0].startswith("out/conversations.jsonl: line 2")


def test_conversations_of_different_sources_have_different_ids(open_data: Path) -> None:
    folder = open_data / "simquac"
    ids = [conversation.id for conversation in load(folder)]
    assert len(ids) == len(set(ids)) == 167


def test_paths_have_names_of_their_own(tmp_path):
    paths = [tmp_path / part for part in ("one/people", "two/people", "sim.jsonl", "one/people", "one/people/")]
    assert names_of(paths) == ["one/people", "two/people", "sim.jsonl", "one/people (2)", "one/people (3)"]
    assert names_of([tmp_path / "x", str(tmp_path / "y")]) == ["x", "y"]
    assert names_of([]) == []


@pytest.mark.parametrize("begin", ["", "\ufeff", " \n\t"])
def test_of_a_file_of_json_lines_only_the_first_line_is_read_to_detect_its_form(tmp_path: Path, begin: str) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_text(begin + '{"a": 1}\n{"a": 2}\n', encoding="utf-8")
    source = Source(path)
    assert source.value == {"a": 1}
    assert "text" not in vars(source)
