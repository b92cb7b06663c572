"""`duologue convert`: any data set that can be read, in another format."""

from pathlib import Path
from typing import Annotated

import typer

from ..data import DataError, Loaded, domains
from ..data.formats import messages, sharegpt
from ..data.people.splits import with_user
from ..errors import SettingError
from .options import completions
from .options.shared import AnySource, force_for, json_of, option
from .output.overwriting import check_free
from .output.tables import read_source
from .streams import print_json, put, say

GENERAL = (messages.FORMAT.name, sharegpt.FORMAT.name)
"""Formats of no domain, whose lines name the user."""


def convert_command(
    source: AnySource,
    target: Annotated[Path, typer.Argument(metavar="DST", help="The file to write; for recllmsim the folder.")],
    to: Annotated[
        str,
        option(
            "Write this format. simquac: JSON in the form of SQuAD; squad_v2, quac: JSON lines that Hugging Face's datasets loads, a question or a conversation each; recllmsim: a folder with a JSON file for each conversation; sharegpt: JSON with from and value (JSON lines if DST ends with .jsonl); messages: JSON lines with role and content, as OpenAI has them; replay: whole records, which --user and --assistant replay:FILE replay; or a format of an installed package.",
            "--to",
            metavar="FORMAT",
            autocompletion=completions.formats,
        ),
    ],
    force: Annotated[bool, force_for("DST")] = False,
    as_json: Annotated[bool, json_of("counts and notes")] = False,
) -> int:
    """Write conversations in another format.

    What that format cannot hold is listed.
    """
    writers = domains.targets()
    if to not in writers:
        raise SettingError(f"--to: {to!r} is not a format to write: give {', '.join(writers)}")
    check_free(target, force=force)
    loaded = read_source(source, stream=True)
    try:
        named = (with_user(conversation, to) for conversation in loaded) if to in GENERAL else loaded
        left_out = writers[to](named, target)
    except ValueError as error:
        raise DataError(f"{source}: cannot be written as {to}: {error}") from None
    notes = [*loaded.notes, *_origins(loaded, target)]
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


def _origins(loaded: Loaded, target: Path) -> list[str]:
    """A line for a file, which cannot keep what annotators wrote; none for a folder, which can."""
    from ..runs.labels.origins import carry_votes

    if target.is_dir():
        carry_votes(loaded.path, target)
        return []
    keys = ", ".join(sorted(loaded.annotated))
    return (
        [f"{target} does not record that duologue annotate wrote {keys}: keep it apart from people's"] if keys else []
    )
