"""A run on disk: its manifest, and a line for each conversation that ended.

`conversations.jsonl` only grows, under a lock of its one writer. Of a conversation of a version the last line counts; a line
that a crash cut in half is owed again. `replies.sqlite` beside it holds what models replied.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, Self

from ..data.files.json import UnwrittenError, dumps, replacing_bytes, write_json
from ..data.files.paths import make_folder
from ..data.formats.record_lines import StoredRun, line, read_manifest, told_flaws, versions_in
from ..data.formats.source import CONVERSATIONS, MANIFEST
from ..data.identity import VERSION, digest, ordinals
from ..data.records import SCHEMA, Conversation, Record, as_object
from ..errors import DataError, DuologueError, SettingError
from ..graphs import Cast
from ..nodes.calls.store import merge
from ..nodes.limits import Limits
from ..nodes.models.specs import replayed_path, use_of
from ..nodes.state import Planned
from .settings import REPLIES

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows has no flock: there nothing keeps a second run away
    fcntl = None  # type: ignore[assignment]

OF_USER = ("user_prompt_selector", "user_simulator", "question_validator")
OF_RUN = ("closing", "stop")
"""Places of the user, and those that score a conversation and end it: runs that are compared have the same."""


class RunError(DuologueError, ValueError):
    """A file or folder that this run cannot use: one line with the reason and the remedy."""


class BusyError(RunError):
    """Another process is writing there."""


class BrokenOffError(RunError):
    """A run under way cannot go on, as its disk is full."""

    exit_code = 1


@contextmanager
def making(folder: Path) -> Iterator[None]:
    """RunError in place of the system's error, if a folder cannot be made."""
    try:
        yield
    except OSError as error:
        raise RunError(f"{folder}: cannot be made ({error.strerror}): choose another folder") from None


def name_of(state: Planned) -> str:
    """The id of a planned conversation."""
    return str(state.get("id", ""))


def is_owed(conversation: Conversation) -> bool:
    """Whether a run that goes on simulates a conversation again.

    It failed, was cancelled, was cut short by a bound of the run, or a model or scorer failed after its end.
    """
    return not conversation.finished or conversation.cut_by_run or is_unanswered(conversation)


def is_unanswered(conversation: Conversation) -> bool:
    """Whether a model or a scorer failed after the end of the conversation, at a question or at a score."""
    if conversation.ending_failure is not None:
        return conversation.ending_failure.node == "closing"
    return any(as_object(score).get("error") for score in conversation.scores.values())


# --- Manifests


