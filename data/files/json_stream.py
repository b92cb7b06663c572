"""Writing of a large JSON file piece by piece: the same bytes as `write_json`, without the whole value in memory."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from .folders import make_folder
from .json_files import UnwrittenError, replacing

_BLOCK = 1 << 20
_BEYOND_ASCII = re.compile(r"[^\n -~]")


def text_of(value: Any, depth: int) -> str:
    """A value's JSON at a depth of nesting, with an indent of one space.

    Non-ASCII characters are not escaped.
    """
    return json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False).replace("\n", "\n" + " " * depth)


def array(elements: Iterable[Iterable[str]], depth: int) -> Iterator[str]:
    """An array's JSON in pieces, at a depth of nesting.

    Each element is itself an iterable of pieces.
    """
    between = ""
    yield "["
    for pieces in elements:
        yield f"{between}\n{' ' * (depth + 1)}"
        yield from pieces
        between = ","
    yield f"\n{' ' * depth}]" if between else "]"


def around(holder: Mapping[str, Any], key: str, depth: int) -> tuple[str, str]:
    """An object's JSON before and after the value of a key, which is written separately."""
    start, end = f"\n{' ' * (depth + 1)}", f"\n{' ' * depth}"
    members = [text_of(name, 0) + ": " + ("" if name == key else text_of(holder[name], depth + 1)) for name in holder]
    index = list(holder).index(key)
    return (
        "{" + start + ("," + start).join(members[: index + 1]),
        "".join("," + start + member for member in members[index + 1 :]) + end + "}",
    )


def write(path: str | Path, key: str, array: Iterable[str], holder: Callable[[], Mapping[str, Any]]) -> None:
    """Write one object atomically; `array` gives the pieces of the value of `key`.

    `holder` returns the object's other members. It is called after the array was written, because they may be known
    only then.

    As in `dumps`, the whole file is escaped if it contains half of a surrogate pair, which UTF-8 cannot encode.
    """
    target = Path(path)
    try:
        make_folder(target.parent)
        spool = TemporaryFile("w+", dir=target.parent, encoding="utf-8", errors="surrogatepass", newline="")  # noqa: SIM115
    except OSError as error:
        raise UnwrittenError(path, error.strerror) from None
    with spool, replacing(path) as file:
        valid = True
        for piece in array:
            valid = valid and _is_utf8(piece)
            spool.write(piece)
        before, after = around(holder(), key, 0)
        valid = valid and _is_utf8(before) and _is_utf8(after)
        spool.seek(0)
        file.write(before if valid else _escaped(before))
        while block := spool.read(_BLOCK):
            file.write(block if valid else _escaped(block))
        file.write(after if valid else _escaped(after))


def _is_utf8(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _escaped(text: str) -> str:
    """The JSON with non-ASCII characters escaped; these occur only inside strings."""
    return _BEYOND_ASCII.sub(lambda match: json.dumps(match[0])[1:-1], text)
