"""Examples of a world: what a scenario begins with, and the values of arguments that a user may have there."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from ...errors import DataError, at, shown
from ..files.settings_files import read_settings
from ..records import as_list, as_object, is_object
from .policy_rules import PolicyRule, leaves
from .tool_schemas import ToolArgument, ToolSchema

KEYS = ("values", "scenario", "forbidden_by", "plan")
"""Keys of an example."""


@dataclass(frozen=True)
class WorldExample:
    """A state of the world to begin with, and the values that a user has in it."""

    values: Mapping[str, tuple[Any, ...]]
    """By the argument's name: the value that is meant, and others that it could be mistaken for."""
    scenario: Mapping[str, Any] = field(default_factory=dict)
    """Keys that the scenario gets, from which the world is made."""
    forbidden_by: str = ""
    """Words of the rule that forbids to do anything here; empty for none."""
    plan: tuple[Mapping[str, Any], ...] = ()
    """Tool calls of one's own that lead to the goal, each with `name` and `arguments`."""
    invented: frozenset[str] = frozenset()
    """The arguments whose values were not given."""

    def value(self, argument: str) -> Any:
        """The value that is meant; KeyError without one."""
        return self.values[argument][0]

    def alternative(self, argument: str) -> Any:
        """Another value that is there and could be meant; None without one."""
        own = self.values.get(argument, ())
        if len(own) > 1:
            return own[1]
        if not own or not isinstance(value := own[0], str):
            return None
        siblings = _siblings(self.scenario, value)
        return next((one for one in siblings if one != value and _form(one) == _form(value)), None)

    @property
    def record(self) -> frozenset[str]:
        """The words of what its values point at, such as the fare of a booking.

        Where they point at nothing, all words of the scenario.
        """
        words = [
            leaf for own in self.values.values() for part in _named(self.scenario, own[0]) for leaf in leaves(part)
        ]
        return frozenset(words or leaves(self.scenario))

    def is_under(self, rule: PolicyRule, terms: Iterable[str]) -> bool:
        """Whether a rule is about it.

        `forbidden_by` decides, or else the words of the rule that occur in its record.
        """
        if self.forbidden_by:
            return self.forbidden_by.casefold() in rule.text.casefold()
        about = set(terms) & self.record
        return bool(terms) and (not about if rule.limits else bool(about))


def read_examples(path: Path, tools: Sequence[ToolSchema]) -> tuple[WorldExample, ...]:
    """The examples of a file of TOML, YAML or JSON: values by argument, or a list `examples` of objects.

    DataError for an argument that no tool has.
    """
    value = read_settings(path)
    return examples_of(
        value["examples"] if is_object(value) and "examples" in value else [{"values": value}], tools, at(path)
    )


def examples_of(described: Any, tools: Sequence[ToolSchema], where: str) -> tuple[WorldExample, ...]:
    """Examples from plain values; DataError, with the place, for an unknown key or an argument that no tool has."""
    if not isinstance(described, list | tuple) or not described:
        raise DataError(f"{where}: expected a list of examples, each an object with {', '.join(KEYS)}")
    return tuple(_example(one, tools, f"{where}: example {number}") for number, one in enumerate(described, start=1))


def _example(described: Any, tools: Sequence[ToolSchema], where: str) -> WorldExample:
    if not is_object(described) or not is_object(values := described.get("values", {})):
        raise DataError(f"{where}: expected an object with 'values', an object by the arguments' names")
    arguments = {argument.name for tool in tools for argument in tool.arguments}
    for names, allowed, what in ((described, KEYS, "key"), (values, arguments, "argument")):
        for name in names:
            if name not in allowed:
                near = get_close_matches(str(name), list(allowed), n=1)
                listed = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(sorted(allowed))}"
                of_tools = "no tool has" if what == "argument" else "no example has"
                raise DataError(f"{where}: {of_tools} the {what} {name!r}: {listed}")
    lists = {name: tuple(one) if isinstance(one, list | tuple) else (one,) for name, one in values.items()}
    if empty := [name for name, one in lists.items() if not one or one[0] in ("", None)]:
        raise DataError(f"{where}: the argument {empty[0]!r} has no value: give one, or leave it out")
    plan = as_list(described.get("plan"))
    if any(not is_object(call) or call.get("name") not in {tool.name for tool in tools} for call in plan):
        raise DataError(
            f"{where}: plan: expected calls, each with the 'name' of a tool and 'arguments', not {shown(plan)}"
        )
    return WorldExample(
        lists, as_object(described.get("scenario")), str(described.get("forbidden_by") or ""), tuple(plan)
    )


def completed(examples: Sequence[WorldExample], tools: Sequence[ToolSchema]) -> tuple[WorldExample, ...]:
    """The examples, with values of the schemas where none was given; those are marked as invented."""
    complete = []
    for example in examples or [WorldExample({})]:
        valued = {name for one in examples for name in one.values}
        lacking = {
            argument.name: (of_schema(argument),)
            for tool in tools
            for argument in tool.required
            if argument.name not in example.values and argument.name not in valued
        }
        complete.append(
            WorldExample(
                {**lacking, **example.values},
                example.scenario,
                example.forbidden_by,
                example.plan,
                frozenset(name for name in lacking if not _states_value(tools, name)),
            )
        )
    return tuple(complete)


