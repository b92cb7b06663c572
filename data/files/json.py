"""JSON and JSON lines on disk: reading is strict and in one pass, writing is atomic."""

import base64
import json
import os
import re
from codecs import BOM_UTF8, StreamWriter, getwriter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, Any, BinaryIO, TypeVar

import yaml

from ...errors import DataError, at
from .paths import MOST_BYTES, check, check_replaceable, make_folder, open_lines

ADVICE = "skip_broken leaves out what cannot be read and counts it: --skip-broken, --set skip_broken=true, load(skip_broken=True)"

_BEGIN = 20
"""Lines at the beginning of a file among which one of JSON is looked for."""
_NEXT = re.compile(r"\S")

T = TypeVar("T", str, list[Any])


# --- Broken lines


class Broken:
    """What is done with the lines of a source that cannot be read: an error, or, with `skip`, left out and noted."""

    def __init__(self, skip: bool = False) -> None:
        self.skip = skip
        self.places: dict[str, None] = {}
        """The places of the lines that were left out, in order."""

    @contextmanager
    def reading(self, place: str) -> Iterator[None]:
        """What is read inside is a line's; the error of one after the first names the option that leaves it out."""
        try:
            yield
        except DataError as error:
            if not place.startswith(("line ", "[")):
                raise
            if self.skip:
                self.places[place] = None
                return
            raise DataError(str(error) if place in ("line 1", "[0]") else f"{error}; {ADVICE}") from None

    def notes(self, path: Path, count: int) -> tuple[str, ...]:
        """A line with the number of lines that were left out; DataError if nothing else could be read."""
        if not self.places:
            return ()
        places = list(self.places)
        what = "element" if places[0].startswith("[") else "line"
        lines = f"{len(places)} broken {what}{'s' if len(places) > 1 else ''}"
        if not count:
            raise DataError(f"{path}: no {what} can be read, {lines}: is it a file of conversations?")
        return (f"left out: {lines} ({', '.join(places[:3])}{', ...' if places[3:] else ''})",)


STRICT = Broken()
"""Nothing is left out."""


# --- Reading


def read_text(path: str | Path) -> str:
    """The file's text as UTF-8 without a byte order mark, unzipped if it is a gzip file; line ends are not changed."""
    with open_lines(path) as file:
        return _text_of(file, path)


def _text_of(file: IO[bytes], path: str | Path) -> str:
    check(path, MOST_BYTES)
    return decoded(file.read(), path)


def decoded(read: bytes, path: str | Path, before: int = 0) -> str:
    """The text of bytes that stand at a place of the file."""
    try:
        return read.decode("utf-8" if before else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{at(path)}: is not UTF-8 at byte {before + error.start}: save it as UTF-8") from None


def read_json(path: str | Path) -> Any:
    """The file's JSON value."""
    return parsed(read_text(path), path)


def read_lines(path: str | Path, broken: Broken = STRICT) -> Iterator[tuple[int, Any]]:
    """Number (from 1) and value of each line that is not blank, one at a time."""
    with open_lines(path) as file:
        for number, _, value in placed_lines(file, path, broken):
            yield number, value


def placed_lines(file: IO[bytes], path: str | Path, broken: Broken = STRICT) -> Iterator[tuple[int, int, Any]]:
    """As `read_lines`, of an open file, with the byte at which each line begins."""
    begin = file.tell()
    for number, line in enumerate(file, start=1):
        here, begin = begin, begin + len(line)
        if not line.strip() or line.removeprefix(BOM_UTF8).isspace():
            continue
        values: list[Any] = []
        with broken.reading(f"line {number}"):
            values.append(parsed(decoded(line, path, here).removesuffix("\n"), path, number))
        for value in values:
            yield number, here, value


def elements(path: str | Path, broken: Broken = STRICT) -> Iterator[tuple[str, Any]]:
    """Place and value of each JSON value: of a list, of lines, or of objects over many lines.

    A place is words such as `line 3` or `[2]`. DataError if the text is not JSON; where broken lines are left out, only
    if it has no line of JSON and is not JSON as a whole.
    """
    with open_lines(path) as file:
        yield from elements_in(file, path, broken)


def elements_in(file: IO[bytes], path: str | Path, broken: Broken = STRICT) -> Iterator[tuple[str, Any]]:
    """As `elements`, of an open file."""
    head = [line for line in islice(file, _BEGIN) if line.strip()]
    first = head[0].removeprefix(BOM_UTF8).strip() if head else b""
    of_lines = first[:1] not in (b"{", b"[") or (_is_json(first) and (first[:1] == b"{" or len(head) > 1))
    values: Iterable[tuple[str, Any]] = ()
    file.seek(0)
    if not of_lines:
        try:
            values = list(_whole(file, path))
        except DataError:
            if not broken.skip or first[:1] == b"[":
                raise
            of_lines = True
            file.seek(0)
    if of_lines:
        values = ((f"line {number}", value) for number, _, value in placed_lines(file, path, broken))
    yield from values


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return False
    return True


def _whole(file: IO[bytes], path: str | Path) -> Iterator[tuple[str, Any]]:
    """The elements of one list, or the objects that stand one after another over many lines."""
    text = _text_of(file, path)
    if text.lstrip()[:1] == "[":
        yield from ((f"[{number}]", value) for number, value in enumerate(parsed(text, path)))
        return
    start = number = 0
    while begin := _NEXT.search(text, start):
        try:
            end = json.JSONDecoder().raw_decode(text, begin.start())[1]
        except (ValueError, RecursionError):
            parsed(text if number == 0 else text[begin.start() :], path)  # names the place
            raise DataError(f"{path}: is not JSON: mend the file") from None
        yield f"object {number + 1}", parsed(text[begin.start() : end], path)
        start, number = end, number + 1


# --- Values


def parsed(text: str, path: str | Path, line: int | None = None) -> Any:
    """The JSON value of a file's text or line; DataError names line and column of an error."""
    try:
        return json.loads(text, parse_constant=_no_constant, object_pairs_hook=_each_once)
    except json.JSONDecodeError as error:
        where = at(path, f"line {line or error.lineno}, column {error.colno}")
        advice = "write one JSON value a line" if line else "mend the file there"
        raise DataError(f"{where}: is not JSON ({error.msg}): {advice}") from None
    except (RecursionError, ValueError) as error:  # ValueError: a constant, or Python's own of a number's digits
        raise DataError(f"{at(path, *([f'line {line}'] if line else []))}: {error}") from None


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):  # json would silently keep only the last value
        raise ValueError("a key appears twice in an object: keep one of the two")
    return value


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number: write null or a number")


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


