"""What a command may write over: a file that exists with --force alone, and what the command itself reads never."""

from collections.abc import Iterator
from pathlib import Path

from typer._click.globals import get_current_context  # typer has no public name for it

from ..data.formats.detection import CONVERSATIONS, is_folder
from ..data.formats.regular_files import check_replaceable
from ..errors import DataError, at

WRITTEN = frozenset({"target", "out", "figures", "junit", "kept", "kept_answers", "record", "give", "into"})
"""Parameters of commands that name what is written; every other path is read."""


def check_free(*files: Path | None, force: bool) -> None:
    """DataError for a file that exists, unless it may be replaced, for a device or a pipe, and for a file that the command
    reads; None is no file."""
    for file in files:
        if file is None:
            continue
        check_replaceable(file)
        if not force and (file.exists() or file.is_symlink()):
            raise DataError(f"{at(file)}: exists: give --force to replace it, or another place")
        check_unread(file)


def check_unread(file: Path | None) -> None:
    """DataError for a file or folder that this command reads, by whatever name, and for one of the run that it reads."""
    from ..runs.leftovers import DATASET, is_own

    if file is None or not file.exists():
        return
    for source in _read():
        if source.samefile(file):
            raise DataError(f"{at(file)}: is the source itself: choose another place")
        run = source if is_folder(source) else source.parent
        if not (run / CONVERSATIONS).is_file():
            continue
        own = [path for path in run.iterdir() if is_own(path.name) or path.name == DATASET]
        if any(path.samefile(file) for path in own) or (run / DATASET).resolve() in file.resolve().parents:
            raise DataError(f"{at(file)}: is a file of the run {run}, which is read: choose another place")


def check_outside(out: Path | None, source: Path | None) -> None:
    """DataError for an `out` below a folder that is read as a whole: what is written there would be read the next time."""
    if out is None or source is None or not source.is_dir() or (source / CONVERSATIONS).is_file():
        return
    if source.resolve() in out.resolve().parents:
        raise DataError(f"{at(out)}: is in {source}, all of which is read: choose another place")


def _read() -> Iterator[Path]:
    """The paths that exist among the parameters of this command that name what is read."""
    context = get_current_context(silent=True)
    for name, value in context.params.items() if context is not None else ():
        if name not in WRITTEN:
            for each in value if isinstance(value, (list, tuple)) else (value,):
                if isinstance(each, Path) and each.exists():
                    yield each
