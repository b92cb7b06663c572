"""Task contexts: templates with options, and every text that their choices make.

As RecLLMSim's workbooks have them: `[KEY]` stands for the chosen option of a key, `[KEY:{"option": "text"}]`
for the text that belongs to the chosen option.
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
"""Most contexts of one template: more is a mistake in the options."""

_PLACEHOLDER = re.compile(r"\[\s*(?P<key>\w(?:[\w -]*\w)?)\s*(?P<end>[\]:])")
_OPENED = re.compile(r"\[\s*(?P<key>\w+(?:-\w+)*)(?![\w -]*[\]:])")
_QUOTED = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'", re.DOTALL)


class Template(Record):
    """A task's text with placeholders, and the options of each key in their order."""

    task: str
    prompt: str
    options: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    place: str = ""
    """Where it stands, for errors: file, sheet and row."""


def expand(template: Template) -> list[str]:
    """Every context: the product of the options in the order of the keys, the last key fastest.

    Placeholders in options are filled too, whether their key stands before or after. DataError for a key
    without options, a mapping that lacks the chosen option, a cycle, and a placeholder that is none.
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
    """The text piece by piece, its placeholders filled; `within` names the keys whose options it is part of."""
    end = 0
    while found := _PLACEHOLDER.search(text, end):
        yield _literal(text[end : found.start()], template)
        key = found["key"]
        if key not in chosen:
            there = ", ".join(chosen) or "none"
            raise _fault(template, f"the placeholder [{key}] has no options (keys with options: {there}): add its key")
        if found["end"] == "]":
            end = found.end()
            if key in within:
                circle = " -> ".join((*within[within.index(key) :], key))
                raise _fault(template, f"the options of {circle} stand in each other: break the circle")
            yield from _filled(chosen[key], template, chosen, (*within, key))
        else:
            mapping, end = _mapping(text, found.end(), key, template)
            if chosen[key] not in mapping:
                raise _fault(template, f"the mapping of [{key}] lacks {chosen[key]!r}: give it a text for every option")
            yield from _filled(mapping[chosen[key]], template, chosen, within)
    yield _literal(text[end:], template)


def _literal(text: str, template: Template) -> str:
    """The text as it is; DataError if a placeholder of a key is left in it because its bracket is not closed."""
    for found in _OPENED.finditer(text):
        if found["key"] in template.options:
            key = found["key"]
            raise _fault(template, f"the placeholder [{key} is not closed behind its name: write [{key}]")
    return text


def _mapping(text: str, start: int, key: str, template: Template) -> tuple[dict[str, str], int]:
    """The mapping that begins there, read and never evaluated, and the offset behind its bracket."""
    end = _closed(text, start)
    wrong = f'the mapping of [{key}] is none: write [{key}:{{"option": "text"}}]'
    if end is None or not text[end:].lstrip().startswith("]"):
        raise _fault(template, wrong)
    try:
        value = ast.literal_eval(text[start:end].strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        raise _fault(template, wrong) from None
    if not isinstance(value, dict) or not all(isinstance(part, str) for pair in value.items() for part in pair):
        raise _fault(template, wrong)
    return value, text.index("]", end) + 1


def _closed(text: str, start: int) -> int | None:
    """Offset behind the brace that closes the one at which the text begins; None without either."""
    here = start + len(text[start:]) - len(text[start:].lstrip())
    if not text.startswith("{", here):
        return None
    depth = 0
    while here < len(text):
        if quoted := _QUOTED.match(text, here):
            here = quoted.end()
            continue
        depth += {"{": 1, "}": -1}.get(text[here], 0)
        here += 1
        if not depth:
            return here
    return None


def _fault(template: Template, problem: str) -> DataError:
    return DataError(f"{at(template.place) + ': ' if template.place else ''}task {template.task!r}: {problem}")


def option(value: Any, place: str) -> str | None:
    """The option of a cell or a YAML value; None for an empty one, DataError for what is no text or number."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # a spreadsheet's 3
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise DataError(f"{place}: {value!r} is no text: put it in quotes, or format the cell as text")
    return str(value)
