"""Conversations of turns, read into records and written as JSON lines of `messages` or as ShareGPT's `conversations`.

Calls and results of tools belong to the message that made them, else to its side's next one. Instructions stand beside the
messages, under `asides` of the conversation's `extra`, where further keys of the source are too.

A message is read as turns, whatever API it is of: OpenAI's chat messages and Responses items, a pair of role and text,
LangChain's `dumpd`, `messages_to_dict` and `model_dump`, content blocks of Anthropic and Bedrock, parts of OpenTelemetry
(gen-ai-input-messages.json), of Gemini and of Vercel's AI SDK, and ShareGPT's `from` and `value`.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple, cast

from ...errors import DataError, at
from ..attachments import content_of, part_of, parts_of
from ..files.json import STRICT, Broken, as_value, dumps, elements, write_json, write_lines
from ..identity import conversation_id, digest
from ..records import (
    Attempt,
    Conversation,
    Json,
    Label,
    Message,
    Part,
    Role,
    Timing,
    ToolCall,
    Unsaid,
    as_list,
    as_object,
    bare,
    is_object,
    labels_from,
)
from .source import ConversationStream, Format, Source

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

IDS = ("conversation_id", "thread_id", "session_id", "chat_id", "dialog_id", "dialogue_id", "conversation_hash")
"""Keys that name the conversation of a line."""

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
    "tool_use", "mcp_tool_use", "server_tool_use", "tool_call", "tool-call", "tool-invocation", "dynamic-tool",
    "function_call", "custom_tool_call", "mcp_call",
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
    if inner.get("state") == "output-denied":  # Vercel's, by a person who was asked
        inner = {**inner, "errorText": as_object(inner.get("approval")).get("reason") or "denied"}
    beside = kind.startswith("tool-") or kind in ("dynamic-tool", "mcp_call")
    beside = beside and _first(inner, "result", "output", "error", "errorText") is not None
    if not alone and not beside:
        return None
    value = _first(inner, "response", "result", "output", "content", "error", "errorText")
    failed = any(inner.get(key) is True for key in ("is_error", "isError", "error")) or inner.get("status") == "error"
    failed = failed or inner.get("errorText") is not None or (kind == "mcp_call" and bool(inner.get("error")))
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


def is_name(value: Any) -> bool:
    """Whether a value is a text or a whole number."""
    return isinstance(value, str | int) and not isinstance(value, bool) and str(value) != ""


def identifier(value: Mapping[str, Any]) -> str:
    """The id of the conversation that a line or its metadata names; empty without one."""
    holders = (value, as_object(value.get("metadata")))
    return next((str(holder[key]) for holder in holders for key in IDS if is_name(holder.get(key))), "")


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


KIND = "messages"
"""`kind` of the scenario of a conversation of which only the messages are known."""
NO_RESULT = "no result came"
NEEDS = "needs a 'role' (user, assistant, system or tool) and a text as 'content'"

LABELS = "labels"
"""Key of a line or a message whose object holds annotations by name."""
KNOWN_LABELS = ("hallucination", "intent", "rating", "satisfaction", "strategy")
"""Keys that are annotations outside `labels` too. No other key is: most are names, ids, times or settings."""

ASIDES = "asides"
"""Key of a conversation's `extra` for its instructions: the text as `system`, and under `at` how many messages are before."""
_RESERVED = (
    ASIDES,
    *"path variant file article paragraph stored behaviours by_path label_keys user_folder".split(),
)
"""Keys of `extra` that mean something in every conversation: those of a source go under `row`."""
_PUBLISHED = ("file", "article", "paragraph")
"""Keys of `extra` under which readers of published data keep the differences of their source."""


class Line(NamedTuple):
    """A conversation of a source, as its reader found it."""

    place: str
    """Where it stands in the file."""
    turns: list[Turn]
    further: Mapping[str, Any]
    """Its further keys, `id`, `system` and annotations among them."""
    raw: Any = None
    """The value that it was read from, whose digest names it where it has no id; without one the turns do."""
    others: int = 0
    """How many messages of other branches the source has beside the turns."""


