"""Exports of ChatGPT (`conversations.json`): a tree of messages for each conversation, of which one branch is shown.

A conversation has `mapping` (node id to `message`, `parent` and `children`), `current_node` and `title`; a message has
`author.role`, `content.content_type`, `content.parts` or `content.text`, `recipient` and `metadata`.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ..files.broken_lines import of_form
from ..files.json_values import elements
from ..formats import messages
from ..formats.detection import Contents, Format
from ..records import as_object
from .message_trees import ancestors

_ASIDE = ("thoughts", "reasoning_recap", "user_editable_context", "model_editable_context")
"""Types of content outside the conversation: reasoning, and the user's description in the settings."""
_FURTHER_KEYS = ("title", "create_time", "update_time", "default_model_slug")


def read(path: str | Path) -> Contents:
    """A conversation for each tree: the branch that ends in its current node.

    Notes count the messages of other branches, and conversations whose branch has none.
    """
    values: list[tuple[str, Any]] = []
    left = empty = 0
    problem = "has no 'mapping' of nodes: give the export's conversations.json"
    for place, value in of_form(elements(path), is_tree, path, problem):
        nodes = _branch(value)
        turns = list(_turns(nodes))
        if not turns:
            empty += 1
            continue
        left += sum(_is_said(node) for node in value["mapping"].values()) - sum(map(_is_said, nodes))
        name = value.get("conversation_id") or value.get("id")
        more = {key: value[key] for key in _FURTHER_KEYS if value.get(key) is not None}
        values.append((place, {**({"id": str(name)} if name else {}), **more, "messages": turns}))
    return Contents(tuple(messages.of_values(path, values)), left_out(left, empty))


def left_out(messages: int, conversations: int) -> tuple[str, ...]:
    """Notes about an export: the messages of branches that are not shown, and conversations without a message."""
    counts = (
        (messages, "message", "of other branches (edited or asked for again)"),
        (conversations, "conversation", "without a message"),
    )
    return tuple(f"{count} {noun}{'' if count == 1 else 's'} {what} left out" for count, noun, what in counts if count)


def is_tree(value: Any) -> bool:
    """Whether a value is a conversation of an export."""
    nodes = value.get("mapping") if isinstance(value, Mapping) else None
    return (
        isinstance(nodes, Mapping)
        and bool(nodes)
        and all(isinstance(node, Mapping) and ("message" in node or "parent" in node) for node in nodes.values())
    )


def _branch(tree: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The nodes from the root to the current one, or to the last child of each if none is current."""
    nodes = tree["mapping"]

    def is_node(name: Any) -> bool:
        return isinstance(name, str) and name in nodes  # a name may be anything in a broken file

    if not any(is_node(node.get("parent")) or _children(node, is_node) for node in nodes.values()):
        return sorted(nodes.values(), key=_time)  # no tree: an export without its links
    name: Any = tree.get("current_node")
    if not is_node(name):
        name = next((key for key, node in nodes.items() if not is_node(node.get("parent"))), next(iter(nodes)))
        seen = {name}
        while (after := _children(nodes[name], is_node)) and after[-1] not in seen:
            name = after[-1]
            seen.add(name)
    return [nodes[one] for one in ancestors(name, lambda one: nodes[one].get("parent"), nodes)]


def _time(node: Mapping[str, Any]) -> float:
    time = as_object(node.get("message")).get("create_time")
    return float(time) if isinstance(time, int | float) else 0.0


def _children(node: Mapping[str, Any], is_node: Callable[[Any], bool]) -> list[str]:
    children = node.get("children")
    return [child for child in children if is_node(child)] if isinstance(children, list) else []


def _is_said(node: Mapping[str, Any]) -> bool:
    message = node.get("message")
    role = _author(message).get("role") if isinstance(message, Mapping) else None
    return role in ("user", "assistant") and not _is_hidden(message)


def _turns(nodes: list[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """The branch as turns of OpenAI's form; a message to a tool is a call, whose result follows."""
    called: str | None = None
    for number, node in enumerate(nodes):
        message = node.get("message")
        if not isinstance(message, Mapping) or _is_hidden(message):
            continue
        role, content = _author(message).get("role"), _content(message.get("content"))
        recipient = message.get("recipient") or "all"
        if role == "assistant" and recipient != "all":
            called = str(message.get("id") or f"call {number}")
            arguments = (
                content if isinstance(content, str) and content.lstrip()[:1] == "{" else json.dumps({"input": content})
            )
            call = {"id": called, "type": "function", "function": {"name": recipient, "arguments": arguments}}
            yield {"role": "assistant", "content": None, "tool_calls": [call]}
        elif role == "tool" and called is not None:
            yield {"role": "tool", "tool_call_id": called, "content": content}
            called = None
        elif role in ("user", "assistant", "system") and content:
            details = as_object(as_object(message.get("metadata")).get("finish_details"))
            reason = {"finish_reason": details["type"]} if isinstance(details.get("type"), str) else {}
            stamp = {"timestamp": time} if isinstance(time := message.get("create_time"), int | float) else {}
            yield {"role": role, "content": content, **stamp, **reason}


def _content(content: Any) -> Any:
    """The text, or a list of blocks if there are images or recordings; empty for content outside the conversation."""
    content = as_object(content)
    if content.get("content_type") in _ASIDE:
        return ""
    if not isinstance(content.get("parts"), list):
        return next((text for key in ("text", "result") if isinstance(text := content.get(key), str)), "")
    blocks = [_block(part) for part in content["parts"] if part]
    if all(block["type"] == "text" for block in blocks):
        return "\n".join(block["text"] for block in blocks)
    return blocks


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


def _author(message: Mapping[str, Any]) -> Mapping[str, Any]:
    return as_object(message.get("author"))


def _is_hidden(message: Any) -> bool:
    return bool(as_object(as_object(message).get("metadata")).get("is_visually_hidden_from_conversation"))


FORMAT = Format(
    "chatgpt",
    "an export of ChatGPT (conversations.json)",
    lambda source: is_tree(source.first),
    read,
    sign="`mapping` of nodes, each with `message` or `parent`",
)
