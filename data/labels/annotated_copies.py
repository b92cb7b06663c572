"""The labels of a data set that annotators wrote, also in copies and parts of it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..files.json_files import parsed, read_text
from ..records import as_object

FOLDER = "annotation"
"""Folder of the votes in a copy. Its files do not end in .json: readers of the copy's data do not open them."""
SETTINGS = "settings.jsonl"
CHOSEN = "chosen.jsonl"
"""File in it on labels of people who labelled a part of the items, those with annotator disagreement first."""
EARLIER = "source"
"""Folder below that of the votes: what the source of the copy, a copy too, has as its folder of votes."""


def annotated_keys(source: Path) -> frozenset[str]:
    """Keys of the labels that annotators wrote into a copy, of which the source may be a part; else none.

    Callers have them as `Loaded.annotated`.
    """
    entries = [entry for folder in votes_folders(source) for entry in kept_settings(folder).items()]
    return frozenset(key for name, settings in entries for key in keys_of(name, settings))


def keys_of(label: str, settings: Mapping[str, Any]) -> Sequence[str]:
    """The keys under which a label is stored, by its settings in a copy."""
    keys: Sequence[str] = settings.get("keys", (label,))
    return keys


def kept_settings(folder: Path) -> dict[str, Any]:
    """The settings of the votes that a folder has, by label."""
    path = folder / SETTINGS
    had = parsed(read_text(path), path) if path.is_file() else {}
    return dict(as_object(had).get("labels", {}))


def votes_folders(source: Path) -> list[Path]:
    """The folders of votes of the copy that holds the source, and of its own sources, the last first.

    A source that is not in a copy has none.
    """
    folders: list[Path] = []
    if (folder := copy_folder(source)) is not None:
        while folder.is_dir():
            folders += [folder] if (folder / SETTINGS).is_file() else []
            folder /= EARLIER
    return folders


def copy_folder(source: Path) -> Path | None:
    """The folder of votes or people's answers in the copy that holds the source; None without one."""
    place = source.resolve()
    there = (folder / FOLDER for folder in (place, *place.parents))
    return next((folder for folder in there if (folder / SETTINGS).is_file() or (folder / EARLIER).is_dir()), None)
