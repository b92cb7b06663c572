"""`duologue convert`: any data set that can be read, in another format."""

from pathlib import Path
from typing import Annotated

import typer

from ..data import DataError, domains, load
from ..errors import SettingError
from .output import print_json, say


def convert(
    source: Annotated[
        Path, typer.Argument(metavar="SRC", help="A run folder, a data set's file or a folder of such files.")
    ],
    target: Annotated[Path, typer.Argument(metavar="DST", help="The file to write; of recllmsim the folder.")],
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="FORMAT",
            help="simquac: SQuAD-style JSON; recllmsim: a folder with a JSON file for each conversation; sharegpt: JSON (or, by the name, JSON lines) of from and value; messages: JSON lines of role and content; replay: whole records, for replay:FILE; or what an installed domain writes.",
        ),
    ],
    force: Annotated[bool, typer.Option("--force", help="Replace DST if it exists.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was done as JSON on stdout.")] = False,
) -> int:
    """Write conversations in another format, and say what it cannot hold."""
    writers = domains.targets()
    if to not in writers:
        raise SettingError(f"--to: {to!r} is no format to write: give {', '.join(writers)}")
    if target.exists() and not force:
        raise DataError(f"{target}: exists: give --force to replace it, or another file")
    loaded = load(source)
    try:
        left_out = writers[to](loaded, target)
    except ValueError as error:
        raise DataError(f"{source}: cannot be written as {to}: {error}") from None
    for line in (*loaded.notes, *(f"left out: {line}" for line in left_out)):
        if not as_json:
            say(line)
    if as_json:
        print_json(
            {
                "source": str(source),
                "kind": loaded.kind,
                "target": str(target),
                "to": to,
                "conversations": len(loaded),
                "notes": list(loaded.notes),
                "broken": list(loaded.broken),
                "left_out": left_out,
            }
        )
    else:
        print(f"{len(loaded)} conversations written to {target}")
    return 1 if loaded.broken else 0
