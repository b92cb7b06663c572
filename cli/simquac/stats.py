"""`duologue simquac stats`: the published tables about teacher-student conversations."""

from pathlib import Path
from typing import Annotated

import typer

from ...data import DataError
from ..output.sources import names_of_files
from ..output.tables import PRINTED, FigureOutput, read_source
from ..streams import say
from .sections import no_section


def stats_command(
    sources: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Data sets or runs of teacher-student conversations.")
    ],
    output: FigureOutput = PRINTED,
) -> int:
    """Print the published tables, and tests between files.

    Answers, coverage of the section, flow and questions of each file, and tests between each pair of files.
    """
    from ...analysis.simquac import simquac_statistics
    from ...analysis.simquac.figures import simquac_figures

    by_name = {name: read_source(path) for name, path in zip(names_of_files(sources), sources, strict=True)}
    lacking = {name: line for name, loaded in by_name.items() if (line := no_section(loaded, "simquac stats"))}
    if len(lacking) == len(by_name):
        raise DataError(next(iter(lacking.values())))
    for line in lacking.values():
        say(f"left out: {line}")
    statistics = simquac_statistics({name: loaded for name, loaded in by_name.items() if name not in lacking})
    if output.figures is not None:
        output.draw(simquac_figures(statistics), output.figures)
    output.show(statistics)
    return 0
