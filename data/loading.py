"""Loading of any known data set from a path, a pandas table of its messages, and saving in the formats that are written."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import eq
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, overload

from ..errors import DataError, DuologueError, MissingExtraError, SettingError, at, of_extra
from . import domains
from .files.json import Broken
from .formats.messages import asides
from .formats.record_lines import StoredLines, StoredRun
from .formats.source import FOLDER, Contents, Source, detected
from .identity import digest
from .labels import table
from .records import Conversation, Json, is_object

if TYPE_CHECKING:
    import pandas

MOST_KEYS = 6
"""Most keys of a file that a refusal names."""
LINE = '{"conversation_id": "1", "role": "user", "content": "Hello"}'
"""The smallest line of a log that is read."""
IN_MEMORY = 4_000
"""Conversations of a run or a file of records up to which all stay in memory; of a larger one none does."""
_ENDINGS = (".json", ".jsonl", ".json.gz", ".jsonl.gz", ".txt", ".eval", ".csv", ".tsv", ".parquet")
"""Files of a folder that are read; others are where a form of one's own claims them."""
_OF_CONTENT = 12
"""Hexadecimal digits of the digest after a shared id: 48 bits, enough for a million conversations of one id."""


class _OnDisk(Sequence[Conversation]):
    """The conversations of a file, each read from it whenever it is asked for."""

    def __init__(self, places: Sequence[Any], read: Callable[[Sequence[Any]], Iterator[Conversation]]) -> None:
        self._places, self._read = places, read

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[Conversation]:
        return self._read(self._places)

    @overload
    def __getitem__(self, number: int) -> Conversation: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[Conversation]: ...
    def __getitem__(self, number: int | slice) -> Conversation | Sequence[Conversation]:
        if isinstance(number, slice):
            return _OnDisk(self._places[number], self._read)
        return next(self._read([self._places[number]]))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(eq, self, other))

    __hash__ = None  # type: ignore[assignment]


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
    """Remarks about the data: the number of each variant, and every file that could not be read."""
    broken: tuple[str, ...] = ()
    """One line for each file of a folder that could not be read; the other files were. Also in `notes`."""
    manifest: Json = field(default_factory=Json)
    """The manifest of a run folder; empty for other data."""
    files: tuple[str, ...] = ()
    """Of a folder of data files the file of each conversation, in their order; empty for other data."""

    @cached_property
    def annotated(self) -> frozenset[str]:
        """Names of the labels that models or functions gave, where the source is a folder of labels."""
        labelled = self if self.kind == table.FORMAT.name else ()
        every = (labels for one in labelled for labels in (one.labels, *(message.labels for message in one.messages)))
        return frozenset(name for labels in every for name, one in labels.items() if {*one.by} - {"people", "scorer"})

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


class DataSource:
    """A path of a known format that is not read yet; DataError if its format is unknown."""

    def __init__(self, path: str | Path, *, skip_broken: bool = False) -> None:
        self.path = Path(path)
        self._broken = Broken(skip_broken)
        source = Source(self.path, self._broken)
        self._form = detected(source, (table.FORMAT, *domains.known_formats()))
        if self._form is None and not source.is_folder:
            raise DataError(f"{at(self.path)}: {_unknown(source.first)}")

    @property
    def kind(self) -> str:
        """Name of the format, or `folder`."""
        return FOLDER if self._form is None else self._form.name

    @cached_property
    def run(self) -> StoredRun | None:
        """The run that is stored there; None for other data."""
        return StoredRun(self.path) if self._form is domains.RUN else None

    def load(self, *, scenarios: bool = False) -> Loaded:
        """Its conversations (`load`); `scenarios`: also scenarios, as conversations without a message."""
        if self._form is not None and self._form.scenarios and not scenarios:
            raise DataError(f"{at(self.path)}: holds scenarios and no conversation: simulate them first (--scenarios)")
        loaded = self._load()
        return replace(loaded, notes=(*loaded.notes, *self._broken.notes(self.path, len(loaded))))

    def _load(self) -> Loaded:
        if self._form is None:
            return _of_folder(self.path, self._broken.skip)
        if self._form is domains.RECORDS:
            lines = StoredLines(self.path, self._broken)
            talks, notes = _read_through(lines, lines.at, lambda places: places)
            return Loaded(self.path, self.kind, talks, notes)
        if self.run is None:
            return _loaded(self.path, self.kind, self._form.contents(self.path, self._broken))
        run = self.run
        finished = ((one.id, one) for one in run.scan() if one.finished)
        talks, notes = _read_through(finished, run.values, lambda _: run.names())
        remarks, broken = run.remarks(len(talks))
        return Loaded(self.path, self.kind, talks, (*remarks, *notes, *broken), broken, run.manifest)


_Place = TypeVar("_Place", bound=int | str)


