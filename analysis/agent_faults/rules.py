"""Rules for an agent's replies and calls, by structure: each finds the places in a conversation that have its fault.

A cause's name holds tools, arguments, conditions and kinds of errors. It holds no id, value or name of the conversation, so
that equal causes have equal names. What an agent's words mean is a judge's.
"""

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Literal, TypeAlias

from ...data.records import Conversation, Record
from ...data.rules.questions import plain_words
from .made_calls import FailureReading, MadeCall

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


Causes: TypeAlias = Iterator[FailureCause]


def _twice(reading: FailureReading) -> Causes:
    finished: set[tuple[str, str]] = set()
    for call in reading.calls:
        if call.key in finished and call.acts:
            yield in_call(call, f"the agent called `{call.name}` again after it had been done")
        if not call.error:
            finished.add(call.key)


def _another_way(reading: FailureReading) -> Causes:
    """A call that did what its tool had refused with another value, which the user had not named."""
    for before, call in pairwise(reading.calls):
        again = before.error and not call.error and call.acts and before.name == call.name
        unasked = again and not reading.user_texts(call.message, after=before.message)
        if unasked and (argument := reading.argument_from_nowhere(call)):
            name = f"after `{call.name}` failed, the agent called it with another `{argument}`"
            yield in_call(call, name, "tool error")


def _wrong_argument(reading: FailureReading) -> Causes:
    for condition in reading.required:
        calls = [call for call in reading.calls if call.name == condition.name]
        wrong = [call.differing(condition.arguments) for call in calls]
        if calls and condition.arguments and all(wrong):
            yield in_call(calls[-1], other_argument(calls[-1], wrong[-1] or ""), "success")


def _forbidden(reading: FailureReading) -> Causes:
    for condition in reading.conditions:
        fitting = [call for call in reading.calls if call.name == condition.name and not call.error]
        fitting = [call for call in fitting if call.differing(condition.arguments) is None]
        if condition.times == 0 and fitting:
            strange = reading.argument_from_nowhere(fitting[0])
            name = f"the agent called `{condition.name}`, which it must not"
            yield in_call(fitting[0], other_argument(fitting[0], strange) if strange else name, "success")
        elif condition.times and len(fitting) > condition.times:
            often = "once" if condition.times == 1 else f"{condition.times} times"
            yield in_call(fitting[condition.times], f"the agent called `{condition.name}` more than {often}", "success")


def _loops(reading: FailureReading) -> Causes:
    texts: set[str] = set()
    for number, text in reading.replies():
        if (words := plain_words(text)) and words in texts:
            yield FailureCause(name="the agent repeated its message", site="message", message=number)
        texts.add(words)
    counts: dict[tuple[str, str], int] = {}
    for call in reading.calls:
        counts[call.key] = counts.get(call.key, 0) + 1
        if counts[call.key] == LOOP:
            yield in_call(call, f"the agent repeated the same call of `{call.name}`")


def _left_error(reading: FailureReading) -> Causes:
    """The last call of a tool that acts, if it failed and no later one of it did not."""
    last = {call.name: call for call in reading.calls if call.acts}
    for call in last.values():
        if call.error:
            yield in_call(call, f"`{call.name}` failed, and the agent left it at that", "tool error")


RULES: tuple[Callable[[FailureReading], Causes], ...] = (
    _twice,
    _another_way,
    _wrong_argument,
    _forbidden,
    _left_error,
    _loops,
)
"""Rules for replies and calls, the most specific first: what one of these finds explains what later ones find."""


def findings(conversation: Conversation) -> list[FailureCause]:
    """What each rule finds in a conversation, failed or not."""
    reading = FailureReading(conversation)
    return [cause for rule in RULES for cause in rule(reading)]


def in_call(call: MadeCall, name: str, expectation: Expectation = "rule") -> FailureCause:
    """A cause whose site is a tool call."""
    return FailureCause(name=name, site="call", message=call.message, tool=call.name, expectation=expectation)


def other_argument(call: MadeCall, argument: str) -> str:
    """The name of a call with another value of an argument."""
    return f"the agent called `{call.name}` with another `{argument}` than was asked for"
