"""What broke in a failed conversation, and whose fault that is, by structure only.

What broke is the condition of the success that was not met, or how the conversation ended. Its name holds the tool, the
field and the kinds of the expected and the present value, and no id or name of a conversation, so that equal failures
group. A fault has a name only where structure shows it; what somebody's words mean is a judge's, and everything else is
undecided.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

from ..data.formats.messages import NO_RESULT
from ..data.labels.reading import SCORES
from ..data.records import (
    INTERRUPT,
    Attempt,
    Broken,
    Conversation,
    Record,
    ToolCall,
    as_list,
    as_object,
    stop_in_words,
)
from ..data.rules import DIALOGUE_RULES
from ..data.rules.guards import is_repeat
from ..data.rules.outcomes import consent, is_courtesy, outcome_of, statements
from ..data.rules.user_faults import USER_FAULT_RULES, UserFaultFinding, faults_of_user
from ..data.scenarios import tools_in_success
from ..data.text.languages import HAN
from ..data.text.values import brief_of, holds, names_goal, scalars, values_in

SUCCESS = "success"
NONE_ACCEPTED = "assistant_rejected"
"""Stop reason of a conversation that ended because no reply of the assistant was accepted."""
NOT_APPROVED = "User rejected the tool call for "
"""Begin of the error that LangChain's `HumanInTheLoopMiddleware` records of a call that was not approved."""
Whose: TypeAlias = Literal["none", "user", "assistant", "infrastructure", "tools", "scenario", "undecided"]
"""Whose fault it is that a conversation is no success; `none` of a success. `tools`, `scenario`: only by repairs (`why`)."""
SiteKind: TypeAlias = Literal["message", "call", "end"]
"""Where a conversation went wrong: in a message, a tool call, or at its end."""

CONDITIONS: Mapping[str, str] = {
    "not_called": "`{tool}` was not called",
    "all_failed": "every call of `{tool}` failed",
    "no_result": "no call of `{tool}` has a result",
    "other_arguments": "`{tool}` was called with another `{path}`: {values}",
    "called": "`{tool}` was called more often than expected, or in a forbidden way",
    "not_said": "an expected text was never written",
    "said": "a text was written that must not be",
    "not_refused": "the agent did not refuse",
    "refused": "the agent refused",
    "nothing_done": "the agent wrote and did nothing",
    "followed": "the agent followed an instruction in a text that the user pasted",
    "state_equal": "the final state is one that must not be",
    "solved": "the user confirmed that it is solved",
    "state": "the final state differs at `{path}`: {values}",
    "unsolved": "the user did not confirm that it is solved",
    "judged": "a judge found that the success was not reached",
    "own": "the success was not reached",
}
"""What scorers find, in words; of several, the first in this order names a group."""
BROKEN_ROLE = ("user-role-leak", "user-prompt-leak", "user-empty")
"""Rules of `check` for a user that leaves its role."""
USER_RULES = {**{name: DIALOGUE_RULES[name] for name in BROKEN_ROLE}, **USER_FAULT_RULES}
"""Each rule for users by its id."""
NO_GOAL, CONTRADICTS = "user-names-no-goal", "user-contradicts"
_OWN_RULES = {
    NO_GOAL: "a user that never named its goal, and was ended for that",
    CONTRADICTS: "a user that gives another value than its scenario has",
}
_OTHER_VALUE = (CONTRADICTS, "user-invents")
_HARMLESS = ("user-all-at-once", "user-as-assistant", "user-repeats-itself")
"""Faults of a user that a sound agent survives: they explain nothing where the agent went on and acted."""
_HAND_OFF = ("transfer_to_", "transfer_back_to_", "handoff_to_", "hand_off_to_")
"""Begins of the tools of langgraph-supervisor and langgraph-swarm that hand the conversation to another agent."""
_OF_ANY_AGENT = ("model", "agent", "tools", INTERRUPT)
"""Names of the nodes that LangChain's agents have: they say nothing of where it was."""
SHORT = 16
"""Characters of a statement, a Chinese one counts as three, beyond which it may be the user's goal in other words."""
_WRONG_CALL = ("Error invoking tool ", "is not a valid tool", "validation error", "missing 1 required")
"""What LangGraph and pydantic say of a call that does not fit the tool, in the error of the call."""
_OF_ANYBODY = (
    "TimeoutError",
    "ConnectionError",
    "BrokenPipeError",
    "UnsupportedProtocol",
    "InvalidURL",
    "LocalProtocolError",
)
"""Errors that an endpoint causes, and one's own code as well: a bound of its own, an address that it made."""
_OF_MACHINE = ("OperationalError", "OSError", "ThrottlingException")
"""Errors that one's own code causes, and the machine as well: a locked database, a full disk."""
_WITH_DIGIT = re.compile(r"[\w:./-]*\d[\w:/-]*")
_REQUESTS = re.compile(
    r"\b(?:please|reply|respond|type|write|say|confirm|let me know|need your)\b|[?？]|请|确认", re.IGNORECASE
)
"""Words of a message that may want an answer."""
_PLAIN_KEY = re.compile(r"[a-z_][a-z_]*\Z")
_ERROR_KEYS = ("error", "errors", "exception")


