"""What broke in a failed conversation, and whose fault that is, by structure only.

What broke is the condition of the success that was not met, or how the conversation ended. Its name holds the tool, the
field and the kinds of the expected and the present value, and no id or name of a conversation, so that equal failures
group. A fault has a name only where structure shows it; what somebody's words mean is a judge's, and everything else is
undecided.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, takewhile
from typing import Any, Literal, TypeAlias

from ..data.formats.messages import NO_RESULT
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
from ..data.rules.outcomes import consent, is_courtesy, outcome_of, sentences_of, statements
from ..data.rules.user_faults import USER_FAULT_RULES, UserFaultFinding, faults_of_user
from ..data.scenarios import tools_in_success
from ..data.text.languages import HAN
from ..data.text.values import asks_only_for, brief_of, deed_of, holds, names_goal, scalars, values_in

SUCCESS = "success"
NONE_ACCEPTED = "assistant_rejected"
"""Stop reason of a conversation that ended because no reply of the assistant was accepted."""
NOT_APPROVED = "User rejected the tool call for "
"""Begin of the error that LangChain's `HumanInTheLoopMiddleware` records of a call that was not approved."""
Whose: TypeAlias = Literal["none", "user", "assistant", "infrastructure", "tools", "scenario", "undecided"]
"""Whose fault it is that a conversation is no success; `none` of a success. `tools`, `scenario`: only by repairs (`why`)."""

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
NO_GOAL, CONTRADICTS, KNOWS = "user-names-no-goal", "user-contradicts", "user-knows-unknown"
WITHHOLDS = "user-withholds"
USER_RULES: Mapping[str, str] = {
    **{name: DIALOGUE_RULES[name].description for name in BROKEN_ROLE},
    **{name: rule.description for name, rule in USER_FAULT_RULES.items()},
    NO_GOAL: "a user that never named its goal, and was ended for that",
    CONTRADICTS: "a user that gives another value than its scenario has",
    KNOWS: "a user that gives a value for what its scenario says it does not know",
    WITHHOLDS: "a user that leaves without a value that it has and was asked for",
}
"""What each rule for users finds, by its id."""
_HAND_OFF = ("transfer_to_", "transfer_back_to_", "handoff_to_", "hand_off_to_")
"""Begins of the tools of langgraph-supervisor and langgraph-swarm that hand the conversation to another agent."""
_OF_ANY_AGENT = ("model", "agent", "tools", INTERRUPT)
"""Names of the nodes that LangChain's agents have: they say nothing of where it was."""
SHORT = 16
"""Characters of a statement, a Chinese one counts as three, beyond which it may be the user's goal in other words."""
_WRONG_CALL = ("Error invoking tool ", "is not a valid tool", "validation error", "missing 1 required")
"""What LangGraph and pydantic say of a call that does not fit the tool, in the error of the call."""
_OF_ANYBODY = "TimeoutError ConnectionError BrokenPipeError UnsupportedProtocol InvalidURL LocalProtocolError".split()
"""Errors that an endpoint causes, and one's own code as well: a bound of its own, an address that it made."""
_OF_MACHINE = ("OperationalError", "OSError", "ThrottlingException", "JSONDecodeError")
"""Errors that one's own code causes, and what is around it as well: a locked database, a full disk, a gateway's page."""
_DOWN = re.compile(
    r"\b(?:Connect(?:ion)?(?:Error|Timeout|RefusedError)|ReadTimeout|gaierror|RateLimitError)\b"
    r"|\bHTTP\w*Error\W.*\b(?:429|5\d\d)\b|\b(?:429 Too Many|500 Internal|502 Bad|503 Service|504 Gateway)\b"
)
"""What a tool's error says where the endpoint behind it is away."""
TURNS = 3
"""Turns within which an agent should have acted that was given all: it may ask for consent, and once more."""
_WITH_DIGIT = re.compile(r"[\w:./-]*\d[\w:/-]*", re.ASCII)
_SUM = re.compile(r"\b(?:and|plus|with|half)\b|[+&]|[和加跟与半]", re.IGNORECASE)
"""Words of a message that may make its small number a part of another."""
_NO_WISH = re.compile(r"\b(?:whether|if|how|what|when|not|nothing|never)\b|n['’]t\b|[不别]|是否|能否", re.IGNORECASE)
"""Words of a goal that asks about a thing, or leaves it out."""
_FOR_A_VALUE = re.compile(r"\b(?:what|which)\b[^.!\n]*\?\W*$|(?:什么|哪|多少)[^。！\n]*？\W*$", re.IGNORECASE)
"""A question for a value, which a yes does not answer."""
_REQUESTS = re.compile(
    r"\b(?:please|reply|respond|type|write|say|confirm|let me know|need your)\b|[?？]|请|确认", re.IGNORECASE
)
"""Words of a message that may want an answer."""


