"""The report of `duologue test`: the table, the fault of each failure, the place of the shortest."""

from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ...data import Conversation
from ...data.files.json_files import read_json, write_text
from ...data.formats import record_lines
from ...data.text.terminal import on_one_line
from ..streams import put, say, stdout
from .failure_lines import code_errors

if TYPE_CHECKING:
    from ...analysis.outcomes import Crashes

PAGE = "page.html"
"""The page of the run, in its folder."""
ON_PAGE = 1_000
"""Most conversations on the page; of a longer run, it shows those without success."""
SHOWN = 3
"""How many scenarios with failures are named."""


def conversations_of(folder: Path) -> Iterator[Conversation]:
    """The run's conversations in the order of its plan, then those that were cut short, one at a time."""
    return chain(record_lines.iterate_run(folder), record_lines.cut_short(folder))


def write_page(
    folder: Path, count: int, result: Any, *, excluded: bool = False, crashes: "Crashes" = "unscored"
) -> Path:
    """Write the page of a run of so many conversations into its folder; it begins with the result."""
    from ... import views
    from ...analysis.testing.success import outcome

    conversations = conversations_of(folder)
    shown = (
        conversations
        if count <= ON_PAGE
        else (conversation for conversation in conversations if not outcome(conversation, crashes).success)
    )
    page = views.run_page(
        list(islice(shown, ON_PAGE)),
        folder.resolve().name,
        manifest=read_json(folder / "manifest.json"),
        result=result,
        excluded=excluded,
        crashes=crashes,
    )
    write_text(folder / PAGE, page)
    return folder / PAGE


def address(page: Path, conversation: str) -> str:
    """Where a conversation stands on the page."""
    return f"{page.resolve().as_uri()}#{quote(conversation)}"


def page_address(conversation: str) -> str:
    """The same for a file that travels with the run folder: relative to it."""
    return f"{PAGE}#{quote(conversation)}"


def as_json(result: Any, page: Path | None) -> dict[str, Any]:
    """The result as plain JSON; each failure with its address."""
    plain: dict[str, Any] = result.model_dump(mode="json")
    if page is not None:
        for failure in plain["failures"]:
            failure["page"] = address(page, failure["id"])
    return plain


def report(result: Any, page: Path | None, *, excluded: bool) -> None:
    """Print the result for people, the share first."""
    from ...analysis.testing.result_text import failed_because, failed_by_scenario, headline, more_failed

    put(*map(on_one_line, headline(result, excluded=excluded)))
    stdout.print(result.table().rich())
    if any(result.faults.values()):
        stdout.print(result.fault_table().rich())
    if result.user_faults:
        _report_user_faults(result, excluded=excluded)
    say(*_guard_hints(result), *code_errors(result.errors))
    failed = failed_by_scenario(result)
    for failure, more in failed[:SHOWN]:
        say(f"failed: {failure.id}: {failure.scenario}: {failed_because(failure)}")
        say(*(f"        {line}" for line in (page and address(page, failure.id), more_failed(more)) if line))
    if left := failed[SHOWN:]:
        say(f"failed: {len(left)} more scenarios: {left[0][0].scenario}{' and others' * (len(left) > 1)}")


def _guard_hints(result: Any) -> Iterator[str]:
    """What to do about rejected replies that were sent, and a share that is partly the validator's."""
    if result.sent_although_rejected:
        yield "`must=True` of a validator, or --set when_rejected=stop, ends the conversation instead"
    if result.rejected_drafts and result.first_draft is not None:
        yield (
            "the share is that of the agent and its validator together: to measure it without a validator that production "
            "lacks, let that only observe (answer_validator=nodes.Observing(VALIDATOR))"
        )


def decisions(rate: Any, threshold: float | None, at_least: float | None, of: str) -> Iterator[tuple[bool, str]]:
    """For each rule that is set whether the share meets it, and a line on what it decides by."""
    for name, bound, what, value in (
        ("threshold", threshold, "the share itself, whose interval does not matter", rate.value),
        ("at-least", at_least, "the lower end of the share's 95 % interval", rate.low),
    ):
        if bound is not None:
            is_met = value >= bound
            compared = "at least" if is_met else "below"
            yield is_met, f"--{name} {bound:g} decides by {what}: {value:.4g} {of} is {compared} {bound:g}"


def _report_user_faults(result: Any, *, excluded: bool) -> None:
    from ...analysis.testing.result_text import share_line

    many, reached = len(result.user_faults), sum(bool(fault.success) for fault in result.user_faults)
    say(f"rule: {result.rule}")
    say(
        f"by this rule the user simulator is at fault in {many} of {result.all.conversations + result.unscored} "
        f"conversations, of which {reached} succeeded all the same: "
        + ("they are left out" if excluded else "they count; --exclude-user-faults leaves them out")
    )
    for name, share in (("all", result.all), ("without user faults", result.without_user_faults)):
        if share.success is not None:
            put(f"{name}: {share_line(share)}")
