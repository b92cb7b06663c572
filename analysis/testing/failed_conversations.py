"""Failed conversations of a test, and those in which the user simulator is at fault, as its result lists them."""

from ...data.records import Conversation, Fault, Record
from ...data.stop_reasons import UNTOLD, in_words
from ..outcomes import CUT_SHORT, Outcome, tool_error_lines
from .failure_sites import FailureCause, cause_of


class FailedConversation(Record):
    """A conversation that did not reach its goal."""

    id: str
    scenario: str
    messages: int
    stop: str
    fault: Fault
    """Of the user simulator, of the assistant, or of the infrastructure, as the record tells."""
    reason: str
    """What the score says of it."""
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


def failed_conversation(conversation: Conversation, result: Outcome, row: int) -> FailedConversation:
    """The entry of a failed conversation; `row`: the place of its scenario."""
    return FailedConversation(
        id=result.id,
        scenario=result.scenario,
        messages=len(conversation.messages),
        stop=conversation.stop or "not told",
        fault=result.fault,
        reason=result.reason,
        row=row,
        tool_errors=tuple(tool_error_lines(result.tool_errors, result.reason)),
        cause=cause_of(conversation, result),
    )


def reason_and_end(reason: str, stop: str | None) -> str:
    """Why a conversation is not a success, and how it ended where the reason does not contain that."""
    end = in_words(stop)
    if not reason:
        return end
    if reason.startswith(f"{CUT_SHORT}: "):
        return reason
    # What went wrong in a node is its failure's text: that a node failed says no more.
    return reason if end in reason or stop == "model_failed" or end == UNTOLD else f"{reason}; {end}"
