"""`duologue show`: conversations as a page."""

import os
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

from ..data import Conversation, DataError, Loaded
from ..data.files.json import write_text
from ..data.formats.source import CONVERSATIONS
from ..data.identity import digest
from ..data.loading import DataSource
from .options.shared import AnySource, force_for, json_of, limit_to, option, out_to
from .output.one_conversation import check_form, is_page, write_conversation
from .output.overwriting import check_free
from .streams import print_json, put, say, skips_broken

if TYPE_CHECKING:
    from ..studies.pages import ShownSource

LISTED = 20_000
"""Most conversations in a list: a browser bears no more, and its rows are held while the pages are written."""
PAIRED = 5_000
"""Most conversations of either source with `--beside`: they are in one file, and are held while it is written."""


def show_command(
    source: AnySource,
    name: Annotated[
        str | None,
        option("Take only the conversation with this id; its first characters are enough.", "--id", metavar="ID"),
    ] = None,
    beside: Annotated[
        Path | None,
        option("Show another run or data set beside it, paired by topic.", metavar="SRC2"),
    ] = None,
    limit: Annotated[int | None, limit_to("conversations; a list holds at most 20,000")] = None,
    out: Annotated[
        Path | None,
        out_to(
            "this HTML file, or to index.html in this folder; with --id also .json or .jsonl (the record) or .txt (the messages). Default: the name of SRC with .html, and after --id SRC-ID.html, in this folder.",
            "FILE",
        ),
    ] = None,
    in_one_file: Annotated[
        int,
        option("Put up to N conversations into one file; more go into a folder, a page each.", min=0, metavar="N"),
    ] = 1_000,
    force: Annotated[bool, force_for("a page of another source")] = False,
    as_json: Annotated[bool, json_of("the path and the notes")] = False,
) -> int:
    """Write conversations as one HTML page.

    The page needs no network. It has the figures of a run, how often each step of the graph ran, and every conversation
    with its rejected drafts.
    """
    from .. import views
    from ..analysis.labels.reliability import Trusts
    from ..studies.pages import ShownSource
    from ..studies.sources import one_conversation

    if name is not None and beside is not None:
        raise DataError("--id shows one conversation and --beside two sets: give one of the two")
    if name is not None:
        check_form(out)
    origin = _origin(source, beside)
    opened = DataSource(source, skip_broken=skips_broken())
    if name is None:
        _check_length(opened, limit, LISTED if beside is None else PAIRED)
    read = ShownSource.of(opened) if beside is None else ShownSource(opened.load())
    loaded = read.loaded
    broken, notes = list(loaded.broken), [*loaded.notes, *read.flaws, *(read.cut_note if name is None else ())]
    if not len(read):
        raise DataError(f"{source}: holds no conversation")
    if name is not None:
        shown: Sequence[Conversation] = (one_conversation(chain(loaded, read.cut_short), name, source),)
        target = _write_one(shown[0], loaded, source, out, force=force)
    elif beside is not None:
        other_source = DataSource(beside, skip_broken=skips_broken())
        _check_length(other_source, limit, PAIRED)
        shown, other = _listed(read, limit, PAIRED), other_source.load()
        if not len(other):
            raise DataError(f"{beside}: holds no conversation")
        notes, broken = notes + list(other.notes), broken + list(other.broken)
        names = _name(loaded), _name(other)
        target = _target(out, f"{names[0]}-{names[1]}", source, beside, force=force)
        write_text(target, views.against_page(shown, _listed(ShownSource(other), limit, PAIRED), names, origin=origin))
    else:
        if opened.run is not None and (lacking := len(opened.run.planned) - len(read)) > 0:
            again = f"its command with --out {quote(str(source))} continues"
            notes.append(f"{lacking} of {len(opened.run.planned)} planned conversations have no record: {again}")
        shown = _listed(read, limit, LISTED)
        place = _target(out, _name(loaded), source, force=force)
        if len(shown) > in_one_file:
            index = views.index_of(place)
            check_free(index, force=force or views.is_page_of(index, origin))
        target = views.write_run(
            shown,
            place,
            _name(loaded),
            manifest=loaded.manifest,
            in_one_file=in_one_file,
            trusts=Trusts.of(loaded),
            origin=origin,
        )
    if as_json:
        print_json(
            {"source": str(source), "target": str(target), "conversations": len(shown)}
            | {"notes": notes, "broken": broken}
        )
    else:
        say(*notes)
        put(str(target))
    return 1 if broken else 0


def _write_one(conversation: Conversation, loaded: Loaded, source: Path, out: Path | None, *, force: bool) -> Path:
    """Write one conversation as a page, or in the form of the file's ending; gives the file."""
    from .. import views
    from ..analysis.labels.reliability import Trusts

    if out is not None and not is_page(out):
        return write_conversation(conversation, out, force=force)
    target = _target(out, f"{_name(loaded)}-{conversation.id}", source, force=force)
    (shown,) = views.with_images([conversation], source)
    write_text(target, views.conversation_page(shown, trusts=Trusts.of(loaded), origin=_origin(source)))
    return target


def _check_length(source: DataSource, limit: int | None, most: int) -> None:
    """DataError for a run that is too long for a list.

    Its lines are counted, which is faster than reading them.
    """
    if limit is None and source.run is not None and len(source.run.planned) > most:
        with (source.path / CONVERSATIONS).open("rb") as file:
            lines = sum(1 for _ in file)
        if lines > most:
            raise DataError(_too_long(source.path, most))


def _listed(source: "ShownSource", limit: int | None, most: int) -> Sequence[Conversation]:
    """The conversations of a list, with their images: all or the first ones; DataError for more than it bears.

    They are held where they are few: what goes into a file is held there anyway.
    """
    if min(len(source), limit or most + 1) > most:
        raise DataError(_too_long(source.loaded.path, most))
    listed = source.listed(limit)
    return tuple(listed) if len(listed) <= PAIRED else listed


def _too_long(source: Path, most: int) -> str:
    return (
        f"{source}: has more than {most:,} conversations, the maximum of {'a list' if most == LISTED else 'pairs'} in a "
        f"browser: give --limit {most} for the first ones, or --id ID for one"
    )


def _name(loaded: Loaded) -> str:
    """The source's name without its ending."""
    path = Path(os.path.realpath(loaded.path))
    return path.name if path.is_dir() else path.stem


def _target(out: Path | None, name: str, *sources: Path, force: bool) -> Path:
    """The file to write; DataError for one that must not be replaced.

    These are the sources, a file that is not a page of ours, and without `force` any other that exists, unless it is a page
    of the same sources.
    """
    from ..views import is_page, is_page_of

    if out is None:
        stem = "".join(character if character.isalnum() or character in "-_." else "_" for character in name)
        out = Path(f"{stem.lstrip('.')[:100] or 'conversation'}.html")
    target = out if out.suffix == ".html" and not out.is_dir() else out / "index.html"
    if any(os.path.realpath(target) == os.path.realpath(source) for source in sources):
        raise DataError(f"{out}: is the source itself: choose another file with --out")
    if target.is_file() and not is_page(target):
        raise DataError(f"{target}: exists and is not a page of Duologue: choose another file with --out")
    check_free(target, force=force or is_page_of(target, _origin(*sources)))
    return target


def _origin(*sources: Path | None) -> str:
    """What a page has of its sources' places: one that was written from the same ones is written again unasked."""
    return digest([os.path.realpath(source) for source in sources if source is not None])[:16]