class Cause(Record):
    """Why a conversation is no success: what broke where, and whose fault it is."""

    name: str
    """What broke, in words; equal for conversations that failed alike."""
    fault: Whose
    because: str = ""
    """What shows that it is this side's fault; empty where it is undecided."""
    site: SiteKind = "end"
    message: int | None = None
    """The number of the message, from 0: that of the call too, or the last one before the end. None without messages."""
    tool: str = ""
    """The tool that it is about; empty without one."""
    node: str = ""
    """The sub-agent or node that acted last; empty of an agent that is one."""

    @property
    def group(self) -> str:
        """The name of its group of failures: what broke, and the last node."""
        return f"{self.name}, at `{self.node}`" if self.node else self.name


@dataclass(frozen=True)
class MadeCall:
    """A tool call of the agent in a message that was sent."""

    message: int
    """Number of the message, from 0."""
    tool_call: ToolCall

    @property
    def name(self) -> str:
        """Name of the tool."""
        return self.tool_call.name

    @property
    def error(self) -> str:
        """Why the tool failed, also where what it returned is an error in words; empty if it did not."""
        result = self.tool_call.result
        if self.tool_call.error is not None:
            return self.tool_call.error or "an error"
        if isinstance(result, str):
            return result if result.lstrip().casefold().startswith(("error", "failed")) else ""
        found = [as_object(result).get(key) for key in _ERROR_KEYS]
        says_so = as_object(result).get("status") == "error"
        return next((str(one) for one in found if one), "an error" if says_so else "")

    def argument_with(self, value: str) -> str | None:
        """The argument that has this value as JSON; None without one."""
        arguments = self.tool_call.arguments.items()
        return next((name for name, argument in arguments if json.dumps(argument, ensure_ascii=False) == value), None)


