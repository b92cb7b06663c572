"""A test case of another tool while it is read: some keys become a scenario, the others are kept and listed.

This project's own lines of scenarios are read here too.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from ...errors import DataError, at
from ..files.broken_lines import readable
from ..files.json_files import write_lines
from ..files.json_values import elements
from ..formats.detection import Contents, Format, Source
from ..formats.turns import text_of, turns_of
from ..identity import ID_LENGTH, digest
from ..logs.key_names import LISTS
from ..records import Conversation, is_object

NAME = "scenarios"
_EMPTY: tuple[Any, ...] = (None, "", [], {})
_LISTED = ("tool_called", "tool_not_called", "judged")
"""Keys of a `success` whose values may be a list, of which all must hold."""
_QUESTIONS = ("question", "query", "input", "message", "user_input", "user_message", "prompt", "text", "request")
"""Keys for what the user writes, of which the first counts."""


@dataclass
class Case:
    """A test case, and the scenario that is made of it."""

    rest: dict[str, Any]
    """Its keys that are not taken yet; what is left in the end has no counterpart in a scenario."""
    scenario: dict[str, Any] = field(default_factory=dict[str, Any])
    conditions: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """What must hold, each as a scenario's `success`."""
    lost: Counter[str] = field(default_factory=Counter[str])
    """Things without a counterpart, by name."""
    hidden: set[str] = field(default_factory=set[str])
    """Keys of the rest that are kept and not listed: their parts are."""

    def take(self, *keys: str) -> Any:
        """The first value of these keys that is not empty; all of them count as read. None without one."""
        values = [self.rest.pop(key, None) for key in keys]
        return next((value for value in values if value not in _EMPTY), None)

    def text(self, *keys: str) -> str:
        """As `take`, a text; empty without one. ValueError for another kind of value."""
        value = self.take(*keys)
        if value is not None and not isinstance(value, str):
            raise ValueError(f"{keys[0]!r} is not a text: write it as one")
        return (value or "").strip()

    def put(self, key: str, value: Any) -> None:
        """Set a key of the scenario, unless the value is empty."""
        if value not in _EMPTY:
            self.scenario[key] = value

    def require(self, **condition: Any) -> None:
        """Add a condition, as a scenario's `success` has it."""
        self.conditions.append(condition)

    def require_same(self, answer: str) -> None:
        """Ask for the agreement with a reference answer, which a judge decides."""
        self.require(judged=f"The assistant's answer agrees with this one: {answer}")

    def lose(self, name: str, count: int = 1) -> None:
        """Count things that a scenario cannot say."""
        self.lost[name] += count

    def ask(self, inputs: Mapping[str, Any]) -> None:
        """Set goal or first message from a test case's inputs; the other inputs are kept."""
        rest = dict(inputs)
        for key in ("goal", "persona", "facts", "first_message"):
            if isinstance(rest.get(key), str | list | dict if key == "facts" else str):
                self.put(key, rest.pop(key))
        if not self.scenario.keys() & {"goal", "first_message"}:
            texts = [key for key, value in rest.items() if isinstance(value, str) and value.strip()]
            only = texts[0] if len(rest) == len(texts) == 1 else ""
            if isinstance(messages := rest.get("messages"), list):
                del rest["messages"]
                self._begin(messages)
            elif text := next((name for name in _QUESTIONS if name in texts), only):
                self.put("first_message", rest.pop(text))
        self.rest |= {f"inputs.{key}": value for key, value in rest.items()}

    def _begin(self, messages: list[Any]) -> None:
        """The last message of the user is the first of the conversation; what was said before has no counterpart."""
        turns = turns_of(messages)
        last = max((number for number, turn in enumerate(turns) if turn["role"] == "user"), default=-1)
        text = text_of(turns[last].get("content")) if last >= 0 else None
        if not text:
            raise ValueError("'messages' has no text of a user: give one")
        self.put("first_message", text)
        self.rest["other messages"] = turns[:last] + turns[last + 1 :]

    def whole(self, form: str) -> dict[str, Any]:
        """The scenario with its success, and under the form's name what is left; ValueError without a goal."""
        if not self.scenario.get("goal") and not self.scenario.get("first_message"):
            raise ValueError("has no text that a user would want or write: give it one")
        rest = {key: value for key, value in self.rest.items() if value not in _EMPTY}
        self.lost.update(rest.keys() - self.hidden)
        success = joined(self.conditions)
        return {**self.scenario, **({"success": success} if success else {}), **({form: rest} if rest else {})}


