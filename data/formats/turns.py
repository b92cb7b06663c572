"""A message as any documented log writes it, as turns of OpenAI's form: `role`, `content`, `tool_calls`.

It reads OpenAI's chat messages, a pair of role and text, and messages in parts (`message_parts`). It also reads
messages of LangChain as its `dumpd`, `messages_to_dict` and `model_dump` write them.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..files.json_files import dumps
from ..records import Role, as_list, as_object
from .message_parts import in_parts, turns_of_parts

SPEAKERS: Mapping[str, Role] = {
    "user": "user", "human": "user", "humanmessage": "user", "humanmessagechunk": "user",
    "assistant": "assistant", "ai": "assistant", "aimessage": "assistant", "aimessagechunk": "assistant",
    "gpt": "assistant", "chatgpt": "assistant", "model": "assistant", "bot": "assistant", "chatbot": "assistant",
}  # fmt: skip
"""Names of the two sides in chat formats, in lower case."""

OF_SERVICE: Mapping[str, Role] = {
    "customer": "user", "client": "user", "visitor": "user", "guest": "user", "caller": "user", "end user": "user",
    "用户": "user", "客户": "user", "顾客": "user", "访客": "user", "买家": "user", "人类": "user",
    "agent": "assistant", "operator": "assistant", "support": "assistant", "support agent": "assistant",
    "customer service": "assistant", "customer support": "assistant", "representative": "assistant",
    "advisor": "assistant", "adviser": "assistant", "助手": "assistant", "助理": "assistant", "客服": "assistant",
    "机器人": "assistant", "模型": "assistant", "智能助手": "assistant", "智能客服": "assistant", "人工客服": "assistant",
}  # fmt: skip
"""Further names of the two sides, as customer services write them; read where a key marks them as roles."""

SYSTEM = ("system", "developer")
TOOLS = ("tool", "function")
FURTHER_KEYS = "id name tool_call_id refusal function_call finish_reason status created_at timestamp labels".split()
"""Keys of a message that a turn has too."""
HOLDERS = ("content", "tool_calls", "audio")
_ASIDES = {
    "systemmessage": "system", "systemmessagechunk": "system", "toolmessage": "tool", "toolmessagechunk": "tool",
    "functionmessage": "function", "observation": "tool", "ipython": "tool", "系统": "system", "工具": "tool",
} | {name: name for name in (*SYSTEM, *TOOLS)}  # fmt: skip


def role_of(name: object) -> str | None:
    """`user`, `assistant`, `system`, `developer`, `tool` or `function` for any of their names; None for another."""
    service = " ".join(name.lower().replace("_", " ").replace("-", " ").split()) if isinstance(name, str) else ""
    return _formal(name) or OF_SERVICE.get(service)


def _formal(name: object) -> str | None:
    """As `role_of`, without the names of services: `agent` may be a node of a graph, or a type."""
    key = name.lower() if isinstance(name, str) else ""
    return SPEAKERS.get(key) or _ASIDES.get(key)


def turns_of(value: Any) -> list[dict[str, Any]]:
    """The turns of a message or of a list of messages; empty for other values."""
    if isinstance(value, list):
        if len(value) == 2 and isinstance(value[0], str) and isinstance(value[1], str) and _formal(value[0]):
            return [{"role": _formal(value[0]), "content": value[1]}]
        read = [turns_of(message) for message in value]
        # A message of another role is not left out beside others: its reader names it.
        return [turn for message, turns in zip(value, read, strict=True) for turn in turns or _of_others(message, read)]
    if not isinstance(value, Mapping):
        return []
    listed, content = value.get("parts"), value.get("content")
    parts: Any = listed if isinstance(listed, list) else content if in_parts(content) else None
    if parts is not None and (of_parts := role_of(value.get("role"))):
        return turns_of_parts(of_parts, parts, {key: value[key] for key in FURTHER_KEYS if value.get(key)})
    inner, name = value, value.get("role")
    if value.get("type") == "constructor" and isinstance(value.get("kwargs"), Mapping):
        inner, identifier = value["kwargs"], value.get("id")
        name = identifier[-1] if isinstance(identifier, list) and identifier else None
    elif isinstance(value.get("data"), Mapping):
        inner, name = value["data"], value.get("type")
    role = _formal(name) or role_of(inner.get("role")) or _formal(inner.get("type"))
    return [_turn(role, inner)] if role and any(key in inner for key in HOLDERS) else []


def _turn(role: str, message: Mapping[str, Any]) -> dict[str, Any]:
    listed = message.get("tool_calls") or as_object(message.get("additional_kwargs")).get("tool_calls")
    unread = message.get("invalid_tool_calls")  # of LangChain, with arguments that are not JSON
    listed = [*as_list(listed), *as_list(unread)]
    calls = [_call(call) for call in listed if isinstance(call, Mapping)]
    content = worded_content(message)
    if content is None and not calls and not message.get("function_call") and role not in TOOLS:
        content = ""
    turn: dict[str, Any] = {"role": role, "content": content}
    turn |= {"tool_calls": calls} if calls else {}
    turn |= {key: message[key] for key in FURTHER_KEYS if message.get(key)}
    metadata = as_object(message.get("response_metadata"))
    if reason := metadata.get("finish_reason") or metadata.get("stop_reason") or message.get("stop_reason"):
        turn["finish_reason"] = reason
    return turn


def _of_others(message: Any, read: Iterable[Sequence[Any]]) -> list[dict[str, Any]]:
    is_message = isinstance(message, Mapping) and isinstance(message.get("role"), str) and any(read)
    return [dict(message)] if is_message and ("content" in message or "parts" in message) else []


def worded_content(message: Mapping[str, Any]) -> Any:
    """The content of a message; without one the refusal or the recording with its transcript, as OpenAI's API has them."""
    content, refusal, audio = (message.get(key) for key in ("content", "refusal", "audio"))
    if content or not (audio or refusal):
        return content
    if isinstance(refusal, str) and refusal:
        return refusal
    recording = dict(as_object(audio))
    transcript = recording.pop("transcript", None)
    words = [{"type": "text", "text": transcript}] if isinstance(transcript, str) else []
    return [*words, {"type": "audio", "audio": recording}] if recording or words else content


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    """A tool call of LangChain (`name`, `args`) or of OpenTelemetry (`name`, `arguments`) in OpenAI's form."""
    if "function" in call:
        return dict(call)
    arguments = call.get("args", call.get("arguments"))
    text = arguments if isinstance(arguments, str) else dumps({} if arguments is None else arguments)
    return {
        "id": str(call.get("id") or ""),
        "type": "function",
        "function": {"name": str(call.get("name", "")), "arguments": text},
    }


def spoken(turns: Iterable[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Role and words of each turn of the two sides with a content, white space normalised.

    Values that are not turns are left out.
    """
    return [
        (turn["role"], " ".join(_words(turn["content"]).split()))
        for turn in turns
        if isinstance(turn, Mapping) and turn.get("role") in ("user", "assistant") and turn.get("content")
    ]


def _words(content: Any) -> str:
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) if isinstance(part, Mapping) else str(part) for part in content)
    return str(content)
