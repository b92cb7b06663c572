"""A message as any documented log writes it, as turns of OpenAI's form: `role`, `content`, `tool_calls`.

Read are OpenAI's chat messages; messages of LangChain as its `dumpd`, `messages_to_dict` and `model_dump` write them; a
pair of role and text; and messages with `parts` as the schemas gen-ai-input-messages.json and gen-ai-output-messages.json
of OpenTelemetry's semantic conventions define them.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..attempts import as_object
from ..files.json_files import dumps
from ..records import Role

SPEAKERS: Mapping[str, Role] = {
    "user": "user", "human": "user", "humanmessage": "user", "humanmessagechunk": "user",
    "assistant": "assistant", "ai": "assistant", "aimessage": "assistant", "aimessagechunk": "assistant",
    "gpt": "assistant", "chatgpt": "assistant", "model": "assistant", "bot": "assistant", "chatbot": "assistant",
}  # fmt: skip
"""Names of the two sides in chat formats, in lower case."""

OF_SERVICE: Mapping[str, Role] = {
    "customer": "user", "client": "user", "visitor": "user", "guest": "user", "caller": "user", "end user": "user",
    "用户": "user", "客户": "user", "顾客": "user", "访客": "user",
    "agent": "assistant", "operator": "assistant", "support": "assistant", "support agent": "assistant",
    "customer service": "assistant", "customer support": "assistant", "representative": "assistant",
    "advisor": "assistant", "adviser": "assistant", "助手": "assistant", "助理": "assistant", "客服": "assistant",
}  # fmt: skip
"""Further names of the two sides, as customer services write them; read where a key marks them as roles."""

SYSTEM = ("system", "developer")
TOOLS = ("tool", "function")
_FURTHER_KEYS = "id name tool_call_id refusal function_call finish_reason created_at timestamp labels".split()
"""Keys of a message that a turn has too."""
_ASIDES = {
    "systemmessage": "system", "systemmessagechunk": "system", "toolmessage": "tool", "toolmessagechunk": "tool",
    "functionmessage": "function", "observation": "tool", "ipython": "tool",
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
        return [turn for message in value for turn in turns_of(message)]
    if not isinstance(value, Mapping):
        return []
    if isinstance(value.get("parts"), list):
        return _of_parts(value)
    inner, name = value, value.get("role")
    if value.get("type") == "constructor" and isinstance(value.get("kwargs"), Mapping):
        inner, identifier = value["kwargs"], value.get("id")
        name = identifier[-1] if isinstance(identifier, list) and identifier else None
    elif isinstance(value.get("data"), Mapping):
        inner, name = value["data"], value.get("type")
    role = _formal(name) or role_of(inner.get("role")) or _formal(inner.get("type"))
    return [_turn(role, inner)] if role and ("content" in inner or inner.get("tool_calls")) else []


def _turn(role: str, message: Mapping[str, Any]) -> dict[str, Any]:
    listed = message.get("tool_calls") or as_object(message.get("additional_kwargs")).get("tool_calls")
    calls = [_call(call) for call in listed if isinstance(call, Mapping)] if isinstance(listed, list) else []
    content = message.get("content")
    if not content and isinstance(refusal := message.get("refusal"), str) and refusal:
        content = refusal
    if content is None and not calls and not message.get("function_call") and role not in TOOLS:
        content = ""
    turn: dict[str, Any] = {"role": role, "content": content}
    turn |= {"tool_calls": calls} if calls else {}
    turn |= {key: message[key] for key in _FURTHER_KEYS if message.get(key)}
    metadata = as_object(message.get("response_metadata"))
    if reason := metadata.get("finish_reason") or metadata.get("stop_reason") or message.get("stop_reason"):
        turn["finish_reason"] = reason
    return turn


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


def _of_parts(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    role = role_of(message.get("role"))
    if role is None:
        return []
    parts = [{"type": "text", "content": part} if isinstance(part, str) else part for part in message["parts"]]
    parts = [part for part in parts if isinstance(part, Mapping)]
    turns: list[dict[str, Any]] = []
    for part in parts:
        if part.get("type") == "tool_call_response":
            result = part.get("response", part.get("result"))
            content = result if isinstance(result, str) else dumps(result)
            turns.append({"role": "tool", "tool_call_id": str(part.get("id") or ""), "content": content})
    contents = [part for part in parts if part.get("type") not in ("tool_call", "tool_call_response", "reasoning")]
    calls = [_call(part) for part in parts if part.get("type") == "tool_call"]
    if contents or calls or not turns:
        turn: dict[str, Any] = {"role": role, "content": _content(contents) if contents or not calls else None}
        turn |= {"tool_calls": calls} if calls else {}
        turn |= {key: message[key] for key in ("name", "finish_reason") if message.get(key)}
        turns.append(turn)
    return turns


def _content(parts: Sequence[Mapping[str, Any]]) -> str | list[dict[str, Any]]:
    """The text of parts that are all text; else the parts as they are, their texts under OpenAI's key."""
    texts = [part.get("content") for part in parts if part.get("type") == "text"]
    if len(texts) == len(parts):
        return "".join(text for text in texts if isinstance(text, str))
    return [
        {"type": "text", "text": str(part.get("content", ""))} if part.get("type") == "text" else dict(part)
        for part in parts
    ]


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
