"""`duologue compare`: how far simulated users are from people."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from ..data import load
from ..data.text.languages import Language
from .output import print_json, say, stdout


def compare(
    sim: Annotated[Path, typer.Argument(metavar="SIM", help="Simulated conversations: a run folder or a data set.")],
    human: Annotated[Path, typer.Argument(metavar="HUMAN", help="People's conversations: a data set of any format.")],
    out: Annotated[
        Path | None, typer.Option(help="Folder for report.html, report.json, card.html and card.json.")
    ] = None,
    published: Annotated[
        Path | None,
        typer.Option(metavar="SRC", help="Simulated conversations of an earlier study, shown in further columns."),
    ] = None,
    language: Annotated[
        Language | None,
        typer.Option(help="Language of the conversations to compare. Default: one that both sides have."),
    ] = None,
    part: Annotated[
        Literal["tune", "test", "all"],
        typer.Option(
            help="Which people to compare with: those kept for tuning, those kept for testing, or all. The split never changes."
        ),
    ] = "all",
    seed: Annotated[int, typer.Option(help="Seed of all random draws.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON on stdout.")] = False,
) -> int:
    """Compare simulated users with people, measure by measure: how far apart they are, and how far people are from
    other people."""
    from ..analysis.realism import compare as compared
    from ..views.realism import write

    sources = [load(path) for path in (sim, human, *([published] if published is not None else []))]
    for loaded in sources:
        for note in loaded.notes:
            say(f"{loaded.path}: {note}")
    report = compared(*(loaded.conversations for loaded in sources), language=language, part=part, seed=seed)
    written = write(report, out, name=sim.name, against=human.name) if out is not None else []
    if as_json:
        print_json(report.model_dump(mode="json"))
    else:
        stdout.print(report.table().rich())
        auc, floor = report.discriminator.auc, report.discriminator.floor
        for title, interval in (("Told apart by the measures alone (AUC)", auc), ("People from people", floor)):
            bounded = interval.low is not None and interval.high is not None
            bounds = f", {interval.low:.2f} to {interval.high:.2f}" if bounded else ""
            stdout.print(f"{title}: {interval.reason if interval.value is None else f'{interval.value:.2f}{bounds}'}")
        stdout.print("One number is not realism, and realism is not usefulness as a tester: read the measures.")
    if written:
        say(f"written: {', '.join(str(path) for path in written)}")
    return 1 if any(loaded.broken for loaded in sources) else 0
