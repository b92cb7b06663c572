"""A message of any chat API as turns of OpenAI's form: `role`, `content`, `tool_calls`; a result of a tool is its own turn.

Read are OpenAI's chat messages and Responses items, a pair of role and text, LangChain's `dumpd`, `messages_to_dict` and
`model_dump`, content blocks of Anthropic and Bedrock, parts of OpenTelemetry (gen-ai-input-messages.json), of Gemini and
of Vercel's AI SDK, and ShareGPT's `from` and `value`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..attachments import part_of
from ..files.json import as_value, dumps
from ..records import Role, as_list, as_object, is_object

SPEAKERS: Mapping[str, Role] = {
    **dict.fromkeys("user human humanmessage humanmessagechunk".split(), "user"),
    **dict.fromkeys("assistant ai aimessage aimessagechunk gpt chatgpt model bot chatbot".split(), "assistant"),
}
"""Names of the two sides in chat formats, in lower case."""

_OF_SERVICE: Mapping[str, Role] = {
    "customer": "user", "client": "user", "visitor": "user", "guest": "user", "caller": "user", "end user": "user",
    "用户": "user", "客户": "user", "顾客": "user", "访客": "user", "买家": "user", "人类": "user",
    "agent": "assistant", "operator": "assistant", "support": "assistant", "support agent": "assistant",
    "customer service": "assistant", "customer support": "assistant", "representative": "assistant",
    "advisor": "assistant", "adviser": "assistant", "助手": "assistant", "助理": "assistant", "客服": "assistant",
    "机器人": "assistant", "模型": "assistant", "智能助手": "assistant", "智能客服": "assistant", "人工客服": "assistant",
}  # fmt: skip
"""Further names of the two sides, as customer services write them; read where a key marks them as roles."""

SIDES = {"usr": "user", "sys": "assistant", "prompter": "user"}
"""Names of the two sides in data sets of dialogues, whose turns are read as those of speakers (`logs.rows`)."""
LISTS = ("messages", "conversation", "conversations", "turns", "trajectory")
"""Keys of a list of turns of OpenAI's form."""

SYSTEM = ("system", "developer")
TOOLS = ("tool", "function")
_ASIDES = {
    "systemmessage": "system", "systemmessagechunk": "system", "toolmessage": "tool", "toolmessagechunk": "tool",
    "functionmessage": "function", "observation": "tool", "ipython": "tool", "系统": "system", "工具": "tool",
} | {name: name for name in (*SYSTEM, *TOOLS)}  # fmt: skip
FURTHER_KEYS = "id name tool_call_id refusal function_call finish_reason status created_at timestamp labels".split()
"""Keys of a message that a turn has too."""
HOLDERS = ("content", "tool_calls", "audio")
ITEMS = "items"
"""Key of a turn for Responses items that are neither messages nor calls, such as `reasoning` and `web_search_call`."""

_REASONING = ("reasoning", "thinking", "redacted_thinking")
_CALLS = ("tool_use", "mcp_tool_use", "tool_call", "tool-call", "tool-invocation")
"""Types of a block that is a call."""
_CALL_HOLDERS = ("toolUse", "functionCall", "function_call", "tool_call", "toolInvocation")
"""Keys under which a block may hold a call."""
_RESULTS = ("tool_result", "mcp_tool_result", "tool_call_response", "tool-result")
_RESULT_HOLDERS = ("toolResult", "functionResponse", "function_response", "tool_call_result")
_ARGUMENTS = ("arguments", "args", "input")
_MIME = ("mime_type", "mimeType", "mediaType", "media_type")
_ITEM_CALLS = {"function_call": "arguments", "custom_tool_call": "input"}
_ITEM_RESULTS = ("function_call_output", "custom_tool_call_output")
_ITEM_TEXTS = {
    "input_text": "text",
    "output_text": "text",
    "summary_text": "text",
    "text": "text",
    "refusal": "refusal",
}

Turn = dict[str, Any]


def role_of(name: object) -> str | None:
    """`user`, `assistant`, `system`, `developer`, `tool` or `function` for any of their names; None for another."""
    service = " ".join(name.lower().replace("_", " ").replace("-", " ").split()) if isinstance(name, str) else ""
    return _formal(name) or _OF_SERVICE.get(service)


def _formal(name: object) -> str | None:
    """As `role_of`, without the names of services: `agent` may be a node of a graph, or a type."""
    key = name.lower() if isinstance(name, str) else ""
    return SPEAKERS.get(key) or _ASIDES.get(key)


def turns_of(value: Any) -> list[Turn]:
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
    parts: Any = listed if isinstance(listed, list) else content if _is_vercel(content) else None
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


