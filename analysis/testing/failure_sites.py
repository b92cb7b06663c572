"""Where a failed conversation went wrong, and what it broke there, by rules and without a model."""

from ...data.records import Conversation, stop_in_words
from ..agent_faults.made_calls import FailureReading
from ..agent_faults.rules import RULES, Expectation, FailureCause, in_call, other_argument
from ..agent_faults.success_conditions import broken_condition, state_difference
from ..outcomes import NONE_ACCEPTED, Outcome, agent_failed, fell_silent, gave_no_message, rejected_because
from ..user_faults import USER_RULES, earliest_fault


def cause_of(conversation: Conversation, result: Outcome) -> FailureCause:
    """The first cause that a rule finds in a failed conversation.

    Else it is the condition of the success that it broke, or its stop reason.
    """
    last = len(conversation.messages) - 1 if conversation.messages else None
    if end := _of_end(conversation, result, last):
        return end
    reading = FailureReading(conversation)
    # What the agent did after the user went wrong is not the cause.
    fault = earliest_fault(conversation)
    for rule in RULES:
        causes = (cause for cause in rule(reading) if fault is None or (cause.message or 0) < fault.message)
        if (cause := next(causes, None)) is not None:
            return cause
    if cause := _wrong_value(reading, result.reason):
        return cause
    if words := broken_condition(result.reason):
        if words.specific:
            return FailureCause(name=words.name, site="end", message=last, expectation="success")
        if call := next((call for call in reversed(reading.calls) if call.acts and not call.error), None):
            return in_call(call, f"after `{call.name}` was called: {words.name}", "success")
        name = "; ".join(dict.fromkeys((words.name, stop_in_words(conversation.stop))))
        return FailureCause(name=name, site="end", message=last, expectation="success")
    return FailureCause(name=stop_in_words(conversation.stop), site="end", message=last, expectation="stop")


def _of_end(conversation: Conversation, result: Outcome, last: int | None) -> FailureCause | None:
    """The cause where code, a validator or the simulated user ended the conversation."""

    def at_end(name: str, expectation: Expectation) -> FailureCause:
        return FailureCause(name=name, site="end", message=last, expectation=expectation)

    if result.fault == "user" and (rule := result.user_fault):
        if rule not in USER_RULES:
            return at_end(f"the user simulator was at fault: {stop_in_words(rule)}", "user")
        name = f"the user simulator was at fault: {USER_RULES[rule].description}"
        return FailureCause(name=name, site="message", message=result.user_fault_at, expectation="user")
    if agent_failed(conversation) and (failure := conversation.failure) is not None:
        if fell_silent(conversation):
            return at_end("the agent answered nothing", "code")
        if gave_no_message(conversation):
            return at_end("the agent's function answered with no message", "code")
        kind = failure.error.partition(":")[0].strip()
        kind = kind if kind.isidentifier() else "an error"
        place = f" in `{result.frames[-1].rpartition(' in ')[2]}`" if result.frames else ""
        return at_end(f"the agent's code raised {kind}{place}", "code")
    if conversation.stop == NONE_ACCEPTED:
        return at_end(f"no reply of the agent was accepted: {rejected_because(conversation)}", "validator")
    if conversation.fault == "assistant":
        return at_end(stop_in_words(conversation.stop), "stop")
    return None


def _wrong_value(reading: FailureReading, reason: str) -> FailureCause | None:
    """The call that wrote the value in which the final state differs."""
    if (difference := state_difference(reason)) is None or not difference.actual:
        return None
    for call in reversed(reading.calls):
        if call.acts and not call.error and (name := call.argument_with(difference.actual)):
            return in_call(call, other_argument(call, name), "success")
    return None
