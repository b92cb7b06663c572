"""What a path is, told from what it holds, never from its name."""

from pathlib import Path
from typing import Literal, TypeAlias

from .errors import DataError, at
from .jsonfiles import read_json, read_lines, read_text

Kind: TypeAlias = Literal["run", "simquac", "teacher", "replay", "messages", "topics", "folder"]

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
        return "run" if (place / MANIFEST).is_file() and (place / CONVERSATIONS).is_file() else "folder"
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
        if "messages" in value:
            return "messages"
        if "section" in value or "header" in value or "title" in value:
            return "topics"
    if not text.strip():
        raise DataError(f"{at(path)}: is empty: give a file with conversations or topics")
    raise DataError(
        f"{at(path)}: is none of the known formats: SimQuAC or QuAC JSON, teacher topics, or JSON lines of topics, records or messages"
    )


def is_folder(path: Path) -> bool:
    """Whether the path is a folder; DataError for a name that the system does not take."""
    try:
        return path.is_dir()
    except (OSError, ValueError) as error:
        raise DataError(f"{at(path)}: is no path ({error.__class__.__name__}): check it") from None
