"""Exports of ChatGPT and Claude (`conversations.json`), of which the branch that is shown is read.

ChatGPT: a conversation has `mapping` (node id to `message`, `parent` and `children`), `current_node` and `title`; a
message has `author.role`, `content.content_type`, `content.parts` or `content.text`, `recipient` and `metadata`.

Claude: a conversation has `uuid`, `name` and `chat_messages` with `sender`, `text` and content blocks. A message may have
`parent_message_uuid`, because edited messages begin another branch, and `attachments` with the text of a file.
"""

import json
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from ..files.broken_lines import of_form
from ..files.json_values import elements
from ..formats import messages
from ..formats.detection import ConversationStream, Format
from ..formats.turns import Turn, role_of, turns_of_parts
from ..records import as_list, as_object, is_object

_ASIDE = ("thoughts", "reasoning_recap", "user_editable_context", "model_editable_context")
"""Types of ChatGPT's content outside the conversation: reasoning, and the user's description in the settings."""
_OF_CHATGPT = ("title", "create_time", "update_time", "default_model_slug")
_OF_CLAUDE = ("created_at", "updated_at", "summary", "model")

_Talk: TypeAlias = tuple[str, list[Turn], dict[str, Any], int]
"""Name, turns and further keys of a conversation, and how many messages of other branches it has."""


def _read(
    path: str | Path, is_own: Callable[[Any], bool], talk_of: Callable[[Any], _Talk], problem: str
) -> ConversationStream:
    """The conversations of an export; notes count the messages of other branches and conversations without any."""
    left = empty = 0
    values: list[tuple[str, Any]] = []
    for place, value in of_form(elements(path), is_own, path, problem):
        name, turns, more, others = talk_of(value)
        if turns:
            values.append((place, {**({"id": name} if name else {}), **more, "messages": turns}))
            left += others
        else:
            empty += 1
    yield from messages.iterate(path, values)
    counts = (
        (left, "message", "of other branches (edited or asked for again)"),
        (empty, "conversation", "without a message"),
    )
    return tuple(f"{count} {noun}{'' if count == 1 else 's'} {what} left out" for count, noun, what in counts if count)


def _ancestors(leaf: str, parent: Callable[[str], object], names: Container[str]) -> list[str]:
    """The names from the root of a tree to one of its messages; a circle, or a parent that is missing, ends the way."""
    way: dict[str, None] = {}
    name: object = leaf
    while isinstance(name, str) and name in names and name not in way:
        way[name] = None
        name = parent(name)
    return list(way)[::-1]


# --- ChatGPT


def _is_tree(value: Any) -> bool:
    nodes = value.get("mapping") if isinstance(value, Mapping) else None
    return (
        isinstance(nodes, Mapping)
        and bool(nodes)
        and all(isinstance(node, Mapping) and ("message" in node or "parent" in node) for node in nodes.values())
    )


def _of_chatgpt(value: Mapping[str, Any]) -> _Talk:
    nodes = _branch(value)
    more = {key: value[key] for key in _OF_CHATGPT if value.get(key) is not None}
    others = sum(map(_is_said, value["mapping"].values())) - sum(map(_is_said, nodes))
    return str(value.get("conversation_id") or value.get("id") or ""), list(_turns(nodes)), more, others


