"""A run or a data set as a page: its settings and results, the graph with its counts added, every conversation."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..analysis.annotations import side_of
from ..analysis.outcomes import SCORES, SUCCESS, score_of
from ..analysis.trust import COMPUTED, Trusts
from ..data import domains
from ..data.counts import Counts, count
from ..data.executed_graph import executed
from ..data.formats.folders import make_folder
from ..data.formats.jsonfiles import write_text
from ..data.outlines import Outline, outline
from ..data.records import Conversation, NodeInfo
from ..errors import DataError, at
from .conversation import conversation_html, conversation_page
from .graph import drawn
from .label_filters import listed_labels
from .listing import Column, Row, list_page, packed
from .pages import anchor_of, is_page, plural, render
from .parts import has_images

IN_ONE_FILE = 1_000
"""Most conversations in one file; more go into a folder, a page for each."""

COLUMNS = (
    Column("title", number=False),
    Column("repeat", hint="which conversation about its scenario"),
    Column("success", number=False, hint="whether it reached its goal; point at a cell for the reason"),
    Column("exchanges"),
    Column("messages"),
    Column("stop", number=False, hint="why it ended"),
    Column("rejected", hint="drafts that did not pass"),
    Column("coverage", digits=2, hint="share of the section in the answers' spans"),
    Column("refusals", hint="replies that refuse to answer"),
    Column("characters", hint="length of all messages"),
    Column("tokens", hint="tokens of all calls"),
)


def run_page(
    conversations: Iterable[Conversation],
    title: str,
    *,
    manifest: Mapping[str, Any] | None = None,
    trusts: Trusts | None = None,
    origin: str = "",
) -> str:
    """The conversations as one self-contained page: a list whose rows unfold.

    `manifest`: that of the run folder. `trusts`: how far labels can be trusted; by default as these conversations tell.
    `origin`: what tells the source from others, such as a digest of its path.
    """
    listed = list(conversations)
    trusts = Trusts.of(listed) if trusts is None else trusts
    told = _told(listed, trusts)
    rows = [
        _row(conversation, anchor, told, html=conversation_html(conversation, anchor, trusts))
        for conversation, anchor in zip(listed, _anchors(listed), strict=True)
    ]
    return _page(listed, rows, title, manifest, told, trusts, origin)


def write_run(
    conversations: Sequence[Conversation],
    target: str | Path,
    title: str,
    *,
    manifest: Mapping[str, Any] | None = None,
    in_one_file: int = IN_ONE_FILE,
    trusts: Trusts | None = None,
    origin: str = "",
) -> Path:
    """Write the page, or for more than `in_one_file` conversations a folder of pages; gives the file to open.

    The folder has the file's name without `.html`, or is the folder of an `index.html`. It must be new, empty, or a
    folder of pages that was written before.
    """
    file = Path(target)
    if len(conversations) <= in_one_file:
        write_text(file, run_page(conversations, title, manifest=manifest, trusts=trusts, origin=origin))
        return file
    trusts = Trusts.of(conversations) if trusts is None else trusts
    folder = index_of(file).parent
    pages = folder / "conversations"
    if folder.exists() and not _ours(folder):
        raise DataError(f"{at(folder)}: exists and is no folder of pages: choose another folder with --out")
    try:
        make_folder(pages)
        for old in pages.glob("*.html"):  # an earlier list may have been longer
            old.unlink()
        digits = len(str(len(conversations)))
        names = [f"conversations/{number:0{digits}}.html" for number in range(1, len(conversations) + 1)]
        for name, conversation in zip(names, conversations, strict=True):
            text = conversation_page(conversation, back="../index.html", trusts=trusts)
            (folder / name).write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        raise DataError(f"{at(folder)}: cannot be written ({error.strerror}): choose another folder") from None
    told = _told(conversations, trusts)
    rows = [
        _row(conversation, anchor_of(conversation.id), told, href=name)
        for conversation, name in zip(conversations, names, strict=True)
    ]
    write_text(folder / "index.html", _page(conversations, rows, title, manifest, told, trusts, origin))
    return folder / "index.html"


def index_of(file: Path) -> Path:
    """The index of the folder of pages that is written in place of one large file."""
    return file if file.name == "index.html" else file.with_suffix("") / "index.html"


def _ours(folder: Path) -> bool:
    """Whether the folder is empty or holds pages that were written before."""
    if not folder.is_dir() or not any(folder.iterdir()):
        return folder.is_dir()
    return is_page(folder / "index.html")


def facts(conversations: Sequence[Conversation], manifest: Mapping[str, Any] | None = None) -> list[tuple[str, str]]:
    """How the conversations were made, each a name and a value: from the manifest, or from their provenance."""
    in_manifest = manifest.get("settings") if manifest else None
    settings: Mapping[str, Any] = in_manifest if isinstance(in_manifest, Mapping) else {}
    provenances = [conversation.provenance for conversation in conversations if conversation.provenance is not None]
    lines: list[tuple[str, str]] = []

    def add(name: str, values: Iterable[object]) -> None:
        texts = list(dict.fromkeys(text for value in values if (text := str(value))))
        if texts:
            lines.append((name, ", ".join(texts[:4]) + (f" and {len(texts) - 4} more" if len(texts) > 4 else "")))

    flat, limits_set = settings.get("nodes"), settings.get("limits")
    casts = [_infos(flat)] if isinstance(flat, Mapping) else [provenance.nodes for provenance in provenances]
    limits = [limits_set] if isinstance(limits_set, Mapping) else [provenance.limits for provenance in provenances]
    add("cast", [settings["cast"]] if "cast" in settings else [provenance.cast for provenance in provenances])
    for place, name in (("user_simulator", "user"), ("assistant", "assistant")):
        add(name, (nodes[place].label for nodes in casts if place in nodes))
    add("seed", (values.get("seed", "") for values in limits))
    add(
        "limits",
        (
            ", ".join(f"{k.replace('_', ' ')} {v}" for k, v in values.items() if k != "seed" and v is not None)
            for values in limits
        ),
    )
    if manifest:
        planned, sources = manifest.get("planned"), manifest.get("data")
        add("planned", [len(planned)] if isinstance(planned, list) else [])
        add(
            "source",
            (source.get("source", "") for source in sources if isinstance(source, dict))
            if isinstance(sources, list)
            else (),
        )
    versions = [provenance.version for provenance in provenances]
    add("version", [manifest["version"]] if manifest and "version" in manifest else versions)
    return lines


def _infos(flat: Mapping[str, Any]) -> dict[str, NodeInfo]:
    """The node of each place, from a manifest."""
    return {place: NodeInfo.of(place, node) for place, node in flat.items() if isinstance(node, Mapping)}


def summary_html(
    counts: Sequence[tuple[str, Counts]],
    details: Sequence[tuple[str, str]] = (),
    means: Sequence[tuple[str, Mapping[str, float | None]]] = (),
) -> str:
    """Details by name, the counts of one or more named sets of conversations, and the means of each set."""
    return render("summary.html", sets=counts, details=details, means=means)


def _page(
    conversations: Sequence[Conversation],
    rows: Sequence[Row],
    title: str,
    manifest: Mapping[str, Any] | None,
    told: "_Told",
    trusts: Trusts,
    origin: str,
) -> str:
    graph = executed(conversations)
    counts = count(conversations)
    return list_page(
        title,
        COLUMNS,
        rows,
        lines=[
            f"{plural(counts.conversations, 'conversation')}, {plural(counts.exchanges, 'exchange')}",
            *([f"success: {told.trust}"] if told.trust else []),
        ],
        summary=summary_html([("", counts)], facts(conversations, manifest)),
        graph=drawn(graph) if graph.edges else "",
        graph_line=f"{plural(graph.conversations, 'conversation')}, their counts added",
        rejections="rejected",
        images=any(map(has_images, conversations)),
        labels=listed_labels(conversations, trusts),
        origin=origin,
    )


def _anchors(conversations: Sequence[Conversation]) -> Iterator[str]:
    """The id of each conversation; a later one of an id that is taken has a number behind it."""
    taken: set[str] = set()
    for conversation in conversations:
        anchor = name = anchor_of(conversation.id)
        number = 1
        while anchor in taken:
            number += 1
            anchor = f"{name}~{number}"
        taken.add(anchor)
        yield anchor


@dataclass(frozen=True)
class _Told:
    """What a list tells of each conversation because at least one of them has it."""

    repeats: bool
    success: bool
    trust: str = ""
    """How far the success can be trusted, unless a rule computes it."""


def _told(conversations: Sequence[Conversation], trusts: Trusts) -> _Told:
    success = any(map(_has_score, conversations))
    trust = trusts.told_score(SUCCESS) if success else ""
    return _Told(
        repeats=any(conversation.repeat for conversation in conversations),
        success=success,
        trust="" if trust == COMPUTED else trust,
    )


def _has_score(conversation: Conversation) -> bool:
    scores = conversation.labels.get(SCORES)
    return SUCCESS in conversation.scenario or (isinstance(scores, Mapping) and SUCCESS in scores)


def _row(conversation: Conversation, anchor: str, told: _Told, *, html: str = "", href: str = "") -> Row:
    domain, line = domains.of(conversation), outline(conversation)
    score = score_of(conversation)
    if isinstance(score, str):
        success, reason = "no score", score
    else:
        success, reason = "yes" if score[0] else "no", " · ".join(filter(None, (score[1], told.trust)))
    dialogue = "\n".join(message.text for message in conversation.messages)
    return Row(
        cells=cells(line, conversation.repeat + 1 if told.repeats else None, success if told.success else None),
        text=f"{line.title}\n{line.topic}\n{dialogue}",
        packed=packed(html) if html else "",
        href=href,
        anchor=anchor,
        small=" · ".join([line.topic, *domain.details(conversation.scenario)]),
        hints={"success": reason} if told.success else {},
        choices={
            "success": success if told.success else "",
            "stop": line.stop,
            "kind": line.kind,
            "side": side_of(conversation),
            "task": domain.task(conversation.scenario),
        },
    )


def cells(line: Outline, repeat: int | None, success: str | None) -> tuple[str | int | float | None, ...]:
    """The row's figures, in the order of the columns."""
    return (
        line.title,
        repeat,
        success,
        line.exchanges,
        line.messages,
        line.stop,
        line.rejected,
        line.coverage,
        line.refused,
        line.characters,
        line.tokens,
    )
