"""Folders that are made for what is written."""

from pathlib import Path


def make_folder(path: str | Path) -> None:
    """Make a folder and those above it, unless they are there; OSError if that fails.

    `Path.mkdir(parents=True)` calls itself for each missing one, and Python ends that at some hundreds.
    """
    missing = [Path(path)]
    while not (above := missing[-1].parent).exists():
        missing.append(above)
    for each in reversed(missing):
        each.mkdir(exist_ok=True)
