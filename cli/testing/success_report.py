"""The report of `duologue test` in the terminal, and the run's page."""

from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ...data.files.json import read_json, write_text
from ...data.formats.record_lines import attempted
from ...data.formats.source import PAGE
from ...data.text.terminal import on_one_line
from ..streams import put, say, stdout

if TYPE_CHECKING:
    from ...analysis.testing.success import Successes


def write_page(folder: Path, result: "Successes") -> Path:
    """Write the page of a run into its folder; it begins with the result."""
    from ... import views

    conversations, manifest = tuple(attempted(folder)), read_json(folder / "manifest.json")
    write_text(folder / PAGE, views.run_page(conversations, folder.resolve().name, manifest=manifest, result=result))
    return folder / PAGE


def address(page: Path, conversation: str, message: int | None = None) -> str:
    """Where a conversation, or one of its messages, stands on the page."""
    place = "" if message is None else f"/{message}"
    return f"{page.resolve().as_uri()}#{quote(conversation)}{place}"


def page_address(conversation: str) -> str:
    """The same for a file that travels with the run folder: relative to it."""
    return f"{PAGE}#{quote(conversation)}"


def as_json(result: "Successes", page: Path | None) -> dict[str, Any]:
    """The result as plain JSON; each failure with its address."""
    plain: dict[str, Any] = result.model_dump(mode="json")
    if page is not None:
        for failure in plain["failures"]:
            failure["page"] = address(page, failure["id"])
    return plain


def report(result: "Successes", page: Path | None) -> None:
    """Print the result for people, the verdict first."""
    from ...analysis.testing.report import TERMINAL, Line
    from ...analysis.testing.report import report as parts_of

    for part in parts_of(result, TERMINAL):
        if not isinstance(part, Line):
            stdout.print(part.rich())
            continue
        indent = {"item": "  ", "detail": "    "}.get(part.kind, "")
        put(indent + on_one_line(part.text))
        if part.conversation:
            place = part.place if page is None else address(page, part.conversation, part.message)
            put(f"    shortest: {place}")
    say(*result.advice)