class Cause(Record):
    """Why a conversation is no success: what broke where, and whose fault it is."""

    name: str
    """What broke, in words; equal for conversations that failed alike."""
    fault: Whose
    because: str = ""
    """What shows that it is this side's fault; empty where it is undecided."""
    site: Literal["message", "call", "end"] = "end"
    """Where it went wrong."""
    message: int | None = None
    """The number of the message, from 0: that of the call too, or the last one before a crash. None where it is not known."""
    node: str = ""
    """The sub-agent or node that acted last; empty of an agent that is one."""

    @property
    def group(self) -> str:
        """The name of its group of failures: what broke, and the last node."""
        return f"{self.name}, at `{self.node}`" if self.node else self.name

    @property
    def whose(self) -> str:
        """Whose fault it is, with what shows it, in words."""
        return f"fault: {self.fault} ({self.because})" if self.because else f"fault: {self.fault}"


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
        return self.tool_call.failed or (result if isinstance(result, str) and _DOWN.match(result) else "")


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
                    if place not in hands_over and not call.waits and call.error != NO_RESULT
                ]
        return found

    def heard(self, before: int | None = None) -> str:
        """The user's messages, or those before a message."""
        return "\n".join(one.text for one in self.conversation.messages[:before] if one.role == "user")

    def may_wish_else(self, before: int) -> bool:
        """Whether the user may have changed its wish before a message: its last sentence besides courtesy and consent has
        no value of its scenario, or it said no, or yes to a message with a value that neither it nor a tool had.
        """
        heard, messages = self.heard(before), self.conversation.messages[:before]
        results = [str(one.tool_call.result) for one in self.calls if one.message < before]
        known = values_in("\n".join([heard, self.brief, *results])) | {"1"}  # "Which one?" has no value
        if any(consent(yes.text) == "yes" and values_in(asked.text) - known for asked, yes in pairwise(messages)):
            return True
        last = "".join(sentences_of(heard)[-1:])
        has_value = values_in(last) & values_in(self.brief) or any(holds(last, value) for value in self.needed)
        return not has_value or any(consent(text) == "no" for text in heard.splitlines())

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
        """What the scenario tells its user."""
        told = [self.conversation.scenario.get(key) for key in ("goal", "facts", "persona", "first_message")]
        return json.dumps(told, ensure_ascii=False)

    @cached_property
    def steps(self) -> list[tuple[Any, Any]]:
        """Name and arguments of each step of the plan."""
        plan = as_list(self.conversation.scenario.get("plan"))
        return [(as_object(step).get("name"), as_object(step).get("arguments")) for step in plan]

    @cached_property
    def needed(self) -> list[Any]:
        """The values of the plan's arguments that are the user's to give."""
        return [value for value in scalars([arguments for _, arguments in self.steps]) if holds(self.brief, value)]

    @property
    def withheld(self) -> list[Any]:
        """Those of them that the user never gave."""
        heard = self.heard()
        return [value for value in self.needed if not holds(heard, value)]

    def strange(self, call: MadeCall) -> Iterator[tuple[Any, int | None, Any]]:
        """The values of a call that neither the scenario nor anybody but the user had before.

        Each with the number of the user's message that has it, None if none does, and the value that the plan's step
        has in its place, None without one.
        """
        planned = as_object(dict(self.steps).get(call.name))
        before = self.conversation.messages[: call.message]
        results = [str(one.tool_call.result) for one in self.calls[: self.calls.index(call)]]
        known = "\n".join([self.brief, *results, *(one.text for one in before if one.role != "user")])
        for name, value in call.tool_call.arguments.items():
            if not isinstance(value, bool | Mapping | list | None) and not holds(known, value):
                said = (n for n, one in enumerate(before) if one.role == "user" and holds(one.text, value))
                yield value, next(said, None), planned.get(name)

    def wrong_call(self) -> tuple[str, int] | None:
        """The last call of a tool that was wrong, in words with its message: it failed as it does not fit the tool, or it
        has a value that nobody had in place of one that the user gave: the plan's, or of a call that failed, of its form.
        """
        for call in {call.name: call for call in self.calls}.values():
            if call.error.startswith(NOT_APPROVED) or (call.name, call.tool_call.arguments) in self.steps:
                continue
            if any(words in call.error for words in _WRONG_CALL):
                return f"its call of `{call.name}` does not fit the tool, and it left it at that", call.message
            heard = self.heard(call.message)
            for value, said, planned in self.strange(call):
                right = self.forms(heard).get(_form(str(value))) if call.error and planned is None else planned
                other = self.forms(heard, own=False).keys() & {_form(str(right))}
                differs = right is not None and holds(heard, right) and not holds(str(right), value)
                if said is None and differs and not other:
                    return f"it called `{call.name}` with {value!r}, and the user had said {right!r}", call.message
        return None

    def asked_for(self, call: MadeCall) -> bool:
        """Whether the user may have led the agent to a forbidden call: by a value of its own, or by asking for it.

        It asks if it says the first word of the tool's name, which its scenario does not have, or its last message
        consents; where the scenario wants nothing but a refusal, the call is its goal. A goal that asks about a thing, or
        leaves it out, may have the word: then the last message asks.
        """
        if any(said is not None for _, said, _ in self.strange(call)):
            return True
        success = as_object(self.conversation.scenario.get(SUCCESS))
        deed = deed_of(call.name)
        asked, last = ["", "", *(one.text for one in self.conversation.messages[: call.message])][-2:]
        answer = None if _FOR_A_VALUE.search(asked) else consent(last)  # "Sure. The code is ..."
        if _NO_WISH.search(str(self.conversation.scenario.get("goal"))):
            return answer == "yes" or (answer is None and names_goal(deed, [last]) is not False)
        wants = bool(self.steps) or bool({"tool_called", "text_contains", "final_state"} & success.keys())
        named = names_goal(deed, [self.heard(call.message)]) is not False and not names_goal(deed, [self.brief])
        return wants and (named or answer == "yes")

    def forms(self, text: str, *, own: bool = True) -> dict[str, str]:
        """The values with a digit in a text by their forms; `own`: also those that the scenario tells its user."""
        words = _WITH_DIGIT.findall(text)
        return {_form(word): word for word in words if own or not holds(self.brief, word)}

    def mistaken(self, value: Any, said: str) -> str | None:
        """The value in whose place the user gave another: of its form in goal or facts, and never given. None without, and
        for a small number that may be a part of it: its message has a further one, or joins it to something.
        """
        further = any(map(str.isdigit, values_in(said) - values_in(f"{self.brief} {value}")))
        if re.fullmatch(r"\d\d?", str(value)) and (further or _SUM.search(said)):
            return None
        own = (word for word in _WITH_DIGIT.findall(self.brief) if _form(word) == _form(str(value)))
        return next((word for word in own if not holds(self.heard(), word)), None)

    def lost(self) -> int | None:
        """The reply at which the agent had not done what it could have: the user had given every value of the plan.

        It is the one at which the user left, if that tells an outcome, else the third one. None, as that is undecided,
        where a call failed or found nothing, the user gave another value of the same form too, or left while it was asked;
        where the plan has a value that neither the user nor a tool has, or that a tool tells and the agent took another.
        """
        messages, stop = self.conversation.messages, self.conversation.stop
        planned = [*scalars([arguments for _, arguments in self.steps])]
        replies = [number for number, one in enumerate(messages) if one.role == "assistant"]
        if not planned or not replies or any(isinstance(value, bool) for value in planned):
            return None  # "yes" is the answer to many questions
        # What its own act told comes too late.
        before = takewhile(lambda call: call.name != self.steps[-1][0], self.calls)
        results = "\n".join(str(call.tool_call.result) for call in before)
        if not all(value in self.needed or holds(results, value) for value in planned):
            return None
        late = [n for n in replies if all(holds(self.heard(n), value) for value in self.needed)]
        heard = self.heard(replies[-1])
        forms = Counter(_form(str(value)) for value in self.needed if any(map(str.isdigit, str(value))))
        if not late or self.forms(heard, own=False).keys() & forms or max(forms.values(), default=0) > 1:
            return None  # which of two values is which is not told by their forms
        names, made = {name for name, _ in self.steps}, [(one.name, one.tool_call.arguments) for one in self.calls]
        beside = [call for call in self.calls if call.name not in names]
        empty = any(call.tool_call.result in ("", "[]", "{}", [], {}) for call in beside)
        plan = dict(self.steps)
        made_of = [(as_object(plan.get(one.name)), one.tool_call.arguments) for one in self.calls]
        if any(mine.get(key) not in (None, one, *self.needed) for mine, args in made_of for key, one in args.items()):
            return None  # another value than the plan's where only a tool tells it: what the tool told may be wrong
        if any(call.error for call in self.calls) or empty or all(one in made for one in self.steps):
            return None
        told = outcome_of(messages[replies[-1]].text)
        if (self.calls and told == "refused") or (beside and len(beside) == len(self.calls)):
            return None  # what a tool told, or one besides the plan's did, may be why
        if len(late) >= TURNS:
            return late[TURNS - 1]
        if stop == "max_turns" or _REQUESTS.search(messages[replies[-1]].text):  # an answer that it did not get
            return None
        # A user that leaves at anything else than an outcome may have had another wish.
        return replies[-1] if told is not None or stop not in ("user_ended", "user_gave_up") else None


