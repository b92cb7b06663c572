"""Scenarios of a source: stored conversations of any format, or JSON lines of scenarios."""

import hashlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any

from ..errors import DataError, at
from . import domains
from .domain import TOPIC_KEYS, USER_KEYS, named
from .formats import messages, opentelemetry
from .formats.detection import CONVERSATIONS, Source
from .formats.dialogues import further
from .formats.jsonfiles import read_lines
from .formats.regular_files import is_regular
from .identity import digest
from .loading import Loaded, description_of, load
from .pairing import STORED
from .records import Conversation, Json, Message
from .users import named_user

PLAIN_KEYS = ("goal", "facts", "persona", "first_message", "success", "title")
"""Keys of a scenario without a `kind` that have a meaning; it may have others."""

LINES = "JSON lines of scenarios"
"""What a file of scenarios is called; any other source is called after the format of its conversations."""

_SAYS_SCENARIO = ("goal", "first_message", "kind")
"""A text at one of these keys makes a JSON line a scenario, unless the line holds a list of messages."""

_MESSAGE_LISTS = ("messages", "conversations", "history")
_NAMELESS = {"kind", "digest"}
"""Keys of the scenario of a conversation whose format has none: a log, of which only the messages are known."""

_GOALS, _FACTS = ("goal", "task_context"), ("facts", "profile")
"""Keys of a log's line that tell what its user wants, and what it knows; the first one counts."""


@dataclass(frozen=True)
class Told:
    """A scenario of a source, as it stands there."""

    where: str
    """Its place in the source, for errors."""
    scenario: Any
    """The scenario: of a file's line any JSON value, of a stored conversation an object."""
    extra: Json = field(default_factory=dict)
    """The `extra` of a conversation about it: which stored one it is of, and topic and user that its line names."""
    opening: Message | None = None
    """The first message of a log whose line names no goal: what its user wants is known by it alone."""
    conversation: Conversation | None = None
    """The stored conversation; None for a line."""


class ScenarioReader:
    """The scenarios of a source, in its order. Each iteration reads them anew; of a run none is held."""

    def __init__(self, path: str | Path) -> None:
        """DataError if the source cannot be read, or holds nothing that is known."""
        self.path = Path(path)
        source = Source(self.path)
        self._loaded: Loaded | None = None if _holds_lines(source) else load(self.path, stream=True)
        self.left_out = 0
        """Conversations of the last iteration that tell nothing of what their user wants."""

    @property
    def format(self) -> str:
        """What the source is, in words."""
        return LINES if self._loaded is None else description_of(self._loaded.kind)

    @property
    def stored(self) -> bool:
        """Whether the source holds conversations."""
        return self._loaded is not None

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks of the reader about stored conversations."""
        return () if self._loaded is None else self._loaded.notes

    @property
    def broken(self) -> tuple[str, ...]:
        """A line for each file of a folder that could not be read."""
        return () if self._loaded is None else self._loaded.broken

    @cached_property
    def digest(self) -> str:
        """Digest of the source's files, by their names and bytes; of a run, of its conversations."""
        return _digest_of_files(self.path)

    @property
    def licence(self) -> dict[str, str]:
        """`licence` and `licence_id` of the scenarios of a run, where all its sources have the same one."""
        sources = self._loaded.manifest.get("data") if self._loaded is not None else None
        told = [source for source in sources if isinstance(source, Mapping)] if isinstance(sources, list) else []
        return {
            key: values.pop()
            for key in ("licence", "licence_id")
            if len(values := {text if isinstance(text := one.get(key), str) else "" for one in told}) == 1
            and all(values)
        }

    def __iter__(self) -> Iterator[Told]:
        self.left_out = 0
        if self._loaded is None:
            for number, value in read_lines(self.path):
                yield Told(f"line {number}", value)
            return
        for number, conversation in enumerate(self._loaded):
            told = _of_conversation(conversation, number)
            if told is None:
                self.left_out += 1
            else:
                yield told


def _holds_lines(source: Source) -> bool:
    """Whether a path is a file of scenarios rather than of conversations."""
    if source.is_folder:
        return False
    value = source.value
    if not source.text.strip():
        if source.fault is not None and _recognised(source) is None:
            raise source.fault
        if source.fault is None:
            raise DataError(
                f"{at(source.path)}: holds no scenario: give stored conversations, or write one object a line"
            )
    if isinstance(value, dict) and any(isinstance(value.get(key), str) for key in _SAYS_SCENARIO):
        of_log = any(isinstance(value.get(key), list) for key in _MESSAGE_LISTS)
        return not of_log and not opentelemetry.FORMAT.recognises(source)
    return _recognised(source) is None


