"""The files of several writers made one: a line for each conversation, in the order of the plan.

A kill at any moment loses nothing and doubles nothing. The new file is whole on the disk before it replaces the old one,
and only then the writers' files are removed: until then readers find a line twice, and it is the same one.
"""

import json
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from time import sleep
from typing import NamedTuple

from ..data.formats.journals import JournalReader, is_of_journal
from ..data.formats.jsonfiles import dumps
from ..data.formats.regular_files import Opened
from ..data.records import Conversation
from ..errors import at
from .calls import CALLS, HEAD
from .journal import LEASE, Appended, BrokenOffError, BusyError

WAITED = LEASE
"""Seconds for which a writer is waited for whose run has ended: it may just be ending too, or its machine is lost."""
_LOOKED = 0.1
ROOM = 512
"""Files that a process has open beside those of the writers."""


class Place(NamedTuple):
    """Where a line stands."""

    path: Path
    offset: int
    length: int


def writers(main: Path) -> list[Path]:
    """The files of further writers beside a main file, by name."""
    beside = main.parent.iterdir() if main.parent.is_dir() else ()
    return sorted(path for path in beside if path.name != main.name and is_of_journal(path, main.name))


def merge_finished(journal: JournalReader[Conversation], plan: Sequence[str], close: Callable[[], None]) -> bool:
    """Bring a journal to one line for each of its conversations, planned ones first; gives whether it was not so before.

    Lines that do not count stay at the end, for `runs repair`. `close` is called before the file is replaced.
    """
    further = writers(journal.path)
    journal.refresh()
    if not further and (journal.flaws or journal.is_in_order(plan)):
        return False
    with _held(further):
        journal.refresh()
        flawed = {(flaw.path, flaw.line) for flaw in journal.flaws}
        odd = [place for number, place in _lines(journal.files()) if (place.path, number) in flawed] if flawed else []
        _replace(journal.path, _copied([*map(Place._make, journal.positions(plan)), *odd]), close)
        _remove(further)
    return True


def merge_failed(journal: JournalReader[Conversation], plan: Sequence[str], close: Callable[[], None]) -> bool:
    """Bring the lines of all writers into one file, in the order of the plan, the same line once; gives whether it was
    not so before. All lines of a conversation stay: each is another attempt."""
    order = {name: number for number, name in enumerate(plan)}
    further = writers(journal.path)
    with _held(further):
        found: dict[bytes, tuple[int, Place]] = {}
        with Opened() as files:
            for _, place in _lines(journal.files()):
                line = _read(files, place)
                found.setdefault(sha256(line).digest(), (order.get(_of(line, "id"), len(order)), place))
        ordered = [place for _, place in sorted(found.values(), key=lambda each: each[0])]
        if not further and ordered == [place for _, place in found.values()]:
            return False
        _replace(journal.path, _copied(ordered), close)
        _remove(further)
    return True


def merge_calls(folder: Path) -> None:
    """Bring the call journals of all writers into one.

    A conversation is in one writer's file as a whole, with what the main file had of it when that writer began: so the
    longest of what the files have of a conversation counts.
    """
    main = folder / CALLS
    further = writers(main)
    if not further:
        return
    with _held([*further, *[main] * main.exists()]):
        paths = [*[main] * main.exists(), *further]
        sizes: dict[str, dict[Path, int]] = defaultdict(dict)
        for line, place in _calls(paths):
            there = sizes[_of(line, "conversation")]
            there[place.path] = there.get(place.path, 0) + place.length
        counts = {name: max(there, key=lambda path: there[path]) for name, there in sizes.items()}

        def lines() -> Iterator[bytes]:
            yield (dumps(HEAD) + "\n").encode()
            for line, place in _calls(paths):
                name = _of(line, "conversation")
                if name and counts[name] == place.path:
                    yield line

        _replace(main, lines())
        _remove(further)


def split_calls(folder: Path, shards: Mapping[str, str]) -> None:
    """Give each shard what the call journal has of its conversations, in a file of its own; `shards`: by conversation."""
    main = folder / CALLS
    parts: dict[str, list[bytes]] = defaultdict(list)
    for line, _ in _calls([main] if main.exists() else []):
        if (name := shards.get(_of(line, "conversation"))) is not None:
            parts[name].append(line)
    head = (dumps(HEAD) + "\n").encode()
    for name, lines in parts.items():
        _replace(main.with_name(f"{main.stem}.w-{name}{main.suffix}"), [head, *lines])


def remove_calls(folder: Path) -> None:
    """Remove the call journals of a run that is complete."""
    _remove([folder / CALLS, *writers(folder / CALLS)])


def _lines(paths: Iterable[Path]) -> Iterator[tuple[int, Place]]:
    """The whole lines of the files, each with its number."""
    for path in paths:
        offset = 0
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if line.endswith(b"\n") and line.strip():
                    yield number, Place(path, offset, len(line))
                offset += len(line)


def _calls(paths: Iterable[Path]) -> Iterator[tuple[bytes, Place]]:
    """The whole lines of call journals."""
    for path in paths:
        offset = 0
        with path.open("rb") as file:
            for line in file:
                if line.endswith(b"\n"):
                    yield line, Place(path, offset, len(line))
                offset += len(line)


def _of(line: bytes, key: str) -> str:
    """A text in the object of a line; empty if there is none."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return ""
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, str) else ""


def _read(files: Opened, place: Place) -> bytes:
    file = files[place.path]
    file.seek(place.offset)
    return file.read(place.length)


def _copied(places: Iterable[Place]) -> Iterator[bytes]:
    with Opened() as files:
        for place in places:
            line = _read(files, place)
            yield line if line.endswith(b"\n") else line + b"\n"


@contextmanager
def _held(paths: Iterable[Path]) -> Iterator[None]:
    """Inside, nobody else writes the files; RunError if somebody does not stop. Half a last line is cut off."""
    paths = list(paths)
    _make_room(len(paths))
    with ExitStack() as stack:
        for path in paths:
            held = _locked(path)
            stack.callback(held.close)
            held.cut_torn_line()
        yield


def _make_room(number: int) -> None:
    """Let this process have as many files open beside its others, as far as the system allows: a locked file is open."""
    try:
        import resource
    except ImportError:  # pragma: no cover - Windows, which has no such limit
        return
    soft, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = number + ROOM
    if soft != resource.RLIM_INFINITY and wanted > soft:
        with suppress(ValueError, OSError):
            resource.setrlimit(
                resource.RLIMIT_NOFILE, (wanted if most == resource.RLIM_INFINITY else min(wanted, most), most)
            )


def _locked(path: Path) -> Appended:
    waited = 0.0
    while True:
        try:
            return Appended(path, alone_in=path.parent)
        except BusyError:
            if waited >= WAITED:
                raise
        sleep(_LOOKED)
        waited += _LOOKED


def _replace(path: Path, lines: Iterable[bytes], close: Callable[[], None] = lambda: None) -> None:
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        with partial.open("wb") as file:
            file.writelines(lines)
            file.flush()
            os.fsync(file.fileno())
        close()
        partial.replace(path)
        _sync_folder(path.parent)
    except OSError as error:
        raise BrokenOffError(
            f"{at(path)}: cannot be written ({error.strerror}): every finished conversation is kept: make room or mend "
            "the disk, then resume"
        ) from None
    finally:
        partial.unlink(missing_ok=True)


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
