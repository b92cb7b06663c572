"""`duologue convert`: any data set that can be read, in another format."""

from pathlib import Path
from typing import Annotated

import typer

from ..data import DataError, domains, load
from ..data.formats import messages, sharegpt
from ..data.users import with_user
from ..errors import SettingError
from .output import print_json, put, say
from .overwriting import check_free

GENERAL = (messages.FORMAT.name, sharegpt.FORMAT.name)
"""Formats of no domain, whose lines name the user."""


def convert(
    source: Annotated[
        Path, typer.Argument(metavar="SRC", help="A run folder, a data set's file or a folder of such files.")
    ],
    target: Annotated[Path, typer.Argument(metavar="DST", help="The file to write; for recllmsim the folder.")],
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="FORMAT",
            help="simquac: JSON in the form of SQuAD; squad_v2, quac: JSON lines that Hugging Face's datasets loads, a question or a conversation each; recllmsim: a folder with a JSON file for each conversation; sharegpt: JSON with from and value (JSON lines if DST ends with .jsonl); messages: JSON lines with role and content, as OpenAI has them; replay: whole records, which --user and --assistant replay:FILE play again; or a format of an installed package.",
        ),
    ],
    force: Annotated[bool, typer.Option("--force", help="Replace DST if it exists.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was done as JSON on stdout.")] = False,
) -> int:
    """Write conversations in another format, and list what that format cannot hold."""
    writers = domains.targets()
    if to not in writers:
        raise SettingError(f"--to: {to!r} is no format to write: give {', '.join(writers)}")
    check_free(target, force=force)
    loaded = load(source, stream=True)
    try:
        named = (with_user(each, to) for each in loaded) if to in GENERAL else loaded
        left_out = writers[to](named, target)
    except ValueError as error:
        raise DataError(f"{source}: cannot be written as {to}: {error}") from None
    notes = [*loaded.notes, *_origins(source, target)]
    for line in (*notes, *(f"left out: {line}" for line in left_out)):
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
                "notes": notes,
                "broken": list(loaded.broken),
                "left_out": left_out,
            }
        )
    else:
        put(f"{len(loaded)} conversations written to {target}")
    return 1 if loaded.broken else 0


def _origins(source: Path, target: Path) -> list[str]:
    """A folder keeps which labels annotators wrote; of a file, which cannot, a line says which they are."""
    from ..runs.label_origins import annotated_keys, carry_votes

    if target.is_dir():
        carry_votes(source, target)
        return []
    keys = ", ".join(sorted(annotated_keys(source)))
    return [f"{target} does not tell that duologue annotate wrote {keys}: keep it apart from people's"] if keys else []
