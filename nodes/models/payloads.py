"""The body of a request to `chat/completions`, byte for byte as `ChatOpenAI` and its package write it."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import orjson
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

Payload: TypeAlias = dict[str, Any]
_STUBS: tuple[BaseMessage, ...] = (SystemMessage(""), HumanMessage(""), AIMessage(""))
_PLACES: Mapping[type[BaseMessage], int] = {type(stub): place for place, stub in enumerate(_STUBS)}
_UNSENT = frozenset({"refusal", "parsed"})
"""Keys that replies have in their `additional_kwargs`, and that are not sent back."""
_AS_SDK = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


class Texts(list[dict[str, Any]]):
    """Messages that are a role and a text each."""


def payload_of(convert: Callable[[list[BaseMessage]], Payload], messages: Sequence[BaseMessage]) -> Payload:
    """The payload that `convert` makes of the messages.

    It looks at every character of them. Of messages that are mere text it is asked for the form alone.
    """
    if not all(map(_is_text, messages)):
        return convert(list(messages))
    payload = convert(list(_STUBS))
    forms = payload.get("messages")
    if not isinstance(forms, list) or len(forms) != len(_STUBS):
        return convert(list(messages))
    payload["messages"] = Texts({**forms[_PLACES[type(each)]], "content": each.content} for each in messages)
    return payload


def _is_text(message: BaseMessage) -> bool:
    if type(message) not in _PLACES or not isinstance(message.content, str) or message.name is not None:
        return False
    if message.additional_kwargs and not _UNSENT.issuperset(message.additional_kwargs):
        return False
    return not isinstance(message, AIMessage) or not (message.tool_calls or message.invalid_tool_calls)


def merged(payload: Payload) -> Payload:
    """The payload with its `extra_body`, as it is sent."""
    if not isinstance(more := payload.get("extra_body"), Mapping):
        return payload
    return {name: value for name, value in payload.items() if name != "extra_body"} | dict(more)


def encoded(payload: Payload, order: Sequence[str]) -> bytes | None:
    """The payload as JSON, its keys in this order; None if something in it is no JSON as it stands."""
    try:
        return b"{" + b",".join(b'"%b":%b' % (name.encode(), _encoded(payload[name])) for name in order) + b"}"
    except (TypeError, ValueError, RecursionError):
        return None


def _encoded(value: Any) -> bytes:
    # Numbers are written differently by the two; texts are not, and orjson is much faster.
    return orjson.dumps(value) if isinstance(value, (Texts, str)) else _AS_SDK.encode(value).encode()
