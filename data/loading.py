"""Loading of any known data set from a path."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import overload

from ..errors import DataError, at
from . import domains
from .domain import Domain
from .files.broken_lines import note, omissions, skip_in_sources
from .files.json_values import numbered_errors
from .files.streamed import StoredConversation, recent
from .formats.detection import FOLDER, ConversationStream, Format, Source, detected
from .formats.dialogues import asides
from .formats.record_lines import StoredLines, StoredRun
from .formats.refusals import unknown
from .formats.shared_ids import separate
from .formats.spooled import SpooledConversations
from .labels.annotated_copies import annotated_keys
from .logs import message_tables
from .records import Conversation, Json

IN_MEMORY = 4_000
"""Conversations of a source up to which all stay in memory; of a larger one none does, if its reader streams."""


@dataclass(frozen=True, repr=False)
class Loaded(Sequence[Conversation]):
    """The conversations of a path, with its kind.

    Iteration gives the conversations.
    """

    path: Path
    kind: str
    """Name of the format, or `folder`."""
    conversations: Sequence[Conversation]
    notes: tuple[str, ...] = ()
    """Remarks about the data: the number of each variant, oddities, and every file that could not be read."""
    broken: tuple[str, ...] = ()
    """One line for each file of a folder that could not be read; the other files were. Also in `notes`."""
    manifest: Json = field(default_factory=Json)
    """The manifest of a run folder; empty for other data."""
    files: tuple[str, ...] = ()
    """Of a folder of data files the file of each conversation, in their order; empty for other data."""

    @cached_property
    def annotated(self) -> frozenset[str]:
        """Keys of the labels that annotators wrote into the source, or into the copy of which it is a part."""
        return annotated_keys(self.path)

    def __repr__(self) -> str:
        number = len(self.conversations)
        return f"Loaded({self.path.name}: {number} conversation{'' if number == 1 else 's'}, {self.kind})"

    def __iter__(self) -> Iterator[Conversation]:
        return iter(self.conversations)

    def __len__(self) -> int:
        return len(self.conversations)

    @overload
    def __getitem__(self, number: int) -> Conversation: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[Conversation]: ...
    def __getitem__(self, number: int | slice) -> Conversation | Sequence[Conversation]:
        return self.conversations[number]


def annotated_in(*sources: Iterable[Conversation]) -> frozenset[str]:
    """Keys of the labels that annotators wrote into any of these sources; conversations by themselves have none."""
    return frozenset(key for source in sources if isinstance(source, Loaded) for key in source.annotated)


class DataSource:
    """A path of a known format that is not read yet; DataError if its format is unknown.

    `skip_broken`: whether broken lines are left out and counted; they are too where the command line asks for it.
    """

    def __init__(self, path: str | Path, *, skip_broken: bool = False) -> None:
        self.path = Path(path)
        self._skip_broken = skip_broken
        with skip_in_sources(skip_broken), omissions(), numbered_errors(self.path):
            self._form = _format_of(self.path)

    @property
    def kind(self) -> str:
        """Name of the format, or `folder`."""
        return FOLDER if self._form is None else self._form.name

    @property
    def sign(self) -> str:
        """In words, what the format was recognised by; empty for a folder of files and where the format has none."""
        return "" if self._form is None else self._form.sign

    @property
    def streams(self) -> bool:
        """Whether its conversations can be read one at a time, in any order and again."""
        one_by_one = self._form is not None and self._form.one_by_one is not None
        return one_by_one or self._form in (domains.RUN, domains.RECORDS)

    @cached_property
    def run(self) -> StoredRun | None:
        """The run that is stored there; None for other data."""
        return StoredRun(self.path, domains.validate) if self._form is domains.RUN else None

    @property
    def holds_scenarios(self) -> bool:
        """Whether it holds scenarios, and no conversation."""
        return self._form is not None and self._form.scenarios

    def load(self, *, stream: bool = False, scenarios: bool = False) -> Loaded:
        """Its conversations (`load`); `scenarios`: also scenarios, as conversations without a message."""
        if self.holds_scenarios and not scenarios:
            raise DataError(f"{at(self.path)}: holds scenarios and no conversation: simulate them first (--scenarios)")
        with skip_in_sources(self._skip_broken), omissions() as places, numbered_errors(self.path):
            loaded = self._load(stream=stream)
        return replace(loaded, notes=(*loaded.notes, *note(self.path, list(places), len(loaded)))) if places else loaded

    def _load(self, *, stream: bool) -> Loaded:
        if self.run is not None and (stream or len(self.run.planned) > IN_MEMORY):
            return _stored_run(self.run)
        if self._form is domains.RECORDS:
            return _of_lines(self.path, self.kind, StoredLines(self.path, domains.validate))
        if self._form is not None and self._form.one_by_one is not None:
            return _of_lines(self.path, self.kind, SpooledConversations(self._form.one_by_one(self.path), IN_MEMORY))
        if self._form is None:
            names, broken = list[str](), list[DataError]()
            of_files = SpooledConversations(_of_folder(self.path, names, broken), IN_MEMORY)
            loaded = _of_lines(self.path, self.kind, of_files)
            lines = tuple(map(str, broken))
            return replace(loaded, notes=(*loaded.notes, *lines), broken=lines, files=tuple(names))
        contents = self._form.contents(self.path) if self.run is None else self.run.contents()
        talks, shared = separate(contents.conversations)
        return Loaded(
            self.path,
            self.kind,
            talks,
            (*contents.notes, *_notes(*_sorted(talks)), *shared, *contents.broken),
            contents.broken,
            self.run.manifest if self.run is not None else {},
        )


def kind_of(path: str | Path) -> str:
    """The name of a path's format, or `folder`; DataError if the path has no known format."""
    return DataSource(path).kind