CaseReader: TypeAlias = Callable[[dict[str, Any]], Case]
"""From the JSON object of a test case to its scenario; ValueError for one that cannot be read."""


def contents(path: str | Path, form: str, values: Iterable[tuple[str, Any]], read: CaseReader) -> Contents:
    """The scenarios of test cases, each with its place in the file, as conversations without a message.

    The notes name what has no counterpart. DataError for a test case that cannot be read.
    """
    scenarios: list[Conversation] = []
    lost, names = Counter[str](), Counter[str]()
    for place, value in values:
        with readable(place):
            try:
                if not is_object(value):
                    raise ValueError("is not an object, as the first test case is: mend it, or leave it out")
                case = read(dict(value))
                scenario = case.whole(form)
            except ValueError as error:
                raise DataError(f"{at(path, place)}: {error}") from None
            name = str(scenario.get("title") or digest(scenario)[:ID_LENGTH])
            names[name] += 1
            numbered = f"{name} ({names[name]})" if names[name] > 1 else name
            scenarios.append(Conversation(id=numbered, scenario=scenario))
            lost += case.lost
    listed = ", ".join(f"{name} ({count})" for name, count in sorted(lost.items()))
    notes = [f"no counterpart in a scenario, kept under {form!r}: {listed}"] if listed else []
    if unchecked := sum("success" not in one.scenario for one in scenarios):
        notes.append(
            f"{unchecked} of {len(scenarios)} scenarios have no condition that can be checked: "
            "there the user's goodbye counts as success"
        )
    return Contents(tuple(scenarios), tuple(notes))


def joined(conditions: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """One `success` that asks for all of the conditions; equal ones count once, and it is empty without one."""
    success: dict[str, Any] = {}
    listed: dict[str, list[Any]] = {}
    others: list[Any] = []
    for key, value in (item for condition in conditions for item in condition.items()):
        if key in _LISTED or (key == "text_contains" and isinstance(value, str)):
            values = listed.setdefault(key, [])
            values += [value] * (value not in values)
        elif key not in success:
            success[key] = value
        elif success[key] != value and {key: value} not in others:
            others.append({key: value})
    if "text_contains" in success and "text_contains" in listed:
        others.insert(0, {"text_contains": success.pop("text_contains")})
    success |= {key: values[0] if len(values) == 1 else values for key, values in listed.items()}
    return success | ({"all_of": others} if others else {})


def call(name: str, arguments: Mapping[str, Any] | None) -> str | dict[str, Any]:
    """A call of a tool as `tool_called` has it."""
    return {"name": name, "arguments": dict(arguments)} if arguments else name


def communicated(text: str) -> dict[str, Any]:
    """The condition that the assistant writes a text; a number of four digits or more may have commas in it."""
    if not re.fullmatch(r"\d{4,}(?:\.\d+)?", text):
        return {"text_contains": text}
    whole, point, fraction = text.partition(".")
    return {"text_contains": {"any": [text, f"{int(whole):,}{point}{fraction}"]}}


def _read(path: str | Path) -> Contents:
    return contents(path, NAME, elements(path), lambda line: Case({}, line))


def _write(conversations: Iterable[Conversation], path: Path) -> list[str]:
    """A line for each scenario, without the digest that reading a log adds."""
    scenarios = (conversation.scenario for conversation in conversations)
    write_lines(path, ({key: one[key] for key in one if key != "digest" or "kind" in one} for one in scenarios))
    return []


def _recognised(source: Source) -> bool:
    first = source.first
    if not isinstance(first, dict) or any(isinstance(first.get(key), list) for key in LISTS):
        return False
    return isinstance(first.get("goal"), str) or isinstance(first.get("first_message"), str)


FORMAT = Format(
    NAME,
    "JSON lines of scenarios",
    _recognised,
    _read,
    _write,
    sign="`goal` or `first_message`, and no list of messages",
    scenarios=True,
)
