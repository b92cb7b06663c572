"""`duologue validators`: the same answers through the published script's rules and through ours."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from ..data import load
from .output import print_json, stdout


def validators(
    source: Annotated[
        Path, typer.Argument(metavar="FILE", help="teacher_sim_topics.txt, a data set, or a run with its drafts.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print the rows as JSON on stdout.")] = False,
) -> int:
    """Count what each validator accepts, alters and loses of the answers of a file."""
    from ..analysis import ValidatorRow, compare_validators

    rows = compare_validators(load(source))
    if as_json:
        print_json([row.model_dump(mode="json") for row in rows])
        return 0
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("")
    for row in rows:
        table.add_column(row.validator, justify="right")
    for field in ValidatorRow.model_fields:
        if field != "validator":
            table.add_row(field.replace("_", " "), *(str(getattr(row, field)) for row in rows))
    stdout.print(table)
    return 0
