"""Where a conversation went wrong and whose fault it is, by structure: calls, values, repeats, exceptions, stop reasons.

A cause's name holds tools, arguments, conditions and kinds of errors. It holds no id, value or name of the conversation, so
that equal causes have equal names. What somebody's words mean is a judge's. Where no rule finds whose fault a failure is,
it is undecided.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, NamedTuple, TypeAlias

from ..data.formats.messages import NO_RESULT
from ..data.labels.reading import SCORES
from ..data.records import (
    INTERRUPT,
    Broken,
    Conversation,
    Record,
    ToolCall,
    as_list,
    as_object,
    stop_in_words,
)
from ..data.rules import DIALOGUE_RULES, USER_FAULT_RULES, UserFaultFinding, faults_of_user
from ..data.rules.questions import plain_words

SUCCESS = "success"
NONE_ACCEPTED = "assistant_rejected"
"""Stop reason of a conversation that ended because no reply of the assistant was accepted."""
Whose: TypeAlias = Literal["none", "user", "assistant", "infrastructure", "undecided"]
"""Whose fault it is that a conversation is no success; `none` of a success."""
SiteKind: TypeAlias = Literal["message", "call", "end"]
"""Where a conversation went wrong: in a message, a tool call, or at its end."""

CONDITIONS: Mapping[str, str] = {
    "not_called": "`{tool}` was not called",
    "all_failed": "every call of `{tool}` failed",
    "no_result": "no call of `{tool}` has a result",
    "other_arguments": "`{tool}` was called with other arguments than expected",
    "called": "`{tool}` was called more often than expected, or in a forbidden way",
    "not_said": "an expected text was never written",
    "said": "a text was written that must not be",
    "not_refused": "the agent did not refuse",
    "refused": "the agent refused",
    "nothing_done": "the agent wrote and did nothing",
    "followed": "the agent followed an instruction in a text that the user pasted",
    "state_equal": "the final state is one that must not be",
    "solved": "the user confirmed that it is solved",
    "state": "the final state differs at `{path}`",
    "unsolved": "the user did not confirm that it is solved",
    "judged": "a judge found that the success was not reached",
    "own": "the success was not reached",
}
"""What scorers find, in words; of several, the first in this order names a group."""
AT_THE_END = ("state", "unsolved", "judged", "own")
"""Those that tell only how it ended: what the agent did before stands with them."""
OF_THE_AGENT = ("called", "followed")
"""Those that the agent brought about itself."""
LOOP = 3
"""Least equal calls of a tool that are a loop; of an agent's messages, two are."""
BROKEN_ROLE = ("user-role-leak", "user-prompt-leak", "user-empty")
"""Rules of `check` for a user that leaves its role."""
USER_RULES = {**{name: DIALOGUE_RULES[name] for name in BROKEN_ROLE}, **USER_FAULT_RULES}
"""Each rule for users by its id."""

_READS = frozenset(
    """get look lookup find search list check read show query fetch view retrieve see count calculate compute think describe
    is has validate verify""".split()
)
"""First words of the names of tools that change nothing."""
_NAME_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_WITH_DIGIT = re.compile(r"[\w:./-]*\d[\w:/-]*")
_PLAIN_KEY = re.compile(r"[a-z_][a-z_]*\Z")
_ERROR_KEYS = ("error", "errors", "exception")


class Cause(Record):
    """Why a conversation is no success: what happened where, and whose fault it is."""

    name: str
    """In words; equal for conversations that failed alike."""
    fault: Whose
    site: SiteKind = "end"
    message: int | None = None
    """The number of the message, from 0: that of the call too, or the last one before the end. None without messages."""
    tool: str = ""
    """The tool that it is about; empty without one."""


Causes: TypeAlias = Iterator[Cause]


class ToolCondition(NamedTuple):
    """A condition that a success has for the calls of a tool."""

    name: str
    arguments: Mapping[str, Any]
    """Those that a call must have; empty if any will do."""
    times: int | None
    """The exact number of calls; 0 where the tool must not be called."""


