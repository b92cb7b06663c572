"""The result of a test in words, as terminal, page, notebook and Markdown show it: the verdict first."""

from .failed_conversations import FailedConversation, FailureGroup, reason_and_end
from .pairs.pairs_text import paired_lines
from .result import Successes
from .shares import Share, few

SECTIONS = (
    "verdict", "pairs", "faults", "errors", "groups", "failed", "scenarios", "users", "user faults", "notes"
)  # fmt: skip
"""The sections of a result, in the order in which terminal, page and Markdown show them.

A report leaves out a section that it has nothing for.
"""
GROUPS = 20
"""Most groups of failures that are listed."""


def headline(result: Successes) -> list[str]:
    """The verdict and the notes, where only they are shown."""
    return [*verdict_lines(result), *note_lines(result)]


def verdict_lines(result: Successes) -> list[str]:
    """The lines that a result begins with: verdict and counts, share and interval, pass^k, and what has no score."""
    share = no_share(result) if result.success is None else share_line(result)
    share += " (user faults left out)" * (result.success is not None and result.exclude_user_faults)
    lines = (
        summary_line(result),
        share,
        of_planned(result),
        pass_hat_line(result),
        *decisions(result),
        unscored(result),
        *(paired_lines(result.against) if result.against is not None else ()),
    )
    return [line for line in lines if line]


def note_lines(result: Successes) -> list[str]:
    """Notes on a result; the last ones are advice and how to resume the run."""
    lines = (
        *result.source_notes,
        answered(result),
        *doubtful(result),
        *guarded(result),
        *result.warnings,
        *result.advice,
        result.resume,
    )
    return [line for line in lines if line]


def summary_line(result: Successes) -> str:
    """The verdict and its reasons, and how many conversations were planned, scored, cut short and not begun."""
    if result.passed is None:
        return counts(result)
    if not result.passed:
        return f"not passed ({'; '.join(result.not_passed_because)}): {counts(result)}"
    compared = result.against
    if compared is None or compared.margin is not None:
        unbound = "" if compared or decisions(result) else "; no threshold is set, so any share passes"
        return f"passed: {counts(result)}{unbound}"
    worse = f", although it is worse than {compared.old_name}" * (compared.suite.shown == "worse")
    unset, what = ("no margin", "difference") if decisions(result) else ("neither a threshold nor a margin", "result")
    return f"passed{worse}: {counts(result)}; {unset} (--fail-if-worse) is set, so any {what} passes"


def decisions(result: Successes) -> list[str]:
    """For each bound of the share whether it is met, and what it decides by."""
    rate = result.success
    if rate is None:
        return []
    lines: list[str] = []
    for bound, name, what, value in (
        (result.threshold, "threshold", "the share of successes", rate.value),
        (result.at_least, "at least", "the lower end of the share's 95 % interval", rate.low),
    ):
        if bound is not None:
            compared = "not below" if value >= bound else "below"
            lines.append(f"{name} {bound:g}: {what}, {value:.4g}, is {compared} it")
    return lines


def in_number(conversations: int, which: str = "") -> str:
    """A number of conversations in words."""
    return f"{conversations} {which}conversation{'s' * (conversations != 1)}"


def counts(result: Successes) -> str:
    """How many conversations were planned, and what became of them."""
    failed = result.unscored - result.cut_short
    no_score = f", {failed} without a score" if failed else ""
    if result.passed is None:  # stored conversations, of which nothing is planned
        return f"{in_number(result.planned)}: {result.scored} scored{no_score}, {result.cut_short} cut short"
    return (
        f"{in_number(result.planned)} planned: {result.scored} scored{no_score}, {result.cut_short} cut short, "
        f"{result.not_begun} not begun"
    )


def resuming(result: Successes, again: str, end: str = "", *, mend: str = "") -> str:
    """The line that resumes an incomplete run; empty if it would simulate nothing.

    `again`: the call or the command. `end`: why the run ended, if something ended it. `mend`: what to do in place of
    resuming, where the run would be refused once the code that failed is another.
    """
    parts = (
        (result.not_begun, "not begun"),
        (result.cut_short, "cut short"),
        (result.ended_by_error - result.not_scorable, "ended by an error"),
        (result.not_scorable, "could not be scored"),
    )
    lacking = ", ".join(f"{count} {what}" for count, what in parts if count)
    again += " and a higher --max-tokens (in Python Limits(max_tokens=...))" * bool(result.at_own_limit)
    is_own = bool(result.errors or result.crashed or result.silent)  # the same code would end in the same way
    go_on = f"continue{', once it is mended' * is_own}: {again}"
    return "; ".join(filter(None, (end, lacking, mend or go_on))) if lacking else ""


def answered(result: Successes) -> str:
    """The share of conversations in which the agent answered to the end; empty if it did in all."""
    ended = result.answered + result.unanswered
    if not result.unanswered:
        return ""
    late = f"a turn took longer than {result.turn_timeout:g} s" if result.turn_timeout else "a turn took too long"
    rejected, reasons = sum(result.none_accepted.values()), "; ".join(result.none_accepted)
    crashed = (
        result.unanswered - result.timed_out - result.interrupted - result.silent - result.without_message - rejected
    )
    parts = (
        (crashed, "it crashed"),
        (result.silent, "it answered nothing"),
        (result.without_message, "it answered with no message"),
        (result.timed_out, late),
        (result.interrupted, "it stopped for a person"),
        (rejected, f"no reply was accepted ({reasons})"),
    )
    how = ", ".join(f"{what} in {count}" for count, what in parts if count)
    share = 100 * result.answered / ended
    percent = "below 1" if 0 < share < 0.5 else "above 99" if share >= 99.5 else round(share)
    return (
        f"answered {percent} %: in {result.unanswered} of {in_number(ended)} the agent did not answer to the end: {how}"
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
        f"{share.successes} of {in_number(share.conversations, 'scored ')} succeeded: "
        f"{rate.value:.2f} (95 % interval {rate.low:.2f} to {rate.high:.2f})"
    )


