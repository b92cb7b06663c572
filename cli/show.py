"""`duologue show`: a conversation as a page."""

from pathlib import Path
from typing import Annotated

import typer

from ..data import DataError, load
from ..data.jsonfiles import write_text


def show(
    source: Annotated[
        Path, typer.Argument(metavar="SRC", help="A run folder, a data set's file or a folder of such files.")
    ],
    name: Annotated[
        str | None, typer.Option("--id", help="Id of the conversation, or its beginning. Default: the first.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The page to write. Default: ID.html in the working folder.")] = None,
) -> int:
    """Write a conversation as one HTML page, without script or network: section, spans, dialogue, drafts."""
    from ..views import conversation_page

    loaded = load(source)
    found = [conversation for conversation in loaded if name is None or conversation.id.startswith(name)]
    if not found:
        raise DataError(f"{source}: has no conversation {name!r}" if name else f"{source}: holds no conversation")
    if name is not None and len(found) > 1:
        raise DataError(f"{source}: {len(found)} conversations begin with {name!r}: give more of the id")
    target = out or Path(f"{found[0].id}.html")
    write_text(target, conversation_page(found[0]))
    print(target)
    return 0
