"""Tool calls in OpenAI's form of messages: written before the message that they were called for, and read again.

Read too are the content blocks of Anthropic's Messages API (`tool_use`, `tool_result`), of Amazon Bedrock's Converse API
(`toolUse`, `toolResult`), and of Haystack (`tool_call`, `tool_call_result`).
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from pydantic import ValidationError

from ..attachments import content_of, parts_of
from ..files.json_files import dumps, is_too_deep
from ..files.json_values import as_value
from ..records import Attempt, Message, ToolCall, as_object, is_object
from .turns import TOOLS, role_of

NO_RESULT = "no result came"
_Kinds: TypeAlias = tuple[tuple[str, ...], tuple[str, ...]]
_CALLS: _Kinds = (("tool_use", "mcp_tool_use"), ("toolUse", "tool_call"))
"""The types of a block that is a call, and the keys under which a block may hold one."""
_RESULTS: _Kinds = (("tool_result", "mcp_tool_result"), ("toolResult", "tool_call_result"))
_ARGUMENTS = ("arguments", "args", "input")


def tool_turns(message: Message, first: int) -> list[dict[str, Any]]:
    """The tool calls of an assistant's message: one turn with all calls, then one for each result.

    None for a user: the form has no tool calls of users. An error is written as the result. `first`: the number of the
    first call.
    """
    calls = [(f"call_{number}", call) for number, call in enumerate(message.tool_calls, start=first)]
    if not calls or message.role != "assistant":
        return []
    functions = [
        {"id": name, "type": "function", "function": {"name": call.name, "arguments": dumps(call.arguments)}}
        for name, call in calls
    ]
    results = [{"role": "tool", "tool_call_id": name, "content": _content(call)} for name, call in calls]
    return [{"role": message.role, "content": None, "tool_calls": functions}, *results]


def _content(call: ToolCall) -> Any:
    if call.error is not None:
        return call.error
    if call.parts and call.result is None:
        return content_of("", call.parts)
    return content_of(call.result if isinstance(call.result, str) else dumps(call.result), call.parts)


def calls_tools(turn: Mapping[str, Any]) -> bool:
    """Whether an assistant's turn calls tools."""
    return bool(turn.get("tool_calls") or turn.get("function_call") or _blocks(turn, _CALLS))


def called(turn: Mapping[str, Any]) -> str:
    """The names and ids of the calls of a turn, as one text."""
    tools = ToolTurns()
    tools.called(turn)
    return dumps([[call.name, name] for call, name in zip(tools.calls, tools.ids, strict=True)])


def has_results(turn: Mapping[str, Any]) -> bool:
    """Whether blocks of a turn are results of tools: only the role of such a turn is the user's."""
    return bool(_blocks(turn, _RESULTS))


def _blocks(turn: Mapping[str, Any], kinds: _Kinds) -> list[Mapping[str, Any]]:
    """The content blocks of a turn of these types, or what stands under one of the keys."""
    types, keys = kinds
    content = turn.get("content")
    blocks = [block for block in content if is_object(block)] if isinstance(content, list) else []
    inners = [next((block[key] for key in keys if is_object(block.get(key))), block) for block in blocks]
    return [
        inner for block, inner in zip(blocks, inners, strict=True) if inner is not block or block.get("type") in types
    ]


