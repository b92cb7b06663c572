"""The files of several writers made one: a line for each conversation, in the order of the plan.

A kill at any moment loses nothing and doubles nothing. The new file is whole on the disk before it replaces the old
one, and only then the writers' files are removed. Until then readers find a line twice, and it is the same one.
"""

import json
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from hashlib import sha256
from itertools import chain
from pathlib import Path
from time import sleep
from typing import Any

from ...data.files.journals import Entry, JournalReader, writer_path, writers
from ...data.files.json import UnwrittenError, dumps, replacing_bytes
from ...data.files.paths import OpenFiles
from ...errors import at
from ...nodes.calls.store import is_of_user
from ..journals.call_differences import HEAD
from ..journals.calls import CALLS
from ..journals.journal import LEASE, AppendedFile, BrokenOffError, BusyError

WAITED = LEASE
"""Seconds for which a writer is waited for whose run has ended: it may just be ending too, or its machine is lost."""
_LOOKED = 0.1
ROOM = 512
"""Files that a process has open beside those of the writers."""


def merge_finished(journal: JournalReader[Any], plan: Sequence[str], close: Callable[[], None]) -> bool:
    """Merge a journal into one line for each key, planned ones first; gives whether anything changed.

    Lines that do not count stay at the end. `close` is called before the file is replaced.
    """
    further = writers(journal.path)
    journal.refresh()
    if not further and (journal.flaws or journal.is_in_order(plan)):
        return False
    with _all_locked(further):
        journal.refresh()
        flawed = {(flaw.path, flaw.line) for flaw in journal.flaws}
        every = _lines(journal.files()) if flawed else ()
        odd = [place for _, place in every if (place.path, place.line) in flawed]
        _replace(journal.path, _copied([*journal.positions(plan), *odd]), close)
        _remove(further)
    return True


def merge_failed(journal: JournalReader[Any], plan: Sequence[str], close: Callable[[], None]) -> bool:
    """Merge the lines of all writers into one file, in the order of the plan; gives whether anything changed.

    Equal lines become one. All lines of a conversation stay: each is another attempt.
    """
    order = {name: number for number, name in enumerate(plan)}
    further = writers(journal.path)
    with _all_locked(further):
        places: dict[bytes, tuple[int, Entry]] = {}
        for line, place in _lines(journal.files()):
            places.setdefault(sha256(line).digest(), (order.get(_of(line, "id"), len(order)), place))
        ordered = [place for _, place in sorted(places.values(), key=lambda numbered_place: numbered_place[0])]
        if not further and ordered == [place for _, place in places.values()]:
            return False
        _replace(journal.path, _copied(ordered), close)
        _remove(further)
    return True


def merge_calls(folder: Path) -> None:
    """Bring the call journals of all writers into one.

    A conversation is in one writer's file as a whole, with the part that the main file had when that writer began. So
    the longest part that a file has of a conversation counts.
    """
    main = folder / CALLS
    further = writers(main)
    if not further:
        return
    with _all_locked([*further, *[main] * main.exists()]):
        paths = [*[main] * main.exists(), *further]
        sizes: dict[str, dict[Path, int]] = defaultdict(dict)
        for line, place in _lines(paths):
            there = sizes[_of(line, "conversation")]
            there[place.path] = there.get(place.path, 0) + place.length
        counts = {name: max(there, key=lambda path: there[path]) for name, there in sizes.items()}

        def lines() -> Iterator[bytes]:
            yield (dumps(HEAD) + "\n").encode()
            for line, place in _lines(paths):
                name = _of(line, "conversation")
                if name and counts[name] == place.path:
                    yield line

        _replace(main, lines())
        _remove(further)


def split_calls(folder: Path, shards: Mapping[str, str]) -> None:
    """Give each shard what the call journal has of its conversations, in a file of its own; `shards`: by conversation."""
    main = folder / CALLS
    parts: dict[str, list[bytes]] = defaultdict(list)
    for line, _ in _lines([main] if main.exists() else []):
        if (name := shards.get(_of(line, "conversation"))) is not None:
            parts[name].append(line)
    head = (dumps(HEAD) + "\n").encode()
    for name, lines in parts.items():
        _replace(writer_path(main, name), [head, *lines])


def keep_user_calls(folder: Path) -> None:
    """Keep of the call journal of a complete run only the replies to its users, which another version may share."""
    merge_calls(folder)
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
    _remove([folder / CALLS, *writers(folder / CALLS)])


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
def _all_locked(paths: Iterable[Path]) -> Iterator[None]:
    """Inside, no other process writes the files.

    RunError if one does not stop. Half a last line is cut off.
    """
    paths = list(paths)
    _make_room(len(paths))
    with ExitStack() as stack:
        for path in paths:
            file = _locked(path)
            stack.callback(file.close)
            file.cut_torn_line()
        yield


def _make_room(number: int) -> None:
    """Allow this process this many more open files, as far as the system permits: a locked file is open."""
    try:
        import resource
    except ImportError:  # pragma: no cover - Windows, which has no such limit
        return
    soft, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = number + ROOM
    if soft != resource.RLIM_INFINITY and limit > soft:
        with suppress(ValueError, OSError):
            resource.setrlimit(
                resource.RLIMIT_NOFILE, (limit if most == resource.RLIM_INFINITY else min(limit, most), most)
            )


def _locked(path: Path) -> AppendedFile:
    waited = 0.0
    while True:
        try:
            return AppendedFile(path, alone_in=path.parent)
        except BusyError:
            if waited >= WAITED:
                raise
        sleep(_LOOKED)
        waited += _LOOKED


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


def _remove(paths: Iterable[Path]) -> None:
    for path in paths:
        path.unlink(missing_ok=True)
