"""The inputs of a test case as a first message."""

from collections.abc import Mapping
from typing import Any

from ..formats.turn_reading import text_of
from ..formats.turns import turns_of
from .cases import Case

_QUESTIONS = ("question", "query", "input", "message", "user_input", "user_message", "prompt", "text", "request")
"""Keys for what the user writes, of which the first counts."""


def ask(case: Case, inputs: Mapping[str, Any]) -> None:
    """Set goal or first message from a test case's inputs; the other inputs are kept."""
    rest = dict(inputs)
    for key in ("goal", "persona", "facts", "first_message"):
        if isinstance(rest.get(key), str | list | dict if key == "facts" else str):
            case.put(key, rest.pop(key))
    if not case.scenario.keys() & {"goal", "first_message"}:
        if isinstance(messages := rest.get("messages"), list):
            del rest["messages"]
            _begin(case, messages)
        elif text := _only_text(rest):
            case.put("first_message", rest.pop(text))
    case.rest |= {f"inputs.{key}": value for key, value in rest.items()}


def _begin(case: Case, messages: list[Any]) -> None:
    """The last message of the user is the first of the conversation; what was said before has no counterpart."""
    turns = turns_of(messages)
    last = max((number for number, turn in enumerate(turns) if turn["role"] == "user"), default=-1)
    text = text_of(turns[last].get("content")) if last >= 0 else None
    if not text:
        raise ValueError("'messages' has no text of a user: give one")
    case.put("first_message", text)
    case.rest["other messages"] = turns[:last] + turns[last + 1 :]


def _only_text(values: Mapping[str, Any]) -> str:
    """The first of the usual names that has a text, else the only key if it has one; empty without."""
    texts = [key for key, value in values.items() if isinstance(value, str) and value.strip()]
    usual = next((name for name in _QUESTIONS if name in texts), "")
    return usual or (texts[0] if len(values) == len(texts) == 1 else "")
