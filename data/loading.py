"""Any data set that this project knows, from any path."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import DataError, at
from . import recllmsim, simquac
from .formats import messages, record_lines, sharegpt
from .formats.detection import MANIFEST, Kind, kind_of
from .formats.dialogues import asides
from .formats.jsonfiles import read_json
from .records import Conversation, Json

_READERS: Mapping[Kind, Callable[[Path], list[Conversation]]] = {
    "simquac": simquac.read,
    "teacher": simquac.read,
    "run": record_lines.read_run,
    "replay": record_lines.read,
    "messages": messages.read,
    "sharegpt": sharegpt.read,
}


@dataclass(frozen=True)
class Loaded:
    """The conversations of a path, with the kind of thing that the path is. Iterates over them."""

    path: Path
    kind: Kind
    conversations: tuple[Conversation, ...]
    notes: tuple[str, ...] = ()
    """What is to be said of the data: what there is of each variant, what is odd, and every broken file."""
    broken: tuple[str, ...] = ()
    """One line for each file of a folder that could not be read; the others were. Stands in `notes` too."""
    manifest: Json = field(default_factory=dict)
    """What the folder of a run says of the run; empty for what is none."""

    def __iter__(self) -> Iterator[Conversation]:
        return iter(self.conversations)

    def __len__(self) -> int:
        return len(self.conversations)


def load(path: str | Path) -> Loaded:
    """The conversations of a run folder, a data set's file, or a folder of such files.

    Of a folder of RecLLMSim files a broken one is named, and the others are read all the same. A file of topics has none: read it with `data.simquac.read_topics`.
    """
    place = Path(path)
    kind = kind_of(place)
    if kind == "recllmsim":
        return _of_histories(place)
    if kind == "folder":
        conversations = _of_folder(place)
    elif kind == "topics":
        raise DataError(f"{at(path)}: holds topics and no conversation: simulate them first")
    else:
        conversations = _READERS[kind](place)
    notes = []
    if odd := len(simquac.misplaced(conversations)):
        notes.append(f"{odd} span{'s differ' if odd > 1 else ' differs'} from the text at the offset (kept as read)")
    if aside := sum(len(asides(conversation)) for conversation in conversations):
        notes.append(f"instructions, calls and results of tools, said by neither side and kept apart: {aside}")
    manifest = read_json(place / MANIFEST) if kind == "run" else {}
    return Loaded(place, kind, tuple(conversations), tuple(notes), manifest=manifest)


def _of_histories(path: Path) -> Loaded:
    found = recllmsim.read_folder(path)
    notes = [f"{count} {name.replace('_', ' ')}" for name, count in sorted(found.counts.items())]
    lines = [f"conversations: {', '.join(notes)}"]
    lines += [f"{what}: {len(which)}" for what, which in recllmsim.oddities(found.conversations).items()]
    if found.others:
        more = ", ..." if len(found.others) > 3 else ""
        lines.append(f"passed over, no conversation: {', '.join(found.others[:3])}{more}")
    return Loaded(path, "recllmsim", found.conversations, (*lines, *found.broken), found.broken)


def _of_folder(folder: Path) -> list[Conversation]:
    files = sorted(file for file in folder.iterdir() if file.suffix in (".json", ".jsonl", ".txt"))
    if not files:
        raise DataError(f"{at(folder)}: holds no data file: give a run folder or a data set")
    return [conversation for file in files for conversation in load(file)]
