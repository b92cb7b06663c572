"""Task contexts: templates with options, and their expansion to every combination of options.

The syntax is that of RecLLMSim's workbooks: `[KEY]` is replaced by the chosen option of a key, and
`[KEY:{"option": "text"}]` by the text of the chosen option.
"""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from math import prod
from reprlib import repr as shortened
from typing import Any, TypeAlias, overload

from pydantic import Field

from ...errors import DataError, at
from ..records import Record

MOST_CONTEXTS = 100_000
"""Most contexts of one template; more are taken for a mistake in the options."""

MOST_FILLED = 1_000
"""Most placeholders that are filled for one context: options that contain each other twice double their number."""

MOST_CHARACTERS = 1_000_000
"""Most characters of one context, as long as a book."""

MOST_TOGETHER = 100_000_000
"""Most characters of all contexts that are made at once."""

DEEPEST = 50
"""Most options and mappings inside each other; each is a call of Python's within a call."""

_PLACEHOLDER = re.compile(r"\[\s*(?P<key>\w(?:[\w -]*\w)?)\s*(?P<end>[\]:])")
# Possessive, for a shorter key is followed by a bracket whenever the longest is: trying them takes the square of the time.
_OPENED = re.compile(r"\[\s*(?P<key>\w++(?:-\w++)*+)(?![\w -]*[\]:])")
_QUOTED = re.compile(r"\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+'", re.DOTALL)
_SPACE = re.compile(r"\s*")


class Template(Record):
    """A task's text with placeholders, and the options of each key in order."""

    task: str
    prompt: str
    options: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    source: str = ""
    """File, sheet and row, for error messages."""


class Contexts(Sequence[str]):
    """The contexts of a template in the order of `expand`, each made when it is asked for.

    DataError at once for a key without options and for too many contexts, else when a context is made.
    """

    def __init__(self, template: Template) -> None:
        self.template = template
        self._count = prod(len(options) for options in template.options.values())
        if self._count > MOST_CONTEXTS:
            raise _fault(template, f"has {self._count:,} contexts, the bound is {MOST_CONTEXTS:,}: give fewer options")
        for key, options in template.options.items():
            if not options:
                raise _fault(template, f"the key {key!r} has no option: give it one, or delete it")

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        number = range(self._count)[index]  # IndexError, and negative numbers from the end
        chosen: dict[str, str] = {}
        for key, options in reversed(self.template.options.items()):  # the last key varies fastest
            number, place = divmod(number, len(options))
            chosen[key] = options[place]
        chosen = {key: chosen[key] for key in self.template.options}
        return _Filling(self.template, chosen).text()


def expand(template: Template) -> list[str]:
    """Every context: the product of all options in the order of the keys; the last key varies fastest.

    Placeholders in options are filled too, in any order of keys. DataError for a key without options, a mapping without
    the chosen option, a cycle, and a malformed placeholder. Also for more contexts or text than the limits allow.
    """
    contexts, size = [], 0
    for context in Contexts(template):
        size += len(context)
        if size > MOST_TOGETHER:
            raise _fault(template, f"its contexts have more than {MOST_TOGETHER:,} characters: give fewer options")
        contexts.append(context)
    return contexts


_Piece: TypeAlias = str | tuple[str, Mapping[str, str] | None]
"""A stretch of text, or a placeholder: its key, and its mapping if it has one."""