def _is_vercel(content: Any) -> bool:
    return any(
        as_object(part).get("type") in ("tool-call", "tool-result", "tool-invocation") for part in as_list(content)
    )


def _of_others(message: Any, read: Iterable[Sequence[Any]]) -> list[Turn]:
    is_message = isinstance(message, Mapping) and isinstance(message.get("role"), str) and any(read)
    return [dict(message)] if is_message and ("content" in message or "parts" in message) else []


def _turn(role: str, message: Mapping[str, Any]) -> Turn:
    listed = message.get("tool_calls") or as_object(message.get("additional_kwargs")).get("tool_calls")
    unread = message.get("invalid_tool_calls")  # of LangChain, with arguments that are not JSON
    calls = [_in_openai_form(call) for call in (*as_list(listed), *as_list(unread)) if isinstance(call, Mapping)]
    content = worded_content(message)
    if content is None and not calls and not message.get("function_call") and role not in TOOLS:
        content = ""
    turn: Turn = {"role": role, "content": content}
    turn |= {"tool_calls": calls} if calls else {}
    turn |= {key: message[key] for key in FURTHER_KEYS if message.get(key)}
    metadata = as_object(message.get("response_metadata"))
    if reason := metadata.get("finish_reason") or metadata.get("stop_reason") or message.get("stop_reason"):
        turn["finish_reason"] = reason
    return turn


def _in_openai_form(call: Mapping[str, Any]) -> Turn:
    if "function" in call:
        return dict(call)
    return function_call(call.get("name", ""), call.get("args", call.get("arguments")), str(call.get("id") or ""))


def function_call(name: Any, arguments: Any, own: str | None = None) -> Turn:
    """A call in OpenAI's form, whose arguments are JSON as text; `own` is its id."""
    text = arguments if isinstance(arguments, str) else dumps({} if arguments is None else arguments)
    function = {"name": str(name), "arguments": text}
    return {**({} if own is None else {"id": own}), "type": "function", "function": function}


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


def text_of(content: Any) -> str | None:
    """The text of a content, which may have several parts (texts, images, files); None if it is invalid.

    The text of a file or a recording is its part's.
    """
    if not isinstance(content, list):
        return content if isinstance(content, str) else None
    texts = [
        part if isinstance(part, str) else "" if _is_media(part) else part.get("text", "")
        for part in content
        if isinstance(part, str | dict)
    ]
    worded = [part for part in content if not isinstance(part, dict) or str(part.get("type", "")).endswith("text")]
    whole = len(texts) == len(content) and all(isinstance(text, str) for text in texts)
    return "".join(texts) if whole and all(isinstance(part, str) or "text" in part for part in worded) else None


def _is_media(block: Any) -> bool:
    part = part_of(block)
    return part is not None and part.type != "other"


def is_turn(value: Any) -> bool:
    """Whether a value is a single message, with its role and its content or calls, and no line of several."""
    return (
        isinstance(value, Mapping)
        and role_of(value.get("role")) is not None
        and "stop_reason" not in value  # a response of Anthropic's Messages API
        and ("content" in value or "tool_calls" in value)
        and not any(isinstance(value.get(key), list) for key in LISTS)
    )


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


# --- Content in blocks


def call_of(block: Any) -> Turn | None:
    """The call that a content block is or holds, in OpenAI's form; None for another block."""
    block = as_object(block)
    kind = block.get("type") or ""
    holder = next((key for key in _CALL_HOLDERS if is_object(block.get(key))), "")
    if not holder and kind not in _CALLS and not (str(kind).startswith("tool-") and "toolCallId" in block):
        return None
    inner = block[holder] if holder else block
    name = _first(inner, "name", "toolName", "tool_name") or str(kind).removeprefix("tool-")
    own = _first(inner, "id", "toolUseId", "toolCallId")
    return function_call(name, _first(inner, *_ARGUMENTS), None if own is None else str(own))


def result_of(block: Any) -> Turn | None:
    """The result of a tool that a content block is or holds, alone or beside its call, as a turn; None without one.

    The content is a text, a JSON value, or a list of blocks among which are others than texts.
    """
    block = as_object(block)
    kind = str(block.get("type") or "")
    holder = next((key for key in (*_RESULT_HOLDERS, "toolInvocation") if is_object(block.get(key))), "")
    inner = block[holder] if holder else block
    alone = holder in _RESULT_HOLDERS or kind in _RESULTS
    if not alone and (not kind.startswith("tool-") or _first(inner, "result", "output") is None):
        return None
    value = _first(inner, "response", "result", "output", "content")
    status = _first(inner, "is_error", "isError", "error") is True or inner.get("status") == "error"
    if is_object(value) and "value" in value and isinstance(value.get("type"), str):  # Vercel's typed output
        status, value = status or value["type"].startswith("error"), value["value"]
    origin = as_object(inner.get("origin"))
    own = _first(inner, "tool_use_id", "toolUseId", "toolCallId", "id") or _first(origin, "id", "tool_name")
    name = _first(inner, "toolName", "name")
    turn: Turn = {"role": "tool"} | ({"tool_call_id": str(own)} if own else {}) | ({"name": str(name)} if name else {})
    return turn | {"content": _plain(value)} | ({"status": "error"} if status else {})


