"""Runs that were exported from LangSmith, as JSON or JSON lines.

The shape is that of "Run (span) data format" (docs.langchain.com/langsmith/run-data-format): `id`, `trace_id`,
`parent_run_id`, `run_type`, `inputs`, `outputs`, `start_time`, `extra.metadata`. Messages are read in the formats of "Log
LLM calls" (docs.langchain.com/langsmith/log-llm-trace): LangChain's, OpenAI's, Anthropic's. Threads are told by
`session_id`, `thread_id` or `conversation_id` in the metadata (docs.langchain.com/langsmith/threads); the `session_id`
of a run itself is its project.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ...errors import DataError, at
from ..records import Conversation
from . import messages
from .calls import Call, holds, together, with_conversations
from .completions import usage_of
from .detection import Format, Source
from .elements import elements
from .turns import spoken, turns_of

THREADS = ("session_id", "thread_id", "conversation_id")
_ASKED = ("question", "input", "query", "user_input", "prompt", "text")
_ANSWERED = ("answer", "output", "response", "result", "text", "completion")


def read(path: str | Path) -> list[Conversation]:
    """A conversation for each thread, or for each trace without one; DataError if no run holds messages."""
    calls = [
        call for _, value in elements(path) for run in _runs(value) if (call := _call(run)) is not None and call.turns
    ]
    if not calls:
        raise DataError(f"{at(path)}: holds LangSmith runs without messages: export them with inputs and outputs")
    whole = together(with_conversations(calls))
    values = ((f"conversation {number}", value) for number, value in enumerate(whole, start=1))
    return messages.of_values(path, values)


def _runs(value: Any) -> Iterator[Mapping[str, Any]]:
    """A run and all below it."""
    if isinstance(value, Mapping):
        if isinstance(value.get("runs"), list):
            yield from (run for inner in value["runs"] for run in _runs(inner))
        elif "run_type" in value:
            yield value
            children = value.get("child_runs")
            yield from (run for child in (children if isinstance(children, list) else []) for run in _runs(child))


def _call(run: Mapping[str, Any]) -> Call | None:
    kind = run.get("run_type")
    outer = not (run.get("parent_run_id") or run.get("parent_run_ids"))
    if kind not in ("llm", "chain") or (kind == "chain" and not outer):
        return None  # tools and steps in between say again what models and outer runs say
    asked, answered = _inputs(run.get("inputs"), outer), _outputs(run.get("outputs"), outer)
    begins = spoken(asked)
    whole = bool(begins) and holds(spoken(answered), begins)  # a graph's outputs hold its whole state
    used = _usage(run) if kind == "llm" else {}
    trace = str(run.get("trace_id") or run.get("id") or "")
    more: dict[str, Any] = {}
    if outer:
        more = {key: run[key] for key in ("name", "tags", "error") if run.get(key)}
        if isinstance(stats := run.get("feedback_stats"), Mapping) and stats:
            more["labels"] = {name: _score(value) for name, value in stats.items()}
    turns = answered if whole else asked + answered
    return Call(turns, _thread(run), trace, str(run.get("start_time") or ""), outer, used, more)


def _score(value: Any) -> Any:
    return value["avg"] if isinstance(value, Mapping) and value.get("avg") is not None else value


def _thread(run: Mapping[str, Any]) -> str:
    extra = run.get("extra")
    metadata = extra.get("metadata") if isinstance(extra, Mapping) else None
    for holder in (metadata, run.get("metadata")):
        if isinstance(holder, Mapping) and (name := next((holder[key] for key in THREADS if holder.get(key)), None)):
            return str(name)
    return str(run.get("thread_id") or "")


def _inputs(inputs: Any, outer: bool) -> list[dict[str, Any]]:
    if not isinstance(inputs, Mapping):
        return []
    given = inputs.get("messages")
    turns = turns_of(given) or next(
        (turns for key in ("input", "message", "chat_history") if (turns := turns_of(inputs.get(key)))), []
    )
    if turns and isinstance(system := inputs.get("system"), str) and system:
        turns = [{"role": "system", "content": system}, *turns]
    text = next((inputs[key] for key in _ASKED if isinstance(inputs.get(key), str)), "")
    if text and outer and not any(said == ("user", " ".join(text.split())) for said in spoken(turns)):
        turns = [*turns, {"role": "user", "content": text}]
    return turns


def _outputs(outputs: Any, outer: bool) -> list[dict[str, Any]]:
    if not isinstance(outputs, Mapping):
        return []
    generations = outputs.get("generations")
    while isinstance(generations, list) and generations:
        generations = generations[0]
    choices = outputs.get("choices")
    first = (
        generations if isinstance(generations, Mapping) else choices[0] if isinstance(choices, list) and choices else {}
    )
    if isinstance(first, Mapping) and first:
        turns = turns_of(first.get("message")) or _answer(first.get("text"))
        info = first.get("generation_info")
        reason = first.get("finish_reason") or (info.get("finish_reason") if isinstance(info, Mapping) else None)
        return [*turns[:-1], turns[-1] | {"finish_reason": reason}] if turns and reason else turns
    for found in (outputs.get("messages"), outputs.get("message"), outputs, outputs.get("output")):
        if turns := turns_of(found):
            return turns
    return _answer(next((outputs[key] for key in _ANSWERED if isinstance(outputs.get(key), str)), "")) if outer else []


def _answer(text: Any) -> list[dict[str, Any]]:
    return [{"role": "assistant", "content": text}] if isinstance(text, str) and text else []


def _usage(run: Mapping[str, Any]) -> dict[str, int]:
    names = {"input_tokens": "prompt_tokens", "output_tokens": "completion_tokens"}
    told = {name: run[key] for name, key in names.items() if isinstance(run.get(key), int)}
    outputs = run.get("outputs")
    return told or (usage_of(outputs) if isinstance(outputs, Mapping) else {})


def _recognised(source: Source) -> bool:
    value = source.value
    first = value[0] if isinstance(value, list) and value else value
    if isinstance(first, Mapping) and isinstance(runs := first.get("runs"), list) and runs:
        first = runs[0]
    return isinstance(first, Mapping) and "run_type" in first and ("inputs" in first or "outputs" in first)


FORMAT = Format("langsmith", "runs exported from LangSmith", _recognised, read)
