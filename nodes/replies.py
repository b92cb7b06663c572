"""What a chat model, an agent or a function answers, in whatever form, as one reply: words, calls, usage, steps."""

import json
import math
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, is_dataclass
from itertools import pairwise
from typing import Any, TypeAlias

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    BaseMessageChunk,
    SystemMessage,
    ToolMessage,
    convert_to_messages,
)
from pydantic import BaseModel

from ..data.attachments import bounded
from ..data.formats.tool_messages import NO_RESULT
from ..data.records import Role
from ..data.text.cleaning import clean
from ..errors import DuologueError
from .foreign import in_thread
from .messages.attachments import parts_in, why_empty
from .models.flaws import EMPTY, ODD_USAGE, REFUSAL, counted, finish_of, flaw_of, has_odd_usage, refusal_in, usage_in
from .state import Draft

Answer: TypeAlias = Any
"""A text; a message, completion or response of LangChain's or OpenAI's form, or a list of these; a state with
`messages`; an object with one text; a generator of texts, chunks or messages, also async."""

ACCEPTED = (
    "a text, a message of LangChain or of OpenAI's form ({'role': 'assistant', 'content': ...}), a list of such "
    "messages, an object with one text, or a generator of texts"
)
_TEXT_KEYS = ("output", "answer", "reply", "response", "result", "text", "final_output")
"""Names under which an object with several texts gives its reply, such as that of LangChain's chains."""
_HAND_OFFS = ("transfer_to_", "transfer_back_to_")
"""How the tools begin with which the agents of langgraph-supervisor and langgraph-swarm hand a conversation on."""


class AnswerError(DuologueError, TypeError):
    """What a function or an agent answered is no reply."""

    is_of_function = True


@dataclass
class Step:
    """A part of an agent's turn: a node of its graph, or a message where there is no graph."""

    node: str = ""
    path: tuple[str, ...] = ()
    """The sub-agents in which it is, the outermost first."""
    messages: list[BaseMessage] = field(default_factory=list)
    """What it added, none of which another step has."""
    seconds: float | None = None
    error: str | None = None


def draft(text: str, usage: dict[str, int] | None = None) -> Draft:
    """A model's text as a draft: cleaned, with the raw text if cleaning changed it."""
    text = writable(text)
    cleaned = clean(text)
    result = Draft(text=cleaned.text)
    if cleaned.text != text:
        result["raw"] = text
    if cleaned.removed:
        result["cleaned"] = list(cleaned.removed)
    if usage is not None:
        result["usage"] = usage
    return result


def reply_of(messages: Sequence[BaseMessage], steps: Sequence[Step] = ()) -> Draft:
    """The reply of an agent's own messages of a turn, in their order.

    Their words are joined by a blank line. Where the turn was handed from one agent to another, only the words of the
    last one are the reply: every step has its own. Tool calls, reasoning, usage and parts are those of the whole turn.
    `steps`: those of a graph, whose sub-agents may have more messages than it gives; without them each message is one.
    """
    own = [message for message in messages if not isinstance(message, ToolMessage)]
    steps = steps or [Step(message.name or "", messages=[message]) for message in messages]
    told = [message for step in steps for message in step.messages]
    calls, asked, answered = _calls_of(told)
    spoken = _spoken(messages)
    result = _joined(spoken)
    silent = [message for message in own if not any(message is one for one in spoken)]
    parts = [part for message in (*silent, *spoken) for part in _media(message)]
    thoughts = [writable(part) for message in own for part in _thoughts(message, spoken) if part]
    last = spoken[-1] if spoken else None
    if last is not None:
        _add_details(result, last)
    if thoughts:
        result["reasoning"] = "\n\n".join(thoughts)
    if calls:
        result["tool_calls"] = calls
    if parts:
        result["parts"] = parts
    models = [message for message in told or own if not isinstance(message, ToolMessage)]
    result["usage"] = usage_of(models)
    if last is not None and (flaw := flaw_of(last, result)):
        result["flaw"] = flaw
    elif why_empty(result) == EMPTY:
        result["flaw"] = EMPTY
    if any(has_odd_usage(message) for message in models):
        result.setdefault("flaw", ODD_USAGE)
    if (record := [_plain_step(step, asked, answered, result) for step in steps]) and _worth_telling(steps, calls):
        result["steps"] = record
    return result


def _worth_telling(steps: Sequence[Step], calls: Sequence[object]) -> bool:
    return len(steps) > 1 or bool(calls) or any(step.path for step in steps)