def hand_offs(attempt: Attempt) -> set[int]:
    """Numbers of the calls of a draft that hand over to another agent: one named by the call works in a later step.

    So it is of langgraph-supervisor and langgraph-swarm, and of a tool of one's own that returns a `Command`. An
    interrupt is no act either.
    """
    found = {n for n, call in enumerate(attempt.tool_calls) if call.name.startswith((*_HAND_OFF, INTERRUPT))}
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
    yield from _ended_without_goal(conversation)
    yield from _against_plan(Reading(conversation))


_OF_ANYTHING = re.compile(
    r"\b(?:(?:number|code|name|id|kind|type|reference)s?|tell|give|share|provide|send|enter|need|know)\b|多少|什么|哪个?|几|请问|提供|告诉",
    re.IGNORECASE,
)
"""Words of a question for a value of anything: one for the frame number is none for the number of days."""


def _against_plan(reading: Reading) -> Iterator[UserFaultFinding]:
    """What the agent's calls, its last question and the plan show of the user."""
    messages = reading.conversation.messages
    unknown = reading.conversation.scenario.get("unknown")
    for call in {call.name: call for call in reading.calls}.values():
        for value, number, _ in reading.strange(call):
            if number is None:
                continue
            if planned := reading.mistaken(value, messages[number].text):
                yield UserFaultFinding(CONTRADICTS, number, f"gives {value!r} in place of {planned!r}")
            asked = [one.text for one in messages[max(0, number - 1) : number + 1]]
            for thing in [unknown] if isinstance(unknown, str) else as_list(unknown):
                if all(names_goal(word, asked) is not False for word in str(thing).split()):
                    yield UserFaultFinding(KNOWS, number, f"gives {value!r}, and {thing} is what it does not know")
    # It left at a question for a value that it kept to itself: the question has no words but its fact's. Not where a tool
    # failed, or it was asked the same before and gave something, which the agent may not have understood.
    replies = [one.text for one in messages if one.role == "assistant"] or [""]
    again = is_repeat(replies[-1], replies[:-1]) and values_in(reading.heard()) - values_in(reading.brief)
    led = again or any(call.error for call in reading.calls)
    if reading.conversation.stop in ("user_ended", "user_gave_up") and {"?", "？"} & {*replies[-1]} and not led:
        questions = [one for one in sentences_of(replies[-1]) if one.rstrip().endswith(("?", "？"))]
        question = _OF_ANYTHING.sub("", "".join(questions[-1:]))
        asked_for = [fact for fact in _facts(reading.conversation.scenario) if asks_only_for(question, fact)]
        kept = [value for value in reading.withheld if any(holds(fact, value) for fact in asked_for)]
        yield from (UserFaultFinding(WITHHOLDS, len(messages) - 1, f"leaves without {value!r}") for value in kept[:1])


