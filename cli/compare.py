"""`duologue compare`: how far simulated users are from people."""

from pathlib import Path
from typing import Annotated

from ..data.files.paths import names_of
from ..data.loading import load
from ..data.people import MOST_DRAWN
from . import options
from .options import argument, option
from .printing import check_apart, print_json, put, say, stdout


def compare_command(
    sim: Annotated[Path, argument("SIM", "Simulated conversations: a run folder or a data set.")],
    people: Annotated[Path, argument("PEOPLE", "People's conversations: a data set of any format.")],
    reference: Annotated[list[Path] | None, option("People of another study, beside.", metavar="SRC")] = None,
    examples: Annotated[int, option("Messages that show a measure.", min=0, metavar="N")] = 0,
    language: options.LanguageOf = None,
    part: options.Part = "all",
    sample: Annotated[int, option("Most conversations of a side.", min=1, metavar="N")] = MOST_DRAWN,
    out: options.Out = None,
    as_json: options.Json = False,
) -> int:
    """Compare simulated users with people.

    How well a model tells them apart, and the effect of each measure beside that between halves of the people. --part is
    of PEOPLE; --out is a folder for report.html and report.json.
    """
    from ..studies.comparison import compare
    from ..views.realism import example_lines

    check_apart(out, sim, people)
    loaded = [load(path) for path in (sim, people, *(reference or ()))]
    say(*(f"{source.path}: {note}" for source in loaded for note in source.notes))
    report = compare(
        *loaded[:2],
        references=dict(zip(names_of(reference or []), loaded[2:], strict=True)),
        language=language,
        part=part,
        examples=examples,
        sample=sample,
        out=out,
    )
    if as_json:
        print_json(report.model_dump(mode="json"))
    else:
        stdout.print(report.table().rich())
        put(*example_lines(report))
    if out is not None:
        say(f"written: {out}")
    return int(any(source.broken for source in loaded))
