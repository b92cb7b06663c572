"""Why conversations end: the core's closed set, reasons of a cast's own, and whose fault each is."""

import re
from collections.abc import Mapping
from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator

StopReason: TypeAlias = Literal[
    "max_turns", "user_ended", "user_gave_up", "user_rejected", "model_failed", "budget", "cancelled"
]
"""Why a conversation ended: the core's set. A cast may declare further ones, written `cast:reason`."""

Fault: TypeAlias = Literal["none", "user", "assistant", "infrastructure"]

FAULTS: Mapping[str, Fault] = {
    "max_turns": "none",
    "user_ended": "none",
    "user_gave_up": "none",
    "user_rejected": "user",
    "model_failed": "infrastructure",
    "budget": "none",
    "cancelled": "none",
}
"""Whose fault each stop of the core is: a conversation that nobody is to blame for can be studied as it is."""

NAME = re.compile(r"[a-z][a-z0-9_]*")
"""How an own reason is named, and the cast that declares it."""

_OF_ITSELF = frozenset({"max_turns", "user_ended", "user_gave_up", "user_rejected"})


def own_reason(cast: str, name: str) -> str:
    """A cast's own reason as nodes answer it and records hold it.

    >>> own_reason("hotel", "transferred")
    'hotel:transferred'
    """
    return f"{cast}:{name}"


def is_own(reason: str) -> bool:
    """Whether the reason is written as a cast's own: `cast:reason`."""
    cast, colon, name = reason.partition(":")
    return bool(colon and NAME.fullmatch(cast) and NAME.fullmatch(name))


def ended_by_itself(reason: str | None, fault: Fault | None) -> bool:
    """Whether nothing from outside caused the stop; of an own reason its fault tells."""
    if reason is None or reason in FAULTS:
        return reason in _OF_ITSELF
    return fault != "infrastructure"


def is_finished(reason: str | None, fault: Fault | None) -> bool:
    """Whether there is nothing left to simulate after the stop; after any other a resumed run tries again."""
    return reason == "budget" or ended_by_itself(reason, fault)


def _known(reason: str) -> str:
    if reason not in FAULTS and not is_own(reason):
        raise ValueError(f"should be {', '.join(FAULTS)}, or a cast's own reason such as hotel:transferred")
    return reason


RecordedStop: TypeAlias = Annotated[str, AfterValidator(_known)]
"""A stop as a record holds it: a core reason or a well-formed own one."""
