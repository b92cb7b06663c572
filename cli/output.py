"""What commands print: results on stdout, everything else on stderr, JSON alone and unrounded."""

import sys
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..data.jsonfiles import dumps
from ..data.tally import Tally

BAD_INPUT = 2
"""Exit code of a command that could not begin."""

stdout = Console(highlight=False)
stderr = Console(stderr=True, highlight=False)


def failed(line: str) -> int:
    """One line on stderr; gives the exit code."""
    print(f"duologue: {line}", file=sys.stderr)
    return BAD_INPUT


def say(text: str) -> None:
    """A line of plain text for the reader, on stderr; what looks like markup is text."""
    stderr.print(escape(text), soft_wrap=True)


def print_json(value: Any) -> None:
    """The result as one JSON value, alone on stdout."""
    sys.stdout.write(dumps(value, indent=2) + "\n")


def tally_table(counts: Tally) -> Table:
    """Drafts of both sides by verdict and reason."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("")
    for side in counts.sides:
        table.add_column(side.role, justify="right")
    rows = ("messages", "drafts", "rejected", "observed", "refused", "fallbacks")
    for row in rows:
        table.add_row(row, *(str(getattr(side, row)) for side in counts.sides))
    for title, group in (("reason", "reasons"), ("counted", "notes")):
        names = dict.fromkeys(name for side in counts.sides for name in getattr(side, group))
        for name in names:
            table.add_row(
                escape(f"{title}: {name}"), *(str(getattr(side, group).get(name, 0)) for side in counts.sides)
            )
    return table