def as_value(value: Any) -> Any:
    """The value of a text that is JSON, if it is an object or list; anything else as it is."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("[", "{"):
        return value
    try:
        return json.loads(value, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return value


def as_json(value: Any) -> Any:
    """A value of a table as JSON: times are ISO texts, bytes base64, a number that JSON lacks is null."""
    return json.loads(json.dumps(value, default=_as_text, skipkeys=True), parse_constant=lambda _: None)


def _as_text(value: Any) -> str:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return str(value.isoformat() if hasattr(value, "isoformat") else value)


def dumps(value: Any, *, indent: int | None = None) -> str:
    """JSON without escapes of non-ASCII characters; escaped if UTF-8 cannot encode it (half of a surrogate pair)."""
    text = json.dumps(value, ensure_ascii=False, indent=indent, allow_nan=False)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(value, ensure_ascii=True, indent=indent, allow_nan=False)
    return text


# --- Differences


def difference(original: Mapping[str, Any], derived: Mapping[str, Any]) -> dict[str, Any]:
    """The patch that turns the derived object into the original; empty if they are equal, including key order.

    `values`: the original's values of keys that are missing or different in the derived object.
    `order`: the original's keys, if they or their order differ.
    """
    values = {key: value for key, value in original.items() if key not in derived or not _same(derived[key], value)}
    patch: dict[str, Any] = {}
    if values:
        patch["values"] = values
    if list(original) != list(derived):
        patch["order"] = list(original)
    return patch


def patched(derived: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """The original object, from the derived object and its patch."""
    merged = dict(derived) | dict(patch.get("values", {}))
    return {key: merged[key] for key in patch.get("order", merged)}


def _same(left: Any, right: Any) -> bool:
    """Whether two values are the same JSON: 1, 1.0 and true differ, and so do objects with another order of keys."""
    if isinstance(left, dict) and isinstance(right, dict):
        return list(left) == list(right) and all(_same(left[key], right[key]) for key in left)
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return len(left) == len(right) and all(map(_same, left, right))
    return type(left) is type(right) and bool(left == right)


# --- Writing


class UnwrittenError(DataError):
    """A file that cannot be written: the disk is full, or the folder read-only."""

    def __init__(self, path: str | Path, why: str | None) -> None:
        super().__init__(f"{at(path)}: cannot be written ({why}): choose another place")
        self.path, self.why = path, why


@contextmanager
def replacing_bytes(path: str | Path) -> Iterator[BinaryIO]:
    """A temporary file that replaces the path at the end; after an error the old file stays as it was.

    DataError if the path is a folder, a pipe, a socket or a device, which is never replaced.
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


def write_text(path: str | Path, text: str) -> None:
    """Write the text as one file, atomically."""
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


def read_settings(path: Path) -> Any:
    """The value of a file of YAML or JSON; DataError names the place of an error."""
    text = read_text(path)
    return from_yaml(text, at(path)) if path.suffix.lower() in (".yaml", ".yml") else parsed(text, path)


def from_yaml(text: str, where: str) -> Any:
    """The value of a YAML text; DataError, which begins with `where`, if it is none."""
    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        problem = " ".join(str(error).split())[:200]
        raise DataError(f"{where}: is not YAML ({problem}): mend it") from None
