"""Any data set that this project knows, from any path."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import DataError, at
from . import domains
from .formats.detection import MANIFEST, Contents, Format, Source, detected
from .formats.dialogues import asides
from .formats.jsonfiles import read_json
from .records import Conversation, Json

FOLDER = "folder"
"""What a folder is that is no run, and of no format: each of its files is of one."""


@dataclass(frozen=True)
class Loaded:
    """The conversations of a path, with the kind of thing that the path is. Iterates over them."""

    path: Path
    kind: str
    """Name of the format, or `folder`."""
    conversations: tuple[Conversation, ...]
    notes: tuple[str, ...] = ()
    """What is to be said of the data: what there is of each variant, what is odd, and every broken file."""
    broken: tuple[str, ...] = ()
    """One line for each file of a folder that could not be read; the others were. Stands in `notes` too."""
    manifest: Json = field(default_factory=Json)
    """What the folder of a run says of the run; empty for what is none."""

    def __iter__(self) -> Iterator[Conversation]:
        return iter(self.conversations)

    def __len__(self) -> int:
        return len(self.conversations)


def kind_of(path: str | Path) -> str:
    """What a path is: the name of its format, or `folder`; DataError if it is nothing that can be read."""
    form = _format_of(Path(path))
    return FOLDER if form is None else form.name


def about(kind: str) -> str:
    """A kind of `Loaded` in words for a reader."""
    return next((form.about for form in domains.known_formats() if form.name == kind), "a folder of data files")


def load(path: str | Path) -> Loaded:
    """The conversations of a run folder, a data set's file, or a folder of such files.

    Where a format is a folder of files, a broken one is named and the others are read all the same. A file of topics
    has no conversation: read it with `data.simquac.read_topics`.
    """
    source = Path(path)
    form = _format_of(source)
    contents = _of_folder(source) if form is None else form.contents(source)
    manifest: Json = read_json(source / MANIFEST) if form is domains.RUN else {}
    return Loaded(
        source,
        FOLDER if form is None else form.name,
        contents.conversations,
        (*contents.notes, *_notes(contents.conversations), *contents.broken),
        contents.broken,
        manifest,
    )


def _format_of(path: Path) -> Format | None:
    """The format of a path; None for a folder of files that may each have one."""
    source, formats = Source(path), domains.known_formats()
    form = detected(source, formats)
    if form is None and not source.is_folder:
        raise DataError(f"{at(path)}: is none of the known formats: {', '.join(each.about for each in formats)}")
    return form


def _notes(conversations: tuple[Conversation, ...]) -> list[str]:
    notes = [
        note
        for domain in domains.present(conversations)
        for note in domain.notes([each for each in conversations if domains.of(each) is domain])
    ]
    if aside := sum(len(asides(conversation)) for conversation in conversations):
        notes.append(f"instructions, calls and results of tools, said by neither side and kept apart: {aside}")
    return notes


def _of_folder(folder: Path) -> Contents:
    files = sorted(file for file in folder.iterdir() if file.suffix in (".json", ".jsonl", ".txt"))
    if not files:
        raise DataError(f"{at(folder)}: holds no data file: give a run folder or a data set")
    return Contents(tuple(conversation for file in files for conversation in load(file)))
