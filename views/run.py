"""A run or a data set as a page: what it is, what came of it, the summed graph, every conversation."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..data import domains
from ..data.counts import Counts, count
from ..data.executed_graph import executed
from ..data.formats.jsonfiles import write_text
from ..data.outlines import Outline, outline
from ..data.records import Conversation, NodeInfo
from ..errors import DataError, at
from .conversation import conversation_html, conversation_page
from .graph import drawn
from .listing import Column, Row, list_page, packed
from .pages import plural, render

MARK = '<main class="duologue'
"""Stands in every page of ours and in nobody else's."""
IN_ONE_FILE = 1_000
"""Most conversations of one file; a greater number goes into a folder, a page each."""

COLUMNS = (
    Column("title", number=False),
    Column("exchanges"),
    Column("messages"),
    Column("stop", number=False, hint="why it ended"),
    Column("rejected", hint="drafts that did not pass"),
    Column("coverage", digits=2, hint="share of the section in the answers' spans"),
    Column("refusals", hint="answers that give none"),
    Column("characters", hint="length of all messages"),
    Column("tokens", hint="of all calls"),
)


def run_page(conversations: Iterable[Conversation], title: str, *, manifest: Mapping[str, Any] | None = None) -> str:
    """The conversations as one self-contained page: a list whose rows unfold.

    `manifest`: what the run folder says of the run.
    """
    found = list(conversations)
    rows = [
        _row(conversation, html=conversation_html(conversation, f"r{number}"))
        for number, conversation in enumerate(found)
    ]
    return _page(found, rows, title, manifest)


def write_run(
    conversations: Sequence[Conversation],
    target: str | Path,
    title: str,
    *,
    manifest: Mapping[str, Any] | None = None,
    in_one_file: int = IN_ONE_FILE,
) -> Path:
    """Write the page, or beyond `in_one_file` conversations a folder of pages; gives the file to open.

    A folder is named like the file, without its `.html`, or is that of an `index.html`; it must be new, empty,
    or one that was written so.
    """
    place = Path(target)
    if len(conversations) <= in_one_file:
        write_text(place, run_page(conversations, title, manifest=manifest))
        return place
    folder = place.parent if place.name == "index.html" else place.with_suffix("")
    pages = folder / "conversations"
    if folder.exists() and not _ours(folder):
        raise DataError(f"{at(folder)}: exists and is no folder of pages: choose another place with --out")
    try:
        pages.mkdir(parents=True, exist_ok=True)
        for old in pages.glob("*.html"):  # of an earlier list, which may have been longer
            old.unlink()
        digits = len(str(len(conversations)))
        names = [f"conversations/{number:0{digits}}.html" for number in range(1, len(conversations) + 1)]
        for name, conversation in zip(names, conversations, strict=True):
            text = conversation_page(conversation, back="../index.html")
            (folder / name).write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        raise DataError(f"{at(folder)}: cannot be written ({error.strerror}): choose another place") from None
    rows = [_row(conversation, href=name) for conversation, name in zip(conversations, names, strict=True)]
    write_text(folder / "index.html", _page(conversations, rows, title, manifest))
    return folder / "index.html"


def _ours(folder: Path) -> bool:
    """Whether it is empty, or an earlier list's folder."""
    if not folder.is_dir() or not any(folder.iterdir()):
        return folder.is_dir()
    index = folder / "index.html"
    return index.is_file() and MARK in index.read_text(encoding="utf-8", errors="replace")


def facts(conversations: Sequence[Conversation], manifest: Mapping[str, Any] | None = None) -> list[tuple[str, str]]:
    """What is known of how the conversations came to be: of the run, or of their own provenance."""
    known = manifest.get("settings") if manifest else None
    settings: Mapping[str, Any] = known if isinstance(known, Mapping) else {}
    made = [conversation.provenance for conversation in conversations if conversation.provenance is not None]
    told: list[tuple[str, str]] = []

    def tell(name: str, values: Iterable[object]) -> None:
        several = list(dict.fromkeys(text for value in values if (text := str(value))))
        if several:
            told.append((name, ", ".join(several[:4]) + (f" and {len(several) - 4} more" if len(several) > 4 else "")))

    flat = settings.get("nodes")
    nodes = [_infos(flat)] if isinstance(flat, Mapping) else [each.nodes for each in made]
    limits = [settings["limits"]] if isinstance(settings.get("limits"), Mapping) else [each.limits for each in made]
    tell("cast", [settings["cast"]] if "cast" in settings else [each.cast for each in made])
    for place, name in (("user_simulator", "user"), ("assistant", "assistant")):
        tell(name, (each[place].label for each in nodes if place in each))
    tell("seed", (each.get("seed", "") for each in limits))
    tell(
        "limits",
        (
            ", ".join(f"{k.replace('_', ' ')} {v}" for k, v in each.items() if k != "seed" and v is not None)
            for each in limits
        ),
    )
    if manifest:
        planned, sources = manifest.get("planned"), manifest.get("data")
        tell("planned", [len(planned)] if isinstance(planned, list) else [])
        tell(
            "source",
            (each.get("source", "") for each in sources if isinstance(each, dict)) if isinstance(sources, list) else (),
        )
    tell("version", [manifest["version"]] if manifest and "version" in manifest else [each.version for each in made])
    return told


def _infos(flat: Mapping[str, Any]) -> dict[str, NodeInfo]:
    """What stands at each place, as a manifest says it."""
    return {place: NodeInfo.of(place, node) for place, node in flat.items() if isinstance(node, Mapping)}


def summary_html(
    tallies: Sequence[tuple[str, Counts]],
    told: Sequence[tuple[str, str]] = (),
    means: Sequence[tuple[str, Mapping[str, float | None]]] = (),
) -> str:
    """Facts, the counts of one or more sets of conversations side by side, and a row of means for each."""
    return render("summary.html", tallies=tallies, told=told, means=means)


def _page(
    conversations: Sequence[Conversation], rows: Sequence[Row], title: str, manifest: Mapping[str, Any] | None
) -> str:
    graph = executed(conversations)
    counts = count(conversations)
    return list_page(
        title,
        COLUMNS,
        rows,
        lines=[f"{plural(counts.conversations, 'conversation')}, {plural(counts.exchanges, 'exchange')}"],
        about=summary_html([("", counts)], facts(conversations, manifest)),
        graph=drawn(graph) if graph.edges else "",
        graph_line=f"{plural(graph.conversations, 'conversation')}, their counts added",
        rejections="rejected",
    )


def _row(conversation: Conversation, *, html: str = "", href: str = "") -> Row:
    domain, told = domains.of(conversation), outline(conversation)
    said = "\n".join(message.text for message in conversation.messages)
    return Row(
        cells=cells(told),
        text=f"{told.title}\n{told.topic}\n{said}",
        packed=packed(html) if html else "",
        href=href,
        small=" · ".join([told.topic, *domain.details(conversation.scenario)]),
        choices={"stop": told.stop, "kind": told.kind, "task": domain.task(conversation.scenario)},
    )


def cells(told: Outline) -> tuple[str | int | float | None, ...]:
    """The row's figures, in the order of the columns."""
    return (
        told.title,
        told.exchanges,
        told.messages,
        told.stop,
        told.rejected,
        told.coverage,
        told.refused,
        told.characters,
        told.tokens,
    )
