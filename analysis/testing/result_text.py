"""The result of a test in words, as terminal, page, notebook and Markdown show it: the share first."""

from collections.abc import Iterable

from ...data.stop_reasons import in_words
from .success import FailedConversation, Share, Successes


def headline(result: Successes, *, excluded: bool = False) -> list[str]:
    """The lines that a result begins with: share and interval, pass^k, counts, what has no score.

    `excluded`: the share leaves out conversations in which the user simulator is at fault.
    """
    share = no_share(result) if result.success is None else share_line(result) + " (user faults left out)" * excluded
    lines = (share, pass_hat_line(result), counts(result), unscored(result) if result.unscored else "")
    return [line for line in (*lines, answered(result), gave_up(result), *guarded(result)) if line]


def in_number(conversations: int) -> str:
    """A number of conversations in words."""
    return f"{conversations} conversation{'s' * (conversations != 1)}"


def counts(result: Successes) -> str:
    """How many conversations were planned, and what became of them."""
    failed = result.unscored - result.cut_short
    line = f"{in_number(result.planned)} planned: {result.scored} scored, {result.cut_short} cut short"
    return line + (f", {failed} failed without a score" if failed else "") + f", {result.missing} not begun"


def answered(result: Successes) -> str:
    """The share of conversations in which the agent answered to the end; empty if it did in all."""
    ended = result.answered + result.unanswered
    if not result.unanswered:
        return ""
    return (
        f"answered {100 * result.answered // ended} %: in {result.unanswered} of {in_number(ended)} the agent "
        "crashed, answered nothing, took too long or stopped for a person"
    )


def guarded(result: Successes) -> list[str]:
    """What the assistant's validator did: replies that it could not hold back, and the share without it."""
    lines = []
    if number := result.sent_although_rejected:
        were, them = ("reply was", "it") if number == 1 else ("replies were", "them")
        lines.append(f"{number} {were} sent although a validator rejected {them}")
    if result.rejected_drafts and (rate := result.first_draft) is not None:
        lines.append(
            f"at first draft: {rate.value:.2f} (95 % interval {rate.low:.2f} to {rate.high:.2f}): "
            "successes without a rejected draft"
        )
    return lines


def share_line(share: Share | Successes) -> str:
    """How many conversations succeeded, with the share and its interval; empty if there is no share."""
    rate = share.success
    if rate is None:
        return ""
    return (
        f"{share.successes} of {share.conversations} conversations succeeded: "
        f"{rate.value:.2f} (95 % interval {rate.low:.2f} to {rate.high:.2f})"
    )


def pass_hat_line(share: Share | Successes) -> str:
    """pass^k with its interval, for a few k; empty with fewer than two scenarios."""
    rates = share.pass_hat_intervals
    shown = ((k, rates[k]) for k in few(rates))
    return ", ".join(f"pass^{k} {rate.value:.2f} ({rate.low:.2f} to {rate.high:.2f})" for k, rate in shown)


def few(numbers: Iterable[int]) -> list[int]:
    """The powers of two among the numbers, and the greatest: 1, 2, 4, 8 and 15 of 1 to 15."""
    ordered = sorted(numbers)
    return [number for number in ordered if number & (number - 1) == 0 or number == ordered[-1]]


def no_share(result: Successes) -> str:
    """Why no share of successes can be stated."""
    if result.all.conversations:
        return "no share of successes: the user simulator is at fault in every conversation that has a score"
    return "no share of successes: no conversation has a score"


def unscored(result: Successes) -> str:
    """How many conversations have no score, and why the first has none."""
    return (
        f"{result.unscored} of {result.all.conversations + result.unscored} conversations have no score, "
        f"the first because: {result.unscored_because}"
    )


def gave_up(result: Successes) -> str:
    """How many successes ended with a user that gave up; empty if none did."""
    if not result.gave_up:
        return ""
    return (
        f"{result.gave_up} of {result.successes} successes ended because the user gave up: read one, as their 'success' "
        "may ask too little"
    )


def failed_by_scenario(result: Successes) -> list[tuple[FailedConversation, int]]:
    """The shortest failed conversation of each scenario, and how many more of this scenario failed; shortest first."""
    counts: dict[int, int] = {}
    for failure in result.failures:
        counts[failure.row] = counts.get(failure.row, 0) + 1
    firsts = {failure.row: failure for failure in reversed(result.failures)}
    return [(failure, counts[failure.row] - 1) for failure in result.failures if firsts[failure.row] is failure]


def failed_because(failure: FailedConversation) -> str:
    """Why a conversation failed, how it ended, and whose fault it is."""
    end = in_words(failure.stop)
    reason = failure.reason if end in failure.reason else f"{failure.reason}; {end}"
    return f"{reason} (fault: {failure.fault})"


def more_failed(count: int) -> str:
    """How many more conversations about a scenario failed; empty for none."""
    return f"{count} more of this scenario failed" if count else ""