def _plain(content: Any) -> Any:
    """A result's content: one text, where all blocks are text; the value of a single block of JSON."""
    if not isinstance(content, list) or not content or not all(map(is_object, content)):
        return content
    if len(content) == 1 and "json" in content[0]:
        return content[0]["json"]
    texts = [block.get("text") for block in content]
    return "".join(texts) if all(isinstance(text, str) for text in texts) else content


def _first(holder: Mapping[str, Any], *keys: str) -> Any:
    return next((holder[key] for key in keys if holder.get(key) is not None), None)


def turns_of_parts(role: str, parts: Sequence[Any], more: Mapping[str, Any] | None = None) -> list[Turn]:
    """The turns of one message in parts; never none.

    `more`: further keys, of the last turn of the role. Reasoning stands under its `reasoning_content`.
    """
    turns: list[Turn] = []
    contents: list[Turn] = []
    reasoning: list[str] = []
    calls: list[Turn] = []

    def close() -> None:
        if contents or reasoning or calls:
            words = all(block["type"] == "text" for block in contents)
            content: Any = "".join(block["text"] for block in contents) if words else list(contents)
            turn: Turn = {"role": role, "content": content if contents or not calls else None}
            turn |= {"tool_calls": list(calls)} if calls else {}
            turns.append(turn | ({"reasoning_content": "\n".join(reasoning)} if reasoning else {}))
        for listed in (contents, reasoning, calls):
            listed.clear()

    for part in parts:
        block = {"type": "text", "text": part} if isinstance(part, str) else part
        if not is_object(block):
            continue
        call, result = call_of(block), result_of(block)
        if block.get("thought") is True or block.get("type") in _REASONING:
            reasoning.append(_first_text(block, "text", "content", "reasoning", "thinking"))
        elif call is not None:
            calls.append(call)
        elif result is None:
            contents.append(_content(block))
        if result is not None:
            close()
            content = result["content"]
            turns.append(result | {"content": content if isinstance(content, str) else dumps(content)})
    close()
    turns = turns or [{"role": role, "content": ""}]
    if own := [turn for turn in turns if turn["role"] == role]:
        own[-1].update(more or {})
    return turns


def _content(block: Mapping[str, Any]) -> Turn:
    """A text, or a block that `attachments.part_of` reads."""
    kind = block.get("type")
    kind = kind if isinstance(kind, str) else "text" if isinstance(block.get("text"), str) else ""
    if kind in ("text", "input_text", "output_text"):
        return {"type": "text", "text": _first_text(block, "text", "content")}
    mime = next((block[key] for key in _MIME if isinstance(block.get(key), str)), None)
    if kind in ("uri", "blob"):
        key, value = ("url", block.get("uri")) if kind == "uri" else ("base64", block.get("content"))
        return {"type": block.get("modality") or "media", key: value, "mime_type": mime}
    for names, key in ((("inlineData", "inline_data"), "data"), (("fileData", "file_data"), "file_uri")):
        if is_object(data := _first(block, *names)):
            value = _first(data, key, "fileUri") if key == "file_uri" else data.get(key)
            return {"type": "media", key: value, "mime_type": _first(data, "mimeType", "mime_type")}
    return {**block, "type": kind or "other"} | ({"mime_type": mime} if mime else {})


def _first_text(block: Mapping[str, Any], *keys: str) -> str:
    return next((block[key] for key in keys if isinstance(block.get(key), str)), "")


def with_ids(turns: list[Turn]) -> list[Turn]:
    """The turns of a conversation, each call and its result with an id, as OpenAI's form asks for.

    A result without one is that of the first call without a result, of its name if it has one.
    """
    waiting: list[tuple[str, str]] = []
    number = 0
    for turn in (turn for turn in turns if isinstance(turn, dict)):
        for call in (call for call in as_list(turn.get("tool_calls")) if isinstance(call, dict)):
            number += 1
            call.setdefault("id", f"call_{number}")
            waiting.append((call["id"], str(as_object(call.get("function")).get("name"))))
        if turn.get("role") == "user":  # what was called before has no result any more
            waiting.clear()
        if turn.get("role") == "tool":
            own, name = turn.get("tool_call_id"), turn.get("name")
            place = next((pair for pair in waiting if pair[0] == own or (not own and name in (None, pair[1]))), None)
            if place is not None:
                waiting.remove(place)
                turn["tool_call_id"] = place[0]
    return turns