def _ended_without_goal(conversation: Conversation) -> Iterator[UserFaultFinding]:
    """A user that its validator ended, as none of its messages had a word of its goal or facts: it did not take leave."""
    said = [(n, one.text) for n, one in enumerate(conversation.messages) if one.role == "user" and not one.name]
    if conversation.stop != "user_gave_up" or not said or is_courtesy(said[-1][1]):
        return
    texts = [text for _, text in said]
    stated = any(len(one) + 2 * len(HAN.findall(one)) > SHORT for one in statements(texts))
    if not stated and names_goal(brief_of(conversation.scenario), texts) is False:
        yield UserFaultFinding(NO_GOAL, said[-1][0], "no message has a word of its goal or facts")


def _facts(scenario: Mapping[str, Any]) -> list[str]:
    """The facts that the user knows, each a text."""
    facts = scenario.get("facts")
    if isinstance(facts, Mapping):
        return [f"{key}: {value}" for key, value in facts.items()]
    return re.split(r"(?<=[.。;；\n])\s*", facts) if isinstance(facts, str) else [str(one) for one in as_list(facts)]


def first_fault(conversation: Conversation) -> UserFaultFinding | None:
    """The first thing that the user simulator did wrong and that explains a failure; None without one."""
    reading = Reading(conversation)
    found = [fault for fault in found_faults(conversation) if _explains(reading, fault)]
    if not found and conversation.fault == "user" and conversation.stop is not None:
        return UserFaultFinding(conversation.stop, len(conversation.messages) - 1, stop_in_words(conversation.stop))
    return min(found, key=lambda fault: fault.message, default=None)


