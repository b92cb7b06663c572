"""`duologue repair FORMAT`: correct known errors in published data sets."""

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from ..data import DataError
from ..data import simquac as simquac_format
from ..data.formats.jsonfiles import write_lines
from ..data.simquac.repair import repair as mend
from .output import print_json, put, say
from .overwriting import check_free

repair = typer.Typer(help="Correct known errors in published data sets.", no_args_is_help=True)


@repair.callback()
def formats() -> None:
    """Correct known errors in published data sets."""


@repair.command("simquac")
def simquac(
    source: Annotated[Path, typer.Argument(metavar="FILE", help="A SimQuAC file with answers of a model.")],
    out: Annotated[
        Path, typer.Option(help="The file to write; the list of changes goes to FILE.changes.jsonl beside it.")
    ],
    force: Annotated[
        bool, typer.Option("--force", help="Replace the file if it exists, and repair people's answers too.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was done as JSON on stdout.")] = False,
) -> int:
    """Restore the lost first word, upper and lower case, and the offset of answers, by looking at their section.

    An answer that begins at the second word of a sentence is taken to have lost its first word. This is meant for
    answers of a model. People sometimes begin there on purpose, so files of people's answers need --force.
    """
    list_of_changes = out.with_name(f"{out.name}.changes.jsonl")
    check_free(out, list_of_changes, force=force)
    sources = simquac_format.read(source)
    if not force and any(map(simquac_format.by_people, sources)):
        raise DataError(
            f"{source}: holds people's answers, and the repair would change correct ones too (21 of 446 in the open QuAC "
            "file): give a file of a model's answers, or --force to repair these all the same"
        )
    conversations, changes = mend(sources)
    left_out = simquac_format.write(conversations, out)
    write_lines(list_of_changes, (change.model_dump(mode="json") for change in changes))
    counts = Counter(change.kind for change in changes)
    spans = sum(len(message.spans) for conversation in conversations for message in conversation.messages)
    if as_json:
        print_json(
            {
                "source": str(source),
                "out": str(out),
                "changes": str(list_of_changes),
                "spans": spans,
                "changed": {kind: counts[kind] for kind in ("first_word", "case", "offset")},
                "left_out": left_out,
            }
        )
    else:
        for line in left_out:
            say(f"left out: {line}")
        by_kind = ", ".join(f"{kind.replace('_', ' ')} {count}" for kind, count in counts.most_common()) or "nothing"
        put(f"{spans} spans, mended: {by_kind}")
        put(f"data set: {out}")
        put(f"changes:  {list_of_changes}")
    return 0
