"""Requests and responses of OpenAI's Responses API, as turns of its chat messages.

Shapes: `input` (a text or items), `instructions`, `previous_response_id` and `conversation` of a request, and `output`
of a response (`object: response`). Both may be stored together in a line, or as lines of the Batch API for
`/v1/responses`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..files.json_files import dumps
from ..formats.spooled import Spooled
from ..formats.turns import role_of
from ..records import as_list, as_object
from .calls import LoggedCall, spooled_calls
from .logged_lines import LoggedLine, usage_of

ITEMS = "items"
"""Key of a turn for items that are neither messages nor calls, such as `reasoning` and `web_search_call`."""

_CALLS = {"function_call": "arguments", "custom_tool_call": "input"}
_RESULTS = ("function_call_output", "custom_tool_call_output")
_OUTPUTS = ("message", "reasoning", "mcp_call", "web_search_call", "file_search_call", "computer_call", *_CALLS)
_PARTS = {"input_text": "text", "output_text": "text", "summary_text": "text", "text": "text", "refusal": "refusal"}


def call_of(line: LoggedLine) -> LoggedCall | None:
    """The request and response of a line; None without a sign of the Responses API.

    A line with only a text under `input` or `output` is not one: embeddings, moderation and evaluations have them too.
    """
    request = line.request
    response = as_object(line.response) or ({"output": line.response} if isinstance(line.response, list) else {})
    sent, output = request.get("input"), response.get("output")
    answered = response.get("object") == "response" or (_is_output(output) and bool(turns_of_items(sent)))
    if not (answered or _is_request(line)):
        return None
    instructions = request.get("instructions") or response.get("instructions")
    before = turns_of_items(sent)
    system = [turn | {"role": "system"} for turn in turns_of_items(instructions)]
    reply = turns_of_items(output, output=True) if response else _turns_of_text(line.response)
    reason = as_object(response.get("incomplete_details")).get("reason")
    if reply and isinstance(reason, str):
        reply[-1]["finish_reason"] = {"max_output_tokens": "length"}.get(reason, reason)
    named = request.get("conversation") or response.get("conversation")
    named = as_object(named).get("id") if isinstance(named, Mapping) else named
    return LoggedCall(
        turns=[*system, *before, *reply],
        conversation=line.conversation or (named if isinstance(named, str) else ""),
        usage=usage_of(response),
        more=line.more,
        own=line.own,
        unread=line.unread,
        sent=len(before) + len(system),
        name=str(response.get("id") or ""),
        after=str(request.get("previous_response_id") or response.get("previous_response_id") or ""),
    )


def _is_output(output: Any) -> bool:
    items = [item for item in as_list(output) if as_object(item).get("type") in _OUTPUTS]
    return any("id" in item or "call_id" in item or "role" in item for item in items)


def _is_request(line: LoggedLine) -> bool:
    """Whether a line is surely a request of the Responses API, by more than its `input`."""
    request = line.request
    if "input" not in request or not turns_of_items(request["input"]):
        return False
    if line.endpoint:
        return line.endpoint == "responses"
    if "previous_response_id" in request or ("model" in request and isinstance(request.get("instructions"), str)):
        return True
    listed = request["input"] if isinstance(request["input"], list) else []
    items = [item for item in listed if isinstance(item, Mapping)]
    worded = any(role_of(item.get("role")) for item in items)
    return worded and any(
        item.get("type") in ("message", *_OUTPUTS[1:], *_RESULTS)
        or any(as_object(part).get("type") in ("input_text", "output_text") for part in as_list(item.get("content")))
        for item in items
    )


def _turns_of_text(text: Any) -> list[dict[str, Any]]:
    return [{"role": "assistant", "content": text}] if isinstance(text, str) and text else []


def turns_of_items(items: Any, *, output: bool = False) -> list[dict[str, Any]]:
    """The turns of a text, or of items; calls stand in the message of the same response."""
    if isinstance(items, str):
        return [{"role": "user", "content": items}] if items else []
    turns: list[dict[str, Any]] = []
    pending: list[Any] = []
    for item in (item for item in as_list(items) if isinstance(item, Mapping)):
        kind = item.get("type") or ("message" if role_of(item.get("role")) else None)
        new: list[dict[str, Any]] = []
        if kind == "message" and (role := role_of(item.get("role"))) is not None:
            new = [_message(role, item)]
        elif kind in _CALLS:
            new = _called(item, item.get(_CALLS[kind]))
        elif kind == "mcp_call":
            result = item.get("error") if item.get("error") is not None else item.get("output")
            named = {"tool_call_id": str(item.get("id") or ""), "status": "error" if item.get("error") else "success"}
            new = [*_called(item, item.get("arguments")), {"role": "tool", **named, "content": _plain(result)}]
        elif kind in _RESULTS:
            rest = {key: value for key, value in item.items() if key not in ("type", "call_id", "output", "status")}
            name, content = str(item.get("call_id") or ""), _content(item.get("output"))
            new = [{"role": "tool", "tool_call_id": name, "content": content, **rest}]
        else:
            pending.append(dict(item))
            continue
        _add(turns, new, pending)
    if pending and output and (not turns or turns[-1]["role"] != "assistant"):
        turns.append({"role": "assistant", "content": ""})
    if pending and turns:
        turns[-1].setdefault(ITEMS, []).extend(pending)
    return turns


def _add(turns: list[dict[str, Any]], new: Sequence[dict[str, Any]], pending: list[Any]) -> None:
    """Add turns, with the items before them; a call to the assistant's turn right before it."""
    first = new[0]
    holder = first if first["role"] == "assistant" or not turns else turns[-1]
    if first.get("tool_calls") and turns and turns[-1]["role"] == "assistant":
        holder = turns[-1]
        holder.setdefault("tool_calls", []).extend(first["tool_calls"])
        new = new[1:]
    if pending:
        holder.setdefault(ITEMS, []).extend(pending)
        pending.clear()
    turns.extend(new)