# --- Reading


def conversations(path: str | Path, lines: Iterable[Line], broken: Broken = STRICT) -> Iterator[Conversation]:
    """The conversations of lines; further keys are kept in `extra`, and annotations are their labels too.

    DataError for a turn of an unknown role, and for a message without a text.
    """
    seen: Counter[str] = Counter()
    for line in lines:
        with broken.reading(line.place):
            yield _conversation(path, line, seen)


def talks_of(
    path: str | Path,
    values: Iterable[tuple[str, Any]],
    broken: Broken,
    lines_of: Callable[[str | Path, str, Any], Iterable[Line]],
) -> ConversationStream:
    """The conversations of values, each with its place in the file; notes count what is left out.

    `lines_of`: the conversations of a path, a place in it and its value; DataError for a value of another form.
    """
    empty = others = 0

    def lines() -> Iterator[Line]:
        nonlocal empty, others
        for place, value in values:
            found: list[Line] = []
            with broken.reading(place):
                found += lines_of(path, place, value)
            for line in found:
                empty += not line.turns
                others += line.others if line.turns else 0
            yield from (line for line in found if line.turns)

    yield from conversations(path, lines(), broken)
    counts = (
        (others, "message", "of other branches (edited or asked for again)"),
        (empty, "conversation", "without a message"),
    )
    return tuple(f"{count} {noun}{'' if count == 1 else 's'} {what} left out" for count, noun, what in counts if count)


def _conversation(path: str | Path, line: Line, seen: Counter[str]) -> Conversation:
    further = {key: value for key, value in line.further.items() if value not in NOTHING}
    key = next((key for key in ("system", "system_prompt") if instruction_of(further.get(key))), "")
    turns = [Turn("system", instruction_of(further.pop(key)))] if key else []
    for number, turn in enumerate(line.turns):
        if turn.role not in ("user", "assistant", "system", "tool") or (turn.text is None and turn.role != "tool"):
            raise DataError(f"{at(path, line.place, f'message {number}')}: {NEEDS}")
        turns.append(turn)
    slots, instructions = _slots(turns)
    said, unsaid = list[_Slot](), list[Unsaid]()
    for slot in slots:
        if slot.turn is not None:
            said.append(slot)
        elif said and said[-1].role == slot.role:
            said[-1].add(slot.calls, slot.results, slot.reasoning)
        elif slot.drafts:
            unsaid.append(Unsaid(role=slot.role, after=len(said), attempts=slot.drafts))
    named = line.raw if line.raw is not None else {**further, "messages": list(as_messages(line.turns))}
    key, own = digest(named), further.pop("id", None)
    own = own if is_name(own) else identifier(further)
    ordinal = seen[key]
    seen[key] += 1
    scenario: Json = {"kind": KIND, "digest": key}
    extra = {key: value for key, value in further.items() if key not in _RESERVED}
    extra |= {"row": apart} if (apart := {key: further[key] for key in _RESERVED if key in further}) else {}
    return Conversation(
        id=conversation_id(KIND, scenario, ordinal) if own == "" else str(own),
        scenario=scenario,
        ordinal=ordinal,
        messages=tuple(slot.message for slot in said),
        unsaid=tuple(unsaid),
        labels=declared_labels(further),
        extra=extra | ({ASIDES: instructions} if instructions else {}),
    )


