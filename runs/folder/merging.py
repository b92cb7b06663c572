"""The journals of a run put in order: a line for each conversation, in the order of the plan.

A kill at any moment loses nothing: the new file is whole on the disk before it replaces the old one.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any

from ...data.files.journals import Entry, JournalReader
from ...data.files.json import UnwrittenError, dumps, replacing_bytes
from ...data.files.paths import OpenFiles
from ...errors import at
from ...nodes.calls.store import is_of_user
from ..journals.call_differences import HEAD
from ..journals.calls import CALLS
from ..journals.journal import BrokenOffError


def merge_finished(journal: JournalReader[Any], plan: Sequence[str], close: Callable[[], None]) -> bool:
    """Give a journal one line for each key, planned ones first; gives whether anything changed.

    Lines that do not count stay at the end. `close` is called before the file is replaced.
    """
    journal.refresh()
    if journal.flaws or journal.is_in_order(plan):
        return False
    _replace(journal.path, _copied(journal.positions(plan)), close)
    return True


def merge_failed(journal: JournalReader[Any], plan: Sequence[str], close: Callable[[], None]) -> bool:
    """Bring the lines of a journal into the order of the plan; gives whether anything changed.

    Equal lines become one. All lines of a conversation stay: each is another attempt.
    """
    order = {name: number for number, name in enumerate(plan)}
    places: dict[bytes, tuple[int, Entry]] = {}
    for line, place in _lines([journal.path]):
        places.setdefault(sha256(line).digest(), (order.get(_of(line, "id"), len(order)), place))
    ordered = [place for _, place in sorted(places.values(), key=lambda numbered_place: numbered_place[0])]
    if ordered == [place for _, place in places.values()]:
        return False
    _replace(journal.path, _copied(ordered), close)
    return True


def keep_user_calls(folder: Path) -> None:
    """Keep of the call journal of a complete run only the replies to its users, which another version may share."""
    main = folder / CALLS
    lines = (line for line, _ in _lines([main] if main.exists() else []) if _is_shared(line))
    if (first := next(lines, None)) is None:
        remove_calls(folder)
    else:
        _replace(main, chain([(dumps(HEAD) + "\n").encode(), first], lines))


def _is_shared(line: bytes) -> bool:
    """Whether a line is a reply to a user."""
    if b'"role": "user' not in line:  # which spares reading most lines
        return False
    value = json.loads(line) if is_of_user(_of(line, "role")) else {}
    return "reply" in value


def remove_calls(folder: Path) -> None:
    """Remove the call journals of a run that is complete."""
    (folder / CALLS).unlink(missing_ok=True)


def _lines(paths: Iterable[Path]) -> Iterator[tuple[bytes, Entry]]:
    """The whole lines of the files, each with its place."""
    for path in paths:
        offset = 0
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if line.endswith(b"\n") and line.strip():
                    yield line, Entry(path, offset, len(line), number)
                offset += len(line)


def _of(line: bytes, key: str) -> str:
    """A text in the object of a line; empty if there is none."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return ""
    text = value.get(key) if isinstance(value, dict) else None
    return text if isinstance(text, str) else ""


def _copied(places: Iterable[Entry]) -> Iterator[bytes]:
    with OpenFiles() as files:
        for place in places:
            files[place.path].seek(place.offset)
            line = files[place.path].read(place.length)
            yield line if line.endswith(b"\n") else line + b"\n"


@contextmanager
def on_disk() -> Iterator[None]:
    """Inside, a file that cannot be written is a BrokenOffError."""
    try:
        yield
    except UnwrittenError as error:
        raise BrokenOffError(
            f"{at(error.path)}: cannot be written ({error.why}): every finished conversation is kept: make room or mend "
            "the disk, then resume"
        ) from None


@on_disk()
def _replace(path: Path, lines: Iterable[bytes], close: Callable[[], None] = lambda: None) -> None:
    with replacing_bytes(path, close) as file:
        file.writelines(lines)
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk, where the system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
