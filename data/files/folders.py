"""Folders that are made for what is written, and names of paths."""

import errno
import os
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

MOST_MISSING = 100
"""Most folders inside each other that are made at once: Python's own ways to list and to remove folders end at some
hundreds."""


def make_folder(path: str | Path) -> None:
    """Make a folder and missing ones above it; OSError if that fails or too many are missing."""
    if Path(path).is_dir():
        return
    missing = [Path(path)]
    while not (above := missing[-1].parent).exists():
        missing.append(above)
    if len(missing) > MOST_MISSING:
        raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG), str(path))
    for folder in reversed(missing):
        try:
            folder.mkdir(exist_ok=True)
        except FileNotFoundError:  # the system's answer where it keeps no files of anybody's, as in /proc
            if not folder.parent.is_dir():
                raise
            raise OSError(errno.ENOENT, f"nothing can be made in {folder.parent}", str(path)) from None


@contextmanager
def working_folder_restored() -> Iterator[None]:
    """Go back to the working folder at the end: an agent that runs inside may change it."""
    before = None
    with suppress(OSError):  # it was removed
        before = Path.cwd()
    try:
        yield
    finally:
        if before is not None:
            with suppress(OSError):
                os.chdir(before)


def copy_file(file: Path, target: Path) -> None:
    """Write the same bytes into a folder that is made where it is not there."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(file, target)


def names_of(paths: Sequence[str | Path]) -> list[str]:
    """A distinct name for each path: its file or folder, with the parent folder or a number where needed."""
    resolved = [Path(path).resolve() for path in paths]
    often = Counter(path.name for path in resolved)
    names: list[str] = []
    for path in resolved:
        name = path.name if often[path.name] == 1 else f"{path.parent.name}/{path.name}"
        number = next(number for number in range(1, len(paths) + 1) if _numbered(name, number) not in names)
        names.append(_numbered(name, number))
    return names


def _numbered(name: str, number: int) -> str:
    return name if number == 1 else f"{name} ({number})"


def json_files(root: Path) -> list[Path]:
    """Every JSON file below a folder, without hidden files, sorted by path."""
    files = [
        Path(folder, name)
        for folder, _, names in os.walk(root)
        for name in names
        if name.endswith(".json") and not name.startswith(".")
    ]
    return sorted(files, key=lambda file: file.relative_to(root).parts)
