"""`duologue stats preference`: what people preferred in a side-by-side study."""

from pathlib import Path
from typing import Annotated

import typer

from ..data.side_by_side import STUDY, Study
from ..errors import DataError
from .tables import AsJson, Force, Form, Out, give


def preference(
    answers: Annotated[
        Path, typer.Argument(metavar="LABELS", help="The folder of the answers of `duologue label --study`.")
    ],
    study: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The study's file, for the names of its sides.")
    ] = None,
    without_contradictions: Annotated[
        bool,
        typer.Option(
            "--without-contradictions", help="Leave out preferences for the side that the same person found worse."
        ),
    ] = False,
    as_json: AsJson = False,
    form: Form = "rich",
    out: Out = None,
    force: Force = False,
) -> int:
    """Which side people find better: wins by majority, agreement (Fleiss' kappa), contradictions."""
    from ..analysis.preference import SIDES, preferences
    from ..runs.answers import answers_of

    if not answers.is_dir():
        raise DataError(f"{answers}: there is no such folder: give the folder of --answers")
    given = answers_of(answers)
    if not any(answer.label == STUDY for of_one in given.values() for answer in of_one):
        raise DataError(f"{answers}: holds no answers to a side-by-side study: give the folder of --answers")
    told = None if study is None else Study.of(study)
    names = SIDES if told is None else (told.first.name, told.second.name)
    found = preferences(given, names, without_contradictions=without_contradictions)
    give(found.model_dump(mode="json"), found.tables(), as_json=as_json, form=form, out=out, force=force)
    return 0
