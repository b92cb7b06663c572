"""The inputs of a test case as a first message, and its reference outputs as conditions."""

from collections.abc import Mapping
from typing import Any

from ..attempts import as_list, as_object
from ..files.json_values import as_value
from ..formats.turn_reading import text_of
from ..formats.turns import turns_of
from .cases import Case
from .conditions import call, same_as

QUESTIONS = ("question", "query", "input", "message", "user_input", "user_message", "prompt", "text", "request")
"""Keys for what the user writes, of which the first counts."""
_ANSWERS = ("answer", "output", "response", "expected_output", "expected_response", "reference", "text")


def ask(case: Case, inputs: Mapping[str, Any], name: str = "inputs") -> None:
    """Set goal or first message from a test case's inputs; the other inputs are kept under the name."""
    rest = dict(inputs)
    for key in ("goal", "persona", "facts", "first_message"):
        if isinstance(rest.get(key), str | list | dict if key == "facts" else str):
            case.put(key, rest.pop(key))
    if not case.scenario.keys() & {"goal", "first_message"}:
        if isinstance(messages := rest.get("messages"), list):
            del rest["messages"]
            _begin(case, messages)
        elif text := _only_text(rest, QUESTIONS):
            case.put("first_message", rest.pop(text))
    case.rest |= {f"{name}.{key}": value for key, value in rest.items()}


def _begin(case: Case, messages: list[Any]) -> None:
    """The last message of the user is the first of the conversation; what was said before has no counterpart."""
    turns = turns_of(messages)
    last = max((number for number, turn in enumerate(turns) if turn["role"] == "user"), default=-1)
    text = text_of(turns[last].get("content")) if last >= 0 else None
    if not text:
        raise ValueError("'messages' has no text of a user: give one")
    case.put("first_message", text)
    case.rest["other messages"] = turns[:last] + turns[last + 1 :]


def expect(case: Case, outputs: Any, name: str = "outputs") -> None:
    """Conditions of a reference output: its text is compared by a judge, its calls must be made."""
    if isinstance(outputs, str):
        case.conditions.append(same_as(outputs))
        return
    rest = dict(as_object(outputs))
    texts: list[str] = []
    for turn in turns_of(rest.pop("messages", None)):
        if turn["role"] == "assistant":
            texts += filter(None, [text_of(turn.get("content"))])
            for tool_call in as_list(turn.get("tool_calls")):
                function = as_object(as_object(tool_call).get("function"))
                arguments = as_object(as_value(function.get("arguments")))
                case.require(tool_called=call(str(function.get("name")), arguments))
    if key := _only_text(rest, _ANSWERS):
        texts.append(rest.pop(key))
    if texts:
        case.conditions.append(same_as(texts[-1]))
        if texts[1:]:
            case.rest[f"{name}: answers before the last"] = texts[:-1]
    case.rest |= {f"{name}.{key}": value for key, value in rest.items()}


def _only_text(values: Mapping[str, Any], names: tuple[str, ...]) -> str:
    """The first of the names that has a text, else the only key if it has one; empty without."""
    texts = [key for key, value in values.items() if isinstance(value, str) and value.strip()]
    usual = next((name for name in names if name in texts), "")
    return usual or (texts[0] if len(values) == len(texts) == 1 else "")