def description_of(kind: str) -> str:
    """A kind of `Loaded` in words."""
    return next((form.description for form in domains.known_formats() if form.name == kind), "a folder of data files")


def load(path: str | Path, *, stream: bool = False, skip_broken: bool = False) -> Loaded:
    """The conversations of a run folder, a data set's file, or a folder of such files.

    A file of topics has no conversations: read it with `data.simquac.read_topics`. The conversations of a source with more
    than 4,000 stay on disk, and are read on access; those of a format without `Format.one_by_one` stay in memory.

    Args:
        path: The folder or the file. Files of a folder that cannot be read are listed in `broken`, and the others are
            read.
        stream: Whether those of a smaller run stay on disk too.
        skip_broken: Whether lines that cannot be read are left out; a note counts them. By default they are an error.

    Returns:
        A sequence of conversations with `kind` (the format), `notes` of the reader, and a run's `manifest`.

    Raises:
        DataError: A file cannot be read; the message names it, with the reason.

    Example::

        >>> import duologue
        >>> loaded = duologue.load("out/demo-1")  # doctest: +SKIP
        >>> loaded[0].messages[1].rejected  # drafts before it, each with its reason  # doctest: +SKIP
    """
    return DataSource(path, skip_broken=skip_broken).load(stream=stream)


def _format_of(path: Path) -> Format | None:
    """The format of a path; None for a folder of data files."""
    source, formats, own = Source(path), domains.known_formats(), domains.own_formats()
    form = detected(source, [form for form in formats if form not in own], own, (domains.RUN, domains.RECORDS))
    if form is None and not source.is_folder:
        raise DataError(f"{at(path)}: {unknown(source.first)}")
    return form


def _stored_run(run: StoredRun) -> Loaded:
    """A run, read through once for its notes."""
    domain_of: dict[str, Domain] = {}
    asides_of: dict[str, Counter[str]] = {}
    none = Counter[str]()
    for name, talk in run.finished.news():
        domain_of[name], asides_of[name] = domains.of(talk), _asides_in([talk]) or none
    read = recent(run.finished.__getitem__)
    talks = tuple(StoredConversation.at(name, name, read) for name in run.finished.order(run.planned))
    by_domain: dict[Domain, list[Conversation]] = {}
    for talk in talks:
        by_domain.setdefault(domain_of[talk.id], []).append(talk)
    notes, broken = run.remarks(len(talks))
    notes = (*notes, *_notes(by_domain, sum(asides_of.values(), none)), *broken)
    return Loaded(run.path, domains.RUN.name, talks, notes, broken, run.manifest)


