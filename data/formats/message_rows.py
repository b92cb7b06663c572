"""Conversations as a table in text (CSV): a row for each message, with the calls and results of tools."""

import csv
import io
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ..files.json_files import dumps, replacing
from ..records import Conversation
from .provider_messages import turns_of_talk
from .turn_reading import text_of
from .unsupported import BeyondWords

COLUMNS = ("conversation_id", "role", "content", "tool_calls", "tool_call_id", "status")
"""The conversation's id, role and text of a message, calls as JSON in OpenAI's form, and the call of a result."""


def write(conversations: Iterable[Conversation], path: str | Path) -> list[str]:
    """Write a row for each message, instruction, group of parallel calls, and result.

    Texts are written as they are, also where a spreadsheet takes one for a formula. Returns a line for each kind of
    content that the format cannot hold and that was therefore left out.
    """
    beyond = BeyondWords("csv", tools=True, errors=True, halves=False)
    with replacing(path) as file:
        file.write(_line(COLUMNS))
        for conversation in conversations:
            turns = turns_of_talk(conversation, beyond.own_key)
            if beyond.note(conversation, empty=not turns):
                file.write("".join(_line(_cells(conversation.id, turn)) for turn in turns))
    return beyond.lines()


def _cells(name: str, turn: Mapping[str, Any]) -> tuple[str, ...]:
    calls = dumps(turn["tool_calls"]) if "tool_calls" in turn else ""
    content = text_of(turn["content"]) or (
        "null" if turn["role"] == "tool" and isinstance(turn["content"], list) else ""
    )
    return (name, turn["role"], content, calls, turn.get("tool_call_id", ""), turn.get("status", ""))


def _line(cells: Iterable[str]) -> str:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_MINIMAL).writerow(cells)
    return text.getvalue().encode("utf-8", "replace").decode("utf-8")
