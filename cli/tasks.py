"""`duologue tasks`: the contexts that templates make."""

from pathlib import Path
from typing import Annotated

import typer

from ..data.recllmsim import chosen_tasks, read_tasks, shipped_tasks
from ..data.text.languages import Language
from .output import print_json


def tasks(
    source: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="A workbook or YAML file of tasks. Default: the tasks that are shipped."),
    ] = None,
    names: Annotated[
        list[str] | None, typer.Option("--task", help="Only this task; may be given several times.")
    ] = None,
    language: Annotated[Language, typer.Option(help="Language of the shipped tasks.")] = "en",
    as_json: Annotated[
        bool, typer.Option("--json", help="Print an object on stdout: each task with the list of its contexts.")
    ] = False,
) -> int:
    """Print every task context, with the number that files have as its id."""
    found = chosen_tasks(read_tasks(source) if source else shipped_tasks(language), names)
    if as_json:
        print_json(found)
        return 0
    for name, contexts in found.items():
        print(f"{name} ({len(contexts)})")
        for number, context in enumerate(contexts):
            print(f"  {number}: {' '.join(context.split())}")
    return 0
