"""The JSON values of a file: elements of a list, one value a line, or consecutive objects."""

import base64
import json
import math
import re
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from ...errors import DataError, at
from .broken_lines import advice, is_skipping, leave_out, strict, with_number
from .broken_lists import pieces
from .json_files import is_too_deep, lines_of, open_lines, parsed, read_lines, read_text
from .json_pieces import elements_of

_BLOCK = 1 << 18
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

    A place is words such as `line 3` or `[2]`. DataError if the text is not JSON; where broken lines and elements are
    left out (`broken_lines`), only if it has neither lines of JSON nor a list.
    """
    if not is_skipping():
        yield from _elements(path)
        return
    if begins_with_a_line(path) and has_lines(path):
        yield from ((f"line {number}", value) for number, value in read_lines(path))
        return
    try:
        with strict():
            values = list(_elements(path))
    except DataError:
        if has_lines(path):
            values = [(f"line {number}", value) for number, value in read_lines(path)]
        elif parts := _parts(path):
            values = [(place, value) for place, value in parts if value is not None or not leave_out(place)]
        else:
            raise
    yield from values


def _elements(path: str | Path) -> Iterator[tuple[str, Any]]:
    if begins_with_a_line(path):  # which a file of any size may do
        for number, value in read_lines(path):
            yield f"line {number}", value
        return
    if begins_with_list(path):
        for number, value in enumerate(elements_of(path)):
            yield f"[{number}]", value
        return
    text = read_text(path)
    if text.lstrip()[:1] == "{" and not _is_lines(text):
        yield from _in_a_row(text, path)
    else:
        for number, value in read_lines(path):
            yield f"line {number}", value


def _parts(path: str | Path) -> list[tuple[str, Any]]:
    """Place and value of each element of a list that is not JSON, None for a broken one.

    Empty without a readable element.
    """
    text = read_text(path)
    if text.lstrip()[:1] != "[":
        return []
    parts: list[tuple[str, Any]] = []
    for number, piece in enumerate(pieces(text)):
        value = None
        with suppress(DataError):
            value = None if piece is None else parsed(piece, path)
        parts.append((f"[{number}]", value))
    return parts if any(value is not None for _, value in parts) else []


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


def begins_with_a_line(path: str | Path) -> bool:
    """Whether the first line with text is a JSON object."""
    with open_lines(path) as file:
        first = next((line for line in lines_of(file, path) if line.strip()), b"").removeprefix(BOM_UTF8).strip()
    return first[:1] == b"{" and _is_json(first, dict, parse_constant=_refused)


def begins_with_list(path: str | Path) -> bool:
    """Whether a file begins with a JSON list that is not its first line, with others behind it."""
    with open_lines(path) as file:
        first = file.readline(_BLOCK)
        while first and not first.removeprefix(BOM_UTF8).strip():
            first = file.readline(_BLOCK)
        if not first.removeprefix(BOM_UTF8).lstrip().startswith(b"["):
            return False
        begin = file.tell() - len(first)
        end = first
        while end and not end.endswith(b"\n"):
            end = file.readline(_BLOCK)
        if not any(block.strip() for block in iter(partial(file.read, _BLOCK), b"")):
            return True
        file.seek(begin)
        return not _is_json(next(lines_of(file, path)))


def _is_lines(text: str) -> bool:
    """Whether the first line with text is a JSON object."""
    return _is_json(text.strip().partition("\n")[0], dict)


@contextmanager
def numbered_errors(path: Path) -> Iterator[None]:
    """Inside, an error about a file of JSON lines or a JSON list counts its broken lines or elements.

    An error that names the option already is unchanged.
    """
    try:
        yield
    except DataError as error:
        named = any(advice(place) in str(error) for place in ("line 1", "[0]"))
        raise (error if named else with_number(error, _broken(path))) from None


def _broken(path: Path) -> list[str]:
    """The places of the broken lines or elements of a file; none if it is neither lines nor a list."""
    try:
        if has_lines(path):
            return list(_broken_lines(path))
        return [place for place, value in _parts(path) if value is None]
    except DataError:
        return []


def _broken_lines(path: Path) -> Iterator[str]:
    with open_lines(path) as file:
        for number, line in enumerate(lines_of(file, path), start=1):
            try:
                parsed(line.decode("utf-8-sig" if number == 1 else "utf-8"), path) if line.strip() else None
            except (DataError, UnicodeDecodeError):
                yield f"line {number}"


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