def _states_value(tools: Sequence[ToolSchema], name: str) -> bool:
    schemas = [argument.schema for tool in tools for argument in tool.arguments if argument.name == name]
    return any(key in schema for schema in schemas for key in ("const", "enum", "examples", "example", "default"))


def of_schema(argument: ToolArgument) -> Any:
    """A value that the argument's schema allows: one that it names, else one of its type."""
    schema = argument.schema
    for key in ("const", "example", "default"):
        if schema.get(key) is not None:
            return schema[key]
    for key in ("examples", "enum"):
        if as_list(schema.get(key)):
            return schema[key][0]
    kind = schema.get("type")
    if kind in ("integer", "number"):
        return schema.get("minimum", 1)
    if kind == "boolean":
        return True
    if kind in ("array", "object"):
        return [] if kind == "array" else {}
    names = (str(schema.get("format")), *argument.label.casefold().split())
    return next((_TEXTS[name] for name in names if name in _TEXTS), "AB1234")


_TEXTS = {
    "date": "2026-05-03",
    "day": "2026-05-03",
    "date-time": "2026-05-03T10:00:00",
    "time": "10:00",
    "email": "ann@example.com",
    "name": "Ann Miller",
    "city": "Rome",
    "日期": "2026-05-03",
    "时间": "10:00",
    "姓名": "李敏",
}
"""Texts by the format of an argument, or by a word of its label."""


def out_of_range(argument: ToolArgument, example: WorldExample, examples: Iterable[WorldExample]) -> Any:
    """A value that the argument cannot take; None without one.

    It is beyond the schema, or of the form of a value and in no example.
    """
    schema = argument.schema
    if choices := as_list(schema.get("enum")):
        return next((word for word in _WORDS if word not in choices), None) if isinstance(choices[0], str) else None
    for bound, step in (("maximum", 1), ("minimum", -1), ("exclusiveMaximum", 0), ("exclusiveMinimum", 0)):
        if isinstance(schema.get(bound), int | float):
            return schema[bound] + step
    if argument.name not in example.values or argument.name in example.invented:
        return None
    value = example.value(argument.name)
    present = {str(one) for other in (example, *examples) for one in other.values.get(argument.name, ())}
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, int | float):
        return -abs(value) - 1
    for turn in range(1, 10):
        changed = _other(value, turn)
        if changed != value and changed not in present and not _occurs(example.scenario, changed):
            return changed
    return None


_WORDS = ("purple", "seven", "sideways")
"""Choices that no schema offers."""


def _other(value: str, turn: int) -> str:
    """A value of the same form: a date some years later, else with other digits.

    >>> _other("QX4821", 5), _other("2026-05-03", 5), _other("window", 5)
    ('QX9376', '2031-05-03', 'window')
    """
    if match := re.match(r"(\d{4})(?=-\d\d-\d\d)", value):
        return f"{int(match[1]) + turn}{value[match.end() :]}"
    return re.sub(r"\d", lambda digit: str((int(digit[0]) + turn) % 10), value)


def _form(text: str) -> str:
    """Its digits and letters as signs of their kind, one for several."""
    return re.sub(r"(.)\1+", r"\1", re.sub(r"[^\W\d_]", "a", re.sub(r"\d", "0", text)))


def _named(value: Any, name: Any) -> list[Any]:
    """The parts of a JSON value that a name points at.

    They stand under it as a key, or are the objects that hold it.
    """
    if isinstance(value, Mapping):
        own = [one for key, one in value.items() if key == name]
        own += [value] if any(one == name for one in value.values()) else []
        return own + [part for one in value.values() for part in _named(one, name)]
    if isinstance(value, list | tuple):
        return [part for one in value for part in _named(one, name)]
    return []


def _siblings(value: Any, name: str) -> list[str]:
    """The other keys of the objects that have a key, and the values of its neighbours in lists."""
    if isinstance(value, Mapping):
        own = [key for key in value if isinstance(key, str)] if name in value else []
        return own + [one for part in value.values() for one in _siblings(part, name)]
    if isinstance(value, list | tuple):
        rows = [one for one in value if isinstance(one, Mapping)]
        keys = dict.fromkeys(key for row in rows for key, one in row.items() if one == name)
        own = [row[key] for row in rows for key in keys if isinstance(row.get(key), str)]
        return own + [one for part in value for one in _siblings(part, name)]
    return []


def _occurs(value: Any, text: str) -> bool:
    """Whether a text is a key or a value of a JSON value."""
    if isinstance(value, Mapping):
        return text in value or any(_occurs(one, text) for one in value.values())
    if isinstance(value, list | tuple):
        return any(_occurs(one, text) for one in value)
    return bool(value == text)
