"""The JSON values of a file: elements of a list, one value a line, or consecutive objects."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from ...errors import DataError, at
from .json_files import is_too_deep, parsed, read_json, read_lines, read_text

PLACES = 3
"""Most broken lines that an error names."""

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

    A place is words such as `line 3` or `[2]`; DataError if the text is not JSON.
    """
    text = read_text(path)
    start = text.lstrip()[:1]
    if start == "[" and not _is_lines(text):
        for number, value in enumerate(read_json(path)):
            yield f"[{number}]", value
    elif start == "{" and not _is_lines(text):
        yield from _in_a_row(text, path)
    else:
        try:
            for number, value in read_lines(path):
                yield f"line {number}", value
        except DataError as error:
            raise DataError(f"{error}{_broken_lines(text, path)}") from None


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


def _broken_lines(text: str, path: str | Path) -> str:
    """How many lines are not JSON values and which the first are; empty if only one is."""
    broken: list[int] = []
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), start=1):
        if line.strip():
            try:
                parsed(line, path, number)
            except DataError:
                broken.append(number)
    if len(broken) < 2:
        return "; no other line is broken: mend it or delete it" if broken else ""
    listed = ", ".join(map(str, broken[:PLACES])) + (", ..." if broken[PLACES:] else "")
    return f"; {len(broken)} lines are broken ({listed}): mend them or delete them, as no line is left out silently"


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
