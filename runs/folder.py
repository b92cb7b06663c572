"""A run on disk: its manifest, every finished conversation, what failed, and the data set itself."""

from collections.abc import Collection, Iterator, KeysView, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ..data.formats.detection import CONVERSATIONS, FAILURES, MANIFEST
from ..data.formats.journals import is_of_journal
from ..data.formats.jsonfiles import dumps, read_json, write_json
from ..data.formats.record_lines import RECORDS
from ..data.records import Conversation
from ..errors import DataError, at
from ..nodes.replay import replayed_path
from .journal import Journal, RunError

GIVEN_BY = ("object", "url")
"""Keys of a node that runs did not record before they recorded their cast as plain data."""

DEFAULT = "its default"
"""Stands in an error for a setting that a cast was not given."""


class RunFolder:
    """An open run folder. Finished conversations are appended whole and never rewritten."""

    def __init__(self, path: Path, manifest: Mapping[str, Any]) -> None:
        self.path = path
        self.manifest = dict(manifest)
        self.notes: list[str] = []
        self._finished = Journal.open(path / CONVERSATIONS, RECORDS, busy=path)
        try:
            self._failed = Journal.open(path / FAILURES, RECORDS, busy=path)
        except BaseException:
            self._finished.close()
            raise

    @classmethod
    def open(cls, path: str | Path, manifest: Mapping[str, Any], *, resume: bool) -> Self:
        """The folder for a run with this manifest: new or empty, or with `resume` the folder of the same run.

        RunError if the folder holds other files or another run, or if another process writes there.
        """
        root = Path(path)
        if root.exists() and not root.is_dir():
            raise RunError(f"{root}: is a file: choose a folder")
        earlier = _manifest(root)
        if earlier is None:
            if root.is_dir() and not all(map(_is_leftover, root.iterdir())):
                raise RunError(f"{root}: holds other files and no run: choose a new or empty folder")
            try:
                root.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise RunError(f"{root}: cannot be made ({error.strerror}): choose another folder") from None
        elif not resume:
            raise RunError(
                f"{root}: holds a run already: continue it with --resume (resume=True) or choose another folder"
            )
        else:
            _same_run(root, earlier, manifest)
        folder = cls(root, manifest)
        try:
            if earlier is not None:
                folder._take_up(earlier)
            write_json(root / MANIFEST, folder.manifest, end="\n")
        except BaseException:
            folder.close()
            raise
        return folder

    def _take_up(self, earlier: Mapping[str, Any]) -> None:
        """Continue the run of an earlier manifest: its plan comes first, then what is new."""
        sources = self.manifest["data"]
        self.manifest["data"] = [*(source for source in earlier["data"] if source not in sources), *sources]
        planned = [str(name) for name in earlier.get("planned", [])]
        already = set(planned)
        added = [name for name in self.manifest["planned"] if name not in already]
        self.manifest["planned"] = [*planned, *added]
        if added:
            self.notes.append(f"{len(added)} conversations are new to this run, which had planned {len(planned)}")
        for journal in (self._finished, self._failed):
            if journal.torn:
                self.notes.append(
                    f"{journal.path.name}: its last line was cut off in writing ({journal.torn} bytes) "
                    "and is simulated again"
                )
        self._finished.refresh()

    @property
    def done(self) -> KeysView[str]:
        """Ids of the finished conversations."""
        return self._finished.keys()

    def cut_off_below(self, max_tokens: int | None) -> set[str]:
        """Ids of the conversations that ended at a token limit lower than this one (None: no limit)."""
        return {
            conversation.id
            for conversation in self.conversations()
            if conversation.stop == "budget"
            and _is_lower(
                conversation.provenance.limits.get("max_tokens") if conversation.provenance else None, max_tokens
            )
        }

    def keep(self, conversation: Conversation) -> None:
        """Write a conversation down, whole and at once: to the file of the finished or of the failed ones."""
        (self._finished if conversation.finished else self._failed).append(conversation)

    def conversations(self) -> Iterator[Conversation]:
        """Every finished conversation in the order of the plan, read one at a time."""
        self._finished.refresh()
        return self._finished.iterate(self.manifest["planned"])

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
    """The path `parent/name-N` with the first number that is free."""
    number = 1
    while (path := Path(parent) / f"{name}-{number}").exists():
        number += 1
    return path


