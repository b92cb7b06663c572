"""Scenarios of a source: stored conversations of any format, or JSON of scenarios, in lines or a list."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any

from ..errors import DataError, at
from . import domains, test_cases
from .domains import TOPIC_KEYS, USER_KEYS, named
from .files.json import Broken, elements, read_lines
from .formats.messages import further
from .formats.source import CONVERSATIONS, FOLDER, Source
from .identity import digest
from .loading import DataSource, Loaded, description_of
from .logs import traces
from .logs.dialogues import LISTS
from .people import STORED, named_user
from .records import Conversation, Json, Message, as_list, as_object
from .rules.outcomes import statements

PLAIN_KEYS = ("goal", "facts", "unknown", "persona", "first_message", "success", "title")
"""Keys of a scenario without a `kind` that have a meaning; it may have others."""

LINES = "JSON lines of scenarios"
"""What a file of scenarios is called; any other source is called after the format of its conversations."""

_NO_RUN = "is not a run folder: its files are read as conversations"

_SAYS_SCENARIO = ("goal", "first_message", "kind")
"""A text at one of these keys makes a JSON line a scenario, unless the line holds a list of messages."""

COMBINED = ("all_of", "any_of", "not")
"""Keys of a `success` that hold others."""

_NAMELESS = {"kind", "digest"}
"""Keys of the scenario of a conversation whose format has none: a log, of which only the messages are known."""

_GOALS, _FACTS = ("goal", "task_context"), ("facts", "profile")
"""Keys of a log's line for its user's goal and for the user's facts; the first one counts."""


@dataclass(frozen=True)
class LogScenario:
    """A scenario of a source, as it stands there."""

    where: str
    """Its place in the source, for errors."""
    scenario: Any
    """The scenario: of a file of scenarios any JSON value, of a stored conversation an object."""
    extra: Json = field(default_factory=dict)
    """The `extra` of a conversation about it: which stored one it is of, and topic and user that its line names."""
    opening: Message | None = None
    """The first message of a log whose line names no goal: only this message shows the user's wish."""
    conversation: Conversation | None = None
    """The stored conversation; None for a line."""


class ScenarioReader:
    """The scenarios of a source, in its order.

    Each iteration reads them anew; of a run none stays in memory.
    """

    def __init__(self, path: str | Path, *, skip_broken: bool = False) -> None:
        """DataError if the source cannot be read, or has no known content."""
        self.path = Path(path)
        self.broken_lines = Broken(skip_broken)
        """What is done with scenarios that cannot be read."""
        source = Source(self.path, self.broken_lines)
        self._loaded: Loaded | None = None
        if not _holds_lines(source):
            self._loaded = DataSource(self.path, skip_broken=skip_broken).load(scenarios=True)
        self._is_list = source.is_list and (isinstance(source.first, dict) or source.fault is not None)
        self.left_out = 0
        """Conversations of the last iteration without any sign of their user's goal."""

    @property
    def format(self) -> str:
        """What the source is, in words."""
        return LINES if self._loaded is None else description_of(self._loaded.kind)

    @property
    def stored(self) -> bool:
        """Whether the source holds conversations."""
        return self._loaded is not None and self._loaded.kind not in scenario_formats()

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks of the reader about stored conversations, or about lines that were left out."""
        if self._loaded is None:
            return self.broken_lines.notes(self.path, 1)
        return (*((_NO_RUN,) if self._loaded.kind == FOLDER else ()), *self._loaded.notes)

    @property
    def broken(self) -> tuple[str, ...]:
        """A line for each file of a folder that could not be read."""
        return () if self._loaded is None else self._loaded.broken

    @cached_property
    def digest(self) -> str:
        """SHA-256 over names and bytes of the source's visible files, in order; of a run, of its conversations."""
        path = self.path
        files = {"": path}
        if (path / CONVERSATIONS).is_file():
            files = {"": path / CONVERSATIONS}
        elif path.is_dir():
            visible = (file for file in path.rglob("*") if not file.name.startswith(".") and file.is_file())
            files = {file.relative_to(path).as_posix(): file for file in visible}
        whole = hashlib.sha256()
        for name, file in sorted(files.items()):
            with file.open("rb") as opened:
                own = hashlib.file_digest(opened, "sha256").hexdigest()
            whole.update(f"{name}\0{own}\0".encode("utf-8", "surrogateescape"))
        return whole.hexdigest()

    @property
    def licence(self) -> dict[str, str]:
        """`licence` and `licence_id` of the scenarios of a run, where all its sources have the same one."""
        sources = as_list(self._loaded.manifest.get("data")) if self._loaded is not None else []
        named = {key: {as_object(source).get(key) for source in sources} for key in ("licence", "licence_id")}
        return {key: str(*names) for key, names in named.items() if len(names) == 1 and all(names)}

    def __iter__(self) -> Iterator[LogScenario]:
        self.left_out = 0
        if self._loaded is None:
            lines = ((f"line {number}", value) for number, value in read_lines(self.path, self.broken_lines))
            for place, value in elements(self.path, self.broken_lines) if self._is_list else lines:
                yield LogScenario(place, value)
            return
        for number, conversation in enumerate(self._loaded):
            scenario = scenario_of(conversation, number)
            if scenario is None:
                self.left_out += 1
            else:
                yield scenario