def _read_through(
    placed: Iterable[tuple[_Place, Conversation]],
    read: Callable[[Sequence[_Place]], Iterator[Conversation]],
    ordered: Callable[[list[_Place]], list[_Place]],
) -> tuple[Sequence[Conversation], tuple[str, ...]]:
    """The conversations of a file, and notes about them; of many without shared ids they stay on disk.

    `placed`: each with its place. `read`: those at some places. `ordered`: the places in the order of the result.
    """
    apart: dict[_Place, int] = {}
    ids: set[str] = set()
    few: dict[_Place, Conversation] = {}
    for place, talk in placed:
        apart[place] = len(asides(talk))
        ids.add(talk.id)
        few[place] = talk
        if len(apart) > IN_MEMORY:
            few.clear()
    places = ordered(list(apart))
    if len(apart) > IN_MEMORY and len(ids) == len(apart):
        return _OnDisk(places, read), _kept_apart(sum(apart.values()))
    held = [few[place] for place in places] if few else list(read(places))
    talks, shared = _separate(tuple(held))
    return talks, (*_kept_apart(sum(apart.values())), *shared)


def _loaded(path: Path, kind: str, contents: Contents) -> Loaded:
    talks, shared = _separate(contents.conversations)
    notes = (*contents.notes, *_kept_apart(sum(len(asides(talk)) for talk in talks)), *shared, *contents.broken)
    return Loaded(path, kind, talks, notes, contents.broken)


def kind_of(path: str | Path) -> str:
    """The name of a path's format, or `folder`; DataError if the path has no known format."""
    return DataSource(path).kind


def description_of(kind: str) -> str:
    """A kind of `Loaded` in words."""
    return next((form.description for form in domains.known_formats() if form.name == kind), "a folder of data files")


