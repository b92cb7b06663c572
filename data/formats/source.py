"""A path whose form is to be told from its content, and the forms that are known.

A form's name never depends on the name of a file: `recognises` looks at what it holds.
"""

import logging
from codecs import BOM_UTF8
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from inspect import signature
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

from ...errors import DataError, at
from ..files.json import STRICT, Broken, decoded, elements_in, read_text
from ..files.paths import open_lines
from ..packages import failure, is_shipped
from ..records import Conversation, is_object

MANIFEST = "manifest.json"
CONVERSATIONS = "conversations.jsonl"
"""A folder with these two files is a run."""


PAGE = "page.html"
"""The page of a test, in its run folder."""

FOLDER = "folder"
"""Kind of a folder whose files are data sets, and which is itself neither a run nor of another form."""

log = logging.getLogger(__name__)

_FIRST = 20
"""Values at the beginning of a file that a form may look at."""
_HEAD = 1 << 20
"""Bytes that are read at first: most files are not longer, and are opened once for all forms."""

ConversationStream: TypeAlias = Generator[Conversation, None, tuple[str, ...]]
"""Conversations one at a time; the generator's result is the notes of their reader."""
Writer: TypeAlias = Callable[[Iterable[Conversation], Path], list[str]]
"""Writes conversations to a path; gives a line for each thing that the format cannot hold."""


class Source:
    """A path whose form is to be told; what it holds is read on first use, and empty if unreadable."""

    def __init__(self, path: str | Path, broken: Broken = STRICT) -> None:
        self.path = Path(path)
        self.fault: DataError | None = None
        """The error, if the text or a value could not be read and is therefore empty."""
        self._broken = broken

    @cached_property
    def is_folder(self) -> bool:
        """Whether the path is a folder."""
        try:
            return self.path.is_dir()
        except OSError:  # such as a name that is too long
            return False

    @cached_property
    def begin(self) -> bytes:
        """The first bytes, unzipped, of a short file all; empty for a folder and for a file that cannot be read."""
        try:
            if self.is_folder:
                return b""
            with open_lines(self.path) as file:
                return file.read(_HEAD)
        except (DataError, OSError) as error:
            self.fault = error if isinstance(error, DataError) else None
            return b""

    @cached_property
    def text(self) -> str:
        """The file's text; empty for a folder and for a file that is not text."""
        try:
            if self.is_folder or 0 < len(self.begin) < _HEAD:
                return decoded(self.begin, self.path)
            return read_text(self.path)
        except DataError as error:
            self.fault = error
            return ""

    @property
    def is_list(self) -> bool:
        """Whether the file begins as a JSON list."""
        return self.begin.removeprefix(BOM_UTF8).lstrip()[:1] == b"["

    @cached_property
    def beginning(self) -> tuple[Any, ...]:
        """The first JSON values of a list or of lines, at most twenty; of a file without one a single None."""
        begins = self.begin.removeprefix(BOM_UTF8).lstrip()[:1]
        values: list[Any] = []
        if begins in (b"{", b"[") or (begins and self._broken.skip):
            try:
                with BytesIO(self.begin) if len(self.begin) < _HEAD else open_lines(self.path) as file:
                    for _, value in islice(elements_in(file, self.path, Broken(self._broken.skip)), _FIRST):
                        values.append(value)
            except DataError as error:  # a later line its reader will name
                self.fault = None if values else error
        return tuple(values) or (None,)

    @property
    def first(self) -> Any:
        """The first value; None without one."""
        return self.beginning[0]

    @property
    def value(self) -> Any:
        """The first value, where it is not of a list."""
        return None if self.is_list else self.first

    @property
    def is_other_text(self) -> bool:
        """Whether it is a text that is no JSON, neither by its first value nor by the ending of its name."""
        ending = self.path.name.removesuffix(".gz").endswith((".json", ".jsonl"))
        return self.first is None and bool(self.text.strip()) and not ending

    def has(self, *keys: str) -> bool:
        """Whether the file begins with a JSON object that has all of the keys."""
        return is_object(self.value) and all(key in self.value for key in keys)


@dataclass(frozen=True)
class Contents:
    """What a file or folder holds."""

    conversations: tuple[Conversation, ...]
    notes: tuple[str, ...] = ()
    """Remarks about the source."""
    broken: tuple[str, ...] = ()
    """One line for each file of a folder that could not be read; the other files were."""


@dataclass(frozen=True)
class Format:
    """A form of conversations on disk."""

    name: str
    """Short and unique, such as `sharegpt`: the result of `kind_of` for a path."""
    description: str
    """A description in a few words, for lists of known formats."""
    recognises: Callable[[Source], bool]
    """Whether a path has this format. It is called for every path, so it should read little."""
    read: Callable[..., Contents | Iterable[Conversation]]
    """The conversations of a path; DataError if they cannot be read. A generator may return its notes, a tuple of texts.

    With a second argument `broken` it is given what is done with broken lines (`files.json.Broken`).
    """
    write: Writer | None = None
    """None if conversations cannot be converted into this format."""
    scenarios: bool = False
    """Whether `read` gives scenarios that were not simulated yet: conversations without a message."""

    def contents(self, path: Path, broken: Broken = STRICT) -> Contents:
        """The result of `read` as `Contents`; DataError in one line if a reader that is not Duologue's fails."""
        arguments = (path, broken) if _takes_broken(self.read) else (path,)
        try:
            contents = _contents(self.read(*arguments))
        except Exception as error:
            if isinstance(error, DataError) or is_shipped(self.read):
                raise
            raise DataError(f"{at(path)}: the format {self.name!r} cannot read it: {failure(error)}") from error
        if odd := [type(one).__name__ for one in contents.conversations if not isinstance(one, Conversation)]:
            raise DataError(
                f"{at(path)}: the format {self.name!r} gave {odd[0]}, not data.Conversation: check its read"
            )
        return contents

    def claims(self, source: Source) -> bool:
        """Whether `recognises` accepts the path; False, with a warning, if a function that is not Duologue's fails."""
        try:
            return bool(self.recognises(source))
        except Exception as error:  # it is called for every path, also for those of other formats
            if isinstance(error, DataError) or is_shipped(self.recognises):
                raise
            log.warning("%s: the format %s is not asked: %s", source.path, self.name, failure(error))
            return False


def detected(source: Source, formats: Iterable[Format]) -> Format | None:
    """The first format that recognises the path, or None; DataError for a file that is unreadable or empty."""
    form = next((form for form in formats if form.claims(source)), None)
    if form is None and source.fault is None and not source.is_folder and not source.text.strip():
        source.fault = source.fault or DataError(
            f"{at(source.path)}: is empty: give a file with conversations or topics"
        )
    if form is None and source.fault is not None and not source.is_other_text:
        raise source.fault
    return form


def _takes_broken(read: Callable[..., object]) -> bool:
    try:
        return "broken" in signature(read).parameters
    except ValueError:  # of a type such as list
        return False


def _contents(result: Contents | Iterable[Conversation]) -> Contents:
    if isinstance(result, Contents):
        return result
    notes: list[str] = []

    def noted() -> Iterator[Conversation]:
        returned: Any = yield from result if isinstance(result, Generator) else iter(result)
        notes.extend(returned if isinstance(returned, tuple) else ())

    return Contents(tuple(noted()), tuple(notes))
