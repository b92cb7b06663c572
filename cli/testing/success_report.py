"""The report of `duologue test`: verdict, faults, groups of failures, the place of the shortest, the table."""

from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ...data.files.json import read_json, write_text
from ...data.formats.record_lines import attempted
from ...data.formats.source import PAGE
from ...data.text.terminal import on_one_line
from ..output.failure_lines import code_errors
from ..streams import put, say, stdout

if TYPE_CHECKING:
    from ...analysis.outcomes import Crashes
    from ...analysis.testing.result import Successes

ON_PAGE = 1_000
"""Most conversations on the page; of a longer run, it shows those without success."""
SHOWN = 3
"""How many scenarios with failures are named."""


def write_page(folder: Path, result: "Successes", crashes: "Crashes" = "unscored") -> Path:
    """Write the page of a run into its folder; it begins with the result."""
    from ... import views
    from ...analysis.outcomes import outcome

    conversations = attempted(folder)
    shown = (
        conversations
        if result.planned <= ON_PAGE
        else (conversation for conversation in conversations if not outcome(conversation, crashes).success)
    )
    page = views.run_page(
        list(islice(shown, ON_PAGE)),
        folder.resolve().name,
        manifest=read_json(folder / "manifest.json"),
        result=result,
        crashes=crashes,
    )
    write_text(folder / PAGE, page)
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
    from ...analysis.testing.result_text import SECTIONS, fault_line, note_lines, verdict_lines

    # Advice and the line that resumes stand at the end, where they are read; the notes on the source were printed first.
    notes = note_lines(result.model_copy(update={"advice": (), "resume": "", "source_notes": ()}))
    sections: dict[str, Callable[[], object]] = {
        "verdict": lambda: put(*map(on_one_line, verdict_lines(result))),
        "pairs": lambda: _report_pairs(result),
        "faults": lambda: put(*filter(None, [fault_line(result)])),
        "errors": lambda: say(*code_errors(result.errors)),
        "groups": lambda: _report_groups(result, page),
        "failed": lambda: _report_failed(result, page),
        "scenarios": lambda: stdout.print(result.table().rich()),
        "users": lambda: stdout.print(result.by_user.table().rich()) if result.by_user.users else None,
        "user faults": lambda: _report_user_faults(result) if result.user_faults else None,
        "notes": lambda: put(*map(on_one_line, notes)),
    }
    for name in SECTIONS:
        if name in sections:
            sections[name]()
    say(*result.advice)


def _report_groups(result: "Successes", page: Path | None) -> None:
    from ...analysis.testing.result_text import GROUPS, at_message, group_line

    if not result.groups:
        return
    put("groups of failures:")
    for group in result.groups[:GROUPS]:
        place = f"{group.first}{at_message(group.message)}"
        shortest = place if page is None else address(page, group.first, group.message)
        put(f"  {on_one_line(group_line(group, result))}", f"    shortest: {shortest}")
    if more := len(result.groups) - GROUPS:
        put(*[f"  {more} more groups"] * (more > 0))


def _report_failed(result: "Successes", page: Path | None) -> None:
    from ...analysis.testing.result_text import failed_because, failed_by_scenario, more_failed

    failed = failed_by_scenario(result)
    for failure, more in failed[:SHOWN]:
        say(on_one_line(f"failed: {failure.id}: {failure.scenario}: {failed_because(failure)}"))
        message = failure.cause.message if failure.cause else None
        say(*(f"        {line}" for line in (page and address(page, failure.id, message), more_failed(more)) if line))
    if left := failed[SHOWN:]:
        say(f"failed: {len(left)} more scenarios: {left[0][0].scenario}{' and others' * (len(left) > 1)}")


def _report_pairs(result: "Successes") -> None:
    """Print the measures beside success, and the first pairs that one version won."""
    from ...analysis.testing.pairs.pairs_text import changed_lines, measure_table

    if result.against is None:
        return
    if result.against.measures:
        stdout.print(measure_table(result.against).rich())
    put(*map(on_one_line, changed_lines(result.against)))


def _report_user_faults(result: "Successes") -> None:
    from ...analysis.testing.result_text import share_line

    many, reached = len(result.user_faults), sum(bool(fault.success) for fault in result.user_faults)
    say(f"rule: {result.rule}", *result.user_fault_lines())
    say(
        f"by this rule the user simulator is at fault in {many} of {result.all.conversations + result.unscored} "
        f"conversations, of which {reached} succeeded all the same: "
        + ("they are left out" if result.exclude_user_faults else "they count; --exclude-user-faults leaves them out")
    )
    for name, share in (("all", result.all), ("without user faults", result.without_user_faults)):
        if share.success is not None:
            put(f"{name}: {share_line(share)}")
