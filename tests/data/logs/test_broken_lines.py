"""Logs with broken lines: refused with the number of these lines, or read without them."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from duologue.data import DataError, load
from duologue.data.formats import record_lines
from duologue.graphs.scenarios.sources import ScenarioSource

ASKED = {"role": "user", "content": "Is there tea?"}
LINE = json.dumps({"messages": [ASKED]})
OPTION = "skip_broken leaves out what cannot be read"
DIALOGUE = [{"speaker": "user", "text": "Is there tea?"}]


def written(*lines: str, name: str = "log.jsonl") -> Path:
    path = Path(name)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_broken_lines_are_left_out_on_request_and_the_first_three_are_named() -> None:
    path = written(*("{" if number in (2, 3, 5, 6) else LINE for number in range(1, 7)))
    with pytest.raises(DataError, match=f"line 2, .*{re.escape(OPTION)}"):
        load(path)
    loaded = load(path, skip_broken=True)
    assert (len(loaded), loaded.notes[-1]) == (2, "left out: 4 broken lines (line 2, line 3, line 5, ...)")


@pytest.mark.parametrize(
    ("line", "unread"),
    [
        (LINE, {"messages": [{"role": "nurse", "content": "Hm"}]}),
        (json.dumps({"conversations": [{"from": "human", "value": "Hi"}]}), {"conversations": [{"from": "human"}]}),
        (json.dumps({"conversation_id": "1", **ASKED}), {"weather": "fine"}),
        (json.dumps({"question": "Hi", "answer": "Yes."}), {"weather": "fine"}),
        (json.dumps({"turns": DIALOGUE}), {"weather": "fine"}),
    ],
)
def test_a_line_of_json_that_cannot_be_read_is_left_out_too(line: str, unread: Any) -> None:
    path = written(line, json.dumps(unread))
    with pytest.raises(DataError, match=r"line 2.*skip_broken leaves out"):
        load(path)
    loaded = load(path, skip_broken=True)
    assert (len(loaded), loaded.notes[-1]) == (1, "left out: 1 broken line (line 2)")


def test_records_are_read_without_their_broken_lines() -> None:
    record_lines.write(load(written(LINE, LINE)), "records.jsonl")
    first, second = Path("records.jsonl").read_text(encoding="utf-8").splitlines()
    odd = json.dumps(json.loads(first) | {"messages": 3})
    path = written(first, "{", odd, second, name="records.jsonl")
    with pytest.raises(DataError, match="line 2"):
        load(path)
    loaded = load(path, skip_broken=True)
    assert (loaded.kind, len(loaded), loaded.notes[-1]) == ("replay", 2, "left out: 2 broken lines (line 2, line 3)")


def test_a_file_that_is_whole_is_read_as_without_the_option() -> None:
    value = {"messages": [ASKED, {"role": "user", "content": "{}"}]}
    Path("pretty.json").write_text(json.dumps(value, indent=1), encoding="utf-8")
    Path("list.json").write_text(f"[\n{LINE},\n{LINE}\n]", encoding="utf-8")
    Path("table.csv").write_text("role,content\nuser,Is there tea?\n", encoding="utf-8")
    for name in ("pretty.json", "list.json", "table.csv"):
        strict, lenient = load(name), load(name, skip_broken=True)
        assert (list(strict), strict.notes, strict.kind) == (list(lenient), lenient.notes, lenient.kind)


def test_a_file_without_a_readable_line_or_element_is_refused_all_the_same() -> None:
    Path("list.json").write_text('[\n{,\n{"messages": \n]', encoding="utf-8")
    Path("talk.txt").write_text("[12:01] Ann: Is there tea?\n[12:02] Bo: Yes.\n", encoding="utf-8")
    for path in (
        *map(Path, ("list.json", "talk.txt")),
        written("nothing", "here"),
        written('{"messages": 3}', name="log.json"),
    ):
        with pytest.raises(DataError):
            load(path, skip_broken=True)


ELEMENT = {"id": "a", "messages": [ASKED, {"role": "assistant", "content": "Green."}]}


@pytest.mark.parametrize(
    ("element", "odd"),
    [
        (ELEMENT, {"messages": 3}),
        (ELEMENT, {"messages": [{"role": "nurse", "content": "Hm"}]}),
        ({"conversations": [{"from": "human", "value": "Hi"}]}, {"conversations": 3}),
        ({"question": "Hi", "answer": "Yes."}, 3),
        ({"turns": DIALOGUE}, {"turns": 3}),
        ({"chat_messages": [{"sender": "human", "text": "Hi"}]}, {"chat_messages": 3}),
        ([{"type": "human", "data": {"content": "Hi"}}], 3),
    ],
)
def test_an_element_of_json_that_cannot_be_read_is_left_out_too(element: Any, odd: Any) -> None:
    Path("list.json").write_text(json.dumps([element, odd], indent=1), encoding="utf-8")
    with pytest.raises(DataError, match=r"\[1\].*skip_broken leaves out"):
        load("list.json")
    loaded = load("list.json", skip_broken=True)
    assert (len(loaded), loaded.notes[-1]) == (1, "left out: 1 broken element ([1])")


def test_scenarios_are_read_without_the_broken_ones() -> None:
    path = Path("scenarios.json")
    path.write_text('{"goal": "Buy tea"}\n{"goal": "Buy\n{"gaol": "Sell tea"}\n', encoding="utf-8")
    with pytest.raises(DataError, match="line 2"):
        ScenarioSource(scenarios=path).read(None, 0)
    scenarios = ScenarioSource(scenarios=path, skip_broken=True).read(None, 0)
    assert [state["scenario"] for state in scenarios.states] == [{"goal": "Buy tea"}]
    assert any("left out: 2 broken lines (line 2, line 3)" in note for note in scenarios.notes)
