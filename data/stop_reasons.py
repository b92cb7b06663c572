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
    "agent_limit",
    "model_failed",
    "budget",
    "cancelled",
]
"""Why a conversation ended. A cast may declare further reasons, written `cast:reason`."""

Fault: TypeAlias = Literal["none", "user", "assistant", "infrastructure"]

_TABLE: Mapping[StopReason, tuple[Fault, str]] = {
    "max_turns": ("none", "the maximum number of turns was reached"),
    "user_ended": ("none", "the user ended it"),
    "user_gave_up": ("none", "the user gave up"),
    "user_rejected": ("user", "no message of the user was accepted"),
    "assistant_rejected": ("assistant", "no reply of the assistant was accepted"),
    "user_timeout": ("user", "a turn of the user's agent took too long"),
    "agent_interrupted": ("assistant", "the agent stopped for a person"),
    "agent_timeout": ("assistant", "a turn of the agent took too long"),
    "agent_limit": ("assistant", "a limit of the agent's own ended its turn"),
    "model_failed": ("infrastructure", "a model or a node failed"),
    "budget": ("none", "a bound of tokens, cost or time was reached"),
    "cancelled": ("none", "it was cancelled"),
}

FAULTS: Mapping[str, Fault] = {reason: fault for reason, (fault, _) in _TABLE.items()}
"""Whose fault each stop reason is. A conversation without a fault can be studied as it is."""

WORDS: Mapping[str, str] = {reason: words for reason, (_, words) in _TABLE.items()}
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
