"""Where each conversation stands in a RecLLMSim data set, and which places such a folder cannot have."""

import json
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path, PurePosixPath

from ...errors import DataError
from ..records import Conversation
from .situations import Situation

LONGEST = 230
"""Most bytes of a name: file systems hold 255, and while a file is written its name is a little longer."""

DEEPEST = 1000
"""Most bytes of a whole path within the data set."""

CARD = "readme.md"
"""The data set's card, which stands beside the conversations."""

_UNSAFE = re.compile(r'[\x00-\x1f/\\:*?"<>|]+')


def own_path(conversation: Conversation) -> str | None:
    """The relative path that the conversation was read from, of a repeat with its number; None if it has none."""
    path = conversation.extra.get("path")
    if not isinstance(path, str):
        return None
    file = PurePosixPath(path)
    return str(file.with_stem(f"{file.stem}_{conversation.repeat + 1}")) if conversation.repeat and file.name else path


def fresh_path(conversation: Conversation, taken: Collection[str]) -> str:
    """A path for a simulated conversation that is not taken: `<task>/<preference_id>_<task_context_id>.json`."""
    situation = Situation.of(conversation)
    numbers = (situation.preference_id, situation.task_context_id)
    stem = conversation.id if None in numbers else "_".join(map(str, numbers))
    if conversation.repeat and None not in numbers:
        stem += f"_{conversation.repeat + 1}"
    folder = _UNSAFE.sub("_", situation.task).strip(". ") or "task"
    path = f"{folder}/{stem}.json"
    return path if path not in taken else f"{folder}/{stem}_{conversation.id}.json"


def is_inside(root: Path, path: str) -> bool:
    """Whether the relative path leads to a file below the folder, with links followed."""
    return _is_relative(path) and (root / path).resolve().is_relative_to(root.resolve())


def normal(path: str) -> str:
    """The path as file systems read it: `a//b.json` is `a/b.json`."""
    return PurePosixPath(path).as_posix()


def unfit(conversations: Iterable[Conversation]) -> Iterator[tuple[Conversation, str]]:
    """The conversations that would have no place in one data set with those before them, each with the reason.

    Names that differ only in case or in their Unicode form are one name on many systems, so they are one here.
    """
    taken: set[str] = set()
    files: dict[str, str] = {}
    folders: dict[str, str] = {}
    for conversation in conversations:
        own = own_path(conversation)
        try:
            path = fresh_path(conversation, taken) if own is None else own
        except DataError:  # a scenario that is none: its conversation fails by itself
            continue
        problem = _unwritable(path)
        if not problem:
            taken.add(normal(path))
            key = _folded(path)
            above = [parent.as_posix() for parent in PurePosixPath(key).parents if parent.name]
            problem = _clash(path, key, above, files, folders)
            if not problem:
                files[key] = path
                folders |= dict.fromkeys(above, path)
        if problem:
            yield conversation, problem


def _unwritable(path: str) -> str:
    """Why no folder can hold the path; empty if one can."""
    shown = json.dumps(path if len(path) <= 60 else f"{path[:57]}...", ensure_ascii=False)
    try:
        sizes = [len(part.encode("utf-8")) for part in PurePosixPath(path).parts]
    except UnicodeEncodeError:
        return f"its place {json.dumps(path[:60])} in the data set is not a text that a file's name can hold"
    if not _is_relative(path):
        return f"its place {shown} leads out of the data set"
    if max(sizes) > LONGEST or sum(sizes) > DEEPEST:
        what = f"has a name of {max(sizes)} bytes" if max(sizes) > LONGEST else f"is {sum(sizes)} bytes long"
        return f"its place {shown} in the data set {what}, more than the {LONGEST if max(sizes) > LONGEST else DEEPEST} that fit"
    if _folded(path) == CARD or _folded(path).startswith(f"{CARD}/"):
        return f"its place {shown} in the data set is that of the card"
    return ""


def _clash(path: str, key: str, above: list[str], files: dict[str, str], folders: dict[str, str]) -> str:
    """With which earlier path this one cannot be in one data set; empty if there is none."""
    shown = json.dumps(path, ensure_ascii=False)
    if key in files:
        same = normal(path) == normal(files[key])
        how = "is also that of" if same else "differs only in case or in the form of its letters from"
        return f"its place {shown} in the data set {how} {'another one' if same else json.dumps(files[key], ensure_ascii=False)}"
    other = folders.get(key) or next((files[parent] for parent in above if parent in files), None)
    return (
        f"its place {shown} in the data set cannot be beside {json.dumps(other, ensure_ascii=False)}" if other else ""
    )


def _is_relative(path: str) -> bool:
    parts = PurePosixPath(path).parts
    return bool(parts) and not (".." in parts or "\\" in path or "\0" in path or PurePosixPath(path).is_absolute())


def _folded(path: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", normal(path)).casefold())
