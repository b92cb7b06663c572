"""`duologue show`: conversations as a page; `duologue draw`: a graph as mermaid text."""

from collections.abc import Iterable, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Annotated

import typer

from ..data import Conversation, DataError, Loaded, kind_of, load
from ..data.formats import record_lines
from ..data.formats.detection import CONVERSATIONS
from ..data.formats.jsonfiles import write_text
from ..data.identity import digest
from ..errors import SettingError
from .output import print_json, put, say
from .overwriting import check_free

LISTED = 20_000
"""Most conversations in a list: a browser bears no more, and they are held while the pages are written."""


def show(
    source: Annotated[
        Path, typer.Argument(metavar="SRC", help="A run folder, a data set's file or a folder of such files.")
    ],
    name: Annotated[
        str | None,
        typer.Option("--id", help="Show only the conversation with this id; its first characters are enough."),
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option(
            metavar="SRC2", help="Another run or data set: the page shows both side by side, paired by topic."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="FILE.html, or a folder, in which index.html is written. Default: the name of SRC with .html, and after --id SRC-ID.html, in this folder."
        ),
    ] = None,
    in_one_file: Annotated[
        int,
        typer.Option(min=0, help="Up to N conversations go into one file; more go into a folder, a page for each."),
    ] = 1_000,
    first: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Show only the first N conversations; a list holds at most 20,000."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a page of another source.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was written as JSON on stdout.")] = False,
) -> int:
    """Write conversations as one HTML page that needs no network: their figures, how often each step of the graph ran,
    every conversation with its rejected drafts."""
    from .. import views
    from ..analysis.trust import Trusts
    from ..runs.label_origins import annotated_keys

    if name is not None and against is not None:
        raise DataError("--id shows one conversation and --against two sets: give one of the two")
    origin = _origin(source, against)
    if name is None and first is None:
        _check_length(source)
    loaded = load(source, stream=True)
    cut, of_failures = _cut_short(source) if loaded.kind == "run" and against is None else ((), ())
    broken, notes = list(loaded.broken), [*loaded.notes, *of_failures]
    count = len(loaded) + len(cut)
    if cut:
        notes.append(f"{len(cut)} of {count} conversations were cut short: they come last, with their stop reason")
    if not count:
        raise DataError(f"{source}: holds no conversation")
    if name is not None:
        shown = views.with_images([_one(chain(loaded, cut), name, source)], source)
        target = _target(out, f"{_name(loaded)}-{shown[0].id}", source, force=force)
        write_text(
            target, views.conversation_page(shown[0], trusts=Trusts.of(loaded, annotated_keys(source)), origin=origin)
        )
    elif against is not None:
        if first is None:
            _check_length(against)
        shown, other = _listed(loaded, (), source, first), load(against, stream=True)
        if not len(other):
            raise DataError(f"{against}: holds no conversation")
        notes, broken = notes + list(other.notes), broken + list(other.broken)
        names = _name(loaded), _name(other)
        target = _target(out, f"{names[0]}-{names[1]}", source, against, force=force)
        write_text(target, views.against_page(shown, _listed(other, (), against, first), names, origin=origin))
    else:
        shown = _listed(loaded, cut, source, first)
        wanted = _target(out, _name(loaded), source, force=force)
        if len(shown) > in_one_file:
            index = views.index_of(wanted)
            check_free(index, force=force or views.is_page_of(index, origin))
        target = views.write_run(
            shown,
            wanted,
            _name(loaded),
            manifest=loaded.manifest,
            in_one_file=in_one_file,
            trusts=Trusts.of(loaded, annotated_keys(source)),
            origin=origin,
        )
    if as_json:
        print_json(
            {"source": str(source), "target": str(target), "conversations": len(shown)}
            | {"notes": notes, "broken": broken}
        )
    else:
        for note in notes:
            say(note)
        put(str(target))
    return 1 if broken else 0


def _check_length(source: Path) -> None:
    """DataError for a run that is too long for a list by its lines, which are counted faster than they are read."""
    if kind_of(source) == "run":
        with (source / CONVERSATIONS).open("rb") as file:
            lines = sum(1 for _ in file)
        if min(lines, len(record_lines.Run(source).planned)) > LISTED:
            raise DataError(_too_long(source))