@dataclass
class ToolTurns:
    """The calls and results that were read, until the message comes for which they were made."""

    turns: list[tuple[int, dict[str, Any]]] = field(default_factory=list)
    """Position and content of each turn of tools."""
    calls: list[ToolCall] = field(default_factory=list)
    ids: list[str | None] = field(default_factory=list)
    """The id of each call; None once its result was read."""
    by_message: bool = False
    """Whether a message with words made the calls: they are its own, and not those of the next one."""

    def read(self, position: int, turn: Mapping[str, Any], plain: Mapping[str, Any]) -> None:
        """Read a turn that is only calls, or a result; `plain`: the same in OpenAI's form."""
        self.turns.append((position, dict(turn)))
        if has_results(plain):
            self.answered(plain)
        elif role_of(plain.get("role")) in TOOLS:
            self._result(plain, failed=plain.get("status") == "error")
        else:
            self.called(plain)

    def answered(self, turn: Mapping[str, Any]) -> None:
        """Read the results among the blocks of a user's turn."""
        for block in _blocks(turn, _RESULTS):
            failed = block.get("is_error") is True or block.get("status") == "error" or block.get("error") is True
            origin = as_object(block.get("origin"))
            name = block.get("tool_use_id") or block.get("toolUseId") or origin.get("id") or origin.get("tool_name")
            content = _plain(block.get("content", block.get("result")))
            self._result({"tool_call_id": name, "content": content}, failed=failed)

    def called(self, turn: Mapping[str, Any]) -> None:
        """Read the calls of an assistant's turn, and results that stand beside them."""
        listed, one = turn.get("tool_calls"), turn.get("function_call")
        if not isinstance(listed, list):
            listed = [{"function": one}] if one else [_of_block(block) for block in _blocks(turn, _CALLS)]
        for call in listed:
            function = call.get("function", call.get("custom", call)) if is_object(call) else None
            if not is_object(function) or not isinstance(name := function.get("name"), str):
                continue
            arguments = _arguments(next((function[key] for key in _ARGUMENTS if key in function), None))
            try:
                self.calls.append(ToolCall(name=name, arguments=arguments, error=NO_RESULT))
            except ValidationError:  # deeper than a record can hold
                continue
            own_id = call.get("id") if call is not function else None
            self.ids.append(own_id if isinstance(own_id, str) else name)
        self.answered(turn)  # a server's tools have their results in the same turn

    def _result(self, turn: Mapping[str, Any], *, failed: bool = False) -> None:
        """The result belongs to the first call of its id or name that has none; without both, to the first."""
        call_id = next((turn[key] for key in ("tool_call_id", "name") if isinstance(turn.get(key), str)), None)
        open_calls = [number for number, name in enumerate(self.ids) if name is not None and call_id in (None, name)]
        if not open_calls:
            return
        number = open_calls[0]
        self.ids[number] = None
        content: Any = turn.get("content")
        update: dict[str, Any] = {"error": None, "result": as_value(content)}
        if parts := parts_of(content):
            texts = [block["text"] for block in content if is_object(block) and isinstance(block.get("text"), str)]
            update |= {"parts": parts, "result": as_value("".join(texts)) if texts else None}
        if failed and not parts:
            update = {"error": content if isinstance(content, str) else dumps(content), "result": None}
        self.calls[number] = self.calls[number].model_copy(update=update)

    def given_to(self, message: Message) -> Message:
        """The message with the calls that were read, as those of a draft without a verdict."""
        if not self.calls:
            return message
        return message.model_copy(update={"attempts": (self.draft(message.text, message.tool_calls),)})

    def draft(self, text: str = "", earlier: Sequence[ToolCall] = ()) -> Attempt:
        """A draft without a verdict, with the calls that were read after the earlier ones."""
        return Attempt(text=text, verdict="unjudged", tool_calls=(*earlier, *self.calls))


def _of_block(block: Mapping[str, Any]) -> dict[str, Any]:
    """A call of a content block in OpenAI's form."""
    arguments = next((block[key] for key in ("input", *_ARGUMENTS) if key in block), None)
    function = {"name": block.get("name") or block.get("tool_name"), "arguments": arguments}
    return {"id": block.get("id") or block.get("toolUseId"), "function": function}


def _plain(content: Any) -> Any:
    """A result's content: one text, where all blocks are text; the value of a single block of JSON."""
    if not isinstance(content, list) or not all(map(is_object, content)):
        return content
    if len(content) == 1 and "json" in content[0]:
        return content[0]["json"]
    texts = [block.get("text") for block in content]
    return "".join(texts) if all(isinstance(text, str) for text in texts) else content


def verbatim(turns: Iterable[tuple[int, dict[str, Any]]]) -> list[dict[str, Any]]:
    """The turns without their positions."""
    return [turn for _, turn in turns]


def _arguments(written: Any) -> dict[str, Any]:
    if isinstance(written, str):
        try:
            value = json.loads(written) if written.strip() else {}
        except (ValueError, RecursionError):
            return {"value": written}
        if is_too_deep(value):
            return {"value": written}
        written = value
    return dict(written) if is_object(written) else {} if written is None else {"value": written}
