"""Checks the JSON of OpenAI's two interfaces: names the fault of a wrong body, corrects oddities of a reply."""

import json
from collections.abc import Mapping
from json import JSONDecodeError
from typing import Any, NoReturn

from .faults import ReplyError, fault, of_error_in_reply
from .flaws import count_of, flaw_of_finish

_COUNTS = {
    "usage": ("prompt_tokens", "completion_tokens", "prompt_tokens_details", "completion_tokens_details"),
    "usage of responses": ("input_tokens", "output_tokens", "input_tokens_details", "output_tokens_details"),
}


def judged(path: str, body: bytes) -> tuple[bytes, bool]:
    """The corrected body of a reply to a request of this path, and whether its usage was left out.

    ReplyError, or JSONDecodeError, for a body that is not a reply. Bodies of other interfaces are returned unchanged.
    """
    interface = path.rstrip("/").rpartition("/")[2]
    if interface not in ("completions", "responses"):
        return body, False
    data, left_out = judged_data(body, interface)
    return json.dumps(data).encode(), left_out


def judged_data(body: bytes, interface: str = "completions") -> tuple[dict[str, Any], bool]:
    """The same for the named interface, as data."""
    try:
        data = json.loads(body)
    except JSONDecodeError:
        if (begin := body.lstrip()[:1]) and begin not in b'{["':
            _no_completion(f"it begins with {_shown(body)}")
        raise
    except (ValueError, RecursionError) as error:  # no UTF-8, a number of thousands of digits, or nested without end
        raise ReplyError(fault("not_json", f"{type(error).__name__}: {error}")) from None
    if not isinstance(data, dict):
        _no_completion(f"it is {_kind(data)}: {_shown(body)}")
    if reported := data.get("error"):
        raise ReplyError(of_error_in_reply(reported))
    usage = data.get("usage")
    if interface == "completions":
        data["choices"] = _choices(data)
        data["usage"] = _usage(usage, *_COUNTS["usage"])
    else:
        _check_output(data)
        data["usage"] = _usage(usage, *_COUNTS["usage of responses"])
        if data["usage"] is not None:  # its package reads both
            data["usage"] = {"input_tokens_details": {}, "output_tokens_details": {}} | data["usage"]
    for key in ("model", "id", "system_fingerprint", "service_tier"):
        if key in data and not isinstance(data[key], str):
            del data[key]
    return data, usage is not None and data["usage"] is None


def _choices(data: dict[str, Any]) -> list[dict[str, Any]]:
    choices = data.get("choices")
    if not choices or not isinstance(choices, list):
        detail = f"choices is {_kind(choices)}" if "choices" in data else f"its keys are {', '.join(map(repr, data))}"
        if choices or not ("choices" in data or {"id", "object", "model", "usage"} & set(data)):
            _no_completion(detail)
        raise ReplyError(fault("no_choices", detail))
    return [_choice(choice) for choice in choices]


def _choice(choice: object) -> dict[str, Any]:
    if not isinstance(choice, dict):
        _no_completion(f"a choice is {_kind(choice)}")
    if reported := choice.get("error"):
        raise ReplyError(of_error_in_reply(reported))
    message = choice.get("message")
    if not isinstance(message, dict):
        _no_completion(f"the message of a choice is {_kind(message)}")
    finish = choice.get("finish_reason")
    finish = finish if isinstance(finish, str) else None
    return {**choice, "message": _message(message, finish), "finish_reason": finish}


def _message(message: dict[str, Any], finish: str | None) -> dict[str, Any]:
    """The message as the assistant's; ReplyError if it is empty or has wrong content."""
    content, calls = message.get("content"), message.get("tool_calls")
    if isinstance(content, list):
        content = [block if isinstance(block, dict) else str(block) for block in content]
    elif not (content is None or isinstance(content, str)):
        _no_completion(f"the content of its message is {_kind(content)}")
    if calls and not (isinstance(calls, list) and all(map(_is_call, calls))):
        _no_completion("its tool calls are not a list of calls")
    refusal = message.get("refusal")
    refusal = refusal if isinstance(refusal, str) and refusal.strip() else None
    instead = (refusal, calls, *(message.get(key) for key in ("function_call", "audio", *_REASONING)))
    if content is None and not any(instead) and flaw_of_finish(finish) is None:
        raise ReplyError(fault("null_content", f"content is null, finish_reason {finish or 'is not told'}"))
    # A model of the assistant answered, whatever the message says of its role.
    return {**message, "role": "assistant", "content": content, "refusal": refusal, "tool_calls": calls or None}


_REASONING = ("reasoning_content", "reasoning", "reasoning_details")


def _is_call(call: object) -> bool:
    function = call.get("function", call.get("custom")) if isinstance(call, dict) else None
    return isinstance(function, dict) and isinstance(function.get("name"), str)


def _check_output(data: dict[str, Any]) -> None:
    """ReplyError unless a response of the Responses API has output or a reason why it stopped."""
    output = data.get("output")
    if isinstance(output, list) and not all(
        isinstance(item, dict) and isinstance(item.get("type"), str) for item in output
    ):
        _no_completion("its output is not a list of items")
    if not output:
        if "output" not in data and "choices" not in data and not {"id", "object", "model"} & set(data):
            _no_completion(f"its keys are {', '.join(map(repr, data))}")
        if isinstance(data.get("incomplete_details"), dict):
            data["output"] = []
            return
        raise ReplyError(fault("no_choices", f"output is {_kind(output)}"))
    if not isinstance(output, list):
        _no_completion(f"output is {_kind(output)}")
    for item in output:
        if item["type"] == "message":
            item["content"] = _blocks(item.get("content"))


def _blocks(content: object) -> list[dict[str, Any]]:
    """The blocks of a message of the Responses API; ReplyError if they are none."""
    if content is None:
        raise ReplyError(fault("null_content", "the content of its message is null"))
    if isinstance(content, str):
        return [{"type": "output_text", "text": content, "annotations": []}]
    if not isinstance(content, list) or not all(isinstance(block, dict) for block in content):
        _no_completion(f"the content of its message is {_kind(content)}")
    texts = {"output_text": "text", "refusal": "refusal"}
    if not all(isinstance(block.get(key), str) for block in content if (key := texts.get(str(block.get("type"))))):
        _no_completion("a block of its message has no text")
    return [{"annotations": [], **block} for block in content]


def _usage(usage: object, sent: str, written: str, about_sent: str, about_written: str) -> dict[str, Any] | None:
    """The numbers of tokens in the usage; None if input or output is not a number of tokens."""
    if not isinstance(usage, dict):
        return None
    counts = {name: count_of(usage.get(name)) for name in (sent, written)}
    if None in counts.values():
        return None
    both: dict[str, Any] = {name: count for name, count in counts.items() if count is not None}
    for name in (about_sent, about_written):
        if isinstance(details := usage.get(name), dict):
            detail_counts = {key: count_of(value) for key, value in details.items()}
            both[name] = {key: count for key, count in detail_counts.items() if count is not None}
    return both | {"total_tokens": both[sent] + both[written]}


def _no_completion(detail: str) -> NoReturn:
    raise ReplyError(fault("not_a_completion", detail))


def _kind(value: object) -> str:
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    kinds: Mapping[type, str] = {str: "a text", int: "a number", float: "a number", dict: "an object"}
    return "an empty list" if value == [] else kinds.get(type(value), "a list")


def _shown(body: bytes) -> str:
    return repr(body[:80].decode("utf-8", "replace"))
