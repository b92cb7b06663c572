"""A message of any chat API as turns: who, words, parts, calls of tools, their results, reasoning, and further keys.

Read are OpenAI's chat messages and Responses items, a pair of role and text, LangChain's `dumpd`, `messages_to_dict` and
`model_dump`, content blocks of Anthropic and Bedrock, parts of OpenTelemetry (gen-ai-input-messages.json), of Gemini and
of Vercel's AI SDK, and ShareGPT's `from` and `value`.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..attachments import content_of, part_of, parts_of
from ..files.json import as_value, dumps
from ..records import Json, Part, Role, as_list, as_object, is_object

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
"""Names of the two sides in data sets of dialogues, whose turns are read as those of speakers (`logs.dialogues`)."""
LISTS = ("messages", "conversation", "conversations", "turns", "trajectory")
"""Keys of a list of turns of OpenAI's form."""

SYSTEM = ("system", "developer")
TOOLS = ("tool", "function")
_ASIDES = {
    "systemmessage": "system", "systemmessagechunk": "system", "toolmessage": "tool", "toolmessagechunk": "tool",
    "functionmessage": "function", "observation": "tool", "ipython": "tool", "系统": "system", "工具": "tool",
} | {name: name for name in (*SYSTEM, *TOOLS)}  # fmt: skip
_CONTENTS = ("content", "parts", "tool_calls", "function_call", "audio", "refusal", "value")
"""Keys of which a message has one."""
_OWN = {*_CONTENTS, "role", "from", "tool_call_id", "invalid_tool_calls", "type", "lc", "additional_kwargs"}
"""Keys of a message that a turn holds in fields of its own."""
NOTHING: tuple[Any, ...] = (None, "", [], {})
"""Values of further keys that are not kept."""

_TEXTS = ("text", "input_text", "output_text", "summary_text")
_REASONING = ("reasoning", "thinking", "redacted_thinking")
_CALLS = (
    "tool_use", "mcp_tool_use", "server_tool_use", "tool_call", "tool-call", "tool-invocation", "function_call",
    "custom_tool_call", "mcp_call",
)  # fmt: skip
"""Types of a block or an item that is a call."""
_CALL_HOLDERS = ("toolUse", "functionCall", "function_call", "tool_call", "toolInvocation")
"""Keys under which a block may hold a call."""
_RESULTS = (
    "tool_result", "mcp_tool_result", "tool_call_response", "tool-result", "function_call_output",
    "custom_tool_call_output",
)  # fmt: skip
_RESULT_HOLDERS = ("toolResult", "functionResponse", "function_response", "tool_call_result")
_IDS = ("call_id", "id", "toolUseId", "toolCallId")
_SHAREGPT_TOOLS = ("observation", "tool", "function_response", "tool_response")


@dataclass
class Call:
    """A call of a tool."""

    name: str
    arguments: Json
    id: str = ""


@dataclass
class Result:
    """What a tool gave back, for the call of its id, or of its name."""

    value: Any
    id: str = ""
    name: str = ""
    parts: tuple[Part, ...] = ()
    failed: bool = False


@dataclass
class Turn:
    """A message of a log, or what stands beside the messages there; the one inner form of every format that is read."""

    role: str
    """`user`, `assistant`, `system` or `tool`; any other name is one that is not known."""
    text: str | None = ""
    """None where the source has no valid text."""
    parts: tuple[Part, ...] = ()
    calls: list[Call] = field(default_factory=list[Call])
    results: list[Result] = field(default_factory=list[Result])
    """Results of tools, of these calls or of earlier ones."""
    reasoning: str = ""
    further: dict[str, Any] = field(default_factory=dict[str, Any])
    """Further keys of the message."""
    aside: bool = False
    """Whether it is an item beside the messages, such as the reasoning of a response."""

    @property
    def said(self) -> bool:
        """Whether it is a message: words or parts of a side, or a side's turn that holds nothing else either."""
        if self.role not in ("user", "assistant"):
            return False
        return bool(self.text or self.parts) or not (self.calls or self.results or self.aside)


def role_of(name: object) -> str | None:
    """`user`, `assistant`, `system`, `developer`, `tool` or `function` for any of their names; None for another."""
    service = " ".join(name.lower().replace("_", " ").replace("-", " ").split()) if isinstance(name, str) else ""
    key = name.lower() if isinstance(name, str) else ""
    return SPEAKERS.get(key) or _ASIDES.get(key) or _OF_SERVICE.get(service)