def scenario_formats() -> tuple[str, ...]:
    """The names of the formats whose files hold scenarios."""
    return tuple(form.name for form in domains.known_formats() if form.scenarios)


def _holds_lines(source: Source) -> bool:
    """Whether a path is a file of scenarios rather than of conversations."""
    if source.is_folder:
        return False
    first = as_object(source.first)
    if set(first) <= {*PLAIN_KEYS} and any(isinstance(first.get(key), str) for key in ("goal", "first_message")):
        return True  # as most files, which no format need look at
    if test_cases.is_scripted(source):
        return True
    formats = (form for form in domains.known_formats() if form.name != "topics")  # which has no conversations
    form = next((form for form in formats if form.claims(source)), None)
    if form is not None and form.scenarios:
        return form.name == test_cases.NAME
    if form is None and source.fault is not None and not source.text.strip():
        raise source.fault
    if source.fault is None and not source.begin.strip() and not source.text.strip():
        raise DataError(f"{at(source.path)}: holds no scenario: give stored conversations, or write one object a line")
    value = as_object(source.first)
    if any(isinstance(value.get(key), str) for key in _SAYS_SCENARIO):
        of_log = any(isinstance(value.get(key), list) for key in LISTS)
        return not of_log and not traces.is_spans(source)
    return form is None


def scenario_of(conversation: Conversation, number: int = 0) -> LogScenario | None:
    """The scenario of a stored conversation; None for a log without a goal and without words of its user."""
    line = further(conversation)
    names = {key: line[key] for key in (*TOPIC_KEYS, *USER_KEYS) if named((key,), line)}
    origin: Json = {"id": conversation.id, "scenario": digest(conversation.scenario)}
    if isinstance(path := conversation.extra.get("path"), str):
        origin["path"] = path
    if user := named_user(conversation):
        origin["user"] = user
    extra: Json = {STORED: origin}
    extra |= names
    where = f"conversation {number} ({conversation.id})"
    only_messages = set(conversation.scenario) == _NAMELESS and domains.of(conversation) is domains.PLAIN
    if not only_messages:
        return LogScenario(where, dict(conversation.scenario), extra, conversation=conversation)
    scenario, opening = of_log(conversation, line)
    if opening is None and "goal" not in scenario:
        return None
    said = [message.text for message in conversation.messages if message.role == "user" and message.stored]
    if not line.get("facts") and (stated := statements(said[int(opening is not None) :])):
        scenario["facts"] = [*([scenario["facts"]] if "facts" in scenario else []), *stated]
    return LogScenario(where, scenario, extra, opening, conversation)


def of_log(conversation: Conversation, line: Mapping[str, Any]) -> tuple[dict[str, Any], Message | None]:
    """The scenario of a log's line, and the first message if the line has no goal.

    It has no `kind`, because the name of a format is not a kind. `success` is not taken: in a log it is the outcome.
    """
    scenario: dict[str, Any] = {"digest": conversation.scenario.get("digest", "")}
    for name, keys in (("goal", _GOALS), ("facts", _FACTS), ("persona", ("persona",)), ("task", ("task",))):
        value = next((line[key] for key in keys if line.get(key)), None)
        if (isinstance(value, str) and value.strip()) or (name == "facts" and isinstance(value, (dict, list))):
            scenario[name] = value
    if isinstance(title := line.get("title"), str) and title.strip():
        scenario["title"] = title
    user_messages = (message for message in conversation.messages if message.role == "user" and message.stored)
    first = next(user_messages, None)
    if "goal" in scenario or first is None or not first.text.strip():
        return scenario, None
    return scenario | {"first_message": first.text}, Message(role="user", text=first.text, parts=first.parts)


def check_plain(scenario: Mapping[str, Any]) -> None:
    """Raises DataError for a scenario without a `kind` that has neither goal nor first message, or a misspelt key."""
    for key, content in (("goal", "goal"), ("first_message", "message"), ("persona", "profile")):
        if key in scenario and not (isinstance(text := scenario[key], str) and text.strip()):
            problem = "is empty" if isinstance(text, str) else "is not a text"
            raise DataError(f"{key!r} {problem}: write the user's {content}, or leave the key out")
    cutoff = 0.8 if {"goal", "first_message"} & set(scenario) else 0.75
    for key in scenario:
        if key not in PLAIN_KEYS and (meant := get_close_matches(key, PLAIN_KEYS, n=1, cutoff=cutoff)):
            raise DataError(f"has the key {key!r}: did you mean {meant[0]!r}?")
    if "goal" not in scenario and "first_message" not in scenario:
        raise DataError("has no text 'kind', 'goal' or 'first_message': give it one")


def tools_in_success(success: Any, path: str = "success") -> Iterator[tuple[str, str]]:
    """The name of each tool that a scenario's `success` names, with its place before it."""
    for key, value in as_object(success).items():
        for one in value if isinstance(value, list) else [value]:
            if key in COMBINED:
                yield from tools_in_success(one, f"{path}.{key}")
            elif key in ("tool_called", "tool_not_called"):
                name = one.get("name") if isinstance(one, Mapping) else one
                if isinstance(name, str):
                    yield f"{path}.{key}", name
