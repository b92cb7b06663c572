"""Loading of any known data set from a path."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import DataError, at
from . import domains
from .attempts import is_object
from .domain import Domain
from .formats.detection import MANIFEST, Contents, Format, Source, detected
from .formats.dialogues import asides
from .formats.jsonfiles import read_json
from .formats.record_lines import Run
from .formats.streamed import Streamed
from .records import Conversation, Json

FOLDER = "folder"
"""Kind of a folder whose files are data sets, and which is itself neither a run nor of another format."""


@dataclass(frozen=True, repr=False)
class Loaded:
    """The conversations of a path, with its kind. Iterates over the conversations."""

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

    def __repr__(self) -> str:
        number = len(self.conversations)
        return f"Loaded({self.path.name}: {number} conversation{'' if number == 1 else 's'}, {self.kind})"

    def __iter__(self) -> Iterator[Conversation]:
        return iter(self.conversations)

    def __len__(self) -> int:
        return len(self.conversations)

    def __getitem__(self, number: int) -> Conversation:
        return self.conversations[number]


def kind_of(path: str | Path) -> str:
    """The name of a path's format, or `folder`; DataError if the path has no known format."""
    form = _format_of(Path(path))
    return FOLDER if form is None else form.name


def description_of(kind: str) -> str:
    """A kind of `Loaded` in words."""
    return next((form.description for form in domains.known_formats() if form.name == kind), "a folder of data files")


def load(path: str | Path, *, stream: bool = False) -> Loaded:
    """The conversations of a run folder, a data set's file, or a folder of such files.

    If a format is a folder of files, files that cannot be read are listed in `broken` and the others are read. A file
    of topics has no conversations: read it with `data.simquac.read_topics`.

    `stream`: hold none of a run's conversations, for a run of any size: each is read from its file whenever it is asked
    for. Conversations of other sources are held.

    Gives a sequence of conversations with `kind` (the format), `notes` of the reader, and a run's `manifest`.
    DataError says which file cannot be read and why.

    Example::

        >>> import duologue
        >>> loaded = duologue.load("out/demo-1")  # doctest: +SKIP
        >>> loaded[0].messages[1].rejected  # drafts before it, each with its reason  # doctest: +SKIP
    """
    source = Path(path)
    form = _format_of(source)
    if stream and form is domains.RUN:
        return _streamed(source)
    contents = _of_folder(source) if form is None else form.contents(source)
    manifest: Json = read_json(source / MANIFEST) if form is domains.RUN else {}
    return Loaded(
        source,
        FOLDER if form is None else form.name,
        contents.conversations,
        (*contents.notes, *_notes(*_sorted(contents.conversations)), *contents.broken),
        contents.broken,
        manifest,
    )


def names_of(paths: Sequence[str | Path]) -> list[str]:
    """A name for each path, all different: that of its file or folder, with the folder above or a number where needed."""
    resolved = [Path(path).resolve() for path in paths]
    often = Counter(path.name for path in resolved)
    names: list[str] = []
    for path in resolved:
        name = path.name if often[path.name] == 1 else f"{path.parent.name}/{path.name}"
        number = next(number for number in range(1, len(paths) + 1) if _numbered(name, number) not in names)
        names.append(_numbered(name, number))
    return names


def _numbered(name: str, number: int) -> str:
    return name if number == 1 else f"{name} ({number})"


LINE = '{"conversation_id": "1", "role": "user", "content": "Hello"}'
"""The smallest line of a log that is read."""


def _format_of(path: Path) -> Format | None:
    """The format of a path; None for a folder of data files."""
    source, formats = Source(path), domains.known_formats()
    form = detected(source, formats)
    if form is None and not source.is_folder:
        role = source.value.get("role") if is_object(source.value) else None
        if isinstance(role, str) and "content" in source.value:
            raise DataError(
                f"{at(path)}: the role {role!r} is not known, the shape is: write user or assistant, as in {LINE} (docs/logs.md)"
            )
        raise DataError(
            f"{at(path)}: is none of the known formats; the smallest line that is read is {LINE} (docs/logs.md). Known are "
            f"{', '.join(known.description for known in formats)}"
        )
    return form


def _streamed(folder: Path) -> Loaded:
    """A run, read through once for its notes."""
    run = Run(folder, domains.validate)
    domain_of: dict[str, Domain] = {}
    aside_counts: dict[str, int] = {}
    for name, talk in run.finished.news():
        domain_of[name], aside_counts[name] = domains.of(talk), len(asides(talk))
    names = run.finished.order(run.planned)
    of_domain: dict[Domain, list[str]] = {}
    for name in names:
        of_domain.setdefault(domain_of[name], []).append(name)
    by_domain = {domain: Streamed(run.finished, own) for domain, own in of_domain.items()}
    notes, broken = run.told(len(names))
    notes = (*notes, *_notes(by_domain, sum(aside_counts.values())), *broken)
    return Loaded(folder, domains.RUN.name, Streamed(run.finished, names), notes, broken, run.manifest)


def _sorted(conversations: Sequence[Conversation]) -> tuple[dict[Domain, list[Conversation]], int]:
    """The conversations of each domain, and how many of their turns are no messages."""
    by_domain: dict[Domain, list[Conversation]] = {}
    for talk in conversations:
        by_domain.setdefault(domains.of(talk), []).append(talk)
    return by_domain, sum(len(asides(talk)) for talk in conversations)


def _notes(by_domain: Mapping[Domain, Sequence[Conversation]], aside_count: int) -> list[str]:
    notes = [note for domain, talks in by_domain.items() for note in domain.notes(talks)]
    if aside_count:
        are = "message or tool result is" if aside_count == 1 else "messages or tool results are"
        notes.append(f"{aside_count} system {are} kept apart")
    return notes


def _of_folder(folder: Path) -> Contents:
    files = sorted(
        file
        for file in folder.iterdir()
        if file.suffix in (".json", ".jsonl", ".txt") or file.name.endswith((".json.gz", ".jsonl.gz"))
    )
    if not files:
        raise DataError(f"{at(folder)}: holds no data file: give a run folder or a data set")
    return Contents(tuple(conversation for file in files for conversation in load(file)))
