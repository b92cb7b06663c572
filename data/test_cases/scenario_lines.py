"""Scenarios of this project, an object on each line."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..files.json_files import write_lines
from ..files.json_values import elements
from ..formats.detection import Contents, Format, Source
from ..logs.key_names import LISTS
from ..records import Conversation
from .cases import Case, contents

NAME = "scenarios"

_SAYS_GOAL = ("goal", "first_message")


def read(path: str | Path) -> Contents:
    """The scenarios as they are; DataError for one without goal and first message."""
    return contents(path, NAME, elements(path), lambda line: [Case({}, line)])


def write(conversations: Iterable[Conversation], path: Path) -> list[str]:
    """Write a line for each scenario; nothing of it is lost."""
    write_lines(path, (_plain(conversation.scenario) for conversation in conversations))
    return []


def _plain(scenario: Any) -> dict[str, Any]:
    """The scenario without its digest, which reading a log adds."""
    return {key: value for key, value in scenario.items() if key != "digest" or "kind" in scenario}


def _recognised(source: Source) -> bool:
    first = source.first
    if not isinstance(first, dict) or any(isinstance(first.get(key), list) for key in LISTS):
        return False
    return any(isinstance(first.get(key), str) for key in _SAYS_GOAL)


FORMAT = Format(
    NAME,
    "JSON lines of scenarios",
    _recognised,
    read,
    write,
    sign="`goal` or `first_message`, and no list of messages",
    scenarios=True,
)