def _formal(name: object) -> str | None:
    """As `plain_role`, without the names of services: `agent` may be a node of a graph, or a type."""
    key = name.lower() if isinstance(name, str) else ""
    return SPEAKERS.get(key) or plain_role(_ASIDES.get(key))


def turns_of(value: Any) -> list[Turn]:
    """The turns of a message, an item, or a list of these; empty for other values.

    A message is one turn, or several where words follow results of tools in it. One whose role is not known is a turn
    under the name that its source gives it.
    """
    if isinstance(value, list):
        if len(value) == 2 and isinstance(value[0], str) and isinstance(value[1], str) and _formal(value[0]):
            return [Turn(str(_formal(value[0])), value[1])]
        read = [turns_of(message) for message in value]
        known, listed = any(read), list[Turn]()
        for message, turns in zip(value, read, strict=True):
            before = listed[-1] if listed else Turn("")
            if turns and as_object(message).get("type") in _CALLS and before.role == "assistant" and not before.results:
                before.calls += turns[0].calls  # items of one response
                before.results += turns[0].results
            else:
                listed += turns or _unknown(message, known)
        return listed
    if not is_object(value):
        return []
    kind = value.get("type")
    if is_item(value):
        turns = _of_blocks("tool" if kind in _RESULTS else "assistant", [value], {})
        return [replace(turn, aside=kind in _REASONING) for turn in turns]
    if isinstance(value.get("from"), str) and "value" in value:
        return _of_sharegpt(value)
    inner, name = value, value.get("role")
    if kind == "constructor" and is_object(value.get("kwargs")):
        inner, name = value["kwargs"], next(reversed(as_list(value.get("id"))), None)
    elif is_object(value.get("data")):
        inner, name = value["data"], kind
    role = _formal(name) or plain_role(inner.get("role")) or _formal(inner.get("type"))
    if role is None:
        of_service = isinstance(kind, str) and kind.endswith("_call") and "id" in value
        return [Turn("assistant", further={"items": [dict(value)]}, aside=True)] if of_service else []
    return _of_message(role, inner) if any(key in inner for key in _CONTENTS) else []


def plain_role(name: object) -> str | None:
    """As `role_of`, with `system` and `tool` for their other names."""
    role = role_of(name)
    return {"developer": "system", "function": "tool"}.get(role, role) if role else None


def _unknown(message: Any, among_others: bool) -> list[Turn]:
    """A message of another role is not left out beside others: its reader names it."""
    is_message = among_others and is_object(message) and isinstance(message.get("role"), str)
    return [Turn(message["role"], None)] if is_message and ("content" in message or "parts" in message) else []


def _of_message(role: str, message: Mapping[str, Any]) -> list[Turn]:
    further = {key: value for key, value in message.items() if key not in _OWN and value not in NOTHING}
    metadata = as_object(message.get("response_metadata"))
    if reason := metadata.get("finish_reason") or metadata.get("stop_reason") or message.get("stop_reason"):
        further["finish_reason"] = reason
    beside = as_object(message.get("additional_kwargs"))  # of LangChain
    reasoning = further.pop("reasoning_content", None) or beside.get("reasoning_content")
    content = message["parts"] if isinstance(message.get("parts"), list) else message.get("content")
    listed = as_list(message.get("tool_calls") or beside.get("tool_calls"))
    listed = [*listed, *as_list(message.get("invalid_tool_calls"))]  # whose arguments are no JSON
    if one := message.get("function_call"):
        listed.append({"function": one})
    if role == "tool" and not any(_result(block) for block in as_list(content)):
        turn = Turn(role, results=[_of_tool(message, content)], further=further)
        for key in ("name", "status"):
            turn.further.pop(key, None)
        return [turn]
    turns = _of_blocks(role, [*_worded(message, content)], further)
    known = {call.id for call in turns[-1].calls if call.id}
    for one in listed:
        if (made := _call(one, sure=True)) is not None and made.id not in known:
            turns[-1].calls.append(made)
            known |= {made.id} - {""}
    if isinstance(reasoning, str) and reasoning:
        turns[-1].reasoning = reasoning
    if content is None and "content" not in message and turns[-1].said and not turns[-1].text:
        turns[-1].text = None
    return turns


def _worded(message: Mapping[str, Any], content: Any) -> list[Any]:
    """The content as blocks; without one the refusal or the recording with its transcript, as OpenAI's API has them."""
    refusal, audio = message.get("refusal"), dict(as_object(message.get("audio")))
    if content in NOTHING and isinstance(refusal, str) and refusal:
        return [refusal]
    if content in NOTHING and audio:
        transcript = audio.pop("transcript", None)
        return [*([transcript] if transcript else []), *([{"type": "audio", "audio": audio}] if audio else [])]
    return content if isinstance(content, list) else [] if content is None else [content]