def load(path: str | Path, *, skip_broken: bool = False) -> Loaded:
    """The conversations of a run folder, a data set's file, or a folder of such files.

    A file of topics has no conversations: read it with `data.simquac.read_topics`. The conversations of a run or a file of
    records with more than 4,000 stay on disk, and are read on access; those of other formats stay in memory.

    Args:
        path: The folder or the file. Files of a folder that cannot be read are listed in `broken`, and the others are
            read.
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
    return DataSource(path, skip_broken=skip_broken).load()


def _unknown(first: Any) -> str:
    role = first.get("role") if is_object(first) else None
    if isinstance(role, str) and "content" in first:
        return f"the form fits, but not the role {role!r}: write user or assistant, as in {LINE} (docs/data/formats.md)"
    keys = [" ".join(str(key).split())[:40] for key in first] if is_object(first) else []
    more = ", ..." if len(keys) > MOST_KEYS else ""
    begins = f" (it begins with {', '.join(keys[:MOST_KEYS])}{more})" if keys else ""
    return (
        f"is not in a known format{begins}; the smallest line that is read is {LINE} (docs/data/formats.md); a reader of your own "
        "takes 15 lines (the same page, --log-format MODULE:NAME)"
    )


def _kept_apart(count: int) -> tuple[str, ...]:
    return (f"{count} system message{'s are' if count > 1 else ' is'} kept apart",) if count else ()


# --- Folders of files


def _files_of(folder: Path) -> list[Path]:
    own = domains.own_formats()
    files = sorted(
        file
        for file in folder.iterdir()
        if file.name.endswith(_ENDINGS)
        or (own and file.is_file() and not file.name.startswith(".") and any(form.claims(Source(file)) for form in own))
    )
    if not files:
        raise DataError(f"{at(folder)}: holds no data file: give a run folder or a data set")
    return files


def _of_folder(folder: Path, skip_broken: bool) -> Loaded:
    files = _files_of(folder)
    talks, names, notes, broken = list[Conversation](), list[str](), list[str](), list[DuologueError]()
    for file in files:
        try:
            source = load(file, skip_broken=skip_broken)
        except (DataError, MissingExtraError) as error:
            broken.append(error)
            continue
        own = _kept_apart(sum(len(asides(talk)) for talk in source))  # which the whole folder counts too
        notes += [f"{file.name}: {note}" if source else note for note in source.notes if note not in own]
        names += [file.name] * len(source)
        talks += source
    if len(broken) == len(files):
        raise broken[0]
    loaded = _loaded(folder, FOLDER, Contents(tuple(talks), tuple(notes), tuple(map(str, broken))))
    return replace(loaded, files=tuple(names))


# --- Shared ids


def with_id(conversations: Iterable[Conversation], name: str) -> list[Conversation]:
    """The conversations with this id; else those whose id begins so, as a shared one does."""
    matching = [conversation for conversation in conversations if conversation.id.startswith(name)]
    return [conversation for conversation in matching if conversation.id == name] or matching


def _separate(conversations: Sequence[Conversation]) -> tuple[Sequence[Conversation], tuple[str, ...]]:
    """The conversations, and a note if some got another id.

    Conversations that share an id and differ in content get a digest of the content after it, in any order of lines.
    Copies stay copies: equal content keeps an equal id.
    """
    often = Counter(conversation.id for conversation in conversations)
    contents: dict[str, dict[int, str]] = {}
    for number, one in enumerate(conversations):
        if often[one.id] > 1:
            own = {key: value for key, value in one.plain().items() if key not in ("id", "ordinal", "repeat")}
            contents.setdefault(one.id, {})[number] = digest(own)[:_OF_CONTENT]
    shared = {name: own for name, own in contents.items() if len(set(own.values())) > 1}
    if not shared:
        return conversations, ()
    names = {number: f"{name}-{own}" for name, of_name in shared.items() for number, own in of_name.items()}
    note = (
        f"{len(names)} conversations share {len(shared)} id{'s' * (len(shared) > 1)} and differ: a digest of the content "
        f"follows the id, such as {min(names.values())}"
    )
    own_ids = (talk.model_copy(update={"id": names[n]}) if n in names else talk for n, talk in enumerate(conversations))
    return tuple(own_ids), (note,)


# --- For other tools

_COLUMNS = {
    "conversation": "string",
    "scenario": "string",
    "message": "Int64",
    "turn": "Int64",
    "role": "string",
    "text": "string",
    "rejected": "Int64",
    "tokens": "Int64",
    "stop": "string",
}
"""The columns of `frame` with their types, which have missing values."""

_BY_ENDING = {".jsonl": "replay", ".parquet": "parquet", ".eval": "inspect"}
"""The formats that a path's ending names; any other path is one of the data set's own format."""


def frame(conversations: Iterable[Conversation]) -> "pandas.DataFrame":
    """A pandas table with a row for each message.

    Its columns: `conversation` (the id), `scenario` (the topic in a few words), `message` (its number, from 0), `turn`
    (from 0; a new one begins where the user speaks after the assistant), `role` (`user`, `assistant`, or the name of a
    third one), `text`, `rejected` (how many drafts before it were rejected), `tokens` (input and output of all its
    drafts, and of judging them; missing if no draft is recorded), `stop` (why the conversation ended). Everything else
    is in the records: `pandas.json_normalize(one.model_dump(mode="json") for one in conversations)`.

    Raises:
        MissingExtraError: pandas is not installed (the extra `stats`).

    Example::

        >>> import duologue
        >>> loaded = duologue.load("sim_quac.json")  # doctest: +SKIP
        >>> duologue.frame(loaded).groupby("role").text.apply(lambda texts: texts.str.len().mean())  # doctest: +SKIP
    """
    table = of_extra("pandas", "stats").DataFrame(
        (row for conversation in conversations for row in _rows(conversation)), columns=list(_COLUMNS)
    )
    return table.astype(_COLUMNS)


def _rows(conversation: Conversation) -> Iterator[tuple[Any, ...]]:
    topic, turn, answered = domains.of(conversation).title(conversation.scenario), 0, False
    for number, message in enumerate(conversation.messages):
        if message.name is None:  # a third one's message begins no turn
            turn += message.role == "user" and answered
            answered = message.role == "assistant"
        yield (
            conversation.id,
            topic,
            number,
            turn,
            message.name or message.role,
            message.text,
            len(message.rejected),
            message.usage.tokens if message.attempts else None,
            conversation.stop,
        )


def save(conversations: Iterable[Conversation], path: str | Path, to: str = "") -> list[str]:
    """Write conversations to a file, or a folder where the format is one; what was there before is replaced.

    Args:
        conversations: A result of `load` or `simulate`, or records of your own.
        path: Where to. `.jsonl` are records with all their content, `.parquet` the same with typed columns, `.eval` a
            log of Inspect. Any other path gets the published format of the conversations' kind: a file for `simquac`, a
            folder for `recllmsim`.
        to: Another format, such as `messages` or `sharegpt`: those of `duologue convert --to`.

    Returns:
        A line for each thing that the format cannot hold.

    Raises:
        SettingError: There is no such format, or the path names none.
        DataError: A conversation cannot be written in it.

    Example::

        >>> import duologue
        >>> duologue.save(duologue.load("out/demo-1"), "demo.parquet")  # doctest: +SKIP
        []
    """
    target, writers = Path(path), domains.targets()
    if not isinstance(conversations, Sequence):
        conversations = list(conversations)
    kind = domains.of(conversations[0]).kind if conversations else ""
    name = to or _BY_ENDING.get(target.suffix, kind)
    if name not in writers:
        what = f"there is no format {to!r}" if to else f"{target.name} names no format"
        raise SettingError(f"{at(target)}: {what}: give to=, one of {', '.join(writers)}")
    try:
        return writers[name](conversations, target)
    except DataError:
        raise
    except ValueError as error:
        raise DataError(f"{at(target)}: cannot be written as {name}: {error}") from None