def _explains(reading: Reading, fault: UserFaultFinding) -> bool:
    """Whether a user's fault explains a failure: a sound agent survives most of what `check` finds.

    Not a user that writes as the assistant, or repeats itself without a value and keeps one back, if the agent does
    nothing from then on and had not said the same twice, which may have led to it; nor one that invents what has the form
    of a code of its scenario which it never gave: other numbers may be its age.
    """
    text = reading.conversation.messages[fault.message].text
    repeats = fault.rule == "user-repeats-itself" and reading.withheld and not values_in(text)
    if fault.rule == "user-as-assistant" or repeats:
        replies = [one.text for one in reading.conversation.messages[: fault.message] if one.role == "assistant"]
        again = any(is_repeat(text, replies[:number]) for number, text in enumerate(replies))
        return not again and not any(call.message > fault.message and not call.error for call in reading.calls)
    if fault.rule == "user-invents":
        return any("a" in form and reading.mistaken(one, text) for form, one in reading.forms(text, own=False).items())
    return fault.rule not in USER_FAULT_RULES


# The cause of a failure


def success_score(conversation: Conversation) -> Mapping[str, Any]:
    """The score of the conversation's success as it is stored; empty without one."""
    return as_object(conversation.scores.get(SUCCESS))


def rejected_because(conversation: Conversation) -> str | None:
    """The validator's reasons where a conversation ended because no reply was accepted; else None."""
    if conversation.stop != NONE_ACCEPTED:
        return None
    turn = next((turn for turn in reversed(conversation.unsaid) if turn.role == "assistant"), None)
    reasons = (attempt.reason for attempt in (turn.attempts if turn is not None else ()))
    return ", ".join(dict.fromkeys(filter(None, reasons))) or "no reason is recorded"


