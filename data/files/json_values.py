"""The JSON values of a file: elements of a list, one value a line, or consecutive objects."""

import json
import re
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from ...errors import DataError, at
from .broken_lines import ADVICE, is_skipping, listed, strict
from .json_files import is_too_deep, open_lines, parsed, read_json, read_lines, read_text

_BEGIN = 20
"""Lines at the beginning of a file among which one of JSON is looked for."""

T = TypeVar("T", str, list[Any])
_NEXT = re.compile(r"\S")


def member(
    holder: Mapping[str, Any],
    key: str,
    kind: type[T],
    path: str | Path,
    *where: str,
    advice: str = "mend the file there",
) -> T:
    """The text or list that an object has under the key; DataError names the place if it has none."""
    value = holder.get(key)
    if not isinstance(value, kind):
        problem = f"is not a {'text' if kind is str else 'list'}" if key in holder else "is missing"
        raise DataError(f"{at(path, *where)}: {key!r} {problem}: {advice}")
    return value


def elements(path: str | Path) -> Iterator[tuple[str, Any]]:
    """Place and value of each JSON value: of a list, of lines, or of objects over many lines.

    A place is words such as `line 3` or `[2]`. DataError if the text is not JSON; where broken lines are left out
    (`broken_lines`), only if it has no lines of JSON.
    """
    if not is_skipping():
        yield from _elements(path)
        return
    try:
        with strict():
            values = list(_elements(path))
    except DataError:
        if not has_lines(path):
            raise
        values = [(f"line {number}", value) for number, value in read_lines(path)]
    yield from values


def _elements(path: str | Path) -> Iterator[tuple[str, Any]]:
    text = read_text(path)
    start = text.lstrip()[:1]
    if start == "[" and not _is_lines(text):
        for number, value in enumerate(read_json(path)):
            yield f"[{number}]", value
    elif start == "{" and not _is_lines(text):
        yield from _in_a_row(text, path)
    else:
        for number, value in read_lines(path):
            yield f"line {number}", value


def has_lines(path: str | Path) -> bool:
    """Whether one of the first lines is a JSON object or list at the margin.

    It is False for a list over several lines.
    """
    with open_lines(path) as file:
        lines = [line for line in islice(file, _BEGIN) if line.strip()]
    first = lines[0].removeprefix(BOM_UTF8).strip() if lines else b""
    return any(map(_is_value, lines)) and (not first.startswith(b"[") or _is_value(first))


def _is_value(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line.removeprefix(BOM_UTF8)), dict | list) and not line[:1].isspace()
    except (ValueError, RecursionError):
        return False


def as_value(value: Any) -> Any:
    """The value of a text that is JSON, if it is an object or list; anything else as it is.

    So is what is too deep for a record.
    """
    if not isinstance(value, str) or value.lstrip()[:1] not in ("[", "{"):
        return value
    try:
        inner = json.loads(value, parse_constant=_refused)
    except (ValueError, RecursionError):
        return value
    return value if is_too_deep(inner) else inner


def _refused(name: str) -> Any:
    raise ValueError(name)


def first_element(text: str, path: str | Path) -> Any:
    """The first of several objects that stand one after another over many lines; None without one."""
    return next((value for _, value in _in_a_row(text, path)), None)


def _is_lines(text: str) -> bool:
    """Whether the first line with text is a JSON value, and an object or followed by other lines."""
    first, _, rest = text.strip().removeprefix("\ufeff").partition("\n")
    try:
        value = json.loads(first)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) or bool(rest.strip())


@contextmanager
def numbered_errors(path: Path) -> Iterator[None]:
    """Inside, an error about a line of a file counts its broken lines."""
    try:
        yield
    except DataError as error:
        raise _with_number(error, path) from None


def _with_number(error: DataError, path: Path) -> DataError:
    """The error of a file of JSON lines with the number of broken lines, and the first of them.

    For other files, and for one that names the option already, the error is unchanged.
    """
    try:
        if ADVICE in str(error) or not has_lines(path):
            return error
    except DataError:
        return error
    broken: list[str] = []
    with open_lines(path) as file:
        for number, line in enumerate(file, start=1):
            try:
                parsed(line.decode("utf-8-sig" if number == 1 else "utf-8"), path) if line.strip() else None
            except (DataError, UnicodeDecodeError):
                broken.append(str(number))
    if not broken:
        return error
    lines, these = ("lines are", "them") if broken[1:] else ("line is", "it")
    return DataError(f"{error}; {len(broken)} {lines} broken ({listed(broken)}): mend or delete {these}; {ADVICE}")


def _in_a_row(text: str, path: str | Path) -> Iterator[tuple[str, Any]]:
    decoder, start, number = json.JSONDecoder(), 0, 0
    while begin := _NEXT.search(text, start):
        start = begin.start()
        try:
            end = decoder.raw_decode(text, start)[1]
        except (ValueError, RecursionError):
            parsed(text if number == 0 else text[start:], path)  # names the place
            raise DataError(f"{path}: is not JSON: mend the file") from None
        yield f"object {number + 1}", parsed(text[start:end], path)
        start, number = end, number + 1
