"""A list of runs: which folders hold one."""

from pathlib import Path

from ..data.formats.source import CONVERSATIONS
from ..errors import DataError
from .folder.run_state import RunInfo, standing


def listed(folders: list[Path]) -> list[RunInfo]:
    """The runs among these folders and right below them, by path.

    DataError for a path that is not a folder.
    """
    run_folders: dict[Path, None] = {}
    for folder in folders:
        if not folder.is_dir():
            raise DataError(f"{folder}: is not a folder: give run folders, or folders of them")
        run_folders |= dict.fromkeys([folder] if _is_run(folder) else sorted(filter(_is_run, folder.iterdir())))
    return [standing(folder) for folder in run_folders]


def listed_around(out: Path) -> list[RunInfo]:
    """The runs in the folder of runs without a name, and those right in the working folder."""
    here = Path()
    return listed([folder for folder in (out, here) if folder.is_dir()])


def _is_run(folder: Path) -> bool:
    try:
        return folder.is_dir() and (folder / CONVERSATIONS).is_file()
    except OSError:  # a folder that may not be read
        return False
