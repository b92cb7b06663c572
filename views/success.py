"""The result of a test of an agent as HTML: the share, the scenarios, whose fault, and the failed conversations."""

from collections.abc import Iterable, Mapping

from markupsafe import Markup

from ..analysis.outcomes import outcome
from ..analysis.testing.pairs.pairs_text import changed_lines
from ..analysis.testing.result import Successes
from ..analysis.testing.result_text import (
    GROUPS,
    SECTIONS,
    failed_because,
    failed_by_scenario,
    fault_line,
    group_line,
    more_failed,
    note_lines,
    verdict_lines,
)
from ..analysis.testing.success import successes
from ..data.records import Conversation
from ..errors import DataError
from .pages import anchor_of, fragment, in_notebook, render

PAIRS_PAGE = "pairs.html"
"""The page of the pairs of two versions, beside that of the run."""
PAIRS_LINK = Markup('<p><a href="{}">all pairs side by side</a></p>').format(PAIRS_PAGE)
AT_ONCE = 20
"""Rows of a table or list that are shown at once; a longer one is folded."""


def has_failed(conversation: Conversation) -> bool:
    """Whether a conversation failed, by its score or a crash of the agent."""
    return outcome(conversation, "failure").success is False


def result_of(conversations: Iterable[Conversation]) -> Successes | None:
    """The success of conversations; None if nothing scores it."""
    try:
        return successes(conversations)
    except DataError:
        return None


def in_groups(result: Successes) -> dict[str, int]:
    """The place of each failed conversation by its id: the largest group first, of each the shortest."""
    ranks = {group.name: rank for rank, group in enumerate(result.groups)}
    ordered = sorted(result.failures, key=lambda failure: ranks.get(failure.cause.name, 0) if failure.cause else 0)
    return {failure.id: place for place, failure in enumerate(ordered)}


def result_html(result: Successes, links: Mapping[str, str] | None = None) -> str:
    """The result, to stand before all else; `links`: the address of each conversation that is shown, by its id."""

    def link(conversation: str, message: int | None) -> str:
        address = (links or {}).get(conversation, "")
        page, mark, _ = address.partition("#")
        if message is None or not address:
            return address
        return f"{address}/{message}" if mark else f"{page}#{fragment(anchor_of(conversation))}/{message}"

    failed = [
        {
            "failure": failure,
            "href": link(failure.id, failure.cause.message if failure.cause else None),
            "because": failed_because(failure),
            "more": more,
        }
        for failure, more in ((failure, more_failed(count)) for failure, count in failed_by_scenario(result))
    ]
    return render(
        "success.html",
        result=result,
        sections=SECTIONS,
        lines=verdict_lines(result),
        notes=note_lines(result),
        table=result.table(),
        users=result.by_user.table(),
        faults=fault_line(result),
        groups=[
            {"line": group_line(group, result), "first": group.first, "href": link(group.first, group.message)}
            for group in result.groups[:GROUPS]
        ],
        more_groups=max(0, len(result.groups) - GROUPS),
        failed=failed,
        pairs=changed_lines(result.against) if result.against is not None else [],
        pairs_link=PAIRS_LINK if links is not None else "",
        at_once=AT_ONCE,
    )


def notebook_result(result: Successes) -> str:
    """The result with its own style, for a cell's output."""
    return in_notebook(f'<div class="duologue">{result_html(result)}</div>')
