"""What a chat model, an agent or a function answers, in whatever form, as one reply: words, calls, usage, steps."""

import json
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from typing import Any, TypeAlias, cast

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    BaseMessageChunk,
    ToolMessage,
    convert_to_messages,
)
from pydantic import BaseModel

from ..data.formats.messages import NO_RESULT, as_messages
from ..data.logs.calls import turns_of_response
from ..data.records import Role
from ..data.text.cleaning import clean
from ..errors import DuologueError, shown
from .attachments import parts_in
from .foreign import in_thread
from .models.faults import REFUSAL, counted, finish_of, flaw_of, refusal_in, usage_in
from .state import Draft

Answer: TypeAlias = Any
"""A text; a message, completion or response of LangChain's or OpenAI's form, or a list of these; a state with
`messages`; an object with one text; a generator of these or of what LangGraph streams, also async."""

_TEXT_KEYS = ("output", "final_output", "answer", "reply", "response", "result", "text")
"""Names under which an object with several texts gives its reply, such as that of LangChain's chains."""
_HAND_OFFS = ("transfer_to_", "transfer_back_to_")
"""How the tools begin with which the agents of langgraph-supervisor and langgraph-swarm hand a conversation on."""
_TYPES = ("human", "ai", "tool", "system")
"""Types of LangChain's messages as plain JSON, which have no role."""
_ITEMS = ("message", "reasoning", "function_call", "function_call_output")
"""Types of items by which a list is known to be one of OpenAI's Responses."""


class AnswerError(DuologueError, TypeError):
    """What a function or an agent answered is no reply; `how`: how it answered."""

    is_of_function = True

    def __init__(self, how: str) -> None:
        super().__init__(
            f"the function {how}: it must answer with a text, a message of LangChain or of OpenAI's form ({{'role': "
            "'assistant', 'content': ...}), a list of such messages, an object with one text, or a generator of these"
        )


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


# A draft of messages


def draft(text: str) -> Draft:
    """A model's text as a draft: cleaned, with the raw text if cleaning changed it."""
    text = writable(text)
    cleaned = clean(text)
    result = Draft(text=cleaned.text)
    if cleaned.text != text:
        result["raw"] = text
    if cleaned.removed:
        result["cleaned"] = list(cleaned.removed)
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
    calls, numbers = _calls_of(told)
    spoken = _spoken(own)
    last = spoken[-1] if spoken else AIMessage("")
    result = draft("\n\n".join(filter(None, map(_words, spoken))))
    about = {
        "finish_reason": finish_of(last),
        "model": _model_of(last),
        "reasoning": writable("\n\n".join(filter(None, map(_reasoning, own)))),
        "tool_calls": calls,
        "parts": [part for message in own for part in _media(message)],
        "usage": usage_of(told or own),
    }
    result = cast(Draft, {**result, **{name: value for name, value in about.items() if value}})
    if flaw := flaw_of(last, result):
        result["flaw"] = flaw
    # The only step of a message that is the reply says no more than that.
    if len(steps) > 1 or len(told) > min(len(own), 1) or calls or any(step.path for step in steps):
        result["steps"] = [_plain_step(step, numbers, result) for step in steps]
    return result


def _spoken(own: Sequence[BaseMessage]) -> Sequence[BaseMessage]:
    """The messages whose words are the reply: after a hand-off those of the agent that took over."""
    begins, speaker = 0, None
    for number, message in enumerate(own):
        if hands_off(message):
            begins = number + 1
        elif _words(message).strip():
            if message.name and speaker and message.name != speaker:
                begins = number
            speaker = message.name or speaker
    worded = [number for number, message in enumerate(own) if _words(message).strip() or _media(message)]
    after = [own[number] for number in worded if number >= begins]
    before = [own[number] for number in worded if not hands_off(own[number])] or [own[number] for number in worded]
    return after or before[-1:] or own[-1:]


def hands_off(message: BaseMessage) -> bool:
    """Whether a message hands the turn on to another agent, by a call, or is the result of such a call."""
    calls = message.tool_calls if isinstance(message, AIMessage) else []
    names = [message.name, *(call["name"] for call in calls)]
    return any(str(name).startswith(_HAND_OFFS) for name in names)


def _words(message: BaseMessage) -> str:
    """A message's text, and the words of a refusal; of a recording its transcript."""
    words = [part for part in (str(message.text), refusal_in(message)) if part]
    spoken = [part["text"] for part in parts_in(message) if part["type"] == "audio" and part.get("text")]
    return "\n\n".join(words or spoken)


def _media(message: BaseMessage) -> list[dict[str, Any]]:
    return [part for part in parts_in(message) if (part["type"], part.get("name")) != ("other", REFUSAL)]


