"""Small files that ask for much: each is refused in one line, or costs its size at most.

Work is counted.
"""

import gzip
import os
import re
import socket
import tracemalloc
import zipfile
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from duologue import data
from duologue.data import DataError, cleaning, documents, recllmsim
from duologue.data.files import json_files, json_values, regular_files, workbooks, yaml_text

Steps = Callable[..., int]


def fault(function: Callable[..., Any], *arguments: Any) -> str:
    with pytest.raises(DataError) as caught:
        function(*arguments)
    line = str(caught.value)
    assert "\n" not in line
    assert len(line) < 400
    return line


def written(name: str, content: str | bytes) -> str:
    Path(name).write_bytes(content.encode() if isinstance(content, str) else content)
    return name


def grows_as_its_size(steps: Steps, function: Callable[[Any], object], small: Any, large: Any, times: int) -> bool:
    """Whether an input so many times larger takes at most about so many times the steps."""
    function(small)  # what is made once, such as a compiled expression
    return steps(function, large) <= 1.5 * times * steps(function, small)


@pytest.mark.parametrize("read", [data.load, recllmsim.read_tasks, recllmsim.read_pool, documents.read])
def test_a_pipe_a_socket_and_a_device_are_no_files(read: Callable[[Any], object]) -> None:
    os.mkfifo("pipe.md")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket.md")
        Path("device.md").symlink_to("/dev/zero")
        for name, kind in (("pipe.md", "a pipe"), ("socket.md", "a socket"), ("device.md", "a device")):
            assert fault(read, name).startswith(f"{name}: is {kind} and no file: write what comes out of it")


def test_a_pipe_in_a_folder_leaves_the_other_files_readable() -> None:
    Path("all").mkdir()
    os.mkfifo("all/a.json")
    about = recllmsim.Situation(task="t", task_context="c", preference="2. Age: 3", task_context_id=0, preference_id=0)
    messages = (data.Message(role="user", text="Hi"), data.Message(role="assistant", text="Hello"))
    recllmsim.write([data.Conversation(id="1", scenario=about.scenario(), messages=messages)], "all")
    loaded = data.load("all")
    assert (len(loaded), loaded.broken[0].partition(":")[2][:10]) == (1, " is a pipe")


def test_a_file_larger_than_what_is_read_at_once_is_not_read() -> None:
    with Path("a.json").open("wb") as file:
        file.truncate(1 << 40)
    assert fault(json_files.read_text, "a.json") == (
        "a.json: has 1,099,511,627,776 bytes, 536,870,912 are read at once: split it"
    )
    assert "larger than the 10 bytes" in fault(regular_files.content, "/proc/self/status", 10)


def test_a_gzip_file_is_unpacked_only_as_far_as_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regular_files, "MOST_ANYWAY", 1_000)
    written("a.jsonl.gz", gzip.compress(b" " * 2_000_000))
    tracemalloc.start()
    try:
        assert "a.jsonl.gz: unpacks to more than" in fault(json_files.read_text, "a.jsonl.gz")
        assert tracemalloc.get_traced_memory()[1] < 1_500_000
    finally:
        tracemalloc.stop()


def test_a_repeated_key_among_many_is_found_in_linear_time(steps: Steps) -> None:
    def repeated(count: int) -> str:
        return "{" + ",".join(f'"k{number}":1' for number in range(count)) + f',"k{count - 1}":2}}'

    def read(text: str) -> None:
        assert '"k' in fault(json_files.parsed, text, "a.json")

    assert grows_as_its_size(steps, read, repeated(100), repeated(1000), 10)
    assert fault(json_files.parsed, repeated(40_000), "a.json") == (
        'a.json: "k39999" appears twice in an object: keep one of the two'
    )


def test_a_number_that_is_none_is_found_behind_many_texts_of_its_name_in_linear_time(steps: Steps) -> None:
    def texts(count: int) -> str:
        return "[" + '"NaN \\" Infinity",\n' * count + "NaN]"

    def read(text: str) -> None:
        assert "NaN is not a JSON number" in fault(json_files.parsed, text, "a.json")

    assert grows_as_its_size(steps, read, texts(100), texts(1000), 10)
    assert fault(json_files.parsed, texts(20_000), "a.json").startswith("a.json: line 20001: NaN is not a JSON number")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
        ("[" * 201 + "]" * 201, "nested too deeply"),
        ("[\n1" + "0" * 100_000 + "]", "line 2: a number has more than 4,000 digits"),
        ("[1e" + "9" * 100_000 + "]", "line 1: 1e9999"),
        ('{"' + "k" * 100_000 + '": 1, "' + "k" * 100_000 + '": 1}', "appears twice"),
        ("\0" * 100_000, "is not JSON"),
    ],
)
def test_json_that_python_cannot_hold_is_told_in_one_short_line(text: str, problem: str) -> None:
    assert problem in fault(json_files.parsed, text, "a.json")


