"""Answers of models on disk, or only in memory.

A file has a line for each answer; a folder has the settings behind them too.
"""

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from ...data.files.journals import Codec, JournalReader
from ...data.files.json import read_json, write_json
from ...data.files.paths import check_no_links, make_folder
from ...errors import DataError
from ..journals.calls import CALLS
from ..journals.journal import Journal, RunError, making

A = TypeVar("A")
M = TypeVar("M", bound=BaseModel)


@dataclass
class AnswerStore(Generic[A]):
    """The answers so far, by their keys in the journal."""

    codec: Codec[A]
    folder: Path | None = None
    """Where the replies of models are stored while an answer is missing; None: nowhere."""
    calls: str = CALLS
    """Name of the file of these replies."""
    journal: Journal[A] | None = None
    done: dict[str, A] = field(default_factory=dict)
    """The answers that stand."""
    failed: dict[str, A] = field(default_factory=dict)
    """Those of a model that failed: it is asked again."""

    @classmethod
    def in_file(cls, path: str | Path | None, codec: Codec[A], opened: ExitStack) -> "AnswerStore[A]":
        """The answers in a file, which `opened` closes; None: in memory. RunError if it cannot be written."""
        store = cls(codec)
        if path is not None:
            store.journal = opened.enter_context(Journal.open(path, codec))
            store.take_up(store.journal)
        return store

    def read(self, path: Path) -> None:
        """Read the answers of a file, if it is there: nothing is made, written or locked."""
        if path.exists():
            self.take_up(JournalReader(path, self.codec))

    def take_up(self, journal: JournalReader[A]) -> None:
        """Read the answers of a journal."""
        for answer in journal.iterate():
            self._enter(answer)

    def keep(self, answer: A) -> None:
        """Write an answer down, whole and at once."""
        self._enter(answer)
        if self.journal is not None:
            self.journal.append(answer)

    def _enter(self, answer: A) -> None:
        (self.done if self.codec.settled(answer) else self.failed)[self.codec.key(answer)] = answer

    def of(self, name: str) -> A | None:
        """The answer of this name, or what came before a model failed."""
        return self.done.get(name) or self.failed.get(name)

    def check(self) -> None:
        """RunError if the journal was removed, replaced or cut."""
        if self.journal is not None:
            self.journal.check()

    def remove_calls(self, names: Iterable[str]) -> None:
        """Remove the call journal if the answers of these names are all there."""
        if self.folder is not None and all(name in self.done for name in names):
            (self.folder / self.calls).unlink(missing_ok=True)


@dataclass(frozen=True)
class AnswerFolder(Generic[A]):
    """The form of a folder of answers."""

    answers: str
    """Name of the journal of answers."""
    settings: str
    """Name of the file with the settings that decide the answers."""
    codec: Codec[A]

    def stored_settings(self, folder: Path) -> Any:
        """The settings of a folder's answers; None without any."""
        path = folder / self.settings
        return read_json(path) if path.is_file() else None

    def open(self, folder: Path | None, settle: Callable[[Any], Any], opened: ExitStack) -> AnswerStore[A]:
        """The answers in a folder, which `opened` closes; None: in memory.

        `settle` takes the stored settings, or None, and gives those that hold from now on; it raises what is wrong with
        them. RunError if the folder cannot be used.
        """
        store = AnswerStore(self.codec, folder)
        if folder is None:
            return store
        with making(folder):
            make_folder(folder)
        check_no_links(folder)
        stored_settings = self.stored_settings(folder)
        settings = settle(stored_settings)
        store.journal = Journal.open(folder / self.answers, self.codec, busy=folder)
        opened.callback(store.journal.close)
        if stored_settings is None and any(True for _ in store.journal.iterate()):
            raise RunError(
                f"{folder}: has no {self.settings}, which holds the settings of {self.answers}: choose another folder"
            )
        if settings != stored_settings:
            one_line = self.settings.endswith(".jsonl")
            write_json(folder / self.settings, settings, indent=None if one_line else 1, end="\n")
        store.take_up(store.journal)
        return store


def codec_of(kind: type[M], key: Callable[[M], str], problem: str, settled: Callable[[M], bool]) -> Codec[M]:
    """The codec of records of one kind, all their fields written; DataError with the problem for anything else."""
    return Codec(key, lambda value: value.model_dump(mode="json"), reader_of(kind, problem), settled)


def reader_of(kind: type[M], problem: str) -> Callable[[Any], M]:
    """What reads an answer from its JSON; DataError with the problem if it is something else."""

    def read(value: Any) -> M:
        try:
            return kind.model_validate(value)
        except ValidationError:
            raise DataError(problem) from None

    return read