@dataclass
class _Slot:
    """A message as it is read; without a turn, what was called before the message of its side comes."""

    role: Role
    turn: Turn | None = None
    calls: list[Call] = field(default_factory=list[Call])
    results: list[Result | None] = field(default_factory=list[Result | None])
    """The result of each call; None until it comes."""
    reasoning: str = ""
    further: dict[str, Any] = field(default_factory=dict[str, Any])

    def add(self, calls: Sequence[Call], results: Sequence[Result | None], reasoning: str) -> None:
        self.calls += calls
        self.results += results
        self.reasoning = "\n\n".join(filter(None, (self.reasoning, reasoning)))

    def fill(self, results: Iterable[Result]) -> None:
        """A result belongs to the first call of its id or name that has none; without both, to the first."""
        for result in results:
            open_calls = (n for n, call in enumerate(self.calls) if self.results[n] is None and _fits(result, call))
            if (number := next(open_calls, None)) is not None:
                self.results[number] = result

    @property
    def drafts(self) -> tuple[Attempt, ...]:
        """The draft that holds calls and reasoning; none without either."""
        if not self.calls and not self.reasoning:
            return ()
        text = (self.turn.text if self.turn is not None else None) or ""
        calls = tuple(_called(call, result) for call, result in zip(self.calls, self.results, strict=True))
        return (Attempt(text=text, verdict="unjudged", tool_calls=calls, reasoning=self.reasoning or None),)

    @property
    def message(self) -> Message:
        turn = self.turn or Turn(self.role)
        further = {key: value for key, value in self.further.items() if value not in NOTHING}
        labels = declared_labels(further)
        return Message(
            role=self.role, text=turn.text or "", parts=turn.parts, labels=labels, extra=further, attempts=self.drafts
        )


def _slots(turns: Iterable[Turn]) -> tuple[list[_Slot], list[dict[str, Any]]]:
    """The messages of both sides with what stands between them; and the instructions, as `asides` gives them."""
    slots: list[_Slot] = []
    instructions: list[dict[str, Any]] = []
    for turn in turns:
        last = slots[-1] if slots else None
        if turn.role == "system":
            name = {"name": turn.further["name"]} if "name" in turn.further else {}
            instructions.append({"at": sum(slot.turn is not None for slot in slots), "system": turn.text, **name})
            continue
        if turn.role != "assistant" and last is not None:
            last.fill(turn.results)
        if turn.role == "assistant" or (turn.role == "user" and (turn.said or turn.calls)):
            role = cast(Role, turn.role)
            if last is None or last.turn is not None or last.role != role:
                slots.append(last := _Slot(role))
            last.add(turn.calls, [None] * len(turn.calls), turn.reasoning)
            last.further |= turn.further
            last.turn = turn if turn.said else None
            if role == "assistant":
                last.fill(turn.results)
    return slots, instructions


def _fits(result: Result, call: Call) -> bool:
    if result.id:
        return result.id == (call.id or call.name)
    return result.name in ("", call.name)


def _called(call: Call, result: Result | None) -> ToolCall:
    made = ToolCall(name=call.name, arguments=call.arguments, error=NO_RESULT)
    if result is None:
        return made
    if result.failed:
        error = result.value if isinstance(result.value, str) else dumps(result.value)
        return made.model_copy(update={"error": error, "parts": result.parts})
    return made.model_copy(update={"error": None, "result": result.value, "parts": result.parts})


def declared_labels(source: Mapping[str, Any]) -> dict[str, Label]:
    """The annotations of a line or a message: what `labels` holds, and the known ones beside it; `labels` goes first."""
    beside = {name: source[name] for name in KNOWN_LABELS if source.get(name) is not None}
    return labels_from({**beside, **as_object(source.get(LABELS))})


def asides(conversation: Conversation) -> list[dict[str, Any]]:
    """The instructions of the source, in order: the text under `system`, and under `at` how many messages are before."""
    turns = as_list(conversation.extra.get(ASIDES))
    return [turn for turn in turns if isinstance(turn, dict) and isinstance(turn.get("at"), int)]


def further(conversation: Conversation) -> dict[str, Any]:
    """Further keys and values of the source beside the messages, in any format."""
    merged: dict[str, Any] = {}
    for key in _PUBLISHED:
        merged |= as_object(as_object(conversation.extra.get(key)).get("values"))
    return {**merged, **as_object(conversation.extra.get("row")), **conversation.extra}


# --- Writing


