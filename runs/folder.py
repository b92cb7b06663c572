"""A run on disk: its manifest, every finished conversation, what failed, and the data set itself."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ..data.formats import record_lines
from ..data.formats.detection import CONVERSATIONS, FAILURES, MANIFEST
from ..data.formats.jsonfiles import dumps, read_json, write_json
from ..data.records import Conversation
from ..errors import DataError, at
from .journal import Appended, RunError


class RunFolder:
    """An open run folder. Finished conversations are appended whole; nothing in it is ever rewritten."""

    def __init__(self, path: Path, manifest: Mapping[str, Any]) -> None:
        self.path = path
        self.manifest = dict(manifest)
        self.notes: list[str] = []
        self.done: set[str] = set()
        self._finished = Appended(path / CONVERSATIONS, alone_in=path)
        self._failed = Appended(path / FAILURES)

    @classmethod
    def open(cls, path: str | Path, manifest: Mapping[str, Any], *, resume: bool) -> Self:
        """The folder for a run with this manifest: a new or empty one, or with `resume` one of the same run.

        RunError if the folder holds something else, another run's conversations, or is in use.
        """
        place = Path(path)
        if place.exists() and not place.is_dir():
            raise RunError(f"{place}: is a file: choose a folder")
        known = _manifest(place)
        if known is None:
            if place.is_dir() and not all(map(_is_leftover, place.iterdir())):
                raise RunError(f"{place}: holds other files and no run: choose a new or empty folder")
            try:
                place.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise RunError(f"{place}: cannot be made ({error.strerror}): choose another folder") from None
        elif not resume:
            raise RunError(
                f"{place}: holds a run already: continue it with --resume (resume=True) or choose another folder"
            )
        else:
            _same_run(place, known, manifest)
        folder = cls(place, manifest)
        if known is not None:
            folder._take_up(known)
        write_json(place / MANIFEST, folder.manifest, end="\n")
        return folder

    def _take_up(self, known: Mapping[str, Any]) -> None:
        """Go on with what is there: what was planned stays planned, a line cut in half is dropped."""
        new = self.manifest["data"]
        self.manifest["data"] = [*(source for source in known["data"] if source not in new), *new]
        earlier = [str(name) for name in known.get("planned", [])]
        of_old = set(earlier)
        self.manifest["planned"] = [*earlier, *(name for name in self.manifest["planned"] if name not in of_old)]
        grown = len(self.manifest["planned"]) - len(earlier)
        if grown:
            self.notes.append(f"{grown} conversations are new to this run, which had planned {len(earlier)}")
        for file in (self._finished, self._failed):
            torn = file.cut_torn_line()
            if torn:
                self.notes.append(
                    f"{file.path.name}: its last line was cut off in writing ({torn} bytes) and is simulated again"
                )
        self.done = {conversation.id for conversation in record_lines.iterate(self.path / CONVERSATIONS)}

    def keep(self, conversation: Conversation) -> None:
        """Write a conversation down, whole and at once: finished ones and failed ones apart."""
        file = self._finished if conversation.finished else self._failed
        file.append(record_lines.line(conversation))
        if conversation.finished:
            self.done.add(conversation.id)

    def conversations(self) -> list[Conversation]:
        """Every finished conversation, in the order in which they were planned."""
        return record_lines.read_run(self.path)

    def close(self) -> None:
        """Close the files and let others write."""
        self._finished.close()
        self._failed.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def new_folder(parent: str | Path, name: str) -> Path:
    """A path `parent/name-N` that nothing has yet; the first free number."""
    number = 1
    while (path := Path(parent) / f"{name}-{number}").exists():
        number += 1
    return path


def _is_leftover(path: Path) -> bool:
    """Whether a file is what a run leaves that was killed before it had written its manifest."""
    if path.name.startswith(f".{MANIFEST}.") and path.suffix == ".partial":
        return True
    return path.name in (CONVERSATIONS, FAILURES) and path.stat().st_size == 0


def _manifest(folder: Path) -> dict[str, Any] | None:
    file = folder / MANIFEST
    if not file.is_file():
        return None
    try:
        value = read_json(file)
    except DataError as error:
        raise RunError(f"{error}; or choose another folder") from None
    kinds = {"settings": dict, "planned": list, "data": list}
    if not isinstance(value, dict) or not all(isinstance(value.get(key), kind) for key, kind in kinds.items()):
        raise RunError(f"{at(file)}: is no manifest of a run: choose another folder")
    return value


def _same_run(folder: Path, known: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """RunError names the first setting in which the run in the folder differs."""
    difference = _first_difference(known["settings"], wanted["settings"], "")
    if difference:
        name, was, now = difference
        raise RunError(
            f"{folder}: its run had {name} = {dumps(was)[:80]}, now it is {dumps(now)[:80]}: "
            "resume with the same settings or choose another folder"
        )
    dropped = set(known.get("planned", [])) - set(wanted["planned"])
    if dropped:
        raise RunError(
            f"{folder}: its run planned {len(known['planned'])} conversations, {len(dropped)} of which are not among those "
            "asked for now: resume with the same topics (or more of them), or choose another folder"
        )


def _first_difference(was: Any, now: Any, name: str) -> tuple[str, Any, Any] | None:
    if isinstance(was, dict) and isinstance(now, dict):
        for key in [*was, *(key for key in now if key not in was)]:
            found = _first_difference(was.get(key), now.get(key), f"{name}.{key}" if name else key)
            if found:
                return found
        return None
    if isinstance(was, (list, tuple)) and isinstance(now, Sequence) and not isinstance(now, str):
        return None if list(was) == list(now) else (name, was, now)
    return None if was == now else (name, was, now)