def _of_lines(path: Path, kind: str, lines: StoredLines | SpooledConversations) -> Loaded:
    """A source that is read through once; the conversations of a large one stay on disk."""
    read = recent(lines.__getitem__)
    first: list[Conversation] = []
    stored: list[Conversation] = []
    by_domain: dict[Domain, list[Conversation]] = {}
    asides: Counter[str] = Counter()
    for begin, talk in lines:
        stored.append(StoredConversation.at((begin, talk.id), talk.id, read))
        by_domain.setdefault(domains.of(talk), []).append(stored[-1])
        asides += _asides_in([talk])
        if len(stored) <= IN_MEMORY:
            first.append(talk)
        else:
            first.clear()
    in_memory = len(stored) <= IN_MEMORY
    talks, shared = separate(tuple(first if in_memory else stored))
    notes = _notes(*_sorted(first)) if in_memory else _notes(by_domain, asides)
    of_reader = lines.notes if isinstance(lines, SpooledConversations) else ()
    return Loaded(path, kind, talks, (*of_reader, *notes, *shared))


def _sorted(conversations: Sequence[Conversation]) -> tuple[dict[Domain, list[Conversation]], Counter[str]]:
    """The conversations of each domain, and their turns that are not messages."""
    by_domain: dict[Domain, list[Conversation]] = {}
    for talk in conversations:
        by_domain.setdefault(domains.of(talk), []).append(talk)
    return by_domain, _asides_in(conversations)


def _asides_in(conversations: Iterable[Conversation]) -> Counter[str]:
    """The turns that are not messages, by what they are."""
    turns = (aside for talk in conversations for aside in asides(talk))
    return Counter("system message" if isinstance(turn.get("system"), str) else "tool message" for turn in turns)


def _notes(by_domain: Mapping[Domain, Sequence[Conversation]], kept_apart: Counter[str]) -> list[str]:
    notes = [note for domain, talks in by_domain.items() for note in domain.notes(talks)]
    if apart := [f"{count} {what}{'s' * (count > 1)}" for what, count in sorted(kept_apart.items())]:
        notes.append(f"{' and '.join(apart)} {'is' if kept_apart.total() == 1 else 'are'} kept apart")
    return notes


def files_of(path: Path) -> list[Path]:
    """The files of a folder of data files; the path itself of any other source."""
    return _files_of(path) if path.is_dir() and DataSource(path).kind == FOLDER else [path]


def _files_of(folder: Path) -> list[Path]:
    own = domains.own_formats()
    files = sorted(
        file
        for file in folder.iterdir()
        if file.suffix in (".json", ".jsonl", ".txt", ".eval")
        or file.name.endswith((".json.gz", ".jsonl.gz"))
        or (message_tables.is_table(file) and (not message_tables.problem_of(file)))
        or (own and file.is_file() and not file.name.startswith(".") and any(form.claims(Source(file)) for form in own))
    )
    if not files:
        raise DataError(f"{at(folder)}: holds no data file: give a run folder or a data set")
    return files


def _of_folder(folder: Path, names: list[str], broken: list[DataError]) -> ConversationStream:
    """The conversations of a folder's files, one file at a time.

    It fills `names`, the file of each conversation, and `broken`. DataError if no file can be read.
    """
    files, notes = _files_of(folder), list[str]()
    for file in files:
        try:
            source = load(file)
        except DataError as error:
            broken.append(error)
            continue
        notes += (f"{file.name}: {note}" if source else note for note in _of_reader(source))
        names += [file.name] * len(source)
        yield from source
    if len(broken) == len(files):
        raise broken[0]
    data_files = set(files)
    others = [file for file in sorted(folder.iterdir()) if file not in data_files and message_tables.is_table(file)]
    return (*notes, *(f"left out: {message_tables.problem_of(file)}" for file in others))


def _of_reader(source: Loaded) -> list[str]:
    """The notes of a source that its conversations alone do not give."""
    own = _notes(*_sorted(source.conversations)) if source else []
    return [note for note in source.notes if note not in own]
