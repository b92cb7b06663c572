"""A run or a data set as a page: settings, results, the graph with its counts, every conversation."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from ..analysis.faults import SUCCESS
from ..analysis.labels.reliability import COMPUTED, Trusts
from ..analysis.outcomes import score_of
from ..analysis.testing.success import Successes
from ..data import domains
from ..data.executed_graph import executed
from ..data.files.json import write_text
from ..data.files.paths import check_no_links, make_folder
from ..data.labels.reading import SCORES, side_of
from ..data.loading import annotated_in
from ..data.records import Conversation
from ..data.summaries import Counts, count
from ..errors import DataError, at
from .conversation import shown_html, shown_page
from .graph.drawing import drawn
from .graph.forks import MOST, tree_html
from .labels.filters import listed_labels
from .labels.tables import LEGEND
from .listing import ListColumn, ListRow, list_page, packed
from .pages import anchor_of, fragment, is_page, plural, render
from .parts import has_images
from .settings import facts
from .shown_conversation import FailedFirst, ShownConversation
from .success import has_failed, in_groups, result_html, result_of

IN_ONE_FILE = 1_000
"""Most conversations in one file; more go into a folder, a page for each."""

COLUMNS = (
    ListColumn("title", number=False),
    ListColumn("repeat", hint="which conversation about its scenario"),
    ListColumn("success", number=False, hint="whether it reached its goal; point at a cell for the reason"),
    ListColumn("turns"),
    ListColumn("messages"),
    ListColumn("stop", number=False, hint="why it ended"),
    ListColumn("rejected", hint="drafts that did not pass"),
    ListColumn("coverage", digits=2, hint="share of the section in the answers' spans"),
    ListColumn("refusals", hint="replies that refuse to answer"),
    ListColumn("characters", hint="length of all messages"),
    ListColumn("tokens", hint="tokens of all calls of models"),
)

FIGURES = ("exchanges", "messages", "stop", "rejected", "coverage", "refused", "characters")
"""Fields of an outline in the columns before the last one."""


def run_page(
    conversations: Iterable[Conversation],
    title: str,
    *,
    manifest: Mapping[str, Any] | None = None,
    trusts: Trusts | None = None,
    origin: str = "",
    result: Successes | None = None,
) -> str:
    """The conversations as one self-contained page: a list whose rows unfold, failed conversations first.

    Args:
        conversations: The conversations.
        title: Title of the page.
        manifest: The manifest of the run folder.
        trusts: Reliability of the labels; default: by these conversations.
        origin: Distinguishes the source from others, such as a digest of its path.
        result: The beginning of the page; default: the success of these conversations, if they are scored.

    Returns:
        The page as HTML.
    """
    every = list(conversations)
    if result is None and any(map(_has_score, every)):
        result = result_of(every)
    places = {} if result is None else in_groups(result)
    listed = sorted(every, key=lambda one: (not has_failed(one), places.get(one.id, len(places))))
    trusts = Trusts.of(listed, annotated_in(conversations)) if trusts is None else trusts
    shown = [ShownConversation(conversation, trusts, legend=False) for conversation in listed]
    anchors = _anchors(one.id for one in listed)

    def opened(_: int, one: ShownConversation) -> dict[str, str]:
        anchor = next(anchors)
        return {"anchor": anchor, "html": shown_html(one, anchor)}

    return _page(shown, opened, title, manifest, trusts, origin, result)


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
    """Write the page, or for more than `in_one_file` conversations a folder of pages.

    Conversations that are not a tuple or list are iterated several times, and only their rows stay in memory.

    Args:
        conversations: The conversations.
        target: The file. The folder has its name without `.html`, or is the folder of an `index.html`.
        title: Title of the page.
        manifest: The manifest of the run folder.
        in_one_file: Maximum number of conversations in one file.
        trusts: Reliability of the labels; default: by these conversations.
        origin: Distinguishes the source from others.

    Returns:
        The file to open.

    Raises:
        DataError: The folder is neither new, empty nor a folder of pages, or cannot be written.
    """
    file = Path(target)
    if len(conversations) <= in_one_file:
        write_text(file, run_page(conversations, title, manifest=manifest, trusts=trusts, origin=origin))
        return file
    trusts = Trusts.of(conversations) if trusts is None else trusts
    shown: Sequence[ShownConversation] = FailedFirst(conversations, trusts)
    if isinstance(conversations, tuple | list):
        shown = tuple(shown)  # they are held anyway, so their outlines and labels are made once
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

        def opened(number: int, one: ShownConversation) -> dict[str, str]:
            name = f"conversations/{number + 1:0{digits}}.html"
            (folder / name).write_text(shown_page(one, back="../index.html"), encoding="utf-8", newline="")
            return {"anchor": anchor_of(one.conversation.id), "href": name}

        text = _page(shown, opened, title, manifest, trusts, origin)
    except OSError as error:
        raise DataError(f"{at(folder)}: cannot be written ({error.strerror}): choose another folder") from None
    write_text(folder / "index.html", text)
    return folder / "index.html"


def index_of(file: Path) -> Path:
    """The index of the folder of pages that is written in place of one large file."""
    return file if file.name == "index.html" else file.with_suffix("") / "index.html"


def _ours(folder: Path) -> bool:
    """Whether the folder is empty or holds pages that were written before."""
    if not folder.is_dir() or not any(folder.iterdir()):
        return folder.is_dir()
    return is_page(folder / "index.html")


def summary_html(
    counts: Sequence[tuple[str, Counts]],
    details: Sequence[tuple[str, str]] = (),
    means: Sequence[tuple[str, Mapping[str, float | None]]] = (),
) -> str:
    """Details by name, the counts of one or more named sets of conversations, and the means of each set."""
    return render("summary.html", sets=counts, details=details, means=means)


def _page(
    shown: Sequence[ShownConversation],
    opened: Callable[[int, ShownConversation], Mapping[str, str]],
    title: str,
    manifest: Mapping[str, Any] | None,
    trusts: Trusts,
    origin: str,
    result: Successes | None = None,
) -> str:
    """The page of these conversations; `opened`: the anchor of each, and the `html` or the `href` that its row opens.

    They are gone through several times, since a long list is read each time.
    """

    def conversations() -> Iterator[Conversation]:
        return (one.conversation for one in shown)

    shown_columns = _list_columns(conversations, trusts)
    graph = executed(conversations())
    counts = count(conversations())
    if result is None and shown_columns.success:
        result = result_of(conversations())
    rows: list[ListRow] = []
    links: dict[str, str] = {}
    for number, one in enumerate(shown):
        rows.append(row := _row(one, shown_columns, **opened(number, one)))
        links.setdefault(one.conversation.id, row.href or f"#{fragment(row.anchor)}")
    return list_page(
        title,
        COLUMNS,
        rows,
        lines=[
            f"{plural(counts.conversations, 'conversation')}, {plural(counts.exchanges, 'turn')}",
            *([f"success: {shown_columns.trust}"] if shown_columns.trust else []),
        ],
        result=tree_html([one.conversation for one in islice(shown, MOST)], links)
        + ("" if result is None else result_html(result, links)),
        legend=LEGEND if any(one.has_trust for one in shown) else "",
        summary=summary_html([("", counts)], facts(conversations(), manifest)),
        graph=drawn(graph) if graph.edges else "",
        graph_line=f"{plural(graph.conversations, 'conversation')}, their counts added",
        rejections="rejected",
        images=any(map(has_images, conversations())),
        labels=listed_labels(shown, trusts),
        origin=origin,
    )


def _anchors(names: Iterable[str]) -> Iterator[str]:
    """The id of each conversation; a later one of an id that is taken has a number behind it."""
    taken: set[str] = set()
    for one in names:
        anchor = name = anchor_of(one)
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


def _list_columns(conversations: Callable[[], Iterator[Conversation]], trusts: Trusts) -> _ListColumns:
    success = any(map(_has_score, conversations()))
    trust = trusts.mark_of_score(SUCCESS) if success else ""
    repeats = any(conversation.repeat for conversation in conversations())
    return _ListColumns(repeats, success, "" if trust == COMPUTED else trust)


def _has_score(conversation: Conversation) -> bool:
    scores = conversation.labels.get(SCORES)
    return SUCCESS in conversation.scenario or (isinstance(scores, Mapping) and SUCCESS in scores)


def _numbers(scenario: Mapping[str, Any]) -> list[str]:
    """Which context and which profile of a data set a scenario has, such as `context 3`."""
    keys = (("context", "task_context_id"), ("profile", "preference_id"))
    return [f"{name} {scenario[key]}" for name, key in keys if scenario.get(key) is not None]


def _row(
    shown: ShownConversation, shown_columns: _ListColumns, *, anchor: str, html: str = "", href: str = ""
) -> ListRow:
    conversation, line = shown.conversation, shown.outline
    domain = domains.of(conversation)
    score = score_of(conversation)
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
            shown.tokens,
        ),
        text=f"{line.title}\n{line.topic}\n{dialogue}",
        packed=packed(html) if html else "",
        href=href,
        anchor=anchor,
        small=" · ".join([line.topic, *_numbers(conversation.scenario)]),
        hints={"success": reason} if shown_columns.success else {},
        choices={
            "success": success if shown_columns.success else "",
            "failure": shown.cause.name if shown_columns.success and shown.cause else "",
            "stop": line.stop,
            "kind": line.kind,
            "side": side_of(conversation),
            "task": domain.task(conversation.scenario),
        },
    )
