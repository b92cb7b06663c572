"""Task contexts: templates with options, and their expansion to every combination of options.

The syntax is that of RecLLMSim's workbooks: `[KEY]` is replaced by the chosen option of a key, and
`[KEY:{"option": "text"}]` by the text of the chosen option.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from itertools import product
from math import prod
from typing import Any

from pydantic import Field

from ...errors import DataError, at
from ..records import Record

MOST_CONTEXTS = 100_000
"""Most contexts of one template; more are taken for a mistake in the options."""

_PLACEHOLDER = re.compile(r"\[\s*(?P<key>\w(?:[\w -]*\w)?)\s*(?P<end>[\]:])")
_OPENED = re.compile(r"\[\s*(?P<key>\w+(?:-\w+)*)(?![\w -]*[\]:])")
_QUOTED = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'", re.DOTALL)


class Template(Record):
    """A task's text with placeholders, and the options of each key in order."""

    task: str
    prompt: str
    options: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    source: str = ""
    """File, sheet and row, for error messages."""


def expand(template: Template) -> list[str]:
    """Every context: the product of all options in the order of the keys; the last key varies fastest.

    Placeholders in options are filled too, in any order of keys. DataError for a key without options, a mapping that
    lacks the chosen option, a cycle, and a malformed placeholder.
    """
    count = prod(len(options) for options in template.options.values())
    if count > MOST_CONTEXTS:
        raise _fault(template, f"has {count:,} contexts, the bound is {MOST_CONTEXTS:,}: give fewer options")
    for key, options in template.options.items():
        if not options:
            raise _fault(template, f"the key {key!r} has no option: give it one, or delete it")
    choices = product(*template.options.values())
    return [
        "".join(_filled(template.prompt, template, dict(zip(template.options, chosen, strict=True)), ()))
        for chosen in choices
    ]


def _filled(text: str, template: Template, chosen: Mapping[str, str], within: tuple[str, ...]) -> Iterator[str]:
    """The pieces of the text with its placeholders filled; `within`: the keys whose options contain the text."""
    end = 0
    while placeholder := _PLACEHOLDER.search(text, end):
        yield _literal(text[end : placeholder.start()], template)
        key = placeholder["key"]
        if key not in chosen:
            known = ", ".join(chosen) or "none"
            raise _fault(template, f"the placeholder [{key}] has no options (keys with options: {known}): add its key")
        if placeholder["end"] == "]":
            end = placeholder.end()
            if key in within:
                cycle = " -> ".join((*within[within.index(key) :], key))
                raise _fault(template, f"the options of {cycle} contain each other: break the cycle")
            yield from _filled(chosen[key], template, chosen, (*within, key))
        else:
            mapping, end = _mapping(text, placeholder.end(), key, template)
            if chosen[key] not in mapping:
                raise _fault(template, f"the mapping of [{key}] lacks {chosen[key]!r}: give it a text for every option")
            yield from _filled(mapping[chosen[key]], template, chosen, within)
    yield _literal(text[end:], template)


def _literal(text: str, template: Template) -> str:
    """The text unchanged; DataError if it contains a placeholder whose bracket is not closed."""
    for opened in _OPENED.finditer(text):
        if opened["key"] in template.options:
            key = opened["key"]
            raise _fault(template, f"the placeholder [{key} is not closed behind its name: write [{key}]")
    return text


def _mapping(text: str, start: int, key: str, template: Template) -> tuple[dict[str, str], int]:
    """The mapping that begins at the offset, and the offset after its bracket. The text is parsed, never evaluated."""
    end = _closed(text, start)
    problem = f'the mapping of [{key}] is none: write [{key}:{{"option": "text"}}]'
    if end is None or not text[end:].lstrip().startswith("]"):
        raise _fault(template, problem)
    try:
        value = ast.literal_eval(text[start:end].strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        raise _fault(template, problem) from None
    if not isinstance(value, dict) or not all(isinstance(part, str) for pair in value.items() for part in pair):
        raise _fault(template, problem)
    return value, text.index("]", end) + 1


def _closed(text: str, start: int) -> int | None:
    """The offset after the brace that closes the opening one at `start`; None if either is missing."""
    position = start + len(text[start:]) - len(text[start:].lstrip())
    if not text.startswith("{", position):
        return None
    depth = 0
    while position < len(text):
        if quoted := _QUOTED.match(text, position):
            position = quoted.end()
            continue
        depth += {"{": 1, "}": -1}.get(text[position], 0)
        position += 1
        if not depth:
            return position
    return None


def _fault(template: Template, problem: str) -> DataError:
    return DataError(f"{at(template.source) + ': ' if template.source else ''}task {template.task!r}: {problem}")


def option(value: Any, where: str) -> str | None:
    """The text of an option, from a cell or a YAML value. None if empty; DataError if neither text nor number."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # a spreadsheet's 3
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise DataError(f"{where}: {value!r} is no text: put it in quotes, or format the cell as text")
    return str(value)
