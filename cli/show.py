"""`duologue show`: a conversation, a run or two data sets side by side as a page."""

from pathlib import Path
from typing import Annotated

import typer

from ..data import DataError, Loaded, load
from ..data.formats import record_lines
from ..data.formats.jsonfiles import write_text
from .output import print_json, say


def show(
    source: Annotated[
        Path, typer.Argument(metavar="SRC", help="A run folder, a data set's file or a folder of such files.")
    ],
    name: Annotated[
        str | None, typer.Option("--id", help="Show one conversation alone: its id, or the beginning of it.")
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option(metavar="SRC2", help="Another run or data set, for a page of both side by side, by topic."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="FILE.html, or a folder for its index.html. Default: the source's name with .html in the working folder."
        ),
    ] = None,
    in_one_file: Annotated[
        int, typer.Option(min=0, help="Most conversations of one file; beyond, a folder with a page for each.")
    ] = 1_000,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was written as JSON on stdout.")] = False,
) -> int:
    """Write a run or a data set as one HTML page without network: figures, the graph that ran, every conversation."""
    from .. import views

    if name is not None and against is not None:
        raise DataError("--id shows one conversation and --against two sets: give one of the two")
    loaded = load(source)
    cut = tuple(record_lines.cut_short(source)) if loaded.kind == "run" and against is None else ()
    shown, notes, broken = (*loaded, *cut), list(loaded.notes), list(loaded.broken)
    if cut:
        notes.append(
            f"{len(cut)} of {len(shown)} conversations were cut short: they stand last, with their stop reason"
        )
    if not shown:
        raise DataError(f"{source}: holds no conversation")
    if name is not None:
        found = [conversation for conversation in shown if conversation.id.startswith(name)]
        if not found:
            raise DataError(f"{source}: has no conversation {name!r}")
        if len(found) > 1 and len({conversation.id for conversation in found}) > 1:
            raise DataError(f"{source}: {len(found)} conversations begin with {name!r}: give more of the id")
        target = _target(out, found[0].id, source)
        write_text(target, views.conversation_page(found[0]))
    elif against is not None:
        other = load(against)
        if not len(other):
            raise DataError(f"{against}: holds no conversation")
        notes, broken = notes + list(other.notes), broken + list(other.broken)
        names = _name(loaded), _name(other)
        target = _target(out, f"{names[0]}-{names[1]}", source, against)
        write_text(target, views.against_page(loaded.conversations, other.conversations, names))
    else:
        wanted = _target(out, _name(loaded), source)
        target = views.write_run(shown, wanted, _name(loaded), manifest=loaded.manifest, in_one_file=in_one_file)
    if as_json:
        count = len(shown) if name is None else 1
        print_json(
            {"source": str(source), "target": str(target), "conversations": count} | {"notes": notes, "broken": broken}
        )
    else:
        for note in notes:
            say(note)
        print(target)
    return 1 if broken else 0


def _name(loaded: Loaded) -> str:
    """What the source is called, without its ending."""
    path = loaded.path.resolve()
    return path.name if path.is_dir() else path.stem


def _target(out: Path | None, name: str, *sources: Path) -> Path:
    """The file to write, which is none of those that are read."""
    if out is None:
        kept = "".join(character if character.isalnum() or character in "-_." else "_" for character in name)
        out = Path(f"{kept.lstrip('.')[:100] or 'conversation'}.html")
    target = out if out.suffix == ".html" and not out.is_dir() else out / "index.html"
    if any(target.resolve() == source.resolve() for source in sources):
        raise DataError(f"{out}: is what is to be shown: give another place with --out")
    return target
