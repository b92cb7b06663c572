"""A list of runs: what each planned and finished, and why its conversations ended."""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from ..data.attempts import Record
from ..data.formats.detection import CONVERSATIONS, FAILURES, MANIFEST
from ..data.formats.journals import Codec, JournalReader
from ..data.stop_reasons import FAULTS, ended_by_itself
from ..errors import DataError
from . import manifests
from .journal import RunError


class RunInfo(Record):
    """A run in a list."""

    path: str
    cast: str
    planned: int
    finished: int
    failed: int
    """Conversations that were cut short and not finished since."""
    stops: dict[str, int]
    """Why the finished conversations ended."""
    bytes: int
    """Size of the folder."""
    version: str
    """The versions of the package that made it."""
    date: str | None
    """When its first conversation began, or when its manifest was written, in UTC."""
    complete: bool
    """Whether every planned conversation ended by itself."""
    problem: str = ""
    """Why the run cannot be told; empty if it can."""


def listed(folders: list[Path]) -> list[RunInfo]:
    """The runs among these folders and right below them, by path. DataError for a folder that is none."""
    found: dict[Path, None] = {}
    for folder in folders:
        if not folder.is_dir():
            raise DataError(f"{folder}: is no folder: give run folders, or folders of them")
        found |= dict.fromkeys([folder] if _is_run(folder) else sorted(filter(_is_run, folder.iterdir())))
    return [_info(folder) for folder in found]


def _is_run(folder: Path) -> bool:
    return folder.is_dir() and (folder / CONVERSATIONS).is_file()


class _Head(NamedTuple):
    id: str
    stop: str | None
    ended: bool
    started: str | None


def _info(folder: Path) -> RunInfo:
    try:
        manifest, problem = manifests.read(folder), ""
    except RunError as error:
        manifest, problem = None, str(error)
    if manifest is None:
        problem = problem or f"{folder / MANIFEST}: is missing"
    told = manifest or {"planned": [], "settings": {}}
    planned = set(told["planned"])
    finished = [head for head in _heads(folder / CONVERSATIONS) if head.id in planned or manifest is None]
    done = {head.id for head in finished}
    failed = {head.id for head in _heads(folder / FAILURES)} - done
    started = min((head.started for head in finished if head.started), default=None)
    versions = told.get("versions") or [told]
    return RunInfo(
        path=str(folder),
        cast=str(told["settings"].get("cast", "")),
        planned=len(planned),
        finished=len(done),
        failed=len(failed),
        stops=dict(Counter(head.stop or "not told" for head in finished).most_common()),
        bytes=sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()),
        version=", ".join(str(each.get("version", "")) for each in versions),
        date=started or _written(folder / MANIFEST),
        complete=not told.get(manifests.RESTORED)
        and bool(planned)
        and done == planned
        and all(head.ended for head in finished),
        problem=problem,
    )


def _heads(path: Path) -> Iterator[_Head]:
    """What a list tells of each conversation; the records are not checked, so it is quick."""
    codec = Codec(key=lambda head: head.id, to_plain=tuple, from_plain=_head)
    reader = JournalReader(path, codec, salvage=True)
    return reader.iterate() if reader.files() else iter(())


def _head(value: Any) -> _Head:
    if not isinstance(value, dict) or not isinstance(value.get("id"), str):
        raise DataError("is no record")
    stop, made, timing = value.get("stop"), value.get("provenance"), value.get("timing")
    reasons = made.get("stop_reasons") if isinstance(made, dict) else None
    own = reasons.get(stop) if isinstance(reasons, dict) else None
    fault = FAULTS.get(stop) if isinstance(stop, str) and stop in FAULTS else own
    started = timing.get("started") if isinstance(timing, dict) else None
    stop = stop if isinstance(stop, str) else None
    return _Head(value["id"], stop, ended_by_itself(stop, fault), started if isinstance(started, str) else None)


def _written(file: Path) -> str | None:
    """When a file was written, in UTC; None if it is not there."""
    if not file.is_file():
        return None
    return datetime.fromtimestamp(file.stat().st_mtime, UTC).isoformat(timespec="seconds")
