"""The difference between a call and the stored ones, in words: the nearest, and the first place that differs."""

from collections.abc import Mapping
from itertools import takewhile
from typing import Any

from ...data.files.json_files import dumps
from ...errors import DuologueError
from ...nodes.calls.call_store import CallKey

SHOWN = 60
"""Characters of a text that are shown."""


class ReplayError(DuologueError, LookupError):
    """A call that a recorded file does not hold: which one is nearest, and where they differ."""

    @property
    def record_line(self) -> str:
        """All of it, for a record, without the class."""
        return str(self)


def distance(key: CallKey, other: CallKey) -> tuple[Any, ...]:
    """The distance of another call from `key`: another conversation is further than another turn."""
    return (
        key.conversation != other.conversation,
        key.subject != other.subject,
        key.role != other.role,
        abs(key.turn - other.turn),
        abs(key.attempt - other.attempt),
        key.vote != other.vote,
        other,
    )


def named(key: CallKey) -> str:
    """A call in words."""
    vote = f", vote {key.vote}" if key.vote else ""
    return f"{key.role} in turn {key.turn + 1}, attempt {key.attempt}{vote} of conversation {key.conversation}"


def where_they_differ(was: Any, now: Mapping[str, Any]) -> str:
    """Where two messages differ: the texts around the first character that does."""
    before, after = (str(one.get("content")) if isinstance(one, Mapping) else "" for one in (was, now))
    if before == after:
        return f"was {short(was)}, now it is {short(now)}"
    same = takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False))
    at_character = sum(1 for _ in same)
    start = max(0, at_character - 20)
    shown = (text[start : start + SHOWN] for text in (before, after))
    then, here = (f"{'…' if start else ''}{text}" for text in shown)
    return f"differs at character {at_character + 1}: was {then!r}, now {here!r}"


def short(value: Any) -> str:
    """The begin of a JSON value."""
    text = dumps(value)
    return text if len(text) <= 2 * SHOWN else text[: 2 * SHOWN] + "…"


def check_call(key: CallKey, line: Mapping[str, Any]) -> None:
    """TypeError unless a line of a file of calls has the form of this package.

    Nothing else may answer a call.
    """
    reply, usage = line["reply"], line["reply"].get("usage_metadata") if isinstance(line["reply"], dict) else 0
    numbers = (key.turn, key.attempt, key.vote)
    right = (
        isinstance(reply, dict)
        and isinstance(line.get("to"), dict)
        and isinstance(line.get("sent"), list)
        and isinstance(line.get("digest"), str)
        and isinstance(line.get("retried", {}), dict)
        and isinstance(line.get("endpoint", ""), str)
        and all(isinstance(name, str) for name in key[:3])
        and all(isinstance(number, int) for number in numbers)
    )
    if right and usage is not None:
        right = isinstance(usage, dict) and all(isinstance(usage.get(name), int) for name in _COUNTED)
    if right and "drafts" not in reply:
        right = isinstance(reply.get("content", ""), (str, list))
        right = right and isinstance(reply.get("response_metadata", {}), dict)
    if not right:
        raise TypeError(f"no call: {short(line)}")


_COUNTED = ("input_tokens", "output_tokens", "total_tokens")