def _of_blocks(role: str, blocks: Sequence[Any], further: dict[str, Any]) -> list[Turn]:
    """The turns of a message in blocks, never none; its further keys are those of the last one."""
    turns = [Turn(role)]
    for block in blocks:
        turn, fields = turns[-1], as_object(block)
        kind = fields["type"] if isinstance(fields.get("type"), str) else ""
        if not kind and isinstance(fields.get("text"), str) and "thought" not in fields and len(fields) <= 2:
            block, kind = fields["text"], "text"
        call, result = _call(block), _result(block)
        if call is not None:
            turn.calls.append(call)
        if result is not None:
            turn.results.append(result)
        elif call is None and (fields.get("thought") is True or kind in _REASONING or "reasoningContent" in fields):
            turn.reasoning = "\n".join(filter(None, (turn.reasoning, _reasoning(fields))))
        elif call is None:
            if turn.results:
                turns.append(turn := Turn(role))
            _add_content(turn, block, kind)
    turns[-1].further = {**further, **turns[-1].further}
    return turns


def _add_content(turn: Turn, block: Any, kind: str) -> None:
    fields = as_object(block)
    if fields.keys() == {"type"} and kind not in _TEXTS:  # a mark, such as that a step begins
        return
    words = (block, fields.get("text"), fields.get("content"))
    text = next((one for one in words if isinstance(one, str)), None)
    part = None if kind in _TEXTS else part_of(block)
    if kind == "refusal" and isinstance(fields.get("refusal"), str):
        turn.text = (turn.text or "") + fields["refusal"]
    elif part is not None and (part.type != "other" or text is None):
        turn.parts += (part,)
    elif text is None and (kind in ("", *_TEXTS) or not fields):
        turn.text = None
    elif turn.text is not None and (part is None or kind.endswith("text")):
        turn.text += text or ""
        turn.further |= {"annotations": notes} if (notes := fields.get("annotations")) else {}
    elif part is not None:
        turn.parts += (part,)


def _reasoning(block: Mapping[str, Any]) -> str:
    inner = as_object(block.get("reasoningContent"))
    block = as_object(inner.get("reasoningText")) or inner or block
    texts = [block[key] for key in ("text", "content", "reasoning", "thinking") if isinstance(block.get(key), str)]
    texts += [as_object(one).get("text") for key in ("summary", "content") for one in as_list(block.get(key))]
    return next((text for text in texts if isinstance(text, str) and text), "")


def _of_sharegpt(value: Mapping[str, Any]) -> list[Turn]:
    name, said = value["from"], value["value"]
    further = {key: inner for key, inner in value.items() if key not in ("from", "value") and inner not in NOTHING}
    if not isinstance(said, str):
        return [Turn(_formal(name) or name, None)]
    if name == "function_call":
        listed = as_value(said)
        calls = [_call({"function": one}, sure=True) for one in (listed if isinstance(listed, list) else [listed])]
        return [Turn("assistant", calls=[call for call in calls if call is not None], further=further)]
    if name in _SHAREGPT_TOOLS:
        return [Turn("tool", results=[Result(as_value(said))], further=further)]
    role = _formal(name)
    return [Turn(role, said, further=further)] if role else []


# --- Calls and results


def _call(block: Any, *, sure: bool = False) -> Call | None:
    """The call that a block is or holds; `sure`: it stands where only calls do."""
    block = as_object(block)
    kind = str(block.get("type") or "")
    holder = next((key for key in _CALL_HOLDERS if is_object(block.get(key))), "")
    if not sure and not holder and kind not in _CALLS and not (kind.startswith("tool-") and "toolCallId" in block):
        return None
    inner = as_object(block[holder]) if holder else block
    made = next((as_object(inner[key]) for key in ("function", "custom") if is_object(inner.get(key))), inner)
    name = _first(made, "name", "toolName", "tool_name") or (kind.removeprefix("tool-") if not sure else None)
    if not isinstance(name, str):
        return None
    own = _first(inner, *_IDS)
    return Call(name, _arguments(_first(made, "arguments", "args", "input")), str(own or ""))


def _arguments(written: Any) -> Json:
    if isinstance(written, str):
        try:
            value = json.loads(written) if written.strip() else {}
        except (ValueError, RecursionError):
            return {"value": written}
        written = value
    return dict(written) if is_object(written) else {} if written is None else {"value": written}


