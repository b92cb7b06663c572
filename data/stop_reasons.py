"""Why conversations end: the closed set of stop reasons, further reasons of casts, and whose fault each is."""

import re
from collections.abc import Mapping
from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator

StopReason: TypeAlias = Literal[
    "max_turns",
    "user_ended",
    "user_gave_up",
    "user_rejected",
    "assistant_rejected",
    "user_timeout",
    "agent_interrupted",
    "agent_timeout",
    "model_failed",
    "budget",
    "cancelled",
]
"""Why a conversation ended. A cast may declare further reasons, written `cast:reason`."""

Fault: TypeAlias = Literal["none", "user", "assistant", "infrastructure"]

FAULTS: Mapping[str, Fault] = {
    "max_turns": "none",
    "user_ended": "none",
    "user_gave_up": "none",
    "user_rejected": "user",
    "assistant_rejected": "assistant",
    "user_timeout": "user",
    "agent_interrupted": "assistant",
    "agent_timeout": "assistant",
    "model_failed": "infrastructure",
    "budget": "none",
    "cancelled": "none",
}
"""Whose fault each stop reason is. A conversation without a fault can be studied as it is."""

WORDS: Mapping[str, str] = {
    "max_turns": "the maximum number of turns was reached",
    "user_ended": "the user ended it",
    "user_gave_up": "the user gave up",
    "user_rejected": "no message of the user was accepted",
    "assistant_rejected": "no reply of the assistant was accepted",
    "user_timeout": "a turn of the user's agent took too long",
    "agent_interrupted": "the agent stopped for a person",
    "agent_timeout": "a turn of the agent took too long",
    "model_failed": "a model or a node failed",
    "budget": "a bound of tokens, cost or time was reached",
    "cancelled": "it was cancelled",
}
"""Each stop reason in plain words, for people."""

UNTOLD = "why it ended is not recorded"

NAME = re.compile(r"[a-z][a-z0-9_]*")
"""Pattern of the name of a cast and of its own stop reasons."""

_OF_ITSELF = frozenset(FAULTS) - {"model_failed", "budget", "cancelled"}


def own_reason(cast: str, name: str) -> str:
    """A cast's own reason, as nodes return it and records store it.

    >>> own_reason("hotel", "transferred")
    'hotel:transferred'
    """
    return f"{cast}:{name}"


def is_own(reason: str) -> bool:
    """Whether the reason has the form of a cast's own: `cast:reason`."""
    cast, colon, name = reason.partition(":")
    return bool(colon and NAME.fullmatch(cast) and NAME.fullmatch(name))


def in_words(reason: str | None) -> str:
    """Why a conversation ended, in plain words.

    >>> in_words("hotel:transferred")
    'it ended as transferred (hotel)'
    """
    if reason is None or reason == "not told":
        return UNTOLD
    cast, colon, name = reason.rpartition(":")
    return f"it ended as {name.replace('_', ' ')} ({cast})" if colon else WORDS.get(reason, reason.replace("_", " "))


def ended_by_itself(reason: str | None, fault: Fault | None) -> bool:
    """Whether the stop had no outside cause.

    A cast's own reason has none unless its fault is `infrastructure`.
    """
    if reason is None or reason in FAULTS:
        return reason in _OF_ITSELF
    return fault != "infrastructure"


def is_finished(reason: str | None, fault: Fault | None) -> bool:
    """Whether there is nothing left to simulate after the stop; if not, a resumed run repeats the conversation."""
    return reason == "budget" or ended_by_itself(reason, fault)


def _checked(reason: str) -> str:
    if reason not in FAULTS and not is_own(reason):
        raise ValueError(f"should be {', '.join(FAULTS)}, or a cast's own reason such as hotel:transferred")
    return reason


RecordedStop: TypeAlias = Annotated[str, AfterValidator(_checked)]
"""A stop reason in a record: one of `FAULTS`, or a well-formed own reason of a cast."""