def cause_of(conversation: Conversation, frames: tuple[str, ...] = ()) -> Cause:
    """What broke in a conversation without success, and whose fault it is; `frames`: of the error that ended it."""
    node = last_node(conversation)
    if end := _of_end(conversation, frames):
        last = len(conversation.messages) - 1 if conversation.messages else None
        return end.model_copy(update={"message": last, "node": node})
    reading, user = Reading(conversation), first_fault(conversation)
    broke = _of_condition(reading).model_copy(update={"node": node})
    of_agent, message = _agents_fault(reading, broke)
    other_wish = broke.fault != "assistant" and not reading.forbidden and reading.may_wish_else(message or 0)
    if of_agent and not other_wish and (user is None or reading.forbidden):  # else either may have led to it
        placed = broke.site == "call" or message is None
        place: dict[str, Any] = {} if placed else {"site": "message", "message": message}
        return broke.model_copy(update={"fault": "assistant", "because": of_agent} | place)
    if of_agent or (reading.forbidden and (user is None or user.rule != KNOWS)):
        return broke  # the user may have led the agent to what is forbidden
    if user is not None and any(said is None for call in reading.calls for _, said, _ in reading.strange(call)):
        return broke  # the agent called with a value that nobody had: both did something wrong
    if user is not None:
        place = {"site": "message", "message": user.message} if user.rule in USER_RULES else {}
        because = ": ".join(filter(None, (USER_RULES.get(user.rule), user.reason)))
        return broke.model_copy(update={"fault": "user", "because": because} | place)
    for call in reading.calls[-1:]:
        as_planned = (call.name, call.tool_call.arguments) in reading.steps
        if as_planned and _DOWN.search(call.error) and outcome_of(conversation.messages[call.message].text) != "done":
            first_line = re.split(r"\n|\\n", call.error.strip())[0]  # a text in a text has its line ends in letters
            because = f"`{call.name}` was called as planned, and what it needs is away: {first_line}"
            update = {"fault": "infrastructure", "because": because, "site": "call", "message": call.message}
            return broke.model_copy(update=update)
    return broke


def _agents_fault(reading: Reading, broke: Cause) -> tuple[str, int | None]:
    """What shows that the agent is at fault, empty if nothing does; and the message at which it went wrong."""
    if (call := reading.forbidden) is not None:
        success = reading.conversation.scenario.get(SUCCESS)
        bare = {"name": call.name} in forbidden_in(success)
        wanted = (f"{SUCCESS}.tool_called", call.name) in tools_in_success(success) or call.name in dict(reading.steps)
        # The scenario contradicts itself.
        if (bare and wanted) or (call.name, call.tool_call.arguments) in reading.steps:
            return "", None
        return "" if reading.asked_for(call) else f"it called `{call.name}`, which the success forbids", call.message
    if broke.fault == "assistant":
        return broke.name, broke.message
    own = map(Broken.model_validate, success_score(reading.conversation).get("broken", ()))
    if not {one.kind for one in own} & {"state", "not_called", "all_failed", "other_arguments", "no_result"}:
        return "", None
    if (wrong := reading.wrong_call()) is not None:
        return wrong
    message = reading.lost()
    because = "the user gave every value that the plan needs and then wished nothing else, and it did not get there"
    return because if message is not None else "", message


