"""Failed conversations of a test, their groups by cause, and user simulators at fault."""

from collections.abc import Iterable, Mapping

from pydantic import Field

from ...data.records import UNTOLD, Conversation, Fault, Record, stop_in_words
from ..agent_faults.rules import Expectation, FailureCause, SiteKind
from ..outcomes import CUT_SHORT, Outcome, tool_error_lines
from ..user_faults import USER_RULES
from .failure_sites import cause_of


class FailedConversation(Record):
    """A conversation that did not reach its goal."""

    id: str
    scenario: str
    messages: int
    stop: str
    fault: Fault
    """Of the user simulator, of the assistant, or of the infrastructure, as the record tells."""
    reason: str
    """What the score says of it, and what the user did wrong."""
    row: int = 0
    """The place of its scenario in `Successes.scenarios`, from 0."""
    tool_errors: tuple[str, ...] = ()
    """A line for each tool of the agent that ended in an error which the reason does not name."""
    cause: FailureCause | None = None
    """Where it went wrong, and what it broke there, by rules."""


class UserFault(Record):
    """A conversation in which the user simulator is at fault, by the rule in `Successes.rule`."""

    id: str
    scenario: str
    rule: str
    success: bool | None
    """Whether it reached its goal all the same; None if it has no score."""
    message: int | None = None
    """Number of the message in which it is at fault, from 0."""
    reason: str = ""
    """What the rule found, in words."""


def user_fault_line(result: Outcome) -> str:
    """What the rules found wrong with the user, and in which message; empty without a fault in a message."""
    if result.user_fault_at is None or result.user_fault not in USER_RULES:
        return ""
    return f"the user simulator is at fault ({result.user_fault}, message {result.user_fault_at}): {result.user_fault_reason}"


def user_fault_lines(faults: Iterable[UserFault]) -> list[str]:
    """A line for each broken rule for users: how often, and the first conversation with message and reason."""
    by_rule: dict[str, list[UserFault]] = {}
    for fault in faults:
        by_rule.setdefault(fault.rule, []).append(fault)
    return [
        f"{rule}{f' ({USER_RULES[rule].description})' if rule in USER_RULES else ''}: {len(several)}, first in "
        f"{several[0].id}, message {several[0].message}: {several[0].reason}"
        for rule, several in by_rule.items()
    ]


def failed_conversation(conversation: Conversation, result: Outcome, row: int) -> FailedConversation:
    """The entry of a failed conversation; `row`: the place of its scenario."""
    return FailedConversation(
        id=result.id,
        scenario=result.scenario,
        messages=len(conversation.messages),
        stop=conversation.stop or "not told",
        fault=result.fault,
        reason="; ".join(filter(None, (result.reason, user_fault_line(result)))),
        row=row,
        tool_errors=tuple(tool_error_lines(result.tool_errors, result.reason)),
        cause=cause_of(conversation, result),
    )


def reason_and_end(reason: str, stop: str | None) -> str:
    """Why a conversation is not a success, and how it ended where the reason does not contain that."""
    end = stop_in_words(stop)
    if not reason:
        return end
    if reason.startswith(f"{CUT_SHORT}: "):
        return reason
    # What went wrong in a node is its failure's text: that a node failed says no more.
    return reason if end in reason or stop == "model_failed" or end == UNTOLD else f"{reason}; {end}"


class FailureGroup(Record):
    """Failed conversations that have one cause."""

    name: str
    """The cause in words."""
    site: SiteKind
    expectation: Expectation
    tool: str = ""
    conversations: int
    share: float
    """Of all failed conversations, 0 to 1."""
    first: str
    """Id of the shortest of them."""
    message: int | None = None
    """The number of the message at which that one went wrong, from 0."""
    scenarios: int = 1
    """Number of scenarios in which it occurs."""
    versions: dict[str, int] = Field(default_factory=dict)
    """Its conversations by version of the agent, where several are compared."""


def groups_of(failures: Iterable[FailedConversation]) -> tuple[FailureGroup, ...]:
    """The groups of failed conversations, which have to be in order, the shortest first."""
    return joined_groups({"": failures})


def joined_groups(versions: Mapping[str, Iterable[FailedConversation]]) -> tuple[FailureGroup, ...]:
    """The groups of the failed conversations of several versions, by the version's name; `""` is not named."""
    by_name: dict[str, list[tuple[str, FailedConversation]]] = {}
    for version, failures in versions.items():
        for failure in failures:
            if failure.cause is not None:
                by_name.setdefault(failure.cause.name, []).append((version, failure))
    total = sum(map(len, by_name.values()))
    groups = [_group(name, group, total) for name, group in by_name.items()]
    return tuple(sorted(groups, key=lambda group: (-group.conversations, group.name)))


def _group(name: str, members: list[tuple[str, FailedConversation]], total: int) -> FailureGroup:
    _, shortest = min(members, key=lambda member: (member[1].messages, member[1].id))
    cause = shortest.cause
    assert cause is not None
    counts: dict[str, int] = {}
    for version, _ in members:
        counts[version] = counts.get(version, 0) + 1
    return FailureGroup(
        name=name,
        site=cause.site,
        expectation=cause.expectation,
        tool=cause.tool,
        conversations=len(members),
        share=len(members) / total,
        first=shortest.id,
        message=cause.message,
        scenarios=len({(version, failure.row) for version, failure in members}),
        versions={version: count for version, count in counts.items() if version},
    )
