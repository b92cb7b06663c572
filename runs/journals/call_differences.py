"""The form of stored calls, and the difference between one and what is sent now, in words."""

from collections.abc import Callable, Mapping
from itertools import takewhile
from pathlib import Path
from typing import Any

from ...data.files.json import dumps, parsed
from ...errors import DataError, DuologueError, at
from ...nodes.calls.store import CallKey, SentRequest

HEAD = {"calls": 1}
"""The first line of a file of calls: the version of the form."""
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


def difference(call: Mapping[str, Any], request: SentRequest, messages: Callable[[], Mapping[str, Any]]) -> str:
    """The first difference between a stored call and what is sent now; `messages`: those sent then, by digest."""
    to, now = dict(call.get("to") or {}), dict(request.to)
    for name in [*to, *(name for name in now if name not in to)]:
        if to.get(name) != now.get(name):
            return f"{name} was {short(to.get(name))}, now it is {short(now.get(name))}"
    sent = list(call.get("sent") or [])
    for number, message in enumerate(request.messages):
        if number >= len(sent):
            return f"message {number + 1} is new: {short(message)}"
        if sent[number] != request.digests[number]:
            return f"message {number + 1} ({message.get('type')}) {where_they_differ(messages().get(sent[number]), message)}"
    return f"{len(sent)} messages were sent, now {len(request.messages)}"


def short(value: Any) -> str:
    """The begin of a JSON value."""
    text = dumps(value)
    return text if len(text) <= 2 * SHOWN else text[: 2 * SHOWN] + "…"


def check_head(line: bytes, path: Path) -> None:
    """DataError unless the first line of a file is that of a file of calls of this package."""
    try:
        head = parsed(line.decode("utf-8"), path, 1)
    except (UnicodeDecodeError, DataError):
        head = None
    if not isinstance(head, dict) or "calls" not in head:
        raise DataError(f"{at(path)}: is not a file of recorded calls: give one that --record wrote")
    if head["calls"] != HEAD["calls"]:
        raise DataError(f"{at(path)}: holds calls in the form {head['calls']!r}: update duologue")


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
        and all(isinstance(name, str) for name in key[:2])
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
