"""`duologue simquac teacher`: a teacher's answers compared with people's."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from ...data import DataError
from ..options.shared import option, people_from
from ..output.tables import PRINTED, FigureOutput, read_source
from .sections import no_section


def teacher_command(
    source: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="teacher_sim_topics.txt, or a run of a teacher on people's questions."),
    ],
    people: Annotated[
        Path | None, people_from("a file with their answers; teacher_sim_topics.txt has them itself")
    ] = None,
    overlap: Annotated[
        Literal["ours", "published"],
        option(
            "Define overlap of two answers (the paper's Table 3). ours: one contains the other, or a line of it; published: a line of the model's answer contains people's or lies in it, as the paper counts."
        ),
    ] = "ours",
    output: FigureOutput = PRINTED,
) -> int:
    """Compare a teacher's answers with people's.

    Overlap, F1 and HEQ, lengths, valid answers by attempt.
    """
    from ...analysis.simquac import teacher_statistics
    from ...analysis.simquac.figures import teacher_figures

    loaded, references = read_source(source), None if people is None else read_source(people)
    if line := no_section(loaded, "simquac teacher"):
        raise DataError(line)
    statistics = teacher_statistics(source.name or str(source), loaded, references, overlap)
    if output.figures is not None:
        output.draw(teacher_figures(statistics), output.figures)
    output.show(statistics)
    return 0
