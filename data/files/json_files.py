"""JSON and JSON lines on disk: reading is strict, writing is atomic."""

import glob
import json
import math
import os
import re
import shutil
from codecs import StreamWriter, getwriter
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import IO, Any, AnyStr, BinaryIO

from ...errors import DataError, at
from .broken_lines import leave_out
from .folders import make_folder
from .regular_files import GZIP, MOST_BYTES, check_replaceable, content, opened, unzipped

DEEPEST = 200
"""Most objects and lists inside each other: Python and pydantic end at some hundreds, each at its own place."""

_TOO_DEEP = f"is nested too deeply to be a data set, more than {DEEPEST} levels: check the file"
_LONG_NUMBER = r"-?\d{4000,}"
"""Python turns no longer number into one, for the time that takes grows as the square of its length."""


def dumps(value: Any, *, indent: int | None = None) -> str:
    """JSON without escapes of non-ASCII characters; escaped if UTF-8 cannot encode it (half of a surrogate pair)."""
    text = json.dumps(value, ensure_ascii=False, indent=indent, allow_nan=False)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(value, ensure_ascii=True, indent=indent, allow_nan=False)
    return text


def read_text(path: str | Path) -> str:
    """The file's text as UTF-8 without a byte order mark, unzipped if it is a gzip file.

    Line ends are not changed.
    """
    read = content(path)
    try:
        return (unzipped(read, path) if read.startswith(GZIP) else read).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _not_utf8(path, error.start) from None


def _not_utf8(path: str | Path, byte: int) -> DataError:
    return DataError(f"{at(path)}: is not UTF-8 at byte {byte}: save it as UTF-8")


def read_json(path: str | Path) -> Any:
    """The file's JSON value."""
    return parsed(read_text(path), path)


def read_lines(path: str | Path, *, torn: bool = False) -> Iterator[tuple[int, Any]]:
    """Number (from 1) and value of each line that is not blank, one at a time.

    `torn`: a last line that no newline ends and that is not JSON is left out: it was cut off while it was written.
    """
    with open_lines(path) as file:
        for number, _, value in read_placed(file, path, torn=torn):
            yield number, value


def read_placed(file: IO[bytes], path: str | Path, *, torn: bool = False) -> Iterator[tuple[int, int, Any]]:
    """As `read_lines`, of an open file, with the byte at which each line begins.

    A line that is not JSON is left out where this is asked for (`broken_lines`).
    """
    begin = file.tell()
    for number, written in enumerate(lines_of(file, path), start=1):
        here, begin = begin, begin + len(written)
        try:
            line = written.decode("utf-8" if here else "utf-8-sig")
            value = parsed(line.removesuffix("\n"), path, number) if line.strip() else None
        except (DataError, UnicodeDecodeError) as error:
            if leave_out(f"line {number}"):
                continue
            if torn and isinstance(error, DataError) and not written.endswith(b"\n"):
                return
            raise _not_utf8(path, here + error.start) if isinstance(error, UnicodeDecodeError) else error from None
        if line.strip():
            yield number, here, value


def lines_of(file: IO[AnyStr], path: str | Path) -> Iterator[AnyStr]:
    """The lines of an open file of any size; DataError for a line over the bound."""
    while line := file.readline(MOST_BYTES + 1):
        if len(line) > MOST_BYTES:
            raise DataError(f"{at(path)}: a line has over {MOST_BYTES:,} bytes, which are read at once: split it")
        yield line


def open_lines(path: str | Path) -> IO[bytes]:
    """A file of lines, open to be read; of a gzip file all is held."""
    file = opened(Path(path))
    if file.read(len(GZIP)) == GZIP:
        with file:
            return BytesIO(unzipped(content(path), path))
    file.seek(0)
    return file


def parsed(text: str, path: str | Path, line: int | None = None) -> Any:
    """The JSON value of a file's text or line; DataError names line and column of an error."""
    number = line
    try:
        value = json.loads(text, **_HOOKS)
    except json.JSONDecodeError as error:
        where = at(path, f"line {line or error.lineno}, column {error.colno}")
        advice = "write one JSON value a line" if line else "mend the file there"
        raise DataError(f"{where}: is not JSON ({error.msg}): {advice}") from None
    except RecursionError:
        problem = _TOO_DEEP
    except _TwiceError as error:
        problem = str(error)
    except _NumberError as error:
        problem, number = str(error), line or _line_of(re.escape(error.token), text)
    except ValueError:  # Python's own: the number has too many digits
        problem = "a number has more than 4,000 digits: write it as a text, or a smaller one"
        number = line or _line_of(_LONG_NUMBER, text)
    else:
        # Counting brackets takes far less time than looking into each value.
        if text.count("{") + text.count("[") <= DEEPEST or not is_too_deep(value):
            return value
        problem = _TOO_DEEP
    raise DataError(f"{at(path, *([f'line {number}'] if number else []))}: {problem}")


