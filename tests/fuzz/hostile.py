"""Files and paths that are made to cost or to confuse: bombs, loops, depths, pipes and devices."""

import io
import json
import os
import socket
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .draws import Draw
from .mutations import BOMB, DEEP, LAUGHS


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


def _zip(**members: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(name.replace("__", "/"), content)
    return buffer.getvalue()


def _sheet(rows: int, columns: int) -> bytes:
    import openpyxl

    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("tasks")
    for _ in range(rows):
        sheet.append(["x"] * columns)
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def _far_cell() -> bytes:
    import openpyxl

    book = openpyxl.Workbook()
    sheet: Any = book.active
    sheet["A1"], sheet["XFD1048576"] = "task", "far"
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


TALK = {"messages": [{"role": "user", "content": "Hello?"}, {"role": "assistant", "content": "Yes."}]}
DOUBLING = "a: {a}{a}\n" + "".join(f"{chr(98 + n)}: '{{{chr(97 + n)}}}{{{chr(97 + n)}}}'\n" for n in range(24))
FILES: dict[str, Callable[[], bytes]] = {
    "deep.json": lambda: ("[" * 100_000).encode(),
    "deep_objects.json": lambda: ('{"a":' * 50_000 + "1" + "}" * 50_000).encode(),
    "deep.jsonl": lambda: (json.dumps(TALK) + "\n" + DEEP + "\n" + DEEP * 20 + "\n").encode(),
    "keys.json": lambda: _json([{f"key{n}": n for n in range(40_000)}]),
    "keys.jsonl": lambda: _json({**TALK, **{f"key{n}": n for n in range(40_000)}}),
    "nan.jsonl": lambda: _json({**TALK, "note": "NaN " * 28_000}),
    "nans.json": lambda: ("[" + "NaN," * 60_000 + "NaN]").encode(),
    "digits.json": lambda: ('[{"messages": ' + "9" * 100_000 + "}]").encode(),
    "floats.json": lambda: b'{"data": [1e400, -1e400, 1e-400, 0.1e99999999]}',
    "twice.json": lambda: b'{"messages": [], "messages": {}, "data": 1, "data": [], "version": "x"}',
    "long_line.jsonl": lambda: _json({"messages": [{"role": "user", "content": "a" * 8_000_000}]}),
    "many_lines.jsonl": lambda: (json.dumps(TALK) + "\n").encode() * 10_000,
    "words.txt": lambda: b"word " * 400_000,
    "one_word.txt": lambda: b"x" * 2_000_000,
    "dots.txt": lambda: b"A. " * 200_000,
    "quotes.txt": lambda: b"\"'(" * 100_000,
    "brackets.md": lambda: b"# T\n\n" + b"(" * 5_000 + b"\n\n" + b"[" * 5_000 + b"]" * 5_000,
    "stars.md": lambda: b"# T\n\n" + b"*a **b " * 8_000,
    "quoted.md": lambda: b">" * 20_000 + b" deep\n",
    "lists.md": lambda: "".join(" " * n + "- x\n" for n in range(1_500)).encode(),
    "ticks.md": lambda: b"# T\n\n" + b"`" * 30_000 + b"x",
    "table.md": lambda: b"# T\n\n|" + b"a|" * 10_000 + b"\n|" + b"-|" * 10_000 + b"\n|" + b"b|" * 10_000,
    "tags.html": lambda: b"<html><body>" + b"<div>" * 50_000 + b"deep",
    "open.html": lambda: b"<" * 200_000,
    "entities.html": lambda: b"<html><body><p>" + b"&#x110000;&#0;&nosuch;&#" * 20_000,
    "comment.html": lambda: b"<!--" * 100_000,
    "laughs.html": lambda: LAUGHS,
    "laughs.yaml": lambda: (
        'a: &a ["ha","ha","ha","ha","ha","ha","ha","ha","ha"]\n'
        + "".join(f"{chr(98 + n)}: &{chr(98 + n)} [{','.join(['*' + chr(97 + n)] * 9)}]\n" for n in range(12))
    ).encode(),
    "doubling.yaml": DOUBLING.encode,
    "doubling_tasks.yaml": lambda: (
        "tasks:\n  travel:\n    contexts: ['{a0}']\n    values:\n"
        + "".join(f"      a{n}: ['{{a{n + 1}}}{{a{n + 1}}}']\n" for n in range(40))
        + "      a40: [x]\n"
    ).encode(),
    "self.yaml": lambda: b"&a [*a, *a]\n",
    "python.yaml": lambda: b"!!python/object/apply:os.system ['touch evil']\n",
    "deep.yaml": lambda: ("[" * 3_000 + "]" * 3_000).encode(),
    "wide.yaml": lambda: "".join(f"k{n}: [x]\n" for n in range(30_000)).encode(),
    "bomb.xlsx": lambda: _zip(**{"[Content_Types].xml": b"<Types/>", "xl__workbook.xml": BOMB}),
    "wide.xlsx": lambda: _sheet(2, 16_000),
    "long.xlsx": lambda: _sheet(60_000, 8),
    "far.xlsx": _far_cell,
    "bomb.docx": lambda: _zip(**{"[Content_Types].xml": b"<Types/>", "word__document.xml": BOMB}),
    "laughs.docx": lambda: _zip(**{"[Content_Types].xml": b"<Types/>", "word__document.xml": LAUGHS}),
    "no.docx": lambda: b"PK\x03\x04 and no archive",
    "nothing": lambda: b"",
    "zeros": lambda: b"\0" * 3_000_000,
    "utf16.json": lambda: "[1, 2]".encode("utf-16"),
    "latin.txt": lambda: "Überblick\n\nDer Käse".encode("latin-1") * 100,
    "escapes.txt": lambda: b"# \x1b[2J\x1b]0;owned\x07 Title\n\n\x9b31mText\x7f\x08 and more of it.\n",
    "escapes.jsonl": lambda: _json(
        {"messages": [{"role": "user", "content": "\x1b[2J\x9b\x07?"}, {"role": "\x1b[1m", "content": "\x00"}]}
    ),
    "many_profiles.txt": lambda: b"".join(b"1. Gender: F\n2. Age: %d\n\n" % n for n in range(16_000)),
    "tools.jsonl": lambda: _json({"messages": [{"role": "tool", "tool_call_id": None, "content": {"a": [1]}}] * 50}),
    "surrogates.jsonl": lambda: b'{"messages": [{"role": "user", "content": "\\ud800\\udfff\\udc00"}]}\n',
}
FOLDERS = ("empty", "deep", "many", "junk_run", "loop")
PATHS = (
    *("missing.json", "missing/deeper/x.json", "", ".", "..", "~", "-", "--", "/dev/zero", "/dev/full", "/dev/null"),
    *("/dev/stdin", "/proc/self/mem", "/proc/self/environ", "x" * 300, "x" * 5_000, "a/" * 1_000, "\x1b[31mred\x1b[0m.json"),
    *("[red]x[/red].json", "[/].jsonl", "na\nme.json", "tab\there", "漢字🙂.json", "\udcff\udcfe.json", "con:prn?*.json"),
    *("fifo", "socket", "loop", "folder", "file/inside.json", "'; touch evil; '", "$(touch evil)", "http://127.0.0.1:9/x"),
)  # fmt: skip


def furnish(folder: Path) -> None:
    """A pipe, a socket, a loop, a folder and a file, whose names are among the hostile paths."""
    os.mkfifo(folder / "fifo")
    (folder / "loop").symlink_to("loop")
    (folder / "folder").mkdir()
    (folder / "file").write_text("A file.\n")
    with socket.socket(socket.AF_UNIX) as bound:
        here = os.open(folder, os.O_RDONLY)
        try:
            bound.bind(f"/proc/self/fd/{here}/socket")
        finally:
            os.close(here)


def hostile_folder(folder: Path, draw: Draw) -> Path:
    """A folder that is no data set, or a run of junk."""
    kind = draw.of(FOLDERS)
    place = folder / f"{kind}_folder"
    place.mkdir()
    if kind == "deep":
        (place / "/".join(["d"] * 200)).mkdir(parents=True)
    elif kind == "many":
        for number in range(300):
            (place / f"{number}.json").write_bytes(draw.of([b"{}", b"[]", b"", b"x", b'{"a": [1]}']))
    elif kind == "loop":
        (place / "round").symlink_to(place, target_is_directory=True)
        os.mkfifo(place / "pipe.json")
    elif kind == "junk_run":
        manifest = draw.of(
            [b"", b"[]", b"{}", b"null", b'{"planned": 3}', b'{"planned": [1]}', b'{"planned": ["a"], "data": 7}',
             b'{"planned": ["a", "a"], "data": [], "settings": [], "version": 1}', DEEP.encode(), b"\xff\xfe",
             b'{"planned": ["\\u001b[2J"], "data": [[]], "cast": "x", "settings": {"limits": 1}}']
        )  # fmt: skip
        (place / "manifest.json").write_bytes(manifest)
        (place / "conversations.jsonl").write_bytes(
            draw.of([b"", b"{}\n", b"junk\n", b"null\n[]\n", b"{", b"\0" * 999])
        )
        (place / "failures.jsonl").write_bytes(draw.of([b"", b"{}\n", b"junk\n", b'{"id": 1}\n', b"\xff"]))
    return place
