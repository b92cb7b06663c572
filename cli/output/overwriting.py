"""Checks of output files: existing ones need `--force`, inputs are never overwritten."""

import os
from collections.abc import Iterator
from pathlib import Path

from ...data.files.paths import check_replaceable, is_folder
from ...data.formats.source import CONVERSATIONS
from ...errors import DataError, at
from ..options.model_fields import VALUES

WRITTEN = frozenset({"target", "out", "figures", "junit", "journal", "replies", "summary_file", "write_to"})
"""Parameters of commands that name what is written; every other path is read."""


def check_free(*files: Path | None, force: bool) -> None:
    """DataError for a file that must not be written.

    These are a file that exists, unless it may be replaced, a device or a pipe, and a file that the command reads.
    """
    for file in files:
        if file is None:
            continue
        check_replaceable(file)
        if not force and (file.exists() or file.is_symlink()):
            raise DataError(f"{at(file)}: exists: give --force to replace it, or another place")
        check_unread(file)


def check_unread(file: Path | None) -> None:
    """DataError for a file or folder that this command reads, or one of the run that it reads."""
    if file is None or not file.exists():
        return
    from ...runs.dataset import DATASET  # brings LangGraph along
    from ...runs.store import is_run_file

    for source in _read():
        if source.samefile(file):
            raise DataError(f"{at(file)}: is the source itself: choose another place")
        run = source if is_folder(source) else source.parent
        if not (run / CONVERSATIONS).is_file():
            continue
        own = [path for path in run.iterdir() if is_run_file(path.name) or path.name == DATASET]
        if (
            any(path.samefile(file) for path in own)
            or (run / DATASET).resolve() in Path(os.path.realpath(file)).parents
        ):
            raise DataError(f"{at(file)}: is a file of the run {run}, which is read: choose another place")


def check_outside(out: Path | None, source: Path | None) -> None:
    """DataError for an `out` below a folder that is read as a whole.

    What is written there would be read the next time.
    """
    if out is None or source is None or not source.is_dir() or (source / CONVERSATIONS).is_file():
        return
    if source.resolve() in Path(os.path.realpath(out)).parents:
        raise DataError(f"{at(out)}: is in {source}, all of which is read: choose another place")


def check_apart(out: Path | None, *sources: Path | None) -> None:
    """DataError for an `out` that this command reads, or that is below a folder which is read as a whole."""
    check_unread(out)
    for source in sources:
        check_outside(out, source)


def _read() -> Iterator[Path]:
    """The paths that exist among the parameters of this command that name what is read."""
    for name, value in VALUES.get({}).items():
        if name not in WRITTEN:
            for path in value if isinstance(value, (list, tuple)) else (value,):
                if isinstance(path, Path) and path.exists():
                    yield path
