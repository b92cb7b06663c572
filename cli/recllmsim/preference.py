"""`duologue recllmsim preference`: what people preferred in a side-by-side study."""

from pathlib import Path
from typing import Annotated

import typer

from ...data.labels.side_by_side import STUDY, Study
from ...errors import DataError
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
    from ...analysis.simquac.preference import SIDES, preferences
    from ...runs.labels.answers import answers_of

    if not answers.is_dir():
        raise DataError(f"{answers}: there is no such folder: give the folder of --answers")
    by_person = answers_of(answers)
    if not any(answer.label == STUDY for of_one in by_person.values() for answer in of_one):
        raise DataError(f"{answers}: holds no answers to a side-by-side study: give the folder of --answers")
    side_by_side = None if study is None else Study.of(study)
    names = SIDES if side_by_side is None else (side_by_side.first.name, side_by_side.second.name)
    report = preferences(by_person, names, without_contradictions=without_contradictions)
    output.show(report)
    return 0