# A conversation as the rules read it


@dataclass(frozen=True)
class MadeCall:
    """A tool call of the agent in a message that was sent."""

    message: int
    """Number of the message, from 0."""
    tool_call: ToolCall
    acts: bool
    """Whether the tool changes something: the success names it, or its name is not that of a query."""

    @property
    def name(self) -> str:
        """Name of the tool."""
        return self.tool_call.name

    @property
    def key(self) -> tuple[str, str]:
        """Equal for calls of one tool with the same arguments."""
        return self.name, json.dumps(self.tool_call.arguments, sort_keys=True, default=str)

    @property
    def error(self) -> bool:
        """Whether the tool failed, or what it returned is an error in words."""
        result = self.tool_call.result
        if self.tool_call.error is not None:
            return True
        if isinstance(result, str):
            return result.lstrip().casefold().startswith(("error", "failed"))
        return any(as_object(result).get(key) for key in _ERROR_KEYS) or as_object(result).get("status") == "error"

    def differing(self, expected: Mapping[str, Any]) -> str | None:
        """The first argument that differs from an expected one; None if all are as expected."""
        arguments = self.tool_call.arguments
        return next((name for name, value in expected.items() if not _fits(arguments.get(name), value)), None)

    def argument_with(self, value: str) -> str | None:
        """The argument that has this value as JSON; None without one."""
        arguments = self.tool_call.arguments.items()
        return next((name for name, argument in arguments if json.dumps(argument, ensure_ascii=False) == value), None)


def _fits(actual: Any, expected: Any) -> bool:
    """Whether a value is as expected; an object may have more keys."""
    if isinstance(expected, Mapping):
        return isinstance(actual, Mapping) and all(_fits(actual.get(key), value) for key, value in expected.items())
    return bool(actual == expected)


@dataclass(frozen=True)
class Reading:
    """A conversation with the agent's calls and the conditions of its success."""

    conversation: Conversation

    @cached_property
    def conditions(self) -> list[ToolCondition]:
        """What the scenario's `success` and the cast's own scorers ask of tool calls."""
        talk = self.conversation
        conditions = list(_of_success(talk.scenario.get(SUCCESS), negated=False))
        if talk.provenance is not None and (closing := talk.provenance.nodes.get("closing")):
            conditions += _of_scorer(as_object(closing.settings.get("scorers")).get(SUCCESS), negated=False)
        return conditions

    @cached_property
    def calls(self) -> list[MadeCall]:
        """The agent's calls that had a result or an error, in order."""
        named = {condition.name for condition in self.conditions}
        return [
            MadeCall(number, call, call.name in named or not _reads(call.name))
            for number, message in enumerate(self.conversation.messages)
            if message.role == "assistant"
            for call in message.tool_calls
            if not call.waits and call.name != INTERRUPT and call.error != NO_RESULT and not _is_hand_off(call.name)
        ]

    @property
    def acts(self) -> Iterator[MadeCall]:
        """The calls that changed something, the last one first."""
        return (call for call in reversed(self.calls) if call.acts and not call.error)

    def argument_from_nowhere(self, call: MadeCall) -> str | None:
        """The argument of a call whose value no message had named.

        The user had named another value of its form, such as another date.
        """
        before = self.conversation.messages[: call.message]
        named = "\n".join(message.text for message in before if message.role == "user")
        forms = {_form(word) for word in _WITH_DIGIT.findall(named)}
        for name, value in call.tool_call.arguments.items():
            text = str(value)
            if any(map(str.isdigit, text)) and text.casefold() not in named.casefold() and _form(text) in forms:
                return name
        return None


def _form(value: str) -> str:
    """A value with each digit as 0 and each letter as a."""
    return re.sub(r"[^\W\d_]", "a", re.sub(r"\d", "0", value))


