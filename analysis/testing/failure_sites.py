"""Where a failed conversation went wrong, and what it broke there, by rules and without a model.

A cause's name holds tools, arguments, conditions and kinds of errors. It holds no id, value or name of the conversation, so
that equal causes have equal names.
"""

from collections.abc import Callable, Iterator
from typing import Literal, TypeAlias

from ...data.records import Conversation, Record
from ...data.rules import DIALOGUE_RULES
from ...data.rules.assistant_faults import (
    asks_for_the_same,
    claimed,
    identifiers,
    promised,
    requested,
    shown_instruction,
    takes_leave,
    written_in,
)
from ...data.rules.dialogue import both_ends
from ...data.rules.prompts_shown import instructions
from ...data.rules.questions import plain_words
from ...data.rules.refusals import outcome_of
from ...data.rules.user_statements import statements
from ...data.stop_reasons import in_words
from ..outcomes import NONE_ACCEPTED, Outcome, agent_failed, fell_silent, gave_no_message, rejected_because
from .made_calls import FailureReading, MadeCall
from .success_conditions import asks_for_refusal, broken_condition, names_a_state, state_difference

SiteKind: TypeAlias = Literal["message", "call", "end"]
"""Where a conversation went wrong: in a message, a tool call, or at its end."""
Expectation: TypeAlias = Literal["rule", "success", "validator", "stop", "tool error", "code", "user"]
"""What was broken: a rule for replies and calls, a condition of the success, a validator's verdict, the ending (`stop`), a
tool's error, one's own code, or a rule for the simulated user."""

LOOP = 3
"""Least equal calls of a tool that are a loop; of an agent's messages, two are."""


class FailureCause(Record):
    """Where a failed conversation went wrong, and the expectation that it broke there."""

    name: str
    """In words; equal for conversations that failed alike."""
    site: SiteKind
    message: int | None = None
    """The number of the message, from 0: that of the call too, or the last one before the end. None without messages."""
    tool: str = ""
    """The tool that it is about; empty without one."""
    expectation: Expectation = "rule"


def cause_of(conversation: Conversation, result: Outcome) -> FailureCause:
    """The first cause that a rule finds in a failed conversation.

    Else it is the condition of the success that it broke, or its stop reason.
    """
    reading = FailureReading(both_ends(conversation))
    last = len(conversation.messages) - 1 if conversation.messages else None
    if (cause := _of_end(conversation, result, last)) is not None:
        return cause
    for rule in RULES:
        if (cause := next(iter(rule(reading)), None)) is not None:
            return cause
    if cause := _wrong_value(reading, result.reason) or _refused(reading):
        return cause
    if words := broken_condition(result.reason):
        if words.specific:
            return FailureCause(name=words.name, site="end", message=last, expectation="success")
        if call := next((call for call in reversed(reading.calls) if call.acts and not call.error), None):
            return _call(call, f"after `{call.name}` was called: {words.name}", "success")
        name = "; ".join(dict.fromkeys((words.name, in_words(conversation.stop))))
        return FailureCause(name=name, site="end", message=last, expectation="success")
    return FailureCause(name=in_words(conversation.stop), site="end", message=last, expectation="stop")


def findings(conversation: Conversation) -> list[FailureCause]:
    """What each rule for replies and calls finds in a conversation, failed or not."""
    reading = FailureReading(both_ends(conversation))
    return [cause for rule in RULES for cause in rule(reading)]


def _of_end(conversation: Conversation, result: Outcome, last: int | None) -> FailureCause | None:
    """The cause where code, a validator or the simulated user ended the conversation."""

    def at_end(name: str, expectation: Expectation) -> FailureCause:
        return FailureCause(name=name, site="end", message=last, expectation=expectation)

    if result.fault == "user" and (rule := result.user_fault):
        if rule not in DIALOGUE_RULES:
            return at_end(f"the user simulator was at fault: {in_words(rule)}", "user")
        number = next((number for number, _ in DIALOGUE_RULES[rule].find(conversation)), last)
        description = DIALOGUE_RULES[rule].description
        return FailureCause(
            name=f"the user simulator was at fault: {description}", site="message", message=number, expectation="user"
        )
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
        return at_end(in_words(conversation.stop), "stop")
    return None


Causes: TypeAlias = Iterator[FailureCause]


def _shows_prompt(reading: FailureReading) -> Causes:
    system_messages = instructions(reading.conversation)
    for number, text in reading.replies():
        if shown_instruction(text, system_messages):
            yield FailureCause(name="the agent showed its instructions", site="message", message=number)


def _other_language(reading: FailureReading) -> Causes:
    for number, text in reading.replies():
        languages = {language for before in reading.user_texts(number) if (language := written_in(before))}
        if languages and (language := written_in(text)) and language not in languages:
            yield FailureCause(
                name="the agent answered in another language than the user's", site="message", message=number
            )


def _invented(reading: FailureReading) -> Causes:
    earlier = str(dict(reading.conversation.scenario)).casefold()
    for number, message in enumerate(reading.conversation.messages):
        if message.role == "user":
            earlier += f"\n{message.text.casefold()}"
            continue
        for call in reading.calls_in(number):
            for name, value in call.tool_call.arguments.items():
                if any(code.casefold() not in earlier for code in identifiers(str(value))):
                    yield _call(
                        call, f"the agent called `{call.name}` with a `{name}` that neither user nor tool had named"
                    )
            earlier += f"\n{call.tool_call.result} {call.tool_call.error}".casefold()
        if any(code.casefold() not in earlier for code in identifiers(message.text)):
            yield FailureCause(
                name="the agent named a code or number that neither user nor tool had named",
                site="message",
                message=number,
            )