def _joined(spoken: Sequence[BaseMessage]) -> Draft:
    """The words of the messages as one draft."""
    drafts = [draft(_words(message)) for message in spoken]
    kept = [one for one in drafts if one["text"]] or drafts[-1:]
    result = Draft(text="\n\n".join(one["text"] for one in kept))
    if any("raw" in one for one in kept):
        result["raw"] = "\n\n".join(one.get("raw", one["text"]) for one in kept)
    if removed := list(dict.fromkeys(name for one in kept for name in one.get("cleaned", ()))):
        result["cleaned"] = removed
    return result


def _spoken(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """The messages whose words are the reply: after a hand-off those of the agent that took over."""
    own = [(number, message) for number, message in enumerate(messages) if not isinstance(message, ToolMessage)]
    begins, speaker = 0, None
    for number, message in own:
        if _hands_off(message):
            begins = number + 1
        elif _words(message).strip():
            if message.name and speaker and message.name != speaker:
                begins = max(begins, number)
            speaker = message.name or speaker
    words = [(number, message) for number, message in own if _words(message).strip() or _media(message)]
    after = [message for number, message in words if number >= begins]
    before = [message for _, message in words if not _hands_off(message)]
    return after or before[-1:] or [message for _, message in words][-1:] or [message for _, message in own][-1:]


def _hands_off(message: BaseMessage) -> bool:
    names = [str(call["name"]) for call in message.tool_calls] if isinstance(message, AIMessage) else []
    return bool(message.response_metadata.get("__is_handoff_back")) or any(map(_is_hand_off, names))


def _is_hand_off(name: str) -> bool:
    return name.startswith(_HAND_OFFS)


def _words(message: BaseMessage) -> str:
    """A message's text, and the words of a refusal; of a recording its transcript."""
    words = [part for part in (str(message.text), refusal_in(message)) if part]
    spoken = [part["text"] for part in parts_in(message) if part["type"] == "audio" and part.get("text")]
    return "\n\n".join(words or spoken)


def _media(message: BaseMessage) -> list[dict[str, Any]]:
    return [part for part in parts_in(message) if (part["type"], part.get("name")) != ("other", REFUSAL)]


def _thoughts(message: BaseMessage, spoken: Sequence[BaseMessage]) -> list[str]:
    """A message's reasoning; words that are nothing else, beside a call, belong to it."""
    text = _words(message).strip()
    is_only_thought = bool(text) and not clean(text).text and any(one is not message for one in spoken)
    return [_reasoning(message), text if is_only_thought else ""]


def _add_details(result: Draft, message: BaseMessage) -> None:
    if (reason := finish_of(message)) is not None:
        result["finish_reason"] = writable(reason)
    if model := _model_of(message):
        result["model"] = model


def _model_of(message: BaseMessage) -> str | None:
    name = message.response_metadata.get("model_name") or message.response_metadata.get("model")
    return writable(name) if isinstance(name, str) else None


def _plain_step(
    step: Step, asked: Mapping[int, list[int]], answered: Mapping[int, int], reply: Draft
) -> dict[str, Any]:
    """The step for the record: calls by their numbers among the reply's `tool_calls`, words that the reply has not."""
    said = [message for message in step.messages if not isinstance(message, ToolMessage)]
    texts = [text for message in said if (text := writable(_words(message)).strip()) and text != reply["text"]]
    usage = usage_of(said) if any(isinstance(one, AIMessage) and one.usage_metadata for one in said) else None
    plain = {
        "node": writable(step.node),
        "path": list(step.path),
        "text": "\n\n".join(texts),
        "calls": [number for message in step.messages for number in asked.get(id(message), ())],
        "results": [answered[id(message)] for message in step.messages if id(message) in answered],
        "model": next(filter(None, map(_model_of, said)), None),
        "usage": usage,
        "seconds": None if step.seconds is None else round(step.seconds, 3),
        "error": step.error,
    }
    return {key: value for key, value in plain.items() if value or (key == "seconds" and value is not None)}


def steps_of(added: Sequence[BaseMessage], heard: Sequence[Step]) -> list[Step]:
    """The steps of an agent without a graph: replies of its models that it does not give, and its own messages."""
    own = {message.id for message in added if message.id} | {id(message) for message in added}
    hidden = [step for step in heard if not {step.messages[0].id, id(step.messages[0])} & own]
    return [*hidden, *(Step(message.name or "", messages=[message]) for message in added)] if hidden else []


def usage_of(messages: Sequence[BaseMessage]) -> dict[str, int]:
    """Total tokens of the models' messages, as their endpoints counted them, without impossible counts."""
    reports = [message.usage_metadata for message in messages if isinstance(message, AIMessage)]
    counts = [report for report in map(counted, reports) if report is not None]
    usage = {name: sum(report[name] for report in counts) for name in ("input_tokens", "output_tokens")}
    usage["calls"] = max(1, sum(bool(report) for report in reports))
    for name in ("cached_tokens", "reasoning_tokens"):
        if count := sum(report.get(name, 0) for report in counts):
            usage[name] = count
    return usage


async def messages_answered(answer: Answer, sent: Sequence[BaseMessage], role: Role = "assistant") -> list[BaseMessage]:
    """The own messages in an answer: those of `role`'s part, and results of tools, that were not sent.

    AnswerError if it has none.
    """
    if isinstance(answer, AsyncIterator):
        answer = _whole([piece async for piece in answer])
    elif isinstance(answer, Iterator):
        answer = _whole(await in_thread(list, answer))  # other conversations go on between its pieces
    read = _messages(answer)
    new = added(read, sent) if len(read) > 1 else read
    own = own_messages(new, role)
    if not own:
        raise AnswerError(f"the function answered with no message of its own: it must answer with {ACCEPTED}")
    return own


def own_messages(messages: Sequence[BaseMessage], role: Role) -> list[BaseMessage]:
    """The messages that a speaker itself may have written; one that plays the user may write the user's."""
    asked = max((number for number, one in enumerate(messages) if one.type == "human"), default=-1)
    if any(isinstance(one, AIMessage) and _words(one).strip() for one in messages[asked + 1 :]):
        # What it asked itself, such as a criticism of a first version, comes before its reply.
        messages = [one for n, one in enumerate(messages) if n > asked or isinstance(one, ToolMessage) or _calls(one)]
    own: list[BaseMessage] = [message for message in messages if isinstance(message, (AIMessage, ToolMessage))]
    if not own and role == "user":
        own = [AIMessage(message.content) for message in messages if message.type == "human"]
    return own


def _calls(message: BaseMessage) -> bool:
    return isinstance(message, AIMessage) and bool(message.tool_calls)


def added(answered: Sequence[BaseMessage], sent: Sequence[BaseMessage]) -> list[BaseMessage]:
    """The messages that an agent added to the sent ones: it may give the whole conversation, its end, or only its own.

    Sent messages are recognised by their object or id, else by who speaks and the words, in any form of the content.
    """
    ids = {message.id for message in sent if message.id}
    objects = {id(message) for message in sent}
    known = [number for number, message in enumerate(answered) if id(message) in objects or message.id in ids]
    if known:
        return list(answered[known[-1] + 1 :])
    old, returned = (
        [message for message in messages if not isinstance(message, SystemMessage)] for messages in (sent, answered)
    )
    if old and list(map(_content, returned[: len(old)])) == list(map(_content, old)):
        return returned[len(old) :]
    # Only a message that an agent cannot have written itself marks the end of the old ones.
    if old and not isinstance(old[-1], AIMessage):
        ends = [number for number, message in enumerate(answered) if _content(message) == _content(old[-1])]
        return list(answered[ends[-1] + 1 :]) if ends else list(answered)
    return list(answered)


def _content(message: BaseMessage) -> tuple[str, Any]:
    return message.type, str(message.text) or repr(message.content)


def _whole(pieces: list[Any]) -> Answer:
    """Pieces of a text as a text, chunks of a message as a message; others are messages."""
    if all(isinstance(piece, str) for piece in pieces):
        grows = all(two.startswith(one) and len(two) > len(one) > 0 for one, two in pairwise(pieces))
        return pieces[-1] if grows and len(pieces) > 2 else "".join(pieces)  # some give the text so far each time
    deltas = [_delta(piece) for piece in pieces]
    if pieces and all(delta is not None for delta in deltas):
        return "".join(delta or "" for delta in deltas)
    if all(isinstance(piece, BaseMessageChunk) for piece in pieces):
        first, *rest = pieces
        return sum(rest, first)
    return pieces


def _delta(piece: Any) -> str | None:
    """The text of a chunk of OpenAI's chat completions; None of anything else."""
    plain = piece.model_dump() if _is_openai(piece) else piece
    if not isinstance(plain, Mapping) or plain.get("object") != "chat.completion.chunk":
        return None
    return "".join((choice.get("delta") or {}).get("content") or "" for choice in plain.get("choices") or ())


def _messages(answer: Any) -> list[BaseMessage]:
    """The messages in an answer; AnswerError if it cannot be read."""
    if isinstance(answer, BaseMessage):
        return [answer]
    if isinstance(answer, str):
        return [AIMessage(answer)]
    if isinstance(answer, BaseModel):
        answer = answer.model_dump(mode="json", exclude_none=True)  # as OpenAI's client gives them
    elif is_dataclass(answer) and not isinstance(answer, type):
        answer = asdict(answer)
    elif callable(items := getattr(answer, "to_input_list", None)):  # of OpenAI's agents
        return _of_items(items())
    elif not isinstance(answer, (Mapping, list, tuple)) and type(answer).__module__ != "builtins":
        answer = getattr(answer, "__dict__", None) or answer
    if isinstance(answer, Mapping):
        return _of_object(answer)
    if not isinstance(answer, (list, tuple)):
        raise AnswerError(f"the function answered with {_shown(answer)}: it must answer with {ACCEPTED}")
    items = [one.model_dump(mode="json", exclude_none=True) if _is_openai(one) else one for one in answer]
    if any(isinstance(one, Mapping) and one.get("type") in _ITEMS for one in items):
        return _of_items(items)
    return [message for one in items for message in _read([one])]


def _is_openai(one: object) -> bool:
    return isinstance(one, BaseModel) and not isinstance(one, BaseMessage)


def _of_object(answer: Mapping[str, Any]) -> list[BaseMessage]:
    choices = answer.get("choices")
    if isinstance(choices, Sequence) and choices and isinstance(choices[0], Mapping):
        return _with_usage(_read([_message_of(answer, choices[0])]), answer.get("usage"))
    if isinstance(answer.get("output"), list) and answer.get("object", "response") == "response":
        return _of_items(answer["output"], answer.get("model"), answer.get("usage"))
    if answer.get("structured_response") is not None:
        return [AIMessage(structured_text(answer["structured_response"]))]
    if isinstance(answer.get("messages"), (list, tuple)):
        return _messages(list(answer["messages"]))
    if {"content", "tool_calls", "refusal"} & set(answer):
        return _read([answer])
    text = _one_text(answer)
    if text is None:
        raise AnswerError(f"the function answered with {_shown(answer)} as a message: it must answer with {ACCEPTED}")
    return [AIMessage(text)]


def _one_text(answer: Mapping[str, Any]) -> str | None:
    """The reply of an object: its only text, or the one of a name that says so."""
    texts = {name: value for name, value in answer.items() if isinstance(value, str)}
    named = [name for name in _TEXT_KEYS if name in texts]
    if len(texts) == 1 or len(named) == 1:
        return texts[named[0]] if named else next(iter(texts.values()))
    return None


def structured_text(value: Any) -> str:
    """The words of a structured response: its only text, or that of a name that says so; else all of it as JSON."""
    plain = plain_or_text(value)
    text = _one_text(plain) if isinstance(plain, Mapping) else plain if isinstance(plain, str) else None
    return json.dumps(plain, ensure_ascii=False) if text is None else text


def _read(items: Sequence[Any]) -> list[BaseMessage]:
    for one in items:
        if (
            not isinstance(one, (BaseMessage, str))
            and not _is_pair(one)
            and not (isinstance(one, Mapping) and {"content", "tool_calls", "refusal"} & set(one))
        ):
            raise AnswerError(f"the function answered with {_shown(one)} as a message: it must answer with {ACCEPTED}")
    whole = [
        AIMessage(one) if isinstance(one, str) else _with_role(one) if isinstance(one, Mapping) else one
        for one in items
    ]
    try:
        return convert_to_messages(whole)
    except (ValueError, TypeError, KeyError, AttributeError, NotImplementedError) as error:
        line = " ".join(str(error).split())[:200]
        raise AnswerError(f"the function's message cannot be read ({line}): it must answer with {ACCEPTED}") from None


def _is_pair(one: Any) -> bool:
    """Whether it is a role and a text, as LangChain takes them."""
    return isinstance(one, tuple) and len(one) == 2 and all(isinstance(part, str) for part in one)


def _message_of(completion: Mapping[str, Any], choice: Mapping[str, Any]) -> Any:
    """The message of a choice, with the finish reason and the model's name."""
    message = choice.get("message")
    if not isinstance(message, Mapping):
        return message
    details = {"finish_reason": choice.get("finish_reason"), "model_name": completion.get("model")}
    metadata = {name: text for name, text in details.items() if isinstance(text, str)}
    return {**message, "response_metadata": metadata} if metadata else message


def _with_role(message: Mapping[str, Any]) -> dict[str, Any]:
    """The message with a role and a content, of which OpenAI's form may lack the content beside tool calls."""
    return {"role": "assistant", **message, "content": message.get("content") or ""}


_ITEMS = ("message", "reasoning", "function_call", "function_call_output", "custom_tool_call", "web_search_call")
"""Types of items by which a list is known to be one of OpenAI's Responses."""


def _of_items(items: Sequence[Any], model: Any = None, usage: Any = None) -> list[BaseMessage]:
    """The messages of OpenAI's Responses: consecutive items of the model are one message."""
    read: list[BaseMessage] = []
    blocks: list[Any] = []
    calls: list[dict[str, Any]] = []

    def take() -> None:
        if blocks or calls:
            metadata = {"model_name": model} if isinstance(model, str) else {}
            read.append(AIMessage([*blocks], tool_calls=[*calls], response_metadata=metadata))
            blocks.clear()
            calls.clear()

    for item in items:
        match item.get("type", "message") if isinstance(item, Mapping) else None:
            case "reasoning":
                blocks.append({"type": "reasoning", "summary": item.get("summary") or []})
            case "function_call" | "custom_tool_call":
                calls.append({"name": item.get("name", ""), "args": _arguments(item), "id": item.get("call_id")})
            case "function_call_output":
                take()
                read.append(ToolMessage(item.get("output") or "", tool_call_id=item.get("call_id") or ""))
            case str() as kind if kind.endswith("_call"):  # of a tool of OpenAI's own, such as a search
                name, call_id = kind.removesuffix("_call"), item.get("id")
                calls.append({"name": name, "args": item.get("action") or {}, "id": call_id})
                take()
                read.append(ToolMessage(str(item.get("status") or ""), tool_call_id=str(call_id)))
            case "message" if item.get("role", "assistant") == "assistant":
                content = item.get("content") or []
                blocks += [content] if isinstance(content, str) else [_text_block(block) for block in content]
            case "message":
                take()
                read += _read([{**item, "content": [_text_block(block) for block in item.get("content") or []]}])
    take()
    return _with_usage(read, usage)


def _with_usage(read: list[BaseMessage], usage: Any) -> list[BaseMessage]:
    """The messages, the last of which has the tokens that the response counts for all of them."""
    if read and isinstance(usage, Mapping) and isinstance(last := read[-1], AIMessage):
        last.usage_metadata = usage_in(usage)
    return read


def _text_block(block: Any) -> Any:
    if isinstance(block, Mapping) and block.get("type") in ("output_text", "input_text"):
        return {"type": "text", "text": block.get("text") or ""}
    return block


def _arguments(item: Mapping[str, Any]) -> dict[str, Any]:
    try:
        read = json.loads(item.get("arguments") or item.get("input") or "{}")
    except ValueError:
        read = item.get("arguments") or item.get("input")
    return read if isinstance(read, dict) else {"input": read}


def _shown(answer: Any) -> str:
    if answer is None:
        return "nothing (None)"
    keys = f" with the keys {', '.join(map(repr, list(answer)[:5])) or '(none)'}" if isinstance(answer, Mapping) else ""
    return f"{type(answer).__name__}{keys}"


def _calls_of(told: Sequence[BaseMessage]) -> tuple[list[dict[str, Any]], dict[int, list[int]], dict[int, int]]:
    """The calls of a turn with their results, and of each message's `id()` the numbers of its calls, or of its result.

    A call gets the first later result of its id that no earlier call has: some endpoints count ids per message.
    """
    results = {number: message for number, message in enumerate(told) if isinstance(message, ToolMessage)}
    calls: list[dict[str, Any]] = []
    asked: dict[int, list[int]] = {}
    answered: dict[int, int] = {}

    def take(after: int, call_id: str | None) -> ToolMessage | None:
        numbers = [number for number, result in results.items() if result.tool_call_id == (call_id or "")]
        # A sub-agent that hands over leaves the result with the step around its own ones, which began before them.
        number = next((number for number in numbers if number > after), numbers[0] if numbers else None)
        if number is None:
            return None
        answered[id(results[number])] = len(calls)
        return results.pop(number)

    for number, message in enumerate(told):
        if not isinstance(message, AIMessage):
            continue
        own = asked.setdefault(id(message), [])
        for served in _served_calls(message):
            own.append(len(calls))
            calls.append(served)
        for call in message.tool_calls:
            own.append(len(calls))
            calls.append(_call(call) | _result(take(number, call["id"])))
        for broken in message.invalid_tool_calls:
            own.append(len(calls))
            calls.append(_malformed(broken, take(number, broken.get("id"))))
    return calls, asked, answered


def _served_calls(message: AIMessage) -> list[dict[str, Any]]:
    """Calls of tools that the model's provider runs itself, such as a search, with their results."""
    if isinstance(message.content, str):
        return []
    blocks: list[Any] = list(message.content_blocks)
    results = {one.get("tool_call_id"): one for one in blocks if one.get("type") == "server_tool_result"}
    calls = []
    for block in blocks:
        if block.get("type") == "server_tool_call":
            result = results.get(block.get("id"))
            about = {"error": NO_RESULT} if result is None else {"result": plain_or_text(result.get("output"))}
            calls.append(
                {"name": writable(str(block.get("name"))), "arguments": plain_or_text(block.get("args") or {})} | about
            )
    return calls


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": writable(call["name"])}
    try:
        entry["arguments"] = plain_json(call["args"])
    except TypeError as error:
        entry["error"] = f"its arguments are not JSON ({error}): {writable(str(call['args']))}"
    return entry


def _malformed(call: Mapping[str, Any], answer: ToolMessage | None) -> dict[str, Any]:
    why = f"{call['error']}: " if call.get("error") else ""
    problem = f"malformed call: {why}{call.get('args') or 'no arguments'}"
    problem += f" (answered: {answer.text})" if answer is not None and str(answer.text) else ""
    return {"name": writable(call.get("name") or ""), "error": writable(problem)}


def _result(answer: ToolMessage | None) -> dict[str, Any]:
    if answer is None:
        return {"error": NO_RESULT}
    content = answer.content
    if answer.status == "error":
        return {"error": writable(str(answer.text) or "the tool failed")}
    if not isinstance(content, str):
        if not (parts := parts_in(answer)):
            return {"result": plain_json(content)}
        text = writable(str(answer.text))
        return bounded({"parts": parts} | ({"result": text} if text else {}))
    # Other text stays as it is: the number of "0.10" or "1e5" is not what the tool wrote.
    if not content.lstrip().startswith(("{", "[")):
        return {"result": writable(content)}
    try:
        return {"result": plain_json(json.loads(content))}
    except (ValueError, TypeError, RecursionError):
        return {"result": writable(content)}


def _reasoning(message: BaseMessage) -> str:
    """The endpoint's reasoning text, in any of the known forms."""
    aside = message.additional_kwargs.get("reasoning_content")
    parts = [aside] if isinstance(aside, str) else []
    for block in message.content if isinstance(message.content, list) else ():
        if isinstance(block, dict) and block.get("type") in ("reasoning", "thinking"):
            summary = block.get("summary")
            texts = [block.get("reasoning"), block.get("thinking"), block.get("text")]
            texts += (
                [part.get("text") for part in summary if isinstance(part, dict)] if isinstance(summary, list) else []
            )
            parts += [text for text in texts if isinstance(text, str)]
    return "\n\n".join(part.strip() for part in parts if part.strip())


def plain_json(value: Any) -> Any:
    """A copy of the value as plain JSON: LangChain messages, pydantic models and dataclasses are dumped.

    TypeError if the value cannot be JSON.
    """
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, str):
        return writable(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise TypeError(f"{value} is not a number of JSON")
        return value
    if isinstance(value, BaseModel):
        return plain_json(value.model_dump(mode="json"))
    if is_dataclass(value) and not isinstance(value, type):
        return plain_json(asdict(value))
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            raise TypeError("a key of an object is not a text")
        return {writable(key): plain_json(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain_json(inner) for inner in value]
    raise TypeError(f"{type(value).__name__} is not JSON")


def plain_or_text(value: Any) -> Any:
    """The value as plain JSON; as a text where that is not possible."""
    try:
        return plain_json(value)
    except (TypeError, ValueError, RecursionError):
        return writable(str(value))


def writable(text: str) -> str:
    """The text with half surrogate pairs replaced, which UTF-8 cannot encode."""
    return text.encode("utf-8", "replace").decode("utf-8")
