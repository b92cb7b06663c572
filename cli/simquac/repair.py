"""`duologue simquac repair`: the known errors of a published file, repaired."""

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from ...data import DataError
from ...data import simquac as simquac_format
from ...data.files.json import write_lines
from ...data.simquac import repair as mend
from ..options.shared import force_for, json_of, out_to
from ..output.overwriting import check_free
from ..streams import print_json, put, say


def repair_command(
    source: Annotated[Path, typer.Argument(metavar="FILE", help="A SimQuAC file with answers of a model.")],
    out: Annotated[Path, out_to("this file; the list of changes goes to FILE.changes.jsonl beside it.", "FILE")],
    force: Annotated[bool, force_for("those of --out; and repair people's answers too")] = False,
    as_json: Annotated[bool, json_of("counts of the changes")] = False,
) -> int:
    """Restore lost first words of answers.

    It also corrects upper and lower case, and the offset of answers, by their section. An answer that begins at the
    second word of a sentence is taken to have lost its first word. This is meant for answers of a model. People
    sometimes begin there on purpose, so files of people's answers need --force.
    """
    list_of_changes = Path(f"{out}.changes.jsonl")
    check_free(out, list_of_changes, force=force)
    sources = simquac_format.read(source)
    if not force and any(map(simquac_format.by_people, sources)):
        raise DataError(
            f"{source}: holds people's answers, and the repair would change correct ones too (21 of 446 in the open "
            "QuAC "
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
