"""The result of a test of an agent as HTML: the share, the scenarios, whose fault, and the failed conversations."""

from collections.abc import Iterable, Mapping

from ..analysis.outcomes import outcome
from ..analysis.testing.result import Successes
from ..analysis.testing.result_text import failed_because, failed_by_scenario, headline, more_failed
from ..analysis.testing.success import successes
from ..data.records import Conversation
from ..errors import DataError
from .pages import in_notebook, render

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


def result_html(result: Successes, links: Mapping[str, str] | None = None) -> str:
    """The result, to stand before all else; `links`: the address of each conversation that is shown, by its id."""
    failed = [
        {
            "failure": failure,
            "href": (links or {}).get(failure.id, ""),
            "because": failed_because(failure),
            "more": more,
        }
        for failure, more in ((failure, more_failed(count)) for failure, count in failed_by_scenario(result))
    ]
    return render(
        "success.html",
        result=result,
        lines=headline(result),
        table=result.table(),
        faults=[f"{fault} {count}" for fault, count in result.fault_table().rows if count],
        failed=failed,
        at_once=AT_ONCE,
    )


def notebook_result(result: Successes) -> str:
    """The result with its own style, for a cell's output."""
    return in_notebook(f'<div class="duologue">{result_html(result)}</div>')