def _result(block: Any) -> Result | None:
    """The result that a block is or holds, alone or beside its call."""
    block = as_object(block)
    kind = str(block.get("type") or "")
    holder = next((key for key in (*_RESULT_HOLDERS, "toolInvocation") if is_object(block.get(key))), "")
    inner = as_object(block[holder]) if holder else block
    alone = holder in _RESULT_HOLDERS or kind in _RESULTS
    beside = (kind.startswith("tool-") or kind == "mcp_call") and _first(inner, "result", "output", "error") is not None
    if not alone and not beside:
        return None
    value = _first(inner, "response", "result", "output", "content", "error")
    failed = inner.get("is_error") is True or inner.get("isError") is True or inner.get("status") == "error"
    failed = failed or inner.get("error") is True or (kind == "mcp_call" and bool(inner.get("error")))
    if is_object(value) and "value" in value and isinstance(value.get("type"), str):  # Vercel's typed output
        failed, value = failed or value["type"].startswith("error"), value["value"]
    origin = as_object(inner.get("origin"))
    own = _first(inner, "tool_use_id", "tool_call_id", *_IDS) or _first(origin, "id", "tool_name")
    return _with_value(value, str(own or ""), str(_first(inner, "toolName", "name") or ""), failed)


def _of_tool(message: Mapping[str, Any], content: Any) -> Result:
    failed = message.get("status") == "error" or message.get("is_error") is True
    name = message.get("name")
    return _with_value(
        content, str(_first(message, "tool_call_id") or ""), name if isinstance(name, str) else "", failed
    )


def _with_value(value: Any, own: str, name: str, failed: bool) -> Result:
    blocks = value if isinstance(value, list) and value and all(map(is_object, value)) else []
    if len(blocks) == 1 and "json" in blocks[0]:
        return Result(blocks[0]["json"], own, name, failed=failed)
    texts = [block["text"] for block in blocks if isinstance(block.get("text"), str)]
    parts = parts_of(value)
    if blocks and (parts or len(texts) == len(blocks)):
        value = "".join(texts) if texts or not parts else None
    return Result(value if failed else as_value(value), own, name, parts, failed)


def _first(holder: Mapping[str, Any], *keys: str) -> Any:
    return next((holder[key] for key in keys if holder.get(key) is not None), None)


# --- What was said, and OpenAI's form


def instruction_of(system: Any) -> str:
    """The text under `system`, as Anthropic's and Bedrock's APIs take it: a text, or blocks of text; else empty."""
    blocks = [{"text": system}] if isinstance(system, str) else as_list(system)
    texts = [as_object(block).get("text") for block in blocks]
    return "".join(text for text in texts if isinstance(text, str))


def is_turn(value: Any) -> bool:
    """Whether a value is a single message, with its role and its content or calls, and no line of several."""
    return (
        is_object(value)
        and role_of(value.get("role")) is not None
        and "stop_reason" not in value  # a response of Anthropic's Messages API
        and ("content" in value or "tool_calls" in value)
        and not any(isinstance(value.get(key), list) for key in LISTS)
    )


def is_item(value: Any) -> bool:
    """Whether a value is a call, a result or reasoning as an item of its own, as the Responses API has them."""
    return is_object(value) and value.get("type") in (*_CALLS, *_RESULTS, *_REASONING)


def spoken(turns: Iterable[Turn]) -> list[tuple[str, str]]:
    """Role and words of each turn of the two sides that has words, white space normalised."""
    return [(one.role, " ".join(one.text.split())) for one in turns if one.role in ("user", "assistant") and one.text]


def as_messages(turns: Iterable[Turn]) -> Iterator[dict[str, Any]]:
    """The turns as OpenAI's chat messages, results of tools after their calls; a failed one is its error as text."""
    for turn in turns:
        if turn.role != "tool" and (turn.calls or turn.text or turn.parts or not turn.results):
            message: dict[str, Any] = {"role": turn.role, "content": content_of(turn.text or "", turn.parts)}
            if turn.calls:
                message["content"] = message["content"] or None
                message["tool_calls"] = [function_call(call) for call in turn.calls]
            yield {**message, **{key: value for key, value in turn.further.items() if key not in message}}
        for result in turn.results:
            text = result.value if isinstance(result.value, str) else dumps(result.value)
            content = content_of("" if result.parts and result.value is None else text, result.parts)
            yield {"role": "tool", "tool_call_id": result.id, "content": content}


def function_call(call: Call) -> dict[str, Any]:
    """A call in OpenAI's form, whose arguments are JSON as text."""
    named = {"id": call.id} if call.id else {}
    return {**named, "type": "function", "function": {"name": call.name, "arguments": dumps(call.arguments)}}
