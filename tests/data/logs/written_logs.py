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


def gemini(talk: LoggedTalk) -> Any:
    contents: list[dict[str, Any]] = []
    for step in talk.steps:
        if step.tool:
            contents.append({"role": "model", "parts": [{"functionCall": {"name": step.tool, "args": step.arguments}}]})
            response = {"name": step.tool, "response": {"result": step.result}}
            contents.append({"role": "function", "parts": [{"functionResponse": response}]})
        role = {"assistant": "model"}.get(step.role, step.role)
        contents.append({"role": role, "parts": [{"text": step.text[:1]}, {"text": step.text[1:]}]})
    system = {"systemInstruction": {"parts": [{"text": talk.system}]}} if talk.system else {}
    if contents[-1]["role"] != "model":
        return {**system, "contents": contents}
    reply: dict[str, Any] = {"candidates": [{"content": contents.pop(), "finishReason": "STOP"}], "modelVersion": "m-1"}
    return {"request": {**system, "contents": contents}, "response": reply}


def ui_messages(talk: LoggedTalk) -> Any:
    listed: list[Any] = (
        [{"id": "m", "role": "system", "parts": [{"type": "text", "text": talk.system}]}] if talk.system else []
    )
    for number, step in enumerate(talk.steps):
        parts: list[dict[str, Any]] = [{"type": "step-start"}] if step.role == "assistant" else []
        if step.tool:
            state = {"state": "output-available", "input": step.arguments, "output": step.result}
            parts.append({"type": f"tool-{step.tool}", "toolCallId": f"c{number}", **state})
        parts.append({"type": "text", "text": step.text})
        listed.append({"id": f"m{number}", "role": step.role, "parts": parts})
    return {"id": "chat-1", "messages": listed}


def model_messages(talk: LoggedTalk) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = [{"role": "system", "content": talk.system}] if talk.system else []
    for number, step in enumerate(talk.steps):
        if step.tool:
            call = {"type": "tool-call", "toolCallId": f"c{number}", "toolName": step.tool, "input": step.arguments}
            output = {"type": "text", "value": step.result}
            result = {"type": "tool-result", "toolCallId": f"c{number}", "toolName": step.tool, "output": output}
            listed += [{"role": "assistant", "content": [call]}, {"role": "tool", "content": [result]}]
        listed.append({"role": step.role, "content": [{"type": "text", "text": step.text}]})
    return listed


def span(attributes: Mapping[str, Any], **more: Any) -> Any:
    return {"name": "call", "context": {"trace_id": "0x1", "span_id": "0x2"}, "attributes": dict(attributes), **more}


def ai_sdk_span(talk: LoggedTalk) -> Any:
    attributes = {
        "ai.operationId": "ai.generateText.doGenerate",
        "ai.prompt.messages": json.dumps(model_messages(talk)),
        "ai.telemetry.metadata.sessionId": "s-1",
    }
    return span(attributes)


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


def openinference(talk: LoggedTalk, *, nested: bool) -> Any:
    listed: list[dict[str, Any]] = []
    for turn in openai(talk):
        message = {key: value for key, value in turn.items() if key != "tool_calls" and value is not None}
        if calls := turn.get("tool_calls"):
            functions = [{"tool_call": {"id": call["id"], "function": call["function"]}} for call in calls]
            flat = [
                {"tool_call.id": call["id"], **{f"tool_call.function.{k}": v for k, v in call["function"].items()}}
                for call in calls
            ]
            message["tool_calls"] = functions if nested else flat
        listed.append({"message": message} if nested else {f"message.{key}": value for key, value in message.items()})
    if nested:
        return span({"openinference": {"span": {"kind": "LLM"}}, "llm": {"input_messages": listed}})
    return {
        "context.trace_id": "1",
        "attributes.llm.input_messages": listed,
        "attributes.openinference.span.kind": "LLM",
    }


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


def inspect_sample(talk: LoggedTalk) -> dict[str, Any]:
    listed: list[dict[str, Any]] = []
    names = {f"c{number}": step.tool for number, step in enumerate(talk.steps)}
    for turn in openai(talk):
        message = dict(turn)
        if calls := turn.get("tool_calls"):
            of_inspect = [
                {
                    "id": call["id"],
                    "function": call["function"]["name"],
                    "arguments": json.loads(call["function"]["arguments"]),
                }
                for call in calls
            ]
            message |= {"content": "", "tool_calls": of_inspect}
        if turn["role"] == "tool":
            message["function"] = names[turn["tool_call_id"]]
        listed.append(message)
    listed[-1] = {**listed[-1], "content": "attachment://d1"}
    return {
        "id": 1,
        "epoch": 1,
        "input": "x",
        "messages": listed,
        "scores": {"match": {"value": "C"}},
        "attachments": {"d1": talk.messages[-1][1]},
    }


def inspect_log(talk: LoggedTalk) -> Any:
    return {"version": 2, "status": "success", "eval": {"task": "t"}, "samples": [inspect_sample(talk)]}