def of_planned(result: Successes) -> str:
    """Between what the share of all planned conversations lies where some have no score; empty if all have one."""
    if result.of_planned is None or result.success is None:
        return ""
    low, high = result.of_planned
    missing = result.unscored + result.not_begun
    return (
        f"of all {result.conversations + missing} conversations {low:.2f} succeed if the {missing} without a score fail, and "
        f"{high:.2f} if they succeed: the interval is only of the scored"
    )


def pass_hat_line(share: Share | Successes) -> str:
    """pass^k with its interval, for a few k; empty with fewer than two scenarios."""
    rates = share.pass_hat_intervals
    shown = ((k, rates[k]) for k in few(rates))
    return ", ".join(f"pass^{k} {rate.value:.2f} ({rate.low:.2f} to {rate.high:.2f})" for k, rate in shown)


def no_share(result: Successes) -> str:
    """Why no share of successes can be stated."""
    if result.all.conversations:
        return "no share of successes: the user simulator is at fault in every conversation that has a score"
    return "no share of successes: no conversation has a score"


def unscored(result: Successes) -> str:
    """How many conversations that began have no score, and why the first has none; empty if all have one."""
    if not result.unscored:
        return ""
    have = "has" if result.unscored == 1 else "have"
    of = in_number(result.all.conversations + result.unscored)
    return f"{result.unscored} of {of} that began {have} no score, the first because: {result.unscored_because}"


def doubtful(result: Successes) -> list[str]:
    """Lines on successes in which the user gave up, or the agent did not answer to the end."""
    little = "read one, as its 'success' may ask too little"
    refused, left = result.gave_up_refused, result.gave_up - result.gave_up_refused
    after = "after the refusal that its 'success' asks for"
    gave_up = f"the user gave up {after}" if refused else f"the user gave up: {little}"
    if refused and left:
        gave_up = f"the user gave up, in {refused} {after}; of the other {left} {little}"
    endings = (
        (result.gave_up, gave_up),
        (result.unanswered_successes, f"the agent did not answer to the end: {little}"),
    )
    lines = [f"in {count} of {result.successes} successes {end}" for count, end in endings if count]
    if result.by_goodbye:
        lines.append(
            f"in {result.by_goodbye} of {in_number(result.scored, 'scored ')} the scenario has no 'success': "
            "the user's goodbye counts as success there, unless the user gives up"
        )
    return lines


def fault_line(result: Successes) -> str:
    """Whose fault the conversations without success are; empty if all succeeded."""
    faults = [f"{fault} {count}" for fault, count in result.faults.items() if count]
    lacking = (("cut short", result.cut_short), ("not begun", result.not_begun))
    of_these = ", ".join(f"{count} {what}" for what, count in lacking if count)
    return f"whose fault: {', '.join(faults)}{f' (of these {of_these})' * bool(of_these)}" if faults else ""


def group_line(group: FailureGroup, result: Successes) -> str:
    """How many of the failed conversations have the group's cause, and in how many scenarios."""
    where = f" ({group.scenarios} scenarios)" if group.scenarios > 1 else ""
    versions = f" ({', '.join(f'{name} {count}' for name, count in group.versions.items())})" if group.versions else ""
    return f"{group.conversations} of {len(result.failures)}: {group.name}{where}{versions}"


def group_lines(result: Successes) -> list[str]:
    """A line for each group of failures, the largest first, with its shortest conversation."""
    lines = [
        f"{group_line(group, result)}; shortest: {group.first}{at_message(group.message)}"
        for group in result.groups[:GROUPS]
    ]
    return lines + [f"{len(result.groups) - GROUPS} more groups"] * (len(result.groups) > GROUPS)


def at_message(number: int | None) -> str:
    """The place of a message in a conversation, in words; empty for none."""
    return "" if number is None else f", message {number}"


def failed_by_scenario(result: Successes) -> list[tuple[FailedConversation, int]]:
    """The shortest failed conversation of each scenario, and how many more of this scenario failed; shortest first.

    Its scenario is named as in the table.
    """
    names = result.names
    counts: dict[int, int] = {}
    for failure in result.failures:
        counts[failure.row] = counts.get(failure.row, 0) + 1
    firsts = {failure.row: failure for failure in reversed(result.failures)}
    return [
        (failure.model_copy(update={"scenario": names[failure.row]}), counts[failure.row] - 1)
        for failure in result.failures
        if firsts[failure.row] is failure
    ]


def failed_because(failure: FailedConversation) -> str:
    """Why a conversation failed, how it ended, which tools ended in an error, and whose fault it is."""
    what = "; ".join((reason_and_end(failure.reason, failure.stop), *failure.tool_errors))
    return f"{what} (fault: {failure.fault})"


def more_failed(count: int) -> str:
    """How many more conversations about a scenario failed; empty for none."""
    return f"{count} more of this scenario failed" if count else ""
