"""`duologue recllmsim tasks`: the tasks of simulated users, with their contexts."""

from pathlib import Path
from typing import Annotated

import typer

from ...data.recllmsim import chosen_tasks, read_tasks, shipped_tasks
from ...data.text.languages import Language
from ..options.shared import json_of, language_of, option
from ..streams import print_json, put


def tasks_command(
    source: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="A workbook or YAML file of tasks. Default: the tasks that are shipped."),
    ] = None,
    names: Annotated[
        list[str] | None, option("Take only these tasks; may be repeated.", "--task", metavar="NAME,...")
    ] = None,
    language: Annotated[Language, language_of("the shipped tasks.")] = "en",
    as_json: Annotated[bool, json_of("an object, each task with the list of its contexts")] = False,
) -> int:
    """Print the tasks of simulated users, with their contexts."""
    contexts_of = chosen_tasks(read_tasks(source) if source else shipped_tasks(language), names)
    if as_json:
        print_json(contexts_of)
        return 0
    for name, contexts in contexts_of.items():
        put(f"{name} ({len(contexts)})")
        for number, context in enumerate(contexts):
            put(f"  {number}: {' '.join(context.split())}")
    return 0