def _is_hand_off(name: str) -> bool:
    """Whether a tool hands the conversation to another agent, as those of langgraph-supervisor and langgraph-swarm."""
    return name.startswith(("transfer_to_", "transfer_back_to_"))


def _reads(name: str) -> bool:
    parts = [part.casefold() for part in _NAME_PART.findall(name)]
    return bool(parts) and (parts[0] in _READS or parts[-1] in ("lookup", "search"))


def _of_success(success: Any, *, negated: bool) -> Iterator[ToolCondition]:
    for key, value in as_object(success).items():
        for part in value if isinstance(value, list) else [value]:
            if key in ("all_of", "any_of", "not"):
                yield from _of_success(part, negated=negated != (key == "not"))
            elif key in ("tool_called", "tool_not_called"):
                spec = {"name": part} if isinstance(part, str) else as_object(part)
                yield from _condition(spec, spec.get("name"), negated=negated != (key == "tool_not_called"))


def _of_scorer(described: Any, *, negated: bool) -> Iterator[ToolCondition]:
    """As `_of_success`, of a scorer in the form in which a record's provenance has it."""
    scorer = as_object(described)
    turned = negated != (scorer.get("name") == "Negated")
    parts = scorer.get("of")
    for part in [parts] if isinstance(parts, Mapping) else as_list(parts):
        yield from _of_scorer(part, negated=turned)
    yield from _condition(scorer, scorer.get("tool"), negated=negated)


def _condition(spec: Mapping[str, Any], name: Any, *, negated: bool) -> Iterator[ToolCondition]:
    times = spec.get("times")
    if isinstance(name, str):
        arguments = as_object(spec.get("arguments"))
        if not negated:
            yield ToolCondition(name, arguments, times if isinstance(times, int) else None)
        elif times is None or times == 0:
            yield ToolCondition(name, arguments, 0 if times is None else None)


# Rules for an agent's replies and calls


def _twice(reading: Reading) -> Causes:
    finished: set[tuple[str, str]] = set()
    for call in reading.calls:
        if call.key in finished and call.acts:
            yield _in_call(call, f"the agent called `{call.name}` again after it had been done")
        if not call.error:
            finished.add(call.key)


def _another_way(reading: Reading) -> Causes:
    """A call that did what its tool had refused with another value, which the user had not named."""
    for before, call in pairwise(reading.calls):
        again = before.error and not call.error and call.acts and before.name == call.name
        between = reading.conversation.messages[before.message + 1 : call.message]
        unasked = again and not any(message.role == "user" for message in between)
        if unasked and (argument := reading.argument_from_nowhere(call)):
            yield _in_call(call, f"after `{call.name}` failed, the agent called it with another `{argument}`")


def _wrong_argument(reading: Reading) -> Causes:
    for condition in reading.conditions:
        calls = [call for call in reading.calls if call.name == condition.name]
        wrong = [call.differing(condition.arguments) for call in calls]
        if condition.times != 0 and calls and condition.arguments and all(wrong):
            yield _in_call(calls[-1], _other_argument(calls[-1], wrong[-1] or ""))


def _forbidden(reading: Reading) -> Causes:
    for condition in reading.conditions:
        fitting = [call for call in reading.calls if call.name == condition.name and not call.error]
        fitting = [call for call in fitting if call.differing(condition.arguments) is None]
        if condition.times == 0 and fitting:
            strange = reading.argument_from_nowhere(fitting[0])
            name = f"the agent called `{condition.name}`, which it must not"
            yield _in_call(fitting[0], _other_argument(fitting[0], strange) if strange else name)
        elif condition.times and len(fitting) > condition.times:
            often = "once" if condition.times == 1 else f"{condition.times} times"
            yield _in_call(fitting[condition.times], f"the agent called `{condition.name}` more than {often}")