def _is_leftover(path: Path) -> bool:
    """Whether a file may stem from a run that was killed before it wrote its manifest."""
    if path.name.startswith(f".{MANIFEST}.") and path.suffix == ".partial":
        return True
    journals = (CONVERSATIONS, FAILURES)
    return any(is_of_journal(path, name) for name in journals) and path.stat().st_size == 0


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


def _same_run(folder: Path, earlier: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """Raise RunError if the run in the folder differs; it names the first setting that does."""
    without = () if "cast" in earlier else GIVEN_BY
    had, has = (_compared(manifest["settings"], without) for manifest in (earlier, wanted))
    difference = _first_difference(had, has, "")
    of_cast = _difference_of_casts(earlier.get("cast"), wanted.get("cast"))
    if difference or of_cast:
        name, was, now = difference or of_cast or ("", None, None)
        setting = f" (setting {of_cast[0]!r} of the cast)" if of_cast and difference else ""
        raise RunError(
            f"{folder}: its run had {name} = {_short(was)}, now it is {_short(now)}{setting}: "
            "resume with the same settings or choose another folder"
        )
    had_tokens, has_tokens = ((of["settings"].get("limits") or {}).get("max_tokens") for of in (earlier, wanted))
    if _is_lower(has_tokens, had_tokens):
        raise RunError(
            f"{folder}: its run had limits.max_tokens = {dumps(had_tokens)}, now it is {dumps(has_tokens)}: it may only be raised "
            "when a run is resumed"
        )
    dropped = set(earlier.get("planned", [])) - set(wanted["planned"])
    if dropped:
        raise RunError(
            f"{folder}: its run planned {len(earlier['planned'])} conversations, and {len(dropped)} of these are missing now: "
            "resume with the same scenarios (or more of them), or choose another folder"
        )


def _short(value: Any) -> str:
    return DEFAULT if value is DEFAULT else dumps(value)[:80]


def _is_lower(max_tokens: Any, other: int | None) -> bool:
    """Whether a limit of tokens is lower than another; None is no limit."""
    return isinstance(max_tokens, int) and (other is None or max_tokens < other)


def _compared(settings: Mapping[str, Any], without: Collection[str]) -> dict[str, Any]:
    """The settings that must be equal on resume: the limit of tokens may be raised, to let a run go further."""
    limits = {name: value for name, value in dict(settings.get("limits") or {}).items() if name != "max_tokens"}
    nodes = {
        place: {key: value for key, value in node.items() if key not in without} if isinstance(node, dict) else node
        for place, node in dict(settings.get("nodes") or {}).items()
    }
    return {**settings, "limits": limits, "nodes": nodes}


def _difference_of_casts(earlier: Any, wanted: Any) -> tuple[str, Any, Any] | None:
    """The first setting in which two casts as plain data differ; None if one of them is none.

    Replayed data, prompt pages and limits are left out: the run's settings hold these by their digests and values.
    """
    if not all(isinstance(spec, dict) and "cast" in spec for spec in (earlier, wanted)):
        return None
    if earlier["cast"] != wanted["cast"]:
        return "cast", earlier["cast"], wanted["cast"]
    for part in ("settings", "replace"):
        was, now = (dict(spec.get(part) or {}) for spec in (earlier, wanted))
        for name in [*was, *(name for name in now if name not in was)]:
            values = was.get(name, DEFAULT), now.get(name, DEFAULT)
            if name not in ("prompts", "limits") and values[0] != values[1] and not all(map(replayed_path, values)):
                return name, *values
    return None


def _first_difference(was: Any, now: Any, name: str) -> tuple[str, Any, Any] | None:
    if isinstance(was, dict) and isinstance(now, dict):
        for key in [*was, *(key for key in now if key not in was)]:
            difference = _first_difference(was.get(key), now.get(key), f"{name}.{key}" if name else key)
            if difference:
                return difference
        return None
    if isinstance(was, (list, tuple)) and isinstance(now, Sequence) and not isinstance(now, str):
        return None if list(was) == list(now) else (name, was, now)
    return None if was == now else (name, was, now)
