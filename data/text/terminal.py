r"""Text for a terminal, where what it would obey is written out, such as `\x1b`; and names typed at one."""

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
    r"""The text with each character that a terminal obeys written out, such as `\x1b` or `\u202e`.

    Lines and tabs stay.
    """
    return _OBEYED.sub(_written_out, text)


def names_in(values: Iterable[str], whole: Container[str] = ()) -> list[str]:
    """The names in values that may hold several, with commas between them; a name in `whole` may have commas itself."""
    parts = (part for value in values for part in ([value] if value in whole else value.split(",")))
    return [name for part in parts if (name := part.strip())]


def on_one_line(text: str) -> str:
    """The same on one line, each run of white space as one space."""
    return plain(" ".join(text.split()))


def plain_json(text: str) -> str:
    r"""JSON with these characters as escapes of JSON, such as `\u009b`: the same value.

    JSON holds none outside of texts.
    """
    return _OBEYED.sub(_escaped, text)


def _written_out(match: re.Match[str]) -> str:
    code = ord(match.group())
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _escaped(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x10000:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"


@contextmanager
def plain_logs(shown: Callable[[str], str]) -> Iterator[None]:
    """Inside, `shown` changes each logged line, where logging is not set up, and each warning."""
    handler, before, show = logging.lastResort, None, warnings.showwarning

    class _Plain(logging.Formatter):
        def format(self, record: logging.LogRecord) -> str:
            return shown(super().format(record))

    def showwarning(
        message: Any, category: Any, filename: str, lineno: int, file: Any = None, line: Any = None
    ) -> None:
        text = warnings.formatwarning(message, category, filename, lineno, line)
        print(shown(text), end="", file=file or sys.stderr)

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