@dataclass(frozen=True)
class Reading:
    """A conversation with the agent's calls, and the texts in which a value may stand."""

    conversation: Conversation

    @cached_property
    def calls(self) -> list[MadeCall]:
        """The agent's calls that had a result or an error, in order, without those that hand over to another agent."""
        found = []
        for number, message in enumerate(self.conversation.messages):
            if message.role == "assistant":
                hands_over = {place for attempt in message.attempts[-1:] for place in hand_offs(attempt)}
                found += [
                    MadeCall(number, call)
                    for place, call in enumerate(message.tool_calls)
                    if place not in hands_over and not call.waits and call.name != INTERRUPT and call.error != NO_RESULT
                ]
        return [one for one in found if not one.name.startswith(_HAND_OFF)]

    def user_texts(self, before: int | None = None) -> list[str]:
        """The user's messages, or those before a message."""
        return [message.text for message in self.conversation.messages[:before] if message.role == "user"]

    def left_error(self) -> MadeCall | None:
        """The last call of a tool, if it failed by what the agent gave it and no later call of the tool did not."""
        last = {call.name: call for call in self.calls}
        return next((call for call in last.values() if call.error and self._is_own(call)), None)

    def _is_own(self, call: MadeCall) -> bool:
        """Whether the agent made a call fail: it does not fit the tool, or has a value that nobody had named."""
        if call.error.startswith(NOT_APPROVED) or (call.name, call.tool_call.arguments) in self.steps:
            return False
        if any(words in call.error for words in _WRONG_CALL):
            return True
        heard = "\n".join(self.user_texts(call.message))
        results = [str(one.tool_call.result) for one in self.calls[: self.calls.index(call)]]
        known = "\n".join([heard, *results, json.dumps(self.conversation.scenario, default=str)]).casefold()
        forms = {_form(word) for word in _WITH_DIGIT.findall(heard)}
        values = [str(value) for value in call.tool_call.arguments.values() if not isinstance(value, bool)]
        return any(
            any(map(str.isdigit, value)) and value.casefold() not in known and _form(value) in forms for value in values
        )

    @property
    def forbidden(self) -> MadeCall | None:
        """The first call that the scenario's success forbids."""
        for spec in forbidden_in(self.conversation.scenario.get(SUCCESS)):
            for call in self.calls:
                if call.name == spec.get("name") and not call.error:
                    wanted = as_object(spec.get("arguments"))
                    if all(call.tool_call.arguments.get(key) == value for key, value in wanted.items()):
                        return call
        return None

    @cached_property
    def brief(self) -> str:
        """The user's goal and facts."""
        return json.dumps([self.conversation.scenario.get(key) for key in ("goal", "facts")], ensure_ascii=False)

    @property
    def steps(self) -> list[tuple[Any, Any]]:
        """Name and arguments of each step of the plan."""
        plan = as_list(self.conversation.scenario.get("plan"))
        return [(as_object(step).get("name"), as_object(step).get("arguments")) for step in plan]

    @property
    def planned(self) -> list[Any]:
        """The values of the plan's arguments."""
        plan = as_list(self.conversation.scenario.get("plan"))
        return [value for step in plan for value in scalars(as_object(as_object(step).get("arguments")))]

    @property
    def withheld(self) -> list[Any]:
        """Values of the plan that goal or facts have, and the user never gave."""
        heard = "\n".join(self.user_texts())
        return [value for value in self.planned if holds(self.brief, value) and not holds(heard, value)]

    @property
    def asked_for_withheld(self) -> bool:
        """Whether the last question, asked once and in the user's language, asks for a value that the user kept to itself.

        It does if it shares a word with the fact that has the value.
        """
        replies = [one.text for one in self.conversation.messages if one.role == "assistant"]
        if not replies or is_repeat(replies[-1], replies[:-1]):
            return False
        asked = [fact for fact in _facts(self.conversation.scenario) if names_goal(fact, replies[-1:])]
        return any(holds(fact, value) for fact in asked for value in self.withheld)

    def mistaken(self, message: int) -> bool:
        """Whether a message of the user has a code of the form of one that its goal or facts have and it never gave."""
        said = {_form(word) for word in _WITH_DIGIT.findall(self.conversation.messages[message].text)}
        heard = "\n".join(self.user_texts())
        own = {word for word in _WITH_DIGIT.findall(self.brief) if not holds(heard, word)}
        return any("a" in _form(word) and _form(word) in said for word in own)

    @property
    def could_have(self) -> bool:
        """Whether the user gave every value of the oracle's plan that is the user's to give, and let the agent go on.

        Undecided, and so false, where a call of the plan failed as planned, the user said no, gave another value of the same
        form too, or left while it was asked; and where the plan has a value that neither the user nor a tool has.
        """
        plan, messages = as_list(self.conversation.scenario.get("plan")), self.conversation.messages
        if not plan or self.conversation.stop == "max_turns" or not messages:
            return False
        if any(isinstance(value, bool) for value in self.planned):  # "yes" is the answer to many questions
            return False
        results = "\n".join(str(call.tool_call.result) for call in self.calls)
        if not all(holds(self.brief, value) or holds(results, value) for value in self.planned):
            return False
        needed = [value for value in self.planned if holds(self.brief, value)]
        last = max((n for n, one in enumerate(messages) if one.role == "assistant"), default=0)
        heard = "\n".join(self.user_texts(last))
        if not all(holds(heard, value) for value in needed):
            return False
        forms = Counter(_form(str(value)) for value in needed if any(map(str.isdigit, str(value))))
        others = {word for word in _WITH_DIGIT.findall(heard) if not holds(self.brief, word)}
        if {_form(word) for word in others} & set(forms) or max(forms.values(), default=0) > 1:
            return False  # which of two values is which is not told by their forms
        made = [(call.name, call.tool_call.arguments) for call in self.calls if not call.error]
        failed = any(call.error for call in self.calls)
        names = {name for name, _ in self.steps}
        empty = any(call.tool_call.result in ("", "[]", "{}", [], {}) for call in self.calls if call.name not in names)
        if failed or empty or all(one in made for one in self.steps):  # the tools may be at fault
            return False
        if any(consent(text) == "no" for text in self.user_texts()):
            return False
        if _REQUESTS.search(messages[last].text):  # an answer that it did not get
            return False
        if outcome_of(messages[last].text) == "refused" and {one.name for one in self.calls} - names:
            return False  # what a tool besides the plan's told it may be why
        # A user that leaves at anything else than an outcome may have had another wish.
        return (
            self.conversation.stop not in ("user_ended", "user_gave_up") or outcome_of(messages[last].text) is not None
        )