def tau_bench(talk: LoggedTalk) -> Any:
    return [{"task_id": 3, "trial": 0, "reward": 1.0, "info": {}, "traj": openai(talk)}]


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


def atif(talk: LoggedTalk) -> Any:
    steps: list[dict[str, Any]] = [{"step_id": 0, "source": "system", "message": talk.system}] if talk.system else []
    for number, step in enumerate(talk.steps, start=1):
        if step.tool:
            call = {"tool_call_id": f"c{number}", "function_name": step.tool, "arguments": step.arguments}
            results = [{"source_call_id": f"c{number}", "content": step.result}]
            observation = {"tool_calls": [call], "observation": {"results": results}}
            steps.append({"step_id": number, "source": "agent", "message": "", **observation})
        source = {"assistant": "agent"}.get(step.role, step.role)
        steps.append({"step_id": number, "source": source, "message": step.text})
    return {"schema_version": "ATIF-v1.4", "session_id": "s-1", "agent": {"name": "a", "version": "1"}, "steps": steps}


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


def claude_code(talk: LoggedTalk) -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = [{"type": "ai-title", "aiTitle": "Rooms", "sessionId": "s-1"}]

    def add(kind: str, content: Any, **more: Any) -> None:
        number = len(lines)
        message = {"role": kind, "content": content, **more}
        tree = {"uuid": f"u{number}", "parentUuid": lines[-1].get("uuid"), "isSidechain": False}
        lines.append({"type": kind, "sessionId": "s-1", **tree, "message": message})

    for number, step in enumerate(talk.steps):
        if step.tool:
            use = {"type": "tool_use", "id": f"c{number}", "name": step.tool, "input": step.arguments}
            add("assistant", [{"type": "thinking", "thinking": "I look."}], id=f"m{number}")
            add("assistant", [use], id=f"m{number}", usage={"input_tokens": 3, "output_tokens": 2})
            add("user", [{"type": "tool_result", "tool_use_id": f"c{number}", "content": step.result}])
        if step.role == "user":
            add("user", step.text)
        else:
            add("assistant", [{"type": "text", "text": step.text}], id=f"n{number}")
    return lines


def codex(talk: LoggedTalk) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = (
        [{"type": "message", "role": "developer", "content": talk.system}] if talk.system else []
    )
    for number, step in enumerate(talk.steps):
        if step.tool:
            call = {"name": step.tool, "arguments": json.dumps(step.arguments), "call_id": f"c{number}"}
            items.append({"type": "function_call", **call})
            items.append({"type": "function_call_output", "call_id": f"c{number}", "output": step.result})
        kind = {"user": "input_text"}.get(step.role, "output_text")
        items.append({"type": "message", "role": step.role, "content": [{"type": kind, "text": step.text}]})
    meta = {"timestamp": "2026-01-01T00:00:00Z", "type": "session_meta", "payload": {"id": "s-1"}}
    return [meta, *({"timestamp": "t", "type": "response_item", "payload": item} for item in items)]


def llama_factory(talk: LoggedTalk) -> Any:
    listed: list[dict[str, Any]] = []
    for turn in openai(talk):
        parts = [{"type": "text", "value": turn["content"]}] if turn["content"] else []
        for call in turn.get("tool_calls", ()):
            function = {"name": call["function"]["name"], "arguments": json.loads(call["function"]["arguments"])}
            parts.append({"type": "tool_call", "value": json.dumps(function)})
        listed.append({"role": turn["role"], "content": parts})
    return [{"messages": listed}]


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
    "gemini": ("gemini", gemini),
    "UI messages": ("parts", ui_messages),
    "messages in parts": ("parts", otel_parts),
    "AI SDK span": ("opentelemetry", ai_sdk_span),
    "OpenTelemetry span": ("opentelemetry", otel_span),
    "OpenInference, nested": ("opentelemetry", lambda talk: openinference(talk, nested=True)),
    "OpenInference, columns": ("opentelemetry", lambda talk: openinference(talk, nested=False)),
    "Langfuse trace": ("langfuse", langfuse_trace),
    "Langfuse observation": ("langfuse", langfuse_observation),
    "MLflow": ("mlflow", mlflow_trace),
    "Inspect": ("inspect", inspect_log),
    "tau-bench": ("trajectories", tau_bench),
    "tau2-bench": ("trajectories", tau2),
    "ATIF": ("trajectories", atif),
    "ChatGPT without links": ("chatgpt", chatgpt_without_links),
    "Claude": ("claude", claude),
    "Claude Code": ("claude_code", claude_code),
    "Codex": ("codex", codex),
    "LLaMA Factory": ("parts", llama_factory),
    "ShareGPT": ("sharegpt", sharegpt),
}
"""The name of the format, and what the file holds."""

WITHOUT_SYSTEM = ("messages in parts", "Claude", "Claude Code")
"""Forms that have no place for instructions here."""
WITHOUT_CALLS = ("ChatGPT without links",)
