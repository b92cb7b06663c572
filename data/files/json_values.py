"""The JSON values of a file: elements of a list, one value a line, or consecutive objects."""

import base64
import json
import math
import re
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from ...errors import DataError, at
from .broken_lines import ADVICE, is_skipping, strict
from .json_files import is_too_deep, lines_of, open_lines, parsed, read_lines, read_text

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
    (`broken_lines`), only if it has no line of JSON and is not JSON as a whole.
    """
    if _begins_with_lines(path):
        yield from _lines(path)
        return
    try:
        with strict():
            values = list(_whole(path))
    except DataError:
        if not (is_skipping() and has_lines(path)):
            raise
        yield from _lines(path)
    else:
        yield from values


def _lines(path: str | Path) -> Iterator[tuple[str, Any]]:
    try:
        for number, value in read_lines(path):
            yield f"line {number}", value
    except DataError as error:
        raise DataError(f"{error}; {ADVICE}" if has_lines(path) else str(error)) from None


def _whole(path: str | Path) -> Iterator[tuple[str, Any]]:
    text = read_text(path)
    if text.lstrip()[:1] == "[":
        yield from ((f"[{number}]", value) for number, value in enumerate(parsed(text, path)))
    elif text.lstrip()[:1] == "{":
        yield from _in_a_row(text, path)
    else:
        yield from _lines(path)


def _begins_with_lines(path: str | Path) -> bool:
    """Whether the first line with text is a JSON object, or a list with others behind it."""
    with open_lines(path) as file:
        lines = (line for line in lines_of(file, path) if line.strip())
        first = next(lines, b"").removeprefix(BOM_UTF8).strip()
        if first[:1] == b"{":
            return _is_json(first, dict, parse_constant=_refused)
        return first[:1] == b"[" and _is_json(first) and next(lines, None) is not None


def has_lines(path: str | Path) -> bool:
    """Whether one of the first lines is a JSON object or list at the margin.

    It is False for a list over several lines.
    """
    with open_lines(path) as file:
        lines = [line for line in islice(lines_of(file, path), _BEGIN) if line.strip()]
    first = lines[0].removeprefix(BOM_UTF8).strip() if lines else b""
    return any(map(_is_value, lines)) and (not first.startswith(b"[") or _is_value(first))


def _is_value(line: bytes) -> bool:
    return not line[:1].isspace() and _is_json(line, dict | list)


def _is_json(line: bytes | str, kinds: Any = object, **hooks: Any) -> bool:
    """Whether a line is JSON of these kinds, with or without a mark of its encoding."""
    plain = line.removeprefix(BOM_UTF8) if isinstance(line, bytes) else line.removeprefix("\ufeff")
    try:
        return isinstance(json.loads(plain, **hooks), kinds)
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


def as_json(value: Any) -> Any:
    """A value of a table or of YAML as JSON.

    Times are ISO texts, bytes base64, and a number that JSON lacks is a text.
    """
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else None if math.isnan(value) else str(value)
        case datetime() | date() | time():
            return value.isoformat()
        case bytes():
            return base64.b64encode(value).decode()
        case dict():
            return {str(key): as_json(inner) for key, inner in value.items()}
        case list() | tuple():
            return [as_json(inner) for inner in value]
        case Decimal() | timedelta():
            return str(value)
    return str(value)