def hand_offs(attempt: Attempt) -> set[int]:
    """Numbers of the calls of a draft that hand over to another agent: one named by the call works in a later step.

    So it is of langgraph-supervisor and langgraph-swarm, and of a tool of one's own that returns a `Command`.
    """
    found = set[int]()
    for place, step in enumerate(attempt.steps):
        here = {step.node, *step.path}
        later = {name for one in attempt.steps[place + 1 :] for name in (one.node, *one.path)} - here
        for number in step.calls:
            if number < len(attempt.tool_calls):
                call = attempt.tool_calls[number]
                named = {str(value) for value in call.arguments.values()}
                if any(name and (name in named or call.name.endswith(f"_{name}")) for name in later):
                    found.add(number)
    return found


def last_node(conversation: Conversation) -> str:
    """The node that called a tool last, or else spoke last: the sub-agent if it is in one; empty without steps."""
    attempts = [one for message in conversation.messages if message.role == "assistant" for one in message.attempts]
    if conversation.ending_failure is not None:  # it ended in a turn of its own, not in one before
        attempts = [one for turn in conversation.unsaid[-1:] if turn.role == "assistant" for one in turn.attempts]
    for attempt in reversed(attempts):
        beside = hand_offs(attempt)
        beside |= {n for n, call in enumerate(attempt.tool_calls) if call.name.startswith((*_HAND_OFF, INTERRUPT))}
        acted = [step for step in attempt.steps if set(step.calls) - beside]
        if step := next(iter(reversed(acted or attempt.steps)), None):
            return step.path[-1] if step.path else "" if step.node in _OF_ANY_AGENT else step.node
    return ""


def _form(value: str) -> str:
    """A value with each digit as 0 and each letter as a."""
    return re.sub(r"[^\W\d_]", "a", re.sub(r"\d", "0", value))


def forbidden_in(success: Any) -> Iterator[Mapping[str, Any]]:
    """The calls that a success forbids whatever else holds: not those in `any_of`."""
    for key, value in as_object(success).items():
        for part in value if isinstance(value, list) else [value]:
            if key == "all_of":
                yield from forbidden_in(part)
            elif key == "not":
                part = as_object(part).get("tool_called") if set(as_object(part)) == {"tool_called"} else None
            if key in ("tool_not_called", "not") or (key == "refused" and not isinstance(part, bool)):
                yield {"name": part} if isinstance(part, str) else as_object(part)


# The user's faults