class _Filling:
    """The filling of one context, with what it may still use of the bounds."""

    def __init__(self, template: Template, chosen: Mapping[str, str]) -> None:
        self.template = template
        self.chosen = chosen
        self.filled = 0
        self.size = 0

    def text(self) -> str:
        return "".join(self.pieces(self.template.prompt, (), 0))

    def pieces(self, text: str, within: tuple[str, ...], depth: int) -> Iterator[str]:
        """The pieces of the text with its placeholders filled; `within`: the keys whose options contain the text."""
        template = self.template
        if depth > DEEPEST:
            raise _fault(template, f"more than {DEEPEST} options and mappings stand inside each other: write them out")
        for piece in _pieces(text, tuple(template.options), template.task, template.source):
            if isinstance(piece, str):
                self.size += len(piece)
                if self.size > MOST_CHARACTERS:
                    raise _fault(
                        template, f"a context has more than {MOST_CHARACTERS:,} characters: shorten its options"
                    )
                yield piece
                continue
            key, mapping = piece
            self.filled += 1
            if self.filled > MOST_FILLED:
                raise _fault(
                    template, f"a context has more than {MOST_FILLED:,} placeholders: let fewer contain others"
                )
            if mapping is None:
                if key in within:
                    cycle = " -> ".join((*within[within.index(key) :], key))
                    raise _fault(template, f"the options of {cycle} contain each other: break the cycle")
                yield from self.pieces(self.chosen[key], (*within, key), depth + 1)
            elif self.chosen[key] not in mapping:
                lacking = f"the mapping of [{key}] lacks {shortened(self.chosen[key])}"
                raise _fault(template, f"{lacking}: give it a text for every option")
            else:
                yield from self.pieces(mapping[self.chosen[key]], within, depth + 1)


@lru_cache(maxsize=1024)
def _pieces(text: str, keys: tuple[str, ...], task: str, source: str) -> tuple[_Piece, ...]:
    """The text in pieces; DataError for a placeholder that is malformed or has no options."""
    template = Template(task=task, prompt="", options=dict.fromkeys(keys, ()), source=source)
    pieces: list[_Piece] = []
    end = 0
    while placeholder := _PLACEHOLDER.search(text, end):
        pieces.append(_literal(text[end : placeholder.start()], template))
        key = placeholder["key"]
        if key not in template.options:
            with_options = ", ".join(keys) or "none"
            raise _fault(
                template, f"the placeholder [{key}] has no options (keys with options: {with_options}): add its key"
            )
        if placeholder["end"] == "]":
            end = placeholder.end()
            pieces.append((key, None))
        else:
            mapping, end = _mapping(text, placeholder.end(), key, template)
            pieces.append((key, mapping))
    return (*pieces, _literal(text[end:], template))


def _literal(text: str, template: Template) -> str:
    """The text unchanged; DataError if it contains a placeholder whose bracket is not closed."""
    for opened in _OPENED.finditer(text):
        if opened["key"] in template.options:
            key = opened["key"]
            raise _fault(template, f"the placeholder [{key} is not closed behind its name: write [{key}]")
    return text


def _mapping(text: str, start: int, key: str, template: Template) -> tuple[dict[str, str], int]:
    """The mapping that begins at the offset, and the offset after its bracket.

    The text is parsed, never evaluated.
    """
    end = _closed(text, start)
    problem = f'the mapping of [{key}] is not one: write [{key}:{{"option": "text"}}]'
    if end is None or not text.startswith("]", _behind_space(text, end)):
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
    position = _behind_space(text, start)
    if not text.startswith("{", position):
        return None
    depth = 0
    while position < len(text):
        if quoted := _QUOTED.match(text, position):
            position = quoted.end()
            continue
        if text[position] in "\"'":  # it is never closed
            return None
        depth += {"{": 1, "}": -1}.get(text[position], 0)
        position += 1
        if not depth:
            return position
    return None


def _behind_space(text: str, start: int) -> int:
    match = _SPACE.match(text, start)
    return match.end() if match else start


def _fault(template: Template, problem: str) -> DataError:
    return DataError(f"{at(template.source) + ': ' if template.source else ''}task {template.task!r}: {problem}")


def option(value: Any, where: str) -> str | None:
    """The text of an option, from a cell or a YAML value; None if empty.

    DataError if the value is neither text nor number.
    """
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # a spreadsheet's 3
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise DataError(f"{where}: {shortened(value)} is not a text: put it in quotes, or format the cell as text")
    try:
        return str(value)
    except ValueError:  # more digits than Python turns into text
        raise DataError(f"{where}: is a number of thousands of digits: put it in quotes") from None