def test_yaml_that_doubles_itself_is_refused_or_costs_nothing() -> None:
    merges = "a: &a {k: 1}\n" + "".join(f"{b}: &{b} {{<<: [*{a}, *{a}]}}\n" for a, b in pairwise(NAMES))
    assert "a mapping takes over more than 10,000 keys by <<" in fault(recllmsim.read_tasks, written("a.yaml", merges))
    lists = "a: &a [x, x]\n" + "".join(f"{b}: &{b} [*{a}, *{a}]\n" for a, b in pairwise(NAMES))
    assert "task 'a'" in fault(recllmsim.read_tasks, written("a.yaml", lists))
    # The line that names the wrong value does not write it out.
    nested = "t:\n  prompt: '[K]'\n  options:\n    K:\n" + "".join(
        f"    - &{b} [{f'*{a}, *{a}' if a != '0' else 'x'}]\n" for a, b in pairwise("0" + NAMES)
    )
    assert "is not a text: put it in quotes" in fault(recllmsim.read_tasks, written("a.yaml", nested))
    shared = "t:\n  prompt: '[K0]'\n  options:\n    K0: &a [" + "x, " * 1000 + "x]\n"
    shared += "".join(f"    K{number}: *a\n" for number in range(1, 200))
    assert "100,000" in fault(recllmsim.read_tasks, written("a.yaml", shared))


NAMES = "abcdefghijklmnopqrstuvwxyz"


@pytest.mark.parametrize(
    "value",
    ["1:" * 50_000 + "1", "1" * 5_000, "0x" + "f" * 5_000, "1:" * 300 + "1.0", "!!bool x", "!!timestamp x", "!!int ''"],
)
def test_a_value_that_yaml_cannot_make_is_told_in_one_line(value: str) -> None:
    line = fault(recllmsim.read_tasks, written("a.yaml", f"t: {{prompt: x, options: {{K: [{value}]}}}}"))
    assert line.startswith("a.yaml")


def test_a_yaml_text_longer_than_the_parser_takes_is_not_parsed() -> None:
    with pytest.raises(yaml_text.YamlError, match="has 1,000,001 characters, the bound is 1,000,000"):
        yaml_text.loaded(" " * 1_000_001)


def workbook(name: str, change: Callable[[bytes], bytes], part: str = "xl/worksheets/sheet1.xml") -> str:
    book = openpyxl.Workbook()
    assert book.active is not None
    book.active.append(["Type", "Prompt", "Key", "Option1"])
    book.active.append(["tea", "go [A]", "A", "x"])
    book.save("plain.xlsx")
    book.close()
    with zipfile.ZipFile("plain.xlsx") as plain, zipfile.ZipFile(name, "w", zipfile.ZIP_DEFLATED) as packed:
        for member in plain.namelist():
            content = plain.read(member)
            packed.writestr(member, change(content) if member == part else content)
    return name


def with_rows(rows: bytes) -> Callable[[bytes], bytes]:
    return lambda sheet: re.sub(rb"<dimension [^>]*/>", b"", sheet).replace(b"</sheetData>", rows + b"</sheetData>")


def test_a_workbook_is_not_unpacked_if_its_directory_says_too_much() -> None:
    text = b'<row r="3"><c r="A3" t="inlineStr"><is><t>' + b"a" * 60_000_000 + b"</t></is></c></row>"
    name = workbook("text.xlsx", with_rows(text))
    assert Path(name).stat().st_size < 100_000
    tracemalloc.start()
    try:
        assert "its sheets and texts unpack to 60," in fault(recllmsim.read_tasks, name)
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()
    padded = workbook("styles.xlsx", lambda part: part + b" " * 3_000_000, "xl/styles.xml")
    assert "its styles unpack to 3," in fault(recllmsim.read_tasks, padded)
    padded = workbook("names.xlsx", lambda part: part + b" " * 300_000, "xl/workbook.xml")
    assert "its list of sheets unpack to 30" in fault(recllmsim.read_tasks, padded)


def test_cells_are_counted_also_those_that_are_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workbooks, "MOST_CELLS", 2_000)
    far = workbook("far.xlsx", with_rows(b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'))
    assert "has more than 2,000 cells" in fault(recllmsim.read_tasks, far)
    wide = workbook("wide.xlsx", with_rows(b'<row r="3"><c r="XFD3"><v>1</v></c></row>'))
    assert "has more than 2,000 cells" in fault(recllmsim.read_tasks, wide)


def test_a_cell_is_no_longer_than_excel_lets_it_be() -> None:
    text = b'<row r="3"><c r="D3" t="inlineStr"><is><t>' + b"a" * 40_000 + b"</t></is></c></row>"
    line = fault(recllmsim.read_tasks, workbook("long.xlsx", with_rows(text)))
    assert line == "long.xlsx: Sheet, row 3: a cell has more than 32,767 characters: shorten it"


def test_a_long_run_of_spaces_before_an_open_tag_is_gone_through_once(steps: Steps) -> None:
    assert steps(cleaning._is_wrapping, " " * 100_000) < 20
    assert cleaning._is_wrapping(" \n 'Assistant: \n ' ")
    assert not cleaning._is_wrapping(" " * 1000 + "a")


class Sliced(str):
    """Counts the characters of its slices."""

    copied = 0

    def __getitem__(self, place: Any) -> str:
        piece = str.__getitem__(self, place)
        Sliced.copied += len(piece)
        return piece


def test_objects_in_a_row_are_read_without_copies_of_what_follows() -> None:
    text = Sliced('{"a":\n1} ' * 2_000)
    assert len(list(json_values._in_a_row(text, "x"))) == 2_000
    assert Sliced.copied <= len(text)
