"""`duologue simquac validators`: two validators on the same answers."""

from pathlib import Path
from typing import Annotated

import typer

from ..output.tables import PRINTED, TableOutput, read_source


def validators_command(
    source: Annotated[
        Path, typer.Argument(metavar="FILE", help="teacher_sim_topics.txt, a data set, or a run with its drafts.")
    ],
    output: TableOutput = PRINTED,
) -> int:
    """Compare the published validator with ours.

    Applies both to the same answers, and counts what each accepts and changes.
    """
    from ...analysis import Table, compare_validators

    rows = compare_validators(read_source(source))
    table = Table.across("The same answers through two validators", rows)
    output.give([row.model_dump(mode="json") for row in rows], [table])
    return 0
