"""Sessions of OpenAI's Codex (`~/.codex/sessions/.../rollout-*.jsonl`).

A line has `timestamp`, `type` and `payload`. `session_meta` begins the session, and a `response_item` is an item of the
Responses API. An `event_msg` of the type `token_count` has the tokens so far.
"""

from collections import Counter
from pathlib import Path
from typing import Any

from ..attempts import as_object, is_object
from ..files.json_values import elements
from ..formats import messages
from ..formats.detection import Contents, Format, Source
from ..formats.other_requests import OtherForms
from .responses import turns_of_items

_SURROUNDINGS = ("<environment_context>", "<user_instructions>", "# AGENTS.md instructions")
"""How messages of the user begin that Codex itself writes."""

_TYPES = ("session_meta", "response_item")


def read(path: str | Path) -> Contents:
    """The conversation of each session; a note counts the messages that Codex wrote for the user."""
    sessions: list[tuple[dict[str, Any], list[dict[str, Any]]]] = []
    left: Counter[str] = Counter()
    others = OtherForms()
    for _, value in others.without(elements(path), lambda value: "payload" in as_object(value)):
        payload = dict(as_object(as_object(value).get("payload")))
        kind = as_object(value).get("type")
        if kind == "session_meta" or not sessions:
            sessions.append(({}, []))
        more, items = sessions[-1]
        if kind == "session_meta" and (name := payload.get("id") or payload.get("session_id")):
            more["id"] = str(name)
        elif kind == "turn_context" and payload.get("model"):
            more["model"] = payload["model"]
        elif kind == "event_msg" and payload.get("type") == "token_count":
            used = as_object(as_object(payload.get("info")).get("total_token_usage"))
            if counts := {
                name: used[name] for name in ("input_tokens", "output_tokens") if isinstance(used.get(name), int)
            }:
                more["usage"] = counts
        elif kind == "response_item":
            if _is_surroundings(payload):
                payload["role"] = "developer"
                left["message"] += 1
            items.append(payload)
    values = [
        (f"session {number}", {**more, "messages": turns})
        for number, (more, items) in enumerate(sessions, start=1)
        if (turns := turns_of_items(items))
    ]
    count = left["message"]
    notes = (f"{count} message{'' if count == 1 else 's'} that Codex wrote for the user kept apart",) if count else ()
    return Contents(tuple(messages.of_values(path, values)), (*notes, *others.notes()))


def _is_surroundings(item: dict[str, Any]) -> bool:
    content = item.get("content")
    first = as_object(content[0]).get("text") if isinstance(content, list) and content else content
    return item.get("role") == "user" and isinstance(first, str) and first.lstrip().startswith(_SURROUNDINGS)


def _recognised(source: Source) -> bool:
    first = as_object(source.first)
    return first.get("type") in _TYPES and is_object(first.get("payload")) and "timestamp" in first


FORMAT = Format(
    "codex",
    "sessions of Codex",
    _recognised,
    read,
    sign="`timestamp`, `payload`, and `type` of session_meta or response_item",
)
