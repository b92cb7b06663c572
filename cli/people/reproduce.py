"""`duologue reproduce`: printed figures, measured again."""

from pathlib import Path
from typing import Annotated

import typer

from ...errors import SettingError
from ..options.shared import option
from ..output.tables import PRINTED, TableOutput
from ..streams import put, say


def reproduce_command(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="A claim. Default: list them.")] = None,
    data: Annotated[
        Path | None, typer.Argument(metavar="[DATA]", help="The folder of the published data, as downloaded.")
    ] = None,
    over_seeds: Annotated[int, option("Measure with N seeds, from 0 on, and print each figure's range.", min=1)] = 1,
    output: TableOutput = PRINTED,
) -> int:
    """Measure the figures of a page again.

    Prints for each figure of README and of a page whether it is as printed, or its difference. Exit code 0: all are as
    printed; 1: a figure differs.
    """
    from ...studies.reproduction.claims import CLAIMS, listed, reproduce

    output.check()
    if name is None:
        table = listed()
        rows = [dict(zip(("name", "minutes", "what", "pages"), row, strict=True)) for row in table.rows]
        output.give(rows, [table.narrow() if output.form == "text" else table])
        return 0
    if name in CLAIMS and data is None:
        raise SettingError(f"reproduce {name}: give the folder of the published data: duologue reproduce {name} DATA")
    if name in CLAIMS:
        minutes = over_seeds * CLAIMS[name].minutes
        say(f"measures {name}, about {minutes} minute{'s' * (minutes > 1)} on two cores")
    report = reproduce(name, data or Path(), over_seeds)
    output.show(report)
    if output.form == "text" and not output.json and output.out is None:
        as_printed = len(report.figures) - report.differing
        put(f"{as_printed} of {len(report.figures)} figures are as printed.")
    return int(report.differing > 0)