def turns_in(conversation: Conversation) -> Iterator[Turn]:
    """The turns of a conversation: its instructions at their places, and each stored message after its calls of tools.

    Calls of users are left out, as OpenAI's form has none.
    """
    instructions = {at: list(group) for at, group in groupby(asides(conversation), key=lambda aside: aside["at"])}
    calls = 0
    for number, message in enumerate((*conversation.messages, None)):
        for aside in instructions.get(number, ()):
            named = {"name": aside["name"]} if "name" in aside else {}
            yield Turn("system", str(aside.get("system") or ""), further=named)
        if message is not None and message.stored:
            if message.role == "assistant" and message.tool_calls:
                yield _of_calls(message, calls + 1)
                calls += len(message.tool_calls)
            beside = {key: value for key, value in message.extra.items() if _is_plain(conversation)}
            if _is_plain(conversation) and message.labels != declared_labels(message.extra):
                beside[LABELS] = bare(message.labels)
            yield Turn(message.role, message.text, message.parts, further=beside)


def tool_turns(message: Message, first: int) -> list[dict[str, Any]]:
    """The calls of an assistant's message in OpenAI's form, and then their results; an error is written as the result.

    `first`: the number of the first call.
    """
    return list(as_messages([_of_calls(message, first)])) if message.tool_calls and message.role == "assistant" else []


def _of_calls(message: Message, first: int) -> Turn:
    turn = Turn("assistant")
    for number, call in enumerate(message.tool_calls, first):
        value = call.result if call.error is None else call.error
        turn.calls.append(Call(call.name, call.arguments, f"call_{number}"))
        parts = call.parts if call.error is None else ()
        turn.results.append(Result(value, f"call_{number}", call.name, parts, failed=call.error is not None))
    return turn


def write(conversations: Iterable[Conversation], path: str | Path) -> list[str]:
    """Write one conversation a line: id, messages, their images and files, tool calls, and further keys of its source.

    Returns a line for each kind of content that the format cannot hold.
    """
    lost: Counter[str] = Counter()
    write_lines(path, (_line(one, lost, "messages", as_messages, parts=True) for one in conversations))
    return _told(lost)


def write_sharegpt(conversations: Iterable[Conversation], path: str | Path) -> list[str]:
    """Write ShareGPT as JSON lines if the name ends with `.jsonl`, else as a list; as `write`."""
    lost: Counter[str] = Counter()
    lines = (_line(one, lost, "conversations", _as_sharegpt, parts=False) for one in conversations)
    if Path(path).suffix == ".jsonl":
        write_lines(path, lines)
    else:
        write_json(path, list(lines), end="\n")
    return _told(lost)


def _line(
    conversation: Conversation,
    lost: Counter[str],
    key: str,
    form: Callable[[Iterable[Turn]], Iterable[dict[str, Any]]],
    *,
    parts: bool,
) -> dict[str, Any]:
    lost.update(dict.fromkeys(_losses(conversation, parts=parts), 1))
    line: dict[str, Any] = {"id": conversation.id, key: list(form(turns_in(conversation)))}
    names = conversation.extra if _is_plain(conversation) else ("user",)  # by which people's halves are told
    line |= {
        name: conversation.extra[name]
        for name in names
        if name in conversation.extra and name not in (*line, *_RESERVED)
    }
    if conversation.labels != declared_labels(line):
        line[LABELS] = bare(conversation.labels)
    return line


def _as_sharegpt(turns: Iterable[Turn]) -> Iterator[dict[str, Any]]:
    names = {"user": "human", "assistant": "gpt"}
    for turn in turns:
        for call, result in zip(turn.calls, turn.results, strict=True):
            yield {"from": "function_call", "value": dumps({"name": call.name, "arguments": call.arguments})}
            text = result.value if isinstance(result.value, str) else dumps(result.value)
            yield {"from": "observation", "value": text}
        if not turn.calls:
            yield {"from": names.get(turn.role, turn.role), "value": turn.text, **turn.further}


def _is_plain(conversation: Conversation) -> bool:
    """Whether only the messages of a conversation are known: what is beside them are keys of its source."""
    return conversation.scenario.keys() == {"kind", "digest"}


