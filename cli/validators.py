"""`duologue validators`: the same answers through the published script's rules and through ours."""

from pathlib import Path
from typing import Annotated

import typer

from ..data import load
from .tables import AsJson, Form, Out, give


def validators(
    source: Annotated[
        Path, typer.Argument(metavar="FILE", help="teacher_sim_topics.txt, a data set, or a run with its drafts.")
    ],
    as_json: AsJson = False,
    form: Form = "rich",
    out: Out = None,
) -> int:
    """Count what each validator accepts, alters and loses of the answers of a file."""
    from ..analysis import Table, compare_validators

    rows = compare_validators(load(source))
    table = Table.across("The same answers through two validators", rows)
    give([row.model_dump(mode="json") for row in rows], [table], as_json=as_json, form=form, out=out)
    return 0
