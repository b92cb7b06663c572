"""RecLLMSim files: what is odd, broken or left out."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from duologue.data import Attempt, Message, load, recllmsim
from tests.data.recllmsim.small_files import HUMAN, SIMULATED, fresh, put


def again(path: Path) -> bytes:
    """What reading and writing a file gives."""
    assert recllmsim.write(recllmsim.read(path), "again") == []
    return (Path("again") / path.name).read_bytes()


@pytest.mark.parametrize("path", ["../x.json", "/srv/x.json", "a/../../x.json", "", "a\\..\\x.json", "link/x.json"])
def test_a_path_out_of_the_folder_is_not_taken(path: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "link").symlink_to(tmp_path)
    (line,) = recllmsim.write([fresh(extra={"path": path}, messages=())], out)
    assert "leads out of the folder" in line
    assert (out / "tea/3_1.json").is_file()
    assert not list(tmp_path.glob("x.json"))


def test_of_two_with_one_path_the_second_is_told() -> None:
    (read,) = recllmsim.read(put(SIMULATED))
    (line,) = recllmsim.write([read, read.model_copy(update={"id": "second"})], "out")
    assert line == "conversation second: all of it, another one is written to one.json"


def test_rejected_drafts_are_told_as_left_out() -> None:
    drafts = (Attempt(text="a", verdict="rejected"), Attempt(text="b", verdict="accepted"))
    (line,) = recllmsim.write([fresh(messages=(Message(role="user", text="b", attempts=drafts),))], "out")
    assert line == "rejected drafts (1), of 1 conversation"


def test_labels_that_no_file_has_are_told_as_left_out() -> None:
    (line,) = recllmsim.write([fresh(labels={"mood": [], "rating": {"a": 1}})], "out")
    assert line == "label mood (1), of 1 conversation"


def test_a_broken_file_is_named_and_the_good_ones_are_read(fault: Callable[..., str]) -> None:
    put(SIMULATED, "all/good.json")
    broken = put(SIMULATED, "all/b/broken.json")
    broken.write_text(broken.read_text(encoding="utf-8")[:300], encoding="utf-8")
    put({"a": {}}, "all/map.json")
    reading = recllmsim.read_folder("all")
    assert (len(reading.conversations), reading.others) == (1, ("map.json",))
    (line,) = reading.broken
    assert line.startswith("all/b/broken.json: line ")
    assert fault(recllmsim.read, "all") == line
    loaded = load("all")
    assert (len(loaded), loaded.broken, loaded.kind) == (1, (line,), "recllmsim")
    assert loaded.notes == ("conversations: 1 simulated", "passed over, no conversation: map.json", line)


def test_notes_tell_what_is_odd_about_the_files(open_data: Path) -> None:
    assert load(open_data / "recllmsim").notes[:4] == (
        "conversations: 35 human, 219 human v2, 233 simulated",
        "begun by the assistant: 1",
        "ended by the user: 1",
        "not alternating: 10",
    )


@pytest.mark.parametrize("mark", [b"\xef\xbb\xbf", b"\r\n"])
def test_a_byte_order_mark_and_crlf_change_nothing(mark: bytes) -> None:
    path = put(SIMULATED)
    text = path.read_bytes()
    path.write_bytes(text.replace(b"\n", mark) if mark == b"\r\n" else mark + text)
    assert again(path) == text
    assert load(path).kind == "recllmsim"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (SIMULATED | {"history": {}}, "'history' is not a list"),
        ({key: value for key, value in SIMULATED.items() if key != "history"}, "'history' is missing"),
        (SIMULATED | {"history": [{"role": "system", "content": "a"}]}, "history[0]: needs a 'role'"),
        (SIMULATED | {"history": [{"role": "user", "content": None}]}, "history[0]: needs a 'role'"),
        (SIMULATED | {"history": ["a"]}, "history[0]: needs a 'role'"),
        (SIMULATED | {"preference": 1}, "'preference' is not a text"),
        ({key: value for key, value in SIMULATED.items() if key != "preference"}, "'profile' and 'preference' are missing"),
        (HUMAN | {"profile": "a"}, "'profile' is not an object"),
        (HUMAN | {"task_type": None}, "'task_type' is not a text"),
        ({key: value for key, value in HUMAN.items() if key != "task_context"}, "'task_context' is missing"),
        (SIMULATED | {"task_context_id": True}, "'task_context_id' is not a whole number"),
        (SIMULATED | {"preference_id": "3"}, "'preference_id' is not a whole number"),
        ([], "is not an object"),
    ],
)  # fmt: skip
def test_a_file_that_is_broken_is_named_with_its_place(value: Any, words: str, fault: Callable[..., str]) -> None:
    line = fault(recllmsim.read, put(value))
    assert line.startswith("one.json: ")
    assert words in line


def test_a_folder_without_a_conversation_is_named(fault: Callable[..., str]) -> None:
    Path("none").mkdir()
    assert fault(recllmsim.read, "none") == "none: holds no RecLLMSim conversation: give their folder"
    put({"a": 1}, "maps/a.json")
    assert fault(recllmsim.read, "maps").startswith("maps: holds no RecLLMSim conversation")