def _reasoning(message: BaseMessage) -> str:
    """The endpoint's reasoning text: a standard block of LangChain, or one of Anthropic's without its provider."""
    found = [block.get("value", block) for block in cast(list[dict[str, Any]], message.content_blocks)]
    texts = [block.get("reasoning") or block.get("thinking") for block in found]
    return "\n\n".join(text.strip() for text in texts if isinstance(text, str) and text.strip())


def _model_of(message: BaseMessage) -> str | None:
    name = message.response_metadata.get("model_name") or message.response_metadata.get("model")
    return writable(name) if isinstance(name, str) else None


def _plain_step(step: Step, numbers: Mapping[int, list[int]], reply: Draft) -> dict[str, Any]:
    """The step for the record: calls by their numbers among the reply's `tool_calls`, words that the reply has not."""
    said = [message for message in step.messages if not isinstance(message, ToolMessage)]
    results = [message for message in step.messages if isinstance(message, ToolMessage)]
    texts = [text for message in said if (text := writable(_words(message)).strip()) and text != reply["text"]]
    plain = {
        "node": writable(step.node),
        "path": list(step.path),
        "text": "\n\n".join(texts),
        "calls": [number for message in said for number in numbers.get(id(message), ())],
        "results": [number for message in results for number in numbers.get(id(message), ())],
        "model": next(filter(None, map(_model_of, said)), None),
        "usage": usage_of(said) if any(getattr(one, "usage_metadata", None) for one in said) else None,
        "seconds": None if step.seconds is None else round(step.seconds, 3),
        "error": step.error,
    }
    return {key: value for key, value in plain.items() if value or (key == "seconds" and value is not None)}


def usage_of(messages: Sequence[BaseMessage]) -> dict[str, int]:
    """Total tokens of the models' messages, as their endpoints counted them, without impossible counts."""
    reports = [message.usage_metadata for message in messages if isinstance(message, AIMessage)]
    usage = Counter(input_tokens=0, output_tokens=0, calls=max(1, sum(map(bool, reports))))
    for report in reports:
        usage.update(counted(report) or {})
    return dict(usage)


# Tool calls


def _calls_of(told: Sequence[BaseMessage]) -> tuple[list[dict[str, Any]], dict[int, list[int]]]:
    """The calls of a turn with their results, and of each message's `id()` the numbers of its calls, or of its result.

    A call gets the first later result of its id that no earlier call has: some endpoints count ids per message.
    """
    results = {number: message for number, message in enumerate(told) if isinstance(message, ToolMessage)}
    calls: list[dict[str, Any]] = []
    numbers: dict[int, list[int]] = {}
    for at, message in enumerate(told):
        if not isinstance(message, AIMessage):
            continue
        made = [*message.tool_calls, *message.invalid_tool_calls]
        numbers[id(message)] = list(range(len(calls), len(calls) + len(made)))
        for call in made:
            found = [number for number, result in results.items() if result.tool_call_id == (call["id"] or "")]
            # A sub-agent that hands over leaves the result with the step around its own ones, which began before them.
            number = next((number for number in found if number > at), found[0] if found else None)
            answer = None if number is None else results.pop(number)
            numbers |= {} if answer is None else {id(answer): [len(calls)]}
            calls.append(_call(call, answer))
    return calls, numbers


def _call(call: Mapping[str, Any], answer: ToolMessage | None) -> dict[str, Any]:
    name = writable(call["name"] or "")
    if isinstance(call["args"], Mapping):
        return {"name": name, "arguments": plain_or_text(call["args"]), **_result(answer)}
    why = f"{call['error']}: " if call.get("error") else ""
    problem = f"malformed call: {why}{call['args'] or 'no arguments'}"
    answered = f" (answered: {answer.text})" if answer is not None and str(answer.text) else ""
    return {"name": name, "error": writable(problem + answered)}


def _result(answer: ToolMessage | None) -> dict[str, Any]:
    if answer is None:
        return {"error": NO_RESULT}
    content, text = answer.content, writable(str(answer.text))
    if answer.status == "error":
        return {"error": text or "the tool failed"}
    if parts := parts_in(answer):
        return {"parts": parts} | ({"result": text} if text else {})
    # Other text stays as it is: the number of "0.10" or "1e5" is not what the tool wrote.
    if isinstance(content, str) and content.lstrip().startswith(("{", "[")):
        with suppress(ValueError, TypeError, RecursionError):
            return {"result": plain_json(json.loads(content))}
    return {"result": plain_or_text(content)}


# Messages of an answer