def is_too_deep(value: Any) -> bool:
    """Whether a JSON value has more than `DEEPEST` objects and lists inside each other."""
    level = [value]
    for _ in range(DEEPEST):
        level = [
            inner
            for outer in level
            if isinstance(outer, (dict, list))
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, (dict, list))
        ]
        if not level:
            return False
    return True


class _TwiceError(ValueError):
    """An object has the same key twice."""


class _NumberError(ValueError):
    """A number that JSON does not know, or that cannot be written again."""

    def __init__(self, token: str, problem: str) -> None:
        super().__init__(f"{token if len(token) <= 40 else token[:37] + '...'} {problem}")
        self.token = token


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):  # json would silently keep only the last value
        counts = Counter(key for key, _ in pairs)
        twice = next(key for key, _ in pairs if counts[key] > 1)
        shown = json.dumps(twice if len(twice) <= 60 else twice[:57] + "...")
        raise _TwiceError(f"{shown} appears twice in an object: keep one of the two")
    return value


def _no_constant(name: str) -> Any:
    raise _NumberError(name, "is not a JSON number: write null or a number")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise _NumberError(text, "is too large a number to be written again: write a smaller one")
    return number


_HOOKS: dict[str, Any] = {"parse_constant": _no_constant, "parse_float": _finite, "object_pairs_hook": _each_once}
STRICT = json.JSONDecoder(**_HOOKS)
"""Decodes a value as `parsed`; ValueError where that raises DataError."""
LENIENT = json.JSONDecoder(parse_constant=lambda _: None, parse_float=_finite, object_pairs_hook=_each_once)
"""As `STRICT`; a number that JSON does not know is null."""


def _line_of(token: str, text: str) -> int | None:
    """Line of the first place outside a string that a pattern matches; up to there the text is JSON."""
    for match in re.finditer(rf'"(?:[^"\\]++|\\.)*+"|(?P<token>{token})', text, re.DOTALL):
        if match["token"] is not None:
            return text.count("\n", 0, match.start()) + 1
    return None


class UnwrittenError(DataError):
    """A file that cannot be written: the disk is full, or the folder read-only."""

    def __init__(self, path: str | Path, why: str | None) -> None:
        super().__init__(f"{at(path)}: cannot be written ({why}): choose another place")
        self.path, self.why = path, why


@contextmanager
def replacing_bytes(path: str | Path, before: Callable[[], object] = lambda: None) -> Iterator[BinaryIO]:
    """A temporary file that replaces the path at the end; after an error the old file stays as it was.

    `before` is called when it is whole on the disk. DataError if the path is a folder, a pipe, a socket or a device, which is never replaced.
    """
    check_replaceable(path)
    target = Path(path)
    if target.is_dir():
        raise DataError(f"{at(path)}: is a folder: name a file")
    partial = target.with_name(f".{target.name}.{os.getpid()}.partial")
    try:
        make_folder(target.parent)
        try:
            partial.unlink(missing_ok=True)
            with partial.open("xb") as file:  # which opens no link
                yield file
                file.flush()
                os.fsync(file.fileno())
            before()
            partial.replace(target)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        raise UnwrittenError(path, error.strerror) from None


@contextmanager
def replacing(path: str | Path) -> Iterator[StreamWriter]:
    """As `replacing_bytes`, for text in UTF-8."""
    with replacing_bytes(path) as file:
        yield getwriter("utf-8")(file)


@contextmanager
def replacing_folder(path: Path) -> Iterator[Path]:
    """A new folder whose files stand at the path at the end; after an error none of them does.

    A path that is not there yet is made in one step; files that a folder there has besides stay. What killed processes left
    of this is removed. DataError if it cannot be written.
    """
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        for left in path.parent.glob(f".{glob.escape(path.name)}.*.partial"):
            shutil.rmtree(left, ignore_errors=True)
        make_folder(partial)
        yield partial
        if not path.exists():
            partial.rename(path)
            return
        for file in sorted(file for file in partial.rglob("*") if file.is_file()):
            make_folder((target := path / file.relative_to(partial)).parent)
            file.replace(target)
    except UnwrittenError as error:
        raise UnwrittenError(path, error.why) from None
    except OSError as error:
        raise UnwrittenError(path, error.strerror) from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)


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