def _called(item: Mapping[str, Any], arguments: Any) -> list[dict[str, Any]]:
    written = arguments if isinstance(arguments, str) else dumps({} if arguments is None else arguments)
    name = str(item.get("call_id") or item.get("id") or "")
    call = {"id": name, "type": "function", "function": {"name": str(item.get("name") or ""), "arguments": written}}
    return [{"role": "assistant", "content": None, "tool_calls": [call]}]


def _plain(value: Any) -> Any:
    return value if isinstance(value, str) else dumps(value)


def _message(role: str, item: Mapping[str, Any]) -> dict[str, Any]:
    rest = {key: value for key, value in item.items() if key not in ("type", "role", "content", "status")}
    parts = as_list(item.get("content"))
    refusal = [part["refusal"] for part in parts if as_object(part).get("type") == "refusal" and "refusal" in part]
    notes = [note for part in parts for note in as_list(as_object(part).get("annotations"))]
    turn = {"role": role, "content": _content(item.get("content")), **rest}
    return turn | ({"refusal": "".join(refusal)} if refusal else {}) | ({"annotations": notes} if notes else {})


def _content(content: Any) -> Any:
    """The text of parts that are all text; else the parts, with texts and images as chat messages have them."""
    if not isinstance(content, list):
        return "" if content is None else _plain(content)
    texts = [part.get(_PARTS.get(str(part.get("type")), "")) if isinstance(part, Mapping) else part for part in content]
    if all(isinstance(text, str) for text in texts):
        return "".join(map(str, texts))
    return [
        {"type": "text", "text": text} if isinstance(text, str) else _part(part)
        for text, part in zip(texts, content, strict=True)
    ]


def _part(part: Any) -> Any:
    if as_object(part).get("type") == "input_image" and isinstance(url := part.get("image_url"), str):
        return {"type": "image_url", "image_url": {"url": url}}
    return part


def chained(calls: Spooled[LoggedCall]) -> Spooled[LoggedCall]:
    """The calls with the turns before them, where a call names the response that it goes on from.

    Only the last call of a chain is returned, with the tokens and further keys of all. Two that go on from one response
    are two conversations.
    """
    by_name: dict[str, int] = {}
    after: dict[int, str] = {}
    for number, call in enumerate(calls):
        by_name |= {call.name: number} if call.name else {}
        after |= {number: call.after} if call.after else {}
    continued = {name for name in after.values() if name in by_name}
    if not continued:
        return calls
    counted: set[str] = set()
    whole = spooled_calls()
    for call in (call for call in calls if call.name not in continued):
        whole.append(_whole(call, calls, by_name, counted) if call.after in by_name else call)
    in_circles = continued - counted
    for call in (call for call in calls if call.name in in_circles):
        whole.append(call)
    return whole


def _whole(call: LoggedCall, calls: Spooled[LoggedCall], by_name: Mapping[str, int], counted: set[str]) -> LoggedCall:
    chain, names = [call], {call.name}
    while (number := by_name.get(chain[-1].after)) is not None and calls[number].name not in names:
        chain.append(calls[number])
        names.add(chain[-1].name)
    chain.reverse()
    turns: list[dict[str, Any]] = []
    for part in chain:
        instructed = any(turn["role"] == "system" for turn in turns)
        turns += [turn for turn in part.turns if not (instructed and turn["role"] == "system")]
    used: dict[str, int] = {}
    for part in (part for part in chain if part.name not in counted):
        used = {key: used.get(key, 0) + part.usage.get(key, 0) for key in {**used, **part.usage}}
    counted |= names
    more = {key: value for part in chain for key, value in part.more.items()}
    return replace(call, turns=turns, usage=used, more=more, conversation=call.conversation or chain[0].conversation, sent=len(turns) - len(call.turns) + call.sent)  # fmt: skip