# --- ShareGPT

SHAREGPT_CALL = "function_call"
SHAREGPT_RESULTS = ("observation", "tool", "function_response", "tool_response")


def sharegpt_turn(turn: Mapping[str, Any]) -> Turn | None:
    """A turn of `from` and `value`; None if it has no text or no role."""
    speaker, value = turn.get("from"), turn.get("value")
    if not isinstance(value, str):
        return None
    if speaker == SHAREGPT_CALL:
        listed = as_value(value)
        calls = [{"function": call} for call in (listed if isinstance(listed, list) else [listed])]
        return {"role": "assistant", "content": None, "tool_calls": calls}
    role = "tool" if speaker in SHAREGPT_RESULTS else speaker if speaker == "system" else SPEAKERS.get(str(speaker))
    return None if role is None else {"role": role, "content": value}


# --- Items of OpenAI's Responses API


def turns_of_items(items: Any, *, output: bool = False) -> list[Turn]:
    """The turns of a text, or of items; calls stand in the message of the same response."""
    if isinstance(items, str):
        return [{"role": "user", "content": items}] if items else []
    turns: list[Turn] = []
    pending: list[Any] = []
    for item in (item for item in as_list(items) if isinstance(item, Mapping)):
        new = list(_turns_of_item(item))
        if not new:
            pending.append(dict(item))
            continue
        first = new[0]
        holder = first if first["role"] == "assistant" or not turns else turns[-1]
        if first.get("tool_calls") and turns and turns[-1]["role"] == "assistant":
            holder = turns[-1]
            holder.setdefault("tool_calls", []).extend(first["tool_calls"])
            new = new[1:]
        if pending:
            holder.setdefault(ITEMS, []).extend(pending)
            pending.clear()
        turns += new
    if pending and output and (not turns or turns[-1]["role"] != "assistant"):
        turns.append({"role": "assistant", "content": ""})
    if pending and turns:
        turns[-1].setdefault(ITEMS, []).extend(pending)
    return turns


def _turns_of_item(item: Mapping[str, Any]) -> Iterator[Turn]:
    kind = item.get("type") or ("message" if role_of(item.get("role")) else None)
    own = str(item.get("call_id") or item.get("id") or "")
    if kind == "message" and (role := role_of(item.get("role"))) is not None:
        rest = {key: value for key, value in item.items() if key not in ("type", "role", "content", "status")}
        parts = [as_object(part) for part in as_list(item.get("content"))]
        refusal = [part["refusal"] for part in parts if part.get("type") == "refusal" and "refusal" in part]
        notes = [note for part in parts for note in as_list(part.get("annotations"))]
        turn = {"role": role, "content": _of_item(item.get("content")), **rest}
        yield turn | ({"refusal": "".join(refusal)} if refusal else {}) | ({"annotations": notes} if notes else {})
    elif kind in (*_ITEM_CALLS, "mcp_call"):
        arguments = item.get(_ITEM_CALLS.get(kind, "arguments"))
        yield {
            "role": "assistant",
            "content": None,
            "tool_calls": [function_call(item.get("name") or "", arguments, own)],
        }
        if kind == "mcp_call":  # which holds its result
            error = item.get("error")
            content = item.get("output") if error is None else error
            named = {"tool_call_id": str(item.get("id") or ""), "status": "error" if error else "success"}
            yield {"role": "tool", **named, "content": content if isinstance(content, str) else dumps(content)}
    elif kind in _ITEM_RESULTS:
        rest = {key: value for key, value in item.items() if key not in ("type", "call_id", "output", "status")}
        named = {"tool_call_id": str(item.get("call_id") or ""), "content": _of_item(item.get("output"))}
        yield {"role": "tool", **named, **rest}


def _of_item(content: Any) -> Any:
    """The text of parts that are all text; else the parts, with texts and images as chat messages have them."""
    if not isinstance(content, list):
        return "" if content is None else content if isinstance(content, str) else dumps(content)
    texts = [
        part.get(_ITEM_TEXTS.get(str(part.get("type")), "")) if isinstance(part, Mapping) else part for part in content
    ]
    if all(isinstance(text, str) for text in texts):
        return "".join(map(str, texts))
    return [
        {"type": "text", "text": text} if isinstance(text, str) else _image(part)
        for text, part in zip(texts, content, strict=True)
    ]


def _image(part: Any) -> Any:
    if as_object(part).get("type") == "input_image" and isinstance(url := part.get("image_url"), str):
        return {"type": "image_url", "image_url": {"url": url}}
    return part
