"""Conversations as lines of Anthropic's Messages API, of OpenAI's Responses API, and of messages of LangChain.

Each is read again by the form of logs that it is one of. A call of a tool is made before the message for which it was
made, as in `messages`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..attachments import part_of
from ..attempts import Part, as_list, is_object
from ..files.json_files import write_lines
from ..files.json_values import as_value
from ..records import Conversation
from .messages import FORM
from .tool_messages import tool_turns
from .unsupported import BeyondWords

_LANGCHAIN = {"user": "HumanMessage", "assistant": "AIMessage", "system": "SystemMessage"}
_RESPONSES = "/v1/responses"


def write_anthropic(conversations: Iterable[Conversation], path: str | Path) -> list[str]:
    """Write one conversation a line: `id`, `system` and `messages` as `messages.create` takes them.

    Returns a line for each kind of content that the format cannot hold and that was therefore left out.
    """
    beyond = BeyondWords(
        "anthropic", tools=True, errors=True, instructions_at_begin=True, parts=_is_held(_anthropic_block)
    )
    return _write(conversations, path, beyond, _anthropic_line)


def write_responses(conversations: Iterable[Conversation], path: str | Path) -> list[str]:
    """Write one conversation a line, as the Batch API takes it for `/v1/responses`; see `write_anthropic`."""
    beyond = BeyondWords("responses", tools=True, tools_by_place=True, parts=_is_held(_responses_block))
    return _write(conversations, path, beyond, _responses_line)


def write_langchain(conversations: Iterable[Conversation], path: str | Path) -> list[str]:
    """Write one conversation a line: `id`, and `messages` as `langchain_core.load` has them; see `write_anthropic`."""
    return _write(conversations, path, BeyondWords("langchain", tools=True, errors=True, parts=True), _langchain_line)


def turns_of_talk(conversation: Conversation, kind: str) -> list[dict[str, Any]]:
    """The turns in OpenAI's form, without what the source of another format has beside; failed calls have a status."""
    turns: list[dict[str, Any]] = replace(FORM, kind=kind, tools=_with_status).written(conversation)[FORM.turns]
    return turns


def _with_status(message: Any, first: int) -> list[dict[str, Any]]:
    turns = tool_turns(message, first)
    failed = [call.error is not None for call in message.tool_calls]
    for turn, is_failed in zip(turns[1:], failed, strict=False):
        turn["status"] = "error" if is_failed else "success"
    return turns


def _write(
    conversations: Iterable[Conversation],
    path: str | Path,
    beyond: BeyondWords,
    line: Callable[[str, list[dict[str, Any]]], dict[str, Any]],
) -> list[str]:
    def written() -> Iterator[dict[str, Any]]:
        for conversation in conversations:
            turns = turns_of_talk(conversation, beyond.own_key)
            if beyond.note(conversation, empty=not turns):
                yield line(conversation.id, turns)

    write_lines(path, written())
    return beyond.lines()


def _is_held(block: Callable[[Part], dict[str, Any] | None]) -> Callable[[Part], bool]:
    """Whether a block has all of a part, so that it is read again as it was."""
    return lambda part: part_of(block(part)) == part


def _blocks(content: Any, text: str, block: Callable[[Part], dict[str, Any] | None]) -> Any:
    """A content of OpenAI's form with blocks of another one; parts that it lacks are left out.

    `text`: the type of a block of text.
    """
    if not isinstance(content, list):
        return content
    blocks: list[dict[str, Any]] = []
    for inner in content:
        part = part_of(inner)
        own = {"type": text, "text": inner["text"]} if part is None else block(part)
        blocks += [own] if own is not None else []
    return blocks if any(inner["type"] != text for inner in blocks) else "".join(inner["text"] for inner in blocks)


