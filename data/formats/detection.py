"""Detection of a path's format from its content, never from its name: the known formats are tried in order."""

import logging
from codecs import BOM_UTF8
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

from ...errors import DataError, at
from ..files.broken_lines import is_skipping, strict
from ..files.json_files import open_lines, read_json, read_lines, read_text
from ..files.json_values import first_element, has_lines
from ..packages import failure, is_shipped
from ..records import Conversation

MANIFEST = "manifest.json"
CONVERSATIONS = "conversations.jsonl"
"""A folder with these two files is a run."""

FAILURES = "failures.jsonl"
"""Where a run keeps conversations that were cut short."""

PAGE = "page.html"
"""The page of a test, in its run folder."""

FOLDER = "folder"
"""Kind of a folder whose files are data sets, and which is itself neither a run nor of another format."""

log = logging.getLogger(__name__)

_FIRST = 20
"""Values at the beginning of a file that a format may look at."""
_HEAD = 5_000
"""Bytes at the beginning of a file by which it is recognised if it is not JSON."""

ConversationStream: TypeAlias = Generator[Conversation, None, tuple[str, ...]]
"""Conversations one at a time; the generator's result is the notes of their reader."""
Writer: TypeAlias = Callable[[Iterable[Conversation], Path], list[str]]
"""Writes conversations to a path; gives a line for each thing that the format cannot hold."""


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
    """A format of conversations on disk."""

    name: str
    """Short and unique, such as `sharegpt`: the result of `kind_of` for a path."""
    description: str
    """A description in a few words, for lists of known formats."""
    recognises: Callable[["Source"], bool]
    """Whether a path has this format. It is called for every path, so it should read little."""
    read: Callable[[Path], Contents | Iterable[Conversation]]
    """The conversations; DataError if they cannot be read. A generator may return its notes, a tuple of texts."""
    write: Writer | None = None
    """None if conversations cannot be converted into this format."""
    sign: str = ""
    """In words, what `recognises` looks for: what `check --form` prints."""
    scenarios: bool = False
    """Whether `read` gives scenarios that were not simulated yet: conversations without a message."""

    def contents(self, path: Path) -> Contents:
        """The result of `read` as `Contents`.

        DataError in one line if a reader that is not Duologue's fails, or gives anything else; a note if it gives none.
        """
        if is_shipped(self.read):
            return _contents(self.read(path))
        try:
            result = self.read(path)
            if result is None or isinstance(result, Conversation):  # a record is iterable too
                gave = "nothing: return or yield" if result is None else "one conversation: give a list of"
                raise DataError(f"{at(path)}: the format {self.name!r} gave {gave} conversations")
            contents = _contents(result)
        except DataError:
            raise
        except Exception as error:
            raise DataError(f"{at(path)}: the format {self.name!r} cannot read it: {failure(error)}") from error
        odd = next((value for value in contents.conversations if not isinstance(value, Conversation)), None)
        if odd is not None:
            kind = type(odd).__name__
            raise DataError(f"{at(path)}: the format {self.name!r} gave {kind}, not data.Conversation: check its read")
        if not contents.conversations:
            note = f"the format {self.name!r} found no conversation in {Path(path).name}"
            return replace(contents, notes=(*contents.notes, note))
        return contents

    def claims(self, source: "Source") -> bool:
        """Whether `recognises` accepts the path; False, with a warning, if a function that is not Duologue's fails."""
        if is_shipped(self.recognises):
            return self.recognises(source)
        try:
            return bool(self.recognises(source))
        except DataError:
            raise
        except Exception as error:  # it is called for every path, also for those of other formats
            log.warning("%s: the format %s is not asked: %s", source.path, self.name, failure(error))
            return False

    def reads(self, path: Path) -> bool:
        """Whether the path can be read in this format."""
        try:
            self.contents(path)
        except DataError:
            return False
        return True


def _contents(result: Contents | Iterable[Conversation]) -> Contents:
    if isinstance(result, Contents):
        return result
    notes: list[str] = []

    def noted() -> Iterator[Conversation]:
        returned: Any = yield from result if isinstance(result, Generator) else iter(result)
        notes.extend(returned if isinstance(returned, tuple) else ())

    return Contents(tuple(noted()), tuple(notes))


