"""What the endpoint says: a natural reply of the offline speakers to any request, and every way to say it wrongly."""

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from duologue.data.recllmsim import Profile, shipped_profiles
from duologue.nodes.models.offline.model import OfflineChatModel

STATUSES = ("500", "503", "529", "429", "429_after", "400_policy", "400_context", "401", "402", "403", "404")
BODIES = (
    *("null_content", "missing_content", "empty", "blank", "choices_empty", "choices_null", "choices_missing"),
    *("html", "truncated", "empty_body", "no_object", "usage_odd", "usage_negative", "usage_null"),
    *("length", "content_filter", "refusal", "redirect", "huge"),
)
WIRE = ("reset_before", "reset_amid", "slow", "never")
FAULTS = (*BODIES, *STATUSES, *WIRE)

PASSING = (
    *("null_content", "missing_content", "choices_empty", "choices_null", "choices_missing", "html"),
    *("truncated", "empty_body", "no_object", "500", "503", "529", "429", "429_after", "reset_before", "reset_amid"),
)
"""Faults after which the same request may be asked again and gives its one proper reply: `everything` in a mix."""

USAGES: dict[str, Any] = {
    "usage_odd": {"prompt_tokens": "many", "completion_tokens": 1.5, "total_tokens": None},
    "usage_negative": {"prompt_tokens": -20, "completion_tokens": -3, "total_tokens": -23},
    "usage_null": None,
}
ERRORS = {
    "400_policy": ("content_policy_violation", "Your request was rejected by our safety system."),
    "400_context": ("context_length_exceeded", "This model's maximum context length is 8 tokens."),
    "401": ("invalid_api_key", "Incorrect API key provided."),
    "402": ("insufficient_quota", "Payment required."),
    "403": ("unsupported_country_region_territory", "Not allowed."),
    "404": ("model_not_found", "The model does not exist."),
    "429": ("rate_limit_exceeded", "Rate limit reached."),
}


@dataclass
class Reply:
    """An answer on the wire."""

    body: bytes
    status: int = 200
    kind: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    usable: bool = False
    """Whether it is a whole, proper reply: to ask for it again is to pay twice."""
    fault: str = ""


def share(*parts: object) -> float:
    """A number from 0 to 1 that depends on the parts alone."""
    return int(hashlib.sha256(repr(parts).encode()).hexdigest()[:12], 16) / 16**12


def digest(body: dict[str, Any]) -> str:
    """The same for the same request."""
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()[:16]


def fault_for(rates: dict[str, float], seed: int, request: str, times: int) -> str:
    """The fault that befalls a request when it is asked for the nth time; empty for none."""
    left = share("fault", seed, request, times)
    for name, rate in rates.items():
        left -= rate
        if left < 0:
            return name
    return ""


def spread(rates: dict[str, float]) -> dict[str, float]:
    """The rates with `everything` spread over all that passes."""
    rates = dict(rates)
    total = rates.pop("everything", 0.0)
    rates |= {name: rates.get(name, 0) + total / len(PASSING) for name in PASSING if total}
    if unknown := set(rates) - set(FAULTS):
        raise ValueError(f"no such fault: {sorted(unknown)}")
    return rates


def side_of(text: str, system: str) -> str:
    """The offline side that a request is for."""
    for mark, side in (("<section>", "teacher"), ("<header>", "student")):
        if mark in text:
            return side
    if "<task>" in text:
        return "goal_user" if "<task>" in system else "task_user"
    return "task_assistant"


def said(body: dict[str, Any], misbehave: float) -> str:
    """A natural reply, a function of the messages and the seed."""
    kinds = {"assistant": AIMessage, "system": SystemMessage}
    items = [{"role": "user", "content": body["input"]}] if isinstance(body.get("input"), str) else body.get("input")
    messages: list[BaseMessage] = []
    for message in body.get("messages") or items or []:
        content = message.get("content") or ""
        text = content if isinstance(content, str) else " ".join(str(part.get("text", "")) for part in content)
        messages.append(kinds.get(str(message.get("role")), HumanMessage)(text))
    system = " ".join(message.text for message in messages if message.type == "system")
    line = " ".join(message.text for message in messages if message.type != "ai")
    if "<lacking>" in line:  # the first profile that is not in the pool
        return next(one for one in shipped_profiles().texts if Profile.of(one).occupation not in line)
    model = OfflineChatModel(side=side_of(line, system), misbehave=misbehave)
    try:
        reply = model.invoke(messages, seed=int(body.get("seed") or 0))
    except Exception as error:  # a request that no offline speaker understands still wants an answer
        return f"I have nothing to say about {type(error).__name__}."
    return str(reply.text)


