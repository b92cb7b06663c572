"""The JSON values of a file: the elements of a list, a value on each line, or objects one after another."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...errors import DataError
from .jsonfiles import parsed, read_json, read_lines, read_text


def elements(path: str | Path) -> Iterator[tuple[str, Any]]:
    """Place and value of each element of a JSON list, of each JSON line, or of each object in a row over many lines.

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
        for number, value in read_lines(path):
            yield f"line {number}", value


def first_element(text: str, path: str | Path) -> Any:
    """The first of several objects that stand one after another over many lines; None if there is none."""
    return next((value for _, value in _in_a_row(text, path)), None)


def _is_lines(text: str) -> bool:
    """Whether the first line with text is a JSON value of its own, and other lines follow or it is an object."""
    first, _, rest = text.strip().removeprefix("\ufeff").partition("\n")
    try:
        value = json.loads(first)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) or bool(rest.strip())


def _in_a_row(text: str, path: str | Path) -> Iterator[tuple[str, Any]]:
    decoder, at, number = json.JSONDecoder(), 0, 0
    while rest := text[at:].lstrip():
        at = len(text) - len(rest)
        try:
            end = decoder.raw_decode(text, at)[1]
        except (ValueError, RecursionError):
            parsed(text if number == 0 else text[at:], path)  # names the place
            raise DataError(f"{path}: is not JSON: mend the file") from None
        yield f"object {number + 1}", parsed(text[at:end], path)
        at, number = end, number + 1
