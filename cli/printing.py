"""What a command prints: its result on stdout, everything else on stderr, and JSON alone where it is asked for."""

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, redirect_stdout
from pathlib import Path
from time import strftime
from typing import TYPE_CHECKING, Any, Literal, TextIO, TypeAlias

from rich.console import Console, ConsoleOptions, RenderableType
from rich.markup import escape
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from ..data.files.json import dumps, write_text
from ..data.files.paths import check_replaceable
from ..data.summaries import Counts
from ..data.text.terminal import plain, plain_json
from ..errors import DataError, at

if TYPE_CHECKING:
    from ..analysis.tables import Table as ResultTable
    from ..analysis.tables import TabledReport

TableFormat: TypeAlias = Literal["text", "csv", "md", "json"]


class Terminal(Console):
    """A console that writes out what a terminal would obey, but for the styles that rich itself adds."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The segments, their texts plain."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=plain(segment.text))

    def render_str(self, text: str, **options: Any) -> Text:
        """The text as rich has it; plain before it is measured, so that columns keep their width."""
        return super().render_str(plain(text), **options)


stdout = Terminal(highlight=False, emoji=False)
stderr = Terminal(stderr=True, highlight=False, emoji=False)


def shown(text: str) -> str:
    """A message for the terminal: plain, and without credentials of the models that were made."""
    redaction = sys.modules.get("duologue.nodes.settings.redaction")
    return plain(redaction.without_credentials(text) if redaction is not None else text)


def put(*lines: str, end: str = "\n") -> None:
    """Print lines of plain text on stdout."""
    for line in lines:
        print(plain(line), end=end)


def say(*lines: str) -> None:
    """Print lines of plain text on stderr; brackets in them are text, not markup."""
    for line in lines:
        stderr.print(escape(shown(line)), soft_wrap=True)


def say_in_log(text: str) -> None:
    """Print a line of a run under way; where stderr is not a terminal it begins with the time of day."""
    say(text if stderr.is_terminal else f"{strftime('%H:%M:%S')} {text}")


# JSON


_result: list[TextIO] = []
"""Where `print_json` writes inside `json_alone`."""


def print_json(value: Any) -> None:
    """The result as one JSON value on stdout, numbers unrounded."""
    (_result or [sys.stdout])[-1].write(plain_json(dumps(value, indent=2)) + "\n")


@contextmanager
def json_alone() -> Iterator[None]:
    """Inside, only `print_json` writes on stdout: what others print goes to stderr, processes and libraries in C too."""
    with ExitStack() as stack:
        is_own = sys.stdout is sys.__stdout__ and None not in (sys.stdout, sys.stderr)  # which are None where closed
        _result.append(stack.enter_context(_moved_stdout()) if is_own else sys.stdout)
        stack.callback(_result.pop)
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
    for stream in (sys.stdout, *_result):
        stream.flush()


# Tables


def put_tables(tables: "Sequence[ResultTable]") -> None:
    """Tables of results, an empty line between them."""
    for number, table in enumerate(tables):
        if number:
            stdout.print()
        stdout.print(table.rich())


def give(report: "TabledReport", form: TableFormat, out: Path | None, as_json: bool) -> None:
    """Print a report in this form, or write it to a new file: as text its narrow tables, else all columns."""
    is_json = as_json or form == "json"
    if is_json and out is None:
        print_json(report.to_json())
        return
    if form == "text" and out is None:
        put_tables(report.narrow())
        return
    if is_json:
        text = dumps(report.to_json(), indent=2) + "\n"
    else:
        tables = report.tables()
        titled = form == "csv" and len(tables) > 1
        texts = (
            (f"# {table.title}\n" if titled else "") + (table.to_csv() if form == "csv" else table.to_markdown())
            for table in tables
        )
        text = "\n".join(texts)
    if out is None:
        put(text, end="")
        return
    check_free(out)
    write_text(out, text)
    say(f"written: {out}")


def counts_table(counts: Counts) -> Table:
    """Drafts of both sides by verdict and reason."""
    table = plain_table("", *(side.role for side in counts.sides))
    rows = ("messages", "drafts", "rejected", "observed", "refused", "fallbacks")
    rare = ("tool_calls", "failed_calls", "judging_tokens")
    for row in (*rows, *(row for row in rare if any(getattr(side, row) for side in counts.sides))):
        table.add_row(row, *(str(getattr(side, row)) for side in counts.sides))
    for title, group in (("part", "parts"), ("reason", "reasons"), ("counted", "notes"), ("called again", "retried")):
        for name in dict.fromkeys(name for side in counts.sides for name in getattr(side, group)):
            numbers = (str(getattr(side, group).get(name, 0)) for side in counts.sides)
            table.add_row(escape(f"{title}: {name}"), *numbers)
    return table


def plain_table(first: str, *numbers: str) -> Table:
    """An empty table without lines: a column of texts, then columns of numbers."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(first)
    for name in numbers:
        table.add_column(name, justify="right")
    return table


# Files


def check_free(*files: Path | None) -> None:
    """DataError for a file that exists: no command writes over one."""
    for file in files:
        if file is not None:
            check_replaceable(file)
            if file.exists() or file.is_symlink():
                raise DataError(f"{at(file)}: exists: choose another place, or delete it")


def check_apart(out: Path | None, *sources: object) -> None:
    """DataError for an `out` that is a source, or lies in a folder that is read as a whole."""
    for source in sources:
        if out is None or not isinstance(source, str | Path) or not Path(source).exists():
            continue
        place, read = Path(os.path.realpath(out)), Path(source).resolve()
        if place == read or (read in place.parents and read.is_dir()):
            raise DataError(f"{at(out)}: is in {source}, which is read: choose another place")
