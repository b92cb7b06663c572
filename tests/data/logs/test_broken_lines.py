"""Logs with broken lines: refused with the number of these lines, or read without them."""

import json
from pathlib import Path
from typing import Any

import pytest

from duologue.data import DataError, load
from duologue.data.formats import record_lines

ASKED = {"role": "user", "content": "Is there tea?"}
LINE = json.dumps({"messages": [ASKED]})
OPTION = "`duologue --skip-broken ...`, or skip_broken=True of load, leaves such lines out and counts them"
DIALOGUE = [{"speaker": "user", "text": "Is there tea?"}]


def written(*lines: str, name: str = "log.jsonl") -> Path:
    path = Path(name)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("broken", "number"),
    [
        ((2,), "1 line is broken (2): mend or delete it"),
        ((1,), "1 line is broken (1): mend or delete it"),
        ((2, 4), "2 lines are broken (2, 4): mend or delete them"),
        ((2, 3, 5, 6), "4 lines are broken (2, 3, 5, ...): mend or delete them"),
    ],
)
def test_all_broken_lines_are_counted_and_the_first_three_named(broken: tuple[int, ...], number: str) -> None:
    path = written(*("{" if number in broken else LINE for number in range(1, 7)))
    with pytest.raises(DataError) as error:
        load(path)
    assert str(error.value).endswith(f"; {number}; {OPTION}")
    loaded = load(path, skip_broken=True)
    assert len(loaded) == 6 - len(broken)
    assert loaded.notes[-1].startswith(
        f"left out: {len(broken)} broken line{'s' * (len(broken) > 1)} (line {broken[0]}"
    )


@pytest.mark.parametrize(
    "line",
    [
        LINE,
        json.dumps({"request": {"messages": [ASKED]}, "response": {"role": "assistant", "content": "Yes."}}),
        json.dumps({"conversation_id": "1", **ASKED}),
        json.dumps({"conversations": [{"from": "human", "value": "Is there tea?"}]}),
        json.dumps({"question": "Is there tea?", "answer": "Yes."}),
        json.dumps({"turns": DIALOGUE}),
        json.dumps({"contents": [{"role": "user", "parts": [{"text": "Is there tea?"}]}]}),
    ],
)
def test_every_form_of_lines_is_read_without_the_broken_ones(line: str) -> None:
    for lines in ((line, "{"), ("nothing", line), ("{", line), (line, '"\udcff"')):
        path = Path("log.jsonl")
        path.write_bytes("\n".join(lines).encode("utf-8", "surrogateescape"))
        loaded = load(path, skip_broken=True)
        assert [talk.messages[0].text for talk in loaded] == ["Is there tea?"], lines
        assert "left out: 1 broken line" in loaded.notes[-1]
        with pytest.raises(DataError):
            load(path)


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
    with pytest.raises(DataError, match=r"line 2.*leaves such lines out"):
        load(path)
    loaded = load(path, skip_broken=True)
    assert (len(loaded), loaded.notes[-1]) == (1, "left out: 1 broken line (line 2)")


def test_records_are_read_without_their_broken_lines() -> None:
    record_lines.write(load(written(LINE, LINE)), "records.jsonl")
    first, second = Path("records.jsonl").read_text(encoding="utf-8").splitlines()
    odd = json.dumps(json.loads(first) | {"messages": 3})
    path = written(first, "{", odd, second, name="records.jsonl")
    with pytest.raises(DataError, match=r"line 2.*1 line is broken.*leaves such lines out"):
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


def test_a_list_with_a_broken_element_and_a_file_without_a_readable_line_are_refused_all_the_same() -> None:
    Path("list.json").write_text(f"[\n{LINE},\n{{,\n{LINE}\n]", encoding="utf-8")
    for path in (Path("list.json"), written("nothing", "here"), written('{"messages": 3}', name="log.json")):
        with pytest.raises(DataError):
            load(path, skip_broken=True)
