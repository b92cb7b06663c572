"""The output of commands: results on stdout, everything else on stderr.

Where JSON is printed, stdout has nothing else, and numbers are not rounded.
"""

import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, redirect_stdout
from contextvars import ContextVar
from tempfile import NamedTemporaryFile
from time import strftime
from traceback import format_exception
from typing import TYPE_CHECKING, Any, TextIO

from rich.console import Console, ConsoleOptions, RenderableType
from rich.markup import escape
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from ..data.files.json import dumps
from ..data.summaries import Counts
from ..data.text.terminal import plain, plain_json

if TYPE_CHECKING:
    from ..analysis.tables import Table as ResultTable

BAD_INPUT = 2
"""Exit code of a command that could not begin."""
BUG = 70
"""Exit code of a command that failed because of a bug (EX_SOFTWARE of sysexits.h)."""


class Terminal(Console):
    """A console that writes out what a terminal would obey, but for the styles that rich itself adds."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The segments, their texts plain, without blanks at the end of a line."""
        blank_segments: list[Segment] = []  # blanks that may end a line, which no line ends with
        for segment in super().render(renderable, options):
            if segment.control:
                yield from blank_segments
                blank_segments.clear()
                yield segment
                continue
            for piece in re.split("(\n)", plain(segment.text)):
                text = piece.rstrip(" ")
                if piece == "\n":
                    blank_segments.clear()
                if text:
                    yield from blank_segments
                    blank_segments.clear()
                    yield segment._replace(text=text)
                if blanks := piece[len(text) :]:
                    blank_segments.append(segment._replace(text=blanks))
        yield from blank_segments

    def render_str(self, text: str, **options: Any) -> Text:
        """The text as rich has it; plain before it is measured, so that columns keep their width."""
        return super().render_str(plain(text), **options)


stdout = Terminal(highlight=False, emoji=False)
stderr = Terminal(stderr=True, highlight=False, emoji=False)


def failed(line: str) -> int:
    """One line on stderr; gives the exit code."""
    print(f"duologue: {shown(line)}", file=sys.stderr)
    return BAD_INPUT


def crashed(error: Exception) -> int:
    """Report a bug, and return the exit code.

    The traceback goes to a file, which the line on stderr names.
    """
    from ..nodes.settings.redaction import error_line, redacted

    trace = "".join(format_exception(error))
    with NamedTemporaryFile("w", prefix="duologue-", suffix=".log", delete=False, encoding="utf-8") as file:
        file.write(redacted(trace))
    print(
        f"duologue: a bug, not your input: {plain(error_line(error)[:200])}: please report it with the traceback in {file.name}",
        file=sys.stderr,
    )
    return BUG


SKIPS_BROKEN: ContextVar[bool] = ContextVar("whether sources are read without their broken lines", default=False)
"""Set anew by each command line, before its command."""


def skips_broken() -> bool:
    """Whether the command line asks for sources without their broken lines (`duologue --skip-broken`)."""
    return SKIPS_BROKEN.get()


def put(*lines: str, end: str = "\n") -> None:
    """Print lines of plain text on stdout.

    Every text from data goes to the terminal through this, `say`, or a table.
    """
    for line in lines:
        print(plain(line), end=end)


def say(*lines: str) -> None:
    """Print lines of plain text on stderr; brackets in them are text, not markup."""
    for line in lines:
        stderr.print(escape(shown(line)), soft_wrap=True)


def say_in_log(text: str) -> None:
    """Print a line of a run under way.

    Where stderr is not a terminal it begins with the time of day.
    """
    say(text if stderr.is_terminal else f"{strftime('%H:%M:%S')} {text}")


def shown(text: str) -> str:
    """A message for the terminal: plain, and without credentials of the models that were made."""
    redaction = sys.modules.get("duologue.nodes.settings.redaction")
    return plain(redaction.without_credentials(text) if redaction is not None else text)


def put_tables(tables: "Sequence[ResultTable]") -> None:
    """Tables of results, an empty line between them."""
    for number, table in enumerate(tables):
        if number:
            stdout.print()
        stdout.print(table.rich())


def print_json(value: Any) -> None:
    """The result as one JSON value on stdout, and nothing else there."""
    (_of_json or [sys.stdout])[-1].write(plain_json(dumps(value, indent=2)) + "\n")


@contextmanager
def json_alone() -> Iterator[None]:
    """Inside, what code of one's own prints goes to stderr, and only `print_json` writes on stdout.

    So does what processes print that it begins, and libraries in C.
    """
    with ExitStack() as stack:
        is_own = sys.stdout is sys.__stdout__ and None not in (sys.stdout, sys.stderr)  # which are None where closed
        _of_json.append(stack.enter_context(_moved_stdout()) if is_own else sys.stdout)
        stack.callback(_of_json.pop)
        stack.enter_context(redirect_stdout(sys.stderr))
        yield


@contextmanager
def _moved_stdout() -> Iterator[TextIO]:
    """Inside, the process' file 1 is stderr, and the yielded stream is what it was before."""
    sys.stdout.flush()
    with os.fdopen(os.dup(1), "w", encoding=sys.stdout.encoding, errors=sys.stdout.errors) as stream:
        os.dup2(2, 1)
        try:
            yield stream
        finally:
            os.dup2(stream.fileno(), 1)


@contextmanager
def streams_restored() -> Iterator[None]:
    """At the end stdout and stderr are those of the begin: `redirect_stdout` in two threads of agents leaves another."""
    begun = sys.stdout, sys.stderr
    try:
        yield
    finally:
        sys.stdout, sys.stderr = begun


def flush() -> None:
    """Write out what stdout still holds."""
    for stream in (sys.stdout, *_of_json):
        stream.flush()


_of_json: list[TextIO] = []
"""Where `print_json` writes inside `json_alone`."""


def counts_table(counts: Counts) -> Table:
    """Drafts of both sides by verdict and reason."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("")
    for side in counts.sides:
        table.add_column(side.role, justify="right")
    rows = ("messages", "drafts", "rejected", "observed", "refused", "fallbacks")
    rare = [
        row
        for row in ("tool_calls", "failed_calls", "judging_tokens")
        if any(getattr(side, row) for side in counts.sides)
    ]
    for row in (*rows, *rare):
        table.add_row(row, *(str(getattr(side, row)) for side in counts.sides))
    for title, group in (("part", "parts"), ("reason", "reasons"), ("counted", "notes"), ("called again", "retried")):
        names = dict.fromkeys(name for side in counts.sides for name in getattr(side, group))
        for name in names:
            table.add_row(
                escape(f"{title}: {name}"), *(str(getattr(side, group).get(name, 0)) for side in counts.sides)
            )
    return table