def manifest_of(
    casts: Mapping[str, Cast], plan: Sequence[Planned], limits: Limits, source: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The manifest of a run: its casts by version, limits and scenarios; all under `settings` matters for going on.

    Its `pages` are the prompts by name: together with the digests in the records they show what was sent.
    """
    scenarios = [state["scenario"] for state in plan]
    others = {name: _of_cast(cast, limits) for name, cast in casts.items() if name}
    return {
        "version": VERSION,
        "schema_version": SCHEMA,
        **_of_cast(casts[""], limits),
        **({"versions": others} if others else {}),
        "data": [
            {"source": "scenarios"}
            | dict(source or {})
            | {
                "digest": digest(scenarios),
                "scenarios": len({digest(scenario) for scenario in scenarios}),
                "equal": sum(map(bool, ordinals(state["scenario"] for state in plan if not state.get("repeat")))),
            }
        ],
        "pages": {name: page.source for cast in casts.values() for name, page in cast.pages.items()},
        "planned": [name_of(state) for state in plan],
    }


def _of_cast(cast: Cast, limits: Limits) -> dict[str, Any]:
    settings = {
        "cast": cast.name,
        "nodes": {place: node.flat() for place, node in cast.describe().items()} | cast.words,
        "limits": limits.plain(),
        "prompts": {name: page.digest for name, page in cast.pages.items()},
        **({"stop_reasons": cast.own_reasons} if cast.stop_reasons else {}),
        **({"record_memory": True} if cast.record_memory else {}),
    }
    return {"cast": cast.plain(), "settings": settings}


def stored_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a run folder; RunError without one, or for one that is broken."""
    if not (folder / MANIFEST).is_file():
        raise RunError(f"{folder}: is not a run folder, as it has no {MANIFEST}: give the folder of a run")
    try:
        return read_manifest(folder)
    except DataError as error:
        raise RunError(str(error)) from None


def _check_same(folder: Path, earlier: Mapping[str, Any], current: Mapping[str, Any]) -> None:
    """RunError if the folder holds another run; it names the first setting that differs."""
    if earlier.get("version") != current["version"]:
        made = f"its run was made with duologue {earlier.get('version')}, this is {current['version']}"
        raise RunError(f"{folder}: {made}: go on with that version, or choose another folder")
    if (was := versions_in(earlier)) != (now := versions_in(current)):
        raise RunError(f"{folder}: its run has the versions {was[1:]}, now it is {now[1:]}: choose another folder")
    for version in now:
        had, has = (manifest["versions"][version] if version else manifest for manifest in (earlier, current))
        if (found := first_difference(_compared(had), _compared(has)) or _difference_of_casts(had, has)) is not None:
            name, old, new = found
            if isinstance(old, dict) and set(old) == {"name", "source"} and isinstance(new, dict):
                what = f"the source of {old['name']} ({name}) has changed since its run began"
                raise RunError(f"{folder}: {what}: go on with the same code, or choose another folder")
            raise RunError(
                f"{folder}: its run had {name} = {short(old)}, now it is {short(new)}: go on with the same settings, or "
                "choose another folder"
            )
    if dropped := set(earlier["planned"]) - set(current["planned"]):
        raise RunError(
            f"{folder}: its run planned {len(earlier['planned'])} conversations, and {len(dropped)} of these are missing now: "
            "go on with the same scenarios (or more of them), or choose another folder"
        )


def _difference_of_casts(was: Mapping[str, Any], now: Mapping[str, Any]) -> tuple[str, Any, Any] | None:
    """The first setting of the cast, as it was given, that differs and that no node tells.

    Prompts and limits stand in the run's settings; so do the digests of stored words, wherever their files lie.
    """
    had, has = (as_object(as_object(manifest.get("cast")).get("settings")) for manifest in (was, now))
    for name in dict.fromkeys([*had, *has]):
        values = had.get(name), has.get(name)
        if name not in ("prompts", "limits") and values[0] != values[1] and not all(map(_is_stored, values)):
            return name, *values
    return None


def _is_stored(value: Any) -> bool:
    return bool(replayed_path(value)) or use_of(value) is not None


def _compared(manifest: Mapping[str, Any]) -> dict[str, Any]:
    limits = {name: value for name, value in manifest["settings"]["limits"].items() if name != "turn_timeout"}
    return {**manifest["settings"], "limits": limits}


def first_difference(was: Any, now: Any, name: str = "") -> tuple[str, Any, Any] | None:
    """The first value in which two settings differ: its name, and both values; None if they are equal.

    A function is one value: its name and the digest of its source.
    """
    if was == now:
        return None
    both = [value for value in (was, now) if isinstance(value, dict) and set(value) != {"name", "source"}]
    if len(both) == 2:
        keys = [*was, *(key for key in now if key not in was)]
        found = (first_difference(was.get(key), now.get(key), f"{name}.{key}" if name else key) for key in keys)
        return next(filter(None, found), None)
    if isinstance(was, list) and isinstance(now, list) and len(was) == len(now):
        pairs = enumerate(zip(was, now, strict=True))
        return next(filter(None, (first_difference(*pair, f"{name}.{place}") for place, pair in pairs)), None)
    return name, was, now


def short(value: Any) -> str:
    """A setting's value in an error."""
    return "its default" if value is None else dumps(value)[:80]


class ComparableRuns(NamedTuple):
    """What two runs have in common."""

    planned: tuple[str, ...]
    """Ids of the conversations that both planned, in the order of the new run."""
    notes: tuple[str, ...]
    """What only one of them has, a line each."""


def comparable(old: Mapping[str, Any], new: Mapping[str, Any], name: str) -> ComparableRuns:
    """What two runs have in common, by their manifests, so that their conversations can be compared in pairs.

    `name`: of the old run, for errors. What only one of them planned is left out, with a note.
    SettingError if cast, user, limits, seed or what scores differ, or if scenarios do.
    """
    if (difference := first_difference(_conditions(old["settings"]), _conditions(new["settings"]))) is not None:
        what, was, now = difference
        raise SettingError(
            f"{name}: its run had {what} = {short(was)}, the other has {short(now)}, so their conversations do not pair: "
            "simulate both with the same user, limits and seed"
        )
    ids = {side: dict.fromkeys(manifest["planned"]) for side, manifest in (("old", old), ("new", new))}
    shared = tuple(one for one in ids["new"] if one in ids["old"])
    if not shared:
        raise SettingError(
            f"{name}: has no conversation in common with the other run, as scenarios differ: give the same scenarios"
        )
    notes = tuple(
        f"{lacking} conversations of {of} are not compared: the other run did not plan them"
        for side, of in (("old", name), ("new", "the new run"))
        if (lacking := len(ids[side]) - len(shared))
    )
    return ComparableRuns(shared, notes)


def _conditions(settings: Mapping[str, Any]) -> dict[str, Any]:
    nodes, pages = dict(settings.get("nodes") or {}), dict(settings.get("prompts") or {})
    return {
        "cast": settings.get("cast"),
        "limits": dict(settings.get("limits") or {}),
        "nodes": {place: nodes.get(place) for place in (*OF_USER, *OF_RUN)},
        "prompts": {name: page for name, page in pages.items() if name.startswith("user/")},
    }


# --- The folder


class AppendedFile:
    """A file of lines that only grows, locked by its one writer; a line that a crash cut in half is removed.

    BusyError if another process holds it, RunError if it cannot be written.
    """

    def __init__(self, path: Path, *, named: Path | None = None) -> None:
        """`named`: what an error names in place of the file, such as its folder."""
        self.path = path
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
        try:
            self._file = os.open(path, flags, 0o666)
        except OSError as error:
            raise RunError(f"{path}: cannot be written ({error.strerror}): choose another folder") from None
        if fcntl is not None:
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                os.close(self._file)
                where = named or path
                raise BusyError(
                    f"{where}: another run is writing there: wait for it, or choose another folder"
                ) from None
        self.torn = self._cut_torn_line()
        """Bytes of a line that was cut off in writing."""

    def _cut_torn_line(self) -> int:
        size = end = os.fstat(self._file).st_size
        while end:
            start = max(0, end - (1 << 16))
            os.lseek(self._file, start, os.SEEK_SET)
            if (newline := os.read(self._file, end - start).rfind(b"\n")) >= 0:
                end = start + newline + 1
                break
            end = start
        os.ftruncate(self._file, end)
        return size - end

    def append(self, text: str) -> None:
        """Append whole lines; BrokenOffError if the disk does not take them, and then nothing of them stays."""
        data, start = memoryview(text.encode()), os.fstat(self._file).st_size
        try:
            while data:
                data = data[os.write(self._file, data) :]
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(self._file, start)
            raise BrokenOffError(
                f"{self.path}: cannot be written ({error.strerror}): make room, then call it again"
            ) from None

    def close(self) -> None:
        """Close the file and let others write."""
        os.close(self._file)


class RunFolder:
    """The open folder of a run, which no other process writes meanwhile."""

    def __init__(self, path: Path, manifest: Mapping[str, Any]) -> None:
        self.path, self.manifest = path, dict(manifest)
        self.notes: list[str] = []
        """What the user should know of the folder, a line each."""
        self.done: set[tuple[str, str]] = set()
        """Version and id of the conversations that are not simulated again."""
        self.again: dict[tuple[str, str], Conversation] = {}
        """The last attempt at those that failed."""
        self._file = AppendedFile(path / CONVERSATIONS, named=path)

    @classmethod
    def open(cls, path: Path, manifest: Mapping[str, Any]) -> Self:
        """The folder for the run with this manifest, which goes on there if it has begun.

        RunError if the folder holds other files or another run, or if another process writes there.
        """
        if path.exists() and not path.is_dir():
            raise RunError(f"{path}: is a file: choose a folder")
        earlier = stored_manifest(path) if (path / MANIFEST).is_file() else None
        if earlier is not None:
            _check_same(path, earlier, manifest)
            new = len(set(manifest["planned"]) - set(earlier["planned"]))
            planned = list(dict.fromkeys([*earlier["planned"], *manifest["planned"]]))
            sources = [*(one for one in earlier["data"] if one not in manifest["data"]), *manifest["data"]]
            manifest = {**manifest, "data": sources, "planned": planned, "begun": earlier.get("begun")}
        else:
            new = 0
            _make(path)
            begun = datetime.now(UTC)  # noqa: TID251 - when a run began is recorded, and nothing depends on it
            manifest = {**manifest, "begun": begun.isoformat(timespec="seconds")}
        folder = cls(path, manifest)
        try:
            if torn := folder._file.torn:
                folder.notes.append(
                    f"{CONVERSATIONS}: its last line was cut off in writing ({torn} bytes): simulated again"
                )
            if new:
                folder.notes.append(f"{new} conversations are new to this run, which had planned {len(planned) - new}")
            write_json(path / MANIFEST, manifest, end="\n")
            if earlier is not None:
                folder._take_up()
        except UnwrittenError as error:
            folder.close()
            raise BrokenOffError(
                f"{error.path}: cannot be written ({error.why}): make room, then call it again"
            ) from None
        except BaseException:
            folder.close()
            raise
        return folder

    def _take_up(self) -> None:
        for version in versions_in(self.manifest):
            stored = StoredRun(self.path, version=version)
            for conversation in stored.scan():
                key = (version, conversation.id)
                if is_owed(conversation):
                    self.done.discard(key)
                    self.again[key] = conversation
                else:
                    self.done.add(key)
                    self.again.pop(key, None)
        self.notes += told_flaws(stored.flaws, self.path)

    def keep(self, conversation: Conversation) -> None:
        """Append a conversation; BrokenOffError if the disk does not take it."""
        self._file.append(line(conversation))

    def close(self) -> None:
        """Close the file and let others write."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _make(path: Path) -> None:
    """Make the folder of a new run; RunError if there is one with other files."""
    if path.is_dir():
        others = [one for one in path.iterdir() if not one.name.startswith((".", REPLIES))]
        if any(one.name == CONVERSATIONS and one.stat().st_size for one in others):
            raise RunError(f"{path}: holds conversations of a run without its {MANIFEST}: choose another folder")
        if any(one.name != CONVERSATIONS for one in others):
            raise RunError(f"{path}: holds other files and no run: choose a new or empty folder")
    with making(path):
        make_folder(path)


def new_folder(parent: str | Path, name: str) -> Path:
    """The path `parent/name-N` with the first number that is free."""
    number = 1
    while (path := Path(parent) / f"{name}-{number}").exists():
        number += 1
    return path


def put_together(folders: Sequence[Path], out: Path) -> int:
    """Make one run folder of those of several shards; gives the number of its conversations.

    The same command without `--shard` goes on there. RunError if the folders are of different runs, or two of them plan
    the same conversation.
    """
    manifests = [stored_manifest(folder) for folder in folders]
    for folder, manifest in zip(folders, manifests, strict=True):
        for key in ("settings", "versions"):
            if (difference := first_difference(manifests[0].get(key), manifest.get(key), key)) is not None:
                name, was, now = difference
                raise RunError(
                    f"{folder}: is of another run than {folders[0]}: {name} is {short(now)}, not {short(was)}"
                )
    # Every N-th conversation is in a shard: its place in the whole plan follows from its place there.
    planned = [
        (place * manifest.get("shard", [1, 1])[1] + manifest.get("shard", [1, 1])[0], name)
        for manifest in manifests
        for place, name in enumerate(manifest["planned"])
    ]
    if len({name for _, name in planned}) < len(planned):
        raise RunError(
            f"{folders[-1]}: plans conversations that another of the folders plans too: give each shard once"
        )
    if out.is_dir() and any(out.iterdir()):
        raise RunError(f"{out}: holds files already: choose a new folder")
    _make(out)
    names = [name for _, name in sorted(planned, key=lambda one: one[0])]
    whole = {key: value for key, value in manifests[0].items() if key != "shard"}
    write_json(out / MANIFEST, whole | {"planned": names, "data": []}, end="\n")
    with replacing_bytes(out / CONVERSATIONS) as file:
        for folder in folders:
            with (folder / CONVERSATIONS).open("rb") as lines:
                file.writelines(one for one in lines if one.endswith(b"\n"))
    for folder in folders:
        merge(folder / REPLIES, out / REPLIES)
    return len(names)


# --- What a run has come to


class RunInfo(Record):
    """The state of a run: its conversations of one version by how they ended."""

    cast: str
    begun: str | None
    """In UTC."""
    version: str
    """Of the package that made it."""
    planned: int
    finished: int
    """Conversations that came to an end of their own."""
    cut_by_run: int
    """Those that a bound of the run cut short."""
    unanswered: int
    """Finished conversations of which a model failed to answer what is asked after the end."""
    failed: dict[str, str]
    """Id and reason of each conversation that failed or was cancelled."""

    @property
    def missing(self) -> int:
        """Planned conversations that are neither finished nor cut short."""
        return self.planned - self.finished - self.cut_by_run

    @property
    def complete(self) -> bool:
        """Whether every planned conversation ended by itself, and was answered all that is asked after it."""
        return self.finished == self.planned and not self.unanswered

    @property
    def line(self) -> str:
        """How many conversations are finished, in words."""
        cut = self.cut_by_run
        short = f", {cut} {'was' if cut == 1 else 'were'} cut short by the run's bound" if cut else ""
        return f"{self.finished} of {self.planned} conversations finished{short}"


def standing(folder: Path, *, version: str = "") -> RunInfo:
    """The state of the run in a folder; RunError if it holds none."""
    manifest = stored_manifest(folder)
    last = {one.id: one for one in StoredRun(folder, version=version).scan()}
    return RunInfo(
        cast=str(manifest["settings"].get("cast", "")),
        begun=manifest.get("begun"),
        version=str(manifest.get("version", "")),
        planned=len(set(manifest["planned"])),
        finished=sum(one.finished and not one.cut_by_run for one in last.values()),
        cut_by_run=sum(one.cut_by_run for one in last.values()),
        unanswered=sum(one.finished and is_unanswered(one) for one in last.values()),
        failed={
            one.id: one.failure.error if one.failure is not None else str(one.stop)
            for one in last.values()
            if not one.finished
        },
    )
