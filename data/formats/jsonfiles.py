"""JSON and JSON lines on disk: reading is strict, writing is atomic."""

import gzip
import json
import math
import os
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from ...errors import DataError, at

GZIP = b"\x1f\x8b"
"""How a file begins that gzip wrote."""


def dumps(value: Any, *, indent: int | None = None) -> str:
    """JSON without escapes of non-ASCII characters; escaped if UTF-8 cannot encode it (half of a surrogate pair)."""
    text = json.dumps(value, ensure_ascii=False, indent=indent, allow_nan=False)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(value, ensure_ascii=True, indent=indent, allow_nan=False)
    return text


def read_text(path: str | Path) -> str:
    """The file's text as UTF-8, without a byte order mark; line ends are not changed. What is zipped by gzip is unzipped."""
    try:
        content = Path(path).read_bytes()
        return (gzip.decompress(content) if content.startswith(GZIP) else content).decode("utf-8-sig")
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise DataError(f"{at(path)}: is a damaged gzip file: copy it again") from None
    except UnicodeDecodeError as error:
        raise DataError(f"{at(path)}: is not UTF-8 at byte {error.start}: save it as UTF-8") from None
    except OSError as error:
        raise DataError(f"{at(path)}: cannot be read ({error.strerror}): check the path") from None


def read_json(path: str | Path) -> Any:
    """The file's JSON value."""
    return parsed(read_text(path), path)


def read_lines(path: str | Path) -> Iterator[tuple[int, Any]]:
    """Number (from 1) and value of each line that is not blank."""
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if line.strip():
            yield number, parsed(line, path, number)


def parsed(text: str, path: str | Path, line: int | None = None) -> Any:
    """The JSON value of a file's text or of one of its lines; DataError names the line and column of an error."""
    try:
        return json.loads(text, parse_constant=_no_constant, parse_float=_finite, object_pairs_hook=_each_once)
    except json.JSONDecodeError as error:
        where = at(path, f"line {line or error.lineno}, column {error.colno}")
        advice = "write one JSON value a line" if line else "mend the file there"
        raise DataError(f"{where}: is not JSON ({error.msg}): {advice}") from None
    except RecursionError:
        where = at(path, *([f"line {line}"] if line else []))
        raise DataError(f"{where}: is nested too deeply to be a data set: check the file") from None
    except _TwiceError as error:
        raise DataError(f"{at(path, *([f'line {line}'] if line else []))}: {error}") from None
    except ValueError as error:
        number = line or _line_of(str(error).split()[0], text)
        raise DataError(f"{at(path, *([f'line {number}'] if number else []))}: {error}") from None


class _TwiceError(ValueError):
    """An object has the same key twice."""


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):  # json would silently keep only the last value
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise _TwiceError(f"{json.dumps(twice)} appears twice in an object: keep one of the two")
    return value


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number: write null or a number")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{text} is too large a number to be written again: write a smaller one")
    return number


def _line_of(token: str, text: str) -> int | None:
    """Line of the first such token outside a string."""
    start = text.find(token)
    while start >= 0:
        try:
            json.loads(text[:start] + "?")
        except json.JSONDecodeError as error:
            if error.pos == start:  # the parser reached the token and expected a value there
                return text.count("\n", 0, start) + 1
        start = text.find(token, start + 1)
    return None


@contextmanager
def replacing(path: str | Path) -> Iterator[TextIO]:
    """A temporary file that replaces the path at the end; after an error the old file stays as it was."""
    target = Path(path)
    partial = target.with_name(f".{target.name}.{os.getpid()}.partial")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            with partial.open("w", encoding="utf-8", newline="") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            partial.replace(target)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        raise DataError(f"{at(path)}: cannot be written ({error.strerror}): choose another place") from None


def write_text(path: str | Path, text: str) -> None:
    """Write the text as one file, atomically: after an error the old file stays as it was."""
    with replacing(path) as file:
        file.write(text)


def write_json(path: str | Path, value: Any, *, indent: int | None = 1, end: str = "") -> None:
    """Write the value as one JSON file, atomically."""
    write_text(path, dumps(value, indent=indent) + end)


def write_lines(path: str | Path, values: Iterable[Any]) -> None:
    """Write one value a line, atomically; the values may come from an iterator."""
    with replacing(path) as file:
        for value in values:
            file.write(dumps(value) + "\n")