def _of_end(conversation: Conversation, frames: tuple[str, ...]) -> Cause | None:
    """The cause where code, a validator or a limit of the agent's own ended the conversation."""
    place = f" in `{frames[-1].rpartition(' in ')[2]}`" if frames else ""
    drafts = [attempt for turn in conversation.unsaid if turn.role == "assistant" for attempt in turn.attempts]
    calls = [call for one in drafts for call in one.tool_calls]
    in_tool = [call.name for call in calls if (call.error or "").startswith(f"{NO_RESULT}:")]  # anybody's failure
    errors = [error for call in calls if (error := MadeCall(0, call).error) and not error.startswith(NO_RESULT)]
    at_tools = bool(in_tool) or any(not any(words in error for words in _WRONG_CALL) for error in errors)
    if failure := conversation.ending_failure:
        if failure.silent or failure.error.startswith("AnswerError:"):
            who = "the agent" if failure.node == "assistant" else f"`{failure.node}`"
            fault = "user" if failure.node == "user_simulator" else failure.fault or "infrastructure"
            return Cause(name=f"{who} answered nothing", fault=fault)
        named = re.match(r"(\w+)(?=:| \(|$)", failure.error)
        kind = named[1] if named else "an error"
        if failure.fault == "assistant":
            who = "a tool of the agent" if in_tool else "the agent's code"
            unclear = at_tools or any(name in failure.error for name in _OF_MACHINE)
            return Cause(name=f"{who} raised {kind}{place}", fault="undecided" if unclear else "assistant")
        floods = len(calls) - len({repr((one.name, one.arguments)) for one in calls}) > 1  # by equal calls
        own = failure.node == "assistant" and (kind in _OF_ANYBODY or floods)
        whose: Whose = "undecided" if own else failure.fault or "infrastructure"
        return Cause(name=f"`{failure.node}` failed: {kind}{place}", fault=whose)
    if conversation.stop == NONE_ACCEPTED:
        return Cause(name=f"no reply of the agent was accepted: {rejected_because(conversation)}", fault="assistant")
    if conversation.fault in ("assistant", "infrastructure"):
        name, hung = stop_in_words(conversation.stop), conversation.stop == "agent_timeout" and at_tools
        name = f"{name}, in `{in_tool[0]}`" if hung and in_tool else name
        return Cause(name=name, fault="undecided" if hung else conversation.fault)
    score = success_score(conversation)
    if score.get("error"):
        kind = str(score["error"]).partition(":")[0].strip()
        kind = kind if kind.isidentifier() else "an error"
        return Cause(name=f"the scorer raised {kind}{place}", fault="infrastructure")
    if not isinstance(score.get("value"), bool):
        return Cause(name="no scorer gave true or false", fault="infrastructure" if score else "undecided")
    return None


def _of_condition(reading: Reading) -> Cause:
    """The condition of the success that was broken, at the call that broke it; else the place is not known."""
    score, stop = success_score(reading.conversation), stop_in_words(reading.conversation.stop)
    if (call := reading.forbidden) is not None:
        name = f"`{call.name}` was called, which it must not be"
        return Cause(name=name, fault="undecided", site="call", message=call.message)
    known = [one for one in map(Broken.model_validate, score.get("broken", ())) if one.kind in CONDITIONS]
    broken = min(known, key=lambda one: [*CONDITIONS].index(one.kind), default=Broken(kind="own"))
    values = f"{_kind_of(broken.expected)} was expected, and it is {_kind_of(broken.got)}"
    if broken.expected and _kind_of(broken.expected) == _kind_of(broken.got):
        values = f"{_kind_of(broken.got)} that is not the expected one"
    name = CONDITIONS[broken.kind].format(tool=broken.tool, path=templated_path(broken.path), values=values)
    by_agent = broken.kind == "followed" or (broken.kind, broken.side) == ("said", "assistant")
    if broken.kind == "state" and broken.got:
        for call in reversed(reading.calls):
            written = [json.dumps(one, ensure_ascii=False) for one in call.tool_call.arguments.values()]
            if not call.error and broken.got in written:
                return Cause(name=f"{name}, by `{call.name}`", fault="undecided", site="call", message=call.message)
    calls = [call for call in reading.calls if call.name == broken.tool]
    if broken.kind == "other_arguments" and calls:
        return Cause(name=name, fault="undecided", site="call", message=calls[-1].message)
    if broken.kind in ("own", "judged"):  # which say least: how it ended says more
        name = "; ".join(dict.fromkeys((name, stop)))
    return Cause(name=name, fault="assistant" if by_agent else "undecided")


def _kind_of(text: str) -> str:
    """A value of JSON in words: a word, true, false or null as it is, of any other its kind."""
    try:
        value = json.loads(text)
    except ValueError:  # in words, or shortened
        return text if text.startswith(("a list", "an object")) else "a value" if text else "nothing"
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
    return ".".join(part if re.fullmatch("[a-z_]+", part) else "*" for part in parts)
