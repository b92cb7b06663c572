"""The result of a test of an agent as HTML: the lines and tables that a terminal shows, linked with the conversations."""

from collections.abc import Iterable, Mapping

from markupsafe import Markup

from ..analysis.outcomes import outcome
from ..analysis.tables import Table
from ..analysis.testing.report import Line, report
from ..analysis.testing.success import Successes, successes
from ..data.records import Conversation
from ..errors import DataError
from .pages import anchor_of, fragment, in_notebook, render

PAIRS_PAGE = "pairs.html"
"""The page of the pairs of two versions, beside that of the run."""
PAIRS_LINK = Markup('<p><a href="{}">all pairs side by side</a></p>').format(PAIRS_PAGE)
AT_ONCE = 20
"""Rows of a table that are shown at once; a longer one is folded."""


def has_failed(conversation: Conversation) -> bool:
    """Whether a conversation failed, by its score or a crash of the agent."""
    return outcome(conversation).success is False


def result_of(conversations: Iterable[Conversation]) -> Successes | None:
    """The success of conversations; None if nothing scores it."""
    try:
        return successes(conversations)
    except DataError:
        return None


def in_groups(result: Successes) -> dict[str, int]:
    """The place of each failed conversation by its id: the largest group first, of each the shortest."""
    ranks = {group.name: rank for rank, group in enumerate(result.groups)}
    failed = [failure for failure in result.failures if failure.success is False]
    ordered = sorted(failed, key=lambda failure: ranks[failure.cause.name])
    return {failure.id: place for place, failure in enumerate(ordered)}


def result_html(result: Successes, links: Mapping[str, str] | None = None) -> str:
    """The result, to stand before all else; `links`: the address of each conversation that is shown, by its id."""

    def link(line: Line) -> str:
        address = (links or {}).get(line.conversation, "")
        page, mark, _ = address.partition("#")
        if line.message is None or not address:
            return address
        return (
            f"{address}/{line.message}" if mark else f"{page}#{fragment(anchor_of(line.conversation))}/{line.message}"
        )

    return render(
        "success.html",
        parts=[
            {"table": part} if isinstance(part, Table) else {"line": part, "href": link(part)}
            for part in (*report(result), *map(Line, filter(None, (*result.advice, result.resume))))
        ],
        pairs_link=PAIRS_LINK if links is not None and result.against is not None else "",
        at_once=AT_ONCE,
    )


def notebook_result(result: Successes) -> str:
    """The result with its own style, for a cell's output."""
    return in_notebook(f'<div class="duologue">{result_html(result)}</div>')