class Source:
    """A path whose format is to be detected.

    Text and value are read on first use; they are empty if unreadable.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.fault: DataError | None = None
        """The error, if the text or value could not be read and is therefore empty."""

    @cached_property
    def is_folder(self) -> bool:
        """Whether the path is a folder."""
        return is_folder(self.path)

    @cached_property
    def text(self) -> str:
        """The file's text; empty for a folder and for a file that is not text."""
        try:
            return "" if self.is_folder else read_text(self.path)
        except DataError as error:
            self.fault = error
            return ""

    @cached_property
    def value(self) -> Any:
        """The file's JSON list or object, or the object of its first JSON line; None if there is neither."""
        with strict():
            value = self._strict_value()
        if value is None and self._skips:
            self.fault = None
            return next(read_lines(self.path))[1]
        return value

    @cached_property
    def _skips(self) -> bool:
        """Whether it has lines, of which the broken ones are left out."""
        return is_skipping() and not self.is_folder and has_lines(self.path)

    def _strict_value(self) -> Any:
        first = self.begin.removeprefix(BOM_UTF8).lstrip()[:1] or self.text.lstrip()[:1].encode()
        if first == b"{":
            with suppress(DataError):  # else it is one object over many lines, or several
                return self._first_line()
        try:
            if first == b"{":
                return first_element(self.text, self.path)
            return read_json(self.path) if first == b"[" else None
        except DataError as error:
            self.fault = error
        with suppress(DataError):
            if first == b"[":
                value = self._first_line()
                self.fault = None
                return value
        return None

    def _first_line(self) -> Any:
        return next(read_lines(self.path))[1]

    @cached_property
    def begin(self) -> bytes:
        """The first kilobytes, unzipped; empty for a folder and for a file that cannot be read."""
        try:
            if self.is_folder:
                return b""
            with open_lines(self.path) as file:
                return file.read(_HEAD)
        except (DataError, OSError):
            return b""

    @cached_property
    def beginning(self) -> tuple[Any, ...]:
        """The first values of a list or of JSON lines, at most twenty; else the one value."""
        if isinstance(self.value, list):
            return tuple(self.value[:_FIRST])
        values: list[Any] = []
        try:
            if self.value is not None:
                with strict(not self._skips):
                    values += (value for _, value in islice(read_lines(self.path), _FIRST))
        except DataError:  # one object over many lines, or a line that its reader will name
            pass
        return tuple(values) or (self.value,)

    @property
    def first(self) -> Any:
        """The value, or the first one of its list."""
        return self.value[0] if isinstance(self.value, list) and self.value else self.value

    def has(self, *keys: str) -> bool:
        """Whether the file begins with a JSON object that has all of the keys."""
        return isinstance(self.value, dict) and all(key in self.value for key in keys)


def detected(
    source: Source, formats: Iterable[Format], own: Sequence[Format] = (), sure: Sequence[Format] = ()
) -> Format | None:
    """The first format that recognises the path, or None; DataError for a file that is unreadable or empty.

    `own`: formats that are not of this project. One of them has the path where no other format recognises it, or where
    the one that does cannot read it. `sure`: formats that have what they recognise in any case. DataError if two own
    formats claim a path.
    """
    form = next((form for form in formats if form.claims(source)), None)
    if own and form not in sure:
        form = _settled(source, form, own)
    if form is not None:
        return form
    is_empty = not source.is_folder and not source.text.strip()
    if source.fault is not None:
        raise source.fault
    if is_empty:
        raise DataError(f"{at(source.path)}: is empty: give a file with conversations or topics")
    return None


def _settled(source: Source, form: Format | None, own: Iterable[Format]) -> Format | None:
    """The format of a path among `form`, which recognises it, and those of somebody's own."""
    claims = [candidate for candidate in own if candidate.claims(source)]
    if not claims or (form is not None and form.reads(source.path)):
        return form
    if len(claims) > 1:
        names = " and ".join(repr(candidate.name) for candidate in claims)
        raise DataError(f"{at(source.path)}: the formats {names} both claim it: let `recognises` of one ask for more")
    return claims[0]


def is_folder(path: Path) -> bool:
    """Whether the path is a folder; DataError for a name that the operating system does not allow."""
    try:
        return path.is_dir()
    except (OSError, ValueError) as error:
        raise DataError(f"{at(path)}: is not a path ({error.__class__.__name__}): check it") from None
