"""`duologue recllmsim preference`: what people preferred in a side-by-side study."""

from pathlib import Path
from typing import Annotated

import typer

from ..options.shared import option, study_of
from ..output.tables import PRINTED, TableOutput


def preference_command(
    answers: Annotated[
        Path, typer.Argument(metavar="ANSWERS", help="The folder of the answers of `duologue label --study`.")
    ],
    study: Annotated[Path | None, study_of(", for the names of its two systems")] = None,
    without_contradictions: Annotated[
        bool,
        option("Leave out preferences for the system that the same person found worse.", "--without-contradictions"),
    ] = False,
    output: TableOutput = PRINTED,
) -> int:
    """Print which system people prefer in a side-by-side study.

    Wins by majority, agreement (Fleiss' kappa), contradictions.
    """
    from ...studies.people_answers import study_preferences

    output.show(study_preferences(answers, study, without_contradictions=without_contradictions))
    return 0