def _branch(tree: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The nodes from the root to the current one, or to the last child of each if none is current."""
    nodes = tree["mapping"]

    def is_node(name: Any) -> bool:
        return isinstance(name, str) and name in nodes  # a name may be anything in a broken file

    def children(node: Mapping[str, Any]) -> list[str]:
        return [child for child in as_list(node.get("children")) if is_node(child)]

    if not any(is_node(node.get("parent")) or children(node) for node in nodes.values()):
        return sorted(nodes.values(), key=_time)  # no tree: an export without its links
    name: Any = tree.get("current_node")
    if not is_node(name):
        name = next((key for key, node in nodes.items() if not is_node(node.get("parent"))), next(iter(nodes)))
        seen = {name}
        while (after := children(nodes[name])) and after[-1] not in seen:
            name = after[-1]
            seen.add(name)
    return [nodes[one] for one in _ancestors(name, lambda one: nodes[one].get("parent"), nodes)]


def _time(node: Mapping[str, Any]) -> float:
    time = as_object(node.get("message")).get("create_time")
    return float(time) if isinstance(time, int | float) else 0.0


def _is_said(node: Mapping[str, Any]) -> bool:
    message = as_object(node.get("message"))
    return as_object(message.get("author")).get("role") in ("user", "assistant") and not _is_hidden(message)


def _is_hidden(message: Mapping[str, Any]) -> bool:
    return bool(as_object(message.get("metadata")).get("is_visually_hidden_from_conversation"))


def _turns(nodes: Sequence[Mapping[str, Any]]) -> Iterator[Turn]:
    """The branch as turns of OpenAI's form; a message to a tool is a call, whose result follows."""
    called: str | None = None
    for number, node in enumerate(nodes):
        message = as_object(node.get("message"))
        if not message or _is_hidden(message):
            continue
        role, content = as_object(message.get("author")).get("role"), _content(as_object(message.get("content")))
        recipient = message.get("recipient") or "all"
        if role == "assistant" and recipient != "all":
            called = str(message.get("id") or f"call {number}")
            is_json = isinstance(content, str) and content.lstrip()[:1] == "{"
            function = {"name": recipient, "arguments": content if is_json else json.dumps({"input": content})}
            calls = [{"id": called, "type": "function", "function": function}]
            yield {"role": "assistant", "content": None, "tool_calls": calls}
        elif role == "tool" and called is not None:
            yield {"role": "tool", "tool_call_id": called, "content": content}
            called = None
        elif role in ("user", "assistant", "system") and content:
            details = as_object(as_object(message.get("metadata")).get("finish_details"))
            reason = {"finish_reason": details["type"]} if isinstance(details.get("type"), str) else {}
            stamp = {"timestamp": time} if isinstance(time := message.get("create_time"), int | float) else {}
            yield {"role": role, "content": content, **stamp, **reason}


def _content(content: Mapping[str, Any]) -> Any:
    """The text, or a list of blocks if there are images or recordings; empty for content outside the conversation."""
    if content.get("content_type") in _ASIDE:
        return ""
    if not isinstance(content.get("parts"), list):
        return next((text for key in ("text", "result") if isinstance(text := content.get(key), str)), "")
    blocks = [_block(part) for part in content["parts"] if part]
    return "\n".join(block["text"] for block in blocks) if all(block["type"] == "text" for block in blocks) else blocks


def _block(part: Any) -> dict[str, Any]:
    if not isinstance(part, Mapping):
        return {"type": "text", "text": str(part)}
    kind = str(part.get("content_type") or "other")
    if kind == "audio_transcription":
        return {"type": "text", "text": str(part.get("text") or "")}
    pointer = part.get("asset_pointer") or as_object(part.get("audio_asset_pointer")).get("asset_pointer")
    if pointer:
        return {"type": "image" if kind.startswith("image") else "audio", "file_id": str(pointer)}
    return {**part, "type": kind}


CHATGPT = Format(
    "chatgpt",
    "an export of ChatGPT (conversations.json)",
    lambda source: _is_tree(source.first),
    lambda path: _read(path, _is_tree, _of_chatgpt, "has no 'mapping' of nodes: give the export's conversations.json"),
    sign="`mapping` of nodes, each with `message` or `parent`",
)


# --- Claude


def _is_claude(value: Any) -> bool:
    return is_object(value) and isinstance(value.get("chat_messages"), list)


def _of_claude(value: Mapping[str, Any]) -> _Talk:
    branch = _branch_of_claude(value)
    more = {"title": value["name"]} if value.get("name") else {}
    more |= {key: value[key] for key in _OF_CLAUDE if value.get(key)}
    turns = [turn for message in branch for turn in _turns_of_claude(message)]
    return str(value.get("uuid") or ""), turns, more, len(value["chat_messages"]) - len(branch)


def _branch_of_claude(talk: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The messages up to the current leaf, or to the last one; all of them where none has a parent."""
    listed = [message for message in talk["chat_messages"] if is_object(message)]
    by_id = {message["uuid"]: message for message in listed if isinstance(message.get("uuid"), str)}
    parents = {name: message.get("parent_message_uuid") for name, message in by_id.items()}
    if not any(isinstance(parent, str) and parent in by_id for parent in parents.values()):
        return listed
    leaf = talk.get("current_leaf_message_uuid")
    leaf = leaf if isinstance(leaf, str) and leaf in by_id else next(reversed(by_id))
    return [by_id[name] for name in _ancestors(leaf, parents.get, by_id)]


def _turns_of_claude(message: Mapping[str, Any]) -> list[Turn]:
    sender = message.get("sender", message.get("role"))
    parts = list(as_list(message.get("content")))
    text = message.get("text")
    if isinstance(text, str) and text and not any(is_object(part) and part.get("text") for part in parts):
        parts = [{"type": "text", "text": text}, *parts]
    for file in (*as_list(message.get("attachments")), *as_list(message.get("files"))):
        if is_object(file) and (file.get("file_name") or file.get("extracted_content")):
            words = {"text": file["extracted_content"]} if file.get("extracted_content") else {}
            parts.append({"type": "file", "file_name": file.get("file_name")} | words)
    stamp = {"timestamp": message["created_at"]} if message.get("created_at") else {}
    return turns_of_parts(role_of(sender) or str(sender), parts, stamp) if parts else []


CLAUDE = Format(
    "claude",
    "an export of Claude (conversations.json)",
    lambda source: _is_claude(source.first),
    lambda path: _read(path, _is_claude, _of_claude, "has no 'chat_messages': give the export's conversations.json"),
    sign="a list under `chat_messages`",
)
