"""How a call differs from those that are kept, in words: which one is nearest, and the first place where two differ."""

from collections.abc import Mapping
from itertools import takewhile
from typing import Any

from ..data.formats.jsonfiles import dumps
from ..nodes.calls.kept import CallKey

SHOWN = 60
"""Characters of a text that are shown."""


def distance(wanted: CallKey, other: CallKey) -> tuple[Any, ...]:
    """How far another call is from the wanted one: another conversation is further than another turn."""
    return (
        wanted.conversation != other.conversation,
        wanted.subject != other.subject,
        wanted.role != other.role,
        abs(wanted.turn - other.turn),
        abs(wanted.attempt - other.attempt),
        wanted.vote != other.vote,
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
