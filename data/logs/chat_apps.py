"""Chats of web applications: exports of Open WebUI and LibreChat, and the lines of SillyTavern.

The first two are trees of messages, as an answer may be asked for again: of these one branch is read.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..attempts import as_list, as_object, is_object
from ..files.broken_lines import of_form
from ..files.json_values import elements
from ..formats import messages
from ..formats.detection import Contents, Format, Source
from ..formats.message_parts import turns_of_parts, with_ids
from .chatgpt import left_out
from .message_trees import ancestors

_PROBLEM = "is not a chat of the application that the first value is of: take it out of the file"


def read(path: str | Path) -> Contents:
    """A conversation for each chat; messages by themselves are one for each `conversationId`, or together.

    A note counts the messages of other branches.
    """
    values: list[tuple[str, dict[str, Any]]] = []
    single: dict[str, tuple[str, list[Mapping[str, Any]]]] = {}
    left = empty = 0
    for place, value in of_form(elements(path), _is_own, path, _PROBLEM):
        if _is_message(value):
            single.setdefault(str(value.get("conversationId") or ""), (place, []))[1].append(value)
        elif not _is_header(value):
            nodes, leaf = _nodes(value)
            branch = _branch(nodes, leaf)
            left += len(nodes) - len(branch)
            empty += not branch
            values += [(place, {**_named(value), "messages": _turns(branch)})] if branch else []
    for name, (place, listed) in single.items():
        branch = _branch(listed, listed[-1])
        left += len(listed) - len(branch)
        values.append((place, {**({"id": name} if name else {}), "messages": _turns(branch)}))
    return Contents(tuple(messages.of_values(path, values)), left_out(left, empty))


def _is_own(value: Any) -> bool:
    return _is_message(value) or _is_header(value) or _of_open_webui(value) or _of_libre_chat(value)


def _is_message(value: Any) -> bool:
    """Whether a value is one message of LibreChat or SillyTavern."""
    message = as_object(value)
    return isinstance(message.get("isCreatedByUser"), bool) or (
        isinstance(message.get("is_user"), bool) and isinstance(message.get("mes"), str)
    )


def _is_header(value: Any) -> bool:
    return is_object(value) and {"user_name", "character_name"} <= value.keys()


def _chat(value: Any) -> Mapping[str, Any]:
    return as_object(as_object(value).get("chat")) or as_object(value)


def _of_open_webui(value: Any) -> bool:
    history = as_object(_chat(value).get("history"))
    return is_object(history.get("messages")) and "currentId" in history


def _of_libre_chat(value: Any) -> bool:
    listed = as_object(value).get("messages")
    return isinstance(listed, list) and any(map(_is_message, listed[:3]))


def _nodes(value: Mapping[str, Any]) -> tuple[list[Mapping[str, Any]], Mapping[str, Any] | None]:
    """All messages of a chat, and the last one that is shown."""
    if not _of_open_webui(value):
        listed = [message for message in value["messages"] if is_object(message)]
        for message in listed:  # grows
            listed += [reply for reply in as_list(message.get("children")) if is_object(reply)]
        return listed, listed[-1] if listed else None
    history = _chat(value)["history"]
    nodes = {name: {"id": name, **node} for name, node in history["messages"].items() if is_object(node)}
    return list(nodes.values()), nodes.get(str(history["currentId"]), next(reversed(nodes.values()), None))


def _branch(listed: Sequence[Mapping[str, Any]], leaf: Mapping[str, Any] | None) -> list[Mapping[str, Any]]:
    """The messages up to a leaf; all of them, where none has a parent among them."""
    by_id = {str(_id(message)): message for message in listed if _id(message)}
    parents = {name: str(node.get("parentId") or node.get("parentMessageId")) for name, node in by_id.items()}
    if leaf is None or not any(parent in by_id for parent in parents.values()):
        return list(listed)
    return [by_id[name] for name in ancestors(str(_id(leaf)), parents.__getitem__, by_id)]


def _id(message: Mapping[str, Any]) -> Any:
    return message.get("id") or message.get("messageId")


def _named(value: Mapping[str, Any]) -> dict[str, Any]:
    name = value.get("conversationId") or value.get("id")
    title = value.get("title") or _chat(value).get("title")
    more = {key: value[key] for key in ("user_id", "created_at", "createdAt", "endpoint") if value.get(key) is not None}
    return {**({"id": str(name)} if name else {}), **({"title": title} if title else {}), **more}


def _turns(branch: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return with_ids([turn for message in branch for turn in _of_message(message)])


def _of_message(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    by_user = message.get("isCreatedByUser", message.get("is_user"))
    role = message.get("role") if by_user is None else "user" if by_user else "assistant"
    if message.get("is_system") is True:
        role = "system"
    content = message.get("content")
    if not isinstance(content, list):
        text = next((text for key in ("mes", "text", "content") if isinstance(text := message.get(key), str)), "")
        content = [{"type": "text", "text": text}]
    keys = ("timestamp", "createdAt", "send_date", "model")
    more = {key: message[key] for key in keys if message.get(key) is not None}
    return turns_of_parts(str(role), [part for block in content for part in _parts(block)], more)


def _parts(block: Any) -> Iterator[Any]:
    """A block of LibreChat as parts: a call has its result in it."""
    call = as_object(as_object(block).get("tool_call"))
    if call:
        name = call.get("name")
        yield {"type": "tool-call", "toolCallId": call.get("id"), "toolName": name, "args": call.get("args")}
        if call.get("output") is not None:
            yield {"type": "tool-result", "toolCallId": call.get("id"), "toolName": name, "result": call["output"]}
    elif isinstance(words := as_object(block).get("think"), str):
        yield {"type": "reasoning", "text": words}
    elif is_object(text := as_object(block).get("text")):
        yield {"type": "text", "text": str(text.get("value") or "")}
    else:
        yield block


def _recognised(source: Source) -> bool:
    return _is_own(source.first) and (not _is_header(source.first) or any(map(_is_message, source.beginning)))


FORMAT = Format(
    "chat_apps",
    "chats of Open WebUI, LibreChat and SillyTavern",
    _recognised,
    read,
    sign="a `history` of messages and a `currentId`, messages with `isCreatedByUser`, or with `is_user` and `mes`",
)
