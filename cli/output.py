"""What commands print: results on stdout, everything else on stderr; JSON is alone on stdout and not rounded."""

import re
import sys
from tempfile import NamedTemporaryFile
from traceback import format_exception
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..data.counts import Counts
from ..data.formats.jsonfiles import dumps

BAD_INPUT = 2
"""Exit code of a command that could not begin."""
BUG = 70
"""Exit code of a command that failed because of a bug (EX_SOFTWARE of sysexits.h)."""

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")

stdout = Console(highlight=False)
stderr = Console(stderr=True, highlight=False)


def failed(line: str) -> int:
    """One line on stderr; gives the exit code."""
    print(f"duologue: {printable(line)}", file=sys.stderr)
    return BAD_INPUT


def crashed(error: Exception) -> int:
    """Report a bug: the traceback goes to a file, which the line on stderr names; gives the exit code."""
    from ..nodes.environment import error_line, redacted

    trace = "".join(format_exception(error))
    with NamedTemporaryFile("w", prefix="duologue-", suffix=".log", delete=False, encoding="utf-8") as file:
        file.write(redacted(trace))
    print(
        f"duologue: a bug, not your input: {printable(error_line(error)[:200])}: please report it with the traceback in {file.name}",
        file=sys.stderr,
    )
    return BUG


def say(text: str) -> None:
    """Print a line of plain text on stderr; brackets in it are text, not markup."""
    stderr.print(escape(printable(text)), soft_wrap=True)


def printable(text: str) -> str:
    r"""The text with each control character written out, such as `\x1b`: a terminal obeys them. Lines and tabs stay."""
    return _CONTROL.sub(lambda match: f"\\x{ord(match.group()):02x}", text)


def print_json(value: Any) -> None:
    """The result as one JSON value, alone on stdout."""
    sys.stdout.write(dumps(value, indent=2) + "\n")


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
    for title, group in (("part", "parts"), ("reason", "reasons"), ("counted", "notes")):
        names = dict.fromkeys(name for side in counts.sides for name in getattr(side, group))
        for name in names:
            table.add_row(
                escape(f"{title}: {name}"), *(str(getattr(side, group).get(name, 0)) for side in counts.sides)
            )
    return table