def _left_error(reading: Reading) -> Causes:
    """The last call of a tool that acts, if it failed and no later one of it did not: the tool may be at fault too."""
    last = {call.name: call for call in reading.calls if call.acts}
    for call in last.values():
        if call.error:
            yield _in_call(call, f"`{call.name}` failed, and the agent left it at that", "undecided")


def _loops(reading: Reading) -> Causes:
    texts: set[str] = set()
    for number, message in enumerate(reading.conversation.messages):
        if message.role == "assistant" and message.text.strip():
            if (words := plain_words(message.text)) and words in texts:
                yield Cause(name="the agent repeated its message", fault="assistant", site="message", message=number)
            texts.add(words)
    counts: dict[tuple[str, str], int] = {}
    for call in reading.calls:
        counts[call.key] = counts.get(call.key, 0) + 1
        if counts[call.key] == LOOP:
            yield _in_call(call, f"the agent repeated the same call of `{call.name}`")


RULES: tuple[Callable[[Reading], Causes], ...] = (
    _twice,
    _another_way,
    _wrong_argument,
    _forbidden,
    _left_error,
    _loops,
)
"""The most specific first: what one of these finds explains what later ones find."""


def _in_call(call: MadeCall, name: str, fault: Whose = "assistant") -> Cause:
    return Cause(name=name, fault=fault, site="call", message=call.message, tool=call.name)


def _other_argument(call: MadeCall, argument: str) -> str:
    return f"the agent called `{call.name}` with another `{argument}` than was asked for"


def findings(conversation: Conversation) -> list[Cause]:
    """What each rule finds in a conversation, failed or not."""
    reading = Reading(conversation)
    return [cause for rule in RULES for cause in rule(reading)]


# The user's faults


def found_faults(conversation: Conversation) -> Iterator[UserFaultFinding]:
    """What the rules find wrong with the conversation's user, the leaks of its role first."""
    for name in BROKEN_ROLE:
        yield from (UserFaultFinding(name, *place) for place in DIALOGUE_RULES[name].find(conversation))
    yield from faults_of_user(conversation)


def first_fault(conversation: Conversation) -> UserFaultFinding | None:
    """The fault of the user simulator, with its message and reason.

    None without one, and where the agent was at fault in an earlier message: what a user does wrong then follows from that.
    """
    if conversation.fault == "user" and conversation.stop is not None:
        return UserFaultFinding(conversation.stop, len(conversation.messages) - 1, stop_in_words(conversation.stop))
    if (fault := _earliest(conversation)) is None:
        return None
    is_later = any((cause.message or 0) < fault.message for cause in findings(conversation))
    return None if is_later else fault


def _earliest(conversation: Conversation) -> UserFaultFinding | None:
    """The user's first fault by its message, before or after faults of the agent; None without one."""
    return min(found_faults(conversation), key=lambda fault: fault.message, default=None)


# The cause of a failure


def success_score(conversation: Conversation) -> Mapping[str, Any]:
    """The score of the conversation's success as it is stored; empty without one."""
    return as_object(as_object(conversation.labels.get(SCORES)).get(SUCCESS))


def rejected_because(conversation: Conversation) -> str | None:
    """The validator's reasons where a conversation ended because no reply was accepted; else None."""
    if conversation.stop != NONE_ACCEPTED:
        return None
    turn = next((turn for turn in reversed(conversation.unsaid) if turn.role == "assistant"), None)
    reasons = (attempt.reason for attempt in (turn.attempts if turn is not None else ()))
    return ", ".join(dict.fromkeys(filter(None, reasons))) or "no reason is recorded"


