"""The result of a test as Markdown, for the page of a CI job.

Every text from a model or a file is escaped.
"""

from collections.abc import Callable, Iterator

from ...data.text.terminal import on_one_line
from ..table_escapes import markdown_text
from .failed_conversations import FailedConversation
from .result import Successes
from .result_text import failed_because, failed_by_scenario, headline, more_failed

ROWS = 100
"""Most scenarios in the table."""
SHOWN = 20
"""Most failed conversations and errors that are listed."""
LONGEST = 400
"""Longest text of a list's item, in characters."""


def markdown(
    result: Successes,
    title: str,
    address: Callable[[str], str] | None = None,
) -> str:
    """Result, scenarios, faults, errors and failed conversations as Markdown.

    `address`: the page of a conversation by its id, relative to the run folder; None: there is no page.
    """
    first, *others = headline(result)
    table = result.table()
    if left := table.rows[ROWS:]:
        notes = (*table.notes, f"{len(left)} more scenarios are left out here")
        table = table.model_copy(update={"rows": table.rows[:ROWS], "notes": notes})
    parts = [heading(title, first), *map(_text, others), table.to_markdown()]
    if result.has_faults:
        parts.append(result.fault_table().to_markdown())
    if result.errors:
        parts += ["### Errors in your code", "\n".join(_errors(result))]
    if failed := failed_by_scenario(result):
        items = [_failed(failure, more, address) for failure, more in failed[:SHOWN]]
        items += [f"- {len(failed) - SHOWN} more scenarios"] * (len(failed) > SHOWN)
        parts += ["### Failed conversations, the shortest of each scenario", "\n".join(items)]
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def heading(title: str, verdict: str) -> str:
    """The title, and the verdict in bold."""
    return f"## {_text(title)}\n\n**{_text(verdict)}**\n"


def _errors(result: Successes) -> Iterator[str]:
    for error in result.errors[:SHOWN]:
        count = "1 conversation" if error.conversations == 1 else f"{error.conversations} conversations"
        yield f"- {count}: {_text(error.error)}"
        yield from (f"  - at {_text(frame)}" for frame in error.frames)


def _failed(failure: FailedConversation, more: int, address: Callable[[str], str] | None) -> str:
    scenario = _text(failure.scenario)
    linked = scenario if address is None else f"[{scenario}]({address(failure.id)})"
    others = f"; {more_failed(more)}" if more else ""
    return f"- {linked}: {_text(failed_because(failure))}{others}"


def _text(text: str) -> str:
    line = on_one_line(text)
    return markdown_text(line if len(line) <= LONGEST else line[: LONGEST - 1] + "…")
