"""Reading of a large JSON file piece by piece: the elements of its list, or the members of its objects."""

import io
import json
import re
from collections import deque
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NoReturn, TextIO

from ...errors import DataError, at
from .json_files import DEEPEST, STRICT, is_too_deep, open_lines, read_json
from .regular_files import MOST_BYTES

_BLOCK = 1 << 18
_OF_NUMBER = 3
"""Characters that may be left of a number whose digits are in the next block: `1` of `1e+10`."""
_NEXT = re.compile(r"[^ \t\n\r]")


def elements_of(path: str | Path) -> Iterator[Any]:
    """The elements of the list that a file holds, one at a time; DataError if it is not JSON."""
    with _opened(path) as file:
        pieces = _Pieces(path, file, STRICT)
        yield from pieces.array()
        if pieces.next():
            pieces.fail()


def objects_of(path: str | Path, decoder: json.JSONDecoder) -> Iterator[Iterator[tuple[str, Any]]]:
    """The members of each object in a file: key and value, which is an iterator for a list.

    An object or a list cannot be read any more once the next one was asked for.
    """
    with _opened(path) as file:
        pieces = _Pieces(path, file, decoder)
        while pieces.next():
            yield (members := pieces.members())
            deque(members, maxlen=0)


def abridged(path: str | Path, most: int, decoder: json.JSONDecoder = STRICT) -> Any:
    """The value of a file's list or first object, with at most so many elements.

    Of an object, each list that is a member has at most so many.
    """
    with _opened(path) as file:
        pieces = _Pieces(path, file, decoder)
        if pieces.next() == "[":
            return list(islice(pieces.array(), most))
        members = pieces.members()
        return {key: list(islice(value, most)) if isinstance(value, Iterator) else value for key, value in members}


def _opened(path: str | Path) -> TextIO:
    return io.TextIOWrapper(open_lines(path), encoding="utf-8-sig", newline="")


class _Pieces:
    """The text of an open file, of which a block or one value is in memory."""

    def __init__(self, path: str | Path, file: TextIO, decoder: json.JSONDecoder) -> None:
        self._path, self._file, self._decoder = path, file, decoder
        self._text, self._place, self._lines = "", 0, 0

    def next(self) -> str:
        """The next character that is not white space, which is not read yet; empty at the end."""
        while (begin := _NEXT.search(self._text, self._place)) is None:
            self._place = len(self._text)
            if not self._grow():
                return ""
        self._place = begin.start()
        return begin.group()

    def array(self) -> Iterator[Any]:
        """The elements of the list that begins here."""
        self._take("[")
        if self.next() == "]":
            self._take("]")
            return
        while True:
            yield self._value()
            if self._take(",]") == "]":
                return

    def members(self) -> Iterator[tuple[str, Any]]:
        """The members of the object that begins here; the elements of a list one at a time."""
        self._take("{")
        if self.next() == "}":
            self._take("}")
            return
        keys = set[str]()
        while True:
            key = self._value() if self.next() == '"' else None
            if key is None or key in keys:
                self.fail()
            keys.add(key)
            self._take(":")
            if self.next() == "[":
                yield key, (elements := self.array())
                deque(elements, maxlen=0)
            else:
                yield key, self._value()
            if self._take(",}") == "}":
                return

    def fail(self) -> NoReturn:
        """Raise DataError: the text is not JSON here."""
        if self._decoder is STRICT and Path(self._path).stat().st_size <= MOST_BYTES:
            read_json(self._path)  # which names line and column
        line = self._lines + self._text.count("\n", 0, self._place) + 1
        raise DataError(f"{at(self._path, f'line {line}')}: is not JSON: mend the file there")

    def _take(self, expected: str) -> str:
        character = self.next()
        if not character or character not in expected:
            self.fail()
        self._place += 1
        return character

    def _value(self) -> Any:
        self.next()
        while True:
            try:
                value, end = self._decoder.raw_decode(self._text, self._place)
            except (ValueError, RecursionError) as error:
                if not isinstance(error, json.JSONDecodeError) or not self._grow():
                    self.fail()
                continue
            if len(self._text) - end < _OF_NUMBER and self._grow():
                continue
            brackets = self._text.count("{", self._place, end) + self._text.count("[", self._place, end)
            if brackets >= DEEPEST and is_too_deep([value]):
                self.fail()
            self._place = end
            return value

    def _grow(self) -> bool:
        """Read a block; False at the end.

        It is as long as the text in memory, so that a long value is not decoded again for each short block.
        """
        begun = len(self._text) - self._place
        if begun > MOST_BYTES:
            raise DataError(f"{at(self._path)}: a value has over {MOST_BYTES:,} characters: split it")
        try:
            block = self._file.read(max(_BLOCK, begun))
        except UnicodeDecodeError:
            self.fail()
        if block:
            self._lines += self._text.count("\n", 0, self._place)
            self._text, self._place = self._text[self._place :] + block, 0
        return bool(block)
