"""A run or a data set as a page: result, settings, the graph with its counts, every conversation, failed ones first."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from ..analysis.attempts import model_tokens
from ..analysis.faults import SUCCESS, Cause
from ..analysis.outcomes import outcome
from ..analysis.tables import Table
from ..analysis.testing.report import Line, report
from ..analysis.testing.success import Successes, successes
from ..data import domains
from ..data.labels.reading import side_of
from ..data.records import Conversation
from ..data.summaries import Counts, Outline, count, outline
from ..errors import DataError
from .conversation import conversation_html, why_failed
from .graph import graph_html
from .labels import choices_of
from .listing import ListColumn, ListRow, list_page
from .pages import anchor_of, fragment, in_notebook, plural, render
from .settings import facts

MOST = 1_000
"""Most conversations on a page, failed ones first: a browser bears more, but nobody reads them."""
PAIRS_PAGE = "pairs.html"
"""The page of the pairs of two versions, beside that of the run."""
AT_ONCE = 20
"""Rows of a table that are shown at once; a longer one is folded."""

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


def run_page(
    conversations: Sequence[Conversation],
    title: str,
    *,
    manifest: Mapping[str, Any] | None = None,
    result: Successes | None = None,
) -> str:
    """The conversations as one self-contained page: a list whose rows unfold, failed conversations first.

    Args:
        conversations: The conversations, which are gone through several times: of a long run only those on the page are
            held in memory.
        title: Title of the page.
        manifest: The manifest of the run folder.
        result: The beginning of the page; default: the success of these conversations, if they are scored.

    Returns:
        The page as HTML, with at most `MOST` conversations.
    """
    failed = [outcome(one).success is False for one in conversations]
    scored = any(map(_has_score, conversations))
    if result is None and scored:
        result = result_of(conversations)
    order = sorted(range(len(failed)), key=lambda n: not failed[n])
    shown = [conversations[n] for n in order[:MOST]]
    places = {} if result is None else in_groups(result)
    causes = {} if result is None else {one.id: one.cause for one in result.failures}
    shown.sort(key=lambda one: places.get(one.id, len(places)))
    repeats = any(one.repeat for one in shown)
    rows: list[ListRow] = []
    links: dict[str, str] = {}
    for one, anchor in zip(shown, _anchors(one.id for one in shown), strict=True):
        rows.append(_row(one, anchor, causes.get(one.id), scored=scored, repeats=repeats))
        links.setdefault(one.id, f"#{fragment(anchor)}")
    counts = count(conversations)
    left = len(failed) - len(shown)
    return list_page(
        title,
        COLUMNS,
        rows,
        lines=[
            f"{plural(counts.conversations, 'conversation')}, {plural(counts.exchanges, 'turn')}",
            *([f"{left:,} more are not on this page: their records are in the file"] if left else []),
        ],
        result="" if result is None else result_html(result, links),
        summary=summary_html(counts, facts(conversations, manifest)),
        graph=graph_html(conversations),
    )


def summary_html(counts: Counts, details: Sequence[tuple[str, str]] = ()) -> str:
    """Details by name, and the counts of a set of conversations."""
    return render("summary.html", counts=counts, details=details)


def _anchors(names: Iterator[str]) -> Iterator[str]:
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


def _has_score(conversation: Conversation) -> bool:
    return SUCCESS in conversation.scenario or SUCCESS in conversation.scores


def _numbers(scenario: Mapping[str, Any]) -> list[str]:
    """Which context and which profile of a data set a scenario has, such as `context 3`."""
    keys = (("context", "task_context_id"), ("profile", "preference_id"))
    return [f"{name} {scenario[key]}" for name, key in keys if scenario.get(key) is not None]


def _row(conversation: Conversation, anchor: str, cause: Cause | None, *, scored: bool, repeats: bool) -> ListRow:
    line, ended = outline(conversation), outcome(conversation)
    success = {True: "yes", False: "no", None: "no score"}[ended.success] if scored else None
    why = why_failed(conversation, ended, cause) if scored else ""
    dialogue = "\n".join(message.text for message in conversation.messages)
    return ListRow(
        cells=(
            line.title,
            conversation.repeat + 1 if repeats else None,
            success,
            *_figures(line),
            model_tokens(conversation) or None,
        ),
        text=f"{line.title}\n{line.topic}\n{dialogue}",
        html=conversation_html(conversation, anchor, cause),
        anchor=anchor,
        small=" · ".join(filter(None, [line.topic, *_numbers(conversation.scenario), why.replace("`", "")])),
        hints={"success": why or ended.reason},
        choices={
            "success": success or "",
            "failure": cause.group.replace("`", "") if scored and ended.success is False and cause is not None else "",
            "stop": line.stop,
            "kind": line.kind,
            "side": side_of(conversation),
            "task": domains.of(conversation).task(conversation.scenario),
        },
        labels=choices_of(conversation),
    )


def _figures(line: Outline) -> tuple[str | int | float | None, ...]:
    return (
        line.exchanges,
        line.messages,
        line.stop,
        line.rejected,
        line.coverage,
        line.refused,
        line.characters,
    )


def result_of(conversations: Sequence[Conversation]) -> Successes | None:
    """The success of conversations; None if nothing scores it."""
    try:
        return successes(conversations)
    except DataError:
        return None


def in_groups(result: Successes) -> dict[str, int]:
    """The place of each failed conversation by its id: the largest group first, of each the shortest."""
    ranks = {group.name: rank for rank, group in enumerate(result.groups)}
    failed = [failure for failure in result.failures if failure.success is False]
    ordered = sorted(failed, key=lambda failure: ranks[failure.cause.group])
    return {failure.id: place for place, failure in enumerate(ordered)}


def result_html(result: Successes, links: Mapping[str, str] | None = None) -> str:
    """The result of a test: the lines and tables that a terminal shows.

    `links`: the address of each conversation that is shown, by its id.
    """

    def link(line: Line) -> str:
        address = (links or {}).get(line.conversation, "")
        return f"{address}/{line.message}" if address and line.message is not None else address

    return render(
        "success.html",
        parts=[
            {"table": part} if isinstance(part, Table) else {"line": part, "href": link(part)}
            for part in (*report(result), *map(Line, filter(None, (*result.advice, result.resume))))
        ],
        pairs=PAIRS_PAGE if links is not None and result.against is not None else "",
        at_once=AT_ONCE,
    )


def notebook_result(result: Successes) -> str:
    """The result with its own style, for a cell's output."""
    return in_notebook(str(Markup('<div class="duologue">{}</div>').format(Markup(result_html(result)))))
