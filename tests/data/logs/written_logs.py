"""One conversation, written as each form of log has it."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from tests.data.logs.logged_talks import LoggedTalk


def openai(talk: LoggedTalk) -> list[dict[str, Any]]:
    turns: list[dict[str, Any]] = [{"role": "system", "content": talk.system}] if talk.system else []
    for number, step in enumerate(talk.steps):
        if step.tool:
            function = {"name": step.tool, "arguments": json.dumps(step.arguments)}
            call = {"id": f"c{number}", "type": "function", "function": function}
            turns.append({"role": "assistant", "content": None, "tool_calls": [call]})
            turns.append({"role": "tool", "tool_call_id": f"c{number}", "content": step.result})
        turns.append({"role": step.role, "content": step.text})
    return turns


def span(attributes: Mapping[str, Any], **more: Any) -> Any:
    return {"name": "call", "context": {"trace_id": "0x1", "span_id": "0x2"}, "attributes": dict(attributes), **more}


def otel_parts(talk: LoggedTalk) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = []
    for number, step in enumerate(talk.steps):
        if step.tool:
            call = {"type": "tool_call", "id": f"c{number}", "name": step.tool, "arguments": step.arguments}
            result = {"type": "tool_call_response", "id": f"c{number}", "result": step.result}
            listed += [{"role": "assistant", "parts": [call]}, {"role": "tool", "parts": [result]}]
        listed.append({"role": step.role, "parts": [{"type": "text", "content": step.text}]})
    return listed


def otel_span(talk: LoggedTalk) -> Any:
    system = {"gen_ai.system_instructions": json.dumps([{"type": "text", "content": talk.system}])}
    messages = {"gen_ai.input.messages": json.dumps(otel_parts(talk)), "gen_ai.conversation.id": "s-1"}
    return span((system if talk.system else {}) | messages)


def langfuse_trace(talk: LoggedTalk) -> Any:
    turns = openai(talk)
    generation = {
        "id": "o",
        "type": "GENERATION",
        "parentObservationId": None,
        "input": turns[:-1],
        "output": turns[-1],
    }
    scores = [{"name": "helpful", "value": 1}]
    outer = {"input": {"question": talk.messages[0][1]}, "output": None, "observations": [generation], "scores": scores}
    return {"id": "t-1", "sessionId": "s-1", "timestamp": "2026-01-01T00:00:00Z", **outer}


def langfuse_observation(talk: LoggedTalk) -> Any:
    turns = openai(talk)
    return {"id": "o", "traceId": "t-1", "type": "GENERATION", "input": json.dumps({"messages": turns}), "output": None}


def mlflow_trace(talk: LoggedTalk) -> Any:
    turns = openai(talk)
    attributes = {
        "mlflow.spanType": json.dumps("CHAT_MODEL"),
        "mlflow.spanInputs": json.dumps({"messages": turns[:-1]}),
        "mlflow.spanOutputs": json.dumps({"choices": [{"message": turns[-1]}]}),
    }
    info = {"trace_id": "tr-1", "trace_metadata": {"mlflow.trace.session": "s-1"}}
    return {"info": info, "data": {"spans": [{"name": "call", "parent_id": "p", "attributes": attributes}]}}


def tau2(talk: LoggedTalk) -> Any:
    listed: list[dict[str, Any]] = [{"role": "system", "content": talk.system}] if talk.system else []
    for number, step in enumerate(talk.steps):
        if step.tool:
            call = {"id": f"c{number}", "name": step.tool, "arguments": step.arguments, "requestor": "assistant"}
            listed.append({"role": "assistant", "content": None, "tool_calls": [call]})
            listed.append(
                {"role": "tool", "id": f"c{number}", "content": step.result, "requestor": "assistant", "error": False}
            )
        listed.append({"role": step.role, "content": step.text, "tool_calls": None})
    trial = {"id": "sim-1", "task_id": "3", "trial": 0, "reward_info": {"reward": 0.0}, "messages": listed}
    return {"info": {}, "tasks": [], "simulations": [trial]}


def chatgpt_without_links(talk: LoggedTalk) -> Any:
    turns = [
        {"author": {"role": role}, "content": {"content_type": "text", "parts": [text]}, "create_time": 10.0 + number}
        for number, (role, text) in enumerate([*([("system", talk.system)] if talk.system else []), *talk.messages])
    ]
    nodes = {f"n{number}": {"id": f"n{number}", "message": turn} for number, turn in enumerate(turns)}
    return [{"title": "Rooms", "mapping": nodes, "current_node": f"n{len(turns) - 1}"}]


def claude(talk: LoggedTalk) -> Any:
    listed = []
    for number, step in enumerate(talk.steps):
        blocks: list[dict[str, Any]] = []
        if step.tool:
            blocks.append({"type": "tool_use", "id": f"c{number}", "name": step.tool, "input": step.arguments})
            blocks.append(
                {"type": "tool_result", "tool_use_id": f"c{number}", "content": [{"type": "text", "text": step.result}]}
            )
        blocks.append({"type": "text", "text": step.text})
        sender = {"user": "human"}.get(step.role, step.role)
        listed.append({"uuid": f"m{number}", "sender": sender, "text": step.text, "content": blocks})
    return [{"uuid": "u-1", "name": "Rooms", "created_at": "2026-01-01", "chat_messages": listed}]


def sharegpt(talk: LoggedTalk) -> Any:
    listed: list[Any] = [{"from": "system", "value": talk.system}] if talk.system else []
    for step in talk.steps:
        if step.tool:
            listed.append(
                {"from": "function_call", "value": json.dumps({"name": step.tool, "arguments": step.arguments})}
            )
            listed.append({"from": "observation", "value": step.result})
        listed.append({"from": {"user": "human"}.get(step.role, "gpt"), "value": step.text})
    return [{"conversations": listed}]


WRITERS: dict[str, tuple[str, Callable[[LoggedTalk], Any]]] = {
    "OpenTelemetry span": ("opentelemetry", otel_span),
    "Langfuse trace": ("langfuse", langfuse_trace),
    "Langfuse observation": ("langfuse", langfuse_observation),
    "MLflow": ("mlflow", mlflow_trace),
    "tau2-bench": ("trajectories", tau2),
    "ChatGPT without links": ("chatgpt", chatgpt_without_links),
    "Claude": ("claude", claude),
    "ShareGPT": ("sharegpt", sharegpt),
}
"""The name of the format, and what the file holds."""

WITHOUT_SYSTEM = ("Claude",)
"""Forms that have no place for instructions here."""
WITHOUT_CALLS = ("ChatGPT without links",)
