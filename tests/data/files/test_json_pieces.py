"""A large JSON file is read piece by piece: the same values, and the same errors, as of the whole file."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from duologue.data import DataError, load
from duologue.data.files import json_pieces
from duologue.data.files.json_files import LENIENT, STRICT, read_json
from duologue.data.logs import inspect_logs

VALUES = [
    12345,
    -0.5,
    1e10,
    True,
    None,
    "",
    'a "b" \\ \n',
    "ü开🙂",
    "\ud83d\ude42",
    [],
    {},
    [[1], {"a": [2, {"b": "c]"}]}],
]


@pytest.fixture(autouse=True, params=[1, 7, 1 << 18])
def block(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_pieces, "_BLOCK", request.param)


def saved(text: str) -> Path:
    Path("a.json").write_text(text, encoding="utf-8")
    return Path("a.json")


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("begin", ["", "\ufeff", "\n \n"])
@pytest.mark.parametrize("is_ascii", [True, False])
def test_the_elements_of_a_list_are_those_of_the_whole_value(indent: int | None, begin: str, is_ascii: bool) -> None:
    values = VALUES if is_ascii else [value for value in VALUES if value != "\ud83d\ude42"]
    path = saved(begin + json.dumps(values, indent=indent, ensure_ascii=is_ascii) + "\n")
    assert list(json_pieces.elements_of(path)) == read_json(path)
    assert json_pieces.abridged(path, 3) == values[:3]
    assert list(json_pieces.elements_of(saved("[ ]"))) == []


@pytest.mark.parametrize(
    "text",
    ["[1, 2", "[1, 2]]", "[1 2]", "[1,]", '[{"a": 1, "a": 2}]', "[1, NaN]", "[1e999]", "[1, nul]", '["a', "[[" * 300],
)
def test_what_is_not_json_is_refused_as_in_the_whole_file(text: str) -> None:
    path = saved(text)
    with pytest.raises(DataError) as whole:
        read_json(path)
    with pytest.raises(DataError) as in_pieces:
        list(json_pieces.elements_of(path))
    assert str(in_pieces.value) == str(whole.value)


def test_members_of_objects_come_one_at_a_time_and_lists_as_iterators() -> None:
    path = saved('{"a": {"b": [1]}, "c": [1, 2, 3],\n"d": []}\n{"e": NaN}')
    read: list[list[tuple[str, Any]]] = []
    for members in json_pieces.objects_of(path, LENIENT):
        read.append([(key, next(value, "none") if isinstance(value, Iterator) else value) for key, value in members])
    assert read == [[("a", {"b": [1]}), ("c", 1), ("d", "none")], [("e", None)]]
    assert json_pieces.abridged(path, 2) == {"a": {"b": [1]}, "c": [1, 2], "d": []}


@pytest.mark.parametrize("text", ['{"a": 1, "a": 2}', '{"a" 1}', "{1: 2}", '{"a": [1, 2}', '{\n"a": 1'])
def test_an_object_that_is_not_json_is_refused(text: str) -> None:
    path = saved(text)
    with pytest.raises(DataError, match=r"a\.json: line \d"):
        [list(members) for members in json_pieces.objects_of(path, LENIENT)]
    with pytest.raises(DataError, match=r"a\.json"):
        json_pieces.abridged(path, 2, STRICT)


def test_a_log_of_inspect_is_read_wherever_its_head_stands() -> None:
    turns = [{"role": "user", "content": "Is it open?"}, {"role": "assistant", "content": "Yes."}]
    samples = [{"id": number, "epoch": 1, "messages": turns} for number in range(3)]
    head = {"version": 2, "status": "success", "eval": {"task": "tea"}}
    for log in ({**head, "samples": samples}, {"samples": samples, **head}):
        talks = load(saved(json.dumps(log, indent=1)))
        assert [talk.id for talk in talks] == ["0-1", "1-1", "2-1"]
        assert talks.kind == "inspect"
        assert talks[2].extra["messages"]["values"]["task"] == "tea"
    with pytest.raises(DataError, match=r"a\.json: log 1: is not a log of Inspect"):
        list(inspect_logs.one_by_one(saved(json.dumps({"samples": samples}, indent=1))))
