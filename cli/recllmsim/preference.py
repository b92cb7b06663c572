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
    without: Annotated[
        list[str] | None,
        option("Leave out a preference that its reason contradicts; may be repeated.", metavar="PERSON:ID"),
    ] = None,
    output: TableOutput = PRINTED,
) -> int:
    """Print which system people prefer in a side-by-side study.

    Wins by majority, agreement (Fleiss' kappa), and each reason beside its preference.
    """
    from ...studies.people_answers import study_preferences

    output.show(study_preferences(answers, study, without=without or ()))
    return 0
