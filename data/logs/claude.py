"""Exports of Claude (`conversations.json`): `chat_messages` with `sender`, `text` and content blocks.

A conversation has `uuid`, `name`, `created_at`. A message may have `parent_message_uuid`, because edited messages begin
another branch, and `attachments` with the text of a file.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..files.broken_lines import of_form
from ..files.json_values import elements
from ..formats import messages
from ..formats.detection import Contents, Format
from ..formats.message_parts import turns_of_parts
from ..formats.turns import role_of
from ..records import as_list, is_object
from .chatgpt import left_out
from .message_trees import ancestors

_FURTHER_KEYS = ("created_at", "updated_at", "summary", "model")


def read(path: str | Path) -> Contents:
    """A conversation for each one of the export that has messages; of branches the one that ends last."""
    values: list[tuple[str, Any]] = []
    left = empty = 0
    problem = "has no 'chat_messages': give the export's conversations.json"
    for place, value in of_form(elements(path), is_export, path, problem):
        branch = _branch(value)
        left += len(value["chat_messages"]) - len(branch)
        turns = [turn for message in branch for turn in _turns(message)]
        if not turns:
            empty += 1
            continue
        more = {key: value[key] for key in _FURTHER_KEYS if value.get(key)}
        title = {"title": value["name"]} if value.get("name") else {}
        name = {"id": str(value["uuid"])} if value.get("uuid") else {}
        values.append((place, {**name, **title, **more, "messages": turns}))
    return Contents(tuple(messages.of_values(path, values)), left_out(left, empty))


def is_export(value: Any) -> bool:
    """Whether a value is a conversation of an export."""
    return is_object(value) and isinstance(value.get("chat_messages"), list)


def _branch(talk: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The messages up to the current leaf, or to the last one; all of them where none has a parent."""
    listed = [message for message in talk["chat_messages"] if is_object(message)]
    by_id = {message["uuid"]: message for message in listed if isinstance(message.get("uuid"), str)}
    parents = {name: message.get("parent_message_uuid") for name, message in by_id.items()}
    if not any(isinstance(parent, str) and parent in by_id for parent in parents.values()):
        return listed
    leaf = talk.get("current_leaf_message_uuid")
    leaf = leaf if isinstance(leaf, str) and leaf in by_id else next(reversed(by_id))
    return [by_id[name] for name in ancestors(leaf, parents.get, by_id)]


def _turns(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    sender = message.get("sender", message.get("role"))
    role = role_of(sender) or str(sender)
    content = message.get("content")
    parts = list(content) if isinstance(content, list) else []
    text = message.get("text")
    if isinstance(text, str) and text and not any(is_object(part) and part.get("text") for part in parts):
        parts = [{"type": "text", "text": text}, *parts]
    parts += [block for key in ("attachments", "files") for block in _files(message.get(key))]
    if parts:
        stamp = {"timestamp": message["created_at"]} if message.get("created_at") else {}
        yield from turns_of_parts(role, parts, stamp)


def _files(listed: Any) -> Iterator[dict[str, Any]]:
    """The files of a message as blocks, with their text where the export has it."""
    for file in as_list(listed):
        if is_object(file) and (file.get("file_name") or file.get("extracted_content")):
            text = file.get("extracted_content")
            yield {"type": "file", "file_name": file.get("file_name")} | ({"text": text} if text else {})


FORMAT = Format(
    "claude",
    "an export of Claude (conversations.json)",
    lambda source: is_export(source.first),
    read,
    sign="a list under `chat_messages`",
)
