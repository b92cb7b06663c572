"""One large JSON file written piece by piece: the bytes of `write_json`, without its value in memory."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from ...errors import DataError, at
from .jsonfiles import replacing

_BLOCK = 1 << 20
_BEYOND_ASCII = re.compile(r"[^\n -~]")


def text_of(value: Any, depth: int) -> str:
    """A value's JSON, one space of indent, as it stands at a depth. Characters beyond ASCII are not escaped."""
    return json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False).replace("\n", "\n" + " " * depth)


def array(elements: Iterable[Iterable[str]], depth: int) -> Iterator[str]:
    """An array's JSON in pieces, each element given in pieces of its own; its brackets stand at the depth."""
    between = ""
    yield "["
    for pieces in elements:
        yield f"{between}\n{' ' * (depth + 1)}"
        yield from pieces
        between = ","
    yield f"\n{' ' * depth}]" if between else "]"


def around(holder: Mapping[str, Any], key: str, depth: int) -> tuple[str, str]:
    """An object's JSON before and behind the value of a key, which is written apart."""
    start, end = f"\n{' ' * (depth + 1)}", f"\n{' ' * depth}"
    members = [text_of(name, 0) + ": " + ("" if name == key else text_of(holder[name], depth + 1)) for name in holder]
    here = list(holder).index(key)
    return (
        "{" + start + ("," + start).join(members[: here + 1]),
        "".join("," + start + member for member in members[here + 1 :]) + end + "}",
    )


def write(path: str | Path, key: str, array: Iterable[str], holder: Callable[[], Mapping[str, Any]]) -> None:
    """One object, atomically: an array's pieces as the value of its key, among what else it holds.

    `holder` is asked for the object when the array is written: what stands around it may be known only then. As in
    `dumps` the whole file is escaped where something in it is no UTF-8 (half of a surrogate pair).
    """
    target = Path(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        body = TemporaryFile("w+", dir=target.parent, encoding="utf-8", errors="surrogatepass", newline="")  # noqa: SIM115
    except OSError as error:
        raise DataError(f"{at(path)}: cannot be written ({error.strerror}): choose another place") from None
    with body, replacing(path) as file:
        whole = True
        for piece in array:
            whole = whole and _is_utf8(piece)
            body.write(piece)
        before, behind = around(holder(), key, 0)
        whole = whole and _is_utf8(before) and _is_utf8(behind)
        body.seek(0)
        file.write(before if whole else _escaped(before))
        while block := body.read(_BLOCK):
            file.write(block if whole else _escaped(block))
        file.write(behind if whole else _escaped(behind))


def _is_utf8(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _escaped(text: str) -> str:
    """JSON in ASCII: outside its strings there is nothing to escape."""
    return _BEYOND_ASCII.sub(lambda match: json.dumps(match[0])[1:-1], text)