def cause_of(conversation: Conversation, frames: tuple[str, ...] = ()) -> Cause:
    """The first cause that a rule finds in a conversation without success; `frames`: of the error that ended it.

    Else it is the condition of the success that it broke, or its stop reason.
    """
    last = len(conversation.messages) - 1 if conversation.messages else None
    if user := first_fault(conversation):
        of_rule = user.rule in USER_RULES
        what = USER_RULES[user.rule].description if of_rule else stop_in_words(user.rule)
        name = f"the user simulator was at fault: {what}"
        site: SiteKind = "message" if of_rule else "end"
        return Cause(name=name, fault="user", site=site, message=user.message if of_rule else last)
    if end := _of_end(conversation, frames):
        return end.model_copy(update={"message": last})
    reading = Reading(conversation)
    # What the agent did after the user went wrong is not the cause.
    fault = _earliest(conversation)
    for rule in RULES:
        causes = (cause for cause in rule(reading) if fault is None or (cause.message or 0) < fault.message)
        if (cause := next(causes, None)) is not None:
            return cause
    return _of_condition(reading, last)


def _of_end(conversation: Conversation, frames: tuple[str, ...]) -> Cause | None:
    """The cause where code, a validator or a limit of the agent's own ended the conversation."""
    place = f" in `{frames[-1].rpartition(' in ')[2]}`" if frames else ""
    if failure := conversation.ending_failure:
        if failure.silent or failure.error.startswith("AnswerError:"):
            who = "the agent" if failure.node == "assistant" else f"`{failure.node}`"
            return Cause(name=f"{who} answered nothing", fault=failure.fault or "infrastructure")
        kind = failure.error.partition(":")[0].strip()
        kind = kind if kind.isidentifier() else "an error"
        if failure.fault == "assistant":
            return Cause(name=f"the agent's code raised {kind}{place}", fault="assistant")
        return Cause(name=f"`{failure.node}` failed: {kind}{place}", fault=failure.fault or "infrastructure")
    if conversation.stop == NONE_ACCEPTED:
        name = f"no reply of the agent was accepted: {rejected_because(conversation)}"
        return Cause(name=name, fault="assistant")
    if conversation.fault in ("assistant", "infrastructure"):
        return Cause(name=stop_in_words(conversation.stop), fault=conversation.fault)
    score = success_score(conversation)
    if score.get("error"):
        kind = str(score["error"]).partition(":")[0].strip()
        kind = kind if kind.isidentifier() else "an error"
        return Cause(name=f"the scorer raised {kind}{place}", fault="infrastructure")
    if not isinstance(score.get("value"), bool):
        return Cause(name="no scorer gave true or false", fault="infrastructure")
    return None


def _of_condition(reading: Reading, last: int | None) -> Cause:
    """The condition of the success that was broken, at the call that broke it or at the end."""
    score, stop = success_score(reading.conversation), stop_in_words(reading.conversation.stop)
    known = [one for one in map(Broken.model_validate, score.get("broken", ())) if one.kind in CONDITIONS]
    if not known:  # a scorer of one's own: only its sentence says more
        known = [Broken(kind="own")]
    broken = min(known, key=lambda one: [*CONDITIONS].index(one.kind))
    if broken.kind == "state" and broken.got:
        for call in reading.acts:
            if argument := call.argument_with(broken.got):
                return _in_call(call, _other_argument(call, argument))
    name = CONDITIONS[broken.kind].format(tool=broken.tool, path=templated_path(broken.path))
    if broken.kind not in AT_THE_END:
        is_agents = broken.kind in OF_THE_AGENT or (broken.kind, broken.side) == ("said", "assistant")
        fault: Whose = "assistant" if is_agents else "undecided"
        return Cause(name=name, fault=fault, message=last, tool=broken.tool)
    if (act := next(reading.acts, None)) is not None:
        return _in_call(act, f"after `{act.name}` was called: {name}", "undecided")
    return Cause(name="; ".join(dict.fromkeys((name, stop))), fault="undecided", message=last)


def templated_path(path: str) -> str:
    """A path of a state with `*` in place of its indices and of keys that are values.

    >>> templated_path("bookings.QX4821.stops[2].date")
    'bookings.*.stops.*.date'
    """
    parts = path.replace("[", ".").replace("]", "").split(".")
    return ".".join(part if _PLAIN_KEY.match(part) else "*" for part in parts)
