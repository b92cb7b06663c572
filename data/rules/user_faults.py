"""What a simulated user does wrong, by structure: five faults, each of which the scenario and the messages show.

All else about a user, such as a contradiction or a false claim, is a judge's: the page `judge` of the prompts. What is
undecided is no fault.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from ..records import Conversation
from ..text.languages import HAN
from ..text.values import values_in
from .guards import is_repeat, offered_help
from .linter import Reasons, Rule, quoted
from .outcomes import is_courtesy, outcome_of

GOAL_KEYS = ("goal", "task_context", "first_message")
FACT_KEYS = ("facts", "known")
PERSON_KEYS = ("persona", "instructions", "preference", "profile")
ONE_BY_ONE = re.compile(
    r"\b(?:only|not until|unless|until)\b[^.;\n]{0,40}\bask(?:s|ed|ing)?\b|\b(?:one|a single) (?:thing|fact|detail|piece)s? at a time\b"
    r"|\bone by one\b|\bnot all at once\b|\b(?:never|don['’]t|do not|doesn['’]t) volunteers?\b|\bon request\b"
    r"|问[^。；\n]{0,6}才|一次只|不主动|不要主动|逐一|问什么答什么",
    re.IGNORECASE,
)
"""Words of a scenario by which its user gives a fact only when asked."""
SHORT, GIVES = 14, 200
"""Most characters of a user's message that may be said again, such as `Yes, please.`, and of an assistant's that gives
nothing; a Chinese character counts threefold."""
PATIENCE = 1
"""Messages of a user after which it may give up while it is asked."""
AT_ONCE = 0.75
"""Least share of at least three facts, given in one message, that are all at once."""
_UNKNOWN = re.compile(
    r"\b(?:do not|don['’]t|cannot|can['’]t) (?:know|tell|say)\b|不知道|说不上来|不清楚", re.IGNORECASE
)
"""What a user may say again to each question."""
_CODE = re.compile(r"(?=.*\d)[A-Z0-9]{4,}")
_OF_ASSISTANT = re.compile(
    r"\b(?:may|could|can) i have your (?:\w+ ){0,2}(?:name|code|number|address|e-?mail)\b|\b(?:i['’]ve|i have) (?:reserved|booked|cancelled) \w+(?: \w+)? for you\b"
    r"|\bthank you for (?:choosing|contacting|calling) us\b|\bi apologi[sz]e for the inconvenience\b|\bi can see your (?:booking|order|account)\b"
    r"|我(?:已经)?(?:为|帮)您(?:查|办|取消|预订|安排)|请(?:您)?(?:提供|告诉我)您的|给您带来不便",
    re.IGNORECASE,
)


class UserFaultFinding(NamedTuple):
    """What a user did wrong in a message."""

    rule: str
    message: int
    """Number of the message, from 0."""
    reason: str


def _own(talk: Conversation) -> Iterator[tuple[int, str]]:
    """Number and text of the user's messages, without the one that the scenario has."""
    written = {" ".join(text.split()) for text in _texts(talk.scenario, ("first_message",))}
    for number, message in enumerate(talk.messages):
        if message.role == "user" and " ".join(message.text.split()) not in written:
            yield number, message.text


def _earlier(talk: Conversation, number: int, role: str) -> list[str]:
    return [message.text for message in talk.messages[:number] if message.role == role]


def _acted(talk: Conversation, number: int) -> bool:
    before = talk.messages[:number]
    return any(call.error is None for one in before for call in one.tool_calls) or any(
        outcome_of(one.text) is not None or _length(one.text) > GIVES for one in before if one.role == "assistant"
    )


def _leaves_early(talk: Conversation) -> Reasons:
    """A goodbye to an open question, where no tool was called and nothing was told as done or refused."""
    own = list(_own(talk))
    if not own or talk.stop not in (None, "user_ended", "user_gave_up"):
        return
    number, text = own[-1]
    replies = _earlier(talk, number, "assistant")
    ended = talk.stop == "user_gave_up" or is_courtesy(text)
    asked = bool(replies) and replies[-1].rstrip().endswith(("?", "？"))
    last = max((place for place, one in enumerate(talk.messages) if one.role == "user"), default=-1)
    gives_up = talk.stop == "user_gave_up" and len(_earlier(talk, number, "user")) > PATIENCE
    if ended and asked and not gives_up and number == last and not values_in(text) and not _acted(talk, number):
        yield number, f"leaves while it is asked: {quoted(text)}"


def _invents(talk: Conversation) -> Reasons:
    """A code, number or date that neither the scenario nor the assistant has, where the scenario has facts."""
    facts = _texts(talk.scenario, FACT_KEYS)
    if not facts:
        return
    known = set[str]().union(*map(values_in, (*facts, *_texts(talk.scenario, (*GOAL_KEYS, *PERSON_KEYS)))))
    plain = _folded(" ".join(map(str, talk.scenario.values())))
    for number, text in _own(talk):
        heard = set[str]().union(*map(values_in, _earlier(talk, number, "assistant")))
        told = _folded(" ".join(_earlier(talk, number, "assistant")))
        for value in sorted(values_in(text) - known - heard):
            if _CODE.fullmatch(value) and _folded(value) not in plain + told:
                yield number, f"gives {value!r}, which its scenario does not have"
                break


