"""What a path is, told from what it holds, never from its name."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias

from ...errors import DataError, at
from .jsonfiles import read_json, read_lines, read_text

Kind: TypeAlias = Literal[
    "run", "simquac", "teacher", "recllmsim", "replay", "messages", "sharegpt", "topics", "folder"
]

FORMATS: Mapping[Kind, str] = {
    "run": "the folder of a run",
    "simquac": "SimQuAC or QuAC JSON",
    "teacher": "teacher topics",
    "recllmsim": "RecLLMSim JSON",
    "replay": "JSON lines of records",
    "messages": "JSON lines of messages",
    "sharegpt": "ShareGPT JSON",
    "topics": "JSON lines of topics",
    "folder": "a folder of data files",
}
"""What each is, for a reader."""

MANIFEST = "manifest.json"
CONVERSATIONS = "conversations.jsonl"
"""The two files that make a folder a run."""

FAILURES = "failures.jsonl"
"""Where a run keeps conversations that were cut short."""

TEACHER_START = "<Topic:"
"""What `teacher_sim_topics.txt` begins with."""


def kind_of(path: str | Path) -> Kind:
    """What a path is; DataError if it is nothing that can be read."""
    place = Path(path)
    if is_folder(place):
        if (place / MANIFEST).is_file() and (place / CONVERSATIONS).is_file():
            return "run"
        return "recllmsim" if _holds_histories(place) else "folder"
    text = read_text(place)
    if text.lstrip().startswith(TEACHER_START):
        return "teacher"
    first = text.lstrip()[:1]
    if first == "{":
        try:
            _, value = next(read_lines(place))
        except DataError:  # not a line of its own: one object over many lines
            value = read_json(place)
        if not isinstance(value, dict) or "data" in value:
            return "simquac"
        if "schema_version" in value:
            return "replay"
        if is_history(value):
            return "recllmsim"
        if "messages" in value:
            return "messages"
        if "conversations" in value:
            return "sharegpt"
        if "section" in value or "header" in value or "title" in value:
            return "topics"
    if first == "[":
        value = read_json(place)
        if value and all(isinstance(one, dict) and "conversations" in one for one in value):
            return "sharegpt"
    if not text.strip():
        raise DataError(f"{at(path)}: is empty: give a file with conversations or topics")
    raise DataError(
        f"{at(path)}: is none of the known formats: SimQuAC or QuAC JSON, RecLLMSim JSON, ShareGPT JSON, teacher topics, or JSON lines of topics, records or messages"
    )


def is_history(value: Any) -> bool:
    """Whether the object is a RecLLMSim conversation, if perhaps a broken one."""
    return isinstance(value, dict) and ("history" in value or {"task_context", "profile"} <= value.keys())


def json_files(root: Path) -> list[Path]:
    """Every JSON file below a folder, hidden ones left out, in the order of their paths."""
    found = [
        Path(folder, name)
        for folder, _, names in os.walk(root)
        for name in names
        if name.endswith(".json") and not name.startswith(".")
    ]
    return sorted(found, key=lambda file: file.relative_to(root).parts)


def _holds_histories(folder: Path) -> bool:
    """Whether any file below the folder is a RecLLMSim conversation, or one that was cut off."""
    for file in json_files(folder):
        try:
            if b'"history"' in file.read_bytes() and is_history(read_json(file)):
                return True
        except OSError:
            continue
        except DataError:
            return True
    return False


def is_folder(path: Path) -> bool:
    """Whether the path is a folder; DataError for a name that the system does not take."""
    try:
        return path.is_dir()
    except (OSError, ValueError) as error:
        raise DataError(f"{at(path)}: is no path ({error.__class__.__name__}): check it") from None
