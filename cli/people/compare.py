"""`duologue compare`: how far simulated users are from people."""

from pathlib import Path
from typing import Annotated

import typer

from ...data.files.paths import names_of
from ...data.people import UserPart
from ...data.text.languages import Language
from ...studies.comparison import compare
from ...studies.sources import MOST_DRAWN
from ..options.sections import OUTPUT
from ..options.shared import Draw, json_of, language_of, option, out_to, part_of
from ..output.overwriting import check_free
from ..output.sources import say_notes
from ..output.tables import Force, read_source
from ..streams import print_json, put, say, stdout


def compare_command(
    sim: Annotated[Path, typer.Argument(metavar="SIM", help="Simulated conversations: a run folder or a data set.")],
    people: Annotated[Path, typer.Argument(metavar="PEOPLE", help="People's conversations: a data set of any format.")],
    out: Annotated[Path | None, out_to("this folder: report.html and report.json.")] = None,
    reference: Annotated[
        list[Path] | None,
        option("Show how far these people of another study are from PEOPLE; may be repeated.", metavar="SRC"),
    ] = None,
    examples: Annotated[
        int, option("Show N messages of each side for a measure that differs.", metavar="N", min=0)
    ] = 0,
    language: Annotated[
        Language | None, language_of("the conversations to compare. Default: one that both sides have.")
    ] = None,
    part: Annotated[UserPart, part_of("of PEOPLE")] = "all",
    sample: Draw = MOST_DRAWN,
    force: Force = False,
    as_json: Annotated[bool, json_of("the report", section=OUTPUT)] = False,
) -> int:
    """Compare simulated users with people.

    How well a model tells them apart, and the effect of each measure beside that between halves of the people.
    """
    from ...views.realism import FILES, example_lines

    written = [] if out is None else [out / name for name in FILES]
    check_free(*written, force=force)
    further = reference or []
    loaded = [read_source(path) for path in (sim, people, *further)]
    say_notes(*loaded, named=True)
    report = compare(
        *loaded[:2],
        references=dict(zip(names_of(further), loaded[2:], strict=True)),
        language=language,
        part=part,
        examples=examples,
        sample=sample,
        out=out,
        notify=say,
    )
    if as_json:
        print_json(report.model_dump(mode="json"))
    else:
        stdout.print(report.table().rich())
        put(*example_lines(report))
    if written:
        say(f"written: {', '.join(str(path) for path in written)}")
    return 1 if any(source.broken for source in loaded) else 0
