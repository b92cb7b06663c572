"""A run or a data set as a page: settings, results, the graph with its counts, every conversation."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..analysis.labels.reliability import COMPUTED, Trusts
from ..analysis.outcomes import SUCCESS, Crashes, score_of
from ..analysis.testing.result import Successes
from ..data import domains
from ..data.files.folders import make_folder
from ..data.files.json_files import write_text
from ..data.files.regular_files import check_no_links
from ..data.labels.annotations import side_of
from ..data.labels.reading import SCORES
from ..data.loading import annotated_in
from ..data.records import Conversation, NodeInfo
from ..data.summaries.counts import Counts, count
from ..data.summaries.executed_graph import executed
from ..errors import DataError, at
from .conversation import shown_html, shown_page
from .graph.drawing import drawn
from .labels.filters import listed_labels
from .labels.tables import LEGEND
from .listing import ListColumn, ListRow, list_page, packed
from .pages import anchor_of, fragment, is_page, plural, render
from .parts import has_images
from .shown_conversation import ShownConversation
from .success import has_failed, result_html, result_of

IN_ONE_FILE = 1_000
"""Most conversations in one file; more go into a folder, a page for each."""

COLUMNS = (
    ListColumn("title", number=False),
    ListColumn("repeat", hint="which conversation about its scenario"),
    ListColumn("success", number=False, hint="whether it reached its goal; point at a cell for the reason"),
    ListColumn("exchanges"),
    ListColumn("messages"),
    ListColumn("stop", number=False, hint="why it ended"),
    ListColumn("rejected", hint="drafts that did not pass"),
    ListColumn("coverage", digits=2, hint="share of the section in the answers' spans"),
    ListColumn("refusals", hint="replies that refuse to answer"),
    ListColumn("characters", hint="length of all messages"),
    ListColumn("tokens", hint="tokens of all calls"),
)

FIGURES = ("exchanges", "messages", "stop", "rejected", "coverage", "refused", "characters", "tokens")
"""Fields of an outline in the last columns."""


def run_page(
    conversations: Iterable[Conversation],
    title: str,
    *,
    manifest: Mapping[str, Any] | None = None,
    trusts: Trusts | None = None,
    origin: str = "",
    result: Successes | None = None,
    crashes: Crashes = "unscored",
) -> str:
    """The conversations as one self-contained page: a list whose rows unfold, failed conversations first.

    `manifest`: that of the run folder. `trusts`: how far labels can be trusted; by default as these conversations tell.
    `origin`: what tells the source from others, such as a digest of its path. `result`: what the page begins with; by
    default the success of these conversations, if they are scored. `crashes`: what a crash of the agent counts as.
    """
    listed = sorted(conversations, key=has_failed, reverse=True)
    trusts = Trusts.of(listed, annotated_in(conversations)) if trusts is None else trusts
    shown = [ShownConversation(conversation, trusts, legend=False) for conversation in listed]
    opened = [
        {"anchor": anchor, "html": shown_html(one, anchor)} for one, anchor in zip(shown, _anchors(listed), strict=True)
    ]
    return _page(shown, opened, title, manifest, trusts, origin, result, crashes=crashes)


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
    conversations = sorted(conversations, key=has_failed, reverse=True)
    shown = [ShownConversation(conversation, trusts) for conversation in conversations]
    folder = index_of(file).parent
    pages = folder / "conversations"
    if folder.exists() and not _ours(folder):
        raise DataError(f"{at(folder)}: exists and is not a folder of pages: choose another folder with --out")
    check_no_links(folder)
    try:
        make_folder(pages)
        for old in pages.glob("*.html"):  # an earlier list may have been longer
            old.unlink()
        digits = len(str(len(conversations)))
        names = [f"conversations/{number:0{digits}}.html" for number in range(1, len(conversations) + 1)]
        for name, one in zip(names, shown, strict=True):
            text = shown_page(one, back="../index.html")
            (folder / name).write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        raise DataError(f"{at(folder)}: cannot be written ({error.strerror}): choose another folder") from None
    opened = [{"anchor": anchor_of(one.conversation.id), "href": name} for one, name in zip(shown, names, strict=True)]
    write_text(folder / "index.html", _page(shown, opened, title, manifest, trusts, origin))
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
    shown: Sequence[ShownConversation],
    opened: Sequence[Mapping[str, str]],
    title: str,
    manifest: Mapping[str, Any] | None,
    trusts: Trusts,
    origin: str,
    result: Successes | None = None,
    *,
    crashes: Crashes = "unscored",
) -> str:
    """The page of these conversations; `opened`: the anchor of each, and the `html` or the `href` that its row opens."""
    conversations = [one.conversation for one in shown]
    shown_columns = _list_columns(conversations, trusts, crashes)
    graph = executed(conversations)
    counts = count(conversations)
    if result is None and shown_columns.success:
        result = result_of(conversations)
    links = {
        one.id: opening.get("href") or f"#{fragment(opening['anchor'])}"
        for one, opening in zip(reversed(conversations), reversed(opened), strict=True)
    }
    return list_page(
        title,
        COLUMNS,
        [_row(one, shown_columns, **opening) for one, opening in zip(shown, opened, strict=True)],
        lines=[
            f"{plural(counts.conversations, 'conversation')}, {plural(counts.exchanges, 'exchange')}",
            *([f"success: {shown_columns.trust}"] if shown_columns.trust and result is None else []),
        ],
        result="" if result is None else result_html(result, links),
        legend=LEGEND if any(one.has_trust for one in shown) else "",
        summary=summary_html([("", counts)], facts(conversations, manifest)),
        graph=drawn(graph) if graph.edges else "",
        graph_line=f"{plural(graph.conversations, 'conversation')}, their counts added",
        rejections="rejected",
        images=any(map(has_images, conversations)),
        labels=listed_labels(shown, trusts),
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
class _ListColumns:
    """The optional columns of a list, each there because at least one conversation has a value."""

    repeats: bool
    success: bool
    trust: str = ""
    """How far the success can be trusted, unless a rule computes it."""
    crashes: Crashes = "unscored"


def _list_columns(conversations: Sequence[Conversation], trusts: Trusts, crashes: Crashes) -> _ListColumns:
    success = any(map(_has_score, conversations))
    trust = trusts.mark_of_score(SUCCESS) if success else ""
    repeats = any(conversation.repeat for conversation in conversations)
    return _ListColumns(repeats, success, "" if trust == COMPUTED else trust, crashes)


def _has_score(conversation: Conversation) -> bool:
    scores = conversation.labels.get(SCORES)
    return SUCCESS in conversation.scenario or (isinstance(scores, Mapping) and SUCCESS in scores)


def _row(
    shown: ShownConversation, shown_columns: _ListColumns, *, anchor: str, html: str = "", href: str = ""
) -> ListRow:
    conversation, line = shown.conversation, shown.outline
    domain = domains.of(conversation)
    score = score_of(conversation, shown_columns.crashes)
    if isinstance(score, str):
        success, reason = "no score", score
    else:
        success, reason = "yes" if score[0] else "no", score[1]
    dialogue = "\n".join(message.text for message in conversation.messages)
    return ListRow(
        cells=(
            line.title,
            conversation.repeat + 1 if shown_columns.repeats else None,
            success if shown_columns.success else None,
            *(getattr(line, name) for name in FIGURES),
        ),
        text=f"{line.title}\n{line.topic}\n{dialogue}",
        packed=packed(html) if html else "",
        href=href,
        anchor=anchor,
        small=" · ".join([line.topic, *domain.details(conversation.scenario)]),
        hints={"success": reason} if shown_columns.success else {},
        choices={
            "success": success if shown_columns.success else "",
            "stop": line.stop,
            "kind": line.kind,
            "side": side_of(conversation),
            "task": domain.task(conversation.scenario),
        },
    )