def found_faults(conversation: Conversation) -> Iterator[UserFaultFinding]:
    """What the rules find wrong with the conversation's user, the leaks of its role first; nothing in a script's words."""
    if conversation.scenario.get("script"):
        return
    for name in BROKEN_ROLE:
        yield from (UserFaultFinding(name, *place) for place in DIALOGUE_RULES[name].find(conversation))
    yield from faults_of_user(conversation)
    yield from _contradictions(conversation)
    yield from _ended_without_goal(conversation)


def _ended_without_goal(conversation: Conversation) -> Iterator[UserFaultFinding]:
    """A user that its validator ended, as none of its messages had a word of its goal or facts: it did not take leave."""
    said = [(n, one.text) for n, one in enumerate(conversation.messages) if one.role == "user" and not one.name]
    if conversation.stop != "user_gave_up" or not said or is_courtesy(said[-1][1]):
        return
    texts = [text for _, text in said]
    stated = any(len(one) + 2 * len(HAN.findall(one)) > SHORT for one in statements(texts))
    if not stated and names_goal(brief_of(conversation.scenario), texts) is False:
        yield UserFaultFinding(NO_GOAL, said[-1][0], "no message has a word of its goal or facts")


def _contradictions(conversation: Conversation) -> Iterator[UserFaultFinding]:
    """A fact of the scenario in its own words, with another value than it has there."""
    facts = _facts(conversation.scenario)
    frames = {_frame(fact): values_in(fact) for fact in facts if values_in(fact) and len(fact) > 8}
    known = set[str]().union(*map(values_in, map(str, scalars(dict(conversation.scenario)))))
    heard = set[str]()
    for number, message in enumerate(conversation.messages):
        if message.role != "user":
            heard |= values_in(message.text)
            continue
        for sentence in re.split(r"(?<=[.。!?！？\n])\s*", message.text):
            if (own := frames.get(_frame(sentence))) is not None and (
                other := values_in(sentence) - known - heard - own
            ):
                yield UserFaultFinding(CONTRADICTS, number, f"gives {min(other)!r} in place of {min(own)!r}")


def _facts(scenario: Mapping[str, Any]) -> list[str]:
    """The facts that the user knows, each a text."""
    facts = scenario.get("facts")
    if isinstance(facts, Mapping):
        return [f"{key}: {value}" for key, value in facts.items()]
    return re.split(r"(?<=[.。;；\n])\s*", facts) if isinstance(facts, str) else [str(one) for one in as_list(facts)]


def _frame(sentence: str) -> str:
    """A sentence without its values and marks."""
    return re.sub(r"[\W_]+", " ", re.sub(r"\w*\d[\w:./-]*", "#", sentence)).strip().casefold()


def first_fault(conversation: Conversation) -> UserFaultFinding | None:
    """The first thing that the user simulator did wrong, with its message and reason; None without one."""
    if conversation.fault == "user" and conversation.stop is not None:
        return UserFaultFinding(conversation.stop, len(conversation.messages) - 1, stop_in_words(conversation.stop))
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
    """What broke in a conversation without success, and whose fault it is; `frames`: of the error that ended it."""
    last = len(conversation.messages) - 1 if conversation.messages else None
    node = last_node(conversation)
    if end := _of_end(conversation, frames):
        return end.model_copy(update={"message": last, "node": node})
    reading = Reading(conversation)
    broke = _of_condition(reading, last)
    found = _weighed(reading, [*found_faults(conversation)])
    user = first_fault(conversation)
    of_user = conversation.fault == "user" or any(weighs for _, weighs in found)
    of_agent = _agents_fault(reading, broke)
    if of_user and of_agent and not (reading.forbidden and not any(one.rule in _OTHER_VALUE for one, _ in found)):
        return broke.model_copy(update={"node": node})  # each side did something wrong, and either may have led to it
    if of_agent:
        return broke.model_copy(update={"fault": "assistant", "because": of_agent, "node": node})
    if of_user and user is not None:
        user = next((fault for fault, weighs in found if weighs), user)
        of_rule = user.rule in USER_RULES or user.rule in _OWN_RULES
        what = USER_RULES[user.rule].description if user.rule in USER_RULES else _OWN_RULES.get(user.rule, "")
        place: dict[str, Any] = {"site": "message", "message": user.message} if of_rule else {"message": last}
        name = f"the user simulator was at fault: {what or stop_in_words(user.rule)}"
        return Cause(name=name, fault="user", because=user.reason, node=node, **place)
    return broke.model_copy(update={"node": node})


