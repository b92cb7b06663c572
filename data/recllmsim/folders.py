"""RecLLMSim files in folders: reading of every conversation in a tree, and writing to the same or a new path."""

import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import Any

from ...errors import DataError, at
from ..files.folders import json_files
from ..files.json_files import read_json, write_json
from ..files.regular_files import content
from ..formats.detection import Source, is_folder
from ..formats.unsupported import LeftOut
from ..identity import digest, named
from ..records import Conversation
from .dataset import from_object, to_object, unsupported_fields, variant
from .paths import fresh_path, is_inside, normal, own_path
from .situations import Situation

INDENT = 4
"""Indent of the published files, which have no final newline."""

_BESIDE = {"task_context", "task_type", "preference", "profile"}
"""Keys of which every conversation has two or more: rows of data for fine-tuning have a `history` too."""

_USER = re.compile(r"User_\d+")


@dataclass(frozen=True)
class FolderReading:
    """The conversations of a file or folder, and the files that were not read."""

    conversations: tuple[Conversation, ...]
    broken: tuple[str, ...] = ()
    """One line for each file that cannot be read: what, where, what to do. The other files are read."""
    others: tuple[str, ...] = ()
    """Paths of JSON files that hold no RecLLMSim conversation, such as a map or a manifest."""

    @property
    def counts(self) -> dict[str, int]:
        """Number of conversations by variant."""
        return dict(Counter(map(variant, self.conversations)))


def is_history(value: Any) -> bool:
    """Whether a file's value is a RecLLMSim conversation, possibly a broken one."""
    if not isinstance(value, dict) or any(isinstance(value.get(key), list) for key in ("messages", "conversations")):
        return False  # a line of a log may name a profile too
    beside = value.keys() & _BESIDE
    return ("history" in value and (bool(beside) or len(value) == 1)) or {"task_context", "profile"} <= beside


def holds_conversations(source: Source) -> bool:
    """Whether a file, or any file below a folder, is a RecLLMSim conversation, possibly cut off."""
    return _any_history(source.path) if source.is_folder else is_history(source.value)


def _any_history(folder: Path) -> bool:
    for file in json_files(folder):
        try:
            has_history = b'"history"' in content(file)
        except DataError:  # it cannot be read, so it decides nothing
            continue
        try:
            if has_history and is_history(read_json(file)):
                return True
        except DataError:
            return True
    return False


def oddities(conversations: Iterable[Conversation]) -> dict[str, list[str]]:
    """Paths (or ids) of conversations in which user and assistant do not alternate, by kind of oddity."""
    paths: dict[str, list[str]] = {}
    for conversation in conversations:
        roles = [message.role for message in conversation.messages]
        is_odd = {
            "without a message": not roles,
            "begun by the assistant": roles[:1] == ["assistant"],
            "ended by the user": roles[-1:] == ["user"],
            "not alternating": any(first == second for first, second in pairwise(roles)),
        }
        for oddity in (name for name, applies in is_odd.items() if applies):
            paths.setdefault(oddity, []).append(str(conversation.extra.get("path") or conversation.id))
    return paths


def read(path: str | Path) -> list[Conversation]:
    """The conversations of a file, or of every file below a folder; DataError if one is broken."""
    reading = read_folder(path)
    for line in reading.broken:
        raise DataError(line if len(reading.broken) == 1 else f"{line} ({len(reading.broken)} files are broken)")
    return list(reading.conversations)


def read_folder(path: str | Path) -> FolderReading:
    """The conversations of a file or of all files below a folder, and the unreadable files.

    `extra["path"]` of each conversation is its path relative to the folder, or the name of a single file. DataError if
    there is no conversation at all.
    """
    root = Path(path)
    conversations: list[Conversation] = []
    broken: list[str] = []
    others: list[str] = []
    for file in json_files(root) if is_folder(root) else [root]:
        relative = file.relative_to(root).as_posix() if file != root else file.name
        try:
            value = read_json(file)
            if file != root and not is_history(value):
                others.append(relative)
                continue
            conversation = from_object(value, file)
        except DataError as error:
            broken.append(str(error))
        else:
            extra = {"path": relative} | conversation.extra
            if not _user_folder(relative) and variant(conversation) != "simulated" and (whose := _folder_above(file)):
                extra["user_folder"] = whose
            conversations.append(conversation.model_copy(update={"extra": extra}))
    if not conversations:
        raise DataError(broken[0] if broken else f"{at(path)}: holds no RecLLMSim conversation: give their folder")
    return FolderReading(tuple(named(conversations)), tuple(broken), tuple(others))


def write(conversations: Iterable[Conversation], folder: str | Path) -> list[str]:
    """Write one file for each conversation below the folder, in the published layout byte for byte.

    A conversation that was read gets its relative path again. A simulated one gets
    `<task>/<preference_id>_<task_context_id>.json`, with the conversation's id appended if that path is taken.
    Repeats have the suffix `_2`, `_3` ... Returns a line for each thing that was left out.
    """
    root = Path(folder)
    taken: set[str] = set()
    left_out = LeftOut()
    lost: Counter[str] = Counter()
    losing: Counter[str] = Counter()
    for conversation in conversations:
        value = to_object(conversation)
        unsupported = Counter({kind: count for kind, count in unsupported_fields(conversation).items() if count})
        lost.update(unsupported)
        losing.update(unsupported.keys())
        path = own_path(conversation)
        if path is not None and not is_inside(root, path):
            left_out.add(f"conversation {conversation.id}: its path {json.dumps(path)} leads out of the folder")
            path = None
        elif path is not None and normal(path) in taken:
            left_out.add(f"conversation {conversation.id}: all of it, another one is written to {path}")
            continue
        path = fresh_path(conversation, taken) if path is None else path
        taken.add(normal(path))
        write_json(root / path, value, indent=INDENT)
    left_out.begin_with(
        f"{kind} ({count}), of {losing[kind]} conversation{'s' if losing[kind] > 1 else ''}"
        for kind, count in lost.items()
    )
    return left_out


def user_folder(conversation: Conversation) -> str:
    """The folder `User_k` that a person's conversation was read from; empty if it stood in none."""
    folder = conversation.extra.get("user_folder")
    return _user_folder(str(conversation.extra.get("path", ""))) or (folder if isinstance(folder, str) else "")


def _user_folder(path: str) -> str:
    """The folder of a user nearest to the file in a relative path; empty if there is none."""
    return next((part for part in reversed(PurePosixPath(path).parts[:-1]) if _USER.fullmatch(part)), "")


def _folder_above(file: Path) -> str:
    """The folder of a user that the file stands in as published, `User_k/TASK/FILE`, whatever part of it was given."""
    above = file.resolve().parts[-3:-1]
    return next((part for part in reversed(above) if _USER.fullmatch(part)), "")


def cluster(conversation: Conversation) -> str:
    """Id of the user.

    Sampling and splitting assign conversations of one user together. For people it is the variant with the folder
    `User_k` (the profile may change between conversations). This holds also where only that folder, its task or one
    file was given. Without such a folder it is the profile's digest. For simulated users it is the digest of the
    profile's text, so that equal profiles with two ids are one user.
    """
    situation = Situation.of(conversation)
    kind = variant(conversation)
    if kind != "simulated" and (folder := user_folder(conversation)):
        return f"{kind}/{folder}"
    profile = situation.profile_text if kind == "simulated" else situation.preference or situation.profile
    return f"{kind}/{digest(profile)[:16]}"