def _losses(conversation: Conversation, *, parts: bool) -> list[str]:
    stored = [message for message in conversation.messages if message.stored]
    calls = [call for message in stored if message.role == "assistant" for call in message.tool_calls]
    shown = {"number", "text", "verdict", "tool_calls", "seconds"}
    drafts = [draft.verdict == "rejected" or draft.plain().keys() - shown for draft in conversation.attempts()]
    made = (conversation.stop, conversation.failure, conversation.provenance)
    beside = {key for extra in (conversation.extra, *(one.extra for one in stored)) for key in extra}
    without = [not (parts and call.parts) and not isinstance(call.result, str | dict | list) for call in calls]
    kinds = {
        "what it is about, why it ended and how it was made": conversation.scenario.keys() - {"kind", "digest"}
        or any(one is not None for one in made)
        or conversation.timing != Timing(),
        "drafts: rejected ones, prompts, reasoning, tokens, notes": any(drafts) or conversation.memory,
        "turns without a stored message": len(stored) < len(conversation.messages) or conversation.unsaid,
        "spans and labels": any(one.spans or (one.labels and not _is_plain(conversation)) for one in stored),
        "tools: a user's calls; that a result is an error, a number, true, false or null": any(without)
        or any(call.error is not None for call in calls)
        or any(one.role == "user" and one.tool_calls for one in stored),
        "images, files and other parts of messages": any(call.parts and call.error is not None for call in calls)
        or (not parts and any([*(one.parts for one in stored), *(call.parts for call in calls)])),
        "further keys of the source": not _is_plain(conversation) and beside - {ASIDES, "path", "variant"},
    }
    return [kind for kind, is_lost in kinds.items() if is_lost]


def _told(lost: Counter[str]) -> list[str]:
    return [f"{what}, of {count} conversation{'s' if count > 1 else ''}" for what, count in lost.items()]


# --- The two formats

_LISTS = ("messages", "conversations")
_OTHERS = (
    *"response completion output preferred_output response_body choices chosen run_type attributes traceId eval".split(),
    *"simulations traj mapping chat_messages".split(),
)
"""Keys of other forms, whose lines may have messages too."""


def read(path: str | Path, broken: Broken = STRICT) -> Iterator[Conversation]:
    """The conversations of lines, or a list, of `messages` or `conversations`, one at a time."""
    return of_values(path, elements(path, broken), broken)


def of_values(path: str | Path, values: Iterable[tuple[str, Any]], broken: Broken = STRICT) -> Iterator[Conversation]:
    """As `read`, of values, each with its place in the file."""

    def lines() -> Iterator[Line]:
        for place, value in values:
            with broken.reading(place):
                yield _line_of(path, place, value)

    return conversations(path, lines(), broken)


def _line_of(path: str | Path, place: str, value: Any) -> Line:
    key = next((key for key in _LISTS if isinstance(as_object(value).get(key), list)), None)
    if key is None:
        raise DataError(f"{at(path, place)}: has no list 'messages': write one conversation a line")
    turns: list[Turn] = []
    for number, message in enumerate(value[key]):
        own = turns_of(message)
        if not own or not (is_object(message) or isinstance(message, list)):
            raise DataError(f"{at(path, place, f'message {number}')}: {NEEDS}")
        turns += own
    return Line(place, turns, {name: inner for name, inner in value.items() if name != key}, value)


def _is_messages(source: Source) -> bool:
    first = as_object(source.first)
    turns = first.get("messages")
    if not isinstance(turns, list) or not all(map(is_object, turns)) or any(first.get(key) for key in _OTHERS):
        return False
    if turns and role_of(turns[-1].get("role")) == "user" and any(first.get(key) for key in ("reply", "answer")):
        return False  # a request with its response
    calls = [call for turn in turns for call in as_list(turn.get("tool_calls"))]
    if any("requestor" in as_object(call) for call in calls) or any(turn.get("type") == "chat" for turn in turns):
        return False  # of tau2, of LangChain
    return not turns or any(map(is_turn, turns[:3])) or turns[0].get("role") not in (None, *SIDES)


def _is_sharegpt(source: Source) -> bool:
    first = as_object(source.first)
    return isinstance(first.get("conversations"), list) and "chosen" not in first


FORMAT = Format("messages", "JSON lines of messages", _is_messages, read, write)
SHAREGPT = Format("sharegpt", "ShareGPT JSON", _is_sharegpt, read, write_sharegpt)