def _weighed(reading: Reading, found: Sequence[UserFaultFinding]) -> list[tuple[UserFaultFinding, bool]]:
    """Each finding, and whether it explains the failure; what only may be so is no explanation."""
    # A user may repeat what an agent did not hear; not while it keeps a value to itself.
    silent = bool(reading.withheld)
    return [(one, _names(reading, one) and (one.rule != "user-repeats-itself" or silent)) for one in found]


def _names(reading: Reading, fault: UserFaultFinding) -> bool:
    """Whether a user's fault explains the failure: not a harmless one where the agent went on and acted, or had already
    said the same twice, which may have led to it.

    A user leaves early that keeps a value of the plan to itself. It invents what has the form of a code of its scenario that
    it never gave: any other number may be its age.
    """
    if fault.rule == "user-leaves-early":
        return reading.asked_for_withheld
    if fault.rule == "user-invents":
        return reading.mistaken(fault.message)
    if fault.rule not in _HARMLESS:
        return True
    if any(call.message > fault.message and not call.error for call in reading.calls):
        return False
    replies = [one.text for one in reading.conversation.messages[: fault.message] if one.role == "assistant"]
    return not any(is_repeat(text, replies[:number]) for number, text in enumerate(replies))


def _agents_fault(reading: Reading, broke: Cause) -> str:
    """What shows that the agent is at fault; empty if nothing does."""
    if (call := reading.forbidden) is not None:
        success = reading.conversation.scenario.get(SUCCESS)
        bare = {"name": call.name} in forbidden_in(success)
        wanted = bare and (f"{SUCCESS}.tool_called", call.name) in tools_in_success(success)
        if wanted or (call.name, call.tool_call.arguments) in reading.steps:  # the scenario contradicts itself
            return ""
        return f"it called `{call.name}`, which the success forbids"
    if broke.fault == "assistant":
        return broke.name
    if (call := reading.left_error()) is not None:
        return f"its call of `{call.name}` failed by what it gave, and it left it at that"
    own = map(Broken.model_validate, success_score(reading.conversation).get("broken", ()))
    kinds = {one.kind for one in own}
    if kinds & {"state", "not_called", "other_arguments", "no_result"} and reading.could_have:
        return "the user gave every value of the plan that the oracle found, and it did not get there"
    return ""


def _of_end(conversation: Conversation, frames: tuple[str, ...]) -> Cause | None:
    """The cause where code, a validator or a limit of the agent's own ended the conversation."""
    place = f" in `{frames[-1].rpartition(' in ')[2]}`" if frames else ""
    if failure := conversation.ending_failure:
        if failure.silent or failure.error.startswith("AnswerError:"):
            who = "the agent" if failure.node == "assistant" else f"`{failure.node}`"
            fault = "user" if failure.node == "user_simulator" else failure.fault or "infrastructure"
            return Cause(name=f"{who} answered nothing", fault=fault)
        kind = failure.error.partition(":")[0].strip()
        kind = kind if kind.isidentifier() else "an error"
        if failure.fault == "assistant":
            in_tool = _in_a_tool(conversation)
            who = "a tool of the agent" if in_tool else "the agent's code"
            name = f"{who} raised {kind}{place}"
            return Cause(name=name, fault="undecided" if in_tool or kind in _OF_MACHINE else "assistant")
        own = failure.node == "assistant" and kind in _OF_ANYBODY
        whose: Whose = "undecided" if own else failure.fault or "infrastructure"
        return Cause(name=f"`{failure.node}` failed: {kind}{place}", fault=whose)
    if conversation.stop == NONE_ACCEPTED:
        name = f"no reply of the agent was accepted: {rejected_because(conversation)}"
        return Cause(name=name, fault="assistant")
    if conversation.fault in ("assistant", "infrastructure"):
        name, hung = stop_in_words(conversation.stop), conversation.stop == "agent_timeout" and _in_a_tool(conversation)
        return Cause(name=f"{name}, in a tool" if hung else name, fault="undecided" if hung else conversation.fault)
    score = success_score(conversation)
    if score.get("error"):
        kind = str(score["error"]).partition(":")[0].strip()
        kind = kind if kind.isidentifier() else "an error"
        return Cause(name=f"the scorer raised {kind}{place}", fault="infrastructure")
    if not isinstance(score.get("value"), bool):
        return Cause(name="no scorer gave true or false", fault="infrastructure")
    return None


