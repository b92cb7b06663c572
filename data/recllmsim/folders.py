"""RecLLMSim files in folders: every conversation of a tree, and each written where it was or belongs."""

import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import Any

from ...errors import DataError, at
from ..formats.detection import Source, is_folder, json_files
from ..formats.jsonfiles import read_json, write_json
from ..formats.unsupported import LeftOut
from ..identity import digest, named
from ..records import Conversation
from .dataset import from_object, to_object, unsupported_fields, variant
from .situations import Situation

INDENT = 4
"""Indent of the published files, which have no final newline."""

_USER = re.compile(r"User_\d+")
_UNSAFE = re.compile(r'[\x00-\x1f/\\:*?"<>|]+')


@dataclass(frozen=True)
class Reading:
    """What a file or folder holds. A broken file is named, and the others are read all the same."""

    conversations: tuple[Conversation, ...]
    broken: tuple[str, ...] = ()
    """One line for each file that cannot be read: what, where, what to do."""
    others: tuple[str, ...] = ()
    """Paths of JSON files that hold no such conversation, such as a map or a manifest."""

    @property
    def counts(self) -> dict[str, int]:
        """Conversations of each variant that there is."""
        return dict(Counter(map(variant, self.conversations)))


def is_history(value: Any) -> bool:
    """Whether the object is a conversation of a file, if perhaps a broken one."""
    return isinstance(value, dict) and ("history" in value or {"task_context", "profile"} <= value.keys())


def holds_conversations(source: Source) -> bool:
    """Whether a file, or any file below a folder, is such a conversation, or one that was cut off."""
    return _any_history(source.path) if source.is_folder else is_history(source.value)


def _any_history(folder: Path) -> bool:
    for file in json_files(folder):
        try:
            if b'"history"' in file.read_bytes() and is_history(read_json(file)):
                return True
        except OSError:
            continue
        except DataError:
            return True
    return False


def oddities(conversations: Iterable[Conversation]) -> dict[str, list[str]]:
    """Conversations that are not of a user and an assistant in turn: their paths (or ids) by what they do instead."""
    paths: dict[str, list[str]] = {}
    for conversation in conversations:
        roles = [message.role for message in conversation.messages]
        what = {
            "without a message": not roles,
            "begun by the assistant": roles[:1] == ["assistant"],
            "ended by the user": roles[-1:] == ["user"],
            "not alternating": any(first == second for first, second in pairwise(roles)),
        }
        for name in (name for name, odd in what.items() if odd):
            paths.setdefault(name, []).append(str(conversation.extra.get("path") or conversation.id))
    return paths


def read(path: str | Path) -> list[Conversation]:
    """The conversations of a file, or of every file below a folder; DataError if one is broken."""
    reading = read_folder(path)
    for line in reading.broken:
        raise DataError(line if len(reading.broken) == 1 else f"{line} ({len(reading.broken)} files are broken)")
    return list(reading.conversations)


def read_folder(path: str | Path) -> Reading:
    """The conversations of a file or of every file below a folder, by path, and what could not be read.

    Each keeps its path relative to the folder in `extra["path"]`, of a single file its name. DataError if
    the folder holds no conversation at all.
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
            conversations.append(conversation.model_copy(update={"extra": extra}))
    if not conversations:
        raise DataError(broken[0] if broken else f"{at(path)}: holds no RecLLMSim conversation: give their folder")
    return Reading(tuple(named(conversations)), tuple(broken), tuple(others))


def write(conversations: Iterable[Conversation], folder: str | Path) -> list[str]:
    """One file for each conversation below the folder, byte for byte as published.

    One that was read goes to its relative path again; a simulated one to
    `<task>/<preference_id>_<task_context_id>.json`, and to the conversation's id where another has that
    place. Repeats have `_2`, `_3` ... behind them. Gives a line for each thing that was left out.
    """
    root = Path(folder)
    taken: set[str] = set()
    left_out = LeftOut()
    lost: Counter[str] = Counter()
    losing: Counter[str] = Counter()
    for conversation in conversations:
        value = to_object(conversation)
        counted = Counter({what: count for what, count in unsupported_fields(conversation).items() if count})
        lost.update(counted)
        losing.update(counted.keys())
        own = conversation.extra.get("path")
        if isinstance(own, str) and conversation.repeat:
            file = PurePosixPath(own)
            own = str(file.with_stem(f"{file.stem}_{conversation.repeat + 1}")) if file.name else own
        if isinstance(own, str):
            if not _inside(root, own):
                left_out.add(f"conversation {conversation.id}: its path {json.dumps(own)} leads out of the folder")
                own = None
            elif own in taken:
                left_out.add(f"conversation {conversation.id}: all of it, another one is written to {own}")
                continue
        path = own if isinstance(own, str) else _fresh(conversation, taken)
        taken.add(path)
        write_json(root / path, value, indent=INDENT)
    left_out.begin_with(f"{what} ({count}), of {_conversations(losing[what])}" for what, count in lost.items())
    return left_out


def _conversations(count: int) -> str:
    return f"{count} conversation{'s' if count > 1 else ''}"


def _inside(root: Path, path: str) -> bool:
    """Whether the relative path names a place below the folder, links followed."""
    parts = PurePosixPath(path).parts
    if not parts or ".." in parts or "\\" in path or "\0" in path or PurePosixPath(path).is_absolute():
        return False
    return (root / path).resolve().is_relative_to(root.resolve())


def _fresh(conversation: Conversation, taken: set[str]) -> str:
    """Where a simulated conversation is written; no other one stands there."""
    situation = Situation.of(conversation)
    numbers = (situation.preference_id, situation.task_context_id)
    stem = conversation.id if None in numbers else "_".join(map(str, numbers))
    if conversation.repeat and None not in numbers:
        stem += f"_{conversation.repeat + 1}"
    folder = _UNSAFE.sub("_", situation.task).strip(". ") or "task"
    path = f"{folder}/{stem}.json"
    return path if path not in taken else f"{folder}/{stem}_{conversation.id}.json"


def cluster(conversation: Conversation) -> str:
    """The one who speaks as user: conversations of one cluster are drawn, and split, together.

    Of people the variant with the folder `User_k`, whose profile may have changed meanwhile, or the
    profile's digest where no folder tells; of simulated users the digest of the profile's text, so that
    equal profiles with two ids are one.
    """
    situation = Situation.of(conversation)
    kind = variant(conversation)
    if kind != "simulated":
        folders = PurePosixPath(str(conversation.extra.get("path", ""))).parts[:-1]
        users = [part for part in folders if _USER.fullmatch(part)]
        if users:
            return f"{kind}/{users[-1]}"
    return f"{kind}/{digest(situation.preference or situation.profile)[:16]}"
