"""Digests: the ids of conversations and the seeds of calls.

They depend on no clock, no position in a file and no stateful random generator. Any order, concurrency, process and
PYTHONHASHSEED therefore give the same conversation.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .records import Conversation

VERSION = "0.1.0"
"""Version of this package, which records store. pyproject.toml reads it from here."""

PUBLISHED = "published"
"""Takes the place of the cast's name in the ids of published conversations."""

_canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode
# Made once: `json.dumps` makes one for each call that asks for another form than its own.

ID_LENGTH = 16
"""Hexadecimal digits of a conversation id: 64 bits, enough for billions of conversations."""


def digest(*parts: Any) -> str:
    """SHA-256 of the parts' canonical JSON, 64 hexadecimal digits."""
    return hashlib.sha256(_canonical(parts).encode("ascii")).hexdigest()


def conversation_id(cast: str, scenario: Mapping[str, Any], ordinal: int = 0, repeat: int = 0, begun: str = "") -> str:
    """Id of one conversation, from its cast, scenario, ordinal among equal scenarios, repeat and first messages."""
    parts = ("conversation", cast, scenario, ordinal, repeat, *([begun] if begun else []))
    return digest(*parts)[:ID_LENGTH]


def begun_with(messages: Sequence[Mapping[str, Any]]) -> str:
    """Digest of the messages that a conversation began with; empty if there were none."""
    return digest(list(messages))[:ID_LENGTH] if messages else ""


def call_seed(seed: int, conversation: str, role: str, turn: int, attempt: int, vote: int = 0) -> int:
    """The seed of one call or one choice, 0 to 2**31 - 1 (what every endpoint accepts).

    `turn` counts from 0, `attempt` from 1; `vote` distinguishes several draws of the same attempt.
    """
    return int(digest("call", seed, conversation, role, turn, attempt, vote)[:8], 16) & 0x7FFFFFFF


def ordinals(scenarios: Iterable[Mapping[str, Any]]) -> list[int]:
    """For each scenario the number of equal scenarios before it: 0, 0, 1, ...

    >>> ordinals([{"title": "a"}, {"title": "b"}, {"title": "a"}])
    [0, 0, 1]
    """
    seen: Counter[str] = Counter()
    numbers = []
    for scenario in scenarios:
        key = digest(scenario)
        numbers.append(seen[key])
        seen[key] += 1
    return numbers


def named(conversations: Sequence[Conversation]) -> list[Conversation]:
    """The conversations of a source with ordinals and ids.

    The ids depend on the messages too, so sources differ.
    """
    numbers = ordinals(conversation.scenario for conversation in conversations)
    return [
        conversation.model_copy(
            update={
                "ordinal": ordinal,
                "id": conversation_id(
                    PUBLISHED,
                    conversation.scenario,
                    ordinal,
                    begun=digest([(message.role, message.text) for message in conversation.messages]),
                ),
            }
        )
        for conversation, ordinal in zip(conversations, numbers, strict=True)
    ]
