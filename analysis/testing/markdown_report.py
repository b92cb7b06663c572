"""The result of a test as Markdown, for the page of a CI job.

Every text from a model or a file is escaped.
"""

from collections.abc import Callable, Iterator, Mapping

from ...data.text.terminal import on_one_line
from ..table_escapes import markdown_text
from .failed_conversations import FailedConversation
from .pairs.pairs_text import changed_lines, measure_table
from .result import Successes
from .result_text import (
    GROUPS,
    SECTIONS,
    at_message,
    failed_because,
    failed_by_scenario,
    group_line,
    more_failed,
    note_lines,
    verdict_lines,
)

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
    sections: Mapping[str, Callable[[], Iterator[str]]] = {
        "verdict": lambda: _verdict(result, title),
        "pairs": lambda: _pairs(result),
        "faults": lambda: iter([result.fault_table().to_markdown()] if result.has_faults else []),
        "errors": lambda: _errors(result),
        "groups": lambda: _groups(result, address),
        "failed": lambda: _failed_conversations(result, address),
        "scenarios": lambda: _scenarios(result),
        "users": lambda: iter([result.by_user.table().to_markdown()] if result.by_user.users else []),
        "notes": lambda: map(_text, note_lines(result)),
    }
    parts = (part for name in SECTIONS if name in sections for part in sections[name]())
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def _verdict(result: Successes, title: str) -> Iterator[str]:
    first, *others = verdict_lines(result)
    yield heading(title, first)
    yield from map(_text, others)


def _pairs(result: Successes) -> Iterator[str]:
    if (paired := result.against) is None:
        return
    if paired.measures:
        yield measure_table(paired).to_markdown()
    if lines := changed_lines(paired):
        yield "### Pairs that one version won"
        yield "\n".join(f"- {_text(line)}" for line in lines)


def _scenarios(result: Successes) -> Iterator[str]:
    table = result.table()
    if left := table.rows[ROWS:]:
        notes = (*table.notes, f"{len(left)} more scenarios are left out here")
        table = table.model_copy(update={"rows": table.rows[:ROWS], "notes": notes})
    yield table.to_markdown()


def _groups(result: Successes, address: Callable[[str], str] | None) -> Iterator[str]:
    if not result.groups:
        return
    yield "### Groups of failures"
    items: list[str] = []
    for group in result.groups[:GROUPS]:
        place = f"{_text(group.first)}{at_message(group.message)}"
        linked = place if address is None else f"[{place}]({_at(address(group.first), group.message)})"
        items.append(f"- {_text(group_line(group, result))}; shortest: {linked}")
    items += [f"- {len(result.groups) - GROUPS} more groups"] * (len(result.groups) > GROUPS)
    yield "\n".join(items)


def _at(address: str, message: int | None) -> str:
    """The address of a message on the page of a conversation."""
    return address if message is None else f"{address}/{message}"


def _failed_conversations(result: Successes, address: Callable[[str], str] | None) -> Iterator[str]:
    if failed := failed_by_scenario(result):
        items = [_failed(failure, more, address) for failure, more in failed[:SHOWN]]
        items += [f"- {len(failed) - SHOWN} more scenarios"] * (len(failed) > SHOWN)
        yield "### Failed conversations, the shortest of each scenario"
        yield "\n".join(items)


def heading(title: str, verdict: str) -> str:
    """The title, and the verdict in bold."""
    return f"## {_text(title)}\n\n**{_text(verdict)}**\n"


def _errors(result: Successes) -> Iterator[str]:
    if result.errors:
        yield "### Errors in your code"
        yield "\n".join(_error_items(result))


def _error_items(result: Successes) -> Iterator[str]:
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
