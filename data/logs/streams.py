"""Streamed events of chat models, put together to the responses that the same requests have without streaming.

Events are those of Anthropic's Messages API (`message_start` to `message_stop`) and of Amazon Bedrock's ConverseStream
(`messageStart` to `metadata`). Of OpenAI they are chunks of Chat Completions (`chat.completion.chunk`) and events of
the Responses API (`response.created` to `response.completed`). They stand as JSON, as `event` with `data`, or as text
of server-sent events.
"""

from collections.abc import Callable, Iterable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from ..attempts import as_list, as_object
from ..files.json_values import as_value
from .events import CHUNK

_CLOSED = ("response.completed", "response.incomplete", "response.failed")


def assembled(events: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The responses of streamed events, in the order in which they began.

    Chunks belong to the response of their `id`; other events to the last one of their kind that began. The events
    of a response that was cut off give what came of it.
    """
    streams: list[_Stream] = []
    chunks: dict[str, _Chunks] = {}
    current: dict[type[_Stream], _Stream] = {}
    for event in events:
        if event.get("object") == CHUNK:
            name = str(event.get("id") or "")
            if name not in chunks:
                streams.append(chunks.setdefault(name, _Chunks()))
            chunks[name].read(event)
            continue
        kind = event.get("type")
        if kind in ("ping", "error"):
            if kind == "error" and streams:
                streams[-1].whole["error"] = event["error"]
            continue
        of: type[_Stream] = _Converse
        if isinstance(kind, str):
            of = _Messages if not kind.startswith("response.") else _Responses
        if of not in current or current[of].begins(event):
            current[of] = of()
            streams.append(current[of])
        current[of].read(event)
    return [response for stream in streams if (response := stream.response())]


@dataclass
class _Stream:
    """The events of one response."""

    whole: dict[str, Any] = field(default_factory=dict[str, Any])
    """Keys of the response beside its content."""
    blocks: dict[int, dict[str, Any]] = field(default_factory=dict[int, dict[str, Any]])
    """Its content blocks, calls or items by their index."""

    def begins(self, event: Mapping[str, Any]) -> bool:
        """Whether an event is the first one of another response."""
        raise NotImplementedError

    def read(self, event: Mapping[str, Any]) -> None:
        raise NotImplementedError

    def response(self) -> dict[str, Any]:
        """What came, in the form without streaming; empty if nothing did."""
        raise NotImplementedError

    def block(self, index: object) -> dict[str, Any]:
        return self.blocks.setdefault(index if isinstance(index, int) else len(self.blocks), {})

    def in_order(self) -> list[dict[str, Any]]:
        return [self.blocks[index] for index in sorted(self.blocks)]


def _grow(block: MutableMapping[str, Any], delta: Mapping[str, Any]) -> None:
    """Add a delta to what came: texts and lists grow, other values are replaced."""
    for key, new in delta.items():
        old = block.get(key)
        if isinstance(old, str) and isinstance(new, str):
            block[key] = old + new
        elif isinstance(old, list) and isinstance(new, list):
            block[key] = [*old, *new]
        elif new is not None or key not in block:
            block[key] = new


class _Messages(_Stream):
    """Anthropic's Messages API."""

    def begins(self, event: Mapping[str, Any]) -> bool:
        return event.get("type") == "message_start"

    def read(self, event: Mapping[str, Any]) -> None:
        match event["type"]:
            case "message_start":
                self.whole |= as_object(event.get("message"))
            case "content_block_start":
                _grow(self.block(event.get("index")), as_object(event.get("content_block")))
            case "content_block_delta":
                delta = dict(as_object(event.get("delta")))
                kind = str(delta.pop("type", ""))
                block = self.block(event.get("index"))
                block.setdefault("type", {"input_json_delta": "tool_use"}.get(kind, kind.removesuffix("_delta")))
                if "citation" in delta:
                    delta = {"citations": [delta["citation"]]}
                _grow(block, delta)
            case "message_delta":
                self.whole |= as_object(event.get("delta"))
                self.whole["usage"] = {**as_object(self.whole.get("usage")), **as_object(event.get("usage"))}

    def response(self) -> dict[str, Any]:
        for block in self.blocks.values():
            if written := block.pop("partial_json", ""):
                block["input"] = as_value(written)
        return {"type": "message", "role": "assistant", **self.whole, "content": self.in_order()}


class _Chunks(_Stream):
    """OpenAI's Chat Completions: of several choices the first."""

    def read(self, event: Mapping[str, Any]) -> None:
        self.whole |= {key: value for key, value in event.items() if key not in ("choices", "object") and value}
        choices = event.get("choices")
        for choice in as_list(choices):
            if not isinstance(choice, Mapping) or choice.get("index", 0) != 0:
                continue
            message = self.whole.setdefault("message", {})
            delta = dict(as_object(choice.get("delta")))
            calls = delta.pop("tool_calls", None)
            if isinstance(one := delta.pop("function_call", None), Mapping):
                _grow(message.setdefault("function_call", {}), one)
            message.setdefault("role", delta.pop("role", None) or "assistant")
            delta.pop("role", None)
            _grow(message, delta)
            for call in as_list(calls):
                _call_delta(self.block(as_object(call).get("index")), as_object(call))
            if choice.get("finish_reason"):
                self.whole["finish_reason"] = choice["finish_reason"]

    def response(self) -> dict[str, Any]:
        message = self.whole.pop("message", None)
        if message is None:
            return {}
        calls = {"tool_calls": self.in_order()} if self.blocks else {}
        choice = {"index": 0, "message": {"content": None, **message, **calls}}
        if reason := self.whole.pop("finish_reason", None):
            choice["finish_reason"] = reason
        return {**self.whole, "object": "chat.completion", "choices": [choice]}


def _call_delta(block: dict[str, Any], call: Mapping[str, Any]) -> None:
    """Add to a call: its arguments come in pieces, its id, type and name once."""
    function = block.setdefault("function", {"name": "", "arguments": ""})
    part = as_object(call.get("function"))
    function["arguments"] += part.get("arguments") or ""
    function["name"] = function["name"] or part.get("name") or ""
    rest = {key: value for key, value in call.items() if key not in ("index", "function") and value}
    block.update({"type": "function", **block, **rest})


class _Responses(_Stream):
    """OpenAI's Responses API: the last event has the whole response."""

    def begins(self, event: Mapping[str, Any]) -> bool:
        return event.get("type") == "response.created" or "output" in self.whole

    def read(self, event: Mapping[str, Any]) -> None:
        kind, index = event["type"], event.get("output_index")
        if kind in _CLOSED:
            self.whole = dict(as_object(event.get("response")))
        elif kind == "response.created":
            self.whole = {key: value for key, value in as_object(event.get("response")).items() if key != "output"}
        elif kind in ("response.output_item.added", "response.output_item.done"):
            item = dict(as_object(event.get("item")))
            self.block(index).update({**item, "content": []} if kind.endswith("added") and "content" in item else item)
        elif kind in _PIECES and isinstance(piece := event.get("delta"), str):
            _PIECES[kind](self.block(index), piece)

    def response(self) -> dict[str, Any]:
        if "output" in self.whole:
            return self.whole
        return {**self.whole, "object": "response", "output": self.in_order()} if self.blocks else {}


def _written(kind: str, key: str) -> Callable[[dict[str, Any], str], None]:
    def add(item: dict[str, Any], piece: str) -> None:
        item.setdefault("type", "message")
        item.setdefault("role", "assistant")
        content = item.setdefault("content", [])
        if not content or content[-1]["type"] != kind:
            content.append({"type": kind, key: ""})
        content[-1][key] += piece

    return add


def _argued(key: str) -> Callable[[dict[str, Any], str], None]:
    return lambda item, piece: item.update({key: (item.get(key) or "") + piece})


_PIECES: Mapping[str, Callable[[dict[str, Any], str], None]] = {
    "response.output_text.delta": _written("output_text", "text"),
    "response.refusal.delta": _written("refusal", "refusal"),
    "response.function_call_arguments.delta": _argued("arguments"),
    "response.custom_tool_call_input.delta": _argued("input"),
}


class _Converse(_Stream):
    """Amazon Bedrock's ConverseStream."""

    def begins(self, event: Mapping[str, Any]) -> bool:
        return "messageStart" in event

    def read(self, event: Mapping[str, Any]) -> None:
        for key, inner in event.items():
            if not isinstance(inner, Mapping):
                continue
            if key == "contentBlockStart" or key == "contentBlockDelta":
                block = self.block(inner.get("contentBlockIndex", 0))
                for name, part in as_object(inner.get("start", inner.get("delta"))).items():
                    if isinstance(part, Mapping):
                        _grow(block.setdefault(name, {}), part)
                    else:
                        _grow(block, {name: part})
            elif key in ("messageStart", "messageStop", "metadata"):
                self.whole |= inner

    def response(self) -> dict[str, Any]:
        whole = dict(self.whole)
        for block in self.blocks.values():
            if "toolUse" in block:
                block["toolUse"]["input"] = as_value(block["toolUse"].get("input") or "{}")
            if "reasoningContent" in block and "text" in block["reasoningContent"]:
                block["reasoningContent"] = {"reasoningText": block["reasoningContent"]}
        message = {"role": whole.pop("role", "assistant"), "content": self.in_order()}
        return {"output": {"message": message}, **whole}