async def messages_answered(answer: Answer, sent: Sequence[BaseMessage], role: Role = "assistant") -> list[BaseMessage]:
    """The own messages in an answer: those of `role`'s part, and results of tools, that were not sent.

    AnswerError if it has none.
    """
    if isinstance(answer, AsyncIterator):
        answer = _whole([piece async for piece in answer])
    elif isinstance(answer, Iterator):
        answer = _whole(await in_thread(list, answer))  # other conversations go on between its pieces
    read = messages_of(answer)
    own = own_messages(read, sent if len(read) > 1 else (), role)
    if not own:
        raise AnswerError("answered with no message of its own")
    return own


def own_messages(answered: Sequence[BaseMessage], sent: Sequence[BaseMessage], role: Role) -> list[BaseMessage]:
    """The messages that a speaker added and may have written itself; one that plays the user may write the user's.

    It may give the whole conversation, its end, or only its own. Sent messages are recognised by their object or id,
    else the last of them by who speaks and the words, in any form of the content.
    """
    ids = {message.id for message in sent if message.id}
    known = [any(message is one for one in sent) or message.id in ids for message in answered]
    if not any(known) and sent and not isinstance(sent[-1], AIMessage):  # which it can have written itself
        known = [_content(message) == _content(sent[-1]) for message in answered]
    messages = answered[max((number + 1 for number, is_old in enumerate(known) if is_old), default=0) :]
    asked = max((number for number, one in enumerate(messages) if one.type == "human"), default=-1)
    if any(isinstance(one, AIMessage) and _words(one).strip() for one in messages[asked + 1 :]):
        # What it asked itself, such as a criticism of a first version, comes before its reply.
        before = [one for one in messages[: max(asked, 0)] if one.type == "tool" or getattr(one, "tool_calls", None)]
        messages = [*before, *messages[asked + 1 :]]
    own: list[BaseMessage] = [message for message in messages if isinstance(message, (AIMessage, ToolMessage))]
    if not own and role == "user":
        own = [AIMessage(message.content) for message in messages if message.type == "human"]
    return own


def _content(message: BaseMessage) -> tuple[str, Any]:
    return message.type, str(message.text) or repr(message.content)


def _whole(pieces: Sequence[Any]) -> Answer:
    """What the pieces of a stream come to: texts and chunks put together, the last state or response, or messages."""
    if all(isinstance(piece, str) for piece in pieces):
        return "".join(pieces)
    objects = [one for one in map(_dumped, pieces) if isinstance(one, Mapping)]
    if objects and all(one.get("object") == "chat.completion.chunk" for one in objects):
        return _completion(objects)
    if wholes := [one for one in objects if "messages" in one or str(one.get("object")).endswith("response")]:
        return wholes[-1]
    whole: list[Any] = []
    for piece in pieces:
        piece = piece[0] if isinstance(piece, tuple) and isinstance(piece[0], BaseMessage) else piece  # with metadata
        last: Any = whole[-1] if whole else None
        is_more = isinstance(piece, BaseMessageChunk) and isinstance(last, type(piece))
        if is_more and len({piece.id, last.id} - {None}) < 2:
            whole[-1] = last + piece
        else:
            whole.append(piece)
    return whole


def _completion(chunks: Sequence[Mapping[str, Any]]) -> Answer:
    """The completion that the chunks of OpenAI's Chat Completions come to."""
    from openai.lib.streaming.chat import ChatCompletionStreamState  # on use, as it takes long
    from openai.types.chat import ChatCompletionChunk

    state: Any = ChatCompletionStreamState()
    for chunk in chunks:
        state.handle_chunk(ChatCompletionChunk.model_validate(chunk))
    for choice in state.current_completion_snapshot.choices:
        choice.message.role = "assistant"  # which some endpoints' chunks do not say
    return state.current_completion_snapshot


def _dumped(answer: Any) -> Any:
    if isinstance(answer, BaseMessage):
        return answer
    if isinstance(answer, BaseModel):
        answer = answer.model_dump(mode="json", exclude_none=True)
    if isinstance(answer, Mapping) and str(answer.get("type")).startswith("response."):
        return answer.get("response", answer)  # an event, of OpenAI's Responses or its Realtime API
    if is_dataclass(answer) and not isinstance(answer, type):  # not deeper: it may hold the agent itself
        return {field.name: getattr(answer, field.name) for field in fields(answer)}
    return answer


