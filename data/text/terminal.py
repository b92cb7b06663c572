r"""Text for a terminal, where what it would obey is written out, such as `\x1b`; and names typed at one."""

import json
import logging
import re
import sys
import warnings
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

_OBEYED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufff9-\ufffb\U000e0000-\U000e007f]"
)
"""Control characters but for tabs and ends of lines, what turns the direction of writing, and invisible letters."""


def plain(text: str) -> str:
    r"""The text with each character that a terminal obeys written out, such as `\x1b` or `\u202e`; tabs and lines stay."""
    return _OBEYED.sub(lambda match: match.group().encode("unicode_escape").decode(), text)


def on_one_line(text: str) -> str:
    """The same on one line, each run of white space as one space."""
    return plain(" ".join(text.split()))


def plain_json(text: str) -> str:
    r"""JSON with these characters, which stand in texts alone, as escapes of JSON, such as `\u009b`: the same value."""
    return _OBEYED.sub(lambda match: json.dumps(match.group())[1:-1], text)


def names_in(values: Iterable[str], whole: Container[str] = ()) -> list[str]:
    """The names in values that may hold several, with commas between them; a name in `whole` may have commas itself."""
    parts = (part for value in values for part in ([value] if value in whole else value.split(",")))
    return [name for part in parts if (name := part.strip())]


@contextmanager
def plain_logs(shown: Callable[[str], str]) -> Iterator[None]:
    """Inside, `shown` changes each logged line, where logging is not set up, and each warning."""
    handler, before, show = logging.lastResort, None, warnings.showwarning

    class _Plain(logging.Formatter):
        def format(self, record: logging.LogRecord) -> str:
            return shown(super().format(record))

    def showwarning(*warning: Any, **more: Any) -> None:
        message, category, name, line = warning[:4]
        sys.stderr.write(shown(warnings.formatwarning(message, category, name, line)))

    if handler is not None:
        before = handler.formatter
        handler.setFormatter(_Plain())
    warnings.showwarning = showwarning
    try:
        yield
    finally:
        warnings.showwarning = show
        if handler is not None:
            handler.setFormatter(before)