def _functions(turn: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """Id and function of each call of a turn."""
    return [(call["id"], call["function"]) for call in as_list(turn.get("tool_calls"))]


def _anthropic_line(name: str, turns: list[dict[str, Any]]) -> dict[str, Any]:
    system = [turn["content"] for turn in turns if turn["role"] == "system"]
    messages = [_anthropic(turn) for turn in turns if turn["role"] != "system"]
    return {"id": name, **({"system": "\n\n".join(system)} if system else {}), "messages": messages}


def _anthropic(turn: Mapping[str, Any]) -> dict[str, Any]:
    content = _blocks(turn["content"], "text", _anthropic_block)
    if turn["role"] == "tool":
        failed = {"is_error": True} if turn.get("status") == "error" else {}
        result = {"type": "tool_result", "tool_use_id": turn["tool_call_id"], "content": content, **failed}
        return {"role": "user", "content": [result]}
    calls = [
        {"type": "tool_use", "id": name, "name": function["name"], "input": _arguments(function)}
        for name, function in _functions(turn)
    ]
    return {"role": turn["role"], "content": calls or content}


def _arguments(function: Mapping[str, Any]) -> Any:
    arguments = as_value(function["arguments"])
    return arguments if is_object(arguments) else {}


def _anthropic_block(part: Part) -> dict[str, Any] | None:
    """A block of an image, a PDF or a text; None for what the API does not take."""
    kind = {"image": "image", "file": "document"}.get(part.type)
    if kind is None:
        return None
    title = {"title": part.name} if part.name and kind == "document" else {}
    if part.inline and part.url:
        head, _, data = part.url.partition(";base64,")
        return {"type": kind, "source": {"type": "base64", "media_type": head[len("data:") :], "data": data}, **title}
    if part.url:
        return {"type": kind, "source": {"type": "url", "url": part.url}, **title}
    return {"type": kind, "source": {"type": "file", "file_id": part.file_id}, **title} if part.file_id else None


def _responses_line(name: str, turns: list[dict[str, Any]]) -> dict[str, Any]:
    items = [item for turn in turns for item in _responses_items(turn)]
    body = {"metadata": {"conversation_id": name}, "input": items}
    return {"custom_id": name, "method": "POST", "url": _RESPONSES, "body": body}


def _responses_items(turn: Mapping[str, Any]) -> list[dict[str, Any]]:
    content = _blocks(turn["content"], "input_text", _responses_block)
    if turn["role"] == "tool":
        return [{"type": "function_call_output", "call_id": turn["tool_call_id"], "output": content}]
    calls = [
        {"type": "function_call", "call_id": name, "name": function["name"], "arguments": function["arguments"]}
        for name, function in _functions(turn)
    ]
    return calls or [{"type": "message", "role": turn["role"], "content": content}]


def _responses_block(part: Part) -> dict[str, Any] | None:
    """A block of an image or a file; None for what the API does not take."""
    place = (
        {"file_id": part.file_id} if part.file_id else {"image_url" if part.type == "image" else "file_url": part.url}
    )
    if part.type not in ("image", "file") or None in place.values():
        return None
    if part.type == "image":
        return {"type": "input_image", "detail": "auto", **place}
    if part.inline:
        place = {"file_data": part.url}
    return {"type": "input_file", **({"filename": part.name} if part.name else {}), **place}


def _langchain_line(name: str, turns: list[dict[str, Any]]) -> dict[str, Any]:
    return {"id": name, "messages": [_langchain(turn) for turn in turns]}


def _langchain(turn: Mapping[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {"content": turn["content"] or ""}
    if turn["role"] == "tool":
        fields |= {"tool_call_id": turn["tool_call_id"], "status": turn["status"]}
    calls = [
        {"type": "tool_call", "id": name, "name": function["name"], "args": _arguments(function)}
        for name, function in _functions(turn)
    ]
    kind = _LANGCHAIN.get(turn["role"], "ToolMessage")
    return {
        "lc": 1,
        "type": "constructor",
        "id": ["langchain", "schema", "messages", kind],
        "kwargs": {**fields, **({"tool_calls": calls} if calls else {})},
    }