def messages_of(answer: Any) -> list[BaseMessage]:
    """The messages in an answer; AnswerError if it cannot be read."""
    answer = _dumped(answer)
    if isinstance(answer, Mapping):
        if answer.get("structured_response") is not None:
            return [AIMessage(structured_text(answer["structured_response"]))]
        if isinstance(answer.get("messages"), (list, tuple)):
            return messages_of(list(answer["messages"]))
        if items := answer.get("new_items"):  # a run of OpenAI's Agents SDK
            return messages_of([getattr(item, "raw_item", item) for item in items])
        if not _is_message(answer) or _is_raw(answer):
            text = None if (read := _of_response(answer)) else _one_text(answer)
            return read or [_read(answer if text is None else text)]
    elif not isinstance(answer, (BaseMessage, str, list, tuple)):
        raise AnswerError(f"answered with {shown(answer)}")
    items = [_dumped(one) for one in (answer if isinstance(answer, (list, tuple)) else [answer])]
    return _of_response(items) if any(map(_is_raw, items)) else [_read(one) for one in items]


def _is_message(one: Any) -> bool:
    return isinstance(one, Mapping) and bool({"content", "tool_calls", "refusal", "audio"} & set(one))


def _is_raw(one: Any) -> bool:
    """Whether an object is what an API gave: with usage, an item of a response, or calls as blocks of its content."""
    if not isinstance(one, Mapping) or one.get("type") in _TYPES:
        return False
    content = one.get("content")
    blocks = [block for block in content if isinstance(block, Mapping)] if isinstance(content, list) else []
    of_others = any("type" not in block or block["type"] in ("tool_use", "tool_result") for block in blocks)
    is_item = one.get("type") in _ITEMS or "usage" in one or (not content and bool(one.get("audio")))
    return is_item or (of_others and not one.get("tool_calls"))


def _of_response(value: Any) -> list[BaseMessage]:
    """The messages of a completion, a response, or items of one, of any API, read as a log of it is."""
    about, read = value if isinstance(value, Mapping) else {}, list[BaseMessage]()
    for turn in turns_of_response(value):
        told = {"finish_reason": turn.further.pop("finish_reason", None), "model_name": about.get("model")}
        for plain in as_messages([turn]):
            message = _read({**plain, "id": None})
            message.response_metadata |= {name: one for name, one in told.items() if isinstance(one, str)}
            if turn.reasoning:
                message.additional_kwargs["reasoning_content"] = turn.reasoning
            read.append(message)
    if read and isinstance(usage := about.get("usage"), Mapping) and isinstance(last := read[-1], AIMessage):
        last.usage_metadata = usage_in(usage)  # which counts for all of them
    return read


def _one_text(answer: Mapping[str, Any]) -> str | None:
    texts = {name: value for name, value in answer.items() if isinstance(value, str)}
    named = [name for name in _TEXT_KEYS if name in texts]
    has_inner = any(isinstance(value, Mapping) for value in answer.values())  # where the words may be
    if len(named) == 1 or (len(texts) == 1 and not has_inner):
        return texts[named[0]] if named else next(iter(texts.values()))
    return None


def structured_text(value: Any) -> str:
    """The words of a structured response: its only text, or that of a name that says so; else all of it as JSON."""
    plain = plain_or_text(value)
    text = _one_text(plain) if isinstance(plain, Mapping) else plain if isinstance(plain, str) else None
    return json.dumps(plain, ensure_ascii=False) if text is None else text


def _read(one: Any) -> BaseMessage:
    if isinstance(one, str):
        return AIMessage(one)
    if not (isinstance(one, (BaseMessage, tuple)) or _is_message(one)):
        raise AnswerError(f"answered with {shown(one)} as a message")
    if isinstance(one, Mapping):
        role = {} if one.get("type") in _TYPES else {"role": "assistant"}  # a served graph's messages are plain JSON
        one = {**role, **one, "content": one.get("content") or ""}
    try:
        return convert_to_messages([one])[0]
    except (ValueError, TypeError, KeyError, AttributeError, NotImplementedError) as error:
        line = " ".join(str(error).split())[:200]
        raise AnswerError(f"answered with a message that cannot be read ({line})") from None


# Plain values


def plain_json(value: Any) -> Any:
    """A copy of the value as plain JSON: messages, pydantic models and dataclasses are dumped.

    TypeError or ValueError if the value cannot be JSON.
    """

    def dumped(one: Any) -> Any:
        if isinstance(one, BaseModel):
            return one.model_dump(mode="json")
        if is_dataclass(one) and not isinstance(one, type):
            return asdict(one)
        if isinstance(one, Mapping):
            return dict(one)
        raise TypeError(f"{type(one).__name__} is not JSON")

    return json.loads(writable(json.dumps(value, ensure_ascii=False, allow_nan=False, default=dumped)))


def plain_or_text(value: Any) -> Any:
    """The value as plain JSON; as a text where that is not possible."""
    try:
        return plain_json(value)
    except (TypeError, ValueError, RecursionError):
        return writable(str(value))


def writable(text: str) -> str:
    """The text with half surrogate pairs replaced, which UTF-8 cannot encode."""
    return text.encode("utf-8", "replace").decode("utf-8")