def _recognised(source: Source) -> str | None:
    """The name of a format of conversations that the source has; None if it has none."""
    formats = (form for form in domains.known_formats() if form.name != "topics")  # which has no conversations
    return next((form.name for form in formats if form.recognises(source)), None)


def _of_conversation(conversation: Conversation, number: int) -> Told | None:
    """The scenario of a stored conversation; None for a log without a goal and without words of its user."""
    line = further(conversation)
    names = {key: line[key] for key in (*TOPIC_KEYS, *USER_KEYS) if named((key,), line)}
    origin: Json = {"id": conversation.id, "scenario": digest(conversation.scenario)}
    if isinstance(path := conversation.extra.get("path"), str):
        origin["path"] = path
    if user := named_user(conversation):
        origin["user"] = user
    extra: Json = {STORED: origin}
    if names:
        extra[messages.FORM.kind] = {"values": names}
    where = f"conversation {number} ({conversation.id})"
    if set(conversation.scenario) != _NAMELESS or domains.of(conversation) is not domains.PLAIN:
        return Told(where, dict(conversation.scenario), extra, conversation=conversation)
    scenario, opening = of_log(conversation, line)
    if opening is None and "goal" not in scenario:
        return None
    return Told(where, scenario, extra, opening, conversation)


def of_log(conversation: Conversation, line: Mapping[str, Any]) -> tuple[dict[str, Any], Message | None]:
    """The scenario of a log, made from the keys of its line; and its first message, if these name no goal.

    It has no `kind`, for the name of a format is none. `success` is not taken: in a log it says how the talk ended.
    """
    made: dict[str, Any] = {"digest": conversation.scenario.get("digest", "")}
    for name, keys in (("goal", _GOALS), ("facts", _FACTS), ("persona", ("persona",)), ("task", ("task",))):
        value = next((line[key] for key in keys if line.get(key)), None)
        if (isinstance(value, str) and value.strip()) or (name == "facts" and isinstance(value, (dict, list))):
            made[name] = value
    if isinstance(title := line.get("title"), str) and title.strip():
        made["title"] = title
    said = (message for message in conversation.messages if message.role == "user" and message.stored)
    first = next(said, None)
    if "goal" in made or first is None or not first.text.strip():
        return made, None
    return made | {"first_message": first.text}, Message(role="user", text=first.text, parts=first.parts)


def _digest_of_files(path: Path) -> str:
    """SHA-256 over the name and bytes of a file, or of every file below a folder that is not hidden, in their order."""
    if path.is_dir() and (path / CONVERSATIONS).is_file():
        path = path / CONVERSATIONS
    if path.is_dir():
        found = [Path(folder, name) for folder, _, names in os.walk(path) for name in names if not name.startswith(".")]
        files = sorted((file.relative_to(path).as_posix(), file) for file in found if is_regular(file))
    else:
        files = [("", path)]
    whole = hashlib.sha256()
    for name, file in files:
        with file.open("rb") as opened:
            own = hashlib.file_digest(opened, "sha256").hexdigest()
        whole.update(f"{name}\0{own}\0".encode("utf-8", "surrogateescape"))
    return whole.hexdigest()


def check_plain(scenario: Mapping[str, Any]) -> None:
    """Raises DataError for a scenario without a `kind` that has neither goal nor first message, or a misspelt key."""
    for key in ("goal", "first_message", "persona"):
        if key in scenario and not (isinstance(scenario[key], str) and scenario[key].strip()):
            raise DataError(f"{key!r} is no text: write what the user wants, says or is")
    cutoff = 0.8 if {"goal", "first_message"} & set(scenario) else 0.75
    for key in scenario:
        if key not in PLAIN_KEYS and (meant := get_close_matches(key, PLAIN_KEYS, n=1, cutoff=cutoff)):
            raise DataError(f"has the key {key!r}: did you mean {meant[0]!r}?")
    if "goal" not in scenario and "first_message" not in scenario:
        raise DataError("has no text 'kind', 'goal' or 'first_message': give it one")


def texts_of(value: Any) -> Iterator[str]:
    """Every text inside a JSON value."""
    if isinstance(value, str):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from texts_of(inner)