def _twice(reading: FailureReading) -> Causes:
    finished: set[tuple[str, str]] = set()
    for call in reading.calls:
        if call.key in finished and call.acts:
            yield _call(call, f"the agent called `{call.name}` again after it had been done")
        if not call.error:
            finished.add(call.key)


def _claims(reading: FailureReading) -> Causes:
    """Actions that the agent reports or promises, and that no tool call of the conversation shows."""
    if not (reading.calls or reading.conditions or names_a_state(reading.conversation)):
        return  # an agent without tools acts by its words
    acted = any(call.acts and not call.error for call in reading.calls)
    for number, text in reading.replies():
        before = [call for call in reading.calls if call.message <= number]
        if any(call.acts and not call.error for call in before):
            return
        claims = claimed(text)
        if not claims and (acted or not promised(text) or outcome_of(text) == "refused"):
            continue
        if claims and before and before[-1].error:
            tool = before[-1].name
            yield FailureCause(
                name=f"after `{tool}` failed, the agent reported it as done",
                site="message",
                message=number,
                tool=tool,
                expectation="tool error",
            )
            continue
        tool = next((condition.name for condition in reading.conditions), "")
        shows = f"no call of `{tool}` shows it" if tool else "no tool call shows it"
        name = f"the agent reported it as done, and {shows}"
        yield FailureCause(name=name, site="message", message=number, tool=tool)


def _wrong_argument(reading: FailureReading) -> Causes:
    for condition in reading.required:
        calls = [call for call in reading.calls if call.name == condition.name]
        wrong = [call.differing(condition.arguments) for call in calls]
        if calls and condition.arguments and all(wrong):
            yield _call(calls[-1], _other_argument(calls[-1], wrong[-1] or ""), "success")


def _forbidden(reading: FailureReading) -> Causes:
    for condition in reading.conditions:
        fitting = [call for call in reading.calls if call.name == condition.name and not call.error]
        fitting = [call for call in fitting if call.differing(condition.arguments) is None]
        if condition.times == 0 and fitting:
            strange = reading.argument_from_nowhere(fitting[0])
            name = f"the agent called `{condition.name}`, which it must not"
            yield _call(fitting[0], _other_argument(fitting[0], strange) if strange else name, "success")
        elif condition.times and len(fitting) > condition.times:
            often = "once" if condition.times == 1 else f"{condition.times} times"
            yield _call(fitting[condition.times], f"the agent called `{condition.name}` more than {often}", "success")


def _left_early(reading: FailureReading) -> Causes:
    """A goodbye of the agent before the user's, before it acted or refused."""
    for number, text in reading.replies():
        acted = any(call.message <= number and call.acts and not call.error for call in reading.calls)
        if acted or outcome_of(text) == "refused" or any(map(takes_leave, reading.user_texts(number))):
            return
        if takes_leave(text):
            yield FailureCause(
                name="the agent took leave before the matter was settled", site="message", message=number
            )


def _asks_again(reading: FailureReading) -> Causes:
    requests: list[tuple[int, frozenset[str]]] = []
    for number, text in reading.replies():
        if not (request := requested(text)):
            continue
        for before, other in requests:
            if asks_for_the_same(request, other) and statements(reading.user_texts(number, after=before)):
                name = "the agent asked again for what the user had answered"
                yield FailureCause(name=name, site="message", message=number)
                break
        requests.append((number, request))


def _loops(reading: FailureReading) -> Causes:
    texts: set[str] = set()
    for number, text in reading.replies():
        if outcome_of(text) == "refused":
            continue  # it is the refusal that fails, however often it is given
        if (words := plain_words(text)) and words in texts:
            yield FailureCause(name="the agent repeated its message", site="message", message=number)
        texts.add(words)
    counts: dict[tuple[str, str], int] = {}
    for call in reading.calls:
        counts[call.key] = counts.get(call.key, 0) + 1
        if counts[call.key] == LOOP:
            yield _call(call, f"the agent repeated the same call of `{call.name}`")


RULES: tuple[Callable[[FailureReading], Causes], ...] = (
    _shows_prompt,
    _other_language,
    _invented,
    _twice,
    _claims,
    _wrong_argument,
    _forbidden,
    _left_early,
    _asks_again,
    _loops,
)
"""Rules for replies and calls, the most specific first: what one of these finds explains what later ones find."""


def _wrong_value(reading: FailureReading, reason: str) -> FailureCause | None:
    """The call that wrote the value in which the final state differs."""
    if (difference := state_difference(reason)) is None or not difference.actual:
        return None
    for call in reversed(reading.calls):
        if call.acts and not call.error and (name := call.argument_with(difference.actual)):
            return _call(call, _other_argument(call, name), "success")
    return None


def _refused(reading: FailureReading) -> FailureCause | None:
    if asks_for_refusal(reading.conversation.scenario.get("success")):
        return None
    for number, text in reading.replies():
        if outcome_of(text) == "refused":
            before = [call for call in reading.calls if call.message <= number]
            tool = before[-1].name if before and before[-1].error else ""
            name = f"after `{tool}` failed, the agent refused" if tool else "the agent refused"
            expectation: Expectation = "tool error" if tool else "rule"
            return FailureCause(name=name, site="message", message=number, tool=tool, expectation=expectation)
    return None


def _call(call: MadeCall, name: str, expectation: Expectation = "rule") -> FailureCause:
    return FailureCause(name=name, site="call", message=call.message, tool=call.name, expectation=expectation)


def _other_argument(call: MadeCall, argument: str) -> str:
    return f"the agent called `{call.name}` with another `{argument}` than was asked for"
