"""The schemas of an agent's tools: names, descriptions and arguments, in OpenAI's form of functions."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...errors import DataError, at
from ..files.json_files import read_json
from ..records import as_list, as_object, is_object


@dataclass(frozen=True)
class ToolArgument:
    """An argument of a tool."""

    name: str
    schema: Mapping[str, Any]
    """Its JSON schema."""
    required: bool

    @property
    def label(self) -> str:
        """What a person calls it: its title or its short description, else its name in words."""
        for key in ("description", "title"):
            text = self.schema.get(key)
            if isinstance(text, str) and 0 < len(text.split()) <= _SHORT and len(text) <= 8 * _SHORT:
                text = text.strip(" .。")
                return text[0].lower() + text[1:] if text[:2].istitle() else text
        return " ".join(re.findall(r"[A-Z]?[^\W_A-Z]+|[A-Z]+(?![^\W_A-Z])|\d+", self.name)).lower() or self.name


_SHORT = 5
"""Most words of a description that stands for the argument in a sentence."""


@dataclass(frozen=True)
class ToolSchema:
    """A tool of an agent, as a model is shown it."""

    name: str
    description: str
    arguments: tuple[ToolArgument, ...]

    @property
    def required(self) -> tuple[ToolArgument, ...]:
        """The arguments without which it cannot be called."""
        return tuple(argument for argument in self.arguments if argument.required)


def schemas_of(described: Iterable[Any], where: str) -> tuple[ToolSchema, ...]:
    """The tools of a list in OpenAI's form, `{"type": "function", "function": {...}}` or only the inner object.

    DataError, with the place, for a list without tools, a tool without a name, and two tools of one name.
    """
    tools = tuple(_schema(one, f"{where}: tool {number}") for number, one in enumerate(described, start=1))
    if not tools:
        raise DataError(f"{where}: has no tools: give an agent or a list with at least one tool")
    doubled = [name for name, count in Counter(tool.name for tool in tools).items() if count > 1]
    if doubled:
        raise DataError(f"{where}: has two tools of the name {doubled[0]!r}: rename one of them, or leave it out")
    return tools


def read_tools(path: Path) -> tuple[ToolSchema, ...]:
    """The tools of a JSON file in OpenAI's form: a list, or a request with the key `tools`.

    DataError as for `schemas_of`, and for a file that holds something else.
    """
    value = read_json(path)
    value = value.get("tools") if is_object(value) else value
    if not isinstance(value, list):
        raise DataError(f"{at(path)}: is not a list of tools in OpenAI's form: give one, or MODULE:NAME of an agent")
    return schemas_of(value, at(path))


def _schema(described: Any, where: str) -> ToolSchema:
    inner = described.get("function", described) if is_object(described) else None
    if not is_object(inner) or not isinstance(name := inner.get("name"), str) or not name:
        raise DataError(f"{where}: has no 'name': give tools in OpenAI's form, not {json.dumps(described)[:60]}")
    parameters = as_object(inner.get("parameters"))
    required = as_list(parameters.get("required"))
    definitions = as_object(parameters.get("$defs"))
    arguments = tuple(
        ToolArgument(argument, _resolved(as_object(schema), definitions), argument in required)
        for argument, schema in as_object(parameters.get("properties")).items()
    )
    description = inner.get("description")
    return ToolSchema(name, description.strip() if isinstance(description, str) else "", arguments)


def _resolved(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema with what it refers to; of a type or null, that of the type."""
    for one in as_list(schema.get("anyOf")) or as_list(schema.get("allOf")):
        if as_object(one).get("type") != "null":
            schema = {
                **as_object(one),
                **{key: value for key, value in schema.items() if key not in ("anyOf", "allOf")},
            }
            break
    reference = schema.get("$ref")
    if isinstance(reference, str):
        return {**as_object(definitions.get(reference.rpartition("/")[2])), **schema}
    return schema