def _all_at_once(talk: Conversation) -> Reasons:
    """Nearly all facts in one message, though the scenario says that they are given when asked for."""
    texts = _texts(talk.scenario, (*GOAL_KEYS, *FACT_KEYS, *PERSON_KEYS))
    facts = [values_in(text) or frozenset([_folded(text)]) for text in _texts(talk.scenario, FACT_KEYS)]
    if len(facts) < 3 or not any(map(ONE_BY_ONE.search, texts)):
        return
    for number, text in _own(talk):
        own, folded = values_in(text), _folded(text)
        given = sum(bool(fact & own) or any(str(value) in folded for value in fact) for fact in facts)
        if given >= max(3, AT_ONCE * len(facts)):
            yield number, f"gives {given} of its {len(facts)} facts at once"


def _as_assistant(talk: Conversation) -> Reasons:
    for number, text in _own(talk):
        match = _OF_ASSISTANT.search(text)
        if words := offered_help(text) or (match and match.group()):
            yield number, f"writes as the assistant: {quoted(words)}"


def _repeats(talk: Conversation) -> Reasons:
    """The same message again, though the assistant's message before it is another one than before."""
    for number, text in _own(talk):
        replies = _earlier(talk, number, "assistant")
        says_new = bool(replies) and bool(replies[-1].strip()) and not is_repeat(replies[-1], replies[:-1])
        again = is_repeat(text, _earlier(talk, number, "user")[-1:]) and not _UNKNOWN.search(text)
        if says_new and again and _length(text) > SHORT:
            yield number, f"sends again {quoted(text)}"


_RULES: Mapping[str, tuple[str, Callable[[Conversation], Reasons]]] = {
    "user-leaves-early": ("a user that leaves before anything was done, while it is asked", _leaves_early),
    "user-invents": ("a user that gives a code or number which its scenario does not have", _invents),
    "user-all-at-once": ("a user that gives its facts at once, against its instructions", _all_at_once),
    "user-as-assistant": ("a user that writes as the assistant", _as_assistant),
    "user-repeats-itself": ("a user that sends the same again though the agent says something else", _repeats),
}
_LICENSED: Mapping[str, tuple[str, ...]] = {"injects": ("user-as-assistant", "user-invents")}
"""Faults that a behaviour (`data.behaviours`) asks of a user: they do not count as its faults."""


def faults_of_user(conversation: Conversation) -> list[UserFaultFinding]:
    """What the user does wrong, in the order of its messages; empty where the scenario has neither goal nor facts.

    What a behaviour of the user asks for is not a fault.
    """
    findings = (UserFaultFinding(name, *place) for name in _RULES for place in _find(name, conversation))
    return sorted(findings, key=lambda finding: finding.message)


def has_user_brief(scenario: Mapping[str, Any]) -> bool:
    """Whether a scenario gives its user a goal or facts, so that the rules apply."""
    return any(scenario.get(key) for key in (*GOAL_KEYS, *FACT_KEYS))


def behaviour_names(holder: Mapping[str, Any]) -> list[str]:
    """The names of behaviours in a scenario, or in a conversation's `extra`; empty without a list of texts."""
    names = holder.get("behaviours")
    return [name for name in names if isinstance(name, str)] if isinstance(names, list | tuple) else []


def _texts(scenario: Mapping[str, Any], keys: Iterable[str]) -> list[str]:
    """The texts of a scenario under these keys, a fact each."""
    found: list[str] = []
    for value in (scenario.get(key) for key in keys):
        if isinstance(value, Mapping):
            found += [str(part) for part in value.values()]
        elif isinstance(value, list | tuple):
            found += [str(part) for part in value]
        elif value:
            found += [part for part in re.split(r"(?<=[.!?。！？;；\n])\s*", str(value)) if part.strip()]
    return found


def _length(text: str) -> int:
    return len(text) + 2 * len(HAN.findall(text))


def _folded(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).casefold()


def _find(name: str, conversation: Conversation) -> Reasons:
    """A rule's findings; any behaviour may make a user say the same again."""
    behaviours = [one for holder in (conversation.scenario, conversation.extra) for one in behaviour_names(holder)]
    licensed = {rule for behaviour in behaviours for rule in ("user-repeats-itself", *_LICENSED.get(behaviour, ()))}
    if has_user_brief(conversation.scenario) and name not in licensed:
        yield from _RULES[name][1](conversation)


USER_FAULT_RULES: Mapping[str, Rule] = {
    name: Rule("warning", description, partial(_find, name)) for name, (description, _) in _RULES.items()
}
"""Each rule by its id, for conversations whose scenario has a goal or facts."""
