"""Mending a run folder: bad lines are taken out, a lost manifest is restored, and everything is kept."""

import os
import shutil
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from ..data.files.journals import JournalReader
from ..data.files.json_files import UnwrittenError, replacing_bytes, write_json
from ..data.files.regular_files import check_no_links
from ..data.formats.detection import CONVERSATIONS, FAILURES, MANIFEST
from ..data.formats.record_lines import StoredRun
from ..data.records import Conversation
from ..errors import DataError, at
from .folder import dataset, manifests
from .folder.leftovers import partials, removed
from .folder.restoring import restored
from .folder.run_folder import free_name, keep_broken
from .inspection import compared, torn
from .journals.journal import AppendedFile, RunError


def repair(folder: str | Path) -> list[str]:
    """Mend a run folder; gives a line for each change, none if nothing was wrong.

    A file that is changed stays beside the new one as `NAME.broken`. RunError if a run is writing there, or if the
    folder holds no record of a run.
    """
    root = Path(folder)
    if not (root / CONVERSATIONS).is_file():
        raise RunError(f"{root}: has no {CONVERSATIONS}: give the folder of a run")
    unlinked = _without_broken_links(root)
    check_no_links(root)
    with ExitStack() as locks:
        for name in (CONVERSATIONS, FAILURES):
            if (root / name).is_file():
                locks.callback(AppendedFile(root / name, alone_in=root).close)
        done, manifest = _manifest(root)
        run = StoredRun(root)
        run.finished.refresh()
        if run.failures.files():
            run.failures.refresh()
        changed = [line for reader in (run.finished, run.failures) for line in _cleaned(reader)]
        gone = removed(partials(root))
        changed += [f"{path}: was removed: an earlier process has left it" for path in gone]
        if len(run.finished) and (changed or done or compared(root, manifest, StoredRun(root))[0]):
            written = dataset.write_run(root, manifest, StoredRun(root))
            changed.append(
                f"{written.dataset}: was written from the {written.counts.conversations} finished conversations"
            )
    return [*unlinked, *done, *changed]


def _without_broken_links(root: Path) -> list[str]:
    """Remove links to nothing, such as to a shard that was moved; gives a line for each."""
    broken = [path for path in sorted(root.rglob("*")) if path.is_symlink() and not path.exists()]
    for path in broken:
        path.unlink()
    return [f"{path}: was removed: a link to nothing" for path in broken]


def _manifest(root: Path) -> tuple[list[str], dict[str, Any]]:
    """Lines about what was restored, and the manifest, restored if it must be."""
    broken = False
    try:
        manifest = manifests.read(root)
    except RunError:
        manifest, broken = None, True
    if manifest is not None:
        return [], manifest
    manifest = restored(root)
    if manifest is None:
        raise RunError(
            f"{root}: no record in it can be read, so its manifest cannot be restored: begin again elsewhere"
        )
    broken_note = f"; the broken one is kept as {keep_broken(root / MANIFEST).name}" if broken else ""
    write_json(root / MANIFEST, manifest, end="\n")
    begun = len(manifest["planned"])
    message = f"{at(root / MANIFEST)}: was restored from {begun} conversations{broken_note}: the command of the run with --resume adds the rest"
    if not manifest.get(manifests.RESTORED):
        message = (
            f"{at(root / MANIFEST)}: its 'data' were restored from the records, and its plan was kept{broken_note}"
        )
    return [message], manifest


def _cleaned(reader: JournalReader[Conversation]) -> list[str]:
    """Take the lines that do not count, and half a last line, out of the files of a journal."""
    cut = dict(torn(reader))
    messages: list[str] = []
    for path in reader.files():
        flaws = [flaw for flaw in reader.flaws if flaw.path == path]
        if flaws or path in cut:
            old_file = _rewritten(path, {flaw.line for flaw in flaws})
            half = [f"half a last line ({cut[path]} bytes)"] if path in cut else []
            lines = [f"{len(flaws)} line{'s' if len(flaws) > 1 else ''}"] if flaws else []
            messages += [f"left out: {flaw.problem}" for flaw in flaws]
            messages.append(
                f"{path}: was written without {' and '.join(lines + half)}; the old file is {old_file.name}"
            )
    return messages


def _rewritten(path: Path, without: set[int]) -> Path:
    """Write a file anew without some lines and without half a last one; gives where the old file is kept."""
    old_file = free_name(path)
    try:
        # A copy and no move: there is no moment without the file.
        with path.open("rb") as old, replacing_bytes(path, before=lambda: _copy(path, old_file)) as new:
            new.writelines(
                line for number, line in enumerate(old, start=1) if number not in without and line.endswith(b"\n")
            )
    except UnwrittenError as error:
        raise DataError(f"{at(path)}: cannot be written ({error.why}): copy the folder to another place") from None
    return old_file


def _copy(path: Path, target: Path) -> None:
    """A second name for a file, or a copy on a file system that has no second names."""
    try:
        os.link(path, target)
    except OSError:
        shutil.copyfile(path, target)