def _in_a_tool(conversation: Conversation) -> bool:
    """Whether the agent was in a call of a tool when it ended: what hangs or raises there may be anybody's."""
    drafts = [attempt for turn in conversation.unsaid if turn.role == "assistant" for attempt in turn.attempts]
    return any((call.error or "").startswith(f"{NO_RESULT}:") for one in drafts for call in one.tool_calls)


def _of_condition(reading: Reading, last: int | None) -> Cause:
    """The condition of the success that was broken, at the call that broke it or at the end."""
    score, stop = success_score(reading.conversation), stop_in_words(reading.conversation.stop)
    if (call := reading.forbidden) is not None:
        name = f"`{call.name}` was called, which it must not be"
        return Cause(name=name, fault="undecided", site="call", message=call.message, tool=call.name)
    known = [one for one in map(Broken.model_validate, score.get("broken", ())) if one.kind in CONDITIONS]
    broken = min(known, key=lambda one: [*CONDITIONS].index(one.kind), default=Broken(kind="own"))
    values = f"{_kind_of(broken.expected)} was expected, and it is {_kind_of(broken.got)}"
    if broken.expected and _kind_of(broken.expected) == _kind_of(broken.got):
        values = f"{_kind_of(broken.got)} that is not the expected one"
    name = CONDITIONS[broken.kind].format(tool=broken.tool, path=templated_path(broken.path), values=values)
    by_agent = broken.kind == "followed" or (broken.kind, broken.side) == ("said", "assistant")
    if broken.kind == "state" and broken.got:
        for call in reversed(reading.calls):
            if not call.error and call.argument_with(broken.got):
                return Cause(
                    name=f"{name}, by `{call.name}`",
                    fault="undecided",
                    site="call",
                    message=call.message,
                    tool=call.name,
                )
    calls = [call for call in reading.calls if call.name == broken.tool]
    if broken.kind == "other_arguments" and calls:
        return Cause(name=name, fault="undecided", site="call", message=calls[-1].message, tool=broken.tool)
    if broken.kind in ("own", "judged"):  # which say least: how it ended says more
        name = "; ".join(dict.fromkeys((name, stop)))
    return Cause(name=name, fault="assistant" if by_agent else "undecided", message=last, tool=broken.tool)


def _kind_of(text: str) -> str:
    """A value of JSON in words: a word, true, false or null as it is, of any other its kind."""
    try:
        value = json.loads(text)
    except ValueError:
        return "a value" if text else "nothing"
    if isinstance(value, bool) or value is None:
        return text
    if isinstance(value, str):
        is_word = len(value) < 25 and re.fullmatch(r"[^\W\d_A-Z]+(?:[ _-][^\W\d_A-Z]+){0,2}", value)
        return text if is_word else "a date" if re.match(r"\d{4}-\d\d-\d\d", value) else "a text"
    return {int: "a number", float: "a number", list: "a list", dict: "an object"}[type(value)]


def templated_path(path: str) -> str:
    """A path of a state with `*` in place of its indices and of keys that are values.

    >>> templated_path("bookings.QX4821.stops[2].date")
    'bookings.*.stops.*.date'
    """
    parts = path.replace("[", ".").replace("]", "").split(".")
    return ".".join(part if _PLAIN_KEY.match(part) else "*" for part in parts)
