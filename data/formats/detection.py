"""Detection of a path's format from its content, never from its name: the known formats are tried in order."""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

from ...errors import DataError, at
from ..records import Conversation
from .elements import first_element
from .jsonfiles import read_json, read_lines, read_text

MANIFEST = "manifest.json"
CONVERSATIONS = "conversations.jsonl"
"""A folder with these two files is a run."""

FAILURES = "failures.jsonl"
"""Where a run keeps conversations that were cut short."""

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
    """Short and unique, such as `sharegpt`: what `kind_of` says of a path."""
    description: str
    """A description in a few words, for lists of known formats."""
    recognises: Callable[["Source"], bool]
    """Whether a path has this format. It is called for every path, so it should read little."""
    read: Callable[[Path], Contents | Iterable[Conversation]]
    """The conversations; DataError if they cannot be read."""
    write: Writer | None = None
    """None if conversations cannot be converted into this format."""

    def contents(self, path: Path) -> Contents:
        """The result of `read` as `Contents`, also if it returns only conversations."""
        result = self.read(path)
        return result if isinstance(result, Contents) else Contents(tuple(result))


class Source:
    """A path whose format is to be detected. Text and value are read on first use; they are empty if unreadable."""

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
        first = self.text.lstrip()[:1]
        try:
            if first == "{":
                try:
                    return next(read_lines(self.path))[1]
                except DataError:  # not JSON lines: one object over many lines, or several
                    return first_element(self.text, self.path)
            return read_json(self.path) if first == "[" else None
        except DataError as error:
            self.fault = error
            return None

    def has(self, *keys: str) -> bool:
        """Whether the file begins with a JSON object that has all of the keys."""
        return isinstance(self.value, dict) and all(key in self.value for key in keys)


def detected(source: Source, formats: Iterable[Format]) -> Format | None:
    """The first format that recognises the path, or None; DataError for a file that is unreadable or empty."""
    for form in formats:
        if form.recognises(source):
            return form
    if source.fault is not None:
        raise source.fault
    if not source.is_folder and not source.text.strip():
        raise DataError(f"{at(source.path)}: is empty: give a file with conversations or topics")
    return None


def json_files(root: Path) -> list[Path]:
    """Every JSON file below a folder, without hidden files, sorted by path."""
    files = [
        Path(folder, name)
        for folder, _, names in os.walk(root)
        for name in names
        if name.endswith(".json") and not name.startswith(".")
    ]
    return sorted(files, key=lambda file: file.relative_to(root).parts)


def is_folder(path: Path) -> bool:
    """Whether the path is a folder; DataError for a name that the operating system does not allow."""
    try:
        return path.is_dir()
    except (OSError, ValueError) as error:
        raise DataError(f"{at(path)}: is no path ({error.__class__.__name__}): check it") from None