def _one(conversations: Iterable[Conversation], name: str, source: Path) -> Conversation:
    """The conversation whose id begins so; DataError if there is none, or more than one."""
    matching = [conversation for conversation in conversations if conversation.id.startswith(name)]
    if not matching:
        raise DataError(f"{source}: has no conversation {name!r}")
    if len({conversation.id for conversation in matching}) > 1:
        raise DataError(f"{source}: {len(matching)} conversations begin with {name!r}: give more of the id")
    return matching[0]


def _listed(loaded: Loaded, cut: Sequence[Conversation], source: Path, first: int | None) -> tuple[Conversation, ...]:
    """The conversations of a list, with their images: all or the first ones; DataError for more than it bears."""
    from .. import views

    if min(len(loaded) + len(cut), first or LISTED + 1) > LISTED:
        raise DataError(_too_long(source))
    return views.with_images(tuple(islice(chain(loaded, cut), first)), source)


def _too_long(source: Path) -> str:
    return (
        f"{source}: has more than {LISTED:,} conversations, the most that a list in a browser bears: "
        f"give --first {LISTED} for the first ones, or --id ID for one"
    )


def _cut_short(folder: Path) -> tuple[tuple[Conversation, ...], tuple[str, ...]]:
    """What a run cut short, and a line for each line of its file that cannot be read."""
    run = record_lines.Run(folder)
    cut = tuple(run.cut_short())
    return cut, record_lines.told_flaws(run.failures.flaws, folder)


def _name(loaded: Loaded) -> str:
    """The source's name without its ending."""
    path = loaded.path.resolve()
    return path.name if path.is_dir() else path.stem


def _target(out: Path | None, name: str, *sources: Path, force: bool) -> Path:
    """The file to write; DataError if it is one of the sources, or a file that is no page of ours, or without `force`
    any other that exists, unless it is a page of the same sources."""
    from ..views import is_page, is_page_of

    if out is None:
        stem = "".join(character if character.isalnum() or character in "-_." else "_" for character in name)
        out = Path(f"{stem.lstrip('.')[:100] or 'conversation'}.html")
    target = out if out.suffix == ".html" and not out.is_dir() else out / "index.html"
    if any(target.resolve() == source.resolve() for source in sources):
        raise DataError(f"{out}: is the source itself: choose another file with --out")
    if target.is_file() and not is_page(target):
        raise DataError(f"{target}: exists and is no page of Duologue: choose another file with --out")
    check_free(target, force=force or is_page_of(target, _origin(*sources)))
    return target


def _origin(*sources: Path | None) -> str:
    """What a page has of its sources' places: one that was written from the same ones is written again unasked."""
    return digest([str(source.resolve()) for source in sources if source is not None])[:16]


def draw(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="GRAPH",
            help="Which graph: the name of a cast (such as simquac), MODULE:FUNCTION of your own cast, or profiles, the graph that makes user profiles.",
        ),
    ] = None,
    cast: Annotated[str | None, typer.Option("--cast", metavar="CAST", help="The same as GRAPH, for a cast.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the nodes, edges and mermaid text as JSON.")] = False,
) -> int:
    """Print the graph of a cast, its nodes and edges, as mermaid text, which many tools draw."""
    from .. import graphs

    chosen = cast or name
    if chosen is None or (cast and name):
        raise SettingError("give one graph: duologue draw CAST (or --cast CAST), or duologue draw profiles")
    profiles = cast is None and chosen == graphs.profiles.NAME
    graph = graphs.profiles.graph if profiles else graphs.conversation(graphs.casts.find(chosen)())
    if as_json:
        drawn = graph.get_graph()
        print_json(
            {
                "nodes": list(drawn.nodes),
                "edges": [{"from": e.source, "to": e.target, "label": e.data} for e in drawn.edges],
                "mermaid": graphs.mermaid(graph),
            }
        )
    else:
        put(graphs.mermaid(graph), end="")
    return 0