def tool_call(body: dict[str, Any]) -> list[dict[str, Any]] | None:
    """A call of the request's first tool, unless a tool has answered already."""
    messages, tools = body.get("messages") or [], body.get("tools")
    if not tools or any(message.get("role") == "tool" for message in messages):
        return None
    function = tools[0]["function"]
    needed = function.get("parameters", {}).get("properties", {})
    arguments = {name: 1 if kind.get("type") in ("integer", "number") else "one" for name, kind in needed.items()}
    called = {"name": function["name"], "arguments": json.dumps(arguments)}
    return [{"id": f"call_{len(messages)}", "type": "function", "function": called}]


def proper(body: dict[str, Any], settings: dict[str, Any], path: str) -> dict[str, Any]:
    """The whole reply as OpenAI words it."""
    text = (settings.get("reply") or said(body, settings.get("misbehave", 0.0))) + settings.get("ends_with", "")
    calls = tool_call(body) if settings.get("tools") else None
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if calls:
        message |= {"content": None, "tool_calls": calls}
    sent, written = len(json.dumps(body)) // 4, max(1, len(text) // 4)
    completion = {"id": f"chatcmpl-{digest(body)}", "created": 1, "model": f"{body.get('model', 'm')}-served"}
    if path.endswith("/responses"):
        parts = [{"type": "output_text", "text": text, "annotations": []}]
        output = [{"type": "message", "id": "m1", "role": "assistant", "status": "completed", "content": parts}]
        usage = {"input_tokens": sent, "output_tokens": written, "total_tokens": sent + written}
        more: dict[str, Any] = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
        return completion | more | {"object": "response", "status": "completed", "output": output, "usage": usage}
    usage = {"prompt_tokens": sent, "completion_tokens": written, "total_tokens": sent + written}
    choice = {"index": 0, "finish_reason": "tool_calls" if calls else "stop", "message": message}
    return completion | {"object": "chat.completion", "choices": [choice], "usage": usage}


def spoilt(reply: dict[str, Any], fault: str, settings: dict[str, Any]) -> Reply:  # noqa: C901
    """The reply with a fault that is told by its body."""
    choice = (reply.get("choices") or [{"message": {}}])[0]
    message, text = choice["message"], str(choice["message"].get("content") or "")
    if fault == "null_content":
        message["content"] = None
    elif fault == "missing_content":
        del message["content"]
    elif fault in ("empty", "blank"):
        message["content"] = "" if fault == "empty" else " \n\t "
    elif fault.startswith("choices_"):
        reply["choices"] = [] if fault == "choices_empty" else None
        if fault == "choices_missing":
            del reply["choices"]
    elif fault in USAGES:
        reply["usage"] = USAGES[fault]
    elif fault == "length":
        choice["finish_reason"], message["content"] = "length", text[: len(text) // 2]
    elif fault == "content_filter":
        choice["finish_reason"], message["content"] = "content_filter", text[: len(text) // 3]
    elif fault == "refusal":
        message |= {"content": None, "refusal": "I'm sorry, I cannot help with that."}
    elif fault == "huge":
        message["content"] = "x" * int(settings.get("huge", 300_000_000))
    data = json.dumps(reply).encode()
    if fault == "html":
        return Reply(b"<html><body><h1>Welcome to the hotel's network</h1></body></html>", kind="text/html")
    if fault == "redirect":
        return Reply(b"", 307, headers={"location": str(settings.get("redirect", "http://127.0.0.1:9/"))})
    cut = {"truncated": data[: len(data) // 2], "empty_body": b"", "no_object": b'["ready"]'}
    return Reply(cut.get(fault, data))


def answer(body: dict[str, Any], fault: str, settings: dict[str, Any], path: str) -> Reply:
    """The answer to a request, with a fault or without one. What happens on the wire is the server's."""
    if fault in STATUSES:
        status = int(fault[:3])
        code, message = ERRORS.get(
            fault, ERRORS["429"] if status == 429 else ("server_error", "The server had an error.")
        )
        headers = {"retry-after": str(settings.get("retry_after", 1))} if fault == "429_after" else {}
        error = {"error": {"message": message, "type": code, "code": code, "param": None}}
        return Reply(json.dumps(error).encode(), status, headers=headers, fault=fault)
    reply = proper(body, settings, path)
    if fault in BODIES:
        spoilt_reply = spoilt(reply, fault, settings)
        spoilt_reply.fault = fault
        return spoilt_reply
    return Reply(json.dumps(reply).encode(), usable=True, fault=fault)
