"""What a simulated user does wrong, by rules over its scenario and the messages.

What is undecided is not a fault. The functions are pure. `check`, the attribution of failures in `test`, and the validator of a user's drafts share them.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from typing import Any, NamedTuple

from ...records import Conversation, Message
from ..findings import Reasons, Rule
from .brief import brief_of
from .claims import false_claims, leaves_early
from .consistency import contradictions
from .facts import all_at_once, invented_facts
from .turns import UserReading, turns_of
from .wording import asks_for_excluded, repeats, speaks_as_assistant


class UserFaultFinding(NamedTuple):
    """What a user did wrong in a message."""

    rule: str
    message: int
    """Number of the message, from 0."""
    reason: str


_RULES: Mapping[str, tuple[str, Callable[[UserReading], Reasons]]] = {
    "user-leaves-early": ("a user that leaves while the agent is still at it", leaves_early),
    "user-false-claim": ("a user that states a success which no tool and no reply shows", false_claims),
    "user-invents": ("a user that gives a fact which it does not have, or another than it has", invented_facts),
    "user-all-at-once": ("a user that gives its facts at once, against its instructions", all_at_once),
    "user-as-assistant": ("a user that writes as the assistant", speaks_as_assistant),
    "user-repeats-itself": ("a user that sends the same again though the agent asks something else", repeats),
    "user-asks-excluded": ("a user that asks for what its goal excludes", asks_for_excluded),
    "user-contradicts-itself": ("a user that contradicts its earlier messages", contradictions),
}


_LICENSED: Mapping[str, tuple[str, ...]] = {
    "false_claim": ("user-false-claim",),
    "pushes": ("user-asks-excluded",),
    "asks_unavailable": ("user-asks-excluded",),
    "changes_mind": ("user-contradicts-itself",),
    "injects": ("user-as-assistant", "user-invents"),
}
"""Faults that a behaviour (`data.behaviours`) asks of a user: they do not count as its faults."""


def faults_of_user(
    scenario: Mapping[str, Any],
    messages: Iterable[Message],
    stop: str | None = None,
    *,
    behaviours: Collection[str] = (),
    first: int = 0,
) -> list[UserFaultFinding]:
    """What the user of a scenario does wrong in the messages, in their order; empty without a goal and facts.

    `stop`: why the conversation ended. `behaviours`: those of its user beside the scenario's; what they ask for is not a
    fault. `first`: the first message whose faults are wanted.
    """
    brief = brief_of(scenario)
    if brief is None:
        return []
    reading = UserReading(brief, turns_of(messages), stop, first)
    rules = _rules_for({*behaviour_names(scenario), *behaviours})
    findings = [UserFaultFinding(name, *place) for name, find in rules.items() for place in find(reading)]
    return sorted(findings, key=lambda finding: finding.message)


def has_user_brief(scenario: Mapping[str, Any]) -> bool:
    """Whether a scenario gives its user a goal or facts, so that the rules apply."""
    return brief_of(scenario) is not None


def behaviour_names(holder: Mapping[str, Any]) -> list[str]:
    """The names of behaviours in a scenario, or in a conversation's `extra`; empty without a list of texts."""
    names = holder.get("behaviours")
    return [name for name in names if isinstance(name, str)] if isinstance(names, list | tuple) else []


def _rules_for(behaviours: Collection[str]) -> dict[str, Callable[[UserReading], Reasons]]:
    """The rules that apply to a user with behaviours: any of them may make it say the same again."""
    licensed = {name for behaviour in behaviours for name in ("user-repeats-itself", *_LICENSED.get(behaviour, ()))}
    return {name: find for name, (_, find) in _RULES.items() if name not in licensed}


def _find(name: str, conversation: Conversation) -> Reasons:
    brief = brief_of(conversation.scenario)
    behaviours = [one for holder in (conversation.scenario, conversation.extra) for one in behaviour_names(holder)]
    if brief is not None and (find := _rules_for(behaviours).get(name)) is not None:
        yield from find(UserReading(brief, turns_of(conversation.messages), conversation.stop))


USER_FAULT_RULES: Mapping[str, Rule] = {
    name: Rule("warning", description, partial(_find, name)) for name, (description, _) in _RULES.items()
}
"""Each rule by its id, for conversations whose scenario has a goal or facts."""
