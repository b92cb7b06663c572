"""RecLLMSim files: what is odd, broken or left out."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from duologue.data import load, recllmsim
from duologue.data.records import Label
from tests.data.recllmsim.small_files import HUMAN, SIMULATED, fresh, put


def again(path: Path) -> bytes:
    """What reading and writing a file gives."""
    assert recllmsim.write(recllmsim.read_folder(path).conversations, "again") == []
    return (Path("again") / path.name).read_bytes()


@pytest.mark.parametrize("path", ["../x.json", "/srv/x.json", "a/../../x.json", "", "a\\..\\x.json"])
def test_a_path_out_of_the_folder_is_not_taken(path: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert len(recllmsim.write([fresh(extra={"path": path}, messages=())], out)) == 1
    assert (out / "tea/3_1.json").is_file()
    assert not list(tmp_path.glob("x.json"))


def test_of_two_with_one_path_the_second_has_another() -> None:
    (read,) = recllmsim.read_folder(put(SIMULATED)).conversations
    assert len(recllmsim.write([read, read.model_copy(update={"id": "second"})], "out")) == 1
    assert len(recllmsim.read_folder("out").conversations) == 2


def test_a_broken_file_is_named_and_the_good_ones_are_read() -> None:
    put(SIMULATED, "all/good.json")
    broken = put(SIMULATED, "all/b/broken.json")
    broken.write_text(broken.read_text(encoding="utf-8")[:300], encoding="utf-8")
    put({"a": {}}, "all/map.json")
    reading = recllmsim.read_folder("all")
    assert len(reading.conversations) == 1
    (line,) = reading.broken
    assert line.startswith("all/b/broken.json: line ")
    loaded = load("all")
    assert (len(loaded), loaded.broken, loaded.kind) == (1, (line,), "recllmsim")
    assert loaded.notes == ("conversations: 1 simulated", "passed over, no conversation: map.json", line)


@pytest.mark.parametrize(
    ("value", "place"),
    [
        (SIMULATED | {"history": {}}, "'history'"),
        ({key: value for key, value in SIMULATED.items() if key != "history"}, "'history'"),
        (SIMULATED | {"history": [{"role": "system", "content": "a"}]}, "history[0]"),
        (SIMULATED | {"history": [{"role": "user", "content": None}]}, "history[0]"),
        (SIMULATED | {"history": ["a"]}, "history[0]"),
        (SIMULATED | {"preference": 1}, "'preference'"),
        ({key: value for key, value in SIMULATED.items() if key != "preference"}, "'profile'"),
        ({key: value for key, value in SIMULATED.items() if key != "task"}, "'task'"),
        (HUMAN | {"profile": "a"}, "'profile'"),
        (HUMAN | {"task_type": None}, "'task_type'"),
        ({key: value for key, value in HUMAN.items() if key != "task_context"}, "'task_context'"),
        (SIMULATED | {"task_context_id": True}, "'task_context_id'"),
        ([], ""),
    ],
)  # fmt: skip
def test_a_file_that_is_broken_is_named_with_its_place(value: Any, place: str, fault: Callable[..., str]) -> None:
    line = fault(recllmsim.read_folder, put(value))
    assert line.startswith("one.json: ")
    assert place in line


@pytest.mark.parametrize("folder", ["travel planning", "travel planning_en"])
def test_the_generators_own_output_has_its_task_and_numbers_in_its_path(folder: str) -> None:
    asked = {"assistant": [{"query": "Done?", "response": "Yes."}], "user": []}
    turns = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}]
    value = {
        "preference": "1. Age: 40",
        "task_context": "A trip.",
        "history": turns,
        "model1": "m",
        "post_questions": asked,
    }
    path = put(value, f"made/{folder}/3_7.json")
    (read,) = load("made")
    assert (read.scenario["task"], read.scenario["preference_id"], read.scenario["task_context_id"]) == (
        "travel planning", 3, 7,
    )  # fmt: skip
    assert read.labels == {"post_questions": Label(value=asked)}
    assert recllmsim.write([read], "again") == []
    assert (Path("again") / folder / "3_7.json").read_bytes() == path.read_bytes()
