"""Runs that were exported from LangSmith, as JSON or JSON lines.

The shape is that of "Run (span) data format" (docs.langchain.com/langsmith/run-data-format): `id`, `trace_id`,
`parent_run_id`, `run_type`, `inputs`, `outputs`, `start_time`, `extra.metadata`. Messages are read in the formats of "Log
LLM calls" (docs.langchain.com/langsmith/log-llm-trace): LangChain's, OpenAI's, Anthropic's. Threads are told by
`session_id`, `thread_id` or `conversation_id` in the metadata (docs.langchain.com/langsmith/threads); the `session_id`
of a run itself is its project.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ..files.json_values import elements
from ..formats.detection import ConversationStream, Format, Source
from ..records import as_list, as_object
from .calls import LoggedCall, counts, of_calls, turns_of_step, usage_of

_LISTS = ("runs", "post", "patch")
THREADS = ("session_id", "thread_id", "conversation_id")


def read(path: str | Path) -> ConversationStream:
    """A conversation for each thread, or for each trace without one; DataError if no run holds messages."""
    # What a later piece of the same id adds, as the API is sent them, belongs to the run.
    merged: dict[str, dict[str, Any]] = {}
    others = 0
    for _, value in elements(path):
        runs = list(_runs(value))
        others += not runs
        for run in runs:
            name = str(run.get("id") or f"\0{len(merged)}")
            merged[name] = merged.get(name, {}) | {key: inner for key, inner in run.items() if inner is not None}
    nothing = "holds LangSmith runs without messages: export them with inputs and outputs"
    notes = yield from of_calls(path, map(_call, merged.values()), nothing)
    return (*((f"{others} value{'s' * (others > 1)} of another form left out",) if others else ()), *notes)


def _runs(value: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, Mapping):
        if lists := [value[key] for key in _LISTS if isinstance(value.get(key), list)]:
            yield from (run for listed in lists for inner in listed for run in _runs(inner))
        elif _is_run(value) or "outputs" in value:
            yield value
            children = value.get("child_runs")
            yield from (run for child in as_list(children) for run in _runs(child))


def _is_run(value: Any) -> bool:
    return isinstance(value, Mapping) and "run_type" in value and ("inputs" in value or "outputs" in value)


def _call(run: Mapping[str, Any]) -> LoggedCall | None:
    kind = run.get("run_type")
    outer = not (run.get("parent_run_id") or run.get("parent_run_ids"))
    if kind not in ("llm", "chain") or (kind == "chain" and not outer):
        return None  # tools and steps in between repeat the messages of models and outer runs
    used = counts(run, ("prompt_tokens",), ("completion_tokens",)) or usage_of(as_object(run.get("outputs")))
    trace = str(run.get("trace_id") or run.get("id") or "")
    more: dict[str, Any] = {}
    if outer:
        more = {key: run[key] for key in ("name", "tags", "error") if run.get(key)}
        if stats := as_object(run.get("feedback_stats")):
            more["labels"] = {name: _score(value) for name, value in stats.items()}
        if user := _of_metadata(run, ("user_id",)):
            more["user"] = user
    turns = turns_of_step(run.get("inputs"), run.get("outputs"), outer=outer)
    thread = _of_metadata(run, THREADS) or str(run.get("thread_id") or "")
    return LoggedCall(
        turns, thread, trace, str(run.get("start_time") or ""), outer, used if kind == "llm" else {}, more
    )


def _score(value: Any) -> Any:
    return value["avg"] if isinstance(value, Mapping) and value.get("avg") is not None else value


def _of_metadata(run: Mapping[str, Any], keys: Iterable[str]) -> str:
    """The first name at one of the keys of a run's metadata; empty without one."""
    holders = [as_object(holder) for holder in (as_object(run.get("extra")).get("metadata"), run.get("metadata"))]
    return next((str(holder[key]) for holder in holders for key in keys if holder.get(key)), "")


def _recognised(source: Source) -> bool:
    first = source.first
    for key in _LISTS if isinstance(first, Mapping) else ():
        if isinstance(runs := first.get(key), list) and runs:
            first = runs[0]
            break
    return _is_run(first)


FORMAT = Format(
    "langsmith",
    "runs exported from LangSmith",
    _recognised,
    read,
    sign="`run_type`, and `inputs` or `outputs`",
)
