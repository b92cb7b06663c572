"""A valid file, changed a little: bytes, lines, values of JSON, members of an archive."""

import io
import json
import zipfile
from collections.abc import Callable
from typing import Any

from .draws import Draw

DEEP = "[" * 3_000 + "]" * 3_000
TEXTS = (
    *(b"NaN", b"Infinity", b"1e999", b"-0", b"9" * 5_000, b'"\\ud800"', b"\x00", b"\xef\xbb\xbf", b"\xff\xfe", b"\\u0000"),
    *(b"\x1b[31m\x1b]0;title\x07", b"[red]red[/red][/]", b"</script><script>alert(1)</script>", b"{{ 7 * 7 }}", b"%s%n"),
    *(b"null", b"[]", b"{}", b'"', b"}", b",", b"\n", b"\r", b"\xc2\x85", b"\xe2\x80\xa8", b"\xe2\x80\xae", DEEP.encode()),
    *(b"A" * 300_000, b"(" * 5_000, b"((" * 2_000 + b"))" * 2_000, b"](" * 3_000, b"<b>" * 5_000, b"&a;" * 3_000),
    *("漢字かな🙂".encode() * 50, b"..%2f..%2f", b"../../evil", b"file:///etc/passwd", b"*a", b"&x [*x, *x]", b"!!python/object:os.system"),
)  # fmt: skip
"""Pieces that readers stumble over."""
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1.5, 10**40, -(10**40), 1e308, "", " ", "x", "\x1b[2J", "\ud800", "NaN", [], {}, [[]]),
    *({"": None}, [None], "A" * 100_000, "\x00", ["x"] * 3_000, {f"k{n}": n for n in range(3_000)}, {"$ref": "#"}),
    *("../../evil", "[bold]x[/]", "a/b", "README.md", "x" * 300, {"role": "user"}, [{"role": 3}], "2024-99-99", "-5"),
)  # fmt: skip


def mutated(data: bytes, name: str, draw: Draw) -> bytes:
    """The file with one to three changes."""
    for _ in range(1 + draw.below(3)):
        if data[:2] == b"PK" and draw.chance(0.8):
            data = archive(data, draw)
        elif name.endswith((".json", ".jsonl")) and draw.chance(0.85):
            data = values(data, name, draw)
        else:
            data = draw.of(BYTES)(data, draw)
    return data


def _place(data: bytes, draw: Draw) -> int:
    return draw.below(len(data) + 1)


def flipped(data: bytes, draw: Draw) -> bytes:
    changed = bytearray(data)
    for _ in range(1 + draw.below(20)):
        if changed:
            changed[draw.below(len(changed))] ^= 1 << draw.below(8)
    return bytes(changed)


def truncated(data: bytes, draw: Draw) -> bytes:
    return data[: _place(data, draw)]


def inserted(data: bytes, draw: Draw) -> bytes:
    at = _place(data, draw)
    return data[:at] + draw.of(TEXTS) + data[at:]


def replaced(data: bytes, draw: Draw) -> bytes:
    at = _place(data, draw)
    return data[:at] + draw.of(TEXTS) + data[at + draw.below(40) :]


def removed(data: bytes, draw: Draw) -> bytes:
    at = _place(data, draw)
    return data[:at] + data[at + draw.below(200) :]


def doubled(data: bytes, draw: Draw) -> bytes:
    at = _place(data, draw)
    return data[:at] + data[at : at + 1 + draw.below(2_000)] * (2 + draw.below(6)) + data[at:]


def lines_moved(data: bytes, draw: Draw) -> bytes:
    lines = data.splitlines(keepends=True)
    lines.insert(draw.below(len(lines) + 1), draw.of(lines or [b"\n"]))
    if draw.chance(0.5):
        del lines[draw.below(len(lines))]
    return b"".join(lines)


BYTES: tuple[Callable[[bytes, Draw], bytes], ...] = (
    *(flipped, truncated, inserted, inserted, replaced, removed, removed, doubled, doubled, lines_moved, lines_moved),
)


def values(data: bytes, name: str, draw: Draw) -> bytes:
    """JSON with another value, key or nesting somewhere; other bytes if it is none."""
    lines = data.splitlines() if name.endswith(".jsonl") else [data]
    at = draw.below(len(lines))
    try:
        value = json.loads(lines[at])
    except (ValueError, IndexError, RecursionError):
        return inserted(data, draw)
    changed = json.dumps(changed_value(value, draw))
    if draw.chance(0.06):
        changed = changed.replace(": ", ": " + DEEP + ', "again": ', 1)
    if draw.chance(0.06):  # the same key twice
        changed = changed.replace("{", '{"kind": 1, "id": [], "messages": null, "kind": {}, ', 1)
    lines[at] = changed.encode()
    return b"\n".join(lines) + b"\n"


def changed_value(value: Any, draw: Draw) -> Any:
    """The value with one place of it changed; any place is as likely as its depth allows."""
    if isinstance(value, dict) and value and draw.chance(0.9):
        key = draw.of(sorted(value))
        changed = dict(value)
        turn = draw.below(10)
        if turn == 0:
            del changed[key]
        elif turn == 1:
            changed[str(draw.of(["", "\x1b[2J", "x" * 500, "kind", "id", "\ud800", "[/]"]))] = changed.pop(key)
        else:
            changed[key] = changed_value(value[key], draw)
        return changed
    if isinstance(value, list) and value and draw.chance(0.9):
        at = draw.below(len(value))
        turn = draw.below(8)
        if turn == 0:
            return value[:at] + value[at + 1 :]
        if turn == 1:
            return value + [value[at]] * (1 + draw.below(4))
        return [*value[:at], changed_value(value[at], draw), *value[at + 1 :]]
    return draw.of(VALUES)


BOMB = b"<a>" + b"0" * 60_000_000 + b"</a>"
LAUGHS = (
    '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY a0 "haha">'
    + "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10))
    + "]><a>&a9;</a>"
).encode()
EXTERNAL = b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>'


def archive(data: bytes, draw: Draw) -> bytes:
    """A zip with one member changed, replaced, added or left out."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as file:
            members = {name: file.read(name) for name in file.namelist()}
    except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError, ValueError, EOFError):
        return draw.of(BYTES)(data, draw)
    except Exception:  # zlib.error: a member that was changed before
        return draw.of(BYTES)(data, draw)
    name = draw.of(sorted(members) or ["x"])
    turn = draw.below(8)
    if turn == 0:
        members.pop(name, None)
    elif turn in (1, 2, 3):
        members[name] = draw.of(BYTES)(members.get(name, b""), draw)
    elif turn == 4:
        members[name] = draw.of([LAUGHS, EXTERNAL, b"", b"<a/>"])
    elif turn == 5:
        members[name] = BOMB
    elif turn == 6:
        members["../../evil.xml"] = b"<a/>"
    else:
        body = members.get(name, b"")
        middle = body.find(b">", len(body) // 2) + 1
        members[name] = body[:middle] + b"<x>" * 20_000 + body[middle:]
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return buffer.getvalue()
