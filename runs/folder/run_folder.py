"""A run on disk: its manifest, every finished conversation, what failed, and the data set itself."""

from collections.abc import Collection, Iterator, KeysView, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from ...data.files.journals import Codec, is_of_journal
from ...data.files.json import write_json
from ...data.files.paths import check_no_links, make_folder
from ...data.formats.record_lines import RECORDS, of_run, told_flaws
from ...data.formats.source import CONVERSATIONS, FAILURES, MANIFEST
from ...data.records import Conversation
from ..journals.journal import Closing, Journal, RunError, making
from . import manifests
from .leftovers import partials, remove
from .merging import merge_failed, merge_finished


class RunJournals(Closing):
    """The finished and the failed conversations of a run folder, open for its writer."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._finished = self._journal(CONVERSATIONS)
        try:
            self._failed = self._journal(FAILURES)
        except BaseException:
            self._finished.close()
            raise

    def _journal(self, name: str) -> Journal[Conversation]:
        return Journal.open(self.path / name, self._codec(), busy=self.path, salvage=True)

    def _codec(self) -> Codec[Conversation]:
        return RECORDS

    def keep(self, conversation: Conversation) -> None:
        """Write a conversation down, whole and at once: to the file of the finished or of the failed ones."""
        (self._finished if conversation.finished else self._failed).append(conversation)

    def check(self) -> None:
        """RunError if a written file was removed, replaced or cut."""
        self._finished.check()
        self._failed.check()

    def close(self) -> None:
        """Close the files and let others write."""
        self._finished.close()
        self._failed.close()


class RunFolder(RunJournals):
    """An open run folder.

    Finished conversations are appended whole and never rewritten.
    """

    def __init__(self, path: Path, manifest: Mapping[str, Any], notes: Sequence[str] = ()) -> None:
        self.manifest = dict(manifest)
        self.notes = list(notes)
        """What the user should know of the folder, a line each."""
        super().__init__(path)

    def _codec(self) -> Codec[Conversation]:
        return of_run(self.manifest, RECORDS)

    @classmethod
    def open(cls, path: str | Path, manifest: Mapping[str, Any], *, resume: bool) -> Self:
        """The folder for a run with this manifest: new or empty, or with `resume` the folder of the same run.

        RunError if the folder holds other files, another run or one of another version of the package, or if another
        process writes there.
        """
        root, notes = Path(path), list[str]()
        if root.exists() and not root.is_dir():
            raise RunError(f"{root}: is a file: choose a folder")
        check_no_links(root)
        earlier = _earlier(root)
        if earlier is None:
            _make(root)
            begun = datetime.now(UTC)  # noqa: TID251 - when a run began is recorded, and nothing depends on it
            manifest = {**manifest, manifests.BEGUN: begun.isoformat(timespec="seconds")}
        elif not resume:
            raise RunError(
                f"{root}: holds a run already: continue it with --resume (resume=True) or choose another folder"
            )
        else:
            manifests.same_version(root, earlier, manifest)
            manifests.same_run(root, earlier, manifest)
            notes += manifests.changes(earlier, manifest)
            manifest = manifests.continued(earlier, manifest)
        folder = cls(root, manifest, notes)
        try:
            remove(partials(root))  # nobody else writes here now: a killed run has left them
            if earlier is not None:
                folder._take_up()
            folder._tell()
        except BaseException:
            folder.close()
            raise
        return folder

    def _take_up(self) -> None:
        """Read the finished conversations, and note the lines that do not count."""
        for journal in (self._finished, self._failed):
            if journal.torn:
                self.notes.append(
                    f"{journal.path.name}: its last line was cut off in writing ({journal.torn} bytes) "
                    "and is simulated again"
                )
        self._finished.refresh()
        self.notes += told_flaws(self._finished.flaws, self.path)
        if any(flaw.lost for flaw in self._finished.flaws):
            self.notes.append("what a line held that cannot be read is simulated again")

    def _tell(self) -> None:
        """Write the manifest."""
        write_json(self.path / MANIFEST, self.manifest, end="\n")

    def check(self) -> None:
        """RunError if a file of the run was removed, replaced or cut."""
        super().check()
        if not (self.path / MANIFEST).is_file():
            self._tell()  # the plan is known here: nothing is lost

    def simulate_again(self, names: Collection[str]) -> None:
        """Note that these conversations are simulated again: of each the last line counts, not the first."""
        if names:
            self.manifest["again"] = sorted({*self.manifest.get("again", ()), *names})
            self._tell()
            self._finished.reopen(names)

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
            and manifests.is_lower(
                conversation.provenance.limits.get("max_tokens") if conversation.provenance else None, max_tokens
            )
        }

    def merge(self) -> None:
        """Put the finished conversations, and those that failed, in the order of the plan, a line for each."""
        self.check()  # what was replaced is not this run's
        if merge_finished(self._finished, self.manifest["planned"], self._finished.close):
            self._finished = self._journal(CONVERSATIONS)
        if merge_failed(self._failed, self.manifest["planned"], self._failed.close):
            self._failed = self._journal(FAILURES)

    def conversations(self) -> Iterator[Conversation]:
        """Every finished conversation in the order of the plan, read one at a time."""
        self._finished.refresh()
        return self._finished.iterate(self.manifest["planned"])


def _earlier(root: Path) -> dict[str, Any] | None:
    """The manifest of the run in a folder, None for no run; RunError if it is broken, or gone from its conversations."""
    manifest = manifests.read(root)
    if manifest is None and any(
        (root / name).is_file() and (root / name).stat().st_size for name in (CONVERSATIONS, FAILURES)
    ):
        raise RunError(
            f"{root}: holds conversations of a run without its {MANIFEST}: they can be read, and converted; choose another "
            "folder for a run"
        )
    return manifest


def _make(root: Path) -> None:
    """Make the folder of a new run.

    RunError if there is one with other files.
    """
    with making(root):
        if root.is_dir() and not all(map(_is_leftover, root.iterdir())):
            raise RunError(f"{root}: holds other files and no run: choose a new or empty folder")
        make_folder(root)


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
