"""What `duologue test` says of its run: the table, whose fault each failure was, where to read the shortest."""

from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ..data import Conversation
from ..data.formats import record_lines
from ..data.formats.jsonfiles import read_json, write_text
from ..data.stop_reasons import in_words
from ..data.text.terminal import on_one_line
from .output import put, say, stdout

PAGE = "page.html"
"""The page of the run, in its folder."""
ON_PAGE = 1_000
"""Most conversations on the page; of a longer run, it shows those without success."""
SHOWN = 3
"""How many failures are named."""


def conversations_of(folder: Path) -> Iterator[Conversation]:
    """The run's conversations in the order of its plan, then those that were cut short, one at a time."""
    return chain(record_lines.iterate_run(folder), record_lines.cut_short(folder))


def write_page(folder: Path, count: int) -> Path:
    """Write the page of a run of so many conversations into its folder."""
    from .. import views
    from ..analysis.success import outcome

    given = conversations_of(folder)
    shown = given if count <= ON_PAGE else (each for each in given if not outcome(each).success)
    page = views.run_page(
        list(islice(shown, ON_PAGE)), folder.resolve().name, manifest=read_json(folder / "manifest.json")
    )
    write_text(folder / PAGE, page)
    return folder / PAGE


def address(page: Path, conversation: str) -> str:
    """Where a conversation stands on the page."""
    return f"{page.resolve().as_uri()}#{quote(conversation)}"


def as_json(result: Any, page: Path | None) -> dict[str, Any]:
    """The result as plain JSON; each failure with its address."""
    plain: dict[str, Any] = result.model_dump(mode="json")
    if page is not None:
        for failure in plain["failures"]:
            failure["page"] = address(page, failure["id"])
    return plain


def report(result: Any, page: Path | None, *, excluded: bool) -> None:
    """Print the result for people."""
    stdout.print(result.table().rich())
    if result.success is None:
        put(no_share(result))
    else:
        put(_line(result, result.success) + (" (user faults left out)" if excluded else ""))
        put(", ".join(f"pass^{k} {value:.2f}" for k, value in result.pass_hat.items()))
    if result.unscored:
        put(on_one_line(unscored(result)))
    if any(result.faults.values()):
        stdout.print(result.fault_table().rich())
    if result.user_faults:
        _report_user_faults(result, excluded=excluded)
    for failure in result.failures[:SHOWN]:
        end = in_words(failure.stop)
        told = failure.reason if end in failure.reason else f"{failure.reason}; {end}"
        say(f"failed: {failure.id}: {failure.scenario}: {told} (fault: {failure.fault})")
        if page is not None:
            say(f"        {address(page, failure.id)}")


def no_share(result: Any) -> str:
    """Why no share of successes can be stated."""
    if result.all.conversations:
        return "no share of successes: the user simulator is at fault in every conversation that has a score"
    return "no share of successes: no conversation has a score"


def unscored(result: Any) -> str:
    """How many conversations have no score, and why the first has none."""
    return (
        f"{result.unscored} of {result.all.conversations + result.unscored} conversations have no score, "
        f"the first because: {result.unscored_because}"
    )


def _report_user_faults(result: Any, *, excluded: bool) -> None:
    many, reached = len(result.user_faults), sum(bool(each.success) for each in result.user_faults)
    say(f"rule: {result.rule}")
    say(
        f"by this rule the user simulator is at fault in {many} of {result.all.conversations + result.unscored} "
        f"conversations, of which {reached} succeeded all the same: "
        + ("they are left out" if excluded else "they count; --exclude-user-faults leaves them out")
    )
    for name, share in (("all", result.all), ("without user faults", result.without_user_faults)):
        if share.success is not None:
            put(f"{name}: {_line(share, share.success)}")


def _line(share: Any, rate: Any) -> str:
    return (
        f"{share.successes} of {share.conversations} conversations succeeded: "
        f"{rate.value:.2f} (95 % interval {rate.low:.2f} to {rate.high:.2f})"
    )
